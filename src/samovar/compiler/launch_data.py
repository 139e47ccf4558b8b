"""What a launch needs to know of a kernel beside its code: what goes into the argument block, and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from samovar.artifact import Fill
from samovar.ir import Array, Kernel, Layout, MatrixForm, ResultForm


def fills(kernel: Kernel, layout: Layout) -> Iterator[Fill]:
    """What goes into the argument block, in the order of the kernel's parameters."""
    for parameter in kernel.parameters:
        is_array = isinstance(parameter, Array)
        dtype = parameter.dtype if isinstance(parameter, Array) else parameter.type
        assert dtype is not None
        assert parameter.source is not None
        yield Fill(
            parameter.source,
            layout.parameters[parameter],
            dtype,
            parameter.name,
            is_array=is_array,
            strided=isinstance(parameter, Array) and not parameter.contiguous,
            written=isinstance(parameter, Array) and parameter.written,
        )


def result_of(kernel: Kernel, layout: Layout, form: ResultForm) -> tuple[Any, ...] | None:
    """What a launch returns, as an artifact has it: a form with the place of each value in the block."""
    if form is None:
        return None
    if isinstance(form, int):
        return ("scalar", kernel.returns[form].name, layout.results[form])
    if isinstance(form, MatrixForm):
        first = form.numbers[0]
        return ("matrix", form.shape, kernel.returns[first].name, layout.results[first])
    return ("tuple", tuple(result_of(kernel, layout, part) for part in form))
