"""Everyday kernels compute what Python computes: with all rewrites and with none, on one thread and on two."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

import samovar as sv
from samovar.language import SWITCHES

from .everyday_loops import Program, at_random, selection

#: Programs of a stress run, in so many parts.
MANY, PARTS = 4000, 20
#: Programs of a usual run beside those in which all choices meet.
MORE = 40
#: A kernel that takes longer to compile, in seconds, is worth a look.
LONG = 1.0


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    yield
    sv.reset()


def check(program: Program) -> float:
    """Run a program in all ways; gives how long it took to compile, at most."""
    expected = {length: program.expected(program.arguments(length)) for length in program.lengths}
    longest = 0.0
    for without in ("", " ".join(SWITCHES)):
        for threads in (1, 2):
            sv.init(without=without, num_threads=threads, fast_math=program.fast_math)
            run = program.kernel(program.lengths[-1])
            for length in program.lengths:
                given = program.arguments(length)
                begin = time.perf_counter()
                found = run(given)
                longest = max(longest, time.perf_counter() - begin)
                for one, other in zip(found, expected[length], strict=True):
                    told = f"length {length}, threads {threads}, without {without!r}\n{program.text}"
                    np.testing.assert_allclose(one, other, rtol=program.tolerance, atol=50 * program.tolerance, err_msg=told)
    return longest


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
    print("\n".join(slow))
