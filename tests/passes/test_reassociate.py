"""Reassociation: what a loop carries comes last, long chains become shorter ones, and values stay what they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hypothesis_profiles import examples
from ir_builder import Builder
from ir_interpreter import Interpreter
from samovar._native import DType, f32, f64, i32
from samovar.ir import Kernel, verify
from samovar.ir.printer import print_kernel
from samovar.ir.traversal import walk
from samovar.ir.values import Array, Constant, Operation, Parameter, Value
from samovar.passes.reassociate import reassociate


def table(dtype: DType, before: int = -1, row: int = 0, uses: int = 1) -> tuple[Builder, Operation]:
    """A loop that stores `min(min(d[i + row, j + before] + 1, p[j]), min(q[j], 5))`; gives what is loaded from the table."""
    build = Builder(*(Array(name, dtype, ndim, alone=True) for name, ndim in (("d", 2), ("p", 1), ("q", 1))))
    with build.loop(1, 10) as i, build.loop(1, 20) as j:
        loaded = build.load(build["d"], build.op("add", i, row) if row else i, build.op("add", j, before))
        five = Constant(5 if dtype is i32 else 5.0, dtype)
        left = build.op("min", build.op("add", loaded, five), build.load(build["p"], j))
        right = build.op("min", build.load(build["q"], j), five)
        for _ in range(uses - 1):
            build.store(build["p"], [j], left)
        build.store(build["d"], [i, j], build.op("min", left, right))
    return build, loaded


def waiting(build: Builder, loaded: Operation) -> int:
    """How many minima are taken of what needs a value."""
    needs: set[Value] = {loaded}
    count = 0
    for operation in walk(build.body):
        if any(operand in needs for operand in operation.operands):
            needs.add(operation)
            count += operation.code == "min"
    return count


@pytest.mark.parametrize(("dtype", "fast_math"), [(i32, False), (i32, True), (f32, True)])
def test_what_was_stored_last_comes_last(dtype: DType, fast_math: bool) -> None:
    build, loaded = table(dtype)
    assert waiting(build, loaded) == 2
    kernel = build.kernel()
    reassociate(kernel, fast_math)
    verify(kernel)
    assert waiting(build, loaded) == 1
    assert kernel.has_recurrence
    assert [each.code for each in walk(build.body)].count("min") == 3


@pytest.mark.parametrize("options", [{"row": -1}, {"before": 1}, {"uses": 2}])
def test_other_elements_and_what_is_used_elsewhere_stay(options: dict[str, int]) -> None:
    build, loaded = table(i32, **options)
    reassociate(build.kernel(), True)
    assert waiting(build, loaded) == 2


def test_floats_keep_their_order_without_fast_math() -> None:
    build, loaded = table(f32)
    reassociate(build.kernel(), False)
    assert waiting(build, loaded) == 2


# --- what comes out is the same

NAMES = ("a", "b", "x", "y", "p")
INTEGERS = st.recursive(
    st.sampled_from(NAMES),
    lambda inner: st.tuples(st.sampled_from("add sub mul min max".split()), inner, inner),
    max_leaves=14,
)
Tree = str | tuple[str, "Tree", "Tree"]


def recurring(tree: Tree, dtype: DType, steps: int = 5) -> Kernel:
    """A loop in which x, y = tree, x: `a` and `b` are loaded, `p` is what the iteration before has stored."""
    build = Builder(*(Array(name, dtype, 1, alone=True) for name in "abpo"))
    x, y = build.local("x", dtype), build.local("y", dtype)
    build.set(x, 3)
    build.set(y, -2)
    with build.loop(1, steps) as i:

        def value(part: Tree) -> Value:
            if isinstance(part, tuple):
                return build.op(part[0], value(part[1]), value(part[2]))
            if part in "xy":
                return build.get(x if part == "x" else y)
            return build.load(build[part], build.op("sub", i, 1) if part == "p" else i)

        made = value(tree)
        build.store(build["p"], [i], made)
        build.set(y, build.get(x))
        build.set(x, made)
    build.store(build["o"], [0], build.get(x))
    return build.kernel()


def numbers(kind: str, seed: int = 1) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {name: random.integers(-(2**31), 2**31, 6).astype(kind) for name in "abpo"}


@examples("interpreted")
@given(INTEGERS)
def test_integers_come_out_the_same_although_they_wrap(tree: Tree) -> None:
    wanted, found = numbers("i4"), numbers("i4")
    Interpreter(recurring(tree, i32), wanted).run()
    kernel = recurring(tree, i32)
    reassociate(kernel, fast_math=False)
    verify(kernel)
    Interpreter(kernel, found).run()
    for name in wanted:
        np.testing.assert_array_equal(found[name], wanted[name])


@examples("interpreted")
@given(INTEGERS)
def test_exact_floats_come_out_the_same_in_any_order(tree: Tree) -> None:
    """Small integers as f64: sums and products of them are exact, or too large in both orders."""
    given_numbers = {name: np.arange(-2, 4).astype("f8") for name in "abpo"}
    wanted, found = ({name: each.copy() for name, each in given_numbers.items()} for _ in range(2))
    with np.errstate(all="ignore"):
        Interpreter(recurring(tree, f64, 3), wanted).run()
        kernel = recurring(tree, f64, 3)
        reassociate(kernel, fast_math=True)
        verify(kernel)
        Interpreter(kernel, found).run()
    if all(np.all(np.abs(each) < 2**50) for each in wanted.values()):
        for name in wanted:
            np.testing.assert_array_equal(found[name], wanted[name])


@examples("interpreted")
@given(INTEGERS)
def test_floats_are_left_alone_without_fast_math(tree: Tree) -> None:
    kernel = recurring(tree, f32)
    before = print_kernel(kernel)
    reassociate(kernel, fast_math=False)
    assert print_kernel(kernel) == before


@pytest.mark.parametrize("code", ["add", "mul"])
def test_chains_that_do_not_wait_stay_as_they_are(code: str) -> None:
    build = Builder(*(Array(name, f64, 1, alone=True) for name in "xy"))
    with build.loop(0, 10) as i:
        total: Value = build.load(build["x"], i)
        for place in range(1, 9):
            total = build.op(code, total, build.load(build["x"], build.op("add", i, place)))
        build.store(build["y"], [i], total)
    before = print_kernel(build.kernel())
    reassociate(build.kernel(), fast_math=True)
    assert print_kernel(build.kernel()) == before


def test_a_product_that_does_not_wait_is_not_fused_with_the_addition_that_does() -> None:
    """x = p[i - 1] + a[i] * b[i], which is stored in p[i]: the addition alone is what an iteration waits for."""
    kernel = recurring(("add", "p", ("mul", "a", "b")), f64)
    reassociate(kernel, fast_math=True)
    (total,) = (each for each in walk(kernel.body) if each.code == "add" and each.type is f64)
    assert total.payload == "unfused"


def test_a_sum_that_becomes_one_of_vectors_is_fused() -> None:
    build = Builder(Array("a", f64, 1, alone=True), Array("o", f64, 1, alone=True))
    x = build.local("x", f64)
    build.set(x, 0.0)
    with build.loop(0, 9) as i:
        build.set(x, build.op("add", build.get(x), build.op("mul", build.load(build["a"], i), build.load(build["a"], i))))
    build.store(build["o"], [0], build.get(x))
    reassociate(build.kernel(), fast_math=True)
    assert all(each.payload != "unfused" for each in walk(build.body))


def test_what_does_not_change_is_added_first() -> None:
    """x * x - y * y + c in a loop that carries x and y: c meets a product, and the other one comes last."""
    build = Builder(Array("o", f64, 1, alone=True), Parameter("c", f64))
    x, y, count = build.local("x", f64), build.local("y", f64), build.local("count", i32)
    for local in (x, y):
        build.set(local, 0.5)
    build.set(count, 0)

    def body() -> None:
        squares = [build.op("mul", build.get(each), build.get(each)) for each in (x, y)]
        build.set(y, build.get(x))
        build.set(x, build.op("add", build.op("sub", *squares), build["c"]))
        build.set(count, build.op("add", build.get(count), 1))

    loop = build.during(lambda: build.op("lt", build.get(count), 3), body)
    build.store(build["o"], [0], build.get(x))
    reassociate(build.kernel(), fast_math=True)
    verify(build.kernel())
    total = next(each.operands[0] for each in walk(loop.body) if each.code == "store_local" and each.payload is x)
    assert isinstance(total, Operation)
    first, last = total.operands
    assert isinstance(first, Operation)
    assert build["c"] in first.operands
    assert isinstance(last, Operation)
    assert last.code == "mul"
