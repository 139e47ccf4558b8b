"""Operations on whole structures (`samovar.backends.llvm.interleaving`): operands keep their sides, lines their places."""

from __future__ import annotations

from collections.abc import Iterator

import llvmlite.binding as llvm
import numpy as np
import pytest
from samovar.backends.llvm.refining import refined

import samovar as sv

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


@sv.kernel
def subtracted(p: f32_2, r: f32_1, q: f32_2, a: sv.f32, b: sv.f32, c: sv.f32):
    for i in range(r.shape[0]):
        q[i, 0] = p[i, 0] - a * r[i]
        q[i, 1] = b * r[i] - p[i, 1]
        q[i, 2] = p[i, 2] - c * r[i]


def test_a_difference_keeps_its_sides() -> None:
    sv.init(fast_math=False)
    for size in (0, 1, 7, 8, 16, 33, 300):
        p, r = (np.random.default_rng(size).integers(-99, 99, size * n).astype(np.float32) for n in (3, 1))
        p, q = p.reshape(size, 3), np.zeros((size, 3), np.float32)
        subtracted(p, r, q, 1.5, 2.5, 3.5)
        assert np.array_equal(q, np.stack([p[:, 0] - 1.5 * r, 2.5 * r - p[:, 1], p[:, 2] - 3.5 * r], 1))


def shuffled(first: str, second: str, width: int, lanes: list[int | None]) -> str:
    numbers = ", ".join("i32 poison" if lane is None else f"i32 {lane}" for lane in lanes)
    kind = f"<{width} x float>"
    return f"shufflevector {kind} {first}, {kind} {second}, <{len(lanes)} x i32> <{numbers}>"


def products_of(known: list[str], more: str) -> str:
    """A loop that stores structures of three products, of a vector that it reads and vectors that are known before it."""
    lines = ["define void @f(ptr %p, ptr %q, i1 %c, <8 x float> %a, <8 x float> %b) {", "entry:"]
    lines += ["  br i1 %c, label %one, label %two", "one:", "  br label %both", "two:", "  br label %both", "both:"]
    lines += [*(f"  %x{number} = {each}" for number, each in enumerate(known)), f"  %more = {more}"]
    lines += ["  br label %loop", "loop:", "  %i = phi i64 [ 0, %both ], [ %next, %loop ]"]
    lines += ["  %at = getelementptr float, ptr %p, i64 %i", "  %r = load <8 x float>, ptr %at"]
    lines += [f"  %e{number} = fmul <8 x float> %x{number}, %r" for number in range(3)]
    lines.append(f"  %j = {shuffled('%e0', '%e1', 8, list(range(16)))}")
    lines.append(f"  %l = {shuffled('%e2', 'poison', 8, [*range(8), *[None] * 8])}")
    order: list[int | None] = [8 * entry + number for number in range(8) for entry in range(3)]
    lines.append(f"  %interleaved.vec = {shuffled('%j', '%l', 16, order)}")
    lines += ["  %to = getelementptr float, ptr %q, i64 %i", "  store <24 x float> %interleaved.vec, ptr %to"]
    lines += ["  store <8 x float> %more, ptr %q", "  %next = add i64 %i, 24", "  %again = icmp ult i64 %next, 240"]
    return "\n".join([*lines, "  br i1 %again, label %loop, label %done", "done:", "  ret void", "}", ""])


def assert_sound(text: str | None) -> None:
    assert text is not None
    llvm.parse_assembly(text, llvm.create_context()).verify()


def test_vectors_that_are_known_before_a_loop_are_put_together_there() -> None:
    found = refined(products_of([f"fadd <8 x float> %{name}, %b" for name in "aab"], "fadd <8 x float> %a, %a"), "", True)
    assert_sound(found)
    assert found is not None
    assert "fmul <24 x float>" in found


def test_nothing_comes_between_the_phis_of_a_block() -> None:
    phi = "phi <8 x float> [ %a, %one ], [ %b, %two ]"
    assert_sound(refined(products_of([phi] * 3, phi), "", True))
