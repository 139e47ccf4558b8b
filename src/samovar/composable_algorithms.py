"""Algorithms as `func`s, for calls at the top level of a kernel: the part of `sv.algorithms` that composes with other tasks.

Their parameters are those that other libraries give them. Memory to work in (`scratch`) is taken and not needed here;
`log256_max_n`, which bounds how deep a GPU has to go, means nothing.
"""

from __future__ import annotations

from typing import Any

import samovar as sv
from samovar.language import integer_range

# The annotations of kernels are no types.
# mypy: disable-error-code="valid-type, no-untyped-def, no-any-return, no-untyped-call, assignment"

__all__ = [
    "exclusive_scan_add", "exclusive_scan_max", "exclusive_scan_min", "exclusive_scan_scratch_slots", "reduce_add",
    "reduce_by_key_add", "reduce_by_key_scratch_slots", "reduce_max", "reduce_min", "reduce_scratch_slots", "select",
    "select_scratch_slots", "sort", "sort_scratch_slots",
]  # fmt: skip

_DIGITS = 256


def _least(dtype: Any) -> Any:
    return float("-inf") if dtype.kind == "float" else integer_range(dtype)[0]


def _bits(dtype: Any) -> int:
    return int(dtype.bits)


def _kind(dtype: Any) -> str:
    return str(dtype.kind)


def _unsigned(dtype: Any) -> Any:
    return sv.u32 if dtype.bits == 32 else sv.u64


def _greatest(dtype: Any) -> Any:
    return float("inf") if dtype.kind == "float" else integer_range(dtype)[1]


@sv.func
def reduce_add(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """`out[0]` becomes the sum of `arr[0:n]`.

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
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, and `n` is {n}"
    assert out.shape[0] > 0, "`out` has no element"
    for _ in range(1):
        out[0] = dtype(0)
    for i in range(n):
        out[0] += dtype(arr[i])


@sv.func
def reduce_min(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """`out[0]` becomes the least of `arr[0:n]`.

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
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, and `n` is {n}"
    assert out.shape[0] > 0, "`out` has no element"
    for _ in range(1):
        out[0] = dtype(sv.static(_greatest(dtype)))
    for i in range(n):
        sv.atomic_min(out[0], dtype(arr[i]))


@sv.func
def reduce_max(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """`out[0]` becomes the greatest of `arr[0:n]`.

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
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, and `n` is {n}"
    assert out.shape[0] > 0, "`out` has no element"
    for _ in range(1):
        out[0] = dtype(sv.static(_least(dtype)))
    for i in range(n):
        sv.atomic_max(out[0], dtype(arr[i]))


@sv.func
def exclusive_scan_add(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """`out[i]` becomes the sum of `arr[0:i]`.

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
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, and `n` is {n}"
    assert n <= out.shape[0], f"`out` has {out.shape[0]} elements, and `n` is {n}"
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
    """`out[i]` becomes the least of `arr[0:i]`.

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
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, and `n` is {n}"
    assert n <= out.shape[0], f"`out` has {out.shape[0]} elements, and `n` is {n}"
    for _ in range(1):
        least = dtype(sv.static(_greatest(dtype)))
        for i in range(n):
            value = dtype(arr[i])
            out[i] = least
            least = min(least, value)


@sv.func
def exclusive_scan_max(
    arr: sv.template(), out: sv.template(), scratch: sv.template(), n: sv.i32, dtype: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """`out[i]` becomes the greatest of `arr[0:i]`.

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
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, and `n` is {n}"
    assert n <= out.shape[0], f"`out` has {out.shape[0]} elements, and `n` is {n}"
    for _ in range(1):
        greatest = dtype(sv.static(_least(dtype)))
        for i in range(n):
            value = dtype(arr[i])
            out[i] = greatest
            greatest = max(greatest, value)


@sv.func
def select(
    arr: sv.template(), flags: sv.template(), out: sv.template(), num_out: sv.template(), scratch: sv.template(), n: sv.i32,
    log256_max_n: sv.template(),
):  # fmt: skip
    """The elements of `arr[0:n]` whose flag is not 0 move to the front of `out`; `num_out[0]` is how many.

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
    assert 0 <= n <= arr.shape[0], f"`arr` has {arr.shape[0]} elements, and `n` is {n}"
    assert n <= flags.shape[0], f"`flags` has {flags.shape[0]} elements, and `n` is {n}"
    assert num_out.shape[0] > 0, "`num_out` has no element"
    for _ in range(1):
        count = 0
        for i in range(n):
            if flags[i] != 0:
                assert count < out.shape[0], f"`out` has {out.shape[0]} elements, and more are selected"
                out[count] = arr[i]
                count += 1
        num_out[0] = count


@sv.func
def reduce_by_key_add(
    keys_in: sv.template(), values_in: sv.template(), keys_out: sv.template(), values_out: sv.template(),
    num_runs: sv.template(), scratch: sv.template(), n: sv.i32, value_dtype: sv.template(), log256_max_n: sv.template(),
):  # fmt: skip
    """Of each run of equal keys, `keys_out` gets the key and `values_out` the sum of the values; `num_runs[0]` counts.

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
    assert 0 <= n <= keys_in.shape[0], f"`keys_in` has {keys_in.shape[0]} elements, and `n` is {n}"
    assert n <= values_in.shape[0], f"`values_in` has {values_in.shape[0]} elements, and `n` is {n}"
    assert num_runs.shape[0] > 0, "`num_runs` has no element"
    for _ in range(1):
        runs = 0
        total = value_dtype(0)
        for i in range(n):
            if i == 0 or keys_in[i] != keys_in[max(i - 1, 0)]:
                assert runs < keys_out.shape[0], f"`keys_out` has {keys_out.shape[0]} elements, and more runs come"
                assert runs < values_out.shape[0], f"`values_out` has {values_out.shape[0]} elements, and more runs come"
                keys_out[runs] = keys_in[i]
                runs += 1
                total = value_dtype(0)
            total += value_dtype(values_in[i])
            values_out[runs - 1] = total
        num_runs[0] = runs


@sv.func
def _ordered_bits(key, key_dtype: sv.template()):
    """Bits whose order as unsigned numbers is that of the keys."""
    unsigned = sv.static(_unsigned(key_dtype))
    top = unsigned(1) << sv.static(_bits(key_dtype) - 1)
    bits = sv.bit_cast(key_dtype(key), unsigned)
    if sv.static(_kind(key_dtype) == "int"):
        bits ^= top
    if sv.static(_kind(key_dtype) == "float"):
        bits = sv.select((bits & top) != 0, ~bits, bits | top)
    return bits


@sv.func
def _place_by_digit(
    source: sv.template(), target: sv.template(), values: sv.template(), moved: sv.template(), n: sv.i32,
    key_dtype: sv.template(), has_values: sv.template(), shift: sv.template(),
):  # fmt: skip
    """Keys in the order of one digit, those with the same one as they were."""
    for _ in range(1):
        counts = sv.Vector.zero(sv.u32, _DIGITS)
        for i in range(n):
            counts[int((_ordered_bits(source[i], key_dtype) >> shift) & 255)] += 1
        total = sv.u32(0)
        for digit in range(_DIGITS):
            count = counts[digit]
            counts[digit] = total
            total += count
        for i in range(n):
            digit = int((_ordered_bits(source[i], key_dtype) >> shift) & 255)
            place = int(counts[digit])
            counts[digit] += 1
            target[place] = source[i]
            if sv.static(has_values):
                moved[place] = values[i]


@sv.func
def sort(
    keys: sv.template(), tmp_keys: sv.template(), values: sv.template(), tmp_values: sv.template(), scratch: sv.template(),
    n: sv.template(), key_dtype: sv.template(), has_values: sv.template(), end_bit: sv.template(),
    log256_max_n: sv.template(),
):  # fmt: skip
    """Sort `keys[0:n]`, and `values` with them if there are any, by their lowest `end_bit` bits (a multiple of 16). Equal
    keys stay in order. Both `tmp_…` have n elements at least, and are no part of the others.

    >>> import samovar as sv
    >>> keys, spare = sv.field(sv.i32, 3), sv.field(sv.i32, 3)
    >>> scratch = sv.field(sv.u32, 512)
    >>> keys[0], keys[1] = 9, -1
    >>> @sv.kernel
    ... def run():
    ...     sv.algorithms.sort(keys, spare, keys, spare, scratch, 3, sv.i32, False, 32, 1)
    >>> run()
    >>> list(keys)
    [-1, 0, 9]
    """
    sv.static_assert(end_bit % 16 == 0 and 0 < end_bit <= _bits(key_dtype), "`end_bit` is a multiple of 16")
    assert 0 <= n <= keys.shape[0], f"`keys` has {keys.shape[0]} elements, and `n` is {n}"
    assert n <= tmp_keys.shape[0], f"`tmp_keys` has {tmp_keys.shape[0]} elements, and `n` is {n}"
    if sv.static(has_values):
        assert n <= values.shape[0], f"`values` has {values.shape[0]} elements, and `n` is {n}"
        assert n <= tmp_values.shape[0], f"`tmp_values` has {tmp_values.shape[0]} elements, and `n` is {n}"
    for turn in sv.static(range(end_bit // 16)):
        _place_by_digit(keys, tmp_keys, values, tmp_values, n, key_dtype, has_values, 16 * turn)
        _place_by_digit(tmp_keys, keys, tmp_values, values, n, key_dtype, has_values, 16 * turn + 8)


@sv.pyfunc
def reduce_scratch_slots(n, log256_max_n=None):
    """How long `scratch` has to be for a reduction of n elements.

    >>> import samovar as sv
    >>> sv.algorithms.reduce_scratch_slots(1000) > 0
    True
    """
    return n // _DIGITS + n // 65536 + 4


@sv.pyfunc
def exclusive_scan_scratch_slots(n, log256_max_n=None):
    """How long `scratch` has to be for a scan of n elements.

    >>> import samovar as sv
    >>> sv.algorithms.exclusive_scan_scratch_slots(1000) > 0
    True
    """
    return n // _DIGITS + n // 65536 + 4


@sv.pyfunc
def select_scratch_slots(n):
    """How long `scratch` has to be for `select` from n elements.

    >>> import samovar as sv
    >>> sv.algorithms.select_scratch_slots(1000) > 0
    True
    """
    return n + n // _DIGITS + n // 65536 + 4


@sv.pyfunc
def reduce_by_key_scratch_slots(n):
    """How long `scratch` has to be for `reduce_by_key_add` of n elements.

    >>> import samovar as sv
    >>> sv.algorithms.reduce_by_key_scratch_slots(1000) > 0
    True
    """
    return n + n // _DIGITS + n // 65536 + 4


@sv.pyfunc
def sort_scratch_slots(n, log256_max_n=None):
    """How long `scratch` has to be for a sort of n elements.

    >>> import samovar as sv
    >>> sv.algorithms.sort_scratch_slots(1000) > 0
    True
    """
    return (n // _DIGITS + 1) * _DIGITS + n // _DIGITS + 4
