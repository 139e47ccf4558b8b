"""`sv.algorithms`: parallel sums, sorts and selections over whole arrays and fields.

Each function accepts Samovar arrays, fields in any layout and NumPy arrays, and processes elements in C order. Results do
not depend on the number of threads. These functions are called from Python.

`reduce_add`, `exclusive_scan_add`, `select`, `sort` and their variants are `func`s. Call them at the top level of a kernel,
next to other loops. Their parameters are those of other frameworks: `scratch` (working memory) is accepted and not used;
`log256_max_n`, which bounds the depth of a reduction on a GPU, has no effect.

>>> import samovar as sv
>>> a = sv.ndarray(sv.i32, 4)
>>> a.fill(3)
>>> sv.algorithms.prefix_sum(a, exclusive=True).to_numpy().tolist()
[0, 3, 6, 9]
"""

from __future__ import annotations

from typing import TYPE_CHECKING  # not a constant of its own, which jedi takes at its word

from samovar import _lazy_exports

if TYPE_CHECKING:
    from samovar.algorithms.kernel_reductions import reduce_add, reduce_by_key_add, reduce_max, reduce_min
    from samovar.algorithms.kernel_scans import exclusive_scan_add, exclusive_scan_max, exclusive_scan_min
    from samovar.algorithms.kernel_selections import select
    from samovar.algorithms.kernel_sorting import sort
    from samovar.algorithms.reductions import argmax, argmin, max, min, reduce
    from samovar.algorithms.scans import PrefixSumExecutor, prefix_sum
    from samovar.algorithms.scratch import (
        exclusive_scan_scratch_slots,
        reduce_by_key_scratch_slots,
        reduce_scratch_slots,
        select_scratch_slots,
        sort_scratch_slots,
    )
    from samovar.algorithms.selections import compact, unique
    from samovar.algorithms.sorting import parallel_sort
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "kernel_reductions": "reduce_add reduce_by_key_add reduce_max reduce_min",
            "kernel_scans": "exclusive_scan_add exclusive_scan_max exclusive_scan_min",
            "kernel_selections": "select",
            "kernel_sorting": "sort",
            "reductions": "argmax argmin max min reduce",
            "scans": "PrefixSumExecutor prefix_sum",
            "scratch": (
                "exclusive_scan_scratch_slots reduce_by_key_scratch_slots reduce_scratch_slots "
                "select_scratch_slots sort_scratch_slots"
            ),
            "selections": "compact unique",
            "sorting": "parallel_sort",
        },
        (),
    )

__all__ = [
    "PrefixSumExecutor",
    "argmax",
    "argmin",
    "compact",
    "exclusive_scan_add",
    "exclusive_scan_max",
    "exclusive_scan_min",
    "exclusive_scan_scratch_slots",
    "max",
    "min",
    "parallel_sort",
    "prefix_sum",
    "reduce",
    "reduce_add",
    "reduce_by_key_add",
    "reduce_by_key_scratch_slots",
    "reduce_max",
    "reduce_min",
    "reduce_scratch_slots",
    "select",
    "select_scratch_slots",
    "sort",
    "sort_scratch_slots",
    "unique",
]
