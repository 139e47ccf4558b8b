"""Boxes: which part of an array a launch reads or writes, as a function of its number arguments.

For each dimension of an access: None for all of it, or the index if it is the same in the whole launch, as an affine form of
number arguments.
"""

from __future__ import annotations

from collections.abc import Iterable

from samovar.ir import Affine, AffineForm, Array, Operation, Parameter, Region, indices, memory

#: Σ coefficient × parameter + constant, modulo 2^bits: the residue at or above the minimum.
Index = tuple[tuple[tuple[Parameter, int], ...], int, int, int]
Box = tuple[Index | None, ...]


def boxes(body: Region, accesses: Iterable[Operation]) -> list[tuple[Array, Box, int]]:
    """The boxes of array accesses, each once, with the line of the first access."""
    affine = Affine(body, numbered=False)
    found: dict[tuple[Array, Box], int] = {}
    for access in accesses:
        array = memory(access)
        if isinstance(array, Array):
            place = indices(access)[: array.rank]  # both parts of complex numbers
            found.setdefault((array, tuple(_index(affine.form(each)) for each in place)), int(access.line))
    return [(array, box, line) for (array, box), line in found.items()]


def _index(form: AffineForm) -> Index | None:
    if not form.exact():
        return None
    terms: list[tuple[Parameter, int]] = []
    for symbol, coefficient in form.terms:
        if not isinstance(symbol.identity, Parameter) or symbol.identity.source is None:
            return None
        terms.append((symbol.identity, coefficient))
    return tuple(terms), form.constant, form.bits, form.low
