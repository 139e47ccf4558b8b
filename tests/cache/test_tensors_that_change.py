"""A member that is declared as `sv.Tensor`: an array, a field, a tensor or nothing in its place, read or not, in one process
and between two."""

from __future__ import annotations

from itertools import permutations

import pytest
from changes import Change, check_between_processes, check_in_one_process

PROGRAM = """
import dataclasses
import numpy as np

def filled(tensor, first=1):
    tensor.from_numpy(np.arange(first, first + 12, dtype=np.float32).reshape(3, 4))
    return tensor

made = {
    "array": lambda: filled(sv.ndarray(sv.f32, (3, 4))),
    "field": lambda: filled(sv.field(sv.f32, (3, 4))),
    "turned": lambda: filled(sv.field(sv.f32, (3, 4), order="ji")),
    "tensor": lambda: filled(sv.tensor(sv.f32, (3, 4), backend=sv.Backend.FIELD)),
    "gradient": lambda: filled(sv.tensor(sv.f32, (3, 4), needs_grad=True)),
    "numpy": lambda: np.arange(1, 13, dtype=np.float32).reshape(3, 4),
    "wide": lambda: filled(sv.ndarray(sv.f64, (3, 4))),
    "nothing": lambda: None,
}

@dataclasses.dataclass
class State:
    x: sv.Tensor
    y: sv.Tensor | None = None
    unread: sv.Tensor | None = None

state = State(made["array"](), made["array"](), made["array"]())

@sv.func
def of(tensor, i, j):
    return tensor[i, j] * (1 + i)

@sv.kernel
def k(state: State) -> float:
    s = 0.0
    for i, j in state.x:
        s += of(state.x, i, j)
        if static(state.y is not None):
            s += 100 * state.y[i, j]
    return s
"""
KINDS = "array field turned tensor gradient numpy wide nothing".split()
X, Y = 188.0, 7800.0


def change(member: str, before: str, after: str) -> Change:
    """One kind in the place of another."""
    source = PROGRAM + f'\nstate.{member} = made["{before}"]()\n'
    results = [X + (0.0 if member == "y" and kind == "nothing" else Y) for kind in (before, after)]
    return Change(source, f'state.{member} = made["{after}"]()', *results, "k(state)")


PAIRS = list(permutations(KINDS, 2))
CHANGES = {f"{after} for {before} as {member}": change(member, before, after)
           for member in ("x", "y", "unread") for before, after in PAIRS
           if not (member == "x" and "nothing" in (before, after))}  # fmt: skip


SOME = [name for number, name in enumerate(CHANGES) if number % 13 == 0]


@pytest.mark.parametrize("name", SOME)
def test_another_kind_is_seen_by_the_next_launch(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_another_kind_is_seen_by_another_process(tmp_path):
    check_between_processes(tmp_path, {name: CHANGES[name] for name in SOME[:6]})


@pytest.mark.stress
def test_each_kind_after_each_other(tmp_path):
    for number, change in enumerate(CHANGES.values()):
        check_in_one_process(tmp_path / str(number), change)
    check_between_processes(tmp_path, CHANGES)
