"""Walking and rewriting the IR."""

from __future__ import annotations

from samovar._native import i32, u1
from samovar.ir import traversal
from samovar.ir.structure import For, If, Region, While
from samovar.ir.values import Constant, Local, LoopVariable, Operation, Value

ONE = Constant(1, i32)
TRUE = Constant(True, u1)


def step(*operands: Value) -> Operation:
    return Operation("neg", i32, operands or (ONE,))


def test_walk_is_in_the_order_of_the_text() -> None:
    a, b, c, d, e = (step() for _ in range(5))
    loop = For(LoopVariable("i", i32), ONE, ONE, ONE, Region([b]))
    branch = If(TRUE, Region([loop, c]), Region([d]))
    region = Region([a, branch, e])
    assert list(traversal.walk(region)) == [a, branch, loop, b, c, d, e]


def test_walk_survives_nesting_deeper_than_the_interpreters_stack() -> None:
    region = Region([step()])
    for _ in range(20_000):
        region = Region([If(TRUE, Region(), region)])
    assert sum(1 for _ in traversal.walk(region)) == 20_001
    assert sum(1 for _ in traversal.walk_regions(region)) == 40_001


def test_walk_sees_what_changes_inside_of_the_operation_at_hand() -> None:
    a, b, c = step(), step(), step()
    branch = If(TRUE, Region([a]), Region())
    found = []
    for operation in traversal.walk(Region([branch, c])):
        found.append(operation)
        if operation is branch:
            branch.then = Region([b, a])
    assert found == [branch, b, a, c]


def test_rewrite_inserts_and_removes_at_every_depth_in_the_order_of_the_text() -> None:
    a, b, c = step(), step(), step()
    branch = If(TRUE, Region([a, b]), Region())
    region = Region([branch, c])
    new = step()
    seen: list[Operation] = []

    def expand(operation: Operation) -> list[Operation]:
        seen.append(operation)
        if operation is a:
            return []
        return [new, operation] if operation is b else [operation]

    traversal.rewrite(region, expand)
    assert seen == [branch, a, b, c]
    assert list(traversal.walk(region)) == [branch, new, b, c]


def test_a_condition_of_a_while_is_a_use() -> None:
    local = Local("x", u1)
    condition = Operation("load_local", u1, (), local)
    loop = While(Region([condition]), condition, Region())
    assert traversal.use_counts([Region([loop])])[condition] == 1
    traversal.substitute(loop, {condition: TRUE})
    assert loop.condition is TRUE


def test_users_counts_each_use() -> None:
    a = step()
    both = Operation("add", i32, (a, a))
    assert traversal.users([Region([a, both])])[a] == [both, both]
