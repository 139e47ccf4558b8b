"""Constructors of structs (`S(...)`, `sv.Struct(...)`), arguments and captured structs, and their annotations."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import singledispatch
from typing import Any

from samovar._native import i32, i64
from samovar.errors import did_you_mean
from samovar.frontend.dispatch import OBJECTS, call_value, stage
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.matrices import filled, of_type
from samovar.frontend.members import given_complex, given_matrix, leaf_type, required_view
from samovar.frontend.returns import returned
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.complex import Complex, cast_to, static
from samovar.frontend.staged.complex import converted as complex_number
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import MatrixValue, as_matrix, described, matrix_of
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.struct import StructKind, StructValue, difference_between
from samovar.frontend.staged.struct_places import new_struct
from samovar.frontend.staged.struct_tensor import StructTensor
from samovar.frontend.staged.struct_view import StructView
from samovar.frontend.staged.table import Table
from samovar.frontend.staged.tensor import Tensor
from samovar.frontend.staged.view import Part, View
from samovar.frontend.stager import Stager
from samovar.ir import Array, If, Region, Value
from samovar.language import Annotation, NoneAnnotation, ScalarAnnotation, ViewAnnotation, complex_type, part_type
from samovar.lens import Kind, Ref
from samovar.values import MatrixType, MemoryLayout, StructArrayAnnotation, StructType

# --- from members


@call_value.register(StructKind)
def construct(struct: StructKind, stager: Stager, node: ast.Call) -> Staged:
    """`S(1, v)`, `S(a=1)`, `S(other)`: omitted members are their default, or 0."""
    kind = struct.kind
    positional: list[tuple[Staged, ast.AST]] = []
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            items = stage(stager, argument.value).sequence(stager, argument)
            positional += [(item.unforced(), argument) for item in items]
        else:
            positional.append((stage(stager, argument), argument))
    if len(positional) == 1 and not node.keywords and isinstance(positional[0][0], StructValue):
        whole = positional[0][0]
        if difference_between(whole.struct.kind, kind) is None:
            return converted(stager, struct, whole, f"`{kind}`", node)
    if len(positional) > len(kind.members):
        stager.fail_type(node, f"{kind} has {len(kind.members)} members, but {len(positional)} values are given")
    given = dict(zip(kind.keys, positional, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None:
            stager.fail(keyword.value, "`**` in a call is not supported in kernels", "pass each member by name")
        if kind.place(keyword.arg) is None:
            close = did_you_mean(keyword.arg, kind.keys)
            advice = f"its members are {', '.join(kind.keys)}"
            stager.fail_type(keyword.value, f"{kind} has no member `{keyword.arg}`{close}", advice)
        if keyword.arg in given:
            stager.fail_type(keyword.value, f"{kind} got multiple values for `{keyword.arg}`")
        given[keyword.arg] = (stage(stager, keyword.value), keyword.value)
    members: list[Staged] = []
    for place, (name, member, default) in enumerate(kind.members):
        if name in given:
            members.append(constructed_member(stager, struct, place, *given[name]))
        else:
            members.append(default_of(stager, struct, place, member, default, node))
    return StructValue(struct, tuple(members))


def constructed_member(stager: Stager, struct: StructKind, place: int, value: Staged, node: ast.AST) -> Staged:
    """A member from a value passed to the constructor. Other values than structs may make one (`nested_structs`)."""
    inner = struct.inner(place) if isinstance(struct.kind.members[place][1], StructType) else None
    if inner is None or not inner.kind.members or isinstance(value, StructValue):
        return member_of(stager, struct, place, value, node)
    if stager.context.lens.options.nested_structs != "first":
        return member_of(stager, struct, place, value, node)
    first = constructed_member(stager, inner, 0, value, node)
    others = enumerate(inner.kind.members[1:], 1)
    return StructValue(inner, (first, *(default_of(stager, inner, at, kind, own, node) for at, (_, kind, own) in others)))


def member_of(stager: Stager, struct: StructKind, place: int, value: Staged, node: ast.AST) -> Staged:
    """A value converted to the type of a member."""
    name, kind, _ = struct.kind.members[place]
    what = f"`{name}` of {struct.kind}"
    if isinstance(kind, StructType):
        return converted(stager, struct.inner(place), value, what, node)
    dtype = kind.resolved(stager.context.lens.options)
    value = value.as_operand(stager, node)
    if isinstance(kind, ScalarAnnotation):
        if part_type(dtype) is not None:
            return complex_number(stager, value, dtype, node, Keeper(what))
        if not value.is_number():
            stager.fail_type(node, f"{what} must be a number ({dtype.name}), got {value.describe()}")
        return Scalar(kept(stager, value, dtype, node, Keeper(what)))
    if value.is_number():
        return filled(stager, dtype, kind.shape, value, node, Keeper(what))
    matrix = as_matrix(stager, value, node)
    if not isinstance(matrix, MatrixValue) or matrix.shape != kind.shape:
        stager.fail_type(node, f"{what} must be {described(kind.shape)}, got {value.describe()}")
    return of_type(stager, matrix, dtype, node, Keeper(what)).current(stager, node)


def default_of(
    stager: Stager, struct: StructKind, place: int, kind: Any, default: tuple[Any, ...] | None, node: ast.AST
) -> Staged:
    """The value of an omitted member."""
    if isinstance(kind, StructType):
        inner = struct.inner(place)
        members = tuple(
            default_of(stager, inner, position, each, own, node) for position, (_, each, own) in enumerate(kind.members)
        )
        return StructValue(inner, members)
    numbers = tuple(map(static, default or ()))
    if isinstance(kind, ScalarAnnotation):
        return member_of(stager, struct, place, numbers[0] if numbers else Static(0), node)
    if not numbers:
        return member_of(stager, struct, place, Static(0), node)
    return member_of(stager, struct, place, matrix_of(stager, kind.shape, numbers, node), node)


def make_struct(stager: Stager, node: ast.Call) -> Staged:
    """`sv.Struct(a=1, v=vec)`, `sv.Struct({"a": 1})`: the values decide the types."""
    members: dict[str, Staged] = {}
    for argument in node.args[:1]:
        table = stage(stager, argument)
        if isinstance(table, Table) and all(isinstance(name, str) for name in table.entries):
            members |= {name: value.unforced() for name, (_, value) in table.entries.items()}
    wanted = len(node.keywords) + len(members)
    for keyword in node.keywords:
        if keyword.arg is not None:
            members[keyword.arg] = stage(stager, keyword.value).as_operand(stager, keyword.value)
    if not members or len(members) < wanted or len(node.args) > 1:
        stager.fail(node, "`sv.Struct` in a kernel takes members by name", "write `sv.Struct(a=1, v=w)`")
    return struct_of(stager, members, node)


def struct_of(stager: Stager, members: dict[str, Staged], node: ast.AST) -> StructValue:
    """A struct with the types of its values."""
    typed = {name: member_type(value, stager, node) for name, value in members.items()}
    kind = StructType("struct", tuple((name, member, None) for name, (member, _) in typed.items()))
    return StructValue(StructKind(kind), tuple(value for _, value in typed.values()))


@singledispatch
def member_type(value: Staged, stager: Stager, node: ast.AST) -> tuple[Annotation, Staged]:
    """The type of a struct member with this value, and the member's value. Here, for a number."""
    scalar = value.scalar(stager, node)
    assert scalar.type is not None
    return ScalarAnnotation(scalar.type), Scalar(scalar)


@member_type.register(Complex)
def type_of_complex(value: Complex, stager: Stager, node: ast.AST) -> tuple[Annotation, Staged]:
    dtype = value.part_type(stager, node)
    return ScalarAnnotation(complex_type(dtype)), value.of_type(stager, dtype, node)


@member_type.register(Items)
def type_of_items(value: Items, stager: Stager, node: ast.AST) -> tuple[Annotation, Staged]:
    vector = as_matrix(stager, value, node)
    if vector is None:
        value.fail_as_number(stager, node)
    return member_type(vector, stager, node)


@member_type.register(MatrixValue)
def type_of_matrix(value: MatrixValue, stager: Stager, node: ast.AST) -> tuple[Annotation, Staged]:
    return MatrixType(None, value.dtype(stager, node), value.shape), value.as_argument(stager, node)


@member_type.register(Table)
def type_of_table(value: Table, stager: Stager, node: ast.AST) -> tuple[Annotation, Staged]:
    inner = struct_of(stager, {str(name): each.unforced() for name, (_, each) in value.entries.items()}, node)
    return inner.struct.kind, inner


@member_type.register(StructValue)
def type_of_struct(value: StructValue, stager: Stager, node: ast.AST) -> tuple[Annotation, Staged]:
    return value.struct.kind, value


# --- annotations


def converted(stager: Stager, struct: StructKind, value: Staged, what: str, node: ast.AST) -> StructValue:
    """A value converted to an annotation: with members of its dtypes."""
    if not isinstance(value, StructValue):
        stager.fail_type(node, f"{what} must be a {struct.kind}, got {value.describe()}", f"write `{struct.kind}(…)`")
    difference = difference_between(value.struct.kind, struct.kind)
    if difference is not None:
        stager.fail_type(node, f"{what} must be a {struct.kind}, got {value.describe()}: {difference}")
    owner = struct if struct.ref is not None else struct.found_at(value.struct.ref, value.struct.within)
    members = (member_of(stager, owner, place, member, node) for place, member in enumerate(value.members))
    return StructValue(owner, tuple(members))


@returned.register(StructValue)
def return_struct(value: StructValue, stager: Stager, declared: Annotation | None, node: ast.AST) -> StructValue:
    """A struct as a result, of the annotated type."""
    if isinstance(declared, NoneAnnotation):
        stager.fail_type(node, "the function is annotated as returning None, but returns a value")
    if declared is not None and not isinstance(declared, StructType):
        stager.fail_type(node, f"the return annotation is {declared}, but {value.describe()} is returned")
    whole = value if declared is None else converted(stager, StructKind(declared), value, "the result", node)
    kinds = [kind if declared is not None else None for _, kind, _ in whole.struct.kind.members]
    members = (returned(member, stager, kind, node) for member, kind in zip(whole.members, kinds, strict=True))
    return StructValue(whole.struct, tuple(members))


# --- arguments of launches, and captured structs


def given_struct(stager: Stager, ref: Ref, kind: StructType, node: ast.AST) -> StructValue:
    """A struct passed at a launch: a Samovar struct, or a dict. Its numbers are read at each launch."""
    struct, sources = members_of(stager, ref, kind, node)
    kinds = (member for _, member, _ in kind.members)
    members = (given_member(stager, *each, node) for each in zip(sources, kinds, strict=True))
    return StructValue(struct, tuple(members))


def check_unread(stager: Stager, ref: Ref, annotation: Annotation, node: ast.AST) -> None:
    """Check an unused parameter against its annotation, without its members."""
    found = ref.kind()
    if isinstance(annotation, StructType):
        members_of(stager, ref, annotation, node)
    elif isinstance(annotation, StructArrayAnnotation) and found is Kind.STRUCTS:
        actual = ref.attribute("struct").annotation()
        assert isinstance(actual, StructType)
        check_elements(stager, annotation.struct, actual, f"`{ref.spelled}`", ref.spelled, node)
        ref.attribute("parts").item(0).tensor()  # the number of its dimensions


def members_of(stager: Stager, ref: Ref, kind: StructType, node: ast.AST) -> tuple[StructKind, list[Ref]]:
    """The type of a struct passed at a launch, which must be the wanted one, and the references to its members."""
    found = ref.kind()
    if found is Kind.STRUCT:
        own, entries = ref.attribute("struct"), ref.attribute("member_values")
        actual = own.annotation()
        assert isinstance(actual, StructType)
        difference = difference_between(actual, kind)
        if difference is not None:
            stager.fail_type(node, f"`{ref.spelled}` must be a {kind}, got a {actual}: {difference}")
        struct = StructKind(kind, own)
        sources = [entries.item(place) for place in range(len(kind.members))]
    elif found is Kind.MAPPING:
        struct, names = StructKind(kind), ref.keys()
        unknown = [name for name in names if not isinstance(name, str) or kind.place(name) is None]
        missing = [name for name in kind.keys if name not in names]
        if unknown or missing:
            problem = f"has no member {unknown[0]!r}" if unknown else f"requires a value for `{missing[0]}`"
            stager.fail_type(node, f"`{ref.spelled}`: {kind} {problem}", f"its members are {', '.join(kind.keys)}")
        sources = [ref.item(name) for name in kind.keys]
    else:
        stager.fail_type(node, f"`{ref.spelled}` must be a {kind} or a dict, got a {ref.type_name()}")
    return struct, sources


def given_member(stager: Stager, ref: Ref, kind: Any, node: ast.AST) -> Staged:
    if isinstance(kind, StructType):
        return given_struct(stager, ref, kind, node)
    if isinstance(kind, MatrixType):
        return given_matrix(stager, ref, kind, node)
    dtype = kind.resolved(stager.context.lens.options)
    parts = part_type(dtype)
    if parts is not None:
        return given_complex(stager, ref, parts)
    return Scalar(stager.visible(stager.context.scalar(ref, leaf_type(stager, ref, dtype, node))))


def open_struct(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    """A struct of plain Python: a compile-time constant if captured, read at each launch if in a dataclass argument."""
    declared = ref.declared()
    if isinstance(declared, StructType) and ref.owner_declared_as() == "dataclass":
        return given_struct(stager, ref, declared, node)
    own, entries = ref.attribute("struct"), ref.attribute("member_values")
    kind = own.annotation()
    assert isinstance(kind, StructType)
    options = stager.context.lens.options
    members = (
        cast_to(stager, stager.open(entries.item(place), node), member.resolved(options), node)
        if isinstance(member, ScalarAnnotation)
        else stager.open(entries.item(place), node)
        for place, (_, member, _) in enumerate(kind.members)
    )
    return StructValue(StructKind(kind, own), tuple(members))


def open_structs(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    """An array or a field of structs."""
    own, parts = ref.attribute("struct"), ref.attribute("parts")
    kind = own.annotation()
    assert isinstance(kind, StructType)
    declared = ref.declared()
    is_pitched = bool(ref.attribute("pitched").value())
    layout = MemoryLayout(kind)
    leaves = iter(enumerate(layout.leaves))
    tensor = opened_members(stager, ref.spelled, StructKind(kind, own), parts, leaves, layout.size if is_pitched else 0)
    if isinstance(declared, ViewAnnotation):
        return required_view(tensor, stager, declared, f"`{ref.spelled}`", node)
    if isinstance(declared, StructArrayAnnotation):
        tensor.set_boundary(declared.boundary)
        check_structs(stager, declared, tensor, f"`{ref.spelled}`", node)
    return tensor


def opened_members(
    stager: Stager, name: str, struct: StructKind, parts: Ref, leaves: Iterator[Any], size: int
) -> StructTensor:
    """The arrays of the members of a struct; with a `size` in bytes, they are interleaved in memory."""
    members: list[Any] = []
    is_view = False
    for place, (member, kind, _) in enumerate(struct.kind.members):
        own = f"{name}.{member}"
        if isinstance(kind, StructType):
            members.append(opened_members(stager, own, struct.inner(place), parts, leaves, size))
            continue
        number, leaf = next(leaves)
        ref = parts.item(number)
        is_new = ref.path not in stager.context.arrays
        array = stager.context.array(ref)
        outer = array.rank - len(leaf.shape)
        if is_new:
            array.name = own
            if leaf.shape and array.layout is None:
                array.extents = (*array.extents[:outer], *leaf.shape)
            if size and array.layout is None and not array.contiguous:
                array.record_stride = (outer, size // array.dtype.itemsize)
        tensor = Tensor(stager.visible(array), ref, leaf.shape)
        is_view = ref.tensor().is_view
        members.append(View(tensor, first_offset(stager, parts, array)) if is_view else tensor)
    is_view |= any(isinstance(member, StructView) for member in members)
    return (StructView if is_view else StructTensor)(name, struct, tuple(members))


def first_offset(stager: Stager, parts: Ref, array: Array) -> Value:
    """The offset of a view of structs, which all its members share."""
    return stager.visible(stager.context.scalar(parts.item(0).attribute("offset"), i64 if array.wide else i32))


def require_whole(stager: Stager, tensor: StructTensor, annotation: Annotation, what: str, node: ast.AST) -> None:
    """Reject a slice where an array is annotated."""
    if not tensor.is_array():
        stager.fail_type(node, f"{what} must be an array ({annotation}), got {tensor.describe()}", tensor.advice_for_array)


def check_structs(
    stager: Stager, annotation: StructArrayAnnotation, tensor: StructTensor, what: str, node: ast.AST
) -> None:
    """Check an array of structs against its annotation."""
    require_whole(stager, tensor, annotation, what, node)
    check_members(stager, annotation.struct, tensor, what, node)
    if annotation.ndim is not None and annotation.ndim != tensor.ndim:
        stager.fail_type(node, f"{what} must be {annotation.ndim}-D, but `{tensor.name}` is {tensor.ndim}-D")


def check_members(stager: Stager, struct: StructType, tensor: StructTensor, what: str, node: ast.AST) -> None:
    """Check the elements of an array against an annotation."""
    check_elements(stager, struct, tensor.struct.kind, what, tensor.name, node)


def check_elements(stager: Stager, struct: StructType, actual: StructType, what: str, name: str, node: ast.AST) -> None:
    wanted = struct.resolved(stager.context.lens.options)
    if not actual.has_members_of(wanted):
        difference = difference_between(actual, wanted) or "their dtypes differ"
        stager.fail_type(node, f"{what} must contain {wanted}, but `{name}` contains {actual}: {difference}")


def given_parameter(stager: Stager, ref: Ref, annotation: Annotation, node: ast.AST) -> Staged:
    """A kernel parameter annotated with a struct type, or as an array of structs."""
    if isinstance(annotation, StructType):
        return given_struct(stager, ref, annotation, node)
    opened = stager.open(ref, node)
    if isinstance(opened, StructTensor) and isinstance(annotation, StructArrayAnnotation):
        opened.set_boundary(annotation.boundary)
        check_structs(stager, annotation, opened, f"`{ref.spelled}`", node)
    return opened


def convert_argument(stager: Stager, annotation: Annotation, value: Staged, what: str, node: ast.AST) -> Staged:
    """An argument of a func, converted to such an annotation."""
    if isinstance(annotation, StructType):
        return converted(stager, StructKind(annotation), value, what, node)
    assert isinstance(annotation, StructArrayAnnotation)
    if isinstance(value, StructTensor):
        check_structs(stager, annotation, value, what, node)
    elif not value.is_none():
        stager.fail_type(node, f"{what} must be an array of {annotation.struct}, got {value.describe()}")
    return value


def choose(
    stager: Stager, test: Value, regions: tuple[Region, Region], sides: tuple[Staged, Staged], node: ast.IfExp
) -> Staged:
    """One of two structs by a condition: each branch writes its members to the same variables."""
    first = sides[0]
    assert isinstance(first, StructValue)
    chosen = new_struct(stager, "_", first)
    for region, value in zip(regions, sides, strict=True):
        with stager.into(region):
            chosen.store(stager, value, node)
    stager.append(If(test, *regions))
    return chosen.load(stager)


@required_view.register(StructView)
def require_view_of_structs(
    value: StructView, stager: Stager, annotation: ViewAnnotation, what: str, node: ast.AST
) -> Part:
    if annotation.struct is not None:
        check_members(stager, annotation.struct, value, what, node)
    elif annotation.element is not None:
        stager.fail_type(node, f"{what} must be a BufferView ({annotation}), got {value.describe()}")
    return value.with_boundary(annotation.boundary)


OBJECTS |= {Kind.STRUCT: open_struct, Kind.STRUCTS: open_structs}
