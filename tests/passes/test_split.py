"""Long bodies are cut into pieces, and do the same as before; short ones are left alone."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import samovar as sv
from hypothesis_profiles import examples
from language.source import define
from passes.programs import kernels
from passes.test_pipeline import RELAXED, assert_equal, outcome
from samovar.ir.printer import print_kernel
from samovar.ir.structure import If, Kernel
from samovar.ir.verifier import verify
from samovar.language.options import Options
from samovar.passes import pipeline, split
from samovar.passes.split import _Splitting

STATEMENTS = 400


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split, "LIMIT", 12)
    monkeypatch.setattr(split, "LIGHTEST_PIECE", 4)
    monkeypatch.setattr(split, "HEAVIEST_PIECE", 10)


@pytest.mark.usefixtures("small_pieces")
@examples("interpreted", suppress_health_check=RELAXED)
@given(kernels(), st.integers(0, 1000), st.sampled_from([Options(), Options(check_out_of_bound=True)]))
def test_a_program_in_small_pieces_does_what_it_did(kernel: Kernel, data: int, options: Options) -> None:
    expected = outcome(kernel, data, 0)
    for step in pipeline(options):
        step(kernel)
        verify(kernel)
    note(print_kernel(kernel))
    for order in range(2):
        assert_equal(expected, outcome(kernel, data, order))


@sv.func
def long_func(a, n):  # type: ignore[no-untyped-def]
    x = sv.f64(0.0)
    y = sv.f64(1.0)
    for k in sv.static(range(STATEMENTS)):
        a[(n + k) % 7] = a[(n * k) % 5] + y
        x = x + a[k % 7]
        if x > 1000.0:
            y = x - 500.0
            x = y * 0.5
    return x + y


@sv.kernel
def long_kernel(a: sv.types.NDArray[sv.f64, 1], n: int) -> sv.f64:
    return long_func(a, n)


def expected_of_long(a: np.ndarray, n: int) -> float:
    x, y = 0.0, 1.0
    for k in range(STATEMENTS):
        a[(n + k) % 7] = a[(n * k) % 5] + y
        x = x + a[k % 7]
        if x > 1000.0:
            y = x - 500.0
            x = y * 0.5
    return x + y


@pytest.mark.parametrize("debug", [False, True])
def test_locals_and_results_go_through_pieces(debug: bool) -> None:
    sv.init(fast_math=False, debug=debug)
    rng = Random(1)
    values = [rng.random() for _ in range(7)]
    a, b = np.array(values), np.array(values)
    assert long_kernel(a, 3) == expected_of_long(b, 3)
    assert np.array_equal(a, b)


def test_a_long_body_becomes_pieces_and_a_short_one_does_not() -> None:
    sv.init()
    assert "piece" in long_kernel.inspect("ir", np.zeros(7), 3)

    @sv.kernel
    def short(a: sv.types.NDArray[sv.f64, 1]) -> None:
        for i in a:
            for k in sv.static(range(20)):
                a[i] += k

    assert "piece" not in short.inspect("ir", np.zeros(7))


@pytest.mark.parametrize(("count", "expected"), [(100, False), (300, True)])
def test_divisions_that_round_down_are_long(count: int, expected: bool) -> None:
    sv.init()
    head = "@sv.kernel\ndef k(a: sv.types.NDArray[sv.f64, 1]):\n    for i in a:\n        x = 0\n"
    lines = "".join(f"        x += {n} % (i + 1)\n" for n in range(count))
    assert ("piece" in define(head + lines + "        a[i] = x\n").inspect("ir", np.zeros(7))) == expected


def test_branches_of_a_chain_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of n conditions has n shorter ones in it."""
    looked_at = []
    branches = _Splitting._branches

    def noted(self: _Splitting, operation: If, in_loop: bool) -> None:
        looked_at.append(operation)
        branches(self, operation, in_loop)

    monkeypatch.setattr(_Splitting, "_branches", noted)
    sv.init()
    chain = "".join(f"        elif x < {n}.5:\n            x = x * {n}.25 + a[{n} % 7]\n" for n in range(300))
    head = "@sv.kernel\ndef k(a: sv.types.NDArray[sv.f64, 1]):\n    for i in a:\n        x = a[i]\n"
    define(head + "        if x < 0.0:\n            x = 1.0\n" + chain + "        a[i] = x\n").inspect("ir", np.zeros(7))
    assert len(looked_at) == 1


@sv.kernel
def leaves_its_loop(a: sv.types.NDArray[sv.i32, 1], limit: int) -> int:
    count = 0
    while True:
        for k in sv.static(range(300)):
            a[k % 5] = a[(k + 1) % 5] + 1
            count += 1
        if count > limit:
            break
        for k in sv.static(range(300)):
            a[k % 3] = a[(k + 2) % 5] - 1
    return count


def test_break_stays_in_its_loop() -> None:
    sv.init()
    a = np.zeros(5, np.int32)
    b = np.zeros(5, np.int32)
    assert leaves_its_loop(a, 700) == 900
    for turn in range(3):
        for k in range(300):
            b[k % 5] = b[(k + 1) % 5] + 1
        if turn < 2:
            for k in range(300):
                b[k % 3] = b[(k + 2) % 5] - 1
    assert np.array_equal(a, b)


@sv.kernel
def in_a_task(a: sv.types.NDArray[sv.f32, 2], total: sv.types.NDArray[sv.f32, 1]) -> None:
    for i in range(a.shape[0]):
        s = 0.0
        for k in sv.static(range(400)):
            a[i, (k * 7) % 16] = a[i, k % 16] * 0.5 + 1.0
            s += a[i, (k + 3) % 16]
        total[0] += s


def test_what_a_task_gathers_stays_in_the_task() -> None:
    sv.init(fast_math=False)
    rng = np.random.default_rng(0)
    a = rng.random((50, 16), dtype=np.float32)
    b, total = a.copy(), np.zeros(1, np.float32)
    in_a_task(a, total)
    sums = np.zeros(50, np.float32)
    for k in range(400):
        b[:, (k * 7) % 16] = b[:, k % 16] * np.float32(0.5) + np.float32(1.0)
        sums += b[:, (k + 3) % 16]
    assert np.array_equal(a, b)
    assert abs(total[0] - sums.sum()) < 1e-3 * sums.sum()


@sv.kernel(graph=True)
def side_by_side(a: sv.types.NDArray[sv.i32, 1], b: sv.types.NDArray[sv.i32, 1]) -> None:
    for _ in sv.static(range(80)):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                for k in sv.static(range(10)):
                    a[k % 7] = (a[(k + 1) % 7] * 3 + k) % 1000
            with sv.graph.parallel():
                for k in sv.static(range(10)):
                    b[k % 5] = (b[(k + 2) % 5] * 5 - k) % 1000


@pytest.mark.parametrize("debug", [False, True])
def test_sections_stay_at_the_top_of_the_kernel(debug: bool) -> None:
    sv.init(debug=debug)
    a, b = np.arange(7, dtype=np.int32), np.arange(5, dtype=np.int32)
    expected_a, expected_b = a.copy(), b.copy()
    for _ in range(80):
        for k in range(10):
            expected_a[k % 7] = (expected_a[(k + 1) % 7] * 3 + k) % 1000
            expected_b[k % 5] = (expected_b[(k + 2) % 5] * 5 - k) % 1000
    side_by_side(a, b)
    assert np.array_equal(a, expected_a)
    assert np.array_equal(b, expected_b)


@sv.kernel
def fails_late(a: sv.types.NDArray[sv.i32, 1], n: int) -> None:
    for i in range(4):
        for k in sv.static(range(600)):
            a[i] = a[i] + k
        assert a[i] < n, "too large"
        for k in sv.static(range(600)):
            a[i] = a[i] - k


def test_a_check_in_a_piece_names_its_line() -> None:
    sv.init(debug=True)
    a = np.zeros(4, np.int32)
    fails_late(a, 1_000_000)
    assert not a.any()
    with pytest.raises(AssertionError, match="too large"):
        fails_late(a, 10)
    with pytest.raises(sv.SamovarRuntimeError, match=r"out of bounds .*(?s:.)*fails_late"):
        fails_late(np.zeros(2, np.int32), 1_000_000)


def test_an_edit_moves_the_cuts_next_to_it_only() -> None:
    """Most pieces of a body with one more statement in the middle are the pieces of the body without it."""

    def pieces(extra: bool) -> list[str]:
        text = "import samovar as sv\n\n@sv.kernel\ndef k(a: sv.types.NDArray[sv.i32, 1], n: int) -> None:\n"
        for number in range(1200):
            text += f"    a[n + {number % 11}] = a[n * {number % 7}] + {number}\n"
            if extra and number == 600:
                text += "    a[n] = 17\n"
        return printed_pieces(text)

    sv.init()
    before, after = pieces(False), pieces(True)
    assert len(before) > 10
    assert len(set(after) - set(before)) <= 4


def printed_pieces(text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edited.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("edited", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        printed = module.k.inspect("ir", np.zeros(100, np.int32), 3)
    parts = [part.split("\n", 1) for part in printed.split("func ")]
    return [re.sub(r"%\d+", "%", part[1]) for part in parts if "piece" in part[0]]


def called_in_a_row(count: int) -> str:
    funcs = "".join(
        f"@sv.func\ndef f{s}(x, q):\n    for j in range(q):\n        x = x * 0.5 + {s}\n    return x\n" for s in range(count)
    )
    calls = "".join(f"        x = f{s}(x, q)\n" for s in range(count))
    head = "@sv.kernel\ndef k(a: sv.types.NDArray[sv.f32, 1], q: sv.i32):\n    for i in a:\n        x = a[i]\n"
    return f"import samovar as sv\n{funcs}{head}{calls}        a[i] = x\n"


@pytest.mark.parametrize(("count", "pieces"), [(5, False), (60, True)])
def test_loops_of_small_funcs_count_where_they_are_called(count: int, pieces: bool, tmp_path: Path) -> None:
    path = tmp_path / "loops.py"
    path.write_text(called_in_a_row(count))
    spec = importlib.util.spec_from_file_location("loops", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    a = np.ones(5, np.float32)
    sv.init(without="vectors")  # for which they would be inlined
    assert ("piece0" in module.k.inspect("ir", a, 3)) == pieces
    module.k(a, 3)
    expected = 1.0
    for s in range(count):
        for _ in range(3):
            expected = expected * 0.5 + s
    assert a == pytest.approx(expected)
