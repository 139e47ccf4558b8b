"""Loops touch nothing beside their arrays: these lie against pages that nobody may touch, and are longer than all registers
of the widest vectors. What they compute is what is computed without any rewrite."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import samovar as sv
from samovar.language import SWITCHES

from .plain_python import NUMPY
from .source import define
from .test_lane_programs import Guarded

#: Around the lengths of vectors, and of several registers of 1024 bits.
SIZES = (1, 2, 7, 8, 9, 31, 33, 64, 65, 129, 257, 300)
DTYPES = ("f32", "u8", "i64", "f64", "i32", "i16")

#: The statements of an iteration i of n, the elements of `x`, and those of `z`, which are written beside `o`; `y`, `o` and
#: `g` (numbers from 0 to 3) have n elements.
PROGRAMS = {
    "every second": ("o[i] = x[2 * i] if x[2 * i] > 0 else y[i]", "2 * n - 1", "n"),
    "every third": ("s = x[3 * i] * 2\nif s > 1:\n    o[i] = s", "3 * n - 2", "n"),
    "backwards": ("if x[n - 1 - i] > 0:\n    o[i] = x[n - 1 - i]", "n", "n"),
    "every second backwards": ("if y[i] > 0:\n    o[i] = x[2 * (n - 1 - i)]", "2 * n - 1", "n"),
    "every ninth": ("if y[i] > 0:\n    o[i] = x[9 * i]", "9 * n - 8", "n"),
    "records": ("if x[3 * i] > 0:\n    o[i] = x[3 * i] + x[3 * i + 1] - x[3 * i + 2]", "3 * n", "n"),
    "records written": ("for c in range(3):\n    z[3 * i + c] = x[3 * i + c] + y[i]", "3 * n", "3 * n"),
    "some of records": ("for c in range(3):\n    if y[i] > c:\n        z[3 * i + c] = x[3 * i + c]", "3 * n", "3 * n"),
    "every second written": ("if y[i] > 0:\n    z[2 * i] = y[i]", "n", "2 * n - 1"),
    "every third updated": ("if y[i] > 0:\n    z[3 * i] += y[i]", "n", "3 * n - 2"),
    "written backwards": ("if y[i] > 0:\n    z[n - 1 - i] = y[i]", "n", "n"),
    "a window": ("s = y[i]\nfor j in range(g[i]):\n    s += x[i + j]\n    if s > 9:\n        break\no[i] = s", "n + 2", "n"),
    "a gather": ("if g[i] < n - i:\n    o[i] = x[i + g[i]]", "n", "n"),
    "before": ("if i > 0 and y[i - 1] > 0:\n    o[i] = y[i - 1]", "n", "n"),
    "after": ("if i < n - 1 and y[i + 1] < 9:\n    o[i] += y[i + 1]", "n", "n"),
    "ahead": ("if i + 5 < n:\n    o[i] = y[i + 5] if y[i] > 0 else y[i + 3]", "n", "n"),
    "edges": ("o[i] = y[max(i - 2, 0)] + y[min(i + 2, n - 1)] + y[(i + 1) % n]", "n", "n"),
    "a countdown": ("s = y[i]\nwhile s > 0:\n    s -= 1\n    if s > 7:\n        continue\n    o[i] += x[i]", "n", "n"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _defaults() -> Iterator[None]:
    yield
    sv.reset()


def check(name: str, dtype: str, serial: bool) -> None:
    body, length, written = PROGRAMS[name]
    array = f"sv.types.NDArray[sv.{dtype}, 1]"
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    first = "    sv.loop_config(serialize=True)\n" if serial else ""
    text = (
        f"@sv.kernel\ndef k(x: {array}, y: {array}, z: {array}, o: {array}, g: sv.types.NDArray[sv.i32, 1], n: sv.i32):\n"
        f"{first}    for i in range(n):\n{lines}\n"
    )
    found: dict[tuple[int, bool], list[bytes]] = {}
    for without in (" ".join(SWITCHES), ""):
        sv.init(without=without, num_threads=1)
        kernel = define(text)
        for n in SIZES:
            for at_end in (True, False):
                random = np.random.default_rng(n)
                memory = Guarded(at_end)
                sizes = (eval(length, {"n": n}), n, eval(written, {"n": n}), n)
                low = 0 if dtype.startswith("u") else -20
                arrays = [memory.array(random.integers(low, 20, size).astype(NUMPY[dtype])) for size in sizes]
                steps = memory.array(random.integers(0, 3, n, dtype=np.int32))
                kernel(*arrays, steps, n)
                assert memory.is_untouched(), (n, at_end)
                results = [array.tobytes() for array in arrays]
                assert found.setdefault((n, at_end), results) == results, (n, at_end, text)


CASES = [
    (name, dtype, serial)
    for number, name in enumerate(PROGRAMS)
    for place, dtype in enumerate(DTYPES)
    for serial in (False, True)
    if (number + place + serial) % 6 == 0
]


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
@pytest.mark.parametrize(("name", "dtype", "serial"), CASES)
def test_nothing_else_is_touched(name: str, dtype: str, serial: bool) -> None:
    check(name, dtype, serial)


@pytest.mark.stress
@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
@pytest.mark.parametrize("serial", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_else_is_touched_in_any_type(name: str, dtype: str, serial: bool) -> None:
    check(name, dtype, serial)
