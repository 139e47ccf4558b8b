"""Everyday kernels compute what Python computes: with all rewrites and with none, on one thread and on two."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import samovar as sv
from samovar.language import SWITCHES
from samovar.passes.loops import plan, price

from .everyday_loops import Program, at_random, selection

#: Programs of a stress run, in so many parts.
MANY, PARTS = 4000, 40
#: Programs of a usual run beside those in which all choices meet.
MORE = 40
#: A kernel that takes longer to compile, in seconds, is worth a look.
LONG = 1.0


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    yield
    sv.reset()


#: With all rewrites and with none, on one thread and on two.
WAYS: tuple[dict[str, Any], ...] = tuple(
    {"without": without, "num_threads": threads} for without in ("", " ".join(SWITCHES)) for threads in (1, 2)
)


def check(program: Program, ways: Iterable[dict[str, Any]] = WAYS) -> float:
    """Run a program in some ways; gives how long it took to compile, at most."""
    expected = {length: program.expected(program.arguments(length)) for length in program.lengths}
    longest = 0.0
    for options in ways:
        sv.init(fast_math=program.fast_math, **options)
        run = program.kernel(program.lengths[-1])
        for length in program.lengths:
            given = program.arguments(length)
            begin = time.perf_counter()
            found = run(given)
            longest = max(longest, time.perf_counter() - begin)
            for one, other in zip(found, expected[length], strict=True):
                told = f"length {length}, {options}\n{program.text}"
                np.testing.assert_allclose(one, other, rtol=program.tolerance, atol=50 * program.tolerance, err_msg=told)
    return longest


@contextmanager
def at_any_price() -> Iterator[None]:
    """All that is possible is done to loops, whether it pays or not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "GAIN", float("inf"))
        patch.setattr(price, "UNROLLED", 0)
        yield


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
@pytest.mark.parametrize("program", [*dict.fromkeys((*selection(), *at_random(MORE, seed=0)))], ids=str)
def test_a_kernel_computes_what_python_computes(program: Program) -> None:
    check(program)


@pytest.mark.stress
@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_many_kernels_compute_what_python_computes(part: int) -> None:
    slow = []
    for program in at_random(MANY // PARTS, seed=1 + part):
        seconds = check(program)
        if seconds > LONG:
            slow.append(f"{seconds:.2f} s: {program}")
        check(program, [{"check_out_of_bound": True, "num_threads": 2}])
        with at_any_price():
            check(program, [{"offline_cache": False, "num_threads": 2}])
    print("\n".join(slow))
