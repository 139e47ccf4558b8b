"""Arrays and fields whose elements are vectors or matrices: from Python, in kernels, in memory, and in the key."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import samovar as sv
from samovar._native import as_ndarray

vec3, mat2 = sv.math.vec3, sv.math.mat2
Points = sv.types.NDArray[vec3, 1]


def numbers(*shape):
    return np.random.default_rng(len(shape)).integers(-9, 9, shape).astype(np.float32)


def made(kind):
    if kind == "array":
        return sv.ndarray(vec3, 5)
    if kind == "plain":
        return sv.ndarray(sv.f32, (5, 3))
    if kind == "numpy":
        return np.zeros((5, 3), np.float32)
    return sv.field(vec3, 5, layout=sv.Layout.SOA if kind == "apart" else sv.Layout.AOS)


def test_elements_from_python():
    x = sv.ndarray(vec3, (2, 2))
    assert (x.shape, x.element_shape, x.ndim, x.size, x.nbytes, len(x)) == ((2, 2), (3,), 2, 4, 48, 2)
    x[1, 0] = [1, 2, 3]
    x[1, 0].y = 7
    x[1, 0][2] += 1
    x[0, 1] = sv.Vector([4, 5, 6])
    x[1, 1] = 2
    assert x.to_numpy().tolist() == [[[0, 0, 0], [4, 5, 6]], [[1, 7, 4], [2, 2, 2]]]
    assert "element_shape=(3,)" in repr(x)
    x.fill([1, 2, 3])
    assert (x.to_numpy() == [1, 2, 3]).all()
    x.fill(0)
    assert not x.to_numpy().any()
    with pytest.raises(IndexError, match="3 indices for an array of rank 2"):
        x[0, 0, 0]
    with pytest.raises(sv.SamovarTypeError, match=r"has shape 3, not 2"):
        x[0, 0] = [1, 2]


def test_memory_is_shared_with_the_axes_of_the_elements_at_the_end():
    m = sv.ndarray(mat2, 3, needs_grad=True)
    seen = m.to_numpy(copy=False)
    assert seen.shape == (3, 2, 2)
    m[1] = [[1, 2], [3, 4]]
    assert seen[1].tolist() == [[1, 2], [3, 4]]
    seen[2] = 5
    assert m[2].to_list() == [[5, 5], [5, 5]]
    assert m.grad.element_shape == (2, 2)
    m.from_numpy(numbers(3, 2, 2))
    assert np.array_equal(m.to_numpy(), numbers(3, 2, 2))
    for other in (copy.copy(m), copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        assert (other.shape, other.element_shape, other[0].to_list()) == ((3,), (2, 2), m[0].to_list())


@sv.kernel
def move(x: Points, v: Points, dt: sv.f32):
    for i in x:
        v[i] += sv.Vector([0.0, -10.0, 0.0]) * dt
        x[i] += v[i] * dt
        x[i].z = x[i].x + x[i][1]
        x[i][i % 3] *= 2


@pytest.mark.parametrize("kind", ["array", "plain", "numpy"])
def test_kernels_take_what_fits_the_annotation(kind):
    x, v = made(kind), made(kind)
    for array in (x, v):
        (array if kind == "numpy" else array.to_numpy(copy=False))[...] = numbers(5, 3)
    move(x, v, 0.5)
    ex, ev = numbers(5, 3), numbers(5, 3)
    ev += np.array([0, -5, 0], np.float32)
    ex += ev * np.float32(0.5)
    ex[:, 2] = ex[:, 0] + ex[:, 1]
    for i in range(5):
        ex[i, i % 3] *= 2
    assert np.array_equal(np.asarray(x), ex)
    assert np.array_equal(np.asarray(v), ev)


@sv.kernel
def add_all(a: sv.Template, b: sv.Template) -> sv.f32:
    total = vec3(0)
    for i in a:
        b[i] += a[i] * 2.0
        total += b[i]
    return total.sum()


@pytest.mark.parametrize("one", ["array", "field", "apart"])
@pytest.mark.parametrize("two", ["array", "field", "apart"])
def test_arrays_and_fields_in_turns(one, two):
    a, b = made(one), made(two)
    a.from_numpy(numbers(5, 3))
    b.from_numpy(numbers(5, 3)[::-1].copy())
    expected = numbers(5, 3)[::-1] + 2 * numbers(5, 3)
    assert add_all(a, b) == expected.sum()
    assert np.array_equal(b.to_numpy(), expected)


@dataclass(frozen=True)
class State:
    x: Points
    grid: sv.types.NDArray[mat2, 2]


@sv.data_oriented
class System:
    def __init__(self, x):
        self.x = x

    @sv.func
    def shifted(self, i):
        return self.x[i] + 1.0

    @sv.kernel
    def run(self, out: Points):
        for i in self.x:
            out[i] = self.shifted(i)


@sv.func
def turned(state: State, i, j):
    return state.grid[i, j].transpose() @ state.x[i].xy


@sv.kernel
def members(state: State, out: Points):
    for i in state.x:
        out[i].xy = turned(state, i, 1)


def test_members_of_objects_two_funcs_deep():
    x, grid, out = numbers(4, 3), numbers(4, 2, 2, 2), np.zeros((4, 3), np.float32)
    members(State(x, grid), out)
    for i in range(4):
        assert np.array_equal(out[i, :2], grid[i, 1].T @ x[i, :2])
    own = sv.ndarray(vec3, 4)
    own.from_numpy(x)
    system = System(own)
    system.run(out)
    assert np.array_equal(out, x + 1)
    system.x = sv.field(vec3, 4)
    system.run(out)
    assert (out == 1).all()


@sv.kernel
def sizes(a: sv.types.ndarray()) -> sv.i32:
    return a.shape[0] * 100 + sv.static(len(a.element_shape)) * 10 + sv.static(a.ndim)


def test_what_the_elements_are_distinguishes():
    before = sv.compile_count()
    for array, expected in (
        (sv.ndarray(vec3, 4), 411),
        (sv.ndarray(sv.f32, (4, 3)), 402),
        (sv.ndarray(mat2, 4), 421),
        (sv.ndarray(vec3, 5), 511),
        (sv.Vector.ndarray(4, sv.f32, 4), 411),
    ):
        assert sizes(array) == expected
    assert sv.compile_count() == before + 4
    assert sizes(sv.ndarray(vec3, 7)) == 711
    assert sv.compile_count() == before + 4


def test_what_does_not_fit_is_refused():
    x, v = made("array"), made("array")
    with pytest.raises(sv.SamovarTypeError, match=r"expected elements of shape \(3,\), got an array of shape \(5, 4\)"):
        move(np.zeros((5, 4), np.float32), v, 1.0)
    with pytest.raises(sv.SamovarTypeError, match="expected a 1-D array with elements of shape"):
        move(np.zeros(5, np.float32), v, 1.0)

    @sv.kernel
    def of_numbers(a: sv.types.NDArray[sv.f32, 1]):
        for i in a:
            a[i] = 0.0

    with pytest.raises(sv.SamovarTypeError, match=r"expected numbers, got elements of shape \(3,\)"):
        of_numbers(x)


def test_fields_of_matrices_in_another_order():
    field = sv.Matrix.field(2, 2, sv.f32, (2, 3), order="ji")
    field.from_numpy(numbers(2, 3, 2, 2))

    @sv.kernel
    def square():
        for i, j in field:
            field[i, j] = field[i, j] @ field[i, j]

    square()
    assert np.array_equal(field.to_numpy(), numbers(2, 3, 2, 2) @ numbers(2, 3, 2, 2))
    assert field[1, 2].to_list() == (numbers(2, 3, 2, 2)[1, 2] @ numbers(2, 3, 2, 2)[1, 2]).tolist()


def test_vectors_lie_whole_in_the_cells_of_a_tree():
    position, mass, turn = sv.Vector.field(3, sv.f32), sv.field(sv.f32), sv.field(mat2)
    sv.root.dense(sv.ij, (2, 3)).dense(sv.ij, (2, 2)).place(position, mass)
    sv.root.dense(sv.i, 4).place(turn, offset=2)
    assert (position.shape, position.element_shape, mass.shape, turn.shape) == ((4, 6), (3,), (4, 6), (4,))

    @sv.kernel
    def fill():
        for i, j in position:
            mass[i, j] = i * 10 + j
            position[i, j] = sv.Vector([1.0, 2.0, 3.0]) * mass[i, j]
        for i in turn:
            turn[i] = sv.Matrix([[1.0, 0.0], [0.0, 1.0]]) * i

    fill()
    i, j = np.mgrid[:4, :6]
    assert np.array_equal(mass.to_numpy(), i * 10 + j)
    assert np.array_equal(position.to_numpy(), (i * 10 + j)[..., None] * np.array([1, 2, 3]))
    assert position[3, 5].to_list() == [35, 70, 105]
    assert turn[5].to_list() == [[5, 0], [0, 5]]


def test_a_copy_under_another_name_has_the_same_elements():
    array, field = sv.ndarray(vec3, 4), sv.field(vec3, 4, layout=sv.Layout.SOA)
    for source in (array, field):
        assert sv.from_dlpack(array).shape == (4, 3)  # others know nothing of elements
        for copied in (True, None):
            made = as_ndarray(source, copied)
            assert (made.shape, made.element_shape) == ((4,), (3,))


def test_lengths_that_are_known_are_asked_once():
    vec12 = sv.types.vector(12, sv.f32)
    field = sv.field(sv.f32, (4, 20))

    @sv.kernel
    def first(a: sv.types.NDArray[vec12, 1], b: Points) -> sv.f32:
        total = 0.0
        for i in a:
            total += a[i][3] + b[i].x + field[i, 17]
        return total

    field.fill(2)
    assert first(np.ones((4, 12), np.float32), np.ones((4, 3), np.float32)) == 16
    trace = [str(step) for step in first.specializations[0].keep.trace]
    assert [step for step in trace if "extent" in step] == ["a: exact extent 1 = 12", "b: exact extent 1 = 3"]


FILLED = {
    "an array": lambda kind: sv.ndarray(kind, (3, 4)),
    "an array entry by entry": lambda kind: sv.ndarray(kind, (3, 4), layout=sv.Layout.SOA),
    "a field": lambda kind: sv.field(kind, (3, 4)),
    "a field with an offset": lambda kind: sv.field(kind, (3, 4), offset=(-1, 2), order="ji"),
    "a field entry by entry": lambda kind: sv.field(kind, (3, 4), layout=sv.Layout.SOA),
}


@pytest.mark.parametrize("make", FILLED.values(), ids=FILLED)
def test_fill_in_a_kernel(make):
    vectors, matrices = make(sv.math.vec3), make(sv.types.matrix(2, 2, sv.f64))

    @sv.kernel
    def fill(v: sv.template(), m: sv.template(), x: sv.f32):
        v.fill(sv.math.vec3(x, 2, 3))
        m.fill([[1, 2], [3, x]])

    @sv.kernel
    def clear(v: sv.template(), m: sv.template()):
        v.fill(7)
        m.fill(0.5)

    fill(vectors, matrices, 9)
    assert (vectors.to_numpy() == [9, 2, 3]).all()
    assert (matrices.to_numpy() == [[1, 2], [3, 9]]).all()
    clear(vectors, matrices)
    assert (vectors.to_numpy() == 7).all()
    assert (matrices.to_numpy() == 0.5).all()


def test_fill_in_a_kernel_with_another_shape():
    @sv.kernel
    def wrong(v: sv.types.NDArray[sv.math.vec3, 1]):
        v.fill(sv.math.vec2(1, 2))

    with pytest.raises(sv.SamovarTypeError, match=r"(?s)vector of 2.*vector of 3|vector of 3.*vector of 2"):
        wrong(sv.ndarray(sv.math.vec3, 2))


FILLED = {
    "array": lambda kind, n: kind.ndarray(n),
    "array entry by entry": lambda kind, n: kind.ndarray(n, layout=sv.Layout.SOA),
    "field": lambda kind, n: kind.field(shape=n),
    "field entry by entry": lambda kind, n: kind.field(shape=n, layout=sv.Layout.SOA),
    "field with an offset": lambda kind, n: kind.field(shape=n, offset=3),
    "field in another order": lambda kind, n: kind.field(shape=(n, 3), order="ji"),
    "array of two axes": lambda kind, n: kind.ndarray((n, 2)),
    "in a struct": lambda kind, n: sv.types.struct(a=sv.i8, p=kind, b=sv.f64).ndarray(n).p,
}


@pytest.mark.parametrize("where", FILLED)
@pytest.mark.parametrize("dtype", [sv.f32, sv.f64, sv.i8, sv.u16, sv.i64, sv.u1, sv.f16], ids=str)
def test_filling_with_a_vector_or_a_matrix_sets_each_element(where, dtype):
    for shape in ((2,), (3,), (2, 3), (9,)):
        kind = sv.types.vector(*shape, dtype) if len(shape) == 1 else sv.types.matrix(*shape, dtype)
        value = (np.arange(np.prod(shape)) % 7 + 1).reshape(shape).astype(dtype.typestr)
        for n in (0, 1, 2, 17, 700, 4099):
            if n == 0 and "field" in where:
                continue
            filled = FILLED[where](kind, n)
            for given in (value.tolist(), value, kind(value.tolist())):
                filled.fill(0)
                filled.fill(given)
                found = filled.to_numpy()
                assert np.array_equal(found, np.broadcast_to(value, found.shape))


def test_filling_a_part_leaves_the_rest_as_it_is():
    a = sv.Vector.ndarray(3, sv.f32, 100)
    a[10:90].fill([1.0, 2.0, 3.0])
    expected = np.zeros((100, 3), np.float32)
    expected[10:90] = 1, 2, 3
    assert np.array_equal(a.to_numpy(), expected)
    s = sv.types.struct(a=sv.i8, p=sv.math.vec2, b=sv.f64).ndarray(50)
    s.fill(7)
    s.p.fill([1.0, 2.0])
    assert (s.a.to_numpy() == 7).all()
    assert (s.b.to_numpy() == 7).all()
    assert (s.p.to_numpy() == [1, 2]).all()


def test_what_does_not_fit_is_not_filled_with():
    a = sv.Vector.ndarray(3, sv.i8, 4)
    for wrong in ([1, 2], "abc", [[1, 2, 3]], None):
        with pytest.raises(TypeError):
            a.fill(wrong)
    assert not a.to_numpy().any()
    with pytest.warns(sv.SamovarWarning, match="300 does not fit in i8"):
        a.fill([1, 300, 3])
    assert a.to_numpy().tolist() == [[1, 44, 3]] * 4
    frozen = np.zeros((4, 3), np.float32)
    frozen.flags.writeable = False
    with pytest.raises((TypeError, ValueError)):
        sv.from_numpy(frozen, copy=False).fill(1.0)


@sv.kernel
def second_components(x: sv.types.NDArray[sv.types.vector(), 1]) -> sv.f64:
    total = sv.f64(0)
    for i in range(x.shape[0]):
        total += x[i][1] * x.n
    return total


@sv.kernel
def corner(x: sv.types.ndarray(sv.types.matrix(dtype=sv.f32), 1)) -> sv.f32:
    return x[0][1, 1]


@pytest.mark.parametrize("options", [{}, {"debug": True}, {"arch": "python"}], ids=["cpu", "debug", "python"])
def test_vectors_of_any_size(options):
    sv.init(**options)
    for kind in (sv.math.vec3, sv.types.vector(5, sv.i32), sv.types.vector(2, sv.f64)):
        x = sv.ndarray(kind, 4)
        x.fill(3)
        assert second_components(x) == 4 * 3 * kind.n
    m = sv.ndarray(sv.math.mat2, 3)
    m[0] = [[1, 2], [3, 4]]
    assert corner(m) == 4
    sv.reset()


def test_elements_of_any_size_are_vectors():
    with pytest.raises((TypeError, sv.SamovarTypeError), match="elements of shape"):
        second_components(sv.ndarray(sv.f32, 4))
    with pytest.raises((TypeError, sv.SamovarTypeError), match="f32"):
        corner(sv.ndarray(sv.types.matrix(2, 2, sv.f64), 4))


def test_a_vector_of_any_size_is_not_a_value():
    assert repr(sv.types.vector()) == "sv.types.vector()"
    with pytest.raises(sv.SamovarTypeError):

        @sv.kernel
        def wrong(v: sv.types.vector()):
            pass

    with pytest.raises(TypeError, match="is not a dtype"):
        sv.ndarray(sv.types.vector(), 3)
