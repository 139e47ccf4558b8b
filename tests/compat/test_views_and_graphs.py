"""Views and graphs under the names of Quadrants: what its guide shows, with its words where something goes wrong."""

import dataclasses
import enum
import re

import numpy as np
import pytest

import samovar.compat.quadrants as qd
from samovar.compat.quadrants import BufferView


@pytest.fixture
def debugged():
    qd.init(arch=qd.cpu, debug=True)
    yield
    qd.init(arch=qd.cpu)


@pytest.fixture
def data():
    made = qd.ndarray(qd.f32, shape=(32,))
    made.from_numpy(np.ones(32, np.float32))
    return made


@qd.kernel
def scale(v: BufferView[qd.f32], factor: qd.f32):
    for i in range(v.size):
        v[i] = v[i] * factor


@qd.kernel
def scale_any(v: qd.types.BufferViewType(), factor: qd.f32):
    for i in range(v.size):
        v[i] = v[i] * factor


@dataclasses.dataclass(frozen=True)
class Row:
    v: BufferView[qd.f32]


@qd.kernel
def fill(row: Row):
    for i in range(row.v.size):
        row.v[i] = 5.0


def test_views_are_given_to_kernels(data):
    scale(data[:16], 2.0)
    scale_any(data[16:].subview(offset=4, size=4), 3.0)
    fill(Row(v=data[24:28]))
    fill(Row(v=data[28:]))
    assert data.to_numpy().tolist() == [2] * 16 + [1] * 4 + [3] * 4 + [5] * 8


def test_what_is_refused_has_the_peers_classes(data):
    with pytest.raises(ValueError, match="step=1"):
        data[::2]
    with pytest.raises(TypeError, match="1-D"):
        qd.ndarray(qd.f32, shape=(4, 4))[:2]
    with pytest.raises(TypeError, match="slice"):
        data[:16][3]
    with pytest.raises(ValueError, match="subview out of range"):
        data[:16].subview(10, 8)
    with pytest.raises(TypeError, match="subview"):
        BufferView(data[:4], 0, 2)
    with pytest.raises(qd.QuadrantsTypeError, match="i32"):
        scale(qd.ndarray(qd.i32, shape=(4,))[:], 1.0)


@qd.func
def writer(v, i):
    v[i] = 1.0


@qd.kernel
def write(v: BufferView[qd.f32], i: qd.i32):
    for _ in range(1):
        writer(v, i)


def test_an_index_out_of_range_has_the_call_stack(debugged, data):
    with pytest.raises(qd.QuadrantsAssertionError) as caught:
        write(data[:16], 16)
    said = r"BufferView Out Of Range: kernel\[write\] tid=0, got index 16 \(offset=0, size=16\)\.\n"
    stack = r"Callstack:\nwrite \(test_views_and_graphs\.py:\d+\)\n  writer \(test_views_and_graphs\.py:\d+\)"
    assert re.fullmatch(said + stack, str(caught.value))
    assert data.to_numpy()[16] == 1


class Stage(enum.IntEnum):
    LOAD = 1
    SOLVE = 4


@qd.data_oriented
class Solver:
    def __init__(self):
        self.x = qd.ndarray(qd.f32, shape=(8,))
        self.more, self.full = (qd.ndarray(qd.i32, shape=()) for _ in range(2))

    @qd.kernel(graph=True, checkpoints=True)
    def step(self):
        while qd.graph_do_while(self.more):
            with qd.checkpoint(Stage.SOLVE, yield_on=self.full):
                for i in range(self.x.shape[0]):
                    self.x[i] += 1.0
            for _ in range(1):
                self.more[None] -= 1


def test_a_graph_yields_and_goes_on():
    solver = Solver()
    solver.more.fill(3)
    solver.full.fill(1)
    status = solver.step()
    assert status == qd.GraphStatus(yielded=True, checkpoint=Stage.SOLVE)
    assert status.checkpoint is Stage.SOLVE
    solver.x = qd.ndarray(qd.f32, shape=(16,))
    solver.full.fill(0)
    assert not solver.step.resume(from_checkpoint=status.checkpoint).yielded
    assert solver.x.to_numpy().tolist() == [3] * 16
