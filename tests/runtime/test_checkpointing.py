"""Time loops with checkpoints: the steps that are recomputed, and the states that are kept."""

import tracemalloc
from functools import cache

import numpy as np
import pytest

import samovar as sv
from samovar.runtime.checkpointing import advance, bytes_of

SIZE = 50_000


@cache
def fewest(steps, states):
    """The fewest steps that have to be advanced to reverse `steps` with `states`, by trying all splits."""
    if steps == 1:
        return 0
    if states == 1:
        return steps * (steps - 1) // 2
    return min(k + fewest(steps - k, states - 1) + fewest(k, states) for k in range(1, steps))


def advanced(steps, states):
    total = 0
    while steps > 1:
        middle = advance(steps, states)
        assert 1 <= middle < steps
        total += middle + advanced(steps - middle, max(states - 1, 1))
        steps = middle
    return total


@pytest.mark.parametrize("states", [1, 2, 3, 4, 7])
def test_the_schedule_is_optimal(states):
    for steps in range(1, 60):
        assert advanced(steps, states) == fewest(steps, states)


def program():
    x, loss = sv.ndarray(sv.f64, SIZE, needs_grad=True), sv.ndarray(sv.f64, (), needs_grad=True)
    counts = []

    @sv.kernel
    def move(t: sv.f64):
        for i in x:
            x[i] = sv.sin(x[i]) + 0.1 * t

    @sv.kernel
    def total():
        for i in x:
            loss[None] += x[i] ** 2

    def step(t):
        counts.append(t)
        move(t)

    return x, loss, counts, step, total


@pytest.mark.parametrize(("memory", "states"), [(None, 6), (8 * SIZE, 1), ("0.8 MB", 2), (40 * SIZE + 7, 5), ("1 GB", 2500)])
def test_steps_and_states(memory, states):
    n = 40
    x, loss, counts, step, total = program()
    start = np.linspace(0, 2, SIZE)
    x.from_numpy(start)
    with sv.ad.Tape(loss):
        for t in range(n):
            step(t)
        total()
    expected = x.grad.to_numpy().copy()
    x.from_numpy(start)
    counts.clear()
    tracemalloc.start()
    with sv.ad.Tape(loss):
        sv.ad.checkpointed(step, n, memory=memory)
        total()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(x.grad.to_numpy(), expected)
    assert len(counts) == 2 * n + fewest(n, states)
    # Beside the states: what the tape puts back at the end, and what one recorded step overwrites.
    assert peak < 8 * SIZE * (min(states, n) + 4.5)


def test_less_than_a_state_is_an_error():
    _, loss, _, step, _ = program()
    tape = sv.ad.Tape(loss)
    with pytest.raises(sv.SamovarRuntimeError, match="less than one state of the loop, which takes 400000 bytes"), tape:
        sv.ad.checkpointed(step, 3, memory="1 kB")


def test_sizes():
    assert [bytes_of(each) for each in (12, "64 MB", "1.5 KiB", "3 B")] == [12, 64 << 20, 1536, 3]
    for wrong in ("MB", 1.5, True, "x MB"):
        with pytest.raises(sv.SamovarTypeError, match="number of bytes"):
            bytes_of(wrong)


@pytest.mark.parametrize("count", [1, 3])
def test_views_that_overlap_are_put_back(count):
    """The steps write a part of an array, and then all of it, or a part that lies in the other one."""
    weights = np.arange(1.0, 5.0)
    x, loss = sv.ndarray(sv.f64, 4, needs_grad=True), sv.ndarray(sv.f64, (), needs_grad=True)
    x.fill(2)

    @sv.kernel
    def scale(w: sv.types.NDArray[sv.f64, 1]):
        for j in w:
            w[j] = 2 * w[j]

    @sv.kernel
    def move(w: sv.types.NDArray[sv.f64, 1]):
        for j in x:
            x[j] = x[j] * w[j]

    @sv.kernel
    def total():
        for j in x:
            loss[None] += x[j]

    def step(_):
        for part in (weights[:count], weights[count - 1 :], weights):
            scale(part)
        move(weights)

    with sv.ad.Tape(loss):
        sv.ad.checkpointed(step, 3)
        total()
    by = np.array([4.0] * 4)
    by[count - 1] = 8
    np.testing.assert_allclose(x.grad.to_numpy(), by ** (1 + 2 + 3) * np.arange(1.0, 5.0) ** 3)
