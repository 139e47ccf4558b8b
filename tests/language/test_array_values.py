"""Rows, slices and expressions of whole arrays in kernels, against NumPy running the same source."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.language.source import define

import samovar as sv

RNG = np.random.default_rng(3)


def fused(a, b, c):
    a[:] = np.sqrt(b) * c + 1
    a += b
    a[1:-1] *= 2.0
    a[::3] = c[::3] - 1
    a[-2:] = 7


def rows(a, b):
    for i in range(a.shape[0]):
        a[i] = b[a.shape[0] - 1 - i]
    a[0] = 7
    a[:, 1] = a[:, 2] * 2
    a[-1] = a[0] + 1
    row = a[2]
    row[0] = 5.0
    row[1:] += 1.0
    a[1, ::2] = b[0, 1::2]


def distances(p, q, out):
    for i in range(p.shape[0]):
        for j in range(q.shape[0]):
            d = p[i] - q[j]
            out[i, j] = np.sqrt((d * d).sum())


def windows(a, out):
    for i in range(a.shape[0]):
        w = a[max(0, i - 3) : i + 4]
        out[i] = w.mean() + w.max() - w.min() + w.std() + np.argmin(w) + w.size + len(w)


def along(m, rows, columns, product):
    columns[:] = m.sum(axis=0)
    rows[:] = np.max(m, axis=1)
    product[:] = m @ columns
    product += np.dot(m, columns)


PROGRAMS = {
    fused: lambda dtype: [RNG.random(50).astype(dtype) for _ in range(3)],
    rows: lambda dtype: [RNG.random((5, 4)).astype(dtype) for _ in range(2)],
    distances: lambda dtype: [RNG.random((n, 3)).astype(dtype) for n in (6, 5)] + [np.zeros((6, 5), dtype)],
    windows: lambda dtype: [RNG.random(20).astype(dtype), np.zeros(20, dtype)],
    along: lambda dtype: [RNG.random((4, 6)).astype(dtype), *(np.zeros(n, dtype) for n in (4, 6, 4))],
}


@pytest.mark.parametrize("options", [{"serial": True}, {}], ids=["serial", "parallel"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_programs_do_what_numpy_does(program, dtype, options):
    expected = PROGRAMS[program](dtype)
    given = [each.copy() for each in expected]
    program(*expected)
    sv.kernel(program, **options)(*given)
    for one, two in zip(given, expected, strict=True):
        assert_allclose(one, two, rtol=2e-5)


@sv.kernel
def reductions(a, b):
    return a.sum(), a.prod(), a.min(), a.max(), a.any(), np.all(a), np.sum(a * b), np.dot(a, b)


@pytest.mark.parametrize("dtype", [np.int16, np.uint8, np.bool_, np.int64])
def test_reductions_of_integers_are_those_of_numpy(dtype):
    a, b = np.array([3, 1, 2, 1, 0], dtype), np.array([1, 0, 2, 3, 1], dtype)
    expected = (a.sum(), a.prod(), a.min(), a.max(), a.any(), a.all(), np.sum(a * b))
    assert reductions(a, b)[:-1] == expected


def test_extremes_of_nan_are_nan_and_those_of_nothing_are_known():
    values = np.array([1.0, np.nan, 0.5])
    found = reductions(values, values)
    assert np.isnan(found[2])
    assert np.isnan(found[3])
    assert reductions(np.zeros(0), np.zeros(0))[:2] == (0, 1)


@sv.kernel(serial=True)
def local_arrays(x):
    m, v = np.zeros((3, 3)), np.array([1.0, 2.0, 3.0])
    w = np.full(3, 2.0)
    for i in range(3):
        m[i, i] = x
    u = np.zeros_like(v)
    for i in range(3):
        for j in range(3):
            u[i] += m[i, j] * v[j] * w[i]
    return np.sum(u), np.dot(v, w), np.ones(2, np.int32)[1]


@sv.kernel(serial=True)
def sums_of_rows(m, index):
    for i in range(m.shape[0]):
        index[i] = (m[i] * m[i]).sum()


def test_a_parameter_may_have_the_name_of_the_index():
    index = np.zeros(2)
    sums_of_rows(np.ones((2, 3)), index)
    assert index.tolist() == [3, 3]


def test_arrays_of_known_shape_are_local():
    assert local_arrays(1.5) == (18.0, 12.0, 1)


@sv.func
def halved(row: sv.Array[sv.f64, 1], scale):
    row *= 0.5
    return scale * row.sum()


@sv.kernel
def pass_rows(m: sv.Array[sv.f64, 2], out: sv.Array[sv.f64, 1]):
    for i in range(m.shape[0]):
        out[i] = halved(m[i], 2.0) + halved(m[i, 1:], 1.0)


def test_rows_are_passed_to_funcs():
    m, out = np.arange(6.0).reshape(2, 3), np.zeros(2)
    pass_rows(m, out)
    assert out.tolist() == [3.0 + 0.75, 12.0 + 2.25]
    assert m.tolist() == [[0.0, 0.25, 0.5], [1.5, 1.0, 1.25]]


MISTAKES = [
    ("a[1:] = a[:-1]", "reads other elements of `a` than it writes", "assign to another array first"),
    ("m[:] = m[0]", "reads other elements of `m` than it writes", "assign to another array first"),
    ("d = a + b\n    a[0] = 1.0\n    b[:] = d", "`a`, which it reads, has changed", "compute it into an array"),
    ("d = a + b\n    for i in range(3): b[i] = d.sum()", "the loop changes `b`, which it reads", "compute it into"),
    ("x = np.zeros(len(a))", "needs a shape that is known at compile time", "create the array outside and pass it"),
    ("return a + b", "expected a number, got an array expression", "reduce it to a number"),
    ("if a > 0: return 1", "the truth value of an array expression is ambiguous", "`.any()` or `.all()`"),
    ("a[:] = m", "shapes do not match", ""),
    ("d = a + b\n    d = a - b", "`d` is an array expression and cannot be assigned again", "use a new name"),
    ("x = a[b]", "an array as an index is not supported", "write a loop over the indices"),
    ("x = (np.zeros(3) + np.zeros(4) + a)[0]", "shapes do not match", ""),
    ("x = m.T", "no attribute `T`", "swap the indices: `m[j, i]`"),
    ("x = (m * 2).T", "no attribute `T`", "swap the indices: `a[j, i]`"),
]


@pytest.mark.parametrize(("code", "says", "advice"), MISTAKES, ids=[each[0][:30] for each in MISTAKES])
def test_what_numpy_would_copy_is_an_error_that_says_what_to_write(code, says, advice):
    kernel = define(f"@sv.kernel(serial=True)\ndef k(a, b, m):\n    {code}\n", np=np)
    with pytest.raises(sv.SamovarError) as caught:
        kernel(np.ones(4), np.ones(4), np.ones((4, 4)))
    message = str(caught.value)
    assert says in message
    assert advice in message
    assert "^" in message


@sv.kernel(serial=True)
def add(a, b, c):
    c[:] = a + b


@sv.kernel(serial=True)
def before(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i - 2 : i].sum()


@sv.kernel
def into_part(a):
    a[0:4] = np.zeros(3)


@sv.kernel
def into_part_of_row(m, b):
    for i in range(m.shape[0]):
        m[i] = b * 2.0


def test_shapes_known_at_run_time_are_always_compared():
    for kernel, arguments, says in (
        (into_part, (np.ones(6),), r"in `a\[0:4\]`: kernel\[into_part\]: dimensions of 4 and 3 elements"),
        (into_part_of_row, (np.ones((2, 3)), np.ones(2)), r"in `m\[i\]`: .* dimensions of 3 and 2 elements"),
        (add, (np.ones(3), np.ones(4), np.ones(3)), "dimensions of 3 and 4 elements"),
    ):
        before = arguments[0].copy()
        with pytest.raises(sv.SamovarAssertionError, match=says):
            kernel(*arguments)
        assert (arguments[0] == before).all()
    short = np.ones(3)
    into_part(short)  # as in NumPy, the slice ends with the array
    assert short.tolist() == [0, 0, 0]


@sv.kernel(serial=True)
def over_elements(a, b, out) -> sv.f64:
    total = 0.0
    for i, x in enumerate(a):
        x *= 2
        out[i] = x
    for i, x in enumerate(a[1:], 1):
        out[i] += x
    for i, x, y in zip(range(10), a[1:], b[::-1], strict=False):
        total += i * x * y
    return total


def test_enumerate_and_zip_go_over_elements():
    a, b, out = np.arange(1.0, 6.0), np.arange(3.0), np.zeros(5)
    assert over_elements(a, b, out) == sum(i * x * y for i, (x, y) in enumerate(zip(a[1:], b[::-1], strict=False)))
    assert out.tolist() == [2.0, 6.0, 9.0, 12.0, 15.0]
    assert a[0] == 1.0


@sv.kernel
def parallel_elements(a, out):
    for i, x in enumerate(a):
        out[i] = x + 1


def test_enumerate_of_an_array_is_a_parallel_loop_and_of_rows_an_error():
    text = parallel_elements.inspect("ir", np.ones(3), np.ones(3))
    assert text.count("for ") == 1
    assert "parallel" in text
    with pytest.raises(sv.SamovarTypeError, match="over arrays of numbers with one dimension"):
        parallel_elements(np.ones((2, 2)), np.ones(3))


@sv.kernel
def ends_early(a, out):
    out[2:1] = a[4:6] + a[5:7]  # no elements on either side


def test_slices_beyond_the_end_have_no_elements():
    out = np.ones(3)
    ends_early(np.ones(3), out)
    assert out.tolist() == [1, 1, 1]


Points, Numbers = sv.types.NDArray[sv.f64, 2], sv.types.NDArray[sv.f64, 1]


@sv.kernel
def energy(a: Points, b: Numbers, e: Numbers):
    for i in range(a.shape[0]):
        d = a[i] - b
        e[0] += (d * d).sum()


def test_expressions_are_differentiated():
    a, b, e = (sv.ndarray(sv.f64, shape, needs_grad=True) for shape in ((2, 3), (3,), (1,)))
    values, center = np.arange(6.0).reshape(2, 3), np.array([1.0, 0.0, 2.0])
    a.from_numpy(values)
    b.from_numpy(center)
    e.grad.fill(1.0)
    energy(a, b, e)
    energy.grad(a, b, e)
    assert e.to_numpy() == ((values - center) ** 2).sum()
    assert np.array_equal(a.grad.to_numpy(), 2 * (values - center))
    assert np.array_equal(b.grad.to_numpy(), -2 * (values - center).sum(0))


def test_an_array_beside_itself_needs_no_check():
    assert "check" not in into_itself.inspect("ir", np.ones(3))


@sv.kernel
def into_itself(a):
    a[:] = a * 2 + a


def test_debug_mode_compares_shapes_and_bounds():
    sv.init(debug=True)
    try:
        add(np.ones(3), np.ones(3), np.ones(3))
        with pytest.raises(sv.SamovarAssertionError, match="dimensions of 3 and 4 elements"):
            add(np.ones(3), np.ones(4), np.ones(3))
        with pytest.raises(sv.SamovarAssertionError, match="got offset=-2, size=2"):
            before(np.ones(3), np.ones(3))
    finally:
        sv.reset()


def test_an_expression_is_one_loop():
    text = add.inspect("ir", np.ones(3), np.ones(3), np.ones(3))
    assert text.count("for ") == 1
    assert "local" not in text
