"""The static cost estimate: orders, not nanoseconds."""

from __future__ import annotations

from samovar._native import f32, i32
from samovar.ir import Estimator
from samovar.ir.structure import For, Function, If, Region, While
from samovar.ir.values import Array, Constant, LoopVariable, Operation, Parameter


def work(code: str = "add", count: int = 1) -> list[Operation]:
    x = Parameter("x", f32)
    return [Operation(code, f32, (x, x)) for _ in range(count)]


def loop(count: int | None, body: list[Operation]) -> For:
    end = Parameter("n", i32) if count is None else Constant(count, i32)
    return For(LoopVariable("k", i32), Constant(0, i32), end, Constant(1, i32), Region(body))


def cost(*operations: Operation) -> float:
    return Estimator().region(Region(list(operations))).nanoseconds


def unknown(*operations: Operation) -> bool:
    return Estimator().region(Region(list(operations))).unknown


def test_dearer_operations_cost_more() -> None:
    assert cost(*work("add")) < cost(*work("div")) < cost(*work("pow"))
    assert cost(*work("add", 10)) > 9 * cost(*work("add"))


def test_loops_of_constant_length_multiply() -> None:
    assert not unknown(loop(100, work()))
    assert cost(loop(100, work())) > 50 * cost(*work())
    assert cost(loop(10, [loop(10, work())])) > 50 * cost(*work())
    assert cost(loop(0, work())) == 0


def test_loops_of_unknown_length_are_flagged() -> None:
    condition = Operation("lt", f32, ())
    assert unknown(loop(None, work()))
    assert unknown(loop(3, [loop(None, work())]))
    assert unknown(While(Region([condition]), condition, Region(work())))
    assert cost(loop(None, work())) > cost(*work())


def test_of_two_branches_the_dearer_counts() -> None:
    condition = Parameter("c", f32)
    both = If(condition, Region(work("pow")), Region(work("add")))
    assert cost(*work("pow")) < cost(both) < cost(*work("pow")) + cost(*work("div"))


def test_a_long_chain_of_elif_is_no_deep_recursion() -> None:
    chain: list[Operation] = work("pow")
    for _ in range(5000):
        chain = [If(Parameter("c", f32), Region(work()), Region(chain))]
    assert cost(*chain) > cost(*work("pow"))


def test_a_call_costs_what_its_function_does() -> None:
    a = Array("a", f32, 1)
    function = Function("f", [a], (), Region([loop(50, work("sin"))]))
    call = Operation("call", None, (a,), function)
    estimator = Estimator()
    estimator.function(function)
    assert estimator.region(Region([call])).nanoseconds > 50
    assert function not in estimator.printers
