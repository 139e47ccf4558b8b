"""`arch=sv.python`: kernels run as plain Python, with the same results, line by line in their own files."""

import sys

import numpy as np
import pytest

import samovar as sv


@pytest.fixture(params=["cpu", "python"])
def arch(request):
    sv.init(arch=request.param)
    yield request.param
    sv.reset()


@pytest.fixture
def plain():
    sv.init(arch=sv.python)
    yield
    sv.reset()


SCALE = 3
field = sv.field(sv.f32, (4, 3))
vectors = sv.field(sv.math.vec2, 5)
total = sv.field(sv.i32, ())


@sv.func
def scaled(v, factor: sv.i32):
    v[0] = 100.0  # a copy of the caller's
    return v * factor


@sv.func
def swap(a: sv.template(), i: sv.i32, j: sv.i32):
    a[i], a[j] = a[j], a[i]


@sv.kernel
def work(a: sv.types.NDArray[sv.i32, 1], n: sv.i32, x: sv.f32) -> sv.f32:
    for i, j in field:
        field[i, j] = i * SCALE + j + x
    for I in sv.grouped(field):
        if I[0] + 1 < field.shape[0]:
            field[I] += field[I + sv.Vector([1, 0])] * 0
    for i in a:
        old = sv.atomic_add(a[i], n)
        sv.atomic_max(total[None], old + n)
        vectors[i % 5][1] += 1
    for i in range(5):
        v = vectors[i]
        w = scaled(v, 2)
        vectors[i] = v + w - w
    for i, j in sv.ndrange(2, (1, 3)):
        total[None] += i * j
    for k in sv.static(range(2)):
        swap(a, k, a.shape[0] - 1 - k)
    found: sv.i32 = 2.75
    count = 0
    while count < 10:
        count += 1
        if count == 4:
            break
    sv.atomic_add(count, 2)
    return found + count + sv.math.clamp(x, 0.0, 1.0)


def test_the_results_are_the_same(arch):
    for each in (field, vectors, total):
        each.fill(0)
    a = np.arange(8, dtype=np.int32)
    assert work(a, 10, 0.5) == 2 + 6 + 0.5
    assert a.tolist() == [17, 16, 12, 13, 14, 15, 11, 10]
    assert field.to_numpy().tolist() == [[i * 3 + j + 0.5 for j in range(3)] for i in range(4)]
    assert vectors.to_numpy().tolist() == [[0, 2], [0, 2], [0, 2], [0, 1], [0, 1]]
    assert total[None] == 17 + 1 + 2


@sv.data_oriented
class Counter:
    def __init__(self):
        self.cells = sv.ndarray(sv.i32, 4)
        self.step = 2

    @sv.func
    def twice(self, i):
        return 2 * i + self.step

    @sv.kernel
    def fill(self, offset: sv.i32):
        for i in self.cells:
            self.cells[i] = self.twice(i) + offset


def test_a_field_that_begins_elsewhere(arch):
    shifted = sv.field(sv.i32, (2, 3), offset=(-1, 5))

    @sv.kernel
    def fill():
        for i, j in shifted:
            shifted[i, j] = 10 * i + j
        for I in sv.grouped(shifted):
            shifted[I] += 1

    fill()
    assert shifted.to_numpy().tolist() == [[-4, -3, -2], [6, 7, 8]]


def test_a_loop_over_elements_of_several_numbers(arch):
    points = sv.Vector.field(3, sv.i32, (2, 2), offset=(1, -1))
    matrices = sv.Matrix.field(2, 2, sv.i32, (3,))

    @sv.kernel
    def fill():
        for I in sv.grouped(points):
            points[I] = [I[0], I[1], 3]
        for i, j in points:
            points[i, j][2] += i
        for I in sv.grouped(matrices):
            matrices[I] = sv.Matrix([[1, 2], [3, I[0]]])

    fill()
    assert points.to_numpy().tolist() == [[[1, -1, 4], [1, 0, 4]], [[2, -1, 5], [2, 0, 5]]]
    assert matrices.to_numpy()[:, 1, 1].tolist() == [0, 1, 2]


def test_indices_of_a_view_begin_with_zero():
    assert list(sv.grouped(sv.BufferView(sv.ndarray(sv.f32, 10), 3, 4))) == [(0,), (1,), (2,), (3,)]


def test_methods_and_captured_variables(arch):
    counter, factor = Counter(), 5
    counter.fill(1)
    assert counter.cells.to_numpy().tolist() == [3, 5, 7, 9]

    @sv.kernel
    def pair(x: sv.f64) -> (sv.i32, sv.math.vec2):
        return int(x) * factor, sv.math.vec2(x, 1)

    number, vector = pair(2.5)
    assert (number, vector[0], vector[1]) == (10, 2.5, 1)


@sv.dataclass
class Particle:
    place: sv.math.vec2
    mass: sv.f32

    @sv.func
    def pushed(self, by: sv.f32):
        return self.place + by


def test_structs_are_values(arch):
    particles = Particle.field(3)

    @sv.kernel
    def move() -> sv.f32:
        for i in particles:
            particles[i].mass = i
            own = particles[i]
            own.mass = 100
            particles[i].place[0] += 2
            other = Particle(place=sv.Vector([1.0, 1.0]), mass=3)
            particles[i].place[1] = other.pushed(2.0)[1]
        return particles[2].mass

    assert move() == 2
    assert particles.place.to_numpy().tolist() == [[2, 3]] * 3


@pytest.mark.usefixtures("plain")
def test_nothing_is_compiled_and_every_line_is_seen():
    before, seen = sv.compile_count(), set()
    code = work.__wrapped__.__code__

    def trace(frame, event, argument):
        if frame.f_code.co_filename == code.co_filename and frame.f_code.co_name == "work":
            seen.add(frame.f_lineno)
        return trace

    outer = sys.gettrace()
    sys.settrace(trace)
    try:
        work(np.arange(8, dtype=np.int32), 1, 0.0)
    finally:
        sys.settrace(outer)
    assert sv.compile_count() == before
    assert code.co_firstlineno < min(seen)
    assert len(seen) > 20


@pytest.mark.usefixtures("plain")
def test_errors_are_those_of_python():
    @sv.kernel
    def reach(a: sv.types.NDArray[sv.f32, 1], i: sv.i32):
        assert i < 10, "too far"
        a[i] = 1

    with pytest.raises(IndexError):
        reach(np.zeros(2, np.float32), 5)
    with pytest.raises(AssertionError, match="too far"):
        reach(np.zeros(2, np.float32), 10)
    with pytest.raises(sv.SamovarArrayError, match="expected elements of type f32"):
        reach(np.zeros(2), 0)

    @sv.kernel
    def beyond():
        sv.simt.block.sync()

    with pytest.raises(sv.SamovarRuntimeError, match="GPU threads"):
        beyond()


def test_going_back_compiles_again():
    a = sv.ndarray(sv.i32, 3)

    @sv.kernel
    def add(a: sv.types.NDArray[sv.i32, 1]):
        for i in a:
            a[i] += 1

    add(a)
    sv.init(arch=sv.python)
    add(a)
    assert not add.specializations
    sv.reset()
    add(a)
    assert add.specializations
    assert a.to_numpy().tolist() == [3, 3, 3]


def test_arrays_of_numpy_whose_elements_are_vectors_and_matrices():
    def k(a: sv.types.NDArray[sv.math.vec3, 1], m: sv.types.ndarray(dtype=sv.math.mat2, ndim=1)):
        for i in a:
            a[i] = a[i] * 2 + sv.math.vec3(1, 2, 3)
            m[i] = m[i] @ m[i]

    results = []
    for arch in (sv.cpu, sv.python):
        sv.init(arch=arch)
        a, m = np.ones((4, 3), np.float32), np.full((4, 2, 2), 2, np.float32)
        sv.kernel(k)(a, m)
        results.append((a.tolist(), m.tolist()))
    assert results[0] == results[1]
