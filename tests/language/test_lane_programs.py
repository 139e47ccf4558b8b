"""Random programs give the same in lanes, without any rewrite and as plain Python, and touch nothing beside their arrays."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import warnings
from collections.abc import Iterator
from random import Random
from typing import Any

import llvmlite.binding as llvm
import numpy as np
import pytest

import ir_arithmetic
import samovar as sv
from samovar import _native
from samovar.language import SWITCHES

from .lane_programs import FEW, INTEGERS, PAD, LaneProgram, lane_program
from .model import NUMPY
from .source import define

RESULTS = "oqft"
SIZES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 255, 256, 257, 300)
#: Every rewrite that can be left out.
ALL = " ".join(SWITCHES)
PAGE = mmap.PAGESIZE
_libc = ctypes.CDLL(None, use_errno=True)


@pytest.fixture(autouse=True)
def _options() -> Iterator[None]:
    yield
    sv.reset()


class Guarded:
    """Memory between two pages that nobody may touch; arrays end, or begin, at one of them."""

    def __init__(self, at_end: bool) -> None:
        self.at_end = at_end
        self.maps: list[tuple[mmap.mmap, np.ndarray, slice]] = []

    def array(self, values: np.ndarray) -> np.ndarray:
        pages = -(-max(values.nbytes, 1) // PAGE)
        memory = mmap.mmap(-1, (pages + 2) * PAGE)
        whole = np.frombuffer(memory, np.uint8)
        for page in (0, pages + 1):
            assert _libc.mprotect(ctypes.c_void_p(whole.ctypes.data + page * PAGE), PAGE, 0) == 0
        first = (pages + 1) * PAGE - values.nbytes if self.at_end else PAGE
        inside = whole[PAGE : (pages + 1) * PAGE]
        inside[:] = 0xA5
        array = whole[first : first + values.nbytes].view(values.dtype).reshape(values.shape)
        array[...] = values
        self.maps.append((memory, inside, slice(first - PAGE, first - PAGE + values.nbytes)))
        return array

    def is_untouched(self) -> bool:
        """Whether what is beside the arrays is as it was."""
        for _, inside, own in self.maps:
            if (inside[: own.start] != 0xA5).any() or (inside[own.stop :] != 0xA5).any():
                return False
        return True


def arguments(program: LaneProgram, size: int, seed: int) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    floats = np.round(random.normal(0, 4, (FEW + 1, size + 2 * PAD)) * 4).astype(np.float32) / 4
    return {
        "x": floats[0],
        "y": random.integers(-300, 300, size + 2 * PAD, dtype=np.int32),
        "c": random.integers(-2, 6, FEW, dtype=np.int32),
        "d": random.integers(0, 9, FEW).astype(NUMPY[program.narrow]),
        "z": floats[1:],
        "o": np.zeros(size, np.float32),
        "q": np.zeros(size, NUMPY[program.wide]),
        "e": random.integers(-300, 300, size + 2 * PAD).astype(NUMPY[program.small]),
        "f": np.zeros(size, NUMPY[program.small]),
        "t": np.array([7, -1000], np.int32),
        "m": int(random.integers(0, 5)),
        "n": size,
    }


def _op(code: str, type: _native.DType, *operands: Any) -> Any:
    return ir_arithmetic.evaluate(code, type, operands)


def of_python(program: LaneProgram, given: dict[str, Any]) -> list[Any]:
    names = {name: getattr(_native, name) for name in (*INTEGERS, "f32")}
    run = define(program.python, op=_op, cast=ir_arithmetic.cast, **names)
    with np.errstate(all="ignore"):
        run(**given)
    return [given[name] for name in RESULTS]


def of_kernel(kernel: Any, given: dict[str, Any], at_end: bool) -> list[Any]:
    memory = Guarded(at_end)
    kernel(*(memory.array(each) if isinstance(each, np.ndarray) else each for each in given.values()))
    assert memory.is_untouched()
    places = {name: place for place, name in enumerate(name for name in given if isinstance(given[name], np.ndarray))}
    found = []
    for name in RESULTS:
        _, inside, own = memory.maps[places[name]]
        found.append(inside[own].view(given[name].dtype).copy())
    return found


def assert_same(found: list[Any], expected: list[Any], *what: object) -> None:
    for name, one, other in zip(RESULTS, found, expected, strict=True):
        assert np.array_equal(one, other, equal_nan=one.dtype.kind == "f"), (name, *what, np.flatnonzero(one != other)[:8])


def check(seed: int, count: int = 3) -> bool:
    """Compare one program; says whether it ran in lanes."""
    random = Random(seed)
    program = lane_program(random)
    sizes = random.sample(SIZES, count)
    in_lanes = False
    found: dict[object, list[Any]] = {}
    variants = (("", 1), ("", 2), (ALL, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # What LLVM fails in for reasons of its own is compiled otherwise; that the text is sound is seen to here.
        warnings.filterwarnings("ignore", message=".*LLVM failed")
        for without, threads in variants:
            sv.init(fast_math=False, without=without, num_threads=threads)
            kernel = define(program.kernel)
            for size in sizes:
                at_end = random.random() < 0.5
                found[without, threads, size] = of_kernel(kernel, arguments(program, size, seed), at_end)
            listed = list(arguments(program, 8, seed).values())
            for text in re.split("^; --- .*\n", kernel.inspect("llvm", *listed), flags=re.MULTILINE):  # units
                llvm.parse_assembly(text, llvm.create_context()).verify()
            in_lanes |= "lane_numbers" in kernel.inspect("ir", *listed)
    for size in sizes:
        expected = of_python(program, arguments(program, size, seed))
        for without, threads in variants:
            assert_same(found[without, threads, size], expected, seed, size, without, threads, program.kernel)
    return in_lanes


def test_some_programs_give_the_same_in_every_way() -> None:
    assert sum(check(seed) for seed in range(30000, 30010)) >= 4


@pytest.mark.stress
@pytest.mark.timeout(7200)
def test_many_programs_give_the_same_in_every_way() -> None:
    first = int(os.environ.get("SAMOVAR_RANDOM_LANES", Random().randrange(1 << 30)))
    print(f"SAMOVAR_RANDOM_LANES={first}")
    for seed in range(first, first + 2000):
        check(seed)
