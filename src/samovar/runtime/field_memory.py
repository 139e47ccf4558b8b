"""The memory of fields, with a margin before and after it if the option `field_margin` asks for one."""

from __future__ import annotations

from samovar._native import Ndarray, as_ndarray, u8
from samovar.language import options_in_force

#: What margins are multiples of, so that fields stay aligned.
LINE = 64


def field_memory(size: int) -> Ndarray:
    """Zeroed memory of a size in bytes, with a margin before and after it that nothing else uses."""
    margin = -(-options_in_force().field_margin // LINE) * LINE
    return Ndarray(u8, size) if margin == 0 else as_ndarray(Ndarray(u8, size + 2 * margin)[margin : margin + size], False)
