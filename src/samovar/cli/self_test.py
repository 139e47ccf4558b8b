"""The kernel that `samovar doctor` compiles and runs: a parallel loop, a branch and a sum."""

# mypy: disable-error-code="attr-defined, index, no-untyped-def, misc, untyped-decorator, type-arg, valid-type"
from __future__ import annotations

import samovar as sv

SIZE = 1000


@sv.kernel
def KERNEL(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    total = 0
    for i in a:
        if i % 3 == 0:
            a[i] = a[i] * 2 + 1
        total += a[i]
    return total


def given() -> sv.Ndarray:
    """Return its argument."""
    array = sv.ndarray(sv.i32, SIZE)
    for number in range(SIZE):
        array[number] = number
    return array


def expected() -> tuple[list[int], int]:
    """Return the expected result, computed in Python."""
    values = [number * 2 + 1 if number % 3 == 0 else number for number in range(SIZE)]
    return values, sum(values)
