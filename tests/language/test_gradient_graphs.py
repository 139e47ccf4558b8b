"""Gradients of graphs, whose parts a tape launches one by one, and of recorded launches."""

import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

import samovar as sv

N = 5
START = np.linspace(1.4, 0.9, N)


@pytest.fixture(autouse=True, params=[{}, {"debug": True, "num_threads": 2}], ids=["plain", "debug"])
def options(request):
    sv.init(default_fp=sv.f64, **request.param)
    yield
    sv.reset()


def array(*shape):
    return sv.ndarray(sv.f64, shape, needs_grad=True)


def flag(value=0):
    made = sv.ndarray(sv.i32, ())
    made.fill(value)
    return made


def differences(f, start=START):
    """The gradient of an analytic function, by steps along the imaginary axis."""
    return [f(start + 1e-30j * each).imag / 1e-30 for each in np.eye(N)]


def test_a_loop_over_a_flag_with_sections():
    @sv.kernel(graph=True)
    def relax(x: sv.types.NDArray[sv.f64, 1], more: sv.types.NDArray[sv.i32, 0]):
        n = x.shape[0]
        scale = 0.5
        while sv.graph.do_while(more, max_iterations=100):
            for i in range(n):
                y[i] = sv.sin(x[i]) * x[i]
            with sv.graph.parallel_context():
                with sv.graph.parallel():
                    own = scale * 1.0
                    for i in range(n):
                        x[i] = own * y[i] + 0.3
                with sv.graph.parallel():
                    for _ in range(1):
                        more[None] = sv.i32(y[0] > 0.4)
        for i in range(n):
            loss[None] += x[i] * x[i]

    def value(v):
        while True:
            w = np.sin(v) * v
            v = 0.5 * w + 0.3
            if w[0].real <= 0.4:
                return (v * v).sum()

    x, y, loss, more = array(N), array(N), array(), flag()
    x.from_numpy(START)
    with sv.ad.Tape(loss):
        relax(x, more)
    assert loss[None] == pytest.approx(value(START), rel=1e-14)
    assert x.grad.to_numpy() == pytest.approx(differences(value), rel=1e-12)
    x.from_numpy(START)
    loss.fill(0)
    with sv.ad.FwdMode(loss, x, seed=[1.0] * N):
        relax(x, more)
    assert loss.dual[None] == pytest.approx(sum(differences(value)), rel=1e-12)
    with pytest.raises(sv.SamovarCompilationError, match=r"(?s)graph needs what its iterations.*while sv.graph.*Tape"):
        relax.grad(x, more)


def test_loops_in_loops():
    @sv.kernel(graph=True)
    def run(x: sv.types.NDArray[sv.f64, 1], outer: sv.types.NDArray[sv.i32, 0], inner: sv.types.NDArray[sv.i32, 0]):
        while sv.graph.do_while(outer):
            for _ in range(1):
                inner[None] = 3
            while sv.graph.do_while(inner):
                for i in x:
                    x[i] = 0.9 * x[i] * x[i]
                for _ in range(1):
                    inner[None] -= 1
            for i in x:
                x[i] += 0.5
            for _ in range(1):
                outer[None] -= 1
        for i in x:
            loss[None] += x[i]

    def value(v):
        for _ in range(2):
            for _ in range(3):
                v = 0.9 * v * v
            v = v + 0.5
        return v.sum()

    x, loss = array(N), array()
    x.from_numpy(START)
    with sv.ad.Tape(loss):
        run(x, flag(2), flag())
    assert x.grad.to_numpy() == pytest.approx(differences(value), rel=1e-12)


def test_checkpoints_where_a_launch_stops_and_resumes():
    @sv.kernel(graph=True, checkpoints=True)
    def solve(x: sv.types.NDArray[sv.f64, 1], left: sv.types.NDArray[sv.i32, 0], full: sv.types.NDArray[sv.i32, 0]):
        for i in x:
            x[i] *= 1.1
        while sv.graph.do_while(left, max_iterations=10):
            with sv.checkpoint(7, yield_on=full):
                for i in x:
                    x[i] = x[i] * x[i] * 0.7
            for _ in range(1):
                left[None] -= 1
        with sv.checkpoint(9, yield_on=full):
            for i in x:
                loss[None] += x[i]

    def launch(by_hand):
        x, full = array(N), flag(1)
        x.from_numpy(START)
        loss.fill(0)
        left = flag(3)
        with sv.ad.Tape() if by_hand else sv.ad.Tape(loss):
            seen = [solve(x, left, full)]
            while seen[-1].yielded:
                full.fill(0)  # which no gradient needs
                seen.append(solve.resume(x, left, full, from_checkpoint=seen[-1].checkpoint))
            with pytest.raises(sv.SamovarRuntimeError, match=r"no checkpoint 8\n  help: its checkpoints are 7, 9"):
                solve.resume(x, left, full, from_checkpoint=8)
        return x, seen

    loss = array()
    x, seen = launch(False)
    assert seen == [sv.GraphStatus(True, 7), sv.GraphStatus(False)]

    def value(v):
        v = 1.1 * v
        for _ in range(4):
            v = 0.7 * v * v
        return v.sum()

    assert loss[None] == pytest.approx(value(START), rel=1e-14)
    assert x.grad.to_numpy() == pytest.approx(differences(value), rel=1e-12)


def test_a_graph_is_launched_as_without_a_tape():
    """The status, the contents, and the error of a loop without end are those of an ordinary launch."""

    @sv.kernel(graph=True)
    def forever(more: sv.types.NDArray[sv.i32, 0]):
        while sv.graph.do_while(more, max_iterations=4):
            for i in x:
                x[i] += 1.0

    x, loss = array(N), array()
    for around in (nullcontext(), sv.ad.Tape(loss)):
        x.fill(0)
        with pytest.raises(sv.SamovarRuntimeError, match="not finished after 4 iterations"), around:
            forever(flag(1))
        assert x[0] == 4


def test_variables_between_parts_are_an_error_at_their_line():
    @sv.kernel(graph=True)
    def counted(more: sv.types.NDArray[sv.i32, 0]):
        s = 1.0
        while sv.graph.do_while(more):
            s = s * 0.5
            for i in x:
                x[i] *= s

    @sv.kernel(graph=True)
    def read_before(more: sv.types.NDArray[sv.i32, 0]):
        first = x[0]
        while sv.graph.do_while(more):
            for i in x:
                x[i] *= first

    @sv.kernel(graph=True)
    def noisy(more: sv.types.NDArray[sv.i32, 0]):
        while sv.graph.do_while(more):
            for i in x:
                x[i] *= sv.random()

    x, loss = array(N), array()
    for kernel, message in (
        (counted, r"(?s)`s` goes from one part of a graph to another, or.*x\[i\] \*= s.*help: keep it in an array"),
        (read_before, r"(?s)goes from one part of a graph to another.*first = x\[0\]"),
        (noisy, r"(?s)a graph that draws random numbers.*sv.random"),
    ):
        with pytest.raises(sv.SamovarCompilationError, match=message), sv.ad.Tape(loss):
            kernel(flag())


def test_a_time_loop_of_graphs_with_checkpoints():
    @sv.kernel(graph=True)
    def step(more: sv.types.NDArray[sv.i32, 0]):
        while sv.graph.do_while(more):
            for i in x:
                x[i] = sv.sin(x[i]) + 0.1
            for _ in range(1):
                more[None] = 1 - more[None]

    @sv.kernel
    def total():
        for i in x:
            loss[None] += x[i]

    x, loss, more = array(N), array(), flag()

    def gradient(run):
        x.from_numpy(START)
        loss.fill(0)
        more.fill(0)
        with sv.ad.Tape(loss):
            run()
            total()
        return x.grad.to_numpy().copy()

    plain = gradient(lambda: [step(more) for _ in range(9)])
    kept = gradient(lambda: sv.ad.checkpointed(lambda t: step(more), 9, memory=200))
    assert plain == pytest.approx(kept, rel=1e-14)


def test_recorded_launches():
    @sv.kernel
    def square(s: sv.f64):
        for i in x:
            x[i] = s * x[i] * x[i]

    @sv.kernel
    def total():
        for i in x:
            loss[None] += x[i]

    x, loss = array(N), array()
    with sv.graph.record() as step:
        square(0.5)
        square(0.25)
    x.fill(2)
    with sv.ad.Tape(loss):
        step()
        step()
        total()
    recorded = x.grad.to_numpy().copy()
    x.fill(2)
    with sv.ad.Tape(loss):
        for s in (0.5, 0.25, 0.5, 0.25):
            square(s)
        total()
    assert recorded.tolist() == x.grad.to_numpy().tolist()
    assert recorded[0] != 0
    x.fill(2)
    loss.fill(0)
    with sv.ad.FwdMode(loss, x, seed=[1.0] * N):
        step()
        step()
        total()
    assert loss.dual[None] == pytest.approx(recorded.sum(), rel=1e-14)


PROGRAM = """
import samovar as sv
sv.init(default_fp=sv.f64)
x, loss, more = sv.ndarray(sv.f64, 3, needs_grad=True), sv.ndarray(sv.f64, (), needs_grad=True), sv.ndarray(sv.i32, ())

@sv.kernel(graph=True)
def run(more: sv.types.NDArray[sv.i32, 0]):
    while sv.graph.do_while(more):
        for i in x:
            x[i] *= 0.5 * x[i]
        for _ in range(1):
            more[None] -= 1
    for i in x:
        loss[None] += x[i]

x.fill(3)
more.fill(2)
with sv.ad.Tape(loss):
    run(more)
print(x.grad[0], sv.compile_count())
"""


def test_a_second_process_compiles_no_part(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")}
    command = [sys.executable, str(tmp_path / "program.py")]
    lines = [
        subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split() for _ in range(2)
    ]
    assert lines[0][0] == lines[1][0]
    assert [int(count) > 0 for _, count in lines] == [True, False]
