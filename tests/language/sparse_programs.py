"""Random programs on sparse fields, and what they do, computed with dictionaries.

A program is a tree of nodes and a list of steps. The model keeps the active cells of each sparse node and the values of
elements, by index.
"""

from __future__ import annotations

import random
from math import prod

import samovar as sv

KINDS = ("dense", "pointer", "bitmasked", "hash")


class Level:
    """A node of a tree with one child: its kind, and the extents of its dimensions."""

    def __init__(self, kind: str, axes: tuple[int, ...], extents: tuple[int, ...]) -> None:
        self.kind = kind
        self.axes = axes
        self.extents = extents


class Model:
    """Sparse fields as dictionaries."""

    def __init__(self, levels: list[Level], rank: int) -> None:
        self.levels = levels
        self.rank = rank
        self.values: dict[tuple[int, ...], int] = {}
        self.active: list[set[tuple[int, ...]]] = [set() for _ in levels]

    def shape(self, levels: int) -> tuple[int, ...]:
        """The shape of a node, in all dimensions."""
        found = [1] * self.rank
        for level in self.levels[:levels]:
            for axis, extent in zip(level.axes, level.extents, strict=True):
                found[axis] *= extent
        return tuple(found)

    def cell(self, index: tuple[int, ...], levels: int) -> tuple[int, ...]:
        """The cell of a node that an element is in."""
        whole, own = self.shape(len(self.levels)), self.shape(levels)
        return tuple(each // (total // extent) for each, total, extent in zip(index, whole, own, strict=True))

    def above(self, cell: tuple[int, ...], levels: int, outer: int) -> tuple[int, ...]:
        """The cell of an outer node that a cell of a node is in."""
        own, other = self.shape(levels), self.shape(outer)
        return tuple(each // (total // extent) for each, total, extent in zip(cell, own, other, strict=True))

    def activate(self, cell: tuple[int, ...], levels: int) -> None:
        for outer in range(1, levels + 1):
            self.active[outer - 1].add(self.above(cell, levels, outer))

    def write(self, index: tuple[int, ...], value: int) -> None:
        self.activate(self.cell(index, len(self.levels)), len(self.levels))
        self.values[index] = value

    def deactivate(self, cell: tuple[int, ...], levels: int) -> None:
        if cell not in self.active[levels - 1]:
            return
        self.active[levels - 1].discard(cell)
        for inner in range(levels + 1, len(self.levels) + 1):
            self.active[inner - 1] = {each for each in self.active[inner - 1] if self.above(each, inner, levels) != cell}
        self.values = {index: value for index, value in self.values.items() if self.cell(index, levels) != cell}

    def is_active(self, index: tuple[int, ...]) -> bool:
        return all(
            level.kind == "dense" or self.cell(index, place) in self.active[place - 1]
            for place, level in enumerate(self.levels, 1)
        )

    def elements(self) -> list[tuple[int, ...]]:
        """The elements that a loop visits."""
        found: list[tuple[int, ...]] = [()]
        for extent in self.shape(len(self.levels)):
            found = [(*index, each) for index in found for each in range(extent)]
        return [index for index in found if self.is_active(index)]


def random_levels(generator: random.Random) -> tuple[list[Level], int]:
    """One to four nodes, one of them sparse, with one to three dimensions."""
    rank = generator.choice((1, 2, 2, 3))
    levels = []
    for _ in range(generator.randint(1, 4)):
        axes = tuple(sorted(generator.sample(range(rank), generator.randint(1, rank))))
        extents = tuple(generator.choice((1, 2, 3, 4, 5)) for _ in axes)
        if prod(level_extent for level in levels for level_extent in level.extents) * prod(extents) <= 4096:
            levels.append(Level(generator.choice(KINDS), axes, extents))
    used = {axis for level in levels for axis in level.axes}
    if used != set(range(rank)):
        levels.append(Level("dense", tuple(sorted(set(range(rank)) - used)), (3,) * (rank - len(used))))
    if all(level.kind == "dense" for level in levels):
        levels[0].kind = "pointer"
    return levels, rank


def build(levels: list[Level], fields: list[sv.Field]) -> list[object]:
    """The nodes of a tree with fields in the innermost one."""
    node: object = sv.root
    nodes = []
    for level in levels:
        node = getattr(node, level.kind)(sv.axes(*level.axes), level.extents)
        nodes.append(node)
    node.place(*fields)  # type: ignore[attr-defined]
    return nodes
