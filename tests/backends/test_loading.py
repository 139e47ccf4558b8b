"""What the linker makes is what the loader takes."""

from __future__ import annotations

import pytest
from test_operations import FLOATS, Machine, kernel_of
from test_partials import scattering

from samovar._native import Image, f32
from samovar.options import Options


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("fast_math", [True, False])
def test_every_math_function_can_be_loaded(name: str, fast_math: bool) -> None:
    parts = Machine(kernel_of(name), Options(fast_math=fast_math)).parts
    Image.from_flat(parts.flat())
    assert fast_math or not any(symbol.startswith("_ZGV") for _, symbol in parts.slots)


def test_runtime_entry_points_can_be_loaded() -> None:
    parts = Machine(scattering(f32, "add", reduce=True)).parts
    assert {"sv_run", "sv_scratch"} <= {symbol for _, symbol in parts.slots}
    Image.from_flat(parts.flat())
