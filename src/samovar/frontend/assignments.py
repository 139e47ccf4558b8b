"""Assignments to names, to places and to several targets at once, and augmented assignments."""

from __future__ import annotations

import ast
from functools import singledispatch

from samovar._native import DType
from samovar.frontend import structs
from samovar.frontend.bindings import first_assigned
from samovar.frontend.dispatch import stage, stage_marked
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.matrices import converted
from samovar.frontend.operators import BINARY, BinaryOperator, binary
from samovar.frontend.places import stage_index, stage_member, stage_place, stage_target
from samovar.frontend.scalars import BITWISE, SHIFTS, operation_type
from samovar.frontend.shared import assign_condition
from samovar.frontend.staged.array_values import Section, SectionPlace
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.complex import ComplexPlace
from samovar.frontend.staged.forced import Forced
from samovar.frontend.staged.items import matched
from samovar.frontend.staged.matrix_places import ChosenPart, MatrixPlace
from samovar.frontend.staged.struct_places import StructPlace
from samovar.frontend.stager import Binding, Stager
from samovar.frontend.syntax import IGNORED, walk
from samovar.language import is_float


def stage_assign(stager: Stager, node: ast.Assign) -> None:
    if assign_condition(stager, node):
        return
    value = stage_marked(stager, node.value)
    for target in node.targets:
        assign(stager, target, value)


def assign(stager: Stager, target: ast.expr, value: Staged) -> None:
    if isinstance(target, ast.Name):
        assign_name(stager, target, value)
    elif isinstance(target, ast.Subscript):
        with stager.at(target):
            assign_element(stager, target, value.unforced())
    elif isinstance(target, (ast.Tuple, ast.List)):
        assign_items(stager, target, value)
    elif isinstance(target, ast.Attribute):
        assign_member(stager, target, value.unforced())
    else:
        stager.fail(target, "this target cannot be assigned in a kernel")


def assign_items(stager: Stager, target: ast.Tuple | ast.List, value: Staged) -> None:
    items = value.unforced().sequence(stager, target)
    if value.is_forced:
        items = tuple(Forced(item.unforced()) for item in items)
    # All values are read before the first is assigned.
    items = tuple(item.current(stager, target) for item in items)
    for element, item in matched(stager, target, items):
        assign(stager, element, item)


# --- names


def assign_name(stager: Stager, target: ast.Name, value: Staged, annotated: DType | None = None) -> None:
    """Assign a value to a name. The first assignment decides the type, and whether it is a variable or a fixed value."""
    name, is_forced, value = target.id, value.is_forced, value.unforced()
    if name == IGNORED and not stager.used.reads_ignored and annotated is None:
        return
    check_assignable(stager, target)
    binding = stager.names.get(name)
    if isinstance(binding, Place):
        binding.assign(stager, value, name, target, annotated)
        return
    check_rebinding(stager, target, binding)
    is_kept = is_forced and annotated is None
    stager.names[name] = value if is_kept else first_assigned(value, stager, target, annotated)


def check_assignable(stager: Stager, target: ast.Name) -> None:
    if target.id in stager.fixed:
        copied = f"copy it to a new name first: `{target.id}_copy = {target.id}`"
        stager.fail(
            target,
            f"`{target.id}` is a parameter of the kernel and cannot be assigned",
            stager.load(target.id, target).advice_for_assignment or copied,
        )
    if target.id in stager.values:
        stager.fail(
            target,
            f"`{target.id}` is a template parameter, so assigning it would change the caller's variable,"
            f" but {stager.values[target.id]} cannot be assigned",
            f"pass a variable, or copy the parameter to a new name first: `{target.id}_copy = {target.id}`",
        )


def check_rebinding(stager: Stager, target: ast.Name, binding: Binding | None) -> None:
    """Reject a change of a name that is not a variable from one iteration of a run-time loop to the next."""
    for loop in stager.loops:
        if loop.kind != "static" and binding is not None and loop.names.get(target.id) is binding:
            stager.fail(
                target,
                f"`{target.id}` holds a compile-time value and cannot change inside a run-time loop",
                "initialize it with a run-time value, as in `x = sv.i32(0)`, or use a new name",
            )


# --- elements and members


def assign_element(stager: Stager, target: ast.Subscript, value: Staged) -> None:
    owner = stage_target(stager, target.value)
    place = owner.element(stager, stage_index(stager, target.slice), target)
    if place is None:
        stager.fail_type(
            target,
            f"an element of {owner.describe()} cannot be assigned in a kernel",
            "lists, tuples and dicts are immutable in kernels: use an array or an `sv.Vector([...])`",
        )
    place.store(stager, value, target)


def assign_member(stager: Stager, target: ast.Attribute, value: Staged) -> None:
    stage_member(stager, target).store(stager, value, target)


# --- annotations


def stage_annotated(stager: Stager, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name):
        annotate_place(stager, node.target, node.value)
        return
    if node.value is None and not is_used(stager, node.target):
        return  # as in Python, it has no effect
    annotation = stage(stager, node.annotation)
    dtype, kind, struct = annotation.as_dtype(stager), annotation.matrix_type(), annotation.struct_kind()
    if struct is not None and node.value is not None:
        value = stage(stager, node.value)
        assign_name(stager, node.target, structs.converted(stager, struct, value, f"`{node.target.id}`", node.value))
        return
    if kind is not None and node.value is not None:
        value = stage(stager, node.value)
        assign_name(stager, node.target, converted(stager, kind, value, f"`{node.target.id}`", node.value))
        return
    if dtype is None:
        stager.fail_type(node.annotation, "the annotation of a local must be a dtype", "as in `x: sv.f64 = 0`")
    if node.value is None:
        stager.fail(node, "a local variable needs a value", f"write `{node.target.id}: sv.{dtype.name} = 0`")
    assign_name(stager, node.target, stage_marked(stager, node.value), dtype)


def annotate_place(stager: Stager, target: ast.Attribute | ast.Subscript, value: ast.expr | None) -> None:
    """`a[i]: T = x` is `a[i] = x`, and `a[i]: T` evaluates `a` and `i`: Python ignores the annotation as well."""
    if value is not None:
        assign(stager, target, stage(stager, value))
        return
    stage(stager, target.value)
    if isinstance(target, ast.Subscript):
        stage_index(stager, target.slice)


def is_used(stager: Stager, name: ast.Name) -> bool:
    """Whether a function mentions a name elsewhere."""
    mentioned = [node for node in walk(stager.source.node) if isinstance(node, ast.Name) and node.id == name.id]
    return len(mentioned) > 1


# --- updates


def stage_augmented(stager: Stager, node: ast.AugAssign) -> None:
    """`x += y`: atomic on an array element and on a variable that iterations share."""
    operator = BINARY[node.op.__class__]
    stager.line = stager.spot(node)
    if isinstance(node.target, ast.Name):
        if updated_whole(stager, node, node.target):
            return
        check_assignable(stager, node.target)
        binding = stager.names.get(node.target.id)
        if not isinstance(binding, Place) or not binding.is_shared(stager):
            current = stager.load(node.target.id, node.target)
            result = binary(stager, operator, current, stage(stager, node.value), node)
            if isinstance(binding, Place):
                binding.assign(stager, result, node.target.id, node)
            else:
                assign_name(stager, node.target, result)
            return
    if isinstance(node.target, ast.Subscript) and added_by_object(stager, node, node.target):
        return
    place = stage_place(stager, node.target)
    augment(place, stager, operator, stage(stager, node.value), node)


def updated_whole(stager: Stager, node: ast.AugAssign, target: ast.Name) -> bool:
    """`a += b` on an array: an update of each element."""
    binding = stager.names.get(target.id)
    array = binding.as_array_value() if isinstance(binding, Staged) else None
    if not isinstance(array, Section):
        return False
    augment(SectionPlace(array), stager, BINARY[node.op.__class__], stage(stager, node.value), node)
    return True


def added_by_object(stager: Stager, node: ast.AugAssign, target: ast.Subscript) -> bool:
    """`m[i, j] += x` on an object with the func `add_at(i, j, x)`, such as a builder of sparse matrices."""
    if not (isinstance(node.op, (ast.Add, ast.Sub)) and isinstance(target.value, ast.Name)):
        return False
    owner = stage_target(stager, target.value)
    if not (isinstance(owner, Staged) and owner.gathers()):
        return False
    value = node.value if isinstance(node.op, ast.Add) else ast.UnaryOp(ast.USub(), node.value)
    indices = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    call = ast.Call(ast.Attribute(target.value, "add_at", ast.Load()), [*indices, value], [])
    for each in (value, call.func, call):
        ast.copy_location(each, node)
    stage(stager, call)
    return True


@singledispatch
def augment(place: Place, stager: Stager, operator: BinaryOperator, value: Staged, node: ast.AugAssign) -> None:
    """`place operator= value`, atomically. Here, for a number; other kinds of places register a rule."""
    dtype, code = place.type, operator.code
    if code == "matmul":
        stager.fail(node, "`@=` requires matrices or vectors")
    if operation_type(stager, code, dtype) is not dtype:
        if code == "div":  # as for an assignment of the quotient
            place.store(stager, binary(stager, operator, place.load(stager), value, node), node)
            return
        stager.fail_type(node, f"`{operator.sign}=` cannot store its result as {dtype.name}")
    if (code in BITWISE or code in SHIFTS) and is_float(dtype):
        stager.fail_type(node, f"`{operator.sign}=` requires integers, got {dtype.name}")
    local = next(iter(place.locals()), None)
    is_cut = not is_float(dtype) and value.is_number() and is_float(value.type(stager, node))
    doing = f"the right side of `{operator.sign}=` becomes {dtype.name} first, and" if is_cut else f"`{operator.sign}=` of"
    keeper = Keeper(f"`{ast.unparse(node.target)}`", doing, local)
    place.update(stager, code, (kept(stager, value, dtype, node, keeper),))


@augment.register(MatrixPlace)
def augment_matrix(
    place: MatrixPlace, stager: Stager, operator: BinaryOperator, value: Staged, node: ast.AugAssign
) -> None:
    if operator.code == "matmul":
        stager.fail(node, f"`@=` is not supported for {place.describe()}", "write `a = a @ b`")
    matrix = None if value.is_number() else place.components(stager, value, node)
    place.each(
        stager,
        lambda at: augment(
            place.part(stager, at, node), stager, operator, value if matrix is None else matrix.entry(stager, at), node
        ),
    )


@augment.register(ComplexPlace)
def augment_complex(
    place: ComplexPlace, stager: Stager, operator: BinaryOperator, value: Staged, node: ast.AugAssign
) -> None:
    """Sums are those of the parts. Other operators need both parts, and are not atomic."""
    if operator.code in ("add", "sub"):
        for part, number in zip(place.parts, place.given(stager, value, node).parts, strict=True):
            if number.number() != 0:
                augment(part, stager, operator, number, node)
        return
    if place.is_shared(stager):
        stager.fail(
            node,
            f"`{operator.sign}=` of a complex number that the iterations of a parallel loop share is not supported",
            "`+=` and `-=` are; or put `sv.loop_config(serialize=True)` before the loop",
        )
    place.store(stager, binary(stager, operator, place.load(stager), value, node), node)


@augment.register(ChosenPart)
def augment_chosen(
    place: ChosenPart, stager: Stager, operator: BinaryOperator, value: Staged, node: ast.AugAssign
) -> None:
    if place.owner.is_shared(stager):
        stager.fail(
            node,
            "an element at a run-time index of a variable shared by the iterations of a parallel loop cannot be updated",
            "use an array instead",
        )
    place.store(stager, binary(stager, operator, place.load(stager), value, node), node)


@augment.register(StructPlace)
def refuse_to_augment(
    place: StructPlace, stager: Stager, operator: BinaryOperator, value: Staged, node: ast.AugAssign
) -> None:
    stager.fail_type(node, f"`{operator.sign}=` is not defined for {place.describe()}", "update its members one by one")
