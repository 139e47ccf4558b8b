"""Views are temporaries: the next one is made where the last one was. Each launch reads its own, wherever it sits."""

import dataclasses
import gc
import random
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import samovar as sv

TIMES = 10_000


@dataclasses.dataclass(frozen=True)
class Frozen:
    v: sv.BufferView[sv.i32]


@dataclasses.dataclass(frozen=True)
class Slotted:
    __slots__ = ("v",)
    v: sv.BufferView


@dataclasses.dataclass
class Plain:
    v: sv.BufferView
    n: int = 3


@dataclasses.dataclass
class Nested:
    inner: Frozen


@sv.data_oriented
class Holder:
    def __init__(self, v):
        self.v = v

    @sv.kernel
    def add(self) -> sv.i32:
        for i in self.v:
            self.v[i] += 1
        return self.v.offset * 1000 + self.v.size

    @sv.kernel
    def add_first(self) -> sv.i32:
        for i in self.v[0]:
            self.v[0][i] += 1
        return self.v[0].offset * 1000 + self.v[0].size

    @sv.kernel
    def add_member(self) -> sv.i32:
        for i in self.v.v:
            self.v.v[i] += 1
        return self.v.v.offset * 1000 + self.v.v.size


@sv.data_oriented(stable_members=True)
class Stable(Holder):
    pass


class WithProperty(Stable):
    def __init__(self, array):
        self.array = array
        self.part = slice(0)

    @property
    def v(self):
        return self.array[self.part]


@sv.kernel
def add(v: sv.BufferView[sv.i32]) -> sv.i32:
    for i in v:
        v[i] += 1
    return v.offset * 1000 + v.size


@sv.kernel
def add_any(v: sv.Template) -> sv.i32:
    for i in v:
        v[i] += 1
    return v.offset * 1000 + v.size


@sv.kernel
def add_frozen(s: Frozen) -> sv.i32:
    for i in range(s.v.size):
        s.v[i] += 1
    return s.v.offset * 1000 + s.v.size


@sv.kernel
def add_slotted(s: Slotted) -> sv.i32:
    for i in range(s.v.size):
        s.v[i] += 1
    return s.v.offset * 1000 + s.v.size


@sv.kernel
def add_plain(s: Plain) -> sv.i32:
    for i in range(s.v.size):
        s.v[i] += s.n - 2
    return s.v.offset * 1000 + s.v.size


@sv.kernel
def add_nested(s: Nested) -> sv.i32:
    for i in range(s.inner.v.size):
        s.inner.v[i] += 1
    return s.inner.v.offset * 1000 + s.inner.v.size


@sv.kernel
def add_item(s: sv.Template) -> sv.i32:
    for i in range(s[1].size):
        s[1][i] += 1
    return s[1].offset * 1000 + s[1].size


Pair = sv.types.struct(n=sv.i32, x=sv.f64)
PAIRS = Pair.ndarray(64)


@sv.kernel
def add_structs(v: sv.BufferView[Pair], w: sv.BufferView[sv.i32]) -> sv.i32:
    for i in range(v.size):
        v[i].x += 1.0
    for i in w:
        w[i] += 1
    return v.offset * 1000 + v.size


Launch = Callable[[Any, slice], int]


def of_plain(data: Any) -> Launch:
    kept = Plain(data[:])

    def launch(data: Any, part: slice) -> int:
        kept.v = data[part]
        return add_plain(kept)

    return launch


def of_holder(cls: type, method: str, wrap: Callable[[Any], Any]) -> Callable[[Any], Launch]:
    def made(data: Any) -> Launch:
        kept = cls(wrap(data[:]))

        def launch(data: Any, part: slice) -> int:
            kept.v = wrap(data[part])
            return getattr(kept, method)()

        return launch

    return made


def of_list(data: Any) -> Launch:
    kept = [0, data[:]]

    def launch(data: Any, part: slice) -> int:
        kept[1] = data[part]
        return add_item(kept)

    return launch


def of_items_of_a_stable_list(data: Any) -> Launch:
    kept = Stable([data[:]])

    def launch(data: Any, part: slice) -> int:
        kept.v[0] = data[part]
        return kept.add_first()

    return launch


def always(launch: Launch) -> Callable[[Any], Launch]:
    return lambda data: launch


VARIANTS: dict[str, Callable[[Any], Launch]] = {
    "a view": always(lambda data, part: add(data[part])),
    "a view of a view": always(lambda data, part: add(data[part.start :][: part.stop - part.start])),
    "an explicit view": always(lambda data, part: add(sv.BufferView(data, part.start, part.stop - part.start))),
    "a template": always(lambda data, part: add_any(data[part])),
    "a frozen dataclass": always(lambda data, part: add_frozen(Frozen(data[part]))),
    "a dataclass with slots": always(lambda data, part: add_slotted(Slotted(data[part]))),
    "a new dataclass": always(lambda data, part: add_plain(Plain(data[part]))),
    "a dataclass in another": always(lambda data, part: add_nested(Nested(Frozen(data[part])))),
    "a tuple": always(lambda data, part: add_item((0, data[part]))),
    "a dataclass that stays": of_plain,
    "a list that stays": of_list,
    "a member": of_holder(Holder, "add", lambda v: v),
    "a stable member": of_holder(Stable, "add", lambda v: v),
    "a tuple in a stable member": of_holder(Stable, "add_first", lambda v: (v, 3)),
    "a list in a stable member": of_holder(Stable, "add_first", lambda v: [v]),
    "an item of a stable list": of_items_of_a_stable_list,
    "a frozen dataclass in a stable member": of_holder(Stable, "add_member", Frozen),
    "a view of structs": always(lambda data, part: add_structs(PAIRS[part], data[part])),
    "a new stable object": always(lambda data, part: Stable(data[part]).add()),
}


@contextmanager
def busy_collector() -> Iterator[None]:
    """Collections at nearly every allocation, with something to collect."""
    before = gc.get_threshold()
    gc.set_threshold(3, 2, 2)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def garbage() -> None:
    one: list[Any] = []
    one.append(one)


@pytest.mark.parametrize("name", VARIANTS)
def test_each_launch_reads_its_own_view(name):
    data = sv.ndarray(sv.i32, 64)
    expected = np.zeros(64, np.int32)
    choose = random.Random(name)
    launch = VARIANTS[name](data)
    launch(data, slice(0, 0))
    before = sv.compile_count()
    with busy_collector():
        for _ in range(TIMES):
            first = choose.randrange(64)
            part = slice(first, first + choose.randrange(65 - first))
            garbage()
            assert launch(data, part) == part.start * 1000 + part.stop - part.start
            expected[part] += 1
    assert sv.compile_count() == before
    assert (data.to_numpy() == expected).all()


def test_a_property_of_a_stable_object_is_read_again_if_it_gives_a_view():
    data = sv.ndarray(sv.i32, 64)
    holder = WithProperty(data)
    for first in range(0, 64, 4):
        holder.part = slice(first, first + 4)
        assert holder.add() == first * 1000 + 4
    assert (data.to_numpy() == 1).all()


@sv.kernel
def move(to: sv.BufferView[sv.i32], source: sv.BufferView[sv.i32]) -> sv.i32:
    sv.loop_config(serialize=True)
    for i in range(to.size):
        to[i] = source[i] + 1
    return to.offset * 1000 + source.offset


def test_two_views_that_overlap_or_do_not():
    data, expected = sv.ndarray(sv.i32, 64), np.zeros(64, np.int32)
    choose = random.Random(1)
    move(data[:8], data[8:16])
    move(data[:8], data[7:15])
    expected[:] = data.to_numpy()
    before = sv.compile_count()
    with busy_collector():
        for _ in range(TIMES):
            a, b, n = choose.randrange(48), choose.randrange(48), choose.randrange(17)
            assert move(data[a : a + n], data[b : b + n]) == a * 1000 + b
            for i in range(n):
                expected[a + i] = expected[b + i] + 1
    assert sv.compile_count() == before
    assert (data.to_numpy() == expected).all()


def test_views_that_overlap_run_the_careful_code_and_others_the_fast_one():
    @sv.kernel
    def shift(to: sv.BufferView[sv.i32], source: sv.BufferView[sv.i32]):
        for i in range(to.size):
            to[i] += source[i]

    data = sv.ndarray(sv.i32, 64)
    data.fill(1)
    shift(data[:16], data[16:32])
    shift(data[48:], data[:16])
    shift(data[16:17], data[17:18])
    shift(data[5:5], data[:16])
    assert len(shift.specializations) == 1
    shift(data[:16], data[15:31])
    assert len(shift.specializations) == 2
    shift(data[:], data[:])
    assert len(shift.specializations) == 2


class Watched:
    """Launches inside of a launch: a property that makes other views while the guards of the first launch are asked."""

    def __init__(self, data):
        self.data = data
        self.depth = 0

    @property
    def v(self):
        view = self.data[self.depth * 4 : self.depth * 4 + 4]
        if self.depth < 4:
            self.depth += 1
            add_watched(self)
        return view


@sv.kernel
def add_watched(s: sv.Template):
    for i in s.v:
        s.v[i] += s.v.offset + 1


def test_launches_inside_of_launches():
    data = sv.ndarray(sv.i32, 20)
    add_watched(Plain(data[:1]))
    add_watched(Watched(data))  # compiling reads the property as well
    data.fill(0)
    for _ in range(50):
        add_watched(Watched(data))
    assert (data.to_numpy() == 50 * np.repeat([1, 5, 9, 13, 17], 4)).all()


def test_a_launch_keeps_the_array_of_a_view_for_as_long_as_it_runs():
    @sv.kernel
    def fill(v: sv.BufferView[sv.f64], x: sv.f64):
        for i in v:
            v[i] = x

    gone = []
    with busy_collector():
        for turn in range(300):
            array = sv.ndarray(sv.f64, 4096)
            gone.append(weakref.ref(array))
            view = array[turn:]
            del array
            fill(view[turn:], 1.0)
            assert gone[-1]() is not None
            del view
    gc.collect()
    assert not any(each() for each in gone)


def test_recorded_launches_have_the_views_that_they_were_given():
    data = sv.ndarray(sv.i32, 64)
    stable, plain = Stable(data[32:40]), Plain(data[40:44])

    @sv.kernel
    def add_one(v: sv.BufferView):
        for i in v:
            v[i] += v.offset

    @sv.kernel
    def add_member(s: sv.Template):
        for i in s.v:
            s.v[i] += s.v.size

    second = data[8:16]
    with sv.graph.record() as step:
        add_one(data[:4])
        add_one(second)
        add_member(stable)
        add_member(plain)
    expected = np.zeros(64, np.int32)
    with busy_collector():
        for turn in range(200):
            garbage()
            if turn == 50:
                stable.v, plain.v = data[33:35], data[50:53]
            if turn == 100:
                step.replace(second, data[20:22])
            step()
            expected[slice(20, 22) if turn >= 100 else slice(8, 16)] += 20 if turn >= 100 else 8
            member, other = ((32, 40), (40, 44)) if turn < 50 else ((33, 35), (50, 53))
            expected[slice(*member)] += member[1] - member[0]
            expected[slice(*other)] += other[1] - other[0]
    assert (data.to_numpy() == expected).all()


def test_graphs_with_checkpoints_and_other_views_each_time():
    @sv.kernel(graph=True)
    def steps(v: sv.BufferView[sv.i32], left: sv.types.NDArray[sv.i32, 0]):
        while sv.graph_do_while(left):
            for i in v:
                v[i] += 1
            left[None] -= 1

    data, left = sv.ndarray(sv.i32, 64), sv.ndarray(sv.i32, ())
    expected = np.zeros(64, np.int32)
    for turn in range(300):
        first = turn % 50
        left[None] = turn % 3 + 1
        steps(data[first : first + 5], left)
        expected[first : first + 5] += turn % 3 + 1
    assert (data.to_numpy() == expected).all()
