"""`for`: parallel tasks at the top level, serial loops below it, unrolled loops over `static(...)`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from math import prod

from samovar._native import DType, i32, i64, u1, u64
from samovar.frontend.context import Loop, LoopConfiguration, Sharing
from samovar.frontend.diagnostics import line_of
from samovar.frontend.dispatch import stage_marked
from samovar.frontend.messages import Message
from samovar.frontend.operators import whole_number
from samovar.frontend.scalars import constant, convert
from samovar.frontend.shared import check_reads
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.domain import Digit, Domain
from samovar.frontend.staged.items import Items, matched
from samovar.frontend.staged.matrix import Matrix
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.space import Axis, Space
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.variable import Variable
from samovar.frontend.stager import Stager, reserve_arrays
from samovar.frontend.syntax import names_used, walk
from samovar.ir import (
    Array,
    Builder,
    Constant,
    FieldLayout,
    For,
    If,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    ParallelFor,
    Region,
    Value,
    cell_numbers,
)
from samovar.language import is_float, loop_type

Body = Callable[[Stager, list[ast.stmt]], None]

#: The limit for loops unrolled by `static`: longer ones are usually a mistake.
LARGEST_UNROLLED_LOOP = 100_000
#: The limit for loops that are unrolled implicitly.
LARGEST_UNASKED_LOOP = 1000


class LeaveUnrolled(Exception):
    """A `break` or `continue` in an unrolled loop, taken at compile time."""

    def __init__(self, what: str) -> None:
        self.what = what


class LeavesAtRunTime(Exception):
    """A loop over a tuple that is unrolled implicitly has a run-time `break` or `continue`."""


def stage_for(stager: Stager, node: ast.For, body: Body) -> None:
    configuration, stager.configuration = stager.configuration or LoopConfiguration(), None
    iterable = stage_marked(stager, node.iter)
    if iterable.is_forced:
        unroll(stager, node, iterable.unforced().sequence(stager, node.iter), body)
        return
    if iterable.is_unrolled():
        unroll_or_count(stager, node, iterable.sequence(stager, node.iter), body)
        return
    forget_unrolled(stager, node.body)
    warn_of_indices(stager, node, iterable)
    space = iterable.space(stager, node.iter)
    # In a func called at the top level, under a compile-time `if` and in an unrolled loop, a loop with a `break` is serial,
    # as anywhere else.
    is_within = stager.expanded is not None or stager.known_conditions > 0 or bool(stager.loops)
    leaves = is_within and has_own_break(node.body)
    shared = stager.context.decisions.serial.get(place_of(stager, node))
    if shared is not None:
        stager.warn(node, f"this loop runs serially: its iterations assign the shared variable `{shared}`")
    serialize = configuration.serialize
    if serialize and space.domain is not None:
        stager.warn(node, "a loop over a sparse field is always parallel: `serialize=True` has no effect")
        serialize = False
    serialize |= stager.context.decisions.marks_parallel and not space.is_marked and space.domain is None
    if stager.top_level and space.axes and not (serialize or leaves or shared is not None):
        stage_parallel(stager, node, space.unordered, configuration, body)
    else:
        stage_serial(stager, node, space, body)


def warn_of_indices(stager: Stager, node: ast.For, iterable: Staged) -> None:
    """Warn if a kernel without annotations, as from Numba, loops over an array and takes the indices for elements: it
    computes with them, but indexes nothing."""
    array = iterable.as_array_value() if stager.context.infers else None
    if array is None or array.ndim != 1 or not isinstance(node.target, ast.Name):
        return
    name = node.target.id
    nodes = walk(*node.body)
    places = [each.slice for each in nodes if isinstance(each, ast.Subscript)]
    if not mentions(nodes, name) or mentions(walk(*places), name):
        return
    spelled = ast.unparse(node.iter)
    stager.warn(
        node.iter,
        f"`for {name} in {spelled}` gives the indices of an array in a kernel, not its elements",
        f"read the elements: `for i in {spelled}:`, then `{name} = {spelled}[i]`; or write `range({spelled}.shape[0])`",
    )


def mentions(nodes: list[ast.AST], name: str) -> bool:
    """Whether a name is among nodes."""
    return any(isinstance(each, ast.Name) and each.id == name for each in nodes)


def enter_loop(stager: Stager, kind: str, node: ast.AST | None = None) -> Loop:
    loop = Loop(kind, dict(stager.names), stager.region)
    if node is not None:
        loop.completed = stager.completed.pop(node, None)
        loop.place = place_of(stager, node)
    stager.loops.append(loop)
    return loop


def place_of(stager: Stager, node: ast.AST) -> tuple[str, int, int]:
    """The location of a loop."""
    return stager.source.file, line_of(node), node.col_offset if isinstance(node, (ast.expr, ast.stmt)) else 0


def leave_loop(stager: Stager) -> None:
    stager.loops.pop()


def innermost(stager: Stager, node: ast.AST, what: str) -> Loop:
    if not stager.loops:
        stager.fail(node, f"`{what}` outside a loop")
    return stager.loops[-1]


def leave_early(stager: Stager, loop: Loop, what: str, node: ast.AST) -> None:
    if loop.kind == "graph":
        stager.fail(node, f"`{what}` is not supported in a graph loop", "set its flag to 0 to end the loop")
    if loop.kind != "static":
        stager.emit(what, None)
        stager.ended = True
        return
    if loop.region is not stager.region:
        if not loop.is_asked_for:
            raise LeavesAtRunTime
        stager.fail(
            node,
            f"`{what}` in an unrolled loop cannot depend on a run-time condition",
            "remove `sv.static`, so that the loop runs at run time",
        )
    raise LeaveUnrolled(what)


def unroll_or_count(stager: Stager, node: ast.For, items: tuple[Staged, ...], body: Body) -> None:
    """Unroll a loop over a tuple or list, unless it has a run-time `break` or `continue`: then it is an ordinary loop."""
    if len(items) > LARGEST_UNASKED_LOOP:
        stager.fail(
            node.iter,
            f"this loop would be unrolled {len(items)} times",
            "copy the values into an array, or force unrolling: `for x in sv.static(values)`",
        )
    before = len(stager.region.operations), len(stager.locals)
    names, loops, hints = dict(stager.names), len(stager.loops), stager.hints
    completed = stager.completed.get(node)
    try:
        unroll(stager, node, items, body, is_asked_for=False)
    except LeavesAtRunTime:
        stager.context.staging = stager
        del stager.region.operations[before[0] :], stager.locals[before[1] :], stager.loops[loops:]
        stager.names, stager.hints, stager.ended = names, hints, False
        if completed is not None:
            stager.completed[node] = completed
        rows = Items(items).columns(stager, node.iter)
        if rows is None:
            stager.fail(
                node,
                "this loop is unrolled, because its elements are not all numbers, but has a run-time `break` or `continue`",
                "loop over numbers, or tuples of numbers of equal length, or skip work with an `if`",
            )
        stage_serial(stager, node, Space((Axis(Static(0), Static(len(items))),), columns=rows), body)


def unroll(
    stager: Stager, node: ast.For, items: tuple[Staged, ...], body: Body, is_asked_for: bool = True
) -> None:
    if len(items) > LARGEST_UNROLLED_LOOP:
        stager.fail(node, f"this loop would be unrolled {len(items)} times", "remove `sv.static`")
    enter_loop(stager, "static", node).is_asked_for = is_asked_for
    for item in items:
        bind_target(stager, node.target, item)
        try:
            body(stager, node.body)
        except LeaveUnrolled as leaving:
            if leaving.what == "break":
                break
        if stager.ended:
            break
    leave_loop(stager)
    for name in target_names(node.target):
        if name in stager.names:
            stager.unrolled[name] = stager.names[name]


def forget_unrolled(stager: Stager, body: list[ast.stmt]) -> None:
    """Free a name left over from an unrolled loop for a run-time loop that assigns it.

    Its last value is that of the first iteration only, so nothing in the loop may read it before it is assigned.
    """
    for name in names_used(body).assigned if stager.unrolled else ():
        if name in stager.names and stager.names[name] is stager.unrolled.get(name):
            del stager.names[name]
            stager.lost[name] = "in an unrolled loop"


def target_names(target: ast.expr) -> list[str]:
    """The names that a loop binds."""
    return [node.id for node in walk(target) if isinstance(node, ast.Name)]


def bind_target(stager: Stager, target: ast.expr, item: Staged) -> None:
    """Bind the loop variable of an unrolled loop as a compile-time name."""
    if isinstance(target, ast.Name):
        if target.id in stager.fixed:
            stager.fail(target, f"`{target.id}` is a parameter of the kernel and cannot be a loop variable")
        stager.names[target.id] = item.unforced()
    elif isinstance(target, (ast.Tuple, ast.List)):
        for element, inner in matched(stager, target, item.unforced().sequence(stager, target)):
            bind_target(stager, element, inner)
    else:
        stager.fail(target, "a loop variable must be a name")


# --- run-time loops


def bounds(stager: Stager, space: Space, node: ast.AST) -> tuple[list[tuple[Value, Value]], DType]:
    """The begin and end of every dimension, in one integer type."""
    dtype = i32
    for axis in space.axes:
        for bound in (axis.begin, axis.end):
            bound_type = bound.type(stager, node)
            if is_float(bound_type):
                message = f"the bounds of a loop must be integers, got {bound_type.name}"
                stager.fail_type(node, message, whole_number(node))
            dtype = loop_type(dtype, bound_type)
    pairs = [(axis.begin.as_type(stager, dtype, node), axis.end.as_type(stager, dtype, node)) for axis in space.axes]
    return pairs, dtype


def variable_names(node: ast.For) -> list[str]:
    target = node.target
    elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]
    return [element.id if isinstance(element, ast.Name) else "i" for element in elements]


def bind_variables(stager: Stager, node: ast.For, space: Space, values: list[Value], serial: bool) -> None:
    """Bind the loop's names: one per dimension, or one for all."""
    target = node.target
    of_one = len(values) == 1 and not space.tuple_of_axes
    if space.columns is not None:
        place, of_one = Scalar(values[0]), len(space.columns) == 1
        values = [each.element(stager, place, node).scalar(stager, node) for each in space.columns]
    numbers = tuple(Scalar(value) for value in values)
    whole = Matrix((len(values),), numbers) if space.grouped else Items(numbers)
    if isinstance(target, ast.Name):
        if space.grouped or not of_one:
            check_loop_variable(stager, target)
            stager.names[target.id] = whole
        else:
            bind_variable(stager, node, target, values[0], serial)
        return
    if not isinstance(target, (ast.Tuple, ast.List)):
        stager.fail(target, "a loop variable must be a name")
    if len(target.elts) != len(values):
        stager.fail_signature(
            target,
            f"{len(target.elts)} loop variables for {len(values)} {'dimensions' if space.columns is None else 'values'}",
            "use `sv.grouped(...)` for a single index over all dimensions" if space.columns is None else None,
        )
    for element, value in zip(target.elts, values, strict=True):
        if not isinstance(element, ast.Name):
            stager.fail(element, "a loop variable must be a name")
        bind_variable(stager, node, element, value, serial)


def check_loop_variable(stager: Stager, target: ast.Name) -> None:
    if target.id in stager.fixed:
        stager.fail(target, f"`{target.id}` is a parameter of the kernel and cannot be a loop variable", "use another name")


def bind_variable(stager: Stager, node: ast.For, target: ast.Name, value: Value, serial: bool) -> None:
    """Bind a loop variable: a value, or, if the program assigns it too, a variable that each iteration sets."""
    check_loop_variable(stager, target)
    name = target.id
    existing = stager.names.get(name)
    carried = existing if serial and isinstance(existing, Variable) and not existing.is_shared(stager) else None
    if carried is None and name not in names_used(node.body).assigned:
        stager.names[name] = Scalar(value)
        return
    assert value.type is not None
    variable = Variable(stager.new_local(name, value.type)) if carried is None else carried
    variable.store_value(stager, variable.converted(stager, Scalar(value), name, target))
    stager.names[name] = variable


def has_own_break(body: list[ast.stmt]) -> bool:
    """Whether a `break` in these statements leaves the loop around them."""
    for statement in body:
        if isinstance(statement, ast.Break):
            return True
        if isinstance(statement, ast.If) and (has_own_break(statement.body) or has_own_break(statement.orelse)):
            return True
    return False


def stage_parallel(stager: Stager, node: ast.For, space: Space, configuration: LoopConfiguration, body: Body) -> None:
    if space.domain is not None:
        stage_cells(stager, node, space, space.domain, configuration, body)
        return
    pairs, dtype = bounds(stager, space, node.iter)
    stepping: tuple[Value, Value] | None = None
    axes = pairs
    if space.blocks is not None:
        pairs = [(constant(0, dtype), constant(extent, dtype)) for pieces in space.blocks for extent, _ in pieces]
    if space.step is not None:
        require_step(stager, space.step.as_type(stager, i64, node), node)
        with stager.unwritten():
            begin, count, step = stepped_range(stager, pairs[0], space.step, node)
        pairs, stepping = [(constant(0, i64), count)], (begin, step)
    order = space.order or tuple(range(len(pairs)))
    if space.blocks is not None:
        strides = [stride for pieces in space.blocks for _, stride in pieces]
        order = tuple(sorted(order, key=lambda piece: -strides[piece]))
    names = variable_names(node)
    names = names if len(names) == len(pairs) else [f"{names[0]}{axis}" for axis in range(len(pairs))]
    variable_type = i64 if stepping else dtype
    variables = [LoopVariable(names[axis], variable_type) for axis in order]

    def write() -> None:
        by_axis: list[Value] = [variables[order.index(axis)] for axis in range(len(pairs))]
        if space.blocks is not None:
            with stager.unwritten():
                by_axis = put_together(stager, by_axis, space.blocks, [begin for begin, _ in axes], dtype)
        if stepping:
            with stager.unwritten():
                offset = stager.emit("mul", i64, (variables[0], stepping[1]))
                by_axis = [convert(stager, stager.emit("add", i64, (stepping[0], offset)), dtype)]
        bind_variables(stager, node, space, by_axis, serial=False)
        body(stager, node.body)

    task = parallel_task(stager, node, configuration, variables, [pairs[axis] for axis in order], write)
    task.stepping = stepping


def parallel_task(
    stager: Stager,
    node: ast.For,
    configuration: LoopConfiguration,
    variables: list[LoopVariable],
    pairs: list[tuple[Value, Value]],
    write: Callable[[], None],
) -> ParallelFor:
    """A parallel loop over some variables with bounds, whose body a function writes."""
    region = Region()
    locals_: list[Local | LocalArray] = []
    outer_locals, outer = stager.outer_locals, stager.locals
    stager.outer_locals = frozenset(outer)
    stager.locals = stager.task_locals = locals_
    stager.task = tuple((variable, *pair) for variable, pair in zip(variables, pairs, strict=True))
    enter_loop(stager, "parallel", node)
    stager.context.sharing = Sharing()
    with stager.scope("inside a loop"), stager.into(region):
        write()
        check_reads(stager, region)
    stager.context.sharing = Sharing()  # drop all references to this loop
    leave_loop(stager)
    stager.outer_locals, stager.locals, stager.task_locals, stager.task = outer_locals, outer, None, None
    flat = tuple(bound for pair in pairs for bound in pair)
    name = stager.context.task_name(configuration.name or "task")
    stager.line = node.lineno
    task = ParallelFor(name, variables, flat, region, reserve_arrays(region, locals_), configuration.block)
    stager.append(task)
    return task


def stage_cells(
    stager: Stager, node: ast.For, space: Space, domain: Domain, configuration: LoopConfiguration, body: Body
) -> None:
    """A parallel loop over the active cells of a sparse field: over a list of them, made before it, and the elements of
    each."""
    begins, dtype = bounds(stager, space, node.iter)
    name = variable_names(node)[0]
    variables = [LoopVariable(f"{name}_{digit.axis}", dtype) for digit in domain.inner]
    pairs: list[tuple[Value, Value]] = [(constant(0, dtype), constant(digit.extent, dtype)) for digit in domain.inner]
    cell = LoopVariable("cell", i64)
    if domain.listed is not None:
        with stager.unwritten():
            count = stager.emit("list_cells", i64, (), domain.listed)
        variables.insert(0, cell)
        pairs.insert(0, (constant(0, i64), count))
    elif not variables:
        variables, pairs = [cell], [(constant(0, i64), constant(1, i64))]
    active: list[Value] = []

    def bound(by_axis: list[Value]) -> None:
        with stager.unwritten():
            active[:] = from_zero(stager, domain.field, by_axis, dtype)
        bind_variables(stager, node, space, by_axis, serial=False)
        body(stager, node.body)

    def write() -> None:
        with stager.unwritten():
            by_axis = [begin for begin, _ in begins]
            if domain.listed is not None:
                number = convert(stager, stager.emit("listed", i64, (cell,), domain.listed), u64)
                for digit in domain.listed_digits:
                    part: Value = number
                    if digit.factor != 1:
                        part = stager.emit("floordiv", u64, (part, constant(digit.factor, u64)))
                    part = stager.emit("mod", u64, (part, constant(digit.extent, u64)))
                    add_digit(stager, by_axis, digit, convert(stager, part, dtype), dtype)
            for digit, variable in zip(domain.inner, variables[len(variables) - len(domain.inner) :], strict=True):
                add_digit(stager, by_axis, digit, variable, dtype)
        if domain.position is not None:
            over_list(stager, node, domain, domain.position, by_axis, dtype, bound)
        elif domain.mask is not None:
            mask = domain.mask.seen_by(stager).array
            with stager.unwritten():
                at = from_zero(stager, domain.field, by_axis, dtype)
                chosen = [
                    at[axis] if divisor == 1 else stager.emit("floordiv", dtype, (at[axis], constant(divisor, dtype)))
                    for axis, divisor in domain.mask_axes
                ]
                holds = stager.emit("load", u1, tuple(chosen), mask)
            then = Region()
            with stager.into(then), stager.scope("inside a loop"):
                bound(by_axis)
            stager.append(If(holds, then, Region()))
        else:
            bound(by_axis)

    task = parallel_task(stager, node, configuration, variables, pairs, write)
    task.active = domain.field, tuple(active)


def from_zero(stager: Stager, array: Array, index: list[Value], dtype: DType) -> list[Value]:
    """An index of a loop over a field, counted from its first element."""
    return [
        each if low == 0 else stager.emit("sub", dtype, (each, constant(low, dtype)))
        for each, low in zip(index, array.offset, strict=False)
    ]


def add_digit(stager: Stager, by_axis: list[Value], digit: Digit, value: Value, dtype: DType) -> None:
    """Add a digit to an index of a loop."""
    moved = value if digit.step == 1 else stager.emit("mul", dtype, (value, constant(digit.step, dtype)))
    by_axis[digit.axis] = stager.emit("add", dtype, (by_axis[digit.axis], moved))


def over_list(
    stager: Stager,
    node: ast.For,
    domain: Domain,
    position: Digit,
    by_axis: list[Value],
    dtype: DType,
    bound: Callable[[list[Value]], None],
) -> None:
    """The loop over one list of a dynamic node, inside an iteration of the parallel loop."""
    if has_own_break(node.body):
        stager.fail(node, "a loop over a `dynamic` node cannot be left early with `break`")
    array = domain.field
    with stager.unwritten():
        (number, *_), number_steps = numbered(stager, array, from_zero(stager, array, by_axis, dtype))
        stager.region.operations += number_steps
        length = convert(stager, stager.emit("list_length", i32, (number,), array), dtype)
        by_axis = list(by_axis)
        outer = stager.region
        for digit, end in ((position, length), *((each, constant(each.extent, dtype)) for each in domain.below)):
            variable, inner = LoopVariable(f"place_{digit.axis}", dtype), Region()
            outer.operations.append(For(variable, constant(0, dtype), end, constant(1, dtype), inner, node.lineno))
            outer = inner
            with stager.into(inner):
                add_digit(stager, by_axis, digit, variable, dtype)
    with stager.into(outer), stager.scope("inside a loop"):
        bound(by_axis)


def numbered(stager: Stager, array: Array, indices: list[Value]) -> tuple[tuple[Value, ...], list[Operation]]:
    """The number of a cell, of an element of a list also its position; and the operations that compute them."""
    build = Builder()
    return cell_numbers(build, array, indices), build.operations


def stage_over(
    stager: Stager,
    space: Space,
    node: ast.AST,
    body: Callable[[Stager, list[Value]], None],
    is_serial: bool = False,
) -> None:
    """A loop that the program does not write as one: `body` gets the index of each dimension."""
    index = ast.copy_location(ast.Name("index", ast.Store()), node)
    loop = ast.copy_location(ast.For(index, index, [], []), node)
    names, fixed = stager.names, stager.fixed
    stager.names, stager.fixed = dict(names), fixed - {index.id}  # a parameter may have this name

    def run(inner: Stager, _: list[ast.stmt]) -> None:
        place = inner.names["index"]
        assert isinstance(place, Staged)
        body(inner, list(place.ir_values()))

    if stager.top_level and space.axes and not is_serial:
        stage_parallel(stager, loop, space.as_grouped(), LoopConfiguration(), run)
    else:
        stage_serial(stager, loop, space.as_grouped(), run)
    stager.names, stager.fixed = names, fixed


def put_together(
    stager: Stager, digits: list[Value], blocks: FieldLayout, begins: list[Value], dtype: DType
) -> list[Value]:
    """The index of each dimension, from the loop variables of the parts that it is split into."""
    indices: list[Value] = []
    remaining = iter(digits)
    for pieces, begin in zip(blocks, begins, strict=True):
        index = begin
        for place in range(len(pieces)):
            step = prod(extent for extent, _ in pieces[place + 1 :])
            moved = next(remaining)
            if step != 1:
                moved = stager.emit("mul", dtype, (moved, constant(step, dtype)))
            index = stager.emit("add", dtype, (index, moved))
        indices.append(index)
    return indices


def require_step(stager: Stager, step: Value, node: ast.AST) -> None:
    """Check that the step of a range is not zero; a run-time step is checked in debug mode, and zero makes no iterations
    otherwise."""
    assert step.type is not None
    if isinstance(step, Constant):
        if step.value == 0:
            stager.fail(node, "the step of a `range` must not be zero")
    elif stager.context.debug:
        message = Message(stager)
        message.text("the step of a `range` must not be zero")
        with stager.at(node):
            holds = stager.emit("ne", u1, (step, constant(0, step.type)))
            stager.emit("check", None, (holds,), message.site("assertion"))


def stepped_range(
    stager: Stager, pair: tuple[Value, Value], step: Staged, node: ast.AST
) -> tuple[Value, Value, Value]:
    """begin, number of iterations and step of a range, in i64. The distance of two 64-bit numbers is unsigned."""
    begin, end = (convert(stager, bound, i64) for bound in pair)
    stride = step.as_type(stager, i64, node)
    first, last, size = (convert(stager, value, u64) for value in (begin, end, stride))
    if isinstance(stride, Constant):
        rises = stride.value > 0
        some = stager.emit("lt" if rises else "gt", u1, (begin, end))
        distance = stager.emit("sub", u64, (last, first) if rises else (first, last))
        size = constant(abs(int(stride.value)), u64)
    else:
        zero = constant(0, i64)
        rising = stager.emit("gt", u1, (stride, zero))
        # A step of zero neither rises nor falls: no iterations.
        falling = stager.emit("and", u1, (stager.emit("lt", u1, (stride, zero)), stager.emit("gt", u1, (begin, end))))
        some = stager.emit("select", u1, (rising, stager.emit("lt", u1, (begin, end)), falling))
        forward = stager.emit("sub", u64, (last, first))
        distance = stager.emit("select", u64, (rising, forward, stager.emit("neg", u64, (forward,))))
        size = stager.emit("select", u64, (rising, size, stager.emit("neg", u64, (size,))))
    whole = stager.emit("floordiv", u64, (stager.emit("sub", u64, (distance, constant(1, u64))), size))
    count = stager.emit("add", u64, (whole, constant(1, u64)))
    return begin, convert(stager, stager.emit("select", u64, (some, count, constant(0, u64))), i64), stride


def stage_serial(stager: Stager, node: ast.For, space: Space, body: Body) -> None:
    if space.domain is not None:
        stager.fail_type(
            node.iter,
            f"a loop over the active cells of `{space.domain.field.name}` must be parallel: at the top level of the kernel,"
            " and not serialized",
            "loop over ranges, and test `sv.is_active(…)`",
        )
    pairs, dtype = bounds(stager, space, node.iter)
    if len(pairs) == 1:
        counted = dtype
        step: Value = constant(1, dtype)
        if space.step is not None:
            # A step wider than the bounds is not truncated: the loop counts in i64, its variable keeps its type.
            counted = loop_type(dtype, space.step.type(stager, node))
            step = space.step.as_type(stager, counted, node)
            require_step(stager, step, node)
        variable = LoopVariable(variable_names(node)[0], counted)
        begin, end = (convert(stager, bound, counted) for bound in pairs[0])
        run_serial(stager, node, space, variable, (begin, end, step), lambda: [convert(stager, variable, dtype)], body)
    elif has_own_break(node.body):
        flattened(stager, node, space, pairs, dtype, body)
    else:
        nested(stager, node, space, pairs, dtype, body)


def run_serial(
    stager: Stager,
    node: ast.For,
    space: Space,
    variable: LoopVariable,
    limits: tuple[Value, Value, Value],
    values: Callable[[], list[Value]],
    body: Body,
) -> None:
    """A serial loop whose body binds the names from `values()`."""
    region = Region()
    enter_loop(stager, "serial", node)
    with stager.scope("inside a loop"), stager.into(region):
        bind_variables(stager, node, space, values(), serial=True)
        body(stager, node.body)
    leave_loop(stager)
    stager.line = node.lineno
    stager.append(For(variable, *limits, region))


def nested(stager: Stager, node: ast.For, space: Space, pairs: list[tuple[Value, Value]], dtype: DType, body: Body) -> None:
    """Several dimensions as nested loops, in the given order."""
    order = space.order or tuple(range(len(pairs)))
    names = variable_names(node)
    variables = [
        LoopVariable(names[axis] if len(names) == len(pairs) else f"{names[0]}{axis}", dtype) for axis in range(len(pairs))
    ]
    if not pairs:  # the one point of a 0-D space
        with stager.scope("inside a loop"):
            bind_variables(stager, node, space, [], serial=True)
            body(stager, node.body)
        return
    inner = order[-1]
    outer_region = stager.region
    regions = [Region() for _ in order[:-1]]
    for axis, region in zip(order[:-1], regions, strict=True):
        outer_region.operations.append(For(variables[axis], *pairs[axis], constant(1, dtype), region, node.lineno))
        outer_region = region
    with stager.into(outer_region):
        one = constant(1, dtype)
        run_serial(stager, node, space, variables[inner], (*pairs[inner], one), lambda: list(variables), body)


def flattened(
    stager: Stager, node: ast.For, space: Space, pairs: list[tuple[Value, Value]], dtype: DType, body: Body
) -> None:
    """Several dimensions as one loop, so that `break` leaves all of them."""
    extents = []
    for begin, end in pairs:
        distance = stager.emit("sub", i64, (convert(stager, end, i64), convert(stager, begin, i64)))
        extents.append(stager.emit("max", i64, (distance, constant(0, i64))))
    total: Value = constant(1, i64)
    for extent in extents:
        total = stager.emit("mul", i64, (total, extent))
    variable = LoopVariable("flat", i64)

    def values() -> list[Value]:
        rest: Value = variable
        by_axis: list[Value] = [constant(0, dtype)] * len(pairs)
        for axis in reversed(space.order or tuple(range(len(pairs)))):
            position = stager.emit("mod", i64, (rest, extents[axis]))
            rest = stager.emit("floordiv", i64, (rest, extents[axis]))
            by_axis[axis] = stager.emit("add", dtype, (pairs[axis][0], convert(stager, position, dtype)))
        return by_axis

    run_serial(stager, node, space, variable, (constant(0, i64), total, constant(1, i64)), values, body)
