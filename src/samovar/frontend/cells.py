"""The functions on cells of sparse fields: `activate`, `deactivate`, `is_active`, `append`, `length`, `rescale_index`."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from samovar._native import i32, i64, u1
from samovar.errors import SamovarCompilationError
from samovar.frontend.dispatch import call_value
from samovar.frontend.messages import Message
from samovar.frontend.operators import as_index
from samovar.frontend.rules import Call, Rule, bind
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.cell_list import ListMethod
from samovar.frontend.staged.matrix import Matrix
from samovar.frontend.staged.node import Node
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.struct_tensor import StructTensor
from samovar.frontend.staged.tensor import Tensor
from samovar.frontend.stager import Stager
from samovar.ir import Array, Builder, Value, cell_numbers
from samovar.lens import Kind, Ref


def node_of(stager: Stager, call: Call, name: str = "node") -> Ref:
    """The node that is an argument."""
    given, at = call[name], call.nodes[name]
    ref = given.tree_node()
    if ref is not None:
        return ref
    advice = "pass its node: `x.parent()`" if given.is_array() else None
    stager.fail_type(at, f"`{ast.unparse(call.node.func)}` takes a node of a sparse field, not {given.describe()}", advice)


def cells_of(stager: Stager, call: Call, lists: bool = False) -> Tensor:
    """The cells of the sparse node that is an argument; `lists`: of a dynamic one."""
    ref, at = node_of(stager, call), call.nodes["node"]
    cells = ref.attribute("cells")
    wanted = "a `dynamic` node" if lists else "a `pointer`, `bitmasked` or `hash` node"
    function = ast.unparse(call.node.func)
    if cells.kind() is not Kind.TENSOR:
        stager.fail_type(at, f"`{function}` takes {wanted}, and this one is dense", "name a sparse node: `x.parent(2)`")
    tensor = stager.open(cells, call.node)
    assert isinstance(tensor, Tensor)
    assert tensor.array.cells is not None
    if lists != tensor.array.cells.is_list and function.rpartition(".")[2] != "deactivate":
        stager.fail_type(at, f"`{function}` takes {wanted}")
    return tensor


def index_of(stager: Stager, call: Call, count: int, name: str = "indices") -> list[Value]:
    """An index: a number, or as many as the node has dimensions."""
    given, at = call[name].as_operand(stager, call.nodes[name]), call.nodes[name]
    parts = (given,) if given.is_number() else given.sequence(stager, at)
    if len(parts) != count:
        stager.fail_type(at, f"this node has {count} dimension{'s' * (count != 1)}, but the index has {len(parts)}")
    return [as_index(stager, part.unforced(), at) for part in parts]


def number_of(stager: Stager, array: Array, at: Sequence[Value], node: ast.AST) -> Value:
    """The number of a cell or list, from the indices of its node."""
    if stager.context.checks_bounds:
        check_index(stager, array, at, node)
    build = Builder()
    number = cell_numbers(build, array, at)[0]
    stager.region.operations += build.operations
    return number


def check_index(stager: Stager, array: Array, at: Sequence[Value], node: ast.AST) -> None:
    """Check the indices of a cell at run time, in debug mode."""
    for axis, index in enumerate(at):
        extent = array.extents[axis]
        message = Message(stager)
        message.text("index ")
        message.add_value(index, node)
        message.text(f" is out of bounds for dimension {axis} of the cells of a node with extent {extent}")
        with stager.at(node):
            wide = convert(stager, index, i64)
            above = stager.emit("ge", u1, (wide, constant(0, i64)))
            below = stager.emit("lt", u1, (wide, constant(extent or 0, i64)))
            holds = stager.emit("and", u1, (above, below))
            stager.emit("check", None, (holds, *message.values), message.site("assertion"))


def activate(stager: Stager, call: Call) -> Staged:
    array = cells_of(stager, call).array
    stager.emit("activate", None, (number_of(stager, array, index_of(stager, call, array.ndim), call.node),), array)
    return Static(None)


def deactivate(stager: Stager, call: Call) -> Staged:
    array = cells_of(stager, call).array
    stager.emit("deactivate", None, (number_of(stager, array, index_of(stager, call, array.ndim), call.node),), array)
    return Static(None)


def is_active(stager: Stager, call: Call) -> Staged:
    array = cells_of(stager, call).array
    number = number_of(stager, array, index_of(stager, call, array.ndim), call.node)
    return Scalar(stager.emit("cell_active", u1, (number,), array))


def length(stager: Stager, call: Call) -> Staged:
    array = cells_of(stager, call, lists=True).array
    number = number_of(stager, array, index_of(stager, call, array.ndim), call.node)
    return Scalar(stager.emit("list_length", i32, (number,), array))


def append(stager: Stager, call: Call) -> Staged:
    cells = cells_of(stager, call, lists=True).array
    at = index_of(stager, call, cells.ndim)
    found = node_of(stager, call).attribute("element")
    if found.kind() is not Kind.TENSOR:
        stager.fail_type(
            call.nodes["node"],
            "`append` needs a node with one field",
            "extend one list by `x[i].append(…)`, and write the others",
        )
    element = opened_before(stager, found) or stager.open(found, call.node)
    assert isinstance(element, Tensor)
    return append_to(stager, element, at, call["val"], call.node)


def opened_before(stager: Stager, ref: Ref) -> Tensor | None:
    """A field that the kernel already uses under another path."""
    ref.tensor()
    for known, tensor in list(stager.context.opened.items()):
        if tensor.array.cells is not None and not stager.context.lens.disjoint([ref], [ref, known]):
            return tensor.seen_by(stager)
    return None


def append_to(
    stager: Stager, elements: Tensor | StructTensor, at: Sequence[Value], value: Staged, node: ast.AST
) -> Staged:
    """Append a value to a list; returns the length before. The launch fails if the list is full."""
    array = elements.first.array
    assert array.cells is not None
    *lists, position = array.cells.terms
    if elements.ndim != len({axis for axis, *_ in lists}) + 1:
        stager.fail_type(node, "`append` needs a list of elements, and there are dense nodes in this one")
    # Elements are found by all indices; the dimension of the list is the one that is missing.
    indices = list(at)
    indices.insert(position[0], constant(0, i32))
    with stager.unwritten():
        if stager.context.checks_bounds:
            check_list(stager, array, indices, position[0], node)
        build = Builder()
        number = cell_numbers(build, array, indices)[0]
        stager.region.operations += build.operations
        place = stager.emit("list_append", i32, (number,), array)
    message = Message(stager)
    message.text(f"a list of `{elements.name}` is full: `dynamic` was given a maximum length of {array.cells.capacity}")
    with stager.at(node):
        holds = stager.emit("lt", u1, (place, constant(array.cells.capacity, i32)))
        stager.emit("check", None, (holds, *message.values), message.site("assertion"))
    indices[position[0]] = place
    elements.place(tuple(indices)).store(stager, value, node)
    return Scalar(place)


def check_list(stager: Stager, array: Array, indices: Sequence[Value], without: int, node: ast.AST) -> None:
    """Check the indices of a list in debug mode."""
    for axis, index in enumerate(indices):
        if axis != without:
            extent = array.extents[axis]
            message = Message(stager)
            message.text("index ")
            message.add_value(index, node)
            message.text(f" is out of bounds for dimension {axis} of the lists with extent {extent}")
            with stager.at(node):
                wide = convert(stager, index, i64)
                above = stager.emit("ge", u1, (wide, constant(0, i64)))
                below = stager.emit("lt", u1, (wide, constant(extent or 0, i64)))
                holds = stager.emit("and", u1, (above, below))
                stager.emit("check", None, (holds, *message.values), message.site("assertion"))


@call_value.register(ListMethod)
def call_list_method(method: ListMethod, stager: Stager, node: ast.Call) -> Staged:
    """`x[i].append(v)`, `x[i].length()`, `x[i].deactivate()`."""
    array, at = method.owner.tensor.array, list(method.owner.at)
    given = bind(stager, node, "val" if method.name == "append" else "")
    if method.name == "append":
        return append_to(stager, method.owner.elements, at, given["val"], node)
    assert array.cells is not None
    at.insert(array.cells.terms[-1][0], constant(0, i32))
    with stager.unwritten():
        if stager.context.checks_bounds:
            check_list(stager, array, at, array.cells.terms[-1][0], node)
        build = Builder()
        number = cell_numbers(build, array, at)[0]
        stager.region.operations += build.operations
    if method.name == "length":
        return Scalar(stager.emit("list_length", i32, (number,), array))
    stager.emit("deactivate", None, (number,), array)
    return Static(None)


def rescale_index(stager: Stager, call: Call) -> Staged:
    """An index of one node or field as an index of another one: divided or multiplied by the ratio of the extents."""
    extents = [extents_of(stager, call, name) for name in ("a", "b")]
    given, at = call["I"].as_operand(stager, call.nodes["I"]), call.nodes["I"]
    parts = (given,) if given.is_number() else given.sequence(stager, at)
    if len(parts) > len(extents[0]):
        stager.fail_type(at, f"the index has {len(parts)} numbers for {len(extents[0])} dimensions")
    found: list[Staged] = []
    for axis, part in enumerate(parts):
        index = convert(stager, as_index(stager, part.unforced(), at), i32)
        if axis < len(extents[1]):
            source, target = extents[0][axis], extents[1][axis]
            if source > target:
                index = stager.emit("floordiv", i32, (index, constant(source // target, i32)))
            elif source < target:
                index = stager.emit("mul", i32, (index, constant(target // source, i32)))
        found.append(Scalar(index))
    return Matrix((len(found),), tuple(found))


def extents_of(stager: Stager, call: Call, name: str) -> tuple[int, ...]:
    """The shape of a field or node."""
    given = call[name]
    if isinstance(given, Tensor) and given.array.layout is not None:
        return tuple(extent or 0 for extent in given.array.extents[: given.ndim])
    return Node(node_of(stager, call, name)).extents()


def no_activate(stager: Stager, call: Call) -> Staged:
    """Writes to these fields activate no cells, in the whole kernel."""
    for name, given in call.arguments.items():
        if isinstance(given, Tensor):
            cells = given.array.cells
            if cells is not None:
                cells.activates = False
        elif given.tree_node() is None:
            stager.fail(
                call.nodes[name],
                f"`no_activate` takes fields, not {given.describe()}",
                None,
                SamovarCompilationError,
            )
    return Static(None)


INTRINSICS: dict[str, Rule] = {
    "samovar.activate": Rule(activate, "node indices"),
    "samovar.deactivate": Rule(deactivate, "node indices"),
    "samovar.is_active": Rule(is_active, "node indices"),
    "samovar.append": Rule(append, "node indices val"),
    "samovar.length": Rule(length, "node indices"),
    "samovar.rescale_index": Rule(rescale_index, "a b I"),
    "samovar.no_activate": Rule(no_activate, "*fields"),
}
