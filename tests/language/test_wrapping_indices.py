"""Sums of 32 bits as indices: they wrap as numbers do, however far the exact sum is from the array."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from hypothesis_profiles import examples

from .source import define

N = 64
#: What an index is made of: i and j are loop variables, x and y arguments.
TERMS = ("i", "j", "x", "y", "2 * i", "3 * j", "-i", "-j", "-x", "-y", "5 * x", "-3 * y", "x * 1000003")
LIMITS = {"i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1)}

kernels: dict[tuple[str, tuple[str, ...]], object] = {}


def kernel_for(dtype: str, terms: tuple[str, ...]) -> object:
    """A kernel that reads the element that the sum of the terms leads to, where there is one."""
    found = kernels.get((dtype, terms))
    if found is None:
        text = f"""
        @sv.kernel
        def look(a: sv.types.ndarray(), o: sv.types.ndarray(), x: sv.{dtype}, y: sv.{dtype}, c: sv.{dtype}):
            for k in range(o.shape[0]):
                i = sv.{dtype}(k)
                for m in range(o.shape[1]):
                    j = sv.{dtype}(m)
                    place = {written(terms)}
                    if place >= 0 and place < {N}:
                        o[k, m] = a[{written(terms)}]
        """
        found = kernels[dtype, terms] = define(dedent(text), "look")
    return found


def written(terms: tuple[str, ...]) -> str:
    """The sum as a person writes it."""
    return " + ".join(terms).replace("+ -", "- ")


def wrapped(number: int, dtype: str) -> int:
    least, _ = LIMITS[dtype]
    return (number - least) % 2**32 + least


@st.composite
def sums(draw: st.DrawFn) -> tuple[str, tuple[str, ...], int, int, int]:
    dtype = draw(st.sampled_from(("i32", "u32")))
    terms = draw(st.lists(st.sampled_from(TERMS), max_size=3))
    least, greatest = LIMITS[dtype]
    edges = st.sampled_from((least, greatest, 0)).flatmap(lambda edge: st.integers(edge - 5, edge + 5))
    numbers = st.one_of(edges, st.integers(least, greatest)).map(lambda number: max(least, min(greatest, number)))
    x, y = draw(numbers), draw(numbers)
    # The number that leads back into the array.
    sign = draw(st.sampled_from((1, -1)))
    start = draw(st.integers(0, N)) - eval(" + ".join(["0", *terms]), {"i": 0, "j": 0, "x": x, "y": y})
    terms.insert(draw(st.integers(0, len(terms))), "c" if sign > 0 else "-c")
    return dtype, tuple(terms), x, y, wrapped(sign * start, dtype)


@examples("compiled")
@given(sums())
@example(("u32", ("x", "-c"), 1, 0, 2**32 - 1))
@example(("i32", ("x", "-c"), -(2**31), 0, 2**31 - 3))
@example(("i32", ("c", "-j"), 0, 0, -(2**31)))
@example(("i32", ("i", "x", "-c"), -(2**31), 0, 2**31 - 1))
def test_an_index_is_the_number_that_the_sum_is(made: tuple[str, tuple[str, ...], int, int, int]) -> None:
    dtype, terms, x, y, c = made
    a = np.arange(N, dtype=np.int32) * 7 + 1
    found = np.full((3, 5), -1, np.int32)
    kernel_for(dtype, terms)(a, found, x, y, c)
    expected = np.full_like(found, -1)
    for i, j in np.ndindex(expected.shape):
        place = wrapped(eval(" + ".join(terms), {"i": i, "j": j, "x": x, "y": y, "c": c}), dtype)
        if 0 <= place < N:
            expected[i, j] = a[place]
    assert found.tolist() == expected.tolist()
