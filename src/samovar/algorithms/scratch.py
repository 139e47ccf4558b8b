"""The length of working memory that other frameworks need; here it is not used."""

from __future__ import annotations

import samovar as sv

# Annotations of kernels are not types.
# mypy: disable-error-code="valid-type, no-untyped-def, no-any-return, no-untyped-call, assignment"

_BLOCK = 256


@sv.pyfunc
def reduce_scratch_slots(n, log256_max_n=None):
    """The required length of `scratch` for a reduction of n elements.

    >>> import samovar as sv
    >>> sv.algorithms.reduce_scratch_slots(1000) > 0
    True
    """
    return n // _BLOCK + n // 65536 + 4


@sv.pyfunc
def exclusive_scan_scratch_slots(n, log256_max_n=None):
    """The required length of `scratch` for a scan of n elements.

    >>> import samovar as sv
    >>> sv.algorithms.exclusive_scan_scratch_slots(1000) > 0
    True
    """
    return n // _BLOCK + n // 65536 + 4


@sv.pyfunc
def select_scratch_slots(n):
    """The required length of `scratch` for `select` from n elements.

    >>> import samovar as sv
    >>> sv.algorithms.select_scratch_slots(1000) > 0
    True
    """
    return n + n // _BLOCK + n // 65536 + 4


@sv.pyfunc
def reduce_by_key_scratch_slots(n):
    """The required length of `scratch` for `reduce_by_key_add` of n elements.

    >>> import samovar as sv
    >>> sv.algorithms.reduce_by_key_scratch_slots(1000) > 0
    True
    """
    return n + n // _BLOCK + n // 65536 + 4


@sv.pyfunc
def sort_scratch_slots(n, log256_max_n=None):
    """The required length of `scratch` for a sort of n elements.

    >>> import samovar as sv
    >>> sv.algorithms.sort_scratch_slots(1000) > 0
    True
    """
    return (n // _BLOCK + 1) * _BLOCK + n // _BLOCK + 4
