"""Making structs: `S(...)`, `sv.Struct(...)`, what launches bring, what is captured; and what annotations want of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from samovar._native import i32, i64
from samovar.errors import did_you_mean
from samovar.frontend.expressions import stage
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.matrix import MatrixValue, as_matrix, described, matrix_of
from samovar.frontend.staged.outside import Outside
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.struct import StructKind, StructValue, difference_between
from samovar.frontend.staged.struct_places import new_struct
from samovar.frontend.staged.struct_tensor import StructTensor
from samovar.frontend.staged.struct_view import StructView
from samovar.frontend.staged.tensor import Tensor
from samovar.frontend.staged.view import View
from samovar.frontend.stager import Stager
from samovar.ir import Array, If, Region, Value
from samovar.language import (
    Annotation,
    MatrixType,
    MemoryLayout,
    NoneAnnotation,
    ScalarAnnotation,
    StructArrayAnnotation,
    StructType,
    ViewAnnotation,
)
from samovar.lens import Kind, Ref

# --- of given members


def construct(stager: Stager, struct: StructKind, node: ast.Call) -> Staged:
    """`S(1, v)`, `S(a=1)`, `S(other)`: what is left out is its default, or 0."""
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
        stager.fail_type(node, f"{kind} has {len(kind.members)} members, and {len(positional)} values are given")
    given = dict(zip(kind.keys, positional, strict=False))
    for keyword in node.keywords:
        if keyword.arg is None:
            stager.fail(keyword.value, "`**` in a call is not available in kernels", "name each member")
        if kind.place(keyword.arg) is None:
            close = did_you_mean(keyword.arg, kind.keys)
            advice = f"there are {', '.join(kind.keys)}"
            stager.fail_type(keyword.value, f"{kind} has no member `{keyword.arg}`{close}", advice)
        if keyword.arg in given:
            stager.fail_type(keyword.value, f"{kind} gets two values for `{keyword.arg}`")
        given[keyword.arg] = (stage(stager, keyword.value), keyword.value)
    members: list[Staged] = []
    for place, (name, member, default) in enumerate(kind.members):
        if name in given:
            value, where = given[name]
            members.append(member_of(stager, struct, place, value, where))
        else:
            members.append(default_of(stager, struct, place, member, default, node))
    return StructValue(struct, tuple(members))


def member_of(stager: Stager, struct: StructKind, place: int, value: Staged, node: ast.AST) -> Staged:
    """A value as a member takes it: converted to its type."""
    from samovar.frontend.matrices import filled, of_type

    name, kind, _ = struct.kind.members[place]
    what = f"`{name}` of {struct.kind}"
    if isinstance(kind, StructType):
        return converted(stager, struct.inner(place), value, what, node)
    dtype = kind.resolved(stager.context.lens.options)
    value = value.as_operand(stager, node)
    if isinstance(kind, ScalarAnnotation):
        if not value.is_number():
            stager.fail_type(node, f"{what} is a number ({dtype.name}), got {value.describe()}")
        return Scalar(kept(stager, value, dtype, node, Keeper(what)))
    if value.is_number():
        return filled(stager, dtype, kind.shape, value, node, Keeper(what))
    matrix = as_matrix(stager, value, node)
    if not isinstance(matrix, MatrixValue) or matrix.shape != kind.shape:
        stager.fail_type(node, f"{what} must be {described(kind.shape)}, got {value.describe()}")
    return of_type(stager, matrix, dtype, node, Keeper(what)).settled(stager, node)


def default_of(
    stager: Stager, struct: StructKind, place: int, kind: Any, default: tuple[Any, ...] | None, node: ast.AST
) -> Staged:
    """What a member is that is not given."""
    if isinstance(kind, StructType):
        inner = struct.inner(place)
        members = tuple(
            default_of(stager, inner, position, each, own, node) for position, (_, each, own) in enumerate(kind.members)
        )
        return StructValue(inner, members)
    numbers = tuple(map(Static, default or ()))
    if isinstance(kind, ScalarAnnotation):
        return member_of(stager, struct, place, numbers[0] if numbers else Static(0), node)
    if not numbers:
        return member_of(stager, struct, place, Static(0), node)
    return member_of(stager, struct, place, matrix_of(stager, kind.shape, numbers, node), node)


def make_struct(stager: Stager, node: ast.Call) -> Staged:
    """`sv.Struct(a=1, v=vec)`: the values decide the types."""
    if node.args or not node.keywords or any(keyword.arg is None for keyword in node.keywords):
        stager.fail(node, "`sv.Struct` in a kernel takes members by name", "write `sv.Struct(a=1, v=w)`")
    members = {
        keyword.arg or "": stage(stager, keyword.value).as_operand(stager, keyword.value) for keyword in node.keywords
    }
    typed = {name: value.member_type(stager, node) for name, value in members.items()}
    kind = StructType("struct", tuple((name, member, None) for name, (member, _) in typed.items()))
    return StructValue(StructKind(kind), tuple(value for _, value in typed.values()))


def number_member(stager: Stager, value: Staged, node: ast.AST) -> tuple[Annotation, Staged]:
    """The type of a member that a number is the value of, and the number in it."""
    scalar = value.scalar(stager, node)
    assert scalar.type is not None
    return ScalarAnnotation(scalar.type), Scalar(scalar)


# --- what annotations want


def converted(stager: Stager, struct: StructKind, value: Staged, what: str, node: ast.AST) -> StructValue:
    """A value as an annotation wants it: members of the dtypes that it says."""
    if not isinstance(value, StructValue):
        stager.fail_type(node, f"{what} must be a {struct.kind}, got {value.describe()}", f"write `{struct.kind}(…)`")
    difference = difference_between(value.struct.kind, struct.kind)
    if difference is not None:
        stager.fail_type(node, f"{what} must be a {struct.kind}, got {value.describe()}: {difference}")
    owner = struct if struct.ref is not None else struct.found_at(value.struct.ref, value.struct.within)
    members = (member_of(stager, owner, place, member, node) for place, member in enumerate(value.members))
    return StructValue(owner, tuple(members))


def returned_struct(stager: Stager, value: StructValue, declared: Annotation | None, node: ast.AST) -> StructValue:
    """A struct as a result, of the type that the annotation gives."""
    if isinstance(declared, NoneAnnotation):
        stager.fail_type(node, "the function is annotated as returning None, and returns a value")
    if declared is not None and not isinstance(declared, StructType):
        stager.fail_type(node, f"the annotation promises {declared}, and {value.describe()} is returned")
    whole = value if declared is None else converted(stager, StructKind(declared), value, "the result", node)
    kinds = [kind if declared is not None else None for _, kind, _ in whole.struct.kind.members]
    members = (member.returned(stager, kind, node) for member, kind in zip(whole.members, kinds, strict=True))
    return StructValue(whole.struct, tuple(members))


# --- what launches bring, and what is captured


def given_struct(stager: Stager, ref: Ref, kind: StructType, node: ast.AST) -> StructValue:
    """A struct that a launch brings: one of ours, or a dict. Its numbers are read at each launch."""
    struct, sources = members_of(stager, ref, kind, node)
    kinds = (member for _, member, _ in kind.members)
    members = (given_member(stager, *each, node) for each in zip(sources, kinds, strict=True))
    return StructValue(struct, tuple(members))


def check_unread(stager: Stager, ref: Ref, annotation: Annotation, node: ast.AST) -> None:
    """A parameter that nothing reads has to be what its annotation says; what its members are is not asked."""
    found = ref.kind()
    if isinstance(annotation, StructType):
        members_of(stager, ref, annotation, node)
    elif isinstance(annotation, StructArrayAnnotation) and found is Kind.STRUCTS:
        actual = ref.attribute("struct").annotation()
        assert isinstance(actual, StructType)
        check_elements(stager, annotation.struct, actual, f"`{ref.spelled}`", ref.spelled, node)
        ref.attribute("parts").item(0).tensor()  # how many axes it has


def members_of(stager: Stager, ref: Ref, kind: StructType, node: ast.AST) -> tuple[StructKind, list[Ref]]:
    """The type of a struct that a launch brings, which has to be the one that is wanted, and where its members are."""
    found = ref.kind()
    if found is Kind.STRUCT:
        own, entries = ref.attribute("struct"), ref.attribute("entries")
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
            problem = f"has no member {unknown[0]!r}" if unknown else f"needs a value for `{missing[0]}`"
            stager.fail_type(node, f"`{ref.spelled}`: {kind} {problem}", f"its members are {', '.join(kind.keys)}")
        sources = [ref.item(name) for name in kind.keys]
    else:
        stager.fail_type(node, f"`{ref.spelled}` must be a {kind} or a dict, got a {ref.type_name()}")
    return struct, sources


def given_member(stager: Stager, ref: Ref, kind: Any, node: ast.AST) -> Staged:
    from samovar.frontend.members import given_matrix, leaf_type

    if isinstance(kind, StructType):
        return given_struct(stager, ref, kind, node)
    if isinstance(kind, MatrixType):
        return given_matrix(stager, ref, kind, node)
    dtype = kind.resolved(stager.context.lens.options)
    return Scalar(stager.visible(stager.context.scalar(ref, leaf_type(stager, ref, dtype, node))))


def open_struct(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    """A struct of plain Python: baked where it is captured, read at each launch in a dataclass that is given."""
    declared = ref.declared()
    if isinstance(declared, StructType) and ref.owner_form() == "dataclass":
        return given_struct(stager, ref, declared, node)
    own, entries = ref.attribute("struct"), ref.attribute("entries")
    kind = own.annotation()
    assert isinstance(kind, StructType)
    members = (
        Scalar(Static(entries.item(place).value()).as_type(stager, member.resolved(stager.context.lens.options), node))
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
        return tensor.required_view(stager, declared, f"`{ref.spelled}`", node)
    if isinstance(declared, StructArrayAnnotation):
        tensor.set_boundary(declared.boundary)
        check_structs(stager, declared, tensor, f"`{ref.spelled}`", node)
    return tensor


def opened_members(
    stager: Stager, name: str, struct: StructKind, parts: Ref, leaves: Iterator[Any], size: int
) -> StructTensor:
    """The arrays of the members of a struct; with a `size` in bytes, they lie in each struct next to each other."""
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
        outer = array.ndim - len(leaf.shape)
        if is_new:
            array.name = own
            if leaf.shape and array.layout is None:
                array.extents = (*array.extents[:outer], *leaf.shape)
            if size and array.layout is None and not array.contiguous:
                array.pitch = (outer, size // leaf.dtype.itemsize)
        tensor = Tensor(stager.visible(array), ref, leaf.shape)
        is_view = ref.tensor().is_view
        members.append(View(tensor, first_offset(stager, parts, array)) if is_view else tensor)
    is_view |= any(isinstance(member, StructView) for member in members)
    return (StructView if is_view else StructTensor)(name, struct, tuple(members))


def first_offset(stager: Stager, parts: Ref, array: Array) -> Value:
    """Where a view of structs begins: all of its members do there."""
    return stager.visible(stager.context.scalar(parts.item(0).attribute("offset"), i64 if array.wide else i32))


def require_whole(stager: Stager, tensor: StructTensor, annotation: Annotation, what: str, node: ast.AST) -> None:
    """What is annotated as an array takes no part of one."""
    if not tensor.is_array():
        stager.fail_type(node, f"{what} must be an array ({annotation}), got {tensor.describe()}", tensor.advice_for_array)


def check_structs(
    stager: Stager, annotation: StructArrayAnnotation, tensor: StructTensor, what: str, node: ast.AST
) -> None:
    """An array of structs has to be what its annotation says."""
    require_whole(stager, tensor, annotation, what, node)
    check_members(stager, annotation.struct, tensor, what, node)
    if annotation.ndim is not None and annotation.ndim != tensor.ndim:
        stager.fail_type(node, f"{what} must have {annotation.ndim} axes, and `{tensor.name}` has {tensor.ndim}")


def check_members(stager: Stager, struct: StructType, tensor: StructTensor, what: str, node: ast.AST) -> None:
    """The elements of an array have to be what an annotation says."""
    check_elements(stager, struct, tensor.struct.kind, what, tensor.name, node)


def check_elements(stager: Stager, struct: StructType, actual: StructType, what: str, name: str, node: ast.AST) -> None:
    wanted = struct.resolved(stager.context.lens.options)
    if not actual.has_members_of(wanted):
        difference = difference_between(actual, wanted) or "their dtypes differ"
        stager.fail_type(node, f"{what} must hold {wanted}, and `{name}` holds {actual}: {difference}")


def open_type(annotation: Annotation, ref: Ref) -> Staged:
    """A type of structs, or the annotation of an array of them."""
    return StructKind(annotation, ref) if isinstance(annotation, StructType) else Outside(ref, Kind.ANNOTATION)


def given_parameter(stager: Stager, ref: Ref, annotation: Annotation, node: ast.AST) -> Staged:
    """A parameter of a kernel that is annotated with a type of structs, or as an array of them."""
    if isinstance(annotation, StructType):
        return given_struct(stager, ref, annotation, node)
    opened = stager.open(ref, node)
    if isinstance(opened, StructTensor) and isinstance(annotation, StructArrayAnnotation):
        opened.set_boundary(annotation.boundary)
        check_structs(stager, annotation, opened, f"`{ref.spelled}`", node)
    return opened


def convert_argument(stager: Stager, annotation: Annotation, value: Staged, what: str, node: ast.AST) -> Staged:
    """An argument of a func, as such an annotation wants it."""
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
    """One of two structs by a condition: each side writes its members to the same variables."""
    first = sides[0]
    assert isinstance(first, StructValue)
    chosen = new_struct(stager, "_", first)
    for region, value in zip(regions, sides, strict=True):
        with stager.into(region):
            chosen.store(stager, value, node)
    stager.append(If(test, *regions))
    return chosen.load(stager)
