"""What is changed in code that LLVM has optimised: long sums in two chains, structures of three put together and taken
apart. Each with and without."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from samovar.backends.llvm.refining import refined, switches

import samovar as sv

f32_2 = sv.types.NDArray[sv.f32, 2]
f64_2 = sv.types.NDArray[sv.f64, 2]
i32_2 = sv.types.NDArray[sv.i32, 2]

SIZES = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 100)

with_permutations = pytest.mark.skipif(
    not sv._native.cpu_features().get("avx512vl", False), reason="permutations of two registers are AVX-512"
)


@pytest.fixture(autouse=True)
def defaults() -> Iterator[None]:
    yield
    sv.reset()


def values(rows: int, columns: int, dtype: Any = np.float32, special: bool = True) -> np.ndarray:
    found = np.random.default_rng(rows + columns).random((rows, columns)) * 8 - 4
    found = found.astype(dtype)
    if special and rows > 10 and found.dtype.kind == "f":
        found[3, 1], found[5, 0], found[7, 2], found[9, 1] = math.nan, math.inf, -0.0, -math.inf
    return found


# --- structures


@sv.kernel
def turned(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        q[i, 0] = m[0, 0] * x + m[0, 1] * y + m[0, 2] * z
        q[i, 1] = m[1, 0] * x + m[1, 1] * y + m[1, 2] * z
        q[i, 2] = m[2, 0] * x + m[2, 1] * y + m[2, 2] * z


@sv.kernel
def in_other_orders(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        q[i, 0] = x * m[0, 0] - y
        q[i, 1] = m[1, 1] * y - z
        q[i, 2] = z * m[2, 2] - x


@sv.kernel
def crossed(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        q[i, 0] = p[i, 1] * m[0, 2] - p[i, 2] * m[0, 1]
        q[i, 1] = p[i, 2] * m[0, 0] - p[i, 0] * m[0, 2]
        q[i, 2] = p[i, 0] * m[0, 1] - p[i, 1] * m[0, 0]


@sv.kernel
def of_length_one(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        factor = m[0, 0] / sv.sqrt(p[i, 0] * p[i, 0] + p[i, 1] * p[i, 1] + p[i, 2] * p[i, 2] + 1.0)
        q[i, 0], q[i, 1], q[i, 2] = factor * p[i, 0], factor * p[i, 1], factor * p[i, 2]


@sv.kernel
def moved(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        q[i, 0] = p[i, 0] + m[0, 0]
        q[i, 1] = p[i, 1] + m[0, 1] * p[i, 0]
        q[i, 2] = abs(p[i, 2])


@sv.kernel
def sums(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        q[i, 0] = p[i, 0] + p[i, 1] + p[i, 2]


@sv.kernel
def by_numbers_of_its_own(p: f32_2, m: f32_2, q: f32_2):
    x, y, z = 0.0, 0.0, 0.0
    for i in range(3):
        x += m[i, 0]
        y += m[i, 1]
        z += m[i, 2]
    for i in range(p.shape[0]):
        q[i, 0] = p[i, 0] / x - x / 4.0
        q[i, 1] = p[i, 1] / y - y / 4.0
        q[i, 2] = p[i, 2] / z - z / 4.0


@sv.kernel
def scaled_by_another(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        for _ in range(1):
            q[i, 0] = p[i, 0] + p[i, 0] * m[0, 0]
            q[i, 1] = p[i, 1] + p[i, 1] * m[0, 0]
            q[i, 2] = p[i, 2] + p[i, 2] * m[0, 0]


@sv.kernel
def refined_in_steps(p: f32_2, m: f32_2, q: f32_2):
    for i in range(p.shape[0]):
        for j in range(3):
            refined = p[i, j] * m[0, j]
            for _ in range(4):
                refined += p[i, (j + 1) % 3]
            q[i, j] = refined


STRUCTURES = (
    turned, in_other_orders, crossed, of_length_one, moved, sums, by_numbers_of_its_own, scaled_by_another, refined_in_steps,
)  # fmt: skip


def run_structures(kernel: Any, without: str, threads: int) -> list[np.ndarray]:
    sv.init(fast_math=False, num_threads=threads, without=without)
    results = []
    for size in SIZES:
        p, q = values(size, 3), np.zeros((size, 3), np.float32)
        kernel(p, values(3, 3, special=False), q)
        kernel(p, values(3, 3, special=False), p)  # in place
        results += [q, p]
    return results


@pytest.mark.parametrize("kernel", STRUCTURES, ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_structures_have_the_same_bits(kernel: Any, threads: int) -> None:
    found, expected = (run_structures(kernel, without, threads) for without in ("", "interleaving"))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


@sv.kernel
def five(p: f64_2, q: f64_2):
    for i in range(p.shape[0]):
        total = p[i, 0] * p[i, 4] - p[i, 2]
        q[i, 0], q[i, 1], q[i, 2] = p[i, 1] + total, p[i, 2] * total, p[i, 3]
        q[i, 3], q[i, 4] = total - p[i, 4], p[i, 0] / total


@sv.kernel
def seven(p: i32_2, q: i32_2):
    for i in range(p.shape[0]):
        total = p[i, 0] ^ p[i, 6]
        q[i, 0], q[i, 1], q[i, 2], q[i, 3] = p[i, 1] + total, p[i, 2] * total, p[i, 3], p[i, 5] & total
        q[i, 4], q[i, 5], q[i, 6] = total - p[i, 4], p[i, 0] | total, p[i, 6] - p[i, 5]


@sv.kernel
def nine(p: sv.types.NDArray[sv.math.mat3, 1], q: sv.types.NDArray[sv.math.mat3, 1]):
    for i in range(p.shape[0]):
        a, b, c = p[i][0, :], p[i][1, :], p[i][2, :]
        q[i] = sv.Matrix.rows([b.cross(c), c.cross(a), a.cross(b)]) / a.dot(a)


LONGER = [(five, (5,), np.float64), (seven, (7,), np.int32), (nine, (3, 3), np.float32)]


@pytest.mark.parametrize(("kernel", "shape", "dtype"), LONGER, ids=["five", "seven", "nine"])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_longer_structures_have_the_same_bits(
    kernel: Any, shape: tuple[int, ...], dtype: Any, threads: int
) -> None:
    for size in SIZES:
        p = values(size, math.prod(shape), dtype).reshape(size, *shape)
        results = []
        for without in ("", "interleaving"):
            sv.init(fast_math=False, num_threads=threads, without=without)
            q = np.zeros_like(p)
            kernel(p, q)
            results.append(q)
        np.testing.assert_array_equal(*results)


def loop_of(kernel: Any, without: str, *arguments: np.ndarray) -> str:
    sv.init(without=without)
    return kernel.inspect("asm", *arguments)


@with_permutations
def test_structures_take_fewer_permutations() -> None:
    arguments = values(100, 3), values(3, 3), values(100, 3)

    def permutations(kernel: Any, without: str) -> int:
        lines = loop_of(kernel, without, *arguments).splitlines()
        return sum("vperm" in line and "%zmm" in line for line in lines)

    assert permutations(turned, "") < permutations(turned, "interleaving")
    assert permutations(of_length_one, "") < permutations(of_length_one, "interleaving")


@with_permutations
def test_matrices_of_three_rows_are_moved_whole() -> None:
    """LLVM takes eight numbers together unless it is told otherwise, and moves nine one by one."""
    matrices = values(100, 9).reshape(100, 3, 3)
    lines = loop_of(nine, "", matrices, matrices.copy()).splitlines()
    assert not [line for line in lines if "vextractps" in line]
    assert [line for line in lines if "vperm" in line and "%zmm" in line]


# --- long sums


@sv.kernel
def blur(source: f32_2, target: f32_2):
    for i, j in sv.ndrange((2, source.shape[0] - 2), (2, source.shape[1] - 2)):
        total = 0.0
        for di in range(-2, 3):
            for dj in range(-2, 3):
                total += source[i + di, j + dj]
        target[i, j] = total



@sv.kernel
def written_out(source: f32_2, target: f32_2):
    for i in range(source.shape[0]):
        for j in range(4, source.shape[1] - 4):
            before = source[i, j - 4] + source[i, j - 3] + source[i, j - 2] + source[i, j - 1]
            after = source[i, j + 4] + source[i, j + 3] + source[i, j + 2] + source[i, j + 1]
            target[i, j] = before + source[i, j] + after + 2.0 * before


@pytest.mark.parametrize("kernel", [blur, written_out], ids=["blur", "written_out"])
@pytest.mark.parametrize("threads", [1, 2, 8])
def test_long_sums_are_what_they_are(kernel: Any, threads: int) -> None:
    for size in (0, 1, 5, 9, 10, 16, 20, 21, 36, 40, 70):
        source = values(size, size, special=False)
        if size > 20:
            source[12, 13], source[4, 4] = math.nan, math.inf
        results = []
        for options in ({}, {"without": "chains"}, {"fast_math": False}, {"fast_math": False, "without": "chains"}):
            sv.init(num_threads=threads, **options)
            target = np.zeros_like(source)
            kernel(source, target)
            results.append(target)
        chains, one, ordered, also_ordered = results
        np.testing.assert_allclose(chains, one, rtol=1e-5, atol=1e-4)
        np.testing.assert_array_equal(ordered, also_ordered)


def test_sums_are_in_two_chains_if_they_may_be_reordered() -> None:
    arguments = values(40, 40), values(40, 40)
    assert loop_of(blur, "", *arguments) != loop_of(blur, "chains", *arguments)
    sv.init(fast_math=False)
    ordered = blur.inspect("asm", *arguments)
    sv.init(fast_math=False, without="chains")
    assert blur.inspect("asm", *arguments) == ordered


# --- the text


def additions(count: int, flags: str = "reassoc ") -> str:
    lines = ["define float @f(ptr %p) {"]
    for number in range(count + 1):
        lines += [f"  %a{number} = getelementptr float, ptr %p, i64 {number}", f"  %b{number} = load float, ptr %a{number}"]
    total = "%b0"
    for number in range(count):
        lines.append(f"  %{number + 1} = fadd {flags}float {total}, %b{number + 1}")
        total = f"%{number + 1}"
    return "\n".join([*lines, f"  ret float {total}", "}", ""])


def depth(text: str) -> int:
    """How many additions the last one waits for."""
    waits: dict[str, int] = {}
    for line in text.splitlines():
        name, equals, rest = line.strip().partition(" = fadd ")
        if equals:
            operands = rest.replace(",", "").split()[-2:]
            waits[name] = 1 + max(waits.get(operand, 0) for operand in operands)
            last = name
    return waits[last]


def test_a_name_that_the_program_has_is_not_made_again() -> None:
    text = additions(8).replace("%a3", "%refined.1").replace("%b5", "%refined.3")
    found = refined(text, "", True)
    assert found is not None
    names = [line.split(" = ")[0] for line in found.splitlines() if " = " in line]
    assert len(names) == len(set(names))


def shuffled(first: str, second: str, lanes: list[int]) -> str:
    numbers = ", ".join(f"i32 {lane}" if lane >= 0 else "i32 poison" for lane in lanes)
    return f"shufflevector <16 x double> {first}, <16 x double> {second}, <{len(lanes)} x i32> <{numbers}>"


def of_halves() -> str:
    """Structures of the first halves of vectors that are twice as long as an entry."""
    return f"""define void @f(ptr %p, <16 x float> %x, <16 x float> %y, <16 x float> %z) {{
  %a = fpext <16 x float> %x to <16 x double>
  %b = fpext <16 x float> %y to <16 x double>
  %c = fpext <16 x float> %z to <16 x double>
  %ab = {shuffled("%a", "%b", [*range(8), *range(16, 24)])}
  %c0 = {shuffled("%c", "poison", [*range(8), *[-1] * 8])}
  %interleaved.vec = {shuffled("%ab", "%c0", [lane + 8 * entry for lane in range(8) for entry in range(3)])}
  store <24 x double> %interleaved.vec, ptr %p
  ret void
}}
"""


def test_entries_that_llvm_computes_together_are_no_entries() -> None:
    assert refined(of_halves(), "", True) is None


@pytest.mark.parametrize(("count", "expected"), [(8, 5), (24, 13)])
def test_a_chain_becomes_half_as_long(count: int, expected: int) -> None:
    text = additions(count)
    found = refined(text, "", True)
    assert found is not None
    assert depth(text) == count
    assert depth(found) == expected


def test_a_short_chain_stays() -> None:
    assert refined(additions(6), "", True) is None


@pytest.mark.parametrize("change", [lambda text: text.replace("reassoc ", ""), lambda text: text.replace("%3,", "%2,")])
def test_what_must_keep_its_order_or_is_used_elsewhere_is_left(change: Callable[[str], str]) -> None:
    text = additions(9)
    assert refined(text, "", True) is not None
    assert refined(change(text), "", True) is None
    assert refined(text, "chains", True) is None


def test_a_text_names_what_it_is_left_without() -> None:
    sv.init()
    assert switches(blur.inspect("llvm", values(9, 9), values(9, 9))) == ""
    sv.init(without="chains interleaving")
    assert switches(blur.inspect("llvm", values(9, 9), values(9, 9))) == "chains interleaving"
