"""What LLVM's vectoriser is told when the target is known: which vector variants of libm it may call, and the length of
vectors in plain loops. Variants are our own (`_native/vector_math`) where there are some, else those of glibc's libmvec.

Works on rendered text. A variant must never be offered to a processor without its instructions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from samovar.backends.llvm.target import Target
from samovar.ir import OPCODES

_VECTOR_DECLARATION = re.compile(r"^declare (float|double) @(\w+)\((.*)\) #3$", re.MULTILINE)


_ELEMENTS = re.compile(r'!"samovar\.elements", i32 (\d+)')


def for_target(text: str, target: Target) -> str:
    """A rendered text with all that depends on the target."""
    text = with_vector_variants(text, target.feature_map(), target.vector_math)
    return with_vector_length(text, target.vector_bits())


def with_vector_length(text: str, bits: int) -> str:
    """Give plain loops (see `samovar.passes.plain_loops`) vectors of so many bits; 0 leaves them to LLVM."""
    if not bits:
        return text
    text = _ELEMENTS.sub(lambda match: f'!"llvm.loop.vectorize.width", i32 {bits // int(match[1])}', text)
    return text.replace('!"samovar.interleave"', '!"llvm.loop.interleave.count"')


#: The functions that have variants of our own: their time does not depend on the arguments, as that of libmvec's does.
OWN = frozenset(("cos", "exp", "log", "pow", "sin", "tanh"))


@dataclass(frozen=True)
class _InstructionSet:
    """Vectors of so many bits: the letter of the vector ABI, and the name in our own functions if there are some."""

    letter: str
    bits: int
    own: str = ""

    def variant(self, symbol: str, name: str, mangled: str, level: int) -> str | None:
        """What to call for so many numbers at a time; None if there is nothing."""
        if self.own and name in OWN:
            return f"sv_{self.own}_{symbol}"
        return mangled if 0 < _RELEASES.get(name, 0) <= level else None


#: The function of libm → the release of glibc whose libmvec has variants of it: 22 is 2.22.
_RELEASES = {row.library: row.vector for row in OPCODES.values() if row.library}


def _instruction_sets(features: dict[str, bool]) -> list[_InstructionSet]:
    found = [_InstructionSet("b", 128)]
    if features.get("avx2") and features.get("fma"):
        found.append(_InstructionSet("d", 256, "avx2"))
    if features.get("avx512f") and features.get("avx512dq"):
        found.append(_InstructionSet("e", 512, "avx512"))
    return found


def with_vector_variants(text: str, features: dict[str, bool], level: int) -> str:
    """Give the functions of libm in a module their vector variants. `level` is the release of glibc, 0 without libmvec."""
    if " #3\n" not in text:
        return text
    instruction_sets = _instruction_sets(features)
    groups: list[str] = []
    used: list[str] = []

    def declare(match: re.Match[str]) -> str:
        kind, symbol, parameters = match.groups()
        name = symbol[:-1] if kind == "float" else symbol
        count = parameters.count(",") + 1
        bits = 32 if kind == "float" else 64
        lines, mappings = [], []
        for each in instruction_sets:
            lanes = each.bits // bits
            mangled = f"_ZGV{each.letter}N{lanes}{'v' * count}_{symbol}"
            variant = each.variant(symbol, name, mangled, level)
            if variant is None:
                continue
            vector = f"<{lanes} x {kind}>"
            lines.append(f"declare {vector} @{variant}({', '.join([vector] * count)}) #2")
            mappings.append(f"{mangled}({variant})")
            used.append(f"ptr @{variant}")
        if not lines:
            return match.group(0)
        group = f"#{100 + len(groups)}"
        groups.append(
            f"attributes {group} = {{ nounwind nonlazybind willreturn memory(none)"
            f' "vector-function-abi-variant"="{",".join(mappings)}" }}'
        )
        return "\n".join([*lines, f"declare {kind} @{symbol}({parameters}) {group}"])

    text = _VECTOR_DECLARATION.sub(declare, text)
    if not used:
        return text
    # Kept alive until the vectoriser has run.
    kept = f'@llvm.compiler.used = appending global [{len(used)} x ptr] [{", ".join(used)}], section "llvm.metadata"'
    return "\n".join([text, kept, *groups, ""])
