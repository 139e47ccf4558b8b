"""Peeling: between the ends of a loop, what is clamped, wrapped or compared is a plain sum or known; all else stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import samovar as sv
from ir_builder import Builder
from ir_interpreter import Interpreter
from passes.loops.rewriting import AVX2, assert_same, check, loops_in, outcome, outlined, whole_bodies
from samovar._native import i8, i32
from samovar.ir import (
    Affine,
    Array,
    Constant,
    For,
    If,
    Kernel,
    Operation,
    Parameter,
    Region,
    Task,
    Value,
    regions,
    variables,
    verify,
    walk,
)
from samovar.passes.loops import split_index_sets
from samovar.passes.loops.peel import peel

Floats = sv.types.NDArray[sv.f32, 1]
Rows = sv.types.NDArray[sv.f32, 2]
SIZES = (0, 1, 2, 3, 4, 5, 8, 17, 40)


def peel_all(kernel: Kernel) -> int:
    """Peel every loop that can be, the innermost ones first; how many there were."""
    return sum(_peel(body, Affine(body), set()) for body, _ in whole_bodies(kernel))


def _peel(region: Region, affine: Affine, scope: set[Value]) -> int:
    result: list[Operation] = []
    count = 0
    for operation in region.operations:
        for inner in () if isinstance(operation, Task) else regions(operation):
            count += _peel(inner, affine, {*scope, *result, *variables(operation)})
        made = peel(operation, affine, {*scope, *result}) if isinstance(operation, For) else None
        count += made is not None
        if made is not None:
            affine.look_into(Region(made))
        result += [operation] if made is None else made
    region.operations = result
    return count


@sv.kernel
def clamped(a: Floats, q: Floats):
    n = a.shape[0]
    for i in range(n):
        q[i] = a[max(i - 1, 0)] + 2.0 * a[min(i + 2, n - 1)] + 4.0 * a[max(min(i - 3, n - 1), 0)]


@sv.kernel
def wrapped(a: Floats, q: Floats):
    n = a.shape[0]
    for i in range(n):
        q[i] = a[(i + 1) % n] + 2.0 * a[(i - 1) % n] + 4.0 * a[(i + n - 2) % n]


@sv.kernel
def decided(a: Floats, q: Floats):
    n = a.shape[0]
    for i in range(n):
        x = 0.0
        if i > 0:
            x += a[i - 1]
        if i < n - 1:
            x += 2.0 * a[i + 1]
        if i == 0 or n - 1 == i:
            x -= 100.0
        if i != 2 and i >= 1 and not n - 2 <= i:
            x += 1000.0
        q[i] = x


@sv.kernel
def windows(a: Floats, q: Floats):
    """Loops inside that add to an index, upwards and downwards."""
    n = a.shape[0]
    for i in range(n):
        t = 0.0
        for d in range(2, -3, -1):
            t += a[max(i + d, 0) % n] * d
        for d in range(-1, 3):
            t = t * 2.0 + a[min(max(i + d, 0), n - 1)]
        q[i] = t


@sv.kernel
def serial(a: Floats, q: Floats):
    """A value is carried from one iteration to the next: the order of iterations stays."""
    n = a.shape[0]
    for _ in range(1):
        x = 1.0
        for i in range(n):
            x = x * 0.5 + a[max(i - 1, 0)] - a[(i + 1) % n]
            q[i] = x


@sv.kernel
def rows(p: Rows, r: Rows):
    n, m = p.shape[0], p.shape[1]
    for i, j in sv.ndrange(n, m):
        r[i, j] = p[(i + n - 1) % n, (j + 1) % m] + p[max(i - 1, 0), min(j + 1, m - 1)]


def floats(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(-99, 99, n).astype(np.float32)


@pytest.mark.parametrize("kernel", [clamped, wrapped, decided, windows, serial])
def test_peeled_loops_do_the_same(kernel: Any) -> None:
    for n in SIZES:
        arguments = {"a": floats(n), "q": np.zeros(n, np.float32)}
        made = outlined(kernel, arguments)
        assert peel_all(made) > 0
        check(lambda: outlined(kernel, arguments), arguments, peel_all)  # noqa: B023


def test_peeled_rows_do_the_same() -> None:
    for n, m in ((1, 1), (1, 9), (3, 2), (4, 17), (2, 0)):
        arguments = {"p": floats(n * m).reshape(n, m), "r": np.zeros((n, m), np.float32)}
        check(lambda: outlined(rows, arguments), arguments, peel_all)  # noqa: B023


def middle(kernel: Kernel) -> For:
    """The loop between the ends: the first one of a parallel loop."""
    return next(each for each in loops_in(kernel.body) if each.hints.parallel and each.hints.unroll is None)


@pytest.mark.parametrize("kernel", [clamped, wrapped, decided])
def test_between_the_ends_nothing_is_asked(kernel: Any) -> None:
    made = outlined(kernel, {"a": floats(9), "q": np.zeros(9, np.float32)})
    assert peel_all(made) == 1
    codes = {each.code for each in walk(middle(made).body) if each.type is None or each.type.kind != "float"}
    assert not codes & {"min", "max", "mod", "lt", "le", "gt", "ge"}


# --- what is no plain sum


def indexed(index: Any, n: int = 40, extent: int = 300, **parameters: int) -> None:
    """Compares q[i] = a[index(i)] with and without peeling."""

    def made() -> Kernel:
        build = Builder(
            Array("a", i32, 1, alone=True), Array("q", i32, 1, alone=True), *(Parameter(name, i32) for name in parameters)
        )
        with build.loop(0, n) as i:
            build.store(build["q"], [i], build.load(build["a"], index(build, i)))
        return build.kernel()

    arguments = {"a": np.arange(extent, dtype=np.int32), "q": np.zeros(n, np.int32), **parameters}
    kernel = made()
    wanted = outcome(kernel, arguments)
    peel_all(kernel)
    verify(kernel)
    assert_same(outcome(kernel, arguments), wanted)


def test_a_modulus_that_is_a_multiple_of_what_is_added() -> None:
    for m in (1, 2, 20, 30):
        indexed(lambda b, i: b.op("mod", b.op("add", i, b["m"]), b.op("mul", b["m"], 2)), m=m)
        indexed(lambda b, i: b.op("mod", b.op("add", i, b.op("mul", b["m"], 2)), b.op("mul", b["m"], 2)), m=m)


def test_a_modulus_with_a_constant() -> None:
    for m in (1, 20, 39):
        indexed(lambda b, i: b.op("mod", b.op("add", b.op("add", i, b["m"]), 2), b.op("add", b["m"], 3)), m=m)
        indexed(lambda b, i: b.op("mod", b.op("add", i, 1), b.op("add", b["m"], 3)), m=m)


def test_a_modulus_that_is_zero_or_negative() -> None:
    for m in (0, -1, -7):
        indexed(lambda b, i: b.op("max", b.op("mod", b.op("add", i, 1), b["m"]), 0), m=m)


def test_a_narrow_cast_wraps_between_the_ends() -> None:
    def narrow(b: Builder, i: Any) -> Operation:
        return b.cast(b.cast(i, i8), i32)

    indexed(lambda b, i: b.op("max", b.op("sub", narrow(b, i), 1), 0), n=300)
    indexed(lambda b, i: b.op("min", b.op("max", narrow(b, i), 0), b["m"]), n=300, m=100)


def test_a_narrow_modulus_is_not_what_it_is_computed_from() -> None:
    for m in (20, 300):
        indexed(
            lambda b, i: b.op(
                "max", b.op("mod", b.op("add", i, b["m"]), b.op("add", b.cast(b.cast(b["m"], i8), i32), 3)), 0
            ),
            m=m,
        )


def test_sums_that_wrap_at_the_ends_of_integers() -> None:
    for m in (2**31 - 10, 2**31 - 1, -(2**31), -(2**31) + 5):
        indexed(lambda b, i: b.op("min", b.op("max", b.op("add", i, b["m"]), 0), 299), m=m)
        indexed(lambda b, i: b.op("min", b.op("max", b.op("sub", i, b["m"]), 0), b.op("and", b["m"], 255)), m=m)
        indexed(lambda b, i: b.op("min", b.op("mod", b.op("add", i, b["m"]), b["k"]), 299), m=m, k=200)
        if m > 0:
            indexed(lambda b, i: b.op("min", b.op("mod", b.op("add", i, b["m"]), b["m"]), 299), m=m)


def test_a_bound_that_the_loop_computes_before_it_is_used() -> None:
    for m in (3, 30):
        indexed(lambda b, i: b.op("min", i, b.op("sub", b.op("mul", b["m"], 2), 1)), m=m)


@pytest.mark.parametrize("code", ["lt", "le", "gt", "ge", "eq", "ne"])
@pytest.mark.parametrize("mirrored", [False, True])
def test_every_comparison_near_every_end(code: str, mirrored: bool) -> None:
    for near_end in (False, True):
        for distance in range(-10, 11, 1):

            def made(near_end: bool = near_end, distance: int = distance) -> Kernel:
                build = Builder(Array("q", i32, 1, alone=True), Parameter("n", i32))
                with build.loop(0, build["n"]) as i:
                    bound = build.op("add", build["n"], distance) if near_end else Constant(distance, i32)
                    operands = (bound, i) if mirrored else (i, bound)
                    with build.when(build.op(code, *operands)):
                        build.store(build["q"], [i], 1)
                return build.kernel()

            for n in (0, 1, 5, 12, 30):
                check(made, {"q": np.zeros(n, np.int32), "n": n}, peel_all)


def test_a_condition_in_the_middle_stays() -> None:
    build = Builder(Array("q", i32, 1, alone=True), Parameter("n", i32), Parameter("m", i32))
    with build.loop(0, build["n"]) as i, build.when(build.op("lt", i, build["m"])):
        build.store(build["q"], [i], 1)
    assert peel_all(build.kernel()) == 0


def test_a_loop_that_is_left_is_not_peeled() -> None:
    build = Builder(Array("q", i32, 1, alone=True), Parameter("n", i32))
    with build.loop(0, build["n"]) as i:
        build.store(build["q"], [build.op("max", build.op("sub", i, 1), 0)], 1)
        with build.when(build.op("gt", build.load(build["q"], i), 3)):
            build.void("break")
    assert peel_all(build.kernel()) == 0


def test_what_is_no_index_is_not_worth_it() -> None:
    build = Builder(Array("q", i32, 1, alone=True), Parameter("n", i32))
    with build.loop(0, build["n"]) as i:
        build.store(build["q"], [i], build.op("max", build.op("sub", i, 1), 0))
    assert peel_all(build.kernel()) == 0


def test_loops_with_large_tables_stand_once() -> None:
    @sv.kernel
    def tables(a: Floats, q: Floats):
        for i in range(a.shape[0]):
            table = sv.Vector.zero(sv.f32, 4096)
            table[i] = a[max(i - 1, 0)]
            q[i] = table[i // 2]

    assert peel_all(outlined(tables, {"a": floats(4), "q": floats(4)})) == 0


def test_what_is_copied_in_front_of_a_loop_is_what_it_was() -> None:
    """A bound that is computed in the loop, by an operation that may trap on a processor: by zero, it gives 0."""
    build = Builder(Array("q", i32, 1, alone=True), Parameter("n", i32), Parameter("m", i32))
    with build.loop(0, build["n"]) as i:
        bound = build.op("floordiv", build["n"], build["m"])
        build.store(build["q"], [build.op("min", i, bound)], i)
    assert peel_all(build.kernel()) == 1
    verify(build.kernel())
    q = np.zeros(9, np.int32)
    Interpreter(build.kernel(), {"q": q, "n": 9, "m": 0}).run()
    assert q.tolist() == [8, 0, 0, 0, 0, 0, 0, 0, 0]
    assert not any(isinstance(each, If) for each in walk(build.body))


@sv.kernel
def clipped(a: Floats, q: Floats):
    for i in range(a.shape[0]):
        total = 0.0
        for k in range(max(0, i - 2), min(a.shape[0], i + 3)):
            total += a[k] * (k - i + 3)
        q[i] = total


@sv.kernel
def bands(a: Floats, q: Floats):
    n = a.shape[0]
    for i in range(n):
        total = 0.0
        for k in range(max(0, 2 - i), min(5, n + 2 - i)):
            total += a[i + k - 2] * (k + 1)
        q[i] = total


@sv.kernel
def halves(a: Floats, q: Floats):
    n = a.shape[0]
    for i in range(n):
        total = 0.0
        for k in range(max(0, n // 2 - i), 5):
            total += a[i] * (k + 1)
        q[i] = total


def _split(kernel: Kernel) -> None:
    split_index_sets(kernel, AVX2)


@pytest.mark.parametrize("kernel", [clipped, bands, halves])
def test_bounds_are_constant_between_the_ends(kernel: Any) -> None:
    for n in SIZES:
        arguments = {"a": np.arange(n, dtype="f4"), "q": np.zeros(n, "f4")}
        made = check(lambda: outlined(kernel, arguments), arguments, _split)  # noqa: B023
        lengths = {each.trip_count() for each in loops_in(made.body)}
        assert (5 in lengths) == (kernel is not halves)


@sv.kernel
def wrapping(q: Floats, n: sv.i32):
    for _ in range(1):
        for i in range(n, n + 1):
            for k in range(i - 2, i + 3):
                q[0] += k - i + 1


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_loop_whose_end_wraps_has_no_iterations() -> None:
    for n in (5, (1 << 31) - 3, -(1 << 31) + 1):
        arguments = {"q": np.zeros(1, "f4"), "n": n}
        check(lambda: outlined(wrapping, arguments), arguments, _split)  # noqa: B023
