"""Random parallel loops that update arrays at affine, modular and data-dependent places, against NumPy's unbuffered updates.

The compiler makes an update plain where it can prove that the element belongs to the iteration, sums into one element by
parts, and gives threads copies of small arrays. Here many threads run what it made of random loops, on arrays that sometimes
overlap. All updates of a loop are of one kind, so that their order does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from hypothesis_profiles import examples

from .source import define

N = 6_000
#: Elements of the targets: every place below is in range.
SIZE = 2 * N + 64

UPDATES = {
    "add": ("{0} += {1}", np.add),
    "xor": ("{0} ^= {1}", np.bitwise_xor),
    "or": ("{0} |= {1}", np.bitwise_or),
    "max": ("sv.atomic_max({0}, {1})", np.maximum),
    "min": ("sv.atomic_min({0}, {1})", np.minimum),
    "mul": ("{0} *= {1} | 1", np.multiply),
}
#: Index expressions over i, as text for both sides: `data` is an array of indices below N.
PLACES = (
    *("i", "i + 1", "i + 37", "N - 1 - i", "2 * i", "2 * i + 1", "i // 2", "i % 64", "i % 7", "0", "5", "i * 7 % N"),
    *("i * 2 % N", "data[i]", "data[i] % 16", "data[i] + i", "i & 255", "i | 1", "i ^ 1", "(i + 3) % N", "i - i % 4"),
    *("i >> 3", "3 * i % 1009"),
)
VALUES = ("i", "1", "data[i]", "i * 3 - data[i]", "weight[i]", "weight[i] + i", "weight[data[i]]")
CONDITIONS = ("", "", "if i % 3 == 0:", "if data[i] > 3000:", "if weight[i] < 0:", "if i != 17:")


@dataclass(frozen=True)
class Update:
    target: str
    place: str
    value: str
    condition: str


@dataclass(frozen=True)
class Loop:
    kind: str
    updates: tuple[Update, ...]
    store: Update | None  # a plain store into an array that nothing else in the loop touches


values, conditions = st.sampled_from(VALUES), st.sampled_from(CONDITIONS)
updates = st.builds(Update, st.sampled_from(("x", "y", "z")), st.sampled_from(PLACES), values, conditions)
stores = st.builds(Update, st.just("w"), st.sampled_from(("i", "i + 3", "N - 1 - i", "2 * i")), values, conditions)
loops = st.builds(
    Loop, st.sampled_from(tuple(UPDATES)), st.lists(updates, min_size=1, max_size=4).map(tuple), st.none() | stores
)


def kernel_text(program: list[Loop]) -> str:
    arrays = ", ".join(f"{name}: sv.types.NDArray[sv.i64, 1]" for name in ("x", "y", "z", "w", "weight"))
    lines = ["@sv.kernel", f"def k({arrays}, data: sv.types.NDArray[sv.i32, 1]):"]
    for loop in program:
        lines.append("    for i in range(N):")
        for update in (*loop.updates, *([loop.store] if loop.store else [])):
            place = f"{update.target}[{update.place}]"
            form = "{0} = {1}" if update is loop.store else UPDATES[loop.kind][0]
            indent = "        "
            if update.condition:
                lines.append(indent + update.condition)
                indent += "    "
            lines.append(indent + form.format(place, update.value))
    return "\n".join(lines) + "\n"


def evaluate(text: str, data: np.ndarray, weight: np.ndarray) -> np.ndarray:
    i = np.arange(N, dtype=np.int64)
    return np.broadcast_to(eval(text, {"i": i, "N": N, "data": data.astype(np.int64), "weight": weight}), N)


def run_numpy(program: list[Loop], arrays: dict[str, np.ndarray], data: np.ndarray, weight: np.ndarray) -> None:
    for loop in program:
        for update in (*loop.updates, *([loop.store] if loop.store else [])):
            chosen = np.ones(N, bool)
            if update.condition:
                chosen = evaluate(update.condition[3:-1], data, weight)
            places = evaluate(update.place, data, weight)[chosen]
            values = evaluate(update.value, data, weight)[chosen]
            if update is loop.store:
                arrays[update.target][places] = values
            elif loop.kind == "mul":
                np.multiply.at(arrays[update.target], places, values | 1)
            else:
                UPDATES[loop.kind][1].at(arrays[update.target], places, values)


def make_arrays(sharing: str) -> dict[str, np.ndarray]:
    """The targets: apart, or x, y and z in the same memory in some way; w always apart."""
    memory = np.arange(4 * SIZE + 64) % 1000 + 1
    x, y, z, w = (memory[part * SIZE : (part + 1) * SIZE] for part in range(4))
    if sharing == "same":
        y = x
    elif sharing == "shifted":
        y = memory[5 : SIZE + 5]
    elif sharing == "reversed":
        z = x[::-1]
    elif sharing == "every other":
        y, z = memory[: 2 * SIZE : 2], memory[1 : 2 * SIZE : 2]
    elif sharing == "repeated":
        x = np.lib.stride_tricks.as_strided(memory, (SIZE,), (0,))
    return {"x": x, "y": y, "z": z, "w": w}


DATA = np.random.default_rng(1).integers(0, N, N).astype(np.int32)
WEIGHT = np.random.default_rng(2).integers(-1000, 1000, N)


def check(program: list[Loop], sharing: str) -> None:
    text = kernel_text(program)
    note(text)
    kernel = define(text, N=N)
    expected, actual = make_arrays(sharing), make_arrays(sharing)
    run_numpy(program, expected, DATA, WEIGHT)
    for _ in range(2):  # once before the cost is known, once after
        actual = make_arrays(sharing)
        kernel(*actual.values(), WEIGHT, DATA)
        for name, wanted in expected.items():
            wrong = np.flatnonzero(actual[name] != wanted)
            assert not len(wrong), f"{name}: {len(wrong)} elements differ, the first at {wrong[0]}"


SHARINGS = ("apart", "apart", "same", "shifted", "reversed", "every other", "repeated")


@examples("compiled", report_multiple_bugs=False)
@given(st.lists(loops, min_size=1, max_size=2), st.sampled_from(SHARINGS))
def test_updates_of_parallel_loops_are_not_lost(program, sharing):
    check(program, sharing)


@pytest.mark.stress
@pytest.mark.timeout(3600)
@examples("compiled", report_multiple_bugs=False)
@given(st.lists(loops, min_size=1, max_size=3), st.sampled_from(SHARINGS))
def test_updates_of_many_parallel_loops_are_not_lost(program, sharing):
    check(program, sharing)
