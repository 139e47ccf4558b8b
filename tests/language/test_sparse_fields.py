"""Sparse fields against dictionaries: random trees, writes, reads, loops, activation and deactivation."""

from __future__ import annotations

import random

import numpy as np
import pytest

import samovar as sv

from .sparse_programs import Model, build, random_levels

TREES = 12


def kernels_of(x, y, nodes, levels, rank):
    """Kernels on one tree: they see fields and nodes as globals."""
    pairs = enumerate(zip(nodes, levels, strict=True), 1)
    sparse = [(node, place) for place, (node, level) in pairs if level.kind != "dense"]
    A = sv.types.NDArray[sv.i32, 1]
    M = sv.types.NDArray[sv.i32, 2]

    @sv.kernel
    def write(at: M, values: A):
        for k in range(values.shape[0]):
            index = sv.Vector.zero(sv.i32, rank)
            for axis in sv.static(range(rank)):
                index[axis] = at[k, axis]
            x[index] = values[k]

    @sv.kernel
    def add(at: M, values: A):
        for k in range(values.shape[0]):
            index = sv.Vector.zero(sv.i32, rank)
            for axis in sv.static(range(rank)):
                index[axis] = at[k, axis]
            sv.atomic_add(x[index], values[k])

    @sv.kernel
    def double():
        for index in sv.grouped(x):
            y[index] = 2 * x[index] + 1

    @sv.kernel
    def visit(seen: sv.Template, count: A) -> sv.i32:
        total = 0
        for index in sv.grouped(x):
            total += 1
            number = 0
            for axis in sv.static(range(rank)):
                number = number * x.shape[axis] + index[axis]
            count[number] += 1
        return total

    @sv.kernel
    def read(at: M, values: A):
        for k in range(values.shape[0]):
            index = sv.Vector.zero(sv.i32, rank)
            for axis in sv.static(range(rank)):
                index[axis] = at[k, axis]
            values[k] = x[index]

    return sparse, write, add, double, visit, read


def cell_kernels(node, dimensions):
    """Kernels on the cells of one node."""
    M = sv.types.NDArray[sv.i32, 2]
    A = sv.types.NDArray[sv.i32, 1]

    @sv.kernel
    def activate(at: M):
        for k in range(at.shape[0]):
            index = sv.Vector.zero(sv.i32, dimensions)
            for axis in sv.static(range(dimensions)):
                index[axis] = at[k, axis]
            sv.activate(node, index)

    @sv.kernel
    def deactivate(at: M):
        for k in range(at.shape[0]):
            index = sv.Vector.zero(sv.i32, dimensions)
            for axis in sv.static(range(dimensions)):
                index[axis] = at[k, axis]
            sv.deactivate(node, index)

    @sv.kernel
    def active(at: M, found: A):
        for k in range(at.shape[0]):
            index = sv.Vector.zero(sv.i32, dimensions)
            for axis in sv.static(range(dimensions)):
                index[axis] = at[k, axis]
            found[k] = sv.cast(sv.is_active(node, index), sv.i32)

    return activate, deactivate, active


def rows(indices, width):
    return np.array(indices, np.int32).reshape(len(indices), width)


def own_dimensions(levels, place):
    return sorted({axis for level in levels[:place] for axis in level.axes})


@pytest.mark.parametrize("seed", range(TREES))
def test_random_trees_behave_like_dictionaries(seed):
    generator = random.Random(seed)
    levels, rank = random_levels(generator)
    x, y = sv.field(sv.i32), sv.field(sv.i32)
    nodes = build(levels, [x, y])
    model, doubled = Model(levels, rank), {}
    shape = model.shape(len(levels))
    sparse, write, add, double, visit, read = kernels_of(x, y, nodes, levels, rank)
    of_cells = {place: cell_kernels(node, len(own_dimensions(levels, place))) for node, place in sparse[-2:]}

    def some(count):
        return sorted({tuple(generator.randrange(extent) for extent in shape) for _ in range(count)})

    def check():
        elements = model.elements()
        count = np.zeros(max(1, int(np.prod(shape))), np.int32)
        assert visit(None, count) == len(elements)
        assert sorted(map(tuple, np.argwhere(count.reshape(shape) == 1).tolist())) == sorted(elements)
        assert count.max(initial=0) <= 1
        everywhere = list(np.ndindex(*shape))
        found = np.zeros(len(everywhere), np.int32)
        read(rows(everywhere, rank), found)
        assert found.tolist() == [model.values.get(index, 0) for index in everywhere]
        assert np.array_equal(x.to_numpy().ravel(), found)
        for node, place in sparse:
            assert node.active_count == len(model.active[place - 1])

    for _ in range(12):
        step = generator.choice(("write", "write", "add", "double", "python", "activate", "deactivate", "clear", "fill"))
        at = some(generator.randint(1, 12))
        if step in ("write", "add"):
            values = np.array([generator.randint(1, 99) for _ in at], np.int32)
            (write if step == "write" else add)(rows(at, rank), values)
            for index, value in zip(at, values.tolist(), strict=True):
                model.write(index, value + (model.values.get(index, 0) if step == "add" else 0))
        elif step == "double":
            double()
            doubled = {index: 2 * model.values.get(index, 0) + 1 for index in model.elements()}
            assert {index: int(y[index]) for index in doubled} == doubled
        elif step == "python":
            x[at[0]] = 7
            model.write(at[0], 7)
        elif step == "fill":
            x.fill(5)
            model.values.update(dict.fromkeys(model.elements(), 5))
        elif step == "clear":
            node, place = generator.choice(sparse)
            node.deactivate_all()
            for cell in list(model.active[place - 1]):
                model.deactivate(cell, place)
        else:
            place = generator.choice(list(of_cells))
            own = own_dimensions(levels, place)
            cells = sorted({model.cell(index, place) for index in at})
            chosen = rows([[cell[axis] for axis in own] for cell in cells], len(own))
            activate, deactivate, active = of_cells[place]
            (activate if step == "activate" else deactivate)(chosen)
            for cell in cells:
                (model.activate if step == "activate" else model.deactivate)(cell, place)
            found = np.zeros(len(cells), np.int32)
            active(chosen, found)
            assert found.tolist() == [int(cell in model.active[place - 1]) for cell in cells]
        check()
