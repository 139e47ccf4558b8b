"""The memory of fields, with a margin before and after it if the option `field_margin` asks for one."""

from __future__ import annotations

from samovar._native import Ndarray, as_ndarray, u8
from samovar.language import options_in_force

#: What margins are multiples of, so that fields stay aligned.
LINE = 64


def field_memory(size: int) -> Ndarray:
    """A number of bytes, zeros. Memory before and after them belongs to nobody else."""
    margin = -(-options_in_force().field_margin // LINE) * LINE
    return Ndarray(u8, size) if margin == 0 else as_ndarray(Ndarray(u8, size + 2 * margin)[margin : margin + size], False)
