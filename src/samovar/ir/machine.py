"""The properties of a processor that loop planning depends on."""

from __future__ import annotations

from dataclasses import dataclass

from samovar._native import DType


@dataclass(frozen=True)
class Machine:
    """A processor: the bits of its vectors (0 without any), the number of vector registers, whether masked operations are
    nearly free for elements of any size (`masks`), and the functions of the C library that have vector versions, each as a
    name and the bits of its type."""

    vector_bits: int = 0
    registers: int = 16
    masks: bool = False
    functions: frozenset[tuple[str, int]] = frozenset()

    def lanes(self, bits: int) -> int:
        """The number of lanes of a vector with elements of so many bits."""
        return self.vector_bits // max(bits, 8)

    def computes(self, function: str, dtype: DType) -> bool:
        """Whether a function of the C library has a vector version."""
        return (function, dtype.bits) in self.functions


#: A processor without vectors.
SCALAR = Machine()
