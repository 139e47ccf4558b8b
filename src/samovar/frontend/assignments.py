"""Assignments: to names, to places, to several at once; and updates of them."""

from __future__ import annotations

import ast

from samovar import errors
from samovar._native import DType
from samovar.frontend.expressions import stage, stage_index, stage_marked
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.matrices import converted
from samovar.frontend.operators import BINARY, BinaryOperator, binary
from samovar.frontend.scalars import BITWISE, SHIFTS, operation_type
from samovar.frontend.shared import assign_condition
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.forced import Forced
from samovar.frontend.staged.items import matched
from samovar.frontend.stager import Meaning, Stager
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
        stager.fail(target, "this cannot be assigned in a kernel")


def assign_items(stager: Stager, target: ast.Tuple | ast.List, value: Staged) -> None:
    items = value.unforced().sequence(stager, target)
    if value.is_forced:
        items = tuple(Forced(item.unforced()) for item in items)
    # All are read before the first is assigned.
    items = tuple(item.settled(stager, target) for item in items)
    for element, item in matched(stager, target, items):
        assign(stager, element, item)


# --- names


def assign_name(stager: Stager, target: ast.Name, value: Staged, annotated: DType | None = None) -> None:
    """Give a name a value. Its first assignment decides the type, and whether it is a variable or a fixed value."""
    name, is_forced, value = target.id, value.is_forced, value.unforced()
    if name == IGNORED and not stager.reads_ignored and annotated is None:
        return
    check_assignable(stager, target)
    meaning = stager.names.get(name)
    if isinstance(meaning, Place):
        meaning.assign(stager, value, name, target, annotated)
        return
    check_rebinding(stager, target, meaning)
    is_kept = is_forced and annotated is None
    stager.names[name] = value if is_kept else value.first_assigned(stager, target, annotated)


def check_assignable(stager: Stager, target: ast.Name) -> None:
    if target.id in stager.fixed:
        copied = f"copy it first, under a new name: `{target.id}_copy = {target.id}`"
        stager.fail(
            target,
            f"`{target.id}` is a parameter of the kernel and cannot be assigned",
            stager.load(target.id, target).advice_for_assignment or copied,
        )
    if target.id in stager.values:
        stager.fail(
            target,
            f"`{target.id}` is a template parameter, through which the caller's variable would change,"
            f" and {stager.values[target.id]} cannot be assigned",
            f"pass a variable, or copy the parameter first, under a new name: `{target.id}_copy = {target.id}`",
        )


def check_rebinding(stager: Stager, target: ast.Name, meaning: Meaning | None) -> None:
    """A name that is not a variable cannot change from one iteration of a run-time loop to the next."""
    for loop in stager.loops:
        if loop.kind != "static" and meaning is not None and loop.names.get(target.id) is meaning:
            stager.fail(
                target,
                f"`{target.id}` holds a compile-time value and cannot change inside a run-time loop",
                "give it a run-time value first, for example with a dtype: `x = sv.i32(0)`, or use a new name",
            )


# --- places


def stage_target(stager: Stager, node: ast.expr) -> Meaning:
    """What a place is a part of: a place itself, or a value."""
    if isinstance(node, ast.Name):
        meaning = stager.names.get(node.id)
        return stager.load(node.id, node) if meaning is None else meaning
    if isinstance(node, ast.Subscript):
        owner, index = stage_target(stager, node.value), stage_index(stager, node.slice)
        return owner.element(stager, index, node) or owner.load(stager).subscript(stager, index, node).unforced()
    if isinstance(node, ast.Attribute):
        owner = stage_target(stager, node.value)
        return owner.member(stager, node.attr, node) or owner.load(stager).attribute(stager, node.attr, node)
    return stage(stager, node)


def assign_element(stager: Stager, target: ast.Subscript, value: Staged) -> None:
    owner = stage_target(stager, target.value)
    place = owner.element(stager, stage_index(stager, target.slice), target)
    if place is None:
        stager.fail_type(
            target,
            f"an element of {owner.describe()} cannot be assigned in a kernel",
            "lists, tuples and dicts keep what they are made of: write into an array, or into a `sv.Vector([...])`",
        )
    place.store(stager, value, target)


def assign_member(stager: Stager, target: ast.Attribute, value: Staged) -> None:
    stage_member(stager, target).store(stager, value, target)


def stage_member(stager: Stager, target: ast.Attribute) -> Place:
    """The place of an attribute that is assigned or changed."""
    owner, name = stage_target(stager, target.value), target.attr
    place = owner.member(stager, name, target)
    if place is not None:
        return place
    names, what = owner.member_names(), owner.describe()
    if isinstance(owner, Place) and what != "a value":
        message = f"{what} has no member `{name}`{errors.did_you_mean(name, names)}"
    else:
        what = "a number" if what == "a value" else what
        message = f"an attribute cannot be assigned in a kernel: `{name}` of {what}"
    stager.fail(target, message, owner.advice_for_member())


def stage_place(stager: Stager, node: ast.expr) -> Place:
    """What an atomic operation or an augmented assignment changes."""
    if isinstance(node, ast.Subscript):
        owner = stage_target(stager, node.value)
        place = owner.element(stager, stage_index(stager, node.slice), node)
        if place is None:
            stager.fail_type(node, f"{owner.describe()} cannot be changed in a kernel")
        return place
    if isinstance(node, ast.Name):
        meaning = stager.names.get(node.id)
        if isinstance(meaning, Place):
            return meaning
        known = stager.load(node.id, node) if meaning is None or node.id in stager.fixed else meaning
        if known.is_array():
            message = f"`{node.id}` is an array, and what changes is an element of it"
            stager.fail_type(node, message, f"write `{node.id}[i]` for `{node.id}`")
        if node.id in stager.fixed:
            stager.fail(
                node,
                f"`{node.id}` is a parameter of the kernel and cannot be changed",
                "copy it into a local variable, or pass an array",
            )
        if meaning is not None and meaning.is_run_time():
            stager.want_variable(node.id)
    if isinstance(node, ast.Attribute):
        return stage_member(stager, node)
    stager.fail(node, "this cannot be changed", "use an element of an array, `a[i]`, or a local variable")


# --- annotations


def stage_annotated(stager: Stager, node: ast.AnnAssign) -> None:
    if not isinstance(node.target, ast.Name):
        annotate_place(stager, node.target, node.value)
        return
    if node.value is None and not is_used(stager, node.target):
        return  # it leaves nothing behind in the code of the function, so it means nothing
    annotation = stage(stager, node.annotation)
    dtype, kind, struct = annotation.as_dtype(stager), annotation.matrix_type(), annotation.struct_kind()
    if struct is not None and node.value is not None:
        from samovar.frontend import structs

        value = stage(stager, node.value)
        assign_name(stager, node.target, structs.converted(stager, struct, value, f"`{node.target.id}`", node.value))
        return
    if kind is not None and node.value is not None:
        value = stage(stager, node.value)
        assign_name(stager, node.target, converted(stager, kind, value, f"`{node.target.id}`", node.value))
        return
    if dtype is None:
        stager.fail_type(node.annotation, "the annotation of a local must be a dtype", "for example `x: sv.f64 = 0`")
    if node.value is None:
        stager.fail(node, "a local needs a value", f"write `{node.target.id}: sv.{dtype.name} = 0`")
    assign_name(stager, node.target, stage_marked(stager, node.value), dtype)


def annotate_place(stager: Stager, target: ast.Attribute | ast.Subscript, value: ast.expr | None) -> None:
    """`a[i]: T = x` is `a[i] = x`, and `a[i]: T` looks at `a` and `i`: in Python the annotation leaves no trace either."""
    if value is not None:
        assign(stager, target, stage(stager, value))
        return
    stage(stager, target.value)
    if isinstance(target, ast.Subscript):
        stage_index(stager, target.slice)


def is_used(stager: Stager, name: ast.Name) -> bool:
    """Does a function mention a name elsewhere?"""
    mentioned = [node for node in walk(stager.source.node) if isinstance(node, ast.Name) and node.id == name.id]
    return len(mentioned) > 1


# --- updates


def stage_augmented(stager: Stager, node: ast.AugAssign) -> None:
    """`x += y`: on an array element and on a variable that iterations share it is atomic."""
    operator = BINARY[node.op.__class__]
    stager.line = stager.spot(node)
    if isinstance(node.target, ast.Name):
        check_assignable(stager, node.target)
        meaning = stager.names.get(node.target.id)
        if not isinstance(meaning, Place) or not meaning.is_shared(stager):
            current = stager.load(node.target.id, node.target)
            result = binary(stager, operator, current, stage(stager, node.value), node)
            if isinstance(meaning, Place):
                meaning.assign(stager, result, node.target.id, node)
            else:
                assign_name(stager, node.target, result)
            return
    if isinstance(node.target, ast.Subscript) and added_by_object(stager, node, node.target):
        return
    place = stage_place(stager, node.target)
    place.augment(stager, operator, stage(stager, node.value), node)


def added_by_object(stager: Stager, node: ast.AugAssign, target: ast.Subscript) -> bool:
    """`m[i, j] += x` of an object that has a func for it, `add_at(i, j, x)`, as builders of matrices have."""
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


def update_scalar(stager: Stager, operator: BinaryOperator, place: Place, value: Staged, node: ast.AugAssign) -> None:
    """`place operator= value` of a number, atomically."""
    dtype, code = place.type, operator.code
    if code == "matmul":
        stager.fail(node, "`@=` needs matrices or vectors")
    if operation_type(stager, code, dtype) is not dtype:
        if code == "div":  # as assigning the quotient does
            place.store(stager, binary(stager, operator, place.load(stager), value, node), node)
            return
        stager.fail_type(node, f"`{operator.sign}=` cannot keep its result in {dtype.name}")
    if (code in BITWISE or code in SHIFTS) and is_float(dtype):
        stager.fail_type(node, f"`{operator.sign}=` needs integers, and this is {dtype.name}")
    local = next(iter(place.locals()), None)
    is_cut = not is_float(dtype) and value.is_number() and is_float(value.type(stager, node))
    doing = f"the right side of `{operator.sign}=` becomes {dtype.name} first, and" if is_cut else f"`{operator.sign}=` of"
    keeper = Keeper(f"`{ast.unparse(node.target)}`", doing, local)
    place.update(stager, code, (kept(stager, value, dtype, node, keeper),))
