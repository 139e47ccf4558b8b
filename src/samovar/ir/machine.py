"""What those who plan loops have to know of a processor."""

from __future__ import annotations

from dataclasses import dataclass

from samovar._native import DType


@dataclass(frozen=True)
class Machine:
    """A processor: the bits of its vectors (0 without any), how many it holds in registers, whether lanes can be left out by
    masks that cost next to nothing and for elements of any size (`masks`), and the functions of the C library that it
    computes in vectors, each as a name and the bits of its type."""

    vector_bits: int = 0
    registers: int = 16
    masks: bool = False
    functions: frozenset[tuple[str, int]] = frozenset()

    def lanes(self, bits: int) -> int:
        """How many numbers of so many bits a vector holds."""
        return self.vector_bits // max(bits, 8)

    def computes(self, function: str, dtype: DType) -> bool:
        """Whether a function of the C library is computed in vectors."""
        return (function, dtype.bits) in self.functions


#: A processor without vectors.
SCALAR = Machine()
