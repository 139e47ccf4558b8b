"""Reductions as `func`s, for the top level of a kernel."""

from __future__ import annotations

import samovar as sv
from samovar.algorithms.dtype_limits import greatest_of, least_of

# Annotations of kernels are not types.
# mypy: disable-error-code="valid-type, no-untyped-def, no-any-return, no-untyped-call, assignment"


@sv.func
def reduce_add(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """Store the sum of `arr[0:n]` in `out[0]`.

    >>> import samovar as sv
    >>> a, out, scratch = sv.field(sv.i32, 3), sv.field(sv.i32, 3), sv.field(sv.u32, 8)
    >>> a.fill(2)
    >>> @sv.kernel
    ... def run(n: sv.i32):
    ...     sv.algorithms.reduce_add(a, out, scratch, n, sv.i32, 1)
    >>> run(3)
    >>> out[0]
    6
    """
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, but `n` is {n}"
    assert out.shape[0] > 0, "`out` is empty"
    for _ in range(1):
        out[0] = dtype(0)
    for i in range(n):
        out[0] += dtype(arr[i])


@sv.func
def reduce_min(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """Store the minimum of `arr[0:n]` in `out[0]`.

    >>> import samovar as sv
    >>> a, out, scratch = sv.field(sv.i32, 3), sv.field(sv.i32, 3), sv.field(sv.u32, 8)
    >>> a.fill(2)
    >>> @sv.kernel
    ... def run(n: sv.i32):
    ...     sv.algorithms.reduce_min(a, out, scratch, n, sv.i32, 1)
    >>> run(3)
    >>> out[0]
    2
    """
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, but `n` is {n}"
    assert out.shape[0] > 0, "`out` is empty"
    for _ in range(1):
        out[0] = dtype(sv.static(greatest_of(dtype)))
    for i in range(n):
        sv.atomic_min(out[0], dtype(arr[i]))


@sv.func
def reduce_max(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """Store the maximum of `arr[0:n]` in `out[0]`.

    >>> import samovar as sv
    >>> a, out, scratch = sv.field(sv.i32, 3), sv.field(sv.i32, 3), sv.field(sv.u32, 8)
    >>> a.fill(2)
    >>> @sv.kernel
    ... def run(n: sv.i32):
    ...     sv.algorithms.reduce_max(a, out, scratch, n, sv.i32, 1)
    >>> run(3)
    >>> out[0]
    2
    """
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, but `n` is {n}"
    assert out.shape[0] > 0, "`out` is empty"
    for _ in range(1):
        out[0] = dtype(sv.static(least_of(dtype)))
    for i in range(n):
        sv.atomic_max(out[0], dtype(arr[i]))


@sv.func
def reduce_by_key_add(
    keys_in: sv.template(), values_in: sv.template(), keys_out: sv.template(), values_out: sv.template(),
    num_runs: sv.template(), scratch: sv.template(), n: sv.i32, value_dtype: sv.template(), log256_max_n: sv.template(),
):  # fmt: skip
    """For each run of equal keys, store the key in `keys_out` and the sum of values in `values_out`; `num_runs[0]` counts.

    >>> import samovar as sv
    >>> keys, values, keys_out, sums, count = (sv.field(sv.i32, 3) for _ in range(5))
    >>> scratch = sv.field(sv.u32, 8)
    >>> values.fill(5)
    >>> @sv.kernel
    ... def run(n: sv.i32):
    ...     sv.algorithms.reduce_by_key_add(keys, values, keys_out, sums, count, scratch, n, sv.i32, 1)
    >>> run(3)
    >>> sums[0], count[0]
    (15, 1)
    """
    assert 0 <= n <= keys_in.shape[0], f"`keys_in` has {keys_in.shape[0]} elements, but `n` is {n}"
    assert n <= values_in.shape[0], f"`values_in` has {values_in.shape[0]} elements, but `n` is {n}"
    assert num_runs.shape[0] > 0, "`num_runs` is empty"
    for _ in range(1):
        runs = 0
        total = value_dtype(0)
        for i in range(n):
            if i == 0 or keys_in[i] != keys_in[max(i - 1, 0)]:
                assert runs < keys_out.shape[0], f"`keys_out` has {keys_out.shape[0]} elements, too few for all runs"
                assert runs < values_out.shape[0], f"`values_out` has {values_out.shape[0]} elements, too few for all runs"
                keys_out[runs] = keys_in[i]
                runs += 1
                total = value_dtype(0)
            total += value_dtype(values_in[i])
            values_out[runs - 1] = total
        num_runs[0] = runs
