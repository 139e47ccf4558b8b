"""Vector variants of libm functions: which exist for a target, and their names.

Variants are our own (`_native/vector_math`) where available, else those of glibc's libmvec. A variant must never be offered
to a processor without its instructions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from samovar._native import DType, f32, f64
from samovar.ir import OPCODES

if TYPE_CHECKING:
    from samovar.backends.llvm.target import Target

#: The functions with variants of our own: unlike libmvec's, their time does not depend on the arguments.
OWN = frozenset(("cos", "exp", "log", "pow", "sin", "tanh"))

#: The libm function → the release of glibc whose libmvec has its variants: 22 is 2.22.
_RELEASES = {row.library: row.vector for row in OPCODES.values() if row.library}

#: The letter of the vector ABI, the bits of a vector, the name in our own functions if there are any, and required features.
_INSTRUCTION_SETS: tuple[tuple[str, int, str, tuple[str, ...]], ...] = (
    ("b", 128, "", ()),
    ("d", 256, "avx2", ("avx2", "fma")),
    ("e", 512, "avx512", ("avx512f", "avx512dq")),
)


@dataclass(frozen=True)
class Variant:
    """A function for a number of lanes: its symbol, and its name in the vector ABI."""

    lanes: int
    symbol: str
    mangled: str

    def declaration(self, kind: str, arity: int) -> str:
        vector = f"<{self.lanes} x {kind}>"
        return f"declare {vector} @{self.symbol}({', '.join([vector] * arity)}) #2"


def variants(name: str, dtype: DType, arity: int, target: Target) -> list[Variant]:
    """The variants of a function, fewer lanes first."""
    found = []
    features, symbol = target.feature_map(), name + "f" if dtype.bits == 32 else name
    for letter, bits, own, needed in _INSTRUCTION_SETS:
        if not all(features.get(feature) for feature in needed):
            continue
        lanes = bits // dtype.bits
        mangled = f"_ZGV{letter}N{lanes}{'v' * arity}_{symbol}"
        if own and name in OWN:
            found.append(Variant(lanes, f"sv_{own}_{symbol}", mangled))
        elif 0 < _RELEASES.get(name, 0) <= target.vector_math:
            found.append(Variant(lanes, mangled, mangled))
    return found


def functions(target: Target) -> frozenset[tuple[str, int]]:
    """All functions with variants for whole vectors, each as a name and the bits of its type."""
    return frozenset((name, dtype.bits) for name in _RELEASES for dtype in (f32, f64) if variants(name, dtype, 1, target))


def mappings(found: list[Variant]) -> str:
    """The attribute that announces variants of a function to LLVM's vectorizer."""
    listed = ",".join(f"{each.mangled}({each.symbol})" for each in found)
    return f'"vector-function-abi-variant"="{listed}"'


