"""The verifier sees every kind of broken IR: one program for each rule, and a sound one next to it that passes.

A rule that is taken out of the verifier lets its program through, and a test here fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ir_builder import Builder
from samovar._native import f32, f64, i32, i64, u1
from samovar.artifact import Site
from samovar.ir import (
    Array,
    Constant,
    For,
    Function,
    If,
    Kernel,
    Local,
    LocalArray,
    LoopVariable,
    Operation,
    ParallelFor,
    Parameter,
    Reduction,
    Region,
    Scatter,
    Value,
    While,
    verify,
)
from samovar.ir.verifier import MalformedIR

ONE, TRUE, HALF = Constant(1, i32), Constant(True, u1), Constant(0.5, f32)

#: What breaks a rule, with words of the message.
Break = Callable[[Builder], object]
BROKEN: list[tuple[str, str, Break]] = []


def breaks(message: str) -> Callable[[Break], Break]:
    """Add a program: the decorated function appends what is wrong to a sound kernel."""

    def add(wrong: Break) -> Break:
        BROKEN.append((wrong.__name__, message, wrong))
        return wrong

    return add


def sound() -> Builder:
    """Arrays `a` (f32, two axes) and `wide` (i32, one), a number `n` and a local of every kind of scope."""
    build = Builder(Array("a", f32, 2), Array("wide", i32, 1, wide=True), Parameter("n", i32), returns=[i32], name="k")
    build.local("count", i32)
    return build


def finished(build: Builder) -> Kernel:
    if not build.body.operations or build.body.operations[-1].code not in ("return", "break", "continue"):
        build.give(0)
    return build.kernel()


def raw(build: Builder, code: str, type: Any, *operands: Value, payload: Any = None) -> Operation:
    """An operation as it is said, with none of the builder's care."""
    return build.append(Operation(code, type, operands, payload, build.line))


# --- operations and their types


@breaks("unknown operation 'frobnicate'")
def an_operation_that_is_not_in_the_table(build: Builder) -> None:
    raw(build, "frobnicate", i32, ONE)


@breaks("add takes 2 operands")
def too_few_operands(build: Builder) -> None:
    raw(build, "add", i32, ONE)


@breaks("neg takes 1 operands")
def too_many_operands(build: Builder) -> None:
    raw(build, "neg", i32, ONE, ONE)


@breaks("not defined here")
def an_operand_that_comes_later(build: Builder) -> None:
    later = Operation("neg", i32, (ONE,))
    raw(build, "neg", i32, later)
    build.append(later)


@breaks("not defined here")
def an_operand_of_nobody(build: Builder) -> None:
    raw(build, "neg", i32, Parameter("stranger", i32))


@breaks("not defined here")
def an_operand_from_inside_of_a_branch(build: Builder) -> None:
    with build.when(True):
        inner = build.op("neg", ONE)
    raw(build, "neg", i32, inner)


@breaks("not defined here")
def an_operand_from_the_other_branch(build: Builder) -> None:
    with build.when(True) as orelse:
        inner = build.op("neg", ONE)
    with build.inside(orelse):
        raw(build, "neg", i32, inner)


@breaks("not defined here")
def the_variable_of_a_loop_after_it(build: Builder) -> None:
    with build.loop(0, 3) as k:
        pass
    raw(build, "neg", i32, k)


@breaks("not defined here")
def the_variable_of_a_task_after_it(build: Builder) -> None:
    with build.parallel(3) as (i,):
        pass
    raw(build, "neg", i32, i)


@breaks("not defined here")
def what_the_head_of_a_while_defines_after_it(build: Builder) -> None:
    condition = Operation("load_local", i32, (), build.locals[0])
    true = Operation("lt", u1, (condition, ONE))
    build.loop_while(Region([condition, true]), true, Region())
    raw(build, "neg", i32, condition)


@breaks("a constant needs a type")
def a_constant_without_a_type(build: Builder) -> None:
    nothing: Any = None
    raw(build, "neg", i32, Constant(1, nothing))


@breaks("must have one type")
def operands_of_two_types(build: Builder) -> None:
    raw(build, "add", i32, ONE, Constant(1, i64))


@breaks("must have one type")
def a_result_of_another_type(build: Builder) -> None:
    raw(build, "add", i64, ONE, ONE)


@breaks("must have one type")
def a_sum_without_a_type(build: Builder) -> None:
    raw(build, "add", None, ONE, ONE)


@breaks("must be floats")
def a_root_of_an_integer(build: Builder) -> None:
    raw(build, "sqrt", i32, ONE)


@breaks("must have one type")
def a_root_of_another_float(build: Builder) -> None:
    raw(build, "sqrt", f64, HALF)


@breaks("must be integers")
def bits_of_a_float(build: Builder) -> None:
    raw(build, "xor", f32, HALF, HALF)


@breaks("must have one type")
def bits_of_two_integers(build: Builder) -> None:
    raw(build, "xor", i32, ONE, Constant(1, i64))


@breaks("the result is u1")
def a_comparison_that_is_a_number(build: Builder) -> None:
    raw(build, "lt", i32, ONE, ONE)


@breaks("the result is u1")
def a_comparison_of_two_types(build: Builder) -> None:
    raw(build, "lt", u1, ONE, HALF)


@breaks("the result is u1")
def a_comparison_of_arrays(build: Builder) -> None:
    raw(build, "eq", u1, build["a"], build["a"])


# --- choice and conversion


@breaks("expected u1")
def a_choice_by_a_number(build: Builder) -> None:
    raw(build, "select", i32, ONE, ONE, ONE)


@breaks("both alternatives and the result must have one type")
def a_choice_between_two_types(build: Builder) -> None:
    raw(build, "select", i32, TRUE, ONE, Constant(1, i64))


@breaks("both alternatives and the result must have one type")
def a_choice_that_becomes_another_type(build: Builder) -> None:
    raw(build, "select", i64, TRUE, ONE, ONE)


@breaks("both alternatives and the result must have one type")
def a_choice_between_arrays(build: Builder) -> None:
    raw(build, "select", None, TRUE, build["a"], build["a"])


@breaks("operand and result must be numbers")
def a_conversion_to_nothing(build: Builder) -> None:
    raw(build, "cast", None, ONE)


@breaks("operand and result must be numbers")
def a_conversion_of_an_array(build: Builder) -> None:
    raw(build, "cast", f32, build["a"])


@breaks("operand and result must be numbers")
def the_bits_of_an_array(build: Builder) -> None:
    raw(build, "bitcast", i32, build["a"])


@breaks("the same number of bits")
def bits_that_become_more(build: Builder) -> None:
    raw(build, "bitcast", i64, HALF)


@breaks("the operand must be a float and the result an integer")
def an_integer_without_its_fraction(build: Builder) -> None:
    raw(build, "to_integer", i64, ONE)


@breaks("the operand must be a float and the result an integer")
def a_float_without_its_fraction_as_a_float(build: Builder) -> None:
    raw(build, "to_integer", f64, HALF)


@breaks("a random number needs a type")
def a_random_nothing(build: Builder) -> None:
    raw(build, "random", None)


@breaks("a call with several results")
def a_result_of_a_sum(build: Builder) -> None:
    raw(build, "extract", i32, build.op("add", ONE, ONE), payload=0)


@breaks("a call with several results")
def a_result_of_a_number(build: Builder) -> None:
    raw(build, "extract", i32, build["n"], payload=0)


@breaks("a call with several results")
def a_part_of_the_only_result(build: Builder) -> None:
    build.functions.append(func())
    raw(build, "extract", i32, build.call(build.functions[0]), payload=0)


@breaks("no such result")
def a_result_too_many(build: Builder) -> None:
    build.functions.append(func(returns=(i32, i32)))
    raw(build, "extract", i32, build.call(build.functions[0]), payload=2)


@breaks("expected f32")
def a_result_of_another_call(build: Builder) -> None:
    build.functions.append(func(returns=(i32, f32)))
    raw(build, "extract", i32, build.call(build.functions[0]), payload=1)


# --- memory


@breaks("reserve needs a local array of known size")
def reserving_an_array_of_the_caller(build: Builder) -> None:
    build.void("reserve", payload=Array("outside", f32, 1))


@breaks("is already reserved")
def reserving_twice(build: Builder) -> None:
    array = LocalArray("own", f32, (4,), private=False)
    build.void("reserve", payload=array)
    build.void("reserve", payload=array)


@breaks("the array own is not a parameter of this function")
def using_what_is_not_reserved(build: Builder) -> None:
    build.load(LocalArray("own", f32, (4,), private=False), ONE)


@breaks("the array own is not a parameter of this function")
def using_what_was_reserved_in_a_branch(build: Builder) -> None:
    array = LocalArray("own", f32, (4,), private=False)
    with build.when(TRUE):
        build.void("reserve", payload=array)
        build.load(array, ONE)
    build.load(array, ONE)


@breaks("not a parameter of this function")
def a_load_from_a_strange_array(build: Builder) -> None:
    build.load(Array("stranger", f32, 1), 0)


@breaks("a has 2 dimensions")
def a_load_with_too_few_indices(build: Builder) -> None:
    build.load(build["a"], 0)


@breaks("a has 2 dimensions")
def a_store_with_too_many_indices(build: Builder) -> None:
    build.store(build["a"], [0, 0, 0], 1.0)


@breaks("indices must be integers")
def a_load_at_a_float(build: Builder) -> None:
    build.load(build["a"], 0, HALF)


@breaks("indices must be integers")
def a_load_at_an_array(build: Builder) -> None:
    build.load(build["a"], 0, build["wide"])


@breaks("indices must be integers")
def a_load_at_a_truth(build: Builder) -> None:
    build.load(build["a"], 0, TRUE)


@breaks("expected f32")
def a_load_of_another_type(build: Builder) -> None:
    raw(build, "load", f64, ONE, ONE, payload=build["a"])


@breaks("expected f32")
def a_store_of_another_type(build: Builder) -> None:
    build.store(build["a"], [0, 0], ONE)


@breaks("not declared here")
def a_local_that_nobody_declared(build: Builder) -> None:
    build.get(Local("stranger", i32))


@breaks("not declared here")
def a_local_of_a_task_after_it(build: Builder) -> None:
    with build.parallel(3):
        mine = build.local("mine", i32)
        build.set(mine, 1)
    build.get(mine)


@breaks("expected i32")
def a_local_read_as_another_type(build: Builder) -> None:
    raw(build, "load_local", f32, payload=build.locals[0])


@breaks("expected i32")
def a_local_that_is_given_another_type(build: Builder) -> None:
    raw(build, "store_local", None, HALF, payload=build.locals[0])


@breaks("no such dimension")
def the_extent_of_a_third_axis(build: Builder) -> None:
    build.shape(build["a"], 2)


@breaks("no such dimension")
def the_extent_of_a_negative_axis(build: Builder) -> None:
    build.shape(build["a"], -1)


@breaks("no such dimension")
def the_extent_of_a_strange_array(build: Builder) -> None:
    build.shape(Array("stranger", f32, 1))


@breaks("expected i32")
def a_wide_extent_of_a_narrow_array(build: Builder) -> None:
    raw(build, "shape", i64, payload=(build["a"], 0))


@breaks("expected i64")
def a_narrow_extent_of_a_wide_array(build: Builder) -> None:
    raw(build, "shape", i32, payload=(build["wide"], 0))


# --- updates


@breaks("unknown atomic operation")
def an_update_that_is_not_in_the_table(build: Builder) -> None:
    build.atomic("average", build["a"], [0, 0], 1.0)


@breaks("unknown atomic operation")
def an_update_of_nothing(build: Builder) -> None:
    raw(build, "update", f32, ONE, ONE, HALF, payload=build["a"])


@breaks("not declared here")
def an_update_of_a_local_that_nobody_declared(build: Builder) -> None:
    build.atomic("add", Local("stranger", i32), [], 1)


@breaks("expected i32")
def an_update_of_a_local_by_another_type(build: Builder) -> None:
    build.atomic("add", build.locals[0], [], HALF)


@breaks("not a parameter of this function")
def an_update_of_a_strange_array(build: Builder) -> None:
    build.atomic("add", Array("stranger", i32, 1), [0], 1)


@breaks("a has 2 dimensions")
def an_update_with_too_few_indices(build: Builder) -> None:
    build.atomic("add", build["a"], [0], 1.0)


@breaks("expected f32")
def an_update_by_another_type(build: Builder) -> None:
    build.atomic("add", build["a"], [0, 0], ONE)


@breaks("expected f32")
def an_exchange_that_expects_another_type(build: Builder) -> None:
    build.atomic("cas", build["a"], [0, 0], ONE, HALF)


@breaks("a has 2 dimensions")
def an_exchange_without_what_it_expects(build: Builder) -> None:
    build.atomic("cas", build["a"], [0, 0], HALF)


def task_with(build: Builder, *operations: Operation, reductions: Any = (), scatters: Any = ()) -> ParallelFor:
    task = ParallelFor("task", [LoopVariable("i", i32)], (Constant(0, i32), ONE), Region(list(operations)), [])
    task.reductions += reductions
    task.scatters += scatters
    build.append(task)
    return task


@breaks("the reduction does not belong to the task")
def a_sum_for_another_task(build: Builder) -> None:
    mine, others = (Reduction("add", i32, build.locals[0], ()) for _ in range(2))
    task_with(build, Operation("accumulate", None, (ONE,), others), reductions=[mine])


@breaks("the reduction does not belong to the task")
def a_sum_for_no_task(build: Builder) -> None:
    raw(build, "accumulate", None, ONE, payload=Reduction("add", i32, build.locals[0], ()))


@breaks("the reduction does not belong to the task")
def a_sum_for_something_else(build: Builder) -> None:
    task_with(build, Operation("accumulate", None, (ONE,), build.locals[0]))


@breaks("expected i32")
def a_sum_of_another_type(build: Builder) -> None:
    mine = Reduction("add", i32, build.locals[0], ())
    task_with(build, Operation("accumulate", None, (HALF,), mine), reductions=[mine])


@breaks("the scatter does not belong to the task")
def a_scatter_for_another_task(build: Builder) -> None:
    mine, others = (Scatter("add", build["a"]) for _ in range(2))
    task_with(build, Operation("scatter", None, (ONE, ONE, HALF), others), scatters=[mine])


@breaks("the scatter does not belong to the task")
def a_scatter_for_no_task(build: Builder) -> None:
    raw(build, "scatter", None, ONE, ONE, HALF, payload=Scatter("add", build["a"]))


@breaks("the scatter does not belong to the task")
def a_scatter_for_something_else(build: Builder) -> None:
    task_with(build, Operation("scatter", None, (ONE, ONE, HALF), build["a"]))


@breaks("a has 2 dimensions")
def a_scatter_with_too_few_indices(build: Builder) -> None:
    mine = Scatter("add", build["a"])
    task_with(build, Operation("scatter", None, (ONE, HALF), mine), scatters=[mine])


@breaks("expected f32")
def a_scatter_of_another_type(build: Builder) -> None:
    mine = Scatter("add", build["a"])
    task_with(build, Operation("scatter", None, (ONE, ONE, ONE), mine), scatters=[mine])


# --- calls and effects


def func(*parameters: Parameter | Array, returns: tuple[Any, ...] = (i32,), name: str = "f") -> Function:
    inner = Builder(*parameters, returns=returns, name=name)
    inner.give(*(0 for _ in returns))
    return inner.function()


@breaks("f is not listed before its caller")
def a_call_of_a_func_that_is_not_listed(build: Builder) -> None:
    build.call(func())


@breaks("f is not listed before its caller")
def a_call_of_a_func_that_is_listed_later(build: Builder) -> None:
    later = func()
    earlier = Builder(returns=[i32], name="g")
    earlier.give(earlier.call(later))
    build.functions += [earlier.function(), later]


@breaks("f takes 1 operands")
def a_call_with_too_few_operands(build: Builder) -> None:
    build.functions.append(func(Parameter("x", i32)))
    build.call(build.functions[0])


@breaks("wrong type for x")
def a_call_with_another_type(build: Builder) -> None:
    build.functions.append(func(Parameter("x", i32)))
    build.call(build.functions[0], HALF)


@breaks("wrong array for x")
def a_call_with_a_number_for_an_array(build: Builder) -> None:
    build.functions.append(func(Array("x", f32, 2)))
    build.call(build.functions[0], HALF)


@breaks("wrong array for x")
def a_call_with_an_array_of_another_dtype(build: Builder) -> None:
    build.functions.append(func(Array("x", f64, 2)))
    build.call(build.functions[0], build["a"])


@breaks("wrong array for x")
def a_call_with_an_array_of_fewer_axes(build: Builder) -> None:
    build.functions.append(func(Array("x", f32, 3)))
    build.call(build.functions[0], build["a"])


@breaks("wrong result type")
def a_call_with_another_result(build: Builder) -> None:
    build.functions.append(func())
    raw(build, "call", f32, payload=build.functions[0])


@breaks("wrong result type")
def a_call_with_one_result_of_two(build: Builder) -> None:
    build.functions.append(func(returns=(i32, i32)))
    raw(build, "call", i32, payload=build.functions[0])


def site(*types: Any) -> Site:
    return Site("assertion", ("seen",), types, ())


@breaks("the values do not match the site")
def a_print_of_another_type(build: Builder) -> None:
    raw(build, "print", None, HALF, payload=site(i32))


@breaks("the values do not match the site")
def a_print_of_too_much(build: Builder) -> None:
    raw(build, "print", None, ONE, ONE, payload=site(i32))


@breaks("the values do not match the site")
def a_print_without_a_site(build: Builder) -> None:
    raw(build, "print", None)


@breaks("the values do not match the site")
def a_check_with_another_value(build: Builder) -> None:
    build.check(TRUE, site(i32), HALF)


@breaks("expected u1")
def a_check_of_a_number(build: Builder) -> None:
    build.check(ONE, site())


# --- control


@breaks("expected u1")
def a_branch_on_a_number(build: Builder) -> None:
    build.append(If(ONE, Region(), Region()))


@breaks("must be floats")
def a_mistake_in_a_branch(build: Builder) -> None:
    build.append(If(TRUE, Region([Operation("sqrt", i32, (ONE,))]), Region()))


@breaks("must be floats")
def a_mistake_in_the_other_branch(build: Builder) -> None:
    build.append(If(TRUE, Region(), Region([Operation("sqrt", i32, (ONE,))])))


@breaks("expected u1")
def a_while_on_a_number(build: Builder) -> None:
    build.append(While(Region(), ONE, Region()))


@breaks("not defined here")
def a_while_on_what_its_body_defines(build: Builder) -> None:
    inner = Operation("lt", u1, (ONE, ONE))
    build.append(While(Region(), inner, Region([inner])))


@breaks("must be floats")
def a_mistake_in_the_head_of_a_while(build: Builder) -> None:
    build.append(While(Region([Operation("sqrt", i32, (ONE,))]), TRUE, Region()))


@breaks("must be floats")
def a_mistake_in_the_body_of_a_while(build: Builder) -> None:
    build.append(While(Region(), TRUE, Region([Operation("sqrt", i32, (ONE,))])))


@breaks("the bounds must have the type of the variable")
def a_loop_with_a_step_of_another_type(build: Builder) -> None:
    build.append(For(LoopVariable("k", i32), ONE, ONE, Constant(1, i64), Region()))


@breaks("must be floats")
def a_mistake_in_a_loop(build: Builder) -> None:
    build.append(For(LoopVariable("k", i32), ONE, ONE, ONE, Region([Operation("sqrt", i32, (ONE,))])))


@breaks("a task inside a task")
def a_task_inside_of_a_task(build: Builder) -> None:
    with build.parallel(3), build.parallel(3):
        pass


@breaks("a task inside a task or function")
def a_task_inside_of_a_func(build: Builder) -> None:
    inner = Builder(name="f")
    with inner.parallel(3):
        pass
    inner.give()
    build.functions.append(inner.function())


@breaks("every dimension needs a begin and an end")
def a_task_whose_axis_has_no_end(build: Builder) -> None:
    build.append(ParallelFor("task", [LoopVariable("i", i32)], (ONE,), Region(), []))


@breaks("every dimension needs a begin and an end")
def a_task_without_axes(build: Builder) -> None:
    build.append(ParallelFor("task", [], (), Region(), []))


@breaks("the bounds must have the type of the variable")
def a_task_that_begins_with_another_type(build: Builder) -> None:
    build.append(ParallelFor("task", [LoopVariable("i", i32)], (Constant(0, i64), ONE), Region(), []))


@breaks("the bounds must have the type of the variable")
def a_task_that_ends_with_another_type(build: Builder) -> None:
    build.append(ParallelFor("task", [LoopVariable("i", i32)], (ONE, Constant(0, i64)), Region(), []))


@breaks("the bounds must have the type of the variable")
def a_task_with_something_else_for_a_variable(build: Builder) -> None:
    variable: Any = Parameter("i", i32)
    build.append(ParallelFor("task", [variable], (ONE, ONE), Region(), []))


@breaks("must be floats")
def a_mistake_in_a_task(build: Builder) -> None:
    task_with(build, Operation("sqrt", i32, (ONE,)))


@breaks("must be floats")
def a_mistake_in_a_func(build: Builder) -> None:
    build.functions.append(
        Function("f", [], (), Region([Operation("sqrt", i32, (ONE,)), Operation("return", None)]), [], "functions.py")
    )


@breaks("no loop to leave")
def a_break_outside_of_loops(build: Builder) -> None:
    build.void("break")


@breaks("no loop to leave")
def a_continue_outside_of_loops(build: Builder) -> None:
    build.void("continue")


@breaks("no loop to leave")
def a_break_after_a_loop(build: Builder) -> None:
    with build.loop(0, 3):
        pass
    build.loop_while(Region(), TRUE, Region())
    with build.parallel(3):
        pass
    build.void("break")


@breaks("no loop to leave")
def a_continue_after_a_task(build: Builder) -> None:
    with build.parallel(3):
        pass
    build.void("continue")


@breaks("no loop to leave")
def a_break_of_a_task(build: Builder) -> None:
    with build.parallel(3):
        build.void("break")


@breaks("no loop to leave")
def a_break_of_a_task_after_a_loop_in_it(build: Builder) -> None:
    with build.parallel(3):
        with build.loop(0, 3):
            build.void("break")
        build.void("break")


@breaks("it must be the last operation of its region")
def something_after_a_break(build: Builder) -> None:
    with build.loop(0, 3):
        build.void("break")
        build.op("neg", ONE)


@breaks("it must be the last operation of its region")
def something_after_a_continue(build: Builder) -> None:
    with build.loop(0, 3):
        build.void("continue")
        build.op("neg", ONE)


@breaks("it must be the last operation of its region")
def something_after_a_return(build: Builder) -> None:
    build.give(0)
    build.op("neg", ONE)
    build.give(0)


@breaks("a return inside a task")
def a_return_inside_of_a_task(build: Builder) -> None:
    with build.parallel(3):
        build.give(0)


@breaks("do not match the results of the function")
def a_return_of_another_type(build: Builder) -> None:
    raw(build, "return", None, HALF)


@breaks("do not match the results of the function")
def a_return_of_nothing(build: Builder) -> None:
    raw(build, "return", None)


# --- the tests


@pytest.mark.parametrize(("message", "wrong"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_broken_ir_is_refused(message: str, wrong: Break) -> None:
    build = sound()
    wrong(build)
    with pytest.raises(MalformedIR) as refusal:
        verify(finished(build))
    assert message in str(refusal.value)


def test_a_refusal_names_the_function_and_the_line_and_prints_the_operation() -> None:
    build = Builder(Parameter("n", i32), name="counting")
    build.line = 11
    raw(build, "sqrt", i32, build["n"])
    with pytest.raises(MalformedIR) as refusal:
        verify(build.kernel())
    assert "in counting, line 11:\n" in str(refusal.value)
    assert "sqrt" in str(refusal.value).splitlines()[1]


def test_sound_ir_passes() -> None:
    build = sound()
    count = build.locals[0]
    build.functions += [func(Parameter("x", i32), Array("y", f32, 2)), func(returns=(i32, i32), name="g")]
    build.set(count, 0)
    build.call(build.functions[0], build["n"], build["a"])
    build.extract(build.call(build.functions[1]), 1)
    build.op("select", TRUE, HALF, HALF)
    build.op("bitcast", HALF, type=i32)
    build.op("to_integer", HALF, type=i64)
    build.op("random", type=f32)
    build.append(Operation("call", None, (build["n"], build["a"]), build.functions[0]))  # nobody wants the result
    build.check(TRUE, site(i32), build["n"])
    raw(build, "print", None, ONE, payload=site(i32))
    build.store(build["a"], [0, build.cast(build.shape(build["wide"]), i32)], build.load(build["a"], 0, 1))
    build.atomic("cas", build["a"], [0, 0], 0.5, 0.25)
    build.atomic("add", build["wide"], [Constant(0, i64)], 1).code = "update"
    build.atomic("max", count, [], 1)
    with build.when(build.op("lt", build["n"], 3)) as orelse:
        build.op("sqrt", HALF)
    with build.inside(orelse):
        build.op("xor", TRUE, TRUE)
    condition = Operation("lt", u1, (build["n"], ONE))
    leave = Operation("break", None)
    build.loop_while(Region([condition]), condition, Region([Operation("select", i32, (condition, ONE, ONE)), leave]))
    with build.loop(0, 3) as k, build.when(build.op("eq", k, 1)):
        build.void("continue")
    with build.parallel(build["n"], (1, 4)) as (i, j):
        mine = build.local("mine", i32)
        build.set(mine, build.op("add", i, j))
        with build.loop(0, 3):
            build.void("break")
        build.void("continue")
    total, copies = Reduction("add", i32, count, ()), Scatter("add", build["a"])
    task_with(
        build,
        Operation("accumulate", None, (ONE,), total),
        Operation("scatter", None, (ONE, ONE, HALF), copies),
        reductions=[total],
        scatters=[copies],
    )
    verify(finished(build))
