"""The kernels of ufuncs: each function makes one for a function of numbers, which it captures.

Inputs are a tuple of arrays, in the shape of the result; those of a single number, of which `alone` says, are 0-D. They are
converted to the types that the function takes while they are read.
"""

from __future__ import annotations

import samovar as sv

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def result(function: Any, types: Any) -> Any:
    """The function of single numbers."""

    def of_numbers(inputs):  # type: ignore[no-untyped-def]
        return function(*[sv.cast(x[None], t) for x, t in zip(inputs, types)])  # noqa: B905 - compiled

    return of_numbers


def apply(function: Any, types: Any, alone: Any) -> Any:
    """Each element of the result."""

    def elementwise(out, inputs):  # type: ignore[no-untyped-def]
        for at in sv.grouped(out):
            values = [sv.cast(x[None], t) if one else sv.cast(x[at], t) for x, t, one in zip(inputs, types, alone)]  # noqa: B905
            out[at] = sv.cast(function(*values), out.dtype)

    return elementwise


def apply_where(function: Any, types: Any, alone: Any) -> Any:
    """The elements of the result for which a condition holds."""

    def elementwise_where(out, where, inputs):  # type: ignore[no-untyped-def]
        for at in sv.grouped(out):
            if where[at]:
                values = [sv.cast(x[None], t) if one else sv.cast(x[at], t) for x, t, one in zip(inputs, types, alone)]  # noqa: B905
                out[at] = sv.cast(function(*values), out.dtype)

    return elementwise_where


def reduce(function: Any) -> Any:
    """A reduction of the last dimension into the start values in `out`."""

    def reduction(out, a):  # type: ignore[no-untyped-def]
        for at in sv.grouped(out):
            total = out[at]
            for k in range(a.shape[a.ndim - 1]):
                total = sv.cast(function(total, sv.cast(a[at, k], out.dtype)), out.dtype)
            out[at] = total

    return reduction


def reduce_where(function: Any) -> Any:
    """The same of the elements for which a condition holds."""

    def reduction_where(out, where, a):  # type: ignore[no-untyped-def]
        for at in sv.grouped(out):
            total = out[at]
            for k in range(a.shape[a.ndim - 1]):
                if where[at, k]:
                    total = sv.cast(function(total, sv.cast(a[at, k], out.dtype)), out.dtype)
            out[at] = total

    return reduction_where


def accumulate(function: Any) -> Any:
    """All intermediate results of a reduction of the last dimension; `first` is the part of `out` for its first element."""

    def accumulation(first, out, a):  # type: ignore[no-untyped-def]
        for at in sv.grouped(first):
            total = sv.cast(a[at, 0], out.dtype)
            out[at, 0] = total
            for k in range(1, a.shape[a.ndim - 1]):
                total = sv.cast(function(total, sv.cast(a[at, k], out.dtype)), out.dtype)
                out[at, k] = total

    return accumulation


def update_at(function: Any) -> Any:
    """Updates of the elements at some positions, in order."""

    def updates(out, positions, values):  # type: ignore[no-untyped-def]
        for k in range(positions.shape[0]):
            at = positions[k]
            out[at] = sv.cast(function(out[at], sv.cast(values[k], out.dtype)), out.dtype)

    return updates


def apply_to_parts(function: Any) -> Any:
    """A function of parts of arrays, for each element of the loop dimensions."""

    def by_parts(lines, inputs, outputs):  # type: ignore[no-untyped-def]
        for at in sv.grouped(lines):
            function(*[x[at] for x in inputs], *[x[at] for x in outputs])

    return by_parts
