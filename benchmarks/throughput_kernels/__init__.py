"""The loops of the throughput benchmark beyond the first eleven, by families; see `throughput_kernels.entry`."""

from throughput_kernels import (
    cells,
    choices,
    conditions,
    dynamic_programming,
    elements,
    filters,
    images,
    integers,
    linear_algebra,
    pairs,
    particles,
    reductions,
    searches,
    serial_nests,
    small_systems,
    sparse_rows,
    statistics,
    stencils,
    structures,
    sums_into_arrays,
    sweeps,
    textbook,
    time_steps,
    triangular,
)
from throughput_kernels.entry import Entry

FAMILIES: dict[str, dict[str, Entry]] = {
    "linear_algebra": linear_algebra.ENTRIES,
    "images": images.ENTRIES,
    "stencils": stencils.ENTRIES,
    "particles": particles.ENTRIES,
    "reductions": reductions.ENTRIES,
    "elements": elements.ENTRIES,
    "integers": integers.ENTRIES,
    "structures": structures.ENTRIES,
    "triangular": triangular.ENTRIES,
    "small_systems": small_systems.ENTRIES,
    "sweeps": sweeps.ENTRIES,
    "dynamic_programming": dynamic_programming.ENTRIES,
    "serial_nests": serial_nests.ENTRIES,
    "sums_into_arrays": sums_into_arrays.ENTRIES,
    "pairs": pairs.ENTRIES,
    "cells": cells.ENTRIES,
    "sparse_rows": sparse_rows.ENTRIES,
    "filters": filters.ENTRIES,
    "conditions": conditions.ENTRIES,
    "searches": searches.ENTRIES,
    "time_steps": time_steps.ENTRIES,
    "statistics": statistics.ENTRIES,
    "textbook": textbook.ENTRIES,
    "choices": choices.ENTRIES,
}

#: All of them by name. A name is also that of the C function, so it must be unique.
ENTRIES: dict[str, Entry] = {name: entry for entries in FAMILIES.values() for name, entry in entries.items()}
if len(ENTRIES) != sum(map(len, FAMILIES.values())):
    raise ValueError("two families have an entry of the same name")
