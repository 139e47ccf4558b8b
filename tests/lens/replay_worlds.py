"""Objects of every kind, paths through them, and questions about them, drawn at random: for who compares two replays."""

from __future__ import annotations

import dataclasses
import enum
import math
import operator
import types
from typing import Any

import numpy as np
from hypothesis import strategies as st

import samovar as sv
from samovar.lens.path import Path

CONSTANT = 7


class Color(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 3


class Whole(int):
    pass


@sv.func
def helper(x: sv.i32) -> sv.i32:
    return x + CONSTANT


@sv.func
def helper_with_default(x: sv.i32, y: sv.i32 = 2) -> sv.i32:
    return x + y


@dataclasses.dataclass
class State:
    a: sv.types.NDArray[sv.f32, 1]
    n: sv.i32 = 3


@sv.data_oriented
class Model:
    table = (1, 2.5)

    def __init__(self) -> None:
        self.n = 2
        self.a = sv.ndarray(sv.f32, 4)

    @sv.func
    def method(self) -> sv.i32:
        return self.n

    @property
    def computed(self) -> float:
        return 1.5

    @property
    def raising(self) -> float:
        raise OSError("not now")


class Answering:
    """Has every attribute."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        return name


class Meta(type):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(cls, other: object) -> bool:
        return True


class Unhashable(metaclass=Meta):
    n = 1


class LyingMeta(type):
    def __getattribute__(cls, name: str) -> object:
        return 99 if name == "n" else type.__getattribute__(cls, name)


class Lying(metaclass=LyingMeta):
    n = 1


class Renamed:
    n = 1


def plain(x: int = 3) -> int:
    return x


def make_kernel(captured: int = 5) -> Any:
    def kernel(x: sv.Template, y: sv.Template, z: sv.Template = 1) -> None:
        captured, CONSTANT, helper  # noqa: B018

    return kernel


def specimens() -> list[Any]:
    """New objects of every kind."""
    readonly = np.arange(4.0)
    readonly.flags.writeable = False
    base = sv.ndarray(sv.f64, 6)
    model = Model()
    extended = Model()
    extended.method = lambda: 3  # hides the func of the class
    return [
        *(0, 1, True, -1, 2**70, 0.0, -0.0, math.nan, "a", "", None, b"bytes", 1j, sv.f32, sv.i64),
        *(Whole(3), np.float32(1), Color.RED, Level.LOW),
        *((), (1, 2.0), (1, [2]), [], [1, (2, "b")], {}, {"a": 1, 0: base}),
        *(sv.ndarray(sv.f32, 4), sv.ndarray(sv.f32, (2, 3)), sv.ndarray(sv.f32, 4, needs_grad=True), base),
        *(np.zeros(3, "f4"), np.zeros((2, 2))[:, 1], readonly),
        *(helper, helper_with_default, plain, make_kernel(), make_kernel, model.method),
        *(min, int, math.sqrt, sv.sqrt, len.__call__, operator.add),
        *(types, sv, sv.math, math),
        *(types.SimpleNamespace(n=1, a=base), State(base), model, extended, Answering(), Unhashable(), Renamed()),
        *(Unhashable, Lying, Renamed, Color, sv.types.NDArray[sv.f32, 1]),
    ]


ATTRIBUTES = ("n", "a", "method", "table", "computed", "raising", "missing", "grad", "pi", "sqrt", "RED", "math", "__func__")
NAMES = ("CONSTANT", "helper", "min", "sv", "missing", "captured", "z", "y", "math", "State")
ITEMS = (0, 1, -1, 5, 1.0, True, "a", "b")
OPTIONS = ("debug", "fast_math", "default_fp", "num_threads", "missing")
BY_NAME = ("cell", "global", "builtin", "undefined", "default")


def roots() -> st.SearchStrategy[Path]:
    return st.one_of(
        st.sampled_from(["x", "y", "z"]).map(lambda name: Path(None, "parameter", name)),
        st.just(Path(None, "kernel", "kernel")),
        st.sampled_from(["add", "abs", "math.sqrt"]).map(lambda name: Path(None, "operator", name)),
    )


def below(parents: st.SearchStrategy[Path]) -> st.SearchStrategy[Path]:
    return st.one_of(
        st.builds(Path, parents, st.just("attribute"), st.sampled_from(ATTRIBUTES)),
        st.builds(Path, parents, st.just("item"), st.sampled_from(ITEMS)),
        st.builds(Path, parents, st.sampled_from(BY_NAME), st.sampled_from(NAMES)),
        st.builds(Path, parents, st.just("function"), st.none()),
        st.builds(Path, parents, st.just("call"), st.just((0, (), ()))),
    )


#: Paths to objects.
PATHS = st.recursive(roots(), below, max_leaves=3)
OPTION_PATHS = st.builds(Path, st.none(), st.just("options"), st.sampled_from(OPTIONS))
#: Those of arrays, mostly.
OVERLAPS = st.tuples(st.lists(PATHS, min_size=1, max_size=2), st.lists(PATHS, max_size=2)).map(
    lambda parts: Path(None, "overlap", (tuple(parts[0]), (*parts[0], *parts[1])))
)
