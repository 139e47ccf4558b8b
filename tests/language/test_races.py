"""The watch for races: exactly the pairs of accesses that are in conflict, with array, index, iterations and lines."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import samovar as sv
from hypothesis_profiles import examples

from .source import define

N = 12
SIZE = 40


@pytest.fixture
def watched():
    sv.init(check_races=True)
    yield
    sv.reset()


# --- against brute force

#: Index expressions over i and j; `p` holds indices.
PLACES = ("i", "i + 1", "2 * i", "i // 2", "i % 3", "0", "5", "p[i]", "i + j", "3 * i + j", "j", "SIZE - 1 - i", "i * j % 7")


@dataclass(frozen=True)
class Statement:
    """`target[place] = …`, `target[place] += …` or `sink += target[place]`, under a condition."""

    kind: str
    target: str
    place: str
    value: str
    condition: str

    def text(self) -> str:
        place = f"{self.target}[{self.place}]"
        lines = {"write": f"{place} = {self.value}", "update": f"{place} += {self.value}", "read": f"own[i, j] = {place}"}
        return f"if {self.condition}: {lines[self.kind]}" if self.condition else lines[self.kind]


statements = st.builds(
    Statement,
    st.sampled_from(("write", "update", "read")),
    st.sampled_from(("x", "y")),
    st.sampled_from(PLACES),
    st.sampled_from(("1", "2", "i", "z[i]")),
    st.sampled_from(("", "", "i % 2 == 0", "i != 3", "j == 0", "p[i] < 6")),
)
INDICES = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], np.int32)


def conflicts(program: list[Statement], extent: int) -> dict[tuple[object, ...], set[int]]:
    """Pairs of (array, line and what of one side, of the other) → the elements at which they meet."""
    events: dict[tuple[str, int], dict[tuple[int, str, str], set[tuple[int, int]]]] = defaultdict(lambda: defaultdict(set))
    for i, j in itertools.product(range(N), range(extent)):
        names = {"i": i, "j": j, "p": INDICES, "SIZE": SIZE}
        for line, each in enumerate(program):
            if not each.condition or eval(each.condition, names):
                place = int(eval(each.place, names))
                what = {"write": "writes", "update": "updates", "read": "reads"}[each.kind]
                constant = each.value if each.kind == "write" and each.value.isdigit() else ""
                events[each.target, place][line, what, constant].add((i, j))
    found: dict[tuple[object, ...], set[int]] = defaultdict(set)
    for (array, place), accesses in events.items():
        for (one, first), (other, second) in itertools.combinations_with_replacement(sorted(accesses.items()), 2):
            meet = len(first | second) > 1 if one != other else len(first) > 1
            harmless = {one[1], other[1]} in ({"reads"}, {"updates"}) or (one[2] and one[2] == other[2])
            if meet and not harmless:
                found[array, frozenset([(one[0], one[1]), (other[0], other[1])])].add(place)
    return found


@pytest.mark.filterwarnings("ignore:.*is read in the parallel loop:samovar.SamovarWarning")
@examples("compiled")
@given(st.lists(statements, min_size=1, max_size=5), st.sampled_from((1, 3)))
def test_what_is_reported_is_what_brute_force_finds(watched_example: list[Statement], extent: int) -> None:
    program = watched_example
    body = "".join(f"        {each.text()}\n" for each in program)
    text = (
        "@sv.kernel\ndef k(x: A, y: A, z: A, p: A, own: A2):\n"
        f"    for i, j in sv.ndrange({N}, {extent}):\n{body}"
    )
    note(text)
    sv.init(check_races=True)
    kernel = define(text, A=sv.types.NDArray[sv.i32, 1], A2=sv.types.NDArray[sv.i32, 2], SIZE=SIZE)
    x, y, z = (np.zeros(SIZE, np.int32) for _ in range(3))
    reported: dict[tuple[object, ...], int] = {}
    try:
        kernel(x, y, z, INDICES, np.zeros((N, extent), np.int32))
    except sv.SamovarRaceError as error:
        for race in error.races:
            assert race.first.array == race.second.array
            assert race.first.index == race.second.index
            assert race.first.iteration != race.second.iteration
            sides = frozenset((side.line - 4, side.what) for side in (race.first, race.second))
            reported[race.first.array, sides] = race.elements
    finally:
        sv.reset()
    expected = conflicts(program, extent)
    assert reported == {pair: len(places) for pair, places in expected.items()}


# --- what a report says


@sv.func
def put(o, k, value):
    o[k] = value


@sv.kernel
def through_a_func(a: sv.types.NDArray[sv.i32, 2], o: sv.types.NDArray[sv.i32, 1]):
    for i, j in a:
        put(o, j, a[i, j])


def line_of(function, text: str) -> int:
    code = function.__wrapped__.__code__
    with open(code.co_filename) as file:
        lines = file.read().splitlines()
    return next(number for number, line in enumerate(lines[code.co_firstlineno - 1 :], code.co_firstlineno) if text in line)


def test_a_report_names_array_index_iterations_and_lines(watched):
    with pytest.raises(sv.SamovarRaceError) as caught:
        through_a_func(np.ones((3, 4), np.int32), np.zeros(4, np.int32))
    (race,) = caught.value.races
    assert (race.first.element, race.second.element, race.elements) == ("o[0]", "o[0]", 4)
    assert (race.first.iteration, race.second.iteration) == ((0, 0), (1, 0))
    assert race.first.line == race.second.line == line_of(put, "o[k] = value")
    message = str(caught.value)
    assert f"{__file__}:{line_of(through_a_func, 'for i, j')}, in through_a_func" in message
    assert "`o[0]` and 3 more elements" in message
    assert "the iteration i=1, j=0 writes it" in message
    assert "o[k] = value" in message
    assert "help:" in message


@sv.kernel
def backwards(o: sv.types.NDArray[sv.i32, 1], step: sv.i32):
    for i in range(10, 0, -step):
        o[0] += 1
        o[i] = o[0]


@pytest.mark.filterwarnings("ignore:.*is read in the parallel loop:samovar.SamovarWarning")
def test_iterations_are_named_by_the_values_of_the_variable(watched):
    with pytest.raises(sv.SamovarRaceError) as caught:
        backwards(np.zeros(20, np.int32), 2)
    (race,) = caught.value.races
    assert {race.first.iteration, race.second.iteration} <= {(10,), (8,)}
    assert {race.first.what, race.second.what} == {"updates", "reads"}


@sv.kernel
def copied(x: sv.types.NDArray[sv.f32, 1], y: sv.types.NDArray[sv.f32, 1]):
    for i in range(x.shape[0] - 1):
        y[i] = x[i + 1]


def test_arrays_that_overlap_are_one_memory(watched):
    a = np.zeros(8, np.float32)
    copied(a, a.copy())
    with pytest.raises(sv.SamovarRaceError) as caught:
        copied(a, a)
    (race,) = caught.value.races
    assert {race.first.element, race.second.element} == {"x[1]", "y[1]"}
    assert race.elements == 6


@sv.kernel
def of_two_sizes(x: sv.types.NDArray[sv.f64, 1], y: sv.types.NDArray[sv.i16, 1]):
    for i in x:
        x[i] = 1.5 * i
        y[4 * i + 5] = sv.i16(i)


def test_elements_of_different_sizes_that_overlap_are_seen(watched):
    memory = np.zeros(80, np.uint8)
    with pytest.raises(sv.SamovarRaceError) as caught:
        of_two_sizes(memory[:32].view(np.float64), memory.view(np.int16))
    (race,) = caught.value.races
    assert {race.first.element, race.second.element} == {"x[1]", "y[5]"}
    assert race.elements == 3
    of_two_sizes(np.zeros(4), np.zeros(32, np.int16))


@sv.kernel
def harmless(x: sv.types.NDArray[sv.f32, 1], h: sv.types.NDArray[sv.i32, 1], o: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    total = 0.0
    found = False
    for i in x:
        x[i] = x[i] * 2.0
        x[i] += 1.0
        h[i % 4] += 1
        o[0] = o[0] + x[i]
        o[1] = 7.0
        total = total + x[i]
        if x[i] > 3.0:
            found = True
    for i in x:
        o[0] = max(o[0], x[i])
    o[2] = found
    return total


@pytest.mark.parametrize("options", [{"check_races": True}, {"debug": True}, {"check_races": True, "num_threads": 2}])
def test_programs_without_races_run(options):
    sv.init(**options)
    x, h, o = np.arange(1000, dtype=np.float32), np.zeros(4, np.int32), np.zeros(3, np.float32)
    total = harmless(x, h, o)
    sv.reset()
    assert total == (np.arange(1000) * 2.0 + 1).sum()
    assert h.tolist() == [250] * 4
    assert o.tolist() == [total, 7.0, 1.0]


@sv.kernel
def reads_what_one_changes(x: sv.types.NDArray[sv.i32, 1]) -> sv.u1:
    found = False
    for i in x:
        if not found:
            x[i] = 1
        if i == 2:
            found = True
    return found


def test_a_variable_that_iterations_share_is_watched_too():
    sv.init(debug=True)
    with pytest.raises(sv.SamovarRaceError) as caught:
        reads_what_one_changes(np.zeros(5, np.int32))
    sv.reset()
    (race,) = caught.value.races
    assert {race.first.element, race.second.element} == {"found"}


@sv.kernel
def second_loop(x: sv.types.NDArray[sv.i32, 1], n: sv.i32):
    for i in x:
        x[i] = i
    for i in range(n):
        x[0] = i


def test_each_loop_is_watched_by_itself(watched):
    x = np.zeros(5, np.int32)
    second_loop(x, 1)
    with pytest.raises(sv.SamovarRaceError) as caught:
        second_loop(x, 3)
    assert [race.first.element for race in caught.value.races] == ["x[0]"]
    second_loop(x, 1)  # nothing is left of it


def test_without_the_watch_nothing_is_said():
    second_loop(np.zeros(5, np.int32), 3)


PROGRAM = """
import numpy as np, samovar as sv
sv.init(check_races=True, offline_cache_file_path={!r})
@sv.kernel
def k(x: sv.types.NDArray[sv.i32, 1]):
    for i in range(1, x.shape[0]):
        x[i] = x[i - 1]
try:
    k(np.zeros(5, np.int32))
except sv.SamovarRaceError as error:
    print(k.cache_observations.compiles, error.races[0].first.line, error.races[0].elements)
"""


def test_a_kernel_from_the_cache_is_watched_as_well(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(str(tmp_path / "cache")))
    runs = [subprocess.run([sys.executable, program], capture_output=True, text=True, check=True) for _ in range(2)]
    assert [run.stdout.split() for run in runs] == [["1", "7", "3"], ["0", "7", "3"]]
