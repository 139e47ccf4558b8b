"""Exclusive scans as `func`s, for the top level of a kernel."""

from __future__ import annotations

import samovar as sv
from samovar.algorithms.dtype_limits import greatest_of, least_of

# Annotations of kernels are not types.
# mypy: disable-error-code="valid-type, no-untyped-def, no-any-return, assignment"


@sv.func
def exclusive_scan_add(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """Store the sum of `arr[0:i]` in `out[i]`.

    >>> import samovar as sv
    >>> a, out, scratch = sv.field(sv.i32, 3), sv.field(sv.i32, 3), sv.field(sv.u32, 8)
    >>> a.fill(2)
    >>> @sv.kernel
    ... def run(n: sv.i32):
    ...     sv.algorithms.exclusive_scan_add(a, out, scratch, n, sv.i32, 1)
    >>> run(3)
    >>> out[2]
    4
    """
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, but `n` is {n}"
    assert n <= out.shape[0], f"`out` has {out.shape[0]} elements, but `n` is {n}"
    for _ in range(1):
        total = dtype(0)
        for i in range(n):
            value = dtype(arr[i])
            out[i] = total
            total += value


@sv.func
def exclusive_scan_min(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """Store the minimum of `arr[0:i]` in `out[i]`.

    >>> import samovar as sv
    >>> a, out, scratch = sv.field(sv.i32, 3), sv.field(sv.i32, 3), sv.field(sv.u32, 8)
    >>> a.fill(2)
    >>> @sv.kernel
    ... def run(n: sv.i32):
    ...     sv.algorithms.exclusive_scan_min(a, out, scratch, n, sv.i32, 1)
    >>> run(3)
    >>> out[2]
    2
    """
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, but `n` is {n}"
    assert n <= out.shape[0], f"`out` has {out.shape[0]} elements, but `n` is {n}"
    for _ in range(1):
        least = dtype(sv.static(greatest_of(dtype)))
        for i in range(n):
            value = dtype(arr[i])
            out[i] = least
            least = min(least, value)


@sv.func
def exclusive_scan_max(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """Store the maximum of `arr[0:i]` in `out[i]`.

    >>> import samovar as sv
    >>> a, out, scratch = sv.field(sv.i32, 3), sv.field(sv.i32, 3), sv.field(sv.u32, 8)
    >>> a.fill(2)
    >>> @sv.kernel
    ... def run(n: sv.i32):
    ...     sv.algorithms.exclusive_scan_max(a, out, scratch, n, sv.i32, 1)
    >>> run(3)
    >>> out[2]
    2
    """
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, but `n` is {n}"
    assert n <= out.shape[0], f"`out` has {out.shape[0]} elements, but `n` is {n}"
    for _ in range(1):
        greatest = dtype(sv.static(least_of(dtype)))
        for i in range(n):
            value = dtype(arr[i])
            out[i] = greatest
            greatest = max(greatest, value)
