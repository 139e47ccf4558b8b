"""`fill`: of vectors and matrices that can be assigned, and of arrays, as a loop over all elements."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from samovar.frontend.dispatch import call_value, stage
from samovar.frontend.loops import stage_over
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.places import stage_target
from samovar.frontend.rules import bind
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.complex import Complex, converted
from samovar.frontend.staged.fill_method import Filling
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import as_matrix
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.struct import StructValue
from samovar.frontend.staged.struct_places import StructPlace
from samovar.frontend.staged.struct_tensor import StructFilling
from samovar.frontend.stager import Stager
from samovar.frontend.syntax import FILL
from samovar.ir import Value


def stage_fill(stager: Stager, node: ast.Call, function: ast.Attribute) -> Staged:
    """`a.fill(x)` on an array, or on a vector or matrix that can be assigned."""
    owner = stage_target(stager, function.value)
    if not isinstance(owner, Place) or not owner.has_entries():
        return call_value(owner.load(stager).attribute(stager, FILL, function), stager, node)
    owner.store(stager, filled_with(stager, node), node)
    return Static(None)


def filled_with(stager: Stager, node: ast.Call, other: str = "") -> Staged:
    """The number that `fill` is given, or an `other` value for elements that allow it."""
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        stager.fail(node, "`fill` takes one value", "write `a.fill(0)`")
    value = stage(stager, node.args[0]).as_operand(stager, node.args[0])
    is_number = value.is_number() or isinstance(value, Complex)
    if not (is_number or (other and as_matrix(stager, value, node.args[0]) is not None)):
        wanted = f"a number or {other}" if other else "a number"
        stager.fail_type(node.args[0], f"`fill` takes {wanted}, got {value.describe()}")
    return value


@call_value.register(Filling)
def fill_array(filling: Filling, stager: Stager, node: ast.Call) -> Staged:
    tensor = filling.tensor
    value = filled_with(stager, node, "a vector or matrix" if tensor.inner else "")
    keeper = Keeper(f"`{tensor.array.name}`", "filling it with")
    if tensor.array.element is not None or isinstance(value, Complex):
        value = converted(stager, value, tensor.array.element or tensor.array.dtype, node, keeper)
    elif value.is_number():  # converted once, before the loop
        value = Scalar(kept(stager, value, tensor.array.dtype, node, keeper))
    stage_over(stager, tensor.space(stager, node), node, lambda inner, at: tensor.assign(inner, at, value, node))
    return Static(None)


@call_value.register(StructFilling)
def fill_structs(filling: StructFilling, stager: Stager, node: ast.Call) -> Staged:
    tensor = filling.tensor
    value = bind(stager, node, "value")["value"].as_operand(stager, node)
    if isinstance(value, StructValue):
        value.require_alike(stager, tensor.struct.kind, node)
    elif not value.is_number():
        stager.fail_type(node, f"`fill` takes a struct or a number, got {value.describe()}")
    subscript = ast.copy_location(ast.Subscript(node.func, ast.Constant(0), ast.Load()), node)

    def put(inner: Stager, index: list[Value]) -> None:
        element = tensor.element_at(inner, Items(tuple(map(Scalar, index))), subscript)
        if isinstance(value, StructValue):
            element.store(inner, value, node)
        else:
            for part in numbers_in(element):
                part.store(inner, value, node)

    stage_over(stager, tensor.space(stager, node), node, put)
    return Static(None)


def numbers_in(place: StructPlace) -> Iterator[Place]:
    """The numbers, vectors and matrices in a struct."""
    for part in place.parts:
        if isinstance(part, StructPlace):
            yield from numbers_in(part)
        else:
            yield part
