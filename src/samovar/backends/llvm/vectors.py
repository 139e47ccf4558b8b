"""What LLVM's vectoriser is told when the target is known: which vector variants of libm it may call in glibc's libmvec, and
the length of vectors in plain loops.

Works on rendered text. A variant must never be offered to a processor without its instructions.
"""

from __future__ import annotations

import re

from samovar.backends.llvm.refining import switches
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


def with_vector_variants(text: str, features: dict[str, bool], level: int) -> str:
    """Give the functions of libm in a module their vector variants.

    `level` is 0 where there is no libmvec, else a release of glibc as the table of operations has them: 22 is 2.22.
    """
    if not level or " #3\n" not in text:
        return text
    offered = {row.library for row in OPCODES.values() if 0 < row.vector <= level}
    instruction_sets = [("b", 128)]
    if features.get("avx2") and features.get("fma"):
        instruction_sets.append(("d", 256))
    if features.get("avx512f") and features.get("avx512dq"):
        instruction_sets.append(("e", 512))
    groups: list[str] = []
    used: list[str] = []

    def declare(match: re.Match[str]) -> str:
        kind, symbol, parameters = match.groups()
        name = symbol[:-1] if kind == "float" else symbol
        if name not in offered:
            return match.group(0)
        count = parameters.count(",") + 1
        bits = 32 if kind == "float" else 64
        lines, mappings = [], []
        for letter, width in instruction_sets:
            lanes = width // bits
            variant = f"_ZGV{letter}N{lanes}{'v' * count}_{symbol}"
            vector = f"<{lanes} x {kind}>"
            lines.append(f"declare {vector} @{variant}({', '.join([vector] * count)}) #2")
            mappings.append(f"{variant}({variant})")
            used.append(f"ptr @{variant}")
        group = f"#{100 + len(groups)}"
        groups.append(
            f"attributes {group} = {{ nounwind nonlazybind willreturn memory(none)"
            f' "vector-function-abi-variant"="{",".join(mappings)}" }}'
        )
        return "\n".join([*lines, f"declare {kind} @{symbol}({parameters}) {group}"])

    text = _VECTOR_DECLARATION.sub(declare, text)
    if not used:
        return text
    # Vectors wait on the stack while a function is called. Across two cache lines that takes long, and LLVM does not align
    # the stack by itself, because it finds out too late that it has to.
    if "stack" not in switches(text):
        text = text.replace("attributes #5 = { nounwind noinline ", 'attributes #5 = { nounwind noinline "stackrealign" ')
    # Kept alive until the vectoriser has run.
    kept = f'@llvm.compiler.used = appending global [{len(used)} x ptr] [{", ".join(used)}], section "llvm.metadata"'
    return "\n".join([text, kept, *groups, ""])
