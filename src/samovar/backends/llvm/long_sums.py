"""Long sums of floats that may be reordered, in two chains that are added at last.

LLVM makes one chain of `a + b + c + …`, in which each addition waits for the one before. A processor works on several
iterations at a time, but with twenty additions it has none left to begin: a blur of 5×5 waits for its sum, not for memory.
Two chains are enough, and each term is still loaded by the addition that needs it.
"""

from __future__ import annotations

import re

from samovar.backends.llvm.refining import LONG, Function

_ADDITION = re.compile(r"fadd ((?:\w+ )*?reassoc (?:\w+ )*)(float|double|<\d+ x (?:float|double)>) ([^,]+), ([^,]+)$")
_WAYS = 2


def split_sums(function: Function) -> bool:
    """Split the long sums of a function; says whether there were any."""
    additions: dict[str, re.Match[str]] = {}
    for name in function.places:
        found = _ADDITION.match(function.definition(name))
        if found is not None:
            additions[name] = found
    if len(additions) < LONG - 1:
        return False
    inner = {
        operand
        for name, found in additions.items()
        for operand in found.groups()[2:]
        if _continues(function, additions, name, operand)
    }
    changed = False
    for name, found in additions.items():
        if name not in inner:
            terms = _terms(function, additions, name)
            if len(terms) >= LONG:
                _write(function, name, found, terms)
                changed = True
    return changed


def _continues(function: Function, additions: dict[str, re.Match[str]], name: str, operand: str) -> bool:
    """Is an operand of an addition one itself, of the same block and for nothing else?"""
    if operand not in additions or function.uses(operand) != 1:
        return False
    return function.blocks[function.places[operand]] == function.blocks[function.places[name]]


def _terms(function: Function, additions: dict[str, re.Match[str]], name: str) -> list[str]:
    """What a chain adds up, in the order in which it does; a chain that is added to another one is a term of that."""
    terms: list[str] = []
    while True:
        first, second = additions[name].groups()[2:]
        for operand, other in ((first, second), (second, first)):
            if _continues(function, additions, name, operand):
                terms.append(other)
                name = operand
                break
        else:
            return [first, second, *reversed(terms)]


def _write(function: Function, name: str, found: re.Match[str], terms: list[str]) -> None:
    flags, kind = found[1], found[2]
    lines, sums = [], []
    for way in range(_WAYS):
        total, *others = terms[way::_WAYS]
        for term in others:
            partial = function.fresh()
            lines.append(f"  {partial} = fadd {flags}{kind} {term}, {total}")
            total = partial
        sums.append(total)
    function.replace(name, f"fadd {flags}{kind} {sums[0]}, {sums[1]}", lines)
