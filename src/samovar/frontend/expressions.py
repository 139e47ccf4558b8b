"""Expressions: one rule per kind of AST node, looked up in a table."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from samovar import errors
from samovar._native import i32, i64, u1
from samovar.frontend import arithmetic
from samovar.frontend.arithmetic import as_index, as_type, common_type, describe, number, plain, static_truth, truth
from samovar.frontend.enumerations import comparable, has_member, has_own_operators, operate
from samovar.frontend.members import advice_for_member, run_time_member
from samovar.frontend.staged import (
    Callee,
    Element,
    Forced,
    Intrinsic,
    Items,
    Outside,
    Place,
    Staged,
    Static,
    Tensor,
    Variable,
)
from samovar.frontend.stager import Implied, Stager
from samovar.ir import OPCODES, Constant, If, Local, Region, Value
from samovar.lens import EnumValue, Kind, Ref, shown

Rule = Callable[[Stager, Any], Staged]

#: A branch of pure operations up to this size is evaluated always and chosen by `select`.
LARGEST_SELECTED_BRANCH = 12


def stage(stager: Stager, node: ast.expr) -> Staged:
    """The staged value of an expression."""
    rule = EXPRESSIONS.get(node.__class__)
    if rule is None:
        name, advice = REFUSED.get(node.__class__, (node.__class__.__name__, None))
        stager.fail(node, f"{name} is not available in kernels", advice)
    return rule(stager, node)


def stage_constant(stager: Stager, node: ast.Constant) -> Staged:
    if isinstance(node.value, (bytes, complex)) or node.value is Ellipsis:
        stager.fail(node, f"a literal of type {node.value.__class__.__name__} is not available in kernels")
    return Static(node.value)


def stage_name(stager: Stager, node: ast.Name) -> Staged:
    return stager.load(node.id, node)


def stage_binary(stager: Stager, node: ast.BinOp) -> Staged:
    left = stage(stager, node.left)
    right = stage(stager, node.right)
    return arithmetic.binary(stager, node.op.__class__, as_items(stager, left), as_items(stager, right), node)


def stage_unary(stager: Stager, node: ast.UnaryOp) -> Staged:
    return arithmetic.unary(stager, node.op.__class__, stage(stager, node.operand), node)


def stage_compare(stager: Stager, node: ast.Compare) -> Staged:
    """`a < b < c` evaluates `b` once, and `c` only where `a < b`."""
    left = stage(stager, node.left)

    def link(position: int, left: Staged) -> Staged:
        comparator, operator = node.comparators[position], node.ops[position].__class__
        right = stage(stager, comparator)
        if stager.static_depth and compares_objects(operator, left, right):
            result = compare_objects(stager, operator, left, right, node)
        elif operator in (ast.Is, ast.IsNot):
            result = stage_identity(stager, operator is ast.IsNot, left, right, node)
        elif operator in (ast.In, ast.NotIn):
            result = stage_membership(stager, operator is ast.NotIn, left, right, node)
        else:
            result = arithmetic.compare(stager, operator, as_items(stager, left), as_items(stager, right), node)
        if position + 1 == len(node.ops):
            return result
        return connect(stager, True, result, lambda: link(position + 1, right), node)

    return link(0, left)


def is_opaque(staged: Staged) -> bool:
    inner = plain(staged)
    return isinstance(inner, Outside) and inner.kind is Kind.OBJECT


def compares_objects(operator: type[ast.cmpop], left: Staged, right: Staged) -> bool:
    """Is a comparison one of Python objects, or asks it whether one equals a compile-time value?"""
    if is_opaque(left) and is_opaque(right):
        return True
    one, other = (left, right) if is_opaque(left) else (right, left)
    return operator in (ast.Eq, ast.NotEq) and is_opaque(one) and isinstance(plain(other), Static)


#: What Python calls its comparisons in the module `operator`.
OBJECT_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Is: "is_", ast.IsNot: "is_not", ast.Eq: "eq", ast.NotEq: "ne",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip


def compare_objects(
    stager: Stager, operator: type[ast.cmpop], left: Staged, right: Staged, node: ast.AST
) -> Staged:
    """Two Python objects, compared inside `static` as Python does it. They are used as values then."""
    if operator not in OBJECT_COMPARISONS:
        stager.fail(node, "`in` needs compile-time values")
    operands: list[Any] = []
    for operand in (plain(left), plain(right)):
        if isinstance(operand, Static):
            operands.append(operand.value)
        else:
            assert isinstance(operand, Outside)
            operand.ref.opaque()
            operands.append(operand.ref)
    return stager.open(stager.program.lens.operate(OBJECT_COMPARISONS[operator], *operands), node)


def stage_identity(stager: Stager, negated: bool, left: Staged, right: Staged, node: ast.AST) -> Staged:
    left, right = plain(left), plain(right)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Static) and (one.value is None or isinstance(one.value, bool)):
            if stager.static_depth == 0:
                break
            same = isinstance(other, Static) and other.value is one.value
            return Static(same != negated)
    if stager.static_depth and isinstance(left, Static) and isinstance(right, Static):
        same = left.value == right.value and left.value.__class__ is right.value.__class__
        return Static(same != negated)
    stager.fail(
        node,
        "`is` compares Python objects, which exist only at compile time",
        "write `static(x is None)`, or compare values with `==`",
    )


def stage_membership(stager: Stager, negated: bool, left: Staged, right: Staged, node: ast.AST) -> Staged:
    left, right = plain(left), plain(right)
    if stager.static_depth == 0 or not isinstance(left, Static):
        stager.fail(node, "`in` is not available in kernels", "compare with each value, or write `static(x in values)`")
    if has_own_operators(right):
        contained = operate(stager, "contains", (right, left), node)
        return arithmetic.negate(stager, contained, node) if negated else contained
    text = comparable(right.value) if isinstance(right, Static) else None
    if isinstance(text, str):
        return arithmetic.fold(stager, node, lambda part: (part in text) != negated, comparable(left.value))
    values: dict[Any, Static] = {}  # a long sequence has many elements, and few different ones
    for item in map(plain, sequence(stager, right, node)):
        if not isinstance(item, Static):
            stager.fail(node, "`in` needs compile-time values")
        values.setdefault((item.value.__class__, item.value), item)
    if (left.value.__class__, left.value) in values:
        return Static(not negated)
    if not has_member(left):  # which has a rule of its own for each comparison; plain values need none
        found = any(left.value == value for _, value in values)
        values = {key: item for key, item in values.items() if has_member(item)}
    else:
        found = False
    found = found or any(
        static_truth(stager, arithmetic.compare(stager, ast.Eq, item, left, node)) for item in values.values()
    )
    return Static(found != negated)


def stage_logic(stager: Stager, node: ast.BoolOp) -> Staged:
    conjunction = isinstance(node.op, ast.And)

    def rest(position: int) -> Staged:
        value = stage(stager, node.values[position])
        if position + 1 == len(node.values):
            return value
        return connect(stager, conjunction, value, lambda: rest(position + 1), node)

    return rest(0)


def connect(stager: Stager, conjunction: bool, left: Staged, make_right: Callable[[], Staged], node: ast.AST) -> Staged:
    """`left and right` (or `or`): as in Python the result is one of the operands, and right is evaluated only if needed."""
    known = static_truth(stager, left)
    if known is not None:
        return make_right() if known is conjunction else left
    region, before = Region(), stager.implied_by(left)
    with stager.into(region), stager.operand(before.when_true if conjunction else before.when_false) as names:
        right = make_right()
        bound = {name: binding for name, binding in names.items() if isinstance(binding, Local)}
    result = joined(stager, conjunction, left, right, region, node)
    if not stager.binds_in_expressions:
        return result
    after = stager.implied_by(right)
    if conjunction:
        stager.implied[result] = Implied(when_true={**bound, **after.when_true})
    else:
        stager.implied[result] = Implied(when_false={**bound, **after.when_false})
    return result


def joined(
    stager: Stager, conjunction: bool, left: Staged, right: Staged, region: Region, node: ast.AST
) -> Value:
    """The value of `left and right` (or `or`); `region` is what evaluates the right side."""
    dtype = common_type(stager, [left, right], node)
    condition = truth(stager, left, node)
    left_value = as_type(stager, left, dtype, node)
    with stager.into(region):
        right_value = as_type(stager, right, dtype, node)
    if is_cheap(stager, region):
        stager.region.operations.extend(region.operations)
        if dtype is u1:
            return stager.emit("and" if conjunction else "or", u1, (left_value, right_value))
        chosen = (right_value, left_value) if conjunction else (left_value, right_value)
        return stager.emit("select", dtype, (condition, *chosen))
    result = stager.new_local("_", dtype)
    stager.emit("store_local", None, (left_value,), result)
    with stager.into(region):
        stager.emit("store_local", None, (right_value,), result)
    then, orelse = (region, Region()) if conjunction else (Region(), region)
    stager.append(If(condition, then, orelse))
    return stager.emit("load_local", dtype, (), result)


def is_cheap(stager: Stager, region: Region) -> bool:
    """Whether code can run although its result may not be needed: few operations, all pure and none that is slow.

    In debug mode operators are checked, and one that is not evaluated must not fail.
    """
    if stager.program.debug:
        return all(operation.code == "load_local" for operation in region.operations)
    return len(region.operations) <= LARGEST_SELECTED_BRANCH and all(
        (OPCODES[operation.code].effect == "pure" and operation.code not in ("floordiv", "mod", "pow"))
        or operation.code == "load_local"
        for operation in region.operations
    )


def stage_conditional(stager: Stager, node: ast.IfExp) -> Staged:
    condition = stage(stager, node.test)
    known = static_truth(stager, condition)
    if known is not None:
        return stage(stager, node.body if known else node.orelse)
    test = truth(stager, condition, node.test)
    regions, implied = (Region(), Region()), stager.implied_by(condition)
    with stager.into(regions[0]), stager.operand(implied.when_true):
        first = stage(stager, node.body)
    with stager.into(regions[1]), stager.operand(implied.when_false):
        second = stage(stager, node.orelse)
    if isinstance(plain(first), (Static, Value)) and isinstance(plain(second), (Static, Value)):
        dtype = common_type(stager, [first, second], node)
    else:
        wrong = second if isinstance(plain(first), (Static, Value)) else first
        stager.fail_type(
            node,
            f"a run-time condition chooses between numbers, not {describe(wrong)}",
            "make the condition `static`, or use an `if` statement",
        )
    with stager.into(regions[0]):
        first_value = as_type(stager, first, dtype, node.body)
    with stager.into(regions[1]):
        second_value = as_type(stager, second, dtype, node.orelse)
    if is_cheap(stager, regions[0]) and is_cheap(stager, regions[1]):
        for region in regions:
            stager.region.operations.extend(region.operations)
        return stager.emit("select", dtype, (test, first_value, second_value))
    result = stager.new_local("_", dtype)
    for region, value in zip(regions, (first_value, second_value), strict=True):
        with stager.into(region):
            stager.emit("store_local", None, (value,), result)
    stager.append(If(test, *regions))
    return stager.emit("load_local", dtype, (), result)


def stage_items(stager: Stager, node: ast.Tuple | ast.List) -> Staged:
    items: list[Staged] = []
    for element in node.elts:
        if isinstance(element, ast.Starred):
            items.extend(sequence(stager, stage(stager, element.value), element))
        else:
            items.append(stage(stager, element))
    return Items(tuple(items), is_list=isinstance(node, ast.List))


def stage_comprehension(stager: Stager, node: ast.ListComp | ast.GeneratorExp) -> Staged:
    """A list built at compile time: `[a[i] for i in static(range(3))]`."""
    from samovar.frontend.loops import bind_target

    results: list[Staged] = []

    def generate(position: int) -> None:
        if position == len(node.generators):
            results.append(stage(stager, node.elt))
            return
        generator = node.generators[position]
        for item in sequence(stager, stage(stager, generator.iter), generator.iter):
            bind_target(stager, generator.target, item)
            kept = [static_truth(stager, stage(stager, test)) for test in generator.ifs]
            if None in kept:
                stager.fail(node, "the condition of a comprehension must be known at compile time")
            if all(kept):
                generate(position + 1)

    names = dict(stager.names)
    generate(0)
    stager.names = names
    return Items(tuple(results), is_list=isinstance(node, ast.ListComp))


def sequence(stager: Stager, staged: Staged, node: ast.AST) -> tuple[Staged, ...]:
    """The elements of a compile-time sequence."""
    staged = plain(staged)
    if isinstance(staged, Items):
        return staged.items
    if isinstance(staged, Outside) and staged.kind is Kind.SEQUENCE:
        values = staged.ref.values()
        if values is not None:
            return tuple(long_element(staged.ref, position, value) for position, value in enumerate(values))
        return tuple(stager.open(staged.ref.item(position), node) for position in range(staged.ref.length()))
    if isinstance(staged, Outside) and staged.kind is Kind.MAPPING:
        keys = staged.ref.keys()
        return tuple(Static(key) for key in keys)
    if isinstance(staged, Static) and isinstance(staged.value, (range, str, tuple, list)):
        return tuple(Static(item) for item in staged.value)
    from samovar.frontend.loops import static_space

    space = static_space(stager, staged, node)
    if space is not None:
        return space
    stager.fail_type(node, f"{describe(staged)} is not a compile-time sequence")


def long_element(sequence: Ref, position: int, value: Any) -> Static:
    """An element of a long sequence. A number of a type of its own can be asked for by plain functions."""
    return Static(value[1], sequence.item(position)) if isinstance(value, tuple) else Static(value)


def as_items(stager: Stager, staged: Staged) -> Staged:
    """A captured tuple or list as items, anything else as it is."""
    inner = plain(staged)
    if isinstance(inner, Outside) and inner.kind is Kind.SEQUENCE:
        return Items(sequence(stager, inner, ast.Pass()), is_list=inner.ref.is_list())
    return staged


def stage_attribute(stager: Stager, node: ast.Attribute) -> Staged:
    if is_super(stager, node.value):
        return open_inherited(stager, node)
    owner = plain(stage(stager, node.value))
    name = node.attr
    if isinstance(owner, Outside):
        return open_attribute(stager, owner, name, node)
    if isinstance(owner, Tensor):
        return tensor_attribute(stager, owner, name, node)
    if isinstance(owner, Static) and isinstance(owner.value, EnumValue) and name in ("name", "value"):
        return Static(owner.value.name) if name == "name" else member_value(stager, owner.value, owner.value.value, node)
    if isinstance(owner, (Intrinsic, Callee)):
        stager.fail(node, f"{describe(owner)} has no attribute `{name}` in a kernel")
    missing = isinstance(owner, Static) and owner.value is None
    stager.fail_type(
        node,
        f"`{ast.unparse(node.value)}` is {describe(owner)} and has no attribute `{name}`",
        f"ask first whether it is there: `if sv.static({ast.unparse(node.value)} is not None)`" if missing else None,
    )


def member_value(stager: Stager, member: EnumValue, value: Any, node: ast.AST) -> Staged:
    """The value of an enum member: a simple one, or a tuple of them."""
    if not isinstance(value, tuple):
        return Static(value)
    if value and value[0] is Kind.OBJECT:
        stager.fail_type(node, f"the value of {member!r} is a {value[1]}, which is not a value that a kernel can use")
    return Items(tuple(member_value(stager, member, each, node) for each in value))


def open_attribute(stager: Stager, owner: Outside, name: str, node: ast.AST) -> Staged:
    ref = owner.ref.attribute(name)
    if ref.kind() is Kind.ABSENT:
        what = f"`{owner.ref.path}` (a {owner.ref.type_name()})" if owner.kind is Kind.OBJECT else f"`{owner.ref.path}`"
        stager.fail(node, f"{what} has no attribute `{name}`", None, errors.SamovarCompilationError)
    return stager.open(ref, node)


def is_super(stager: Stager, node: ast.expr) -> bool:
    """`super()`, if the name means what it says."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"):
        return False
    if "super" in stager.names:
        return False
    found = stager.function.resolve("super")
    return found is not None and found.path.step == "builtin"


def open_inherited(stager: Stager, node: ast.Attribute) -> Staged:
    """`super().name`: the attribute of the first parameter that the bases of the method's class give it."""
    assert isinstance(node.value, ast.Call)
    if node.value.args or node.value.keywords:
        stager.fail(node.value, "`super` takes no arguments in kernels", "write `super()`")
    cls = stager.function.resolve("__class__")
    parameters = stager.function.parameters
    owner = stager.names.get(parameters[0].name) if parameters else None
    if cls is None or not isinstance(owner, Outside):
        stager.fail(node.value, "`super()` works in the methods of a class", "call the func by the name of its class")
    ref = owner.ref.inherited(cls, node.attr)
    if ref.kind() is Kind.ABSENT:
        message = f"no base class of `{owner.ref.path}` has an attribute `{node.attr}`"
        stager.fail(node, message, None, errors.SamovarCompilationError)
    return stager.open(ref, node)


def tensor_attribute(stager: Stager, tensor: Tensor, name: str, node: ast.AST) -> Staged:
    array = tensor.array
    if name == "shape":
        extent_type = i64 if array.wide else i32
        return Items(tuple(stager.emit("shape", extent_type, (), (array, axis)) for axis in range(array.ndim)))
    if name == "dtype":
        return Static(array.dtype)
    if name == "ndim":
        return Static(array.ndim)
    if name == "grad":
        # In a func, an array without a gradient comes from nowhere.
        if tensor.ref is not None and tensor.ref.tensor().needs_grad:
            return stager.open(tensor.ref.attribute("grad"), node)
        if stager.static_depth:
            return Static(None)
        stager.fail_type(
            node,
            f"`{array.name}` has no gradient",
            "make the array with `needs_grad=True`, or ask first: `if sv.static(a.grad is not None)`",
        )
    stager.fail(node, f"an array has no attribute `{name}` in a kernel", "there are shape, dtype, ndim and grad")


def stage_subscript(stager: Stager, node: ast.Subscript) -> Staged:
    owner = plain(stage(stager, node.value))
    if isinstance(owner, Tensor):
        element = stage_element(stager, owner, node)
        return stager.emit("load", element.array.dtype, element.indices, element.array)
    key = plain(stage_index(stager, node.slice))
    if isinstance(owner, Outside) and owner.kind in (Kind.SEQUENCE, Kind.MAPPING):
        return subscript_outside(stager, owner, key, node)
    owner = as_items(stager, owner)
    if isinstance(owner, Items) or (isinstance(owner, Static) and isinstance(owner.value, (str, tuple, list, range, dict))):
        return subscript_items(stager, owner, key, node)
    stager.fail_type(node, f"{describe(owner)} cannot be indexed")


def subscript_outside(stager: Stager, owner: Outside, key: Staged, node: ast.Subscript) -> Staged:
    if not isinstance(key, Static):
        stager.fail_type(
            node,
            f"`{owner.ref.path}` is a Python object: its index must be known at compile time",
            "loop over it with `static(range(...))`, or copy the values into an array",
        )
    value = key.value.value if isinstance(key.value, EnumValue) and owner.kind is Kind.SEQUENCE else key.value
    if isinstance(value, slice):
        return Items(sequence(stager, owner, node)[value], is_list=owner.ref.is_list())
    if owner.kind is Kind.SEQUENCE:
        length = owner.ref.length()
        if not isinstance(value, int) or not -length <= value < length:
            stager.fail_type(node, f"index {shown(value)} is outside of `{owner.ref.path}`, which has {length} elements")
        value %= length
    item = owner.ref.item(value)
    if item.kind() is Kind.ABSENT:
        stager.fail_type(node, f"`{owner.ref.path}` has no key {shown(value)}")
    return stager.open(item, node)


def subscript_items(stager: Stager, owner: Items | Static, key: Staged, node: ast.Subscript) -> Staged:
    if not isinstance(key, Static):
        stager.fail_type(
            node, f"the index into {describe(owner)} must be known at compile time", "loop over it with `static(range(...))`"
        )
    values: Any = owner.items if isinstance(owner, Items) else owner.value
    try:
        picked = values[key.value]
    except (LookupError, TypeError) as problem:
        stager.fail_type(node, f"this fails at compile time: {problem}")
    if isinstance(owner, Static):
        return Static(picked)
    result: Staged = Items(picked, owner.index, owner.is_list) if isinstance(key.value, slice) else picked
    return result


def stage_index(stager: Stager, node: ast.expr) -> Staged:
    if isinstance(node, ast.Slice):
        parts = [None if part is None else number(stage(stager, part)) for part in (node.lower, node.upper, node.step)]
        return Static(slice(*parts))
    return stage(stager, node)


def stage_element(stager: Stager, tensor: Tensor, node: ast.Subscript) -> Element:
    """An element of an array: `a[i, j]`, `a[I]`, `a[I, k]`, `a[None]`, `a[()]`."""
    array = tensor.array
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    indices: list[Value] = []
    for part in parts:
        if isinstance(part, ast.Slice):
            stager.fail(part, f"`{array.name}` cannot be sliced in a kernel", "write a loop over the elements")
        staged = as_items(stager, plain(stage(stager, part)))
        if isinstance(staged, Items):
            indices.extend(as_index(stager, item, part) for item in staged.items)
        elif not (isinstance(staged, Static) and staged.value is None and len(parts) == 1):
            indices.append(as_index(stager, staged, part))
    if len(indices) != array.ndim:
        axes = "axis" if array.ndim == 1 else "axes"
        stager.fail_type(node, f"`{array.name}` has {array.ndim} {axes}, but {len(indices)} indices are given")
    for axis, index in enumerate(indices):
        if isinstance(index, Constant) and index.value < 0 and array.boundary != "clamp":
            stager.fail_type(
                node,
                f"index {index.value} is out of bounds: negative indices do not count from the end in kernels",
                f"write `{array.name}.shape[{axis}] - {-index.value}`",
            )
    return Element(array, tuple(indices))


def stage_place(stager: Stager, node: ast.expr) -> Place:
    """What an atomic operation or an augmented assignment changes."""
    if isinstance(node, ast.Subscript):
        owner = plain(stage(stager, node.value))
        if isinstance(owner, Tensor):
            return stage_element(stager, owner, node)
        stager.fail_type(node, f"{describe(owner)} cannot be changed in a kernel")
    if isinstance(node, ast.Name):
        binding = stager.names.get(node.id)
        if isinstance(binding, Local):
            return Variable(binding)
        if node.id in stager.fixed:
            stager.fail(
                node,
                f"`{node.id}` is a parameter of the kernel and cannot be changed",
                "copy it into a local variable, or pass an array",
            )
    if isinstance(node, ast.Attribute):
        stager.fail(node, "an attribute cannot be changed in a kernel", "write into an element of an array")
    stager.fail(node, "this cannot be changed", "use an element of an array, `a[i]`, or a local variable")


def stage_walrus(stager: Stager, node: ast.NamedExpr) -> Staged:
    from samovar.frontend.statements import assign_name

    value = stage(stager, node.value)
    assign_name(stager, node.target, value)
    return stager.load(node.target.id, node)


def stage_call(stager: Stager, node: ast.Call) -> Staged:
    from samovar.frontend.calls import call_func
    from samovar.frontend.intrinsics import call_intrinsic
    from samovar.frontend.outside import call_outside

    callee = plain(stage(stager, node.func))
    if isinstance(callee, Intrinsic):
        return call_intrinsic(stager, callee.name, node)
    if isinstance(callee, Callee):
        return call_func(stager, callee, node)
    if isinstance(callee, Static) and callee.value.__class__ is i32.__class__:
        from samovar.frontend.intrinsics import call_dtype

        return call_dtype(stager, callee.value, node)
    if isinstance(callee, Outside):
        return call_outside(stager, callee, node)
    stager.fail_type(node, f"{describe(callee)} cannot be called")


def stage_fstring(stager: Stager, node: ast.JoinedStr) -> Staged:
    from samovar.frontend import formatting

    return formatting.stage_fstring(stager, node)


EXPRESSIONS: dict[type[ast.expr], Rule] = {
    ast.Constant: stage_constant,
    ast.Name: stage_name,
    ast.BinOp: stage_binary,
    ast.UnaryOp: stage_unary,
    ast.Compare: stage_compare,
    ast.BoolOp: stage_logic,
    ast.IfExp: stage_conditional,
    ast.Tuple: stage_items,
    ast.List: stage_items,
    ast.ListComp: stage_comprehension,
    ast.GeneratorExp: stage_comprehension,
    ast.Attribute: stage_attribute,
    ast.Subscript: stage_subscript,
    ast.Call: stage_call,
    ast.NamedExpr: stage_walrus,
    ast.JoinedStr: stage_fstring,
}

REFUSED: dict[type[ast.expr], tuple[str, str | None]] = {
    ast.Lambda: ("`lambda`", "write a `@sv.func` outside of the kernel and call it"),
    ast.Set: ("a set", "use a tuple"),
    ast.SetComp: ("a set comprehension", "use a list comprehension over `static(...)`"),
    ast.Dict: ("a dict display", "make it outside of the kernel and read it with compile-time keys"),
    ast.DictComp: ("a dict comprehension", "make it outside of the kernel"),
    ast.Yield: ("`yield`", "write results into an array"),
    ast.YieldFrom: ("`yield from`", "write results into an array"),
    ast.Await: ("`await`", None),
    ast.Starred: ("`*` here", "unpack only into a tuple or into a call"),
}


def force(stager: Stager, node: ast.expr) -> Staged:
    """The value of `static(expr)`: everything in it is evaluated at compile time."""
    stager.static_depth += 1
    try:
        staged = plain(stage(stager, node))
    finally:
        stager.static_depth -= 1
    member = run_time_member(stager, staged)
    if member is not None or (isinstance(staged, Value) and staged.type is not None):
        stager.fail(
            node,
            "`static` needs a value that is known at compile time, and this is only known at run time",
            "use a captured constant or a parameter annotated with `sv.Template`"
            if member is None
            else advice_for_member(member),
        )
    return Forced(staged)
