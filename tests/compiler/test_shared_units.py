"""Each way in which a shared unit could be wrong: what it was compiled for is another thing in the second process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from test_units import loaded

import samovar as sv
from samovar.backends.llvm.target import Target, host_target
from samovar.backends.protocol import Unit
from samovar.compiler import units
from samovar.compiler.units import unit_key

PROGRAM = """
import json, os, sys
import numpy as np
import samovar as sv

SCALE = float(os.environ.get("SCALE", "2.0"))
KIND = getattr(sv, os.environ.get("KIND", "f32"))
A = sv.types.NDArray

@sv.func
def shared(a, i):
    s = a[i] * 0
    for k in range(4):
{steps}
    return s

@sv.kernel
def kernel(a: A, b: A):
    for i in range(a.shape[0]):
        b[i] = shared(a, i)

@sv.kernel
def other(a: A, b: A):
    for i in range(a.shape[0]):
        b[i] = shared(a, i) + 1

sv.init(offline_cache_file_path=sys.argv[1], **json.loads(sys.argv[2]))
dtype = np.dtype({{"f32": "float32", "f64": "float64"}}[KIND.name])
a = (np.arange(16) / 7).astype(dtype)
b = np.zeros(16, dtype)
run = kernel if os.environ.get("RUN") != "other" else other
run(a, b)
print(json.dumps([b.astype("float64").tolist(), sv.compile_count("llvm")]))
"""
STEPS = "\n".join(f"        s += a[(i + k + {number}) % 16] * SCALE / (a[k] + {number % 7 + 1})" for number in range(40))


def run(folder: Path, cache: str, options: dict[str, Any] | None = None, **environment: str) -> tuple[list[float], int]:
    """What a process computes, and how often LLVM ran in it."""
    path = folder / "program.py"
    if not path.exists():
        path.write_text(PROGRAM.format(steps=STEPS))
    said = subprocess.run(
        [sys.executable, str(path), str(folder / cache), json.dumps({"without": "vectors", **(options or {})})],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    results, runs = json.loads(said.stdout.splitlines()[-1])
    return results, runs


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        ({"fast_math": False}, {}),
        ({"opt_level": 1}, {}),
        ({"debug": True}, {}),
        ({}, {"KIND": "f64"}),
        ({}, {"SCALE": "3.0"}),
    ],
    ids=["fast_math", "opt_level", "debug", "dtype", "captured"],
)
def test_a_unit_is_not_used_where_something_differs(
    tmp_path: Path, options: dict[str, Any], environment: dict[str, str]
) -> None:
    first, runs = run(tmp_path, "shared")
    assert runs == 2
    found, runs = run(tmp_path, "shared", options, **environment)
    assert runs >= 1  # the unit; what starts it may be the same
    cold, _ = run(tmp_path, "alone", options, **environment)
    assert found == cold
    again, runs = run(tmp_path, "shared", None, RUN="other")
    assert runs == 1  # the entry: the unit of the first process is used
    assert np.allclose(again, np.array(first) + 1)


def test_a_unit_belongs_to_a_processor() -> None:
    host = host_target()
    unit = Unit("unit", "define hidden void @samovar_unit() { ret void }", (), ())
    others = [
        Target(host.triple, "x86-64", host.features, host.vector_math),
        Target(host.triple, host.cpu, "+avx2", host.vector_math),
        Target(host.triple, host.cpu, host.features, host.vector_math + 1),
    ]
    assert len({unit_key(unit, target) for target in (host, *others)}) == 4


class Edited:
    """A random program of funcs that call each other, which is edited at random."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.funcs = [self.body(number) for number in range(4)]

    def body(self, number: int) -> list[str]:
        lines = [self.line(number) for _ in range(self.random.randrange(25, 60))]
        if number:
            lines[3] = f"s += f{self.random.randrange(number)}(a, i)"
        return lines

    def line(self, number: int) -> str:
        left, right = self.random.randrange(16), self.random.randrange(1, 9)
        return self.random.choice(
            [
                f"s += a[(i + {left}) % 16] * {right}",
                f"s = s * {right} - a[(i * {left}) % 16]",
                f"b[i] = b[i] + s % {right + 1}",
                f"if s > {left * 100}: s = s - a[i] * {right}",
            ]
        )

    def edit(self) -> None:
        number = self.random.randrange(len(self.funcs))
        lines = self.funcs[number]
        place = self.random.randrange(4, len(lines))
        match self.random.randrange(3):
            case 0:
                lines[place] = self.line(number)
            case 1:
                lines.insert(place, self.line(number))
            case _:
                del lines[place]

    def text(self) -> str:
        parts = ["import samovar as sv", "A = sv.types.NDArray[sv.i32, 1]"]
        for number, lines in enumerate(self.funcs):
            header = f"@sv.func\ndef f{number}(a: A, b: A, i: sv.i32):\n    s = 0\n    for k in range(3):"
            body = [line.replace("(a, i)", "(a, b, i)") for line in lines]
            parts.append("\n".join([header, *(f"        {line}" for line in body), "    return s"]))
        for name, func in (("first", 3), ("second", 2)):
            parts.append(
                f"@sv.kernel\ndef {name}(a: A, b: A, c: A):\n    for i in range(16):\n        c[i] = f{func}(a, b, i)"
            )
        return "\n\n".join(parts) + "\n"


def outcome(module: Any) -> list[Any]:
    results: list[Any] = []
    for name in ("first", "second"):
        a, b, c = np.arange(16, dtype=np.int32), np.zeros(16, np.int32), np.zeros(16, np.int32)
        getattr(module, name)(a, b, c)
        results += [b.tolist(), c.tolist()]
    return results


@pytest.mark.parametrize("seed", range(3))
def test_edited_programs_are_what_they_are_when_compiled_cold(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Edited(seed)
    shared = units.Remembered()
    for turn in range(4):
        path = tmp_path / f"edited_{turn}.py"
        path.write_text(program.text())
        found = []
        for kept in (shared, units.Remembered()):
            monkeypatch.setattr(units, "remembered", kept)
            sv.init(offline_cache=False, without="vectors")
            before = sv.compile_count("llvm")
            found.append((outcome(loaded(path)), sv.compile_count("llvm") - before))
        (with_units, few), (cold, all_of_them) = found
        assert with_units == cold
        assert few < all_of_them if turn else few == all_of_them
        program.edit()
