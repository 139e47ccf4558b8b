"""Selection as a `func`, for the top level of a kernel."""

from __future__ import annotations

import samovar as sv

# Annotations of kernels are not types.
# mypy: disable-error-code="valid-type, no-untyped-def, no-any-return, no-untyped-call, assignment"


@sv.func
def select(
    arr: sv.template(), flags: sv.template(), out: sv.template(), num_out: sv.template(), scratch: sv.template(), n: sv.i32,
    log256_max_n: sv.template(),
):  # fmt: skip
    """Copy the elements of `arr[0:n]` whose flag is not 0 to the front of `out`, and their number to `num_out[0]`.

    >>> import samovar as sv
    >>> a, flags, out, count = (sv.field(sv.i32, 3) for _ in range(4))
    >>> scratch = sv.field(sv.u32, 8)
    >>> a[1], flags[1] = 7, 1
    >>> @sv.kernel
    ... def run(n: sv.i32):
    ...     sv.algorithms.select(a, flags, out, count, scratch, n, 1)
    >>> run(3)
    >>> out[0], count[0]
    (7, 1)
    """
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, but `n` is {n}"
    assert n <= flags.shape[0], f"`flags` has {flags.shape[0]} elements, but `n` is {n}"
    assert num_out.shape[0] > 0, "`num_out` is empty"
    for _ in range(1):
        count = 0
        for i in range(n):
            if flags[i] != 0:
                assert count < out.shape[0], f"`out` has {out.shape[0]} elements, but more are selected"
                out[count] = arr[i]
                count += 1
        num_out[0] = count
