"""The protocol of backends: that one is found by its name alone, and that a second one can do what the first one does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import samovar
import samovar as sv
from samovar import backends
from samovar.cache import LIBRARIES, salt_parts
from samovar.compiler import process, workers
from samovar.ir.runtime_interface import LANES, RUNTIME, SECTIONS, SERIAL, SPEAKS

PACKAGE = Path(samovar.__file__).parent
NATIVE = PACKAGE / "_native"

f32_1 = sv.types.NDArray[sv.f32, 1]
f32_2 = sv.types.NDArray[sv.f32, 2]
i32_1 = sv.types.NDArray[sv.i32, 1]


@pytest.fixture
def python(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels are compiled with the second backend, in this process."""
    monkeypatch.setitem(backends.BACKENDS, "python", "backends.python_backend")
    monkeypatch.setattr(backends, "CHOSEN", "python")
    monkeypatch.setattr(workers.state, "no_workers", "the second backend is not a part of the package")
    monkeypatch.setattr(process, "_has_begun", True)  # a worker begun here would be handed to the tests that follow
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE", "0")
    sv.reset()
    yield
    monkeypatch.undo()
    sv.reset()


@sv.func
def halved(x: sv.f32) -> sv.f32:
    if x > 0.0:
        return x * 0.5
    return x


@sv.kernel
def mapped(x: f32_1, y: f32_1, scale: sv.f32):
    twice = scale * 2.0
    for i in range(1, x.shape[0]):
        y[i] = halved(x[i]) * twice + x[i - 1]


@sv.kernel(graph=True, checkpoints=True)
def drawn(x: i32_1, y: i32_1, more: sv.types.NDArray[sv.i32, 0], stop: sv.types.NDArray[sv.i32, 0]):
    n = x.shape[0]
    while sv.graph.do_while(more, max_iterations=9):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for i in range(n):
                    x[i] += i
            with sv.graph.parallel():
                last = n - 1
                y[last] += 1
        with sv.checkpoint(3, yield_on=stop):
            for _ in range(1):
                more[None] = sv.i32(x[1] < 4)
    y[0] = n


@sv.kernel
def stencil(a: f32_2, b: f32_2):
    for i, j in sv.ndrange((1, a.shape[0] - 1), (1, a.shape[1] - 1)):
        b[i, j] = a[i - 1, j] + a[i + 1, j] - a[i, j - 1] * a[i, j + 1]


@sv.kernel
def boxes(a: f32_1, n: sv.i32):
    for i, j, k in sv.ndrange(n, 3, 2):
        a[6 * i + 2 * j + k] = sv.cast(100 * i + 10 * j + k, sv.f32)


@sv.kernel
def gathered(x: f32_1, out: f32_1) -> sv.f32:
    total = 0.0
    for i in x:
        total += x[i]
        out[0] += x[i] * x[i]
        sv.atomic_max(out[1], x[i])
    for _ in range(3):
        total += 1.0
    return total


@sv.kernel
def histogram(keys: i32_1, counts: i32_1):
    for i in keys:
        counts[keys[i] % counts.shape[0]] += 1


@sv.kernel
def in_blocks(a: i32_1):
    sv.loop_config(block_dim=16)
    for i in a:
        k = i
        while k > 3:
            k = k // 2
        a[i] = k


def small(random: np.random.Generator, *shape: int) -> np.ndarray:
    """Floats with which arithmetic is exact, in any order."""
    return random.integers(-9, 9, shape).astype(np.float32)


CASES = {
    "mapped": (mapped, lambda r: [small(r, 50), np.zeros(50, np.float32), 1.5]),
    "stencil": (stencil, lambda r: [small(r, 5, 200), np.zeros((5, 200), np.float32)]),
    "strided stencil": (stencil, lambda r: [small(r, 90, 7)[::2], np.zeros((45, 7), np.float32)]),
    "boxes": (boxes, lambda r: [np.zeros(60, np.float32), 10]),
    "gathered": (gathered, lambda r: [small(r, 5000), np.zeros(2, np.float32)]),
    "nothing to gather": (gathered, lambda r: [np.zeros(0, np.float32), np.zeros(2, np.float32)]),
    "histogram": (histogram, lambda r: [r.integers(0, 1000, 3000).astype(np.int32), np.zeros(7, np.int32)]),
    "few keys": (histogram, lambda r: [r.integers(0, 1000, 5).astype(np.int32), np.zeros(7, np.int32)]),
    "in blocks": (in_blocks, lambda r: [np.zeros(45, np.int32)]),
}


def outcome(case: str) -> tuple[object, list[np.ndarray]]:
    kernel, make = CASES[case]
    arguments = make(np.random.default_rng(1))
    result = kernel(*arguments)
    return result, [argument for argument in arguments if isinstance(argument, np.ndarray)]


@pytest.fixture(scope="module")
def native() -> dict[str, tuple[object, list[np.ndarray]]]:
    return {case: outcome(case) for case in CASES}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
def test_a_second_backend_does_the_same(case: str, native: dict[str, tuple[object, list[np.ndarray]]], python: None) -> None:
    from backends.python_backend import LOADED

    loaded = len(LOADED)
    result, arrays = outcome(case)
    assert len(LOADED) == loaded + 1
    assert result == native[case][0]
    for found, expected in zip(arrays, native[case][1], strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
def test_prints_and_failures_of_a_second_backend(python: None, capfd: pytest.CaptureFixture[str]) -> None:
    @sv.kernel
    def spoken(a: i32_1):
        for i in range(2):
            print("i is", i)
        for i in range(4):
            a[i] = i

    sv.init(check_out_of_bound=True)
    try:
        spoken(np.zeros(4, np.int32))
        assert sorted(capfd.readouterr().out.splitlines()) == ["i is 0", "i is 1"]
        with pytest.raises(sv.SamovarRuntimeError, match="out of bounds"):
            spoken(np.zeros(3, np.int32))
    finally:
        sv.init()


def test_only_a_backend_imports_its_own_modules() -> None:
    for path in PACKAGE.rglob("*.py"):
        if path.is_relative_to(PACKAGE / "backends"):
            continue
        text = path.read_text()
        for node in ast.walk(ast.parse(text)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any("backends." in name for name in names), path


def test_the_compiler_names_no_backend() -> None:
    for path in (PACKAGE / "compiler").glob("*.py"):
        assert "llvm" not in path.read_text().lower(), path


def test_the_salt_has_what_backends_compile_with() -> None:
    named = {name for each in backends.BACKENDS for name in backends.backend(each).salt()}
    assert named == set(LIBRARIES)
    assert named <= set(salt_parts())


def test_files_of_a_worker_are_those_that_it_imports() -> None:
    for name in backends.BACKENDS:
        for parts in backends.backend(name).files:
            assert (PACKAGE.joinpath(*parts)).is_file()


def test_the_runtime_interface_is_that_of_the_headers() -> None:
    header = (NATIVE / "launch" / "runtime.h").read_text() + (NATIVE / "sparse" / "tree.h").read_text()
    kinds = {"void": "", "int32_t": "i32", "int64_t": "i64", "uint64_t": "i64", "sv_task_function": "pointer"}
    for name, function in RUNTIME.items():
        found = re.search(rf"^([\w ]+[ *]+){name}\(([^;]*)\);", header, re.MULTILINE)
        assert found is not None, name
        result, parameters = found.groups()
        types = [" ".join(each.split()) for each in parameters.split(",")]
        assert function.parameters == tuple(
            "pointer" if "*" in each else kinds[each.replace("const ", "").split()[0]] for each in types
        ), name
        assert function.result == ("pointer" if "*" in result else kinds[result.strip()]), name


def test_flags_are_those_of_the_runtime() -> None:
    flags = dict(re.findall(r"(SV_TASK_\w+) = (\d+)", (NATIVE / "launch" / "runtime.h").read_text()))
    assert flags == {
        "SV_TASK_SPEAKS": str(SPEAKS),
        "SV_TASK_COST_UNKNOWN": "2",
        "SV_TASK_SERIAL": str(SERIAL),
        "SV_TASK_SECTIONS": str(SECTIONS),
        "SV_TASK_LANES": str(LANES),
    }


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
def test_graphs(python: None) -> None:
    x, y, more, stop = np.zeros(3, np.int32), np.zeros(3, np.int32), np.zeros((), np.int32), np.ones((), np.int32)
    assert drawn(x, y, more, stop) == sv.GraphStatus(True, 3)
    assert (x.tolist(), y.tolist()) == ([0, 1, 2], [0, 0, 1])
    stop[()] = 0
    assert drawn.resume(x, y, more, stop, from_checkpoint=3) == sv.GraphStatus(False)
    assert (x.tolist(), y.tolist()) == ([0, 4, 8], [3, 0, 4])
    x[:] = -100
    with pytest.raises(sv.SamovarRuntimeError, match="not finished after 9 iterations"):
        drawn(x, y, more, stop)
