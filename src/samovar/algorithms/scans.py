"""Prefix sums of whole arrays."""

from __future__ import annotations

from typing import Any

from samovar._native import Ndarray, bf16, disjoint, f16, f32, i32, plain_api_boundary, scan_elements, u1
from samovar.algorithms.operands import described, is_plain, stored


@plain_api_boundary
def prefix_sum(a: Any, out: Any = None, *, exclusive: bool = False) -> Any:
    """The sum of all elements up to each one (before each, with `exclusive=True`), in the same shape and dtype (u1: i32).

    Integers wrap; floats are added in f64 and rounded at the end. The result is stored in `out` if given, which may be `a`
    itself or overlap it.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.f32, 3)
    >>> a.fill(0.5)
    >>> sv.algorithms.prefix_sum(a)
    ndarray([0.5, 1.0, 1.5], dtype=f32, shape=(3,))
    """
    shape, dtype = described(a)
    wanted = i32 if dtype is u1 else dtype
    if out is not None and described(out)[0] != shape:
        raise ValueError(f"prefix_sum: the result has shape {shape}, but `out` has shape {described(out)[0]}")
    work = f32 if wanted in (f16, bf16) else wanted
    if out is not None and is_plain(a, work) and is_plain(out, work) and disjoint((out,), (a,)):
        scan_elements(a, out, exclusive)
        return out
    result = Ndarray(work, shape)
    result.copy_from(a)
    scan_elements(result, result, exclusive)
    if out is not None:
        return stored(out, result)
    return result if work is wanted else stored(Ndarray(wanted, shape), result)


class PrefixSumExecutor:
    """In-place inclusive prefix sums of arrays of one length.

    >>> import samovar as sv
    >>> f = sv.field(sv.i32, 3)
    >>> f.fill(2)
    >>> sv.algorithms.PrefixSumExecutor(3).run(f)
    >>> f.to_numpy().tolist()
    [2, 4, 6]
    """

    __module__ = "samovar.algorithms"  # its public name, in pickles and messages

    __slots__ = ("length",)

    def __init__(self, length: int) -> None:
        self.length = length

    def run(self, a: Any) -> None:
        """Replace each element by the sum of all elements up to it."""
        shape, _ = described(a)
        if shape != (self.length,):
            raise ValueError(f"this PrefixSumExecutor is for {self.length} elements, but the array has shape {shape}")
        prefix_sum(a, a)
