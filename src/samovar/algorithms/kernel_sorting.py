"""A radix sort as a `func`, for the top level of a kernel."""

from __future__ import annotations

from typing import Any

import samovar as sv

# Annotations of kernels are not types.
# mypy: disable-error-code="valid-type, no-untyped-def, no-any-return, no-untyped-call, assignment"

_DIGITS = 256


def _bits(dtype: Any) -> int:
    return int(dtype.bits)


def _kind(dtype: Any) -> str:
    return str(dtype.kind)


def _unsigned(dtype: Any) -> Any:
    return sv.u32 if dtype.bits == 32 else sv.u64


@sv.func
def _ordered_bits(key, key_dtype: sv.template()):
    """Bits that order as unsigned numbers the way the keys do."""
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
    """One pass of a radix sort: keys ordered by one digit, stably."""
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
    """Sort `keys[0:n]`, and `values` with them if given, by their lowest `end_bit` bits (a multiple of 16). The sort is
    stable. Both `tmp_…` need at least n elements and must not overlap the others.

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
    sv.static_assert(end_bit % 16 == 0 and 0 < end_bit <= _bits(key_dtype), "`end_bit` must be a multiple of 16")
    assert 0 <= n <= keys.shape[0], f"`keys` has {keys.shape[0]} elements, but `n` is {n}"
    assert n <= tmp_keys.shape[0], f"`tmp_keys` has {tmp_keys.shape[0]} elements, but `n` is {n}"
    if sv.static(has_values):
        assert n <= values.shape[0], f"`values` has {values.shape[0]} elements, but `n` is {n}"
        assert n <= tmp_values.shape[0], f"`tmp_values` has {tmp_values.shape[0]} elements, but `n` is {n}"
    for turn in sv.static(range(end_bit // 16)):
        _place_by_digit(keys, tmp_keys, values, tmp_values, n, key_dtype, has_values, 16 * turn)
        _place_by_digit(tmp_keys, keys, tmp_values, values, n, key_dtype, has_values, 16 * turn + 8)
