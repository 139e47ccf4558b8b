"""Loops in lanes: every size, mask, stride and jump comes out as it does one iteration at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import samovar as sv
from ir_builder import Builder
from passes.loops.rewriting import AVX2, AVX512, SIZES, assert_same, check, outcome, outlined, vectorize
from samovar._native import i32
from samovar.ir import Array, If, Kernel, LocalArray, Machine, Operation, Parameter, VectorOperation, While, verify, walk
from samovar.passes import outline
from samovar.passes.legalize import legalize
from samovar.passes.loops.vectorize import is_long

Floats = sv.types.NDArray[sv.f32, 1]
Rows = sv.types.NDArray[sv.f32, 2]
Doubles = sv.types.NDArray[sv.f64, 1]
Integers = sv.types.NDArray[sv.i32, 1]
Bytes = sv.types.NDArray[sv.u8, 1]
Shorts = sv.types.NDArray[sv.i16, 1]


def floats(n: int, seed: int = 0) -> np.ndarray:
    """Numbers that are added exactly, with what is special among them."""
    found = np.random.default_rng(seed).integers(-9, 9, n).astype(np.float32)
    found[::7], found[3::11], found[5::13] = -0.0, np.nan, np.inf
    return found


def small(n: int, top: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, top, n).astype(np.int32)


@sv.kernel
def chosen(a: Floats, q: Floats):
    for i in range(q.shape[0]):
        if a[i] > 0.0:
            q[i] = a[i] * 2.0
        elif a[i] < -4.0:
            q[i] = -a[i]


@sv.kernel
def repeated(a: Floats, q: Floats):
    for i in range(q.shape[0]):
        x = 0.0
        n = 0
        while x < a[i] and n < 20:
            x += 1.5
            n += 1
        q[i] = x + n


@sv.kernel
def neighbors_of_narrow(a: Floats, q: Floats):
    """Lanes are neighbors, but not what 8 bits are left of."""
    for i in range(q.shape[0]):
        x = 0.0
        n = 0
        while x < a[sv.cast(sv.cast(i + 200, sv.u8), sv.i32)] and n < 9:
            x += 1.0
            n += 1
        q[i] = x


@sv.kernel
def left(a: Floats, q: Floats, m: sv.i32):
    for i in range(q.shape[0]):
        found = -1
        for k in range(m):
            if a[k] > a[i]:
                found = k
                break
            if a[k] == a[i]:
                continue
            found -= 1
        q[i] = found


@sv.kernel
def triangular(a: Floats, q: Floats, m: sv.i32):
    for i in range(q.shape[0]):
        up = 0.0
        down = 0.0
        both = 0.0
        for k in range(i % 7, m):
            up += a[k]
        for k in range(m, i % 5, -2):
            down = down * 0.5 + k
        for k in range(i % 3, i % 11, 2):
            both += k
        q[i] = up + down + both


@sv.kernel
def begun_later(a: Floats, q: Floats, m: sv.i32):
    """A variable that is read in one loop only, which lanes begin and leave one by one."""
    for i in range(q.shape[0]):
        count = 0
        x = 1.0
        for k in range(i % 9, m):
            x = x * 2.0 + a[k]
            count += 1
            if x > 100.0:
                break
        q[i] = count


@sv.kernel
def nested(a: Floats, q: Floats, m: sv.i32):
    for i in range(q.shape[0]):
        total = 0.0
        for k in range(m):
            if k > i:
                break
            j = 0
            while j < k:
                j += 1
                if a[j] < 0.0:
                    continue
                if j > 5:
                    break
                total += 1.0
            if a[k] > 3.0:
                continue
            total += 0.5
        q[i] = total


@sv.kernel
def skipped(a: Floats, q: Floats):
    for i in range(q.shape[0]):
        if a[i] < 0.0:
            continue
        q[i] = 1.0
        if a[i] > 4.0:
            q[i] = 2.0
            continue
        n = 0
        while n < 3:
            n += 1
        q[i] += n


@sv.kernel
def strided(a: Floats, q: Rows, p: Rows):
    for i in range(q.shape[0]):
        if a[i] > -5.0:
            q[i, 0] = a[2 * i] + p[i, 2]
            q[i, 1] = a[q.shape[0] - i] - p[i, 1]
            p[i, 0] = a[i // 2]


@sv.kernel
def gathered_and_scattered(a: Floats, k: Integers, q: Floats):
    for i in range(q.shape[0]):
        if a[i] > -3.0:
            q[i] += a[k[i]]
            sv.atomic_add(q[0], 1.0)


@sv.kernel
def looked_up(a: Floats, m: Rows, d: Doubles, k: Integers, q: Floats):
    for i in range(q.shape[0]):
        j = k[i]
        x = m[j, 2] + 2.0 * m[j, 3] + 3.0 * m[j, 4] - m[j, 1] + m[j, 2]
        if a[i] > 0.0:
            x += a[j + 1] - a[j]
        y = d[j + 1] * 0.5
        q[i] = x + sv.f32(d[j] + y - d[j + 3])


@sv.kernel
def looked_up_by_some(a: Floats, b: Floats, k: Integers, q: Floats):
    for i in range(q.shape[0]):
        j = k[i]
        x = a[j]
        if x > 3.0:
            x += b[j]
        else:
            x -= b[j - 1]
        if j == a.shape[0] - 1:
            continue
        q[i] = x + a[j + 1]


@sv.kernel
def changed_between(k: Integers, q: Floats):
    for i in range(k.shape[0]):
        j = k[i]
        x = q[j]
        q[j + 1] = x + 1.0
        q[j] = q[j + 1] * 2.0


@sv.kernel
def with_tables(a: Floats, k: Integers, q: Floats):
    for i in range(q.shape[0]):
        table = sv.Vector([0.0, 1.0, 2.0, 3.0])
        if a[i] > 0.0:
            table[k[i] % 4] += a[i]
        for j in range(k[i] % 3):
            table[j] -= 1.0
            table[k[j] % 4] = j
        q[i] = table[0] + 2.0 * table[1] - table[2] * table[3]


@sv.kernel
def wrapping(k: Integers, o: Integers):
    for i in range(o.shape[0]):
        x = k[i] * 1664525 + 1013904223
        n = 0
        while n < k[i] % 4:
            x = x * 1664525 + (x >> 3)
            n += 1
        o[i] = x // max(k[i] % 3, 1) + x % 7


@sv.kernel
def divided(k: Integers, o: Integers):
    """Lanes that are not there divide by what is not there either."""
    for i in range(o.shape[0]):
        if k[i] > 2:
            o[i] = 100 // k[i] + 100 % k[i]
        n = 0
        while n * k[i] < 20 and k[i] > 0:
            o[i] += 30 // (k[i] + n)
            n += 1


@sv.kernel
def short_types(b: Bytes, s: Shorts):
    for i in range(b.shape[0]):
        n = 0
        while n < b[i] % 5:
            n += 1
        b[i] += sv.u8(n * 50)
        if s[i] > 0:
            s[i] = sv.i16(s[i] * 300 + n)


@sv.kernel
def uniform(a: Floats, q: Floats, m: sv.i32):
    for i in range(q.shape[0]):
        x = a[m]
        if m > 2:
            for k in range(m):
                x += a[k]
                if k == 3:
                    break
        else:
            if a[i] > 0.0:
                x = -0.0
        if a[i] > a[m]:
            x -= a[m + 1]
        q[i] = x


@sv.kernel
def nobody_there(a: Floats, q: Floats, m: sv.i32):
    """What no lane wants is out of bounds, and a loop that no lane is in would not end."""
    for i in range(q.shape[0]):
        x = 0.0
        if a[i] > 1000.0:
            x += a[m + 10000]
            q[m + 10000] += 1.0
        if a[i] > 2000.0:
            n = m
            while n != 7:
                n -= 1
                x += a[n]
        q[i] = x + 1.0


@sv.kernel
def two_axes(p: Rows, q: Rows, m: sv.i32):
    for i, j in sv.ndrange(q.shape[0], q.shape[1]):
        x = p[i, 0]
        for k in range(m):
            if k >= j:
                break
            x = x * 0.5 + p[i, k]
        q[i, j] = x


@sv.kernel
def wide(a: Doubles, k: Integers):
    for i in range(a.shape[0]):
        x = a[i]
        n = 0
        while n < k[i] % 6:
            x = x * -1.0
            n += 1
        a[i] = x


@sv.kernel
def local_halves(k: Integers, q: Floats):
    for i in range(q.shape[0]):
        state = 0
        last = 0.0
        for j in range(k[i] % 5):
            if j % 2 == 0:
                last = j
            else:
                state += 1
        q[i] = last * 10.0 + state


@sv.kernel
def at_home(a: Floats, q: Floats):
    """`f` is of one branch alone; `last` comes from another branch or an iteration before, `seen` from a jump before."""
    for i in range(q.shape[0]):
        y = a[i]
        last = 0.5
        n = 0
        while n < 9 and y < 30.0:
            n += 1
            seen = y
            if y > 1.0:
                f = y * 2.0
                if f > 9.0:
                    f -= 3.0
                    if n % 3 == 0:
                        y += 2.0
                        continue
                    f += seen
                y = f + last
            else:
                last = y
                y += 2.5
            last += seen
        q[i] = y + last + n


@sv.kernel
def long_condition(a: Floats, q: Floats, m: sv.i32):
    for i in range(q.shape[0]):
        y = a[i]
        n = 0
        while n < m and (
            ((((((((y + 1.0) * y - 2.0) * y + 3.0) * y - 4.0) * y + 5.0) * y - 6.0) * y + 7.0) * y - a[n]) * y < 9.0
            and ((((((((y - 1.0) * y - 2.0) * y - 3.0) * y - 4.0) * y - 5.0) * y - 6.0) * y - 7.0) * y - a[n]) * y < 99.0
        ):
            y += 1.0
            n += 1
        q[i] = y + n


@sv.kernel
def long_alternative(a: Floats, q: Floats, m: sv.i32):
    for i in range(q.shape[0]):
        y = a[i]
        n = 0
        while (
            n < m
            or (((((y + 1.0) * y - 2.0) * y + 3.0) * y - 4.0) * y + 5.0) * y - 6.0
            < (((((y - 1.0) * y - 3.0) * y + 5.0) * y - 4.0) * y + 6.0) * y - a[0] * y - 9.0
        ):
            y += 1.0
            n += 1
        q[i] = y + n


Case = tuple[Any, Callable[[int], dict[str, Any]]]
CASES: dict[str, Case] = {
    "chosen": (chosen, lambda n: {"a": floats(n), "q": floats(n, 2)}),
    "repeated": (repeated, lambda n: {"a": floats(n), "q": np.zeros(n, "f4")}),
    "neighbors_of_narrow": (neighbors_of_narrow, lambda n: {"a": floats(256), "q": np.zeros(n, "f4")}),
    "left": (left, lambda n: {"a": floats(max(n, 12)), "q": np.zeros(n, "f4"), "m": 12}),
    "triangular": (triangular, lambda n: {"a": floats(12), "q": np.zeros(n, "f4"), "m": 9}),
    "begun_later": (begun_later, lambda n: {"a": small(20, 3).astype("f4"), "q": np.zeros(n, "f4"), "m": 17}),
    "nested": (nested, lambda n: {"a": floats(20, 3), "q": np.zeros(n, "f4"), "m": 9}),
    "skipped": (skipped, lambda n: {"a": floats(n), "q": np.zeros(n, "f4")}),
    "strided": (strided, lambda n: {"a": floats(2 * n + 1), "q": floats(2 * n).reshape(n, 2), "p": np.ones((n, 3), "f4")}),
    "gathered": (
        gathered_and_scattered,
        lambda n: {"a": small(n, 9).astype("f4") - 5, "k": small(n, max(n, 1)), "q": np.zeros(max(n, 1), "f4")[:n]},
    ),
    "looked_up": (
        looked_up,
        lambda n: {
            "a": floats(n + 2), "m": small(5 * n, 9).reshape(n, 5).astype("f4"), "d": floats(n + 4, 3).astype("f8"),
            "k": small(n, max(n, 1)), "q": np.zeros(n, "f4"),
        },
    ),
    "looked_up_by_some": (
        looked_up_by_some,
        lambda n: {
            "a": np.where(np.arange(n) < 2, 9, -9).astype("f4"), "b": floats(max(n - 1, 2)), "k": small(n, max(n, 1)),
            "q": np.zeros(n, "f4"),
        },
    ),
    "changed_between": (
        changed_between,
        lambda n: {"k": 2 * np.random.default_rng(n).permutation(n).astype("i4"), "q": floats(2 * n)},
    ),
    "with_tables": (with_tables, lambda n: {"a": floats(n), "k": small(max(n, 4), 99), "q": np.zeros(n, "f4")}),
    "wrapping": (wrapping, lambda n: {"k": small(n, 2**31 - 1), "o": np.zeros(n, "i4")}),
    "divided": (divided, lambda n: {"k": small(n, 9), "o": np.zeros(n, "i4")}),
    "short_types": (short_types, lambda n: {"b": small(n, 256).astype("u1"), "s": small(n, 2**15).astype("i2") - 9}),
    "uniform": (uniform, lambda n: {"a": floats(max(n, 9)), "q": np.zeros(n, "f4"), "m": 6}),
    "uniform, short": (uniform, lambda n: {"a": floats(max(n, 9)), "q": np.zeros(n, "f4"), "m": 1}),
    "nobody_there": (nobody_there, lambda n: {"a": small(n, 9).astype("f4"), "q": np.zeros(n, "f4"), "m": 5}),
    "two_axes": (two_axes, lambda n: {"p": floats(21).reshape(3, 7), "q": np.zeros((3, n), "f4"), "m": 6}),
    "wide": (wide, lambda n: {"a": floats(n).astype("f8"), "k": small(n, 99)}),
    "at_home": (at_home, lambda n: {"a": floats(n), "q": np.zeros(n, "f4")}),
    "long_condition": (long_condition, lambda n: {"a": floats(max(n, 9)), "q": np.zeros(n, "f4"), "m": 6}),
    "long_alternative": (long_alternative, lambda n: {"a": floats(n + 1), "q": np.zeros(n, "f4"), "m": 3}),
    "local_halves": (local_halves, lambda n: {"k": small(n, 99), "q": np.zeros(n, "f4")}),
}


def vector_operations(kernel: Kernel) -> list[VectorOperation]:
    return [each for each in walk(kernel.body) if isinstance(each, VectorOperation)]


@pytest.mark.parametrize(("machine", "width"), [(AVX2, 8), (AVX512, 32)], ids=["avx2", "avx512"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_lanes_do_what_iterations_do(case: str, machine: Machine, width: int) -> None:
    kernel, make = CASES[case]
    for n in SIZES if width == 8 else (0, 1, 31, 32, 33, 70):
        arguments = make(n)
        made = check(lambda: outlined(kernel, arguments), arguments, vectorize(machine, width))  # noqa: B023
        assert any(each.width == width for each in vector_operations(made))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_legal_operations_of_lanes_do_the_same(case: str) -> None:
    kernel, make = CASES[case]
    arguments = make(19)
    check(
        lambda: outlined(kernel, arguments), arguments, vectorize(AVX2, 8), lambda made: legalize(made, fast_math=False)
    )


def test_a_loop_of_vectors_is_entered_by_whole_vectors_and_what_is_left_over() -> None:
    made = outlined(*with_arguments("chosen", 20))
    vectorize(AVX2, 8)(made)
    stores = [each for each in vector_operations(made) if each.code == "store"]
    assert len(stores) == 4  # two sides, in whole vectors and in the rest
    assert all(each.mask is not None for each in stores)


def test_a_local_of_one_branch_is_blended_by_conditions_of_that_branch() -> None:
    made = outlined(*with_arguments("at_home", 20))
    vectorize(AVX2, 8)(made)
    values = [each.operands[0] for each in walk(made.body) if each.code == "store_local" and each.payload.name == "f"]
    assert [value.code for value in values if isinstance(value, Operation)] == 2 * ["mul", "select", "select"]


def branches_in_heads(kernel: Kernel) -> list[If]:
    loops = [each for each in walk(kernel.body) if isinstance(each, While)]
    return [each for loop in loops for each in walk(loop.head) if isinstance(each, If)]


def test_what_ends_a_loop_is_not_passed_by() -> None:
    made = outlined(*with_arguments("long_condition", 20))
    assert any(is_long(each.then) for each in branches_in_heads(made))
    vectorize(AVX2, 8)(made)
    assert not branches_in_heads(made)


def test_what_keeps_a_loop_running_is_passed_by() -> None:
    made = outlined(*with_arguments("long_alternative", 20))
    vectorize(AVX2, 8)(made)
    assert branches_in_heads(made)


def with_arguments(case: str, n: int) -> tuple[Any, dict[str, Any]]:
    kernel, make = CASES[case]
    return kernel, make(n)


def test_neighbors_are_touched_together_and_strides_are_told() -> None:
    made = outlined(*with_arguments("strided", 20))
    vectorize(AVX2, 8)(made)
    steps = {(each.payload.name, each.code, each.step) for each in vector_operations(made) if each.code in ("load", "store")}
    assert steps >= {("a", "load", 1), ("a", "load", 2), ("a", "load", -1), ("p", "load", 3), ("q", "store", 2)}


def test_adjacent_elements_are_gathered_at_once() -> None:
    def runs(case: str) -> list[tuple[str, int, int]]:
        made = outlined(*with_arguments(case, 20))
        vectorize(AVX2, 8)(made)
        loads = [each for each in vector_operations(made) if each.code == "load" and any(at.width for at in each.operands)]
        return [(each.payload.name, each.width, each.step) for each in loads[: len(loads) // 2]]

    assert runs("looked_up") == [("m", 32, 4), ("a", 16, 2), ("d", 16, 2), ("d", 8, 1)]
    # Elsewhere, some lanes may not load all of them, or something else is there by then.
    assert runs("looked_up_by_some") == [("a", 8, 1), ("b", 8, 1), ("b", 8, 1), ("a", 8, 1)]
    assert {step for _, _, step in runs("changed_between")} == {1}


def test_what_is_the_same_for_all_lanes_is_computed_once() -> None:
    made = outlined(*with_arguments("uniform", 20))
    vectorize(AVX2, 8)(made)
    loads = [each for each in vector_operations(made) if each.code == "load" and not each.width]
    assert loads  # guarded by whether a lane is there
    assert all(each.mask is not None and not each.mask.width for each in loads)


def swapping(action: str) -> Kernel:
    """Iterations exchange what is in a table of their own."""
    build = Builder(Array("k", i32, 1, alone=True), Array("o", i32, 1, alone=True), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        table = LocalArray("table", i32, (2,), private=True)
        build.append(Operation("reserve", None, (), table))
        for place in range(2):
            build.store(table, [place], i)
        values = [i, build.load(build["k"], i)] if action == "cas" else [build.load(build["k"], i)]
        with build.when(build.op("gt", build.load(build["k"], i), 3)):
            old = build.change("update", action, table, [1], *values)
            build.store(build["o"], [i], old)
        build.change("update", "add", build["o"], [i], build.op("mul", build.load(table, 1), 1000))
    kernel = build.kernel()
    outline(kernel)
    return kernel


@pytest.mark.parametrize("action", ["exchange", "cas", "floordiv", "add", "min"])
def test_a_table_of_its_own_is_updated_by_each_lane(action: str) -> None:
    for n in (1, 8, 13):
        arguments = {"k": small(n, 9), "o": np.zeros(n, np.int32), "n": n}
        made = check(lambda: swapping(action), arguments, vectorize(AVX2, 8), lambda made: legalize(made, False))
        assert any(each.width for each in vector_operations(made))


def far_apart(action: str) -> Kernel:
    """Updates of elements whose distance is not known, where a condition holds."""
    a = Array("a", i32, 2, alone=True, contiguous=False)
    build = Builder(a, Array("k", i32, 1, alone=True), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,), build.when(build.op("gt", build.load(build["k"], i), 3)):
        build.change("update", action, a, [i, 0], build.load(build["k"], i))
    kernel = build.kernel()
    outline(kernel)
    return kernel


@pytest.mark.parametrize("action", ["add", "mul", "floordiv", "mod", "shl"])
def test_elements_that_lie_anywhere_are_updated_where_the_mask_holds(action: str) -> None:
    for n in (1, 8, 13):
        arguments = {"a": np.full((n, 2), 77, np.int32), "k": small(n, 9), "n": n}
        made = far_apart(action)
        wanted = outcome(made, arguments)
        vectorize(AVX2, 8)(made)
        verify(made)
        assert_same(outcome(made, arguments), wanted)
        legalize(made, fast_math=False)
        verify(made)
        touched = [each for each in walk(made.body) if each.code in ("load", "store") and each.payload is made.parameters[0]]
        assert all(isinstance(each, VectorOperation) and each.mask is not None for each in touched)
        assert_same(outcome(made, arguments), wanted)
