"""Gradients compared with central differences."""

from __future__ import annotations

from samovar import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

#: By the number of bits of a dtype: a step, and how far apart derivatives may be, relative to the largest.
STEPS = {16: (0.1, 0.2), 32: (1e-2, 2e-2), 64: (1e-6, 1e-5)}


def compare(
    arrays: Sequence[Any],
    gradients: Sequence[Any],
    value: Callable[[], float],
    step: float | None = None,
    tolerance: float | None = None,
) -> float:
    """Compare gradients by arrays with differences of `value`, which computes the function again and leaves all other arrays
    as they were. Return the largest error, or raise one that names the element."""
    worst, allowed, place = 0.0, 1.0, ""
    for number, (array, gradient) in enumerate(zip(arrays, gradients, strict=True)):
        usual = STEPS[array.dtype.bits]
        by, limit = usual[0] if step is None else step, usual[1] if tolerance is None else tolerance
        start = array.to_numpy().copy()
        numbers = [float(each) for each in gradient.reshape(-1)]
        largest = max([1.0, *map(abs, numbers)])
        for element, claimed in enumerate(numbers):
            found = []
            for direction in (by, -by):
                moved = start.copy()
                moved.reshape(-1)[element] += direction
                array.copy_from(moved)
                found.append(value())
            difference = (found[0] - found[1]) / (2 * by)
            error = abs(claimed - difference) / largest
            if not error / limit <= worst / allowed and worst == worst:  # NaN is the worst
                worst, allowed = error, limit
                place = f"element {element} of array {number} is {claimed}, but finite differences give {difference}"
        array.copy_from(start)
    if not worst <= allowed:
        raise errors.SamovarRuntimeError(f"the gradient by {place}")
    return worst
