"""Operators of vectors and matrices in plain Python: entry by entry what a kernel computes, products what NumPy computes."""

import itertools
import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv

from . import model
from .model import FLOATS, NAMES, NUMPY, WHOLE, dtype, edge_values, same

OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "floordiv": operator.floordiv,
    "mod": operator.mod, "and": operator.and_, "or": operator.or_, "xor": operator.xor, "shl": operator.lshift,
    "shr": operator.rshift, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq,
    "ne": operator.ne,
}  # fmt: skip
IN_PLACE = {
    "add": operator.iadd, "sub": operator.isub, "mul": operator.imul, "div": operator.itruediv,
    "floordiv": operator.ifloordiv, "mod": operator.imod, "and": operator.iand, "or": operator.ior, "xor": operator.ixor,
    "shl": operator.ilshift, "shr": operator.irshift,
}  # fmt: skip
ONLY_INTEGERS = {"and", "or", "xor", "shl", "shr"}
#: Those that NumPy rounds in the narrow type where they are computed in double precision here.
NEAR = {"floordiv", "mod"}


def near(found, expected, name, code):
    if same(found, expected, zeros=code not in NEAR):
        return True
    return code in NEAR and name in FLOATS and abs(found - expected) <= 4 * np.finfo(NUMPY[name]).eps * abs(expected)


@pytest.mark.parametrize("code", OPERATORS)
@pytest.mark.parametrize("left", NAMES)
def test_entries_are_what_a_kernel_computes(code, left):
    for right in NAMES:
        if code in ONLY_INTEGERS and not {left, right} <= set(WHOLE):
            with pytest.raises(TypeError, match="requires integers"):
                OPERATORS[code](sv.Vector([1], dtype(left)), sv.Vector([1], dtype(right)))
            continue
        pairs = list(itertools.product(edge_values(left), edge_values(right)))[:: 3 if left != right else 1]
        result = OPERATORS[code](
            sv.Vector([a for a, _ in pairs], dtype(left)), sv.Vector([b for _, b in pairs], dtype(right))
        )
        done_in = model.result_type(code, left, right)
        assert result.dtype.name == ("u1" if code in model.COMPARISONS else done_in)
        for (a, b), found in zip(pairs, result, strict=True):
            expected = model.operate(code, left, a, right, b)
            assert near(found, expected, done_in, code), (a, b, found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_unary_operators(name):
    values = edge_values(name)
    v = sv.Vector(values, dtype(name))
    assert all(map(same, -v, (model.negate(name, value) for value in values)))
    assert all(map(same, abs(v), (model.magnitude(name, value) for value in values)))
    assert all(map(same, +v, values))
    if name in FLOATS:
        with pytest.raises(TypeError, match="`~` requires integers, got"):
            ~v  # noqa: B018
    else:
        assert all(map(same, ~v, (model.invert(name, value) for value in values)))


@pytest.mark.parametrize("code", IN_PLACE)
@pytest.mark.parametrize(("left", "right"), [("i32", "i8"), ("f32", "f64"), ("i16", "f32"), ("u8", "u64"), ("f64", "i32")])
def test_updates_keep_the_dtype_and_the_object(code, left, right):
    if code in ONLY_INTEGERS and not {left, right} <= set(WHOLE):
        return
    a, b = sv.Vector([7, 100, 3], dtype(left)), sv.Vector([2, 3, 5], dtype(right))
    expected = OPERATORS[code](a, b).cast(dtype(left))
    updated = IN_PLACE[code](a, b)
    assert updated is a
    assert (a.dtype, a.entries) == (expected.dtype, expected.entries)


def test_numbers_are_literals():
    """As in kernels: they take part in promotion as their default type, and are exact in the type of the result."""
    assert (sv.Vector([1], sv.i8) + 1).dtype is sv.i32
    assert (sv.Vector([1], sv.f64) * 0.1)[0] == 0.1
    assert (2 ** sv.Vector([1, 3])).to_list() == [2, 8]
    assert (1 - sv.Vector([1.5])).to_list() == [-0.5]
    assert (7 // sv.Vector([2, 0])).to_list() == [3, 0]
    assert (sv.Vector([2]) ** -1).to_list() == [0.5]
    assert (sv.Vector([2]) ** sv.Vector([-1])).to_list() == [0]
    assert (True & sv.Vector([True, False])).dtype is sv.u1
    assert (np.float64(0.1) * sv.Vector([1.0]))[0] == 0.1
    assert (sv.Vector([1.0]) * np.int64(2)).dtype is sv.f32


def test_powers():
    assert (sv.Vector([2.0, -3.0, 0.0]) ** 3).to_list() == [8, -27, 0]
    assert (sv.Vector([3], sv.i8) ** sv.Vector([5], sv.i8)).to_list() == [model.wrap(243, "i8")]
    assert (sv.Vector([-1.0]) ** 0.5)[0] != 0
    assert (sv.Vector([1e30]) ** 2).to_list() == [float("inf")]


@pytest.mark.parametrize("other", [[4, 5], (4, 5), np.array([4, 5], np.int32), sv.Vector([4, 5])])
def test_lists_and_arrays_are_operands(other):
    v = sv.Vector([1, 2])
    assert (v + other).to_list() == [5, 7]
    assert type(other - v) is sv.Vector
    assert (other - v).to_list() == [3, 3]
    v += other
    assert v.to_list() == [5, 7]


@pytest.mark.parametrize(
    "operate", [*OPERATORS.values(), *IN_PLACE.values(), operator.pow, sv.max, sv.math.hypot], ids=lambda f: f.__name__
)
def test_shapes_that_do_not_match_are_both_shown(operate):
    for other in (sv.Vector([1, 2, 3]), sv.Vector([1, 2, 3, 4])):
        with pytest.raises(sv.SamovarTypeError, match=f"2×2 and {other.n}|{other.n} and 2×2"):
            operate(sv.Matrix([[1, 2], [3, 4]]), other)


def test_what_is_no_operand():
    for other in ("a", None, {}, 1j):
        with pytest.raises(TypeError):
            sv.Vector([1]) + other
        with pytest.raises(TypeError):
            other * sv.Vector([1])


# --- products

SHAPES = [((2, 3), (3, 4)), ((3, 3), (3, 3)), ((2, 3), (3,)), ((3,), (3, 2)), ((1, 4), (4, 1)), ((5, 1), (1,))]


@pytest.mark.parametrize(("left", "right"), SHAPES)
@pytest.mark.parametrize("name", [name for name in NAMES if name != "u1"])
def test_products_are_those_of_numpy(left, right, name):
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-9 if name[0] != "u" else 0, 9, shape).astype(NUMPY[name]) for shape in (left, right))
    found = sv.Matrix(a) @ sv.Matrix(b)
    assert found.dtype is dtype(name)
    assert found.shape == (a @ b).shape
    assert np.array_equal(found.to_numpy(), a @ b)
    assert np.array_equal((sv.Matrix(a) @ b.tolist()).to_numpy().astype(b.dtype), a @ b)
    assert np.array_equal((a @ sv.Matrix(b)).to_numpy(), a @ b)


def test_products_that_do_not_fit():
    with pytest.raises(sv.SamovarTypeError, match="2×3 and 2×2"):
        sv.Matrix([[1, 2, 3], [4, 5, 6]]) @ sv.Matrix([[1, 2], [3, 4]])
    with pytest.raises(sv.SamovarTypeError, match="2 and 3"):
        sv.Vector([1, 2]) @ sv.Vector([1, 2, 3])


def test_the_product_of_two_vectors_is_a_number():
    assert sv.Vector([1, 2]) @ sv.Vector([3, 4]) == 11


@pytest.mark.parametrize("name", ["i32", "f32", "f64"])
@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_methods_are_those_of_numpy(name, n):
    generator = np.random.default_rng(n)
    a, b = (generator.integers(-9, 9, n).astype(NUMPY[name]) for _ in range(2))
    v, w = sv.Vector(a), sv.Vector(b)
    assert v.dot(w) == v @ w == a @ b
    assert np.array_equal(v.outer_product(w).to_numpy(), np.outer(a, b))
    assert v.outer_product(w).dtype is dtype(name)
    assert v.norm_sqr() == a @ a
    assert v.norm() == pytest.approx(np.linalg.norm(a), rel=1e-6)
    assert v.norm(9.0) == pytest.approx(np.sqrt(a @ a + 9), rel=1e-6)
    assert v.norm_inv() == pytest.approx(1 / np.linalg.norm(a), rel=1e-6)
    assert v.normalized().to_numpy() == pytest.approx(a / np.linalg.norm(a), rel=1e-5)
    m = sv.Matrix(np.outer(a, b) + np.eye(n, dtype=NUMPY[name]))
    assert m.trace() == np.trace(m.to_numpy())
    assert np.array_equal(m.transpose().to_numpy(), m.to_numpy().T)
    assert v.transpose().shape == (1, n)
    if n == 3:
        assert np.array_equal(v.cross(w).to_numpy(), np.cross(a, b))
    if n == 2:
        assert v.cross(w) == a[0] * b[1] - a[1] * b[0]


def test_types_meet_in_methods():
    v, w = sv.Vector([1, 2, 3]), sv.Vector([1, 2, 3], sv.f64)
    assert v.cross(w).dtype is sv.f64
    assert v.outer_product(w).dtype is sv.f64
    assert v.normalized().dtype is sv.f32
    assert w.normalized().dtype is sv.f64
    assert sv.Vector([100, 100], sv.i8).dot(sv.Vector([100, 1], sv.i8)) == model.wrap(10100, "i8")


def test_methods_of_the_wrong_shape():
    with pytest.raises(sv.SamovarError, match="cross"):
        sv.Vector([1, 2, 3, 4]).cross(sv.Vector([1, 2, 3, 4]))
    with pytest.raises(sv.SamovarError, match="square"):
        sv.Matrix([[1, 2, 3], [4, 5, 6]]).trace()
    with pytest.raises(TypeError, match="3 and 2"):
        sv.Vector([1, 2, 3]).dot(sv.Vector([1, 2]))


def test_the_norm_of_zeros():
    zeros = sv.Vector.zero(sv.f32, 3)
    assert all(each != each for each in zeros.normalized())
    assert zeros.normalized(1e-6).to_list() == [0, 0, 0]
    assert zeros.norm_inv() == float("inf")


# --- laws

numbers = st.integers(-100, 100)
vectors = st.lists(numbers, min_size=3, max_size=3).map(lambda entries: sv.Vector(entries, sv.i64))
square = st.lists(vectors, min_size=3, max_size=3).map(sv.Matrix.rows)


def equal(left, right):
    return bool((left == right).all())


@given(vectors, vectors, vectors, numbers)
def test_laws_of_vectors(u, v, w, k):
    assert equal(u + v, v + u)
    assert equal((u + v) * k, u * k + v * k)
    assert u.dot(v) == v.dot(u)
    assert u.dot(v + w) == u.dot(v) + u.dot(w)
    assert equal(u.cross(v), -v.cross(u))
    assert u.cross(v).dot(u) == 0
    assert equal(u.cross(v.cross(w)), v * u.dot(w) - w * u.dot(v))
    assert u.outer_product(v).trace() == u.dot(v)


@given(square, square, square, vectors)
def test_laws_of_matrices(a, b, c, v):
    assert equal((a @ b) @ c, a @ (b @ c))
    assert equal(a @ (b + c), a @ b + a @ c)
    assert equal((a @ b).transpose(), b.transpose() @ a.transpose())
    assert equal((a @ b) @ v, a @ (b @ v))
    assert equal(v @ a, a.transpose() @ v)
    assert (a @ b).trace() == (b @ a).trace()
