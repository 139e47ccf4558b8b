"""Atomic operations on places: array elements and variables."""

from __future__ import annotations

import ast
from functools import singledispatch

from samovar.frontend.dispatch import stage
from samovar.frontend.lossy import Keeper, kept, written_place
from samovar.frontend.places import stage_place
from samovar.frontend.rules import SyntaxRule, written
from samovar.frontend.scalars import BITWISE, read
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.complex import Complex, ComplexPlace
from samovar.frontend.staged.matrix import every_index, matrix_of
from samovar.frontend.staged.matrix_indices import Index
from samovar.frontend.staged.matrix_places import MatrixPlace
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.stager import Stager
from samovar.language import is_float


def atomic(code: str) -> SyntaxRule:
    parameters = "x expected desired" if code == "cas" else "x y"
    wanted = "an element, the expected and the new value" if code == "cas" else "an element and a value"

    def apply(stager: Stager, node: ast.Call) -> Staged:
        first, *others = written(stager, node, parameters, f"`atomic_{code}` takes {wanted}")
        place = stage_place(stager, first)
        return atomic_update(place, stager, code, tuple(stage(stager, each) for each in others), node)

    return SyntaxRule(apply)


@singledispatch
def atomic_update(place: Place, stager: Stager, code: str, values: tuple[Staged, ...], node: ast.AST) -> Staged:
    """An atomic operation called by name; returns the old value. Here, for a number."""
    if code in BITWISE and is_float(place.type):
        stager.fail_type(node, f"`atomic_{code}` requires integers, got {place.type.name}")
    local = next(iter(place.locals()), None)
    keeper = Keeper(written_place(node), f"`atomic_{code}` of", local)
    given = tuple(kept(stager, value, place.type, node, keeper) for value in values)
    return Scalar(read(stager, place.update(stager, code, given)))


@atomic_update.register(ComplexPlace)
def update_complex(place: ComplexPlace, stager: Stager, code: str, values: tuple[Staged, ...], node: ast.AST) -> Staged:
    """A sum of each part; returns the old value."""
    if code not in ("add", "sub"):
        stager.fail_type(node, f"`atomic_{code}` is not supported for complex numbers: only sums consist of two atomics")
    numbers = place.given(stager, values[0], node).parts
    pairs = zip(place.parts, numbers, strict=True)
    return Complex(*(atomic_update(part, stager, code, (number,), node) for part, number in pairs))


@atomic_update.register(MatrixPlace)
def update_matrix(place: MatrixPlace, stager: Stager, code: str, values: tuple[Staged, ...], node: ast.AST) -> Staged:
    """An atomic operation on each element; returns the old values."""
    matrices = [None if value.is_number() else place.components(stager, value, node) for value in values]

    def given(at: tuple[Index, ...]) -> tuple[Staged, ...]:
        return tuple(
            value if matrix is None else matrix.entry(stager, at) for value, matrix in zip(values, matrices, strict=True)
        )

    olds = tuple(
        atomic_update(place.part(stager, at, node), stager, code, given(at), node) for at in every_index(place.shape)
    )
    return matrix_of(stager, place.shape, olds, node)
