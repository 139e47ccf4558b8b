"""What loops gather in lanes: sums, products, extremes and bits come out as they do one by one, for every size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from ir_builder import Builder
from passes.loops.rewriting import AVX2, AVX512, SIZES, check, outlined, vectorize
from samovar._native import DType, f32, f64, i32, u8
from samovar.ir import Array, For, Kernel, Machine, Parameter, VectorLocal, VectorOperation, walk

Floats = sv.types.NDArray[sv.f32, 1]
Doubles = sv.types.NDArray[sv.f64, 1]
Integers = sv.types.NDArray[sv.i32, 1]

NUMPY = {f32: np.float32, f64: np.float64, i32: np.int32, u8: np.uint8}


def gathering(action: str, dtype: DType, start: float, begin: int = 0, conditional: bool = False) -> Kernel:
    """A serial loop that gathers a[begin:n] in a variable, or only what is above 1."""
    build = Builder(Array("a", dtype, 1, alone=True), Array("o", dtype, 1, alone=True), Parameter("n", i32))
    x = build.local("x", dtype)
    build.set(x, start)
    with build.loop(begin, build["n"]) as i:
        loaded = build.load(build["a"], i)

        def gather() -> None:
            build.set(x, build.op(action, build.get(x), loaded))

        if conditional:
            build.when(build.op("gt", loaded, 1), gather)
        else:
            gather()
    build.store(build["o"], [0], build.get(x))
    return build.kernel()


def changing(action: str, dtype: DType) -> Kernel:
    """A serial loop that adds 1 to a[:n] in place and gathers what was there."""
    build = Builder(Array("a", dtype, 1, alone=True), Array("o", dtype, 1, alone=True), Parameter("n", i32))
    x = build.local("x", dtype)
    build.set(x, 3)
    with build.loop(0, build["n"]) as i:
        loaded = build.load(build["a"], i)
        build.set(x, build.op(action, build.get(x), loaded))
        build.store(build["a"], [i], build.op("add", loaded, 1))
    build.store(build["o"], [0], build.get(x))
    return build.kernel()


def gathered(kernel: Kernel) -> bool:
    return any(isinstance(each, VectorLocal) for each in kernel.locals)


MACHINES = pytest.mark.parametrize(
    ("machine", "width", "tail"), [(AVX2, 32, 8), (AVX2, 8, 8), (AVX512, 64, 16)], ids=["avx2", "narrow", "avx512"]
)


@MACHINES
@pytest.mark.parametrize("action", ["add", "sub", "mul", "min", "max", "and", "or", "xor"])
@pytest.mark.parametrize("dtype", [i32, u8], ids=str)
@pytest.mark.parametrize("conditional", [False, True])
def test_integers_are_gathered_although_they_wrap(
    action: str, dtype: DType, conditional: bool, machine: Machine, width: int, tail: int
) -> None:
    random = np.random.default_rng(7)
    least, greatest = (0, 256) if dtype is u8 else (-(2**31), 2**31)
    for n in SIZES:
        arguments = {
            "a": random.integers(least, greatest, n).astype(NUMPY[dtype]), "o": np.zeros(1, NUMPY[dtype]), "n": n
        }  # fmt: skip
        made = check(
            lambda: gathering(action, dtype, 3, conditional=conditional), arguments, vectorize(machine, width, tail)
        )
        assert gathered(made)


@MACHINES
@pytest.mark.parametrize(("action", "dtype"), [("add", i32), ("min", i32), ("and", i32), ("sub", f32), ("mul", f32)])
def test_remainders_in_place_are_gathered_without_masks(
    action: str, dtype: DType, machine: Machine, width: int, tail: int
) -> None:
    random = np.random.default_rng(7)
    for n in SIZES:
        arguments = {"a": random.choice([1, 2, -1], n).astype(NUMPY[dtype]), "o": np.zeros(1, NUMPY[dtype]), "n": n}
        made = check(lambda: changing(action, dtype), arguments, vectorize(machine, width, tail))
        assert gathered(made)
        stores = [each for each in walk(made.body) if each.code == "store" and isinstance(each, VectorOperation)]
        assert [each.mask for each in stores] == [None] * len(stores) != []


@MACHINES
@pytest.mark.parametrize("action", ["add", "sub", "mul"])
def test_exact_sums_and_products_of_floats(action: str, machine: Machine, width: int, tail: int) -> None:
    random = np.random.default_rng(7)
    for n in SIZES:
        numbers = random.choice([-1.0, 1.0, -0.0, 2.0] if action != "mul" else [-1.0, 1.0, 2.0, 0.5], n).astype("f4")
        for values in (numbers, np.full(n, -0.0, np.float32)):
            arguments = {"a": values, "o": np.zeros(1, np.float32), "n": n}
            assert gathered(check(lambda: gathering(action, f32, -0.0), arguments, vectorize(machine, width, tail)))


@MACHINES
@pytest.mark.parametrize("action", ["min", "max"])
@pytest.mark.parametrize("dtype", [f32, f64], ids=str)
@pytest.mark.parametrize("start", [np.nan, 0.5, np.inf, -np.inf])
def test_extremes_prefer_numbers_wherever_they_are(
    action: str, dtype: DType, start: float, machine: Machine, width: int, tail: int
) -> None:
    """Numbers, NaN and infinities at all places among the others: in whole vectors, in the rest, in both, or nowhere."""
    for n in (0, 1, 7, 8, 33, 64, 67, 131):
        for place in {0, n // 2, n - 1} if n else {0}:
            for fill in (np.nan, np.inf, -np.inf):
                for number in (1.5, np.inf, -np.inf, np.nan):
                    a = np.full(n, fill, NUMPY[dtype])
                    a[place : place + 1] = number
                    arguments = {"a": a, "o": np.zeros(1, NUMPY[dtype]), "n": n}
                    made = check(lambda: gathering(action, dtype, start), arguments, vectorize(machine, width, tail))
                    assert gathered(made)


def test_a_second_look_begins_at_the_beginning() -> None:
    """Infinity is in the whole vectors, and what is left over is NaN: only who looks at all of it finds it."""
    for n in (64, 67, 70):
        a = np.full(n, np.nan, np.float32)
        a[5] = np.inf
        arguments = {"a": a, "o": np.zeros(1, np.float32), "n": n}
        check(lambda: gathering("min", f32, np.nan), arguments, vectorize(AVX2, 32, 8))


@sv.kernel
def counted_beside(a: Floats, q: Floats, o: Floats):
    for _ in range(1):
        best = o[0]
        for i in range(a.shape[0]):
            best = max(best, a[i])
            q[i] += 1.0
        least = o[1]
        count = 0
        for i in range(a.shape[0]):
            least = min(least, a[i])
            count += 1
        o[0] = best
        o[1] = least
        o[2] = count


@pytest.mark.parametrize("fill", [np.nan, np.inf, -np.inf])
def test_what_a_loop_does_beside_extremes_is_done_once(fill: float) -> None:
    for n in (5, 32, 70):
        arguments = {"a": np.full(n, fill, "f4"), "q": np.zeros(n, "f4"), "o": np.full(3, np.nan, "f4")}
        check(lambda: outlined(counted_beside, arguments), arguments, vectorize(AVX2, 32, 8))  # noqa: B023


def test_floats_are_not_gathered_in_another_order_without_fast_math() -> None:
    kernel = gathering("add", f32, 0.0)
    assert vectorize(AVX2, 8, fast_math=False)(kernel) == 0
    assert not gathered(kernel)
    kernel = gathering("max", f32, 0.0)  # which have no order
    assert vectorize(AVX2, 8, fast_math=False)(kernel) == 1


@sv.kernel
def sums(a: Floats, o: Doubles):
    """A parallel sum, a maximum beside stores, and two kinds in one loop."""
    for i in range(a.shape[0]):
        sv.atomic_add(o[0], sv.f64(a[i]))
        sv.atomic_max(o[1], sv.f64(a[i]))


@sv.kernel
def stored_beside(a: Floats, q: Floats, o: Floats):
    for _ in range(1):
        best = o[0]
        count = 0
        for i in range(a.shape[0]):
            best = max(best, a[i])
            q[i] = a[i] * 2.0
            if a[i] > 1.0:
                count += 1
        o[0] = best
        o[1] = count


@sv.kernel
def pairs(a: Floats, o: Integers, m: sv.i32):
    """Variables that a loop gathers while lanes run a loop of their own."""
    for _ in range(1):
        total = 0
        for i in range(a.shape[0]):
            for k in range(m):
                if a[k] > a[i]:
                    total += 1
                if k > i:
                    break
        o[0] += total


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("machine", "width", "tail"), [(AVX2, 32, 8), (AVX512, 32, 16)], ids=["avx2", "avx512"])
def test_kernels_gather_what_they_did(n: int, machine: Machine, width: int, tail: int) -> None:
    a = np.random.default_rng(n).integers(-9, 9, n).astype(np.float32)
    a[::5] = np.nan
    cases: list[tuple[Any, dict[str, Any]]] = [
        (sums, {"a": np.nan_to_num(a), "o": np.array([-0.0, np.nan])}),
        (stored_beside, {"a": a, "q": np.zeros(n, "f4"), "o": np.array([-np.inf, 0], "f4")}),
        (pairs, {"a": np.concatenate([a, np.arange(9, dtype="f4")]), "o": np.zeros(1, "i4"), "m": 9}),
    ]
    for kernel, arguments in cases:
        made = check(lambda: outlined(kernel, arguments), arguments, vectorize(machine, width, tail))  # noqa: B023
        assert any(isinstance(each, VectorOperation) for each in walk(made.body))


def test_short_elements_are_left_over_one_by_one_where_there_are_no_masks_for_them() -> None:
    """Without masks for bytes, what fills no vector is a loop of single iterations."""

    def made(machine: Machine) -> list[int]:
        kernel = gathering("add", u8, 0)
        vectorize(machine, 32, 8)(kernel)
        return [
            max((each.width for each in walk(loop.body)), default=0) for loop in walk(kernel.body) if isinstance(loop, For)
        ]

    assert made(AVX2) == [32, 8, 0]
    assert made(AVX512) == [32, 8]


@pytest.mark.parametrize("begin", [-3, 5, 2**31 - 9])
def test_a_loop_may_begin_anywhere(begin: int) -> None:
    def xor_of_indices() -> Kernel:
        build = Builder(Array("o", i32, 1, alone=True), Parameter("n", i32))
        x = build.local("x", i32)
        build.set(x, 0)
        with build.loop(begin, build["n"]) as i:
            build.set(x, build.op("xor", build.get(x), i))
        build.store(build["o"], [0], build.get(x))
        return build.kernel()

    for count in (-2, 0, 1, 7, 8):
        check(xor_of_indices, {"o": np.zeros(1, np.int32), "n": begin + count}, vectorize(AVX2, 8))
