"""What a tape must save, found without a look at everything: compared with a search through all, and by counting work."""

import random
import sys
from itertools import product

import numpy as np
import pytest

import samovar as sv
from samovar._native import memory_extent
from samovar.runtime.launch_plan import Place, may_overlap
from samovar.runtime.memory_index import MemoryIndex
from samovar.runtime.needs import Needs

SHAPE = (3, 2, 4)


@pytest.mark.parametrize("seed", range(20))
def test_ranges_are_found_by_overlap(seed):
    chance = random.Random(seed)
    index, known = MemoryIndex(), {}
    for key in range(200):
        begin = chance.randrange(1000)
        known[key] = begin, begin + chance.choice((0, 1, 3, 8, 64, 500))
        index.add(key, *known[key], key)
        if chance.random() < 0.4:
            gone = chance.choice(list(known))
            index.remove(gone)
            del known[gone]
        low = chance.randrange(1000)
        high = low + chance.choice((0, 1, 5, 100, 1000))
        expected = {key for key, (begin, end) in known.items() if max(low, begin) < min(high, end)}
        found = index.overlapping(low, high)
        assert sorted(found) == sorted(expected)
    assert set(index.values()) == known.keys()


def elements(view, numbers, box):
    """The numbers of the elements in a box of a view."""
    fixed = dict(zip(*box, strict=True))
    return set(np.asarray(numbers[tuple(fixed.get(axis, slice(None)) for axis in range(view.ndim))]).reshape(-1).tolist())


@pytest.mark.parametrize("seed", range(60))
def test_what_is_needed_is_taken_before_it_is_overwritten(seed):
    """Every element that is needed is saved before the first write to it, and none that is neither needed nor written."""
    chance = random.Random(seed)
    memory = np.zeros(SHAPE)
    numbers = np.arange(memory.size).reshape(SHAPE)
    views = [(memory, numbers)]
    if seed % 2:
        views += [(each.T, ids.T) for each, ids in views]
        views += [(memory[1:], numbers[1:]), (memory[:, :, 1], numbers[:, :, 1]), (memory[0, 0], numbers[0, 0])]
    needs, needed = Needs(), set()

    def some_box(view):
        axes = tuple(axis for axis in range(view.ndim) if view.shape[axis] > 1 and chance.random() < 0.5)
        return axes, tuple(chance.randrange(view.shape[axis]) for axis in axes)

    for _ in range(60):
        view, ids = chance.choice(views)
        box = some_box(view)
        if chance.random() < 0.6:
            needs.add(Place(view), box, "f")
            needed |= elements(view, ids, box)
        else:
            written = elements(view, ids, box)
            saved = set()
            for place, common, _ in needs.taken(Place(view), box):
                of = next(ids for each, ids in views if Place(each).key == place.key)
                saved |= elements(place.array, of, common)
            assert needed & written <= saved
            if len(views) == 1:
                assert saved <= written
            needed -= saved


def test_a_need_that_another_one_covers_is_saved_once():
    place, needs = Place(np.zeros(SHAPE)), Needs()
    for t, j in product(range(3), range(4)):
        needs.add(place, ((0, 2), (t, j)), "one")
    needs.add(place, ((0,), (1,)), "row")
    needs.add(place, ((0, 1), (1, 0)), "covered")
    assert [(box, by) for _, box, by in needs.taken(place, ((0,), (1,)))] == [(((0,), (1,)), "row")]
    assert len(list(needs.taken(place, ((), ())))) == 8
    assert not list(needs.taken(place, ((), ())))


@pytest.mark.parametrize("seed", range(40))
def test_views_that_meet_are_known_to(seed):
    chance = random.Random(seed)
    memory = np.zeros(720, np.uint8)
    numbers = np.arange(720)

    def some_view():
        shape = chance.choice(((720,), (6, 120), (12, 10, 6), (20, 3, 2, 6)))
        index = tuple(
            chance.choice((slice(None), slice(None, None, -1), slice(each % 2, None, 2), slice(1, 2), slice(each // 2)))
            for each in (chance.randrange(extent) for extent in shape)
        )
        return memory.reshape(shape)[index], numbers.reshape(shape)[index]

    for _ in range(100):
        (one, its), (other, others) = some_view(), some_view()
        if one.size and other.size and np.intersect1d(its, others).size:
            assert may_overlap(memory_extent(one), memory_extent(other))
            assert Place(one).meets(Place(other))


def test_vectors_that_are_placed_together_are_apart():
    memory = np.zeros((5, 3, 7))
    position, velocity, mass = memory[:, :, :3], memory[:, :, 3:6], memory[:, :, 6]
    for one, other in ((position, velocity), (velocity, mass), (mass, position)):
        assert not Place(one).meets(Place(other))
        assert not Place(other).meets(Place(one))
    assert Place(memory[:, :, 2:4]).meets(Place(velocity))


def work(function):
    """The number of bytecode instructions that a function takes, with all that it calls."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def by_time(n, x):
    @sv.kernel
    def step(t: sv.i32):
        for i in range(4):
            x[t + 1, i] = sv.sin(x[t, i])

    return step


def by_column(n, x):
    rows = x.reshape(4, n + 1)

    @sv.kernel
    def step(t: sv.i32):
        for i in range(4):
            rows[i, t + 1] = sv.sin(rows[i, t])

    return step


def by_view(n, x):
    @sv.kernel
    def move(new: sv.types.NDArray[sv.f64, 1], old: sv.types.NDArray[sv.f64, 1]):
        for i in range(4):
            new[i] = sv.sin(old[i])

    memory = [sv.ndarray(sv.f64, 4, needs_grad=True) for _ in range(n + 1)]
    return lambda t: move(memory[t + 1], memory[t])


def by_row_of_numpy(n, x):
    memory = np.zeros((n + 1, 4))

    @sv.kernel
    def move(row: sv.types.NDArray[sv.f64, 1], t: sv.i32):
        for i in range(4):
            x[t + 1, i] = row[i] * x[t, i]

    return lambda t: move(memory[t], t)


@pytest.mark.parametrize("program", [by_time, by_column, by_view, by_row_of_numpy])
def test_a_launch_costs_as_much_as_the_one_before(program):
    n = 120
    x = sv.ndarray(sv.f64, (n + 1, 4), needs_grad=True)
    step = program(n, x)
    with sv.ad.Tape():
        step(0)
    with sv.ad.Tape():
        costs = [work(lambda t=t: step(t)) for t in range(n)]
    early, late = sum(costs[10:30]), sum(costs[-20:])
    assert early > 0
    assert late < 1.2 * early
