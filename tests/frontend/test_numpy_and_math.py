"""Functions of NumPy and of `math` in kernels, on the numbers that plain Python gives them, against plain Python."""

import importlib
import math

import numpy as np
import pytest

import samovar as sv

FLOATS = [0.0, -0.0, 0.5, -1.75, 2.0, 3.25, -1000.5, 1e30, math.inf, -math.inf, math.nan]
INTEGERS = [0, 1, 2, 3, 7, 12, 18, 100, 65535, 2147483647, -1, -6, -2147483648]

#: Functions of NumPy: the arguments, in terms of x and y, and of which type they are.
OF_FLOATS = (
    "add subtract multiply divide equal greater greater_equal less less_equal not_equal logical_and logical_or logical_xor"
    " heaviside logaddexp logaddexp2 nextafter float_power"
).split()
OF_ONE_FLOAT = "negative positive logical_not reciprocal signbit conjugate spacing".split()
OF_INTEGERS = (
    "add subtract multiply bitwise_and bitwise_or bitwise_xor equal greater less logical_and logical_xor gcd"
).split()
OF_ONE_INTEGER = "invert negative positive logical_not signbit".split()
if hasattr(np, "bitwise_count"):  # NumPy 2
    OF_ONE_INTEGER.append("bitwise_count")
OF_MATH = [
    "math.isclose(x, y)", "math.isclose(x, y, rel_tol=0.5)", "math.remainder(x, y)", "math.nextafter(x, y)", "math.ulp(x)",
]  # fmt: skip
PAIRS = ["math.modf(x)", "math.frexp(x)", "np.modf(x)"]


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("functions")
    lines = ["import math", "import numpy as np", "import samovar as sv"]

    def add(name, expression, kind, result):
        lines.append(f"@sv.kernel\ndef {name}(x: sv.{kind}, y: sv.{kind}) -> {result}:\n    return {expression}")

    for name in OF_FLOATS:
        add(f"f_{name}", f"np.{name}(x, y)", "f64", "sv.f64")
    for name in OF_ONE_FLOAT:
        add(f"f_{name}", f"np.{name}(x)", "f64", "sv.f64")
    for name in OF_INTEGERS:
        add(f"i_{name}", f"np.{name}(x, y)", "i32", "sv.i32")
    for name in OF_ONE_INTEGER:
        add(f"i_{name}", f"np.{name}(x)", "i32", "sv.i32")
    for number, expression in enumerate(OF_MATH):
        add(f"m_{number}", expression, "f64", "sv.f64")
    for number, expression in enumerate(PAIRS):
        add(f"p_{number}", expression, "f64", "tuple[sv.f64, sv.f64]")
    for name in ("gcd", "lcm"):
        add(f"m_{name}", f"math.{name}(x, y)", "i64", "sv.i64")
    for name in ("comb", "perm"):
        add(f"m_{name}", f"math.{name}(x, y)", "i64", "sv.i64")
    for name in ("isqrt", "factorial"):
        add(f"m_{name}", f"math.{name}(x)", "i64", "sv.i64")
    (folder / "functions_in_kernels.py").write_text("\n".join(lines) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield importlib.import_module("functions_in_kernels")


def agree(found, expected):
    return found == expected or (found != found and expected != expected) or found == pytest.approx(expected, rel=1e-12)


def compared(kernel, numbers, convert):
    with np.errstate(all="ignore"):
        for x in numbers:
            for y in numbers:
                try:
                    expected = kernel.__wrapped__(convert(x), convert(y))
                except (ValueError, OverflowError, ZeroDivisionError):
                    continue
                found = kernel(x, y)
                if isinstance(expected, tuple):
                    assert all(map(agree, found, map(float, expected))), (x, y, found, expected)
                    assert [math.copysign(1, each) for each in found] == [math.copysign(1, each) for each in expected]
                else:
                    assert agree(found, float(expected)), (x, y, found, expected)


@pytest.mark.parametrize("name", [f"f_{name}" for name in (*OF_FLOATS, *OF_ONE_FLOAT)])
def test_functions_of_numpy_on_floats(kernels, name):
    compared(getattr(kernels, name), FLOATS, np.float64)


@pytest.mark.parametrize("name", [f"i_{name}" for name in (*OF_INTEGERS, *OF_ONE_INTEGER)])
def test_functions_of_numpy_on_integers(kernels, name):
    compared(getattr(kernels, name), INTEGERS, np.int32)


@pytest.mark.parametrize("name", [*(f"m_{n}" for n in range(len(OF_MATH))), *(f"p_{n}" for n in range(len(PAIRS)))])
def test_functions_of_math_on_floats(kernels, name):
    compared(getattr(kernels, name), FLOATS, float)


@pytest.mark.parametrize("name", ["m_gcd", "m_lcm"])
def test_divisors(kernels, name):
    compared(getattr(kernels, name), [*INTEGERS, -(2**20) * 3], int)


@pytest.mark.parametrize("name", ["m_comb", "m_perm"])
def test_choices(kernels, name):
    compared(getattr(kernels, name), range(15), int)


@sv.kernel
def next_to(x: sv.types.NDArray[sv.f32, 1], y: sv.f32, out: sv.types.NDArray[sv.f32, 2]):
    for i in x:
        out[i, 0], out[i, 1] = np.nextafter(x[i], y), np.spacing(x[i])
        out[i, 2] = np.nextafter(sv.f16(x[i]), sv.f16(y))


@pytest.mark.parametrize("y", FLOATS)
def test_neighbors_of_small_floats(y):
    with np.errstate(all="ignore"):
        x = np.array([*FLOATS, np.finfo(np.float32).max, np.finfo(np.float32).tiny, 1e-45], np.float32)
        half, towards = x.astype(np.float16), np.float16(y)
        expected = [np.nextafter(x, np.float32(y)), np.spacing(x), np.nextafter(half, towards).astype(np.float32)]
    out = np.zeros((len(x), 3), np.float32)
    next_to(x, y, out)
    np.testing.assert_array_equal(out, np.stack(expected, 1))


@sv.kernel
def products(v: sv.math.vec2, m: sv.math.mat2) -> tuple[sv.math.mat2, sv.math.vec2]:
    return np.matmul(m, m), np.matmul(m, v)


def test_products_of_matrices():
    v, m = np.array([1, 2], np.float32), np.array([[1, 2], [3, 4]], np.float32)
    square, turned = products(v, m)
    assert square.to_list() == (m @ m).tolist()
    assert turned.to_list() == (m @ v).tolist()


def test_roots_of_integers(kernels):
    numbers = {0, 1, 2, 3, 4, 2**62, 2**63 - 1}
    numbers |= {root * root + away for root in (3, 46340, 3037000499, 94906267) for away in (-1, 0, 1)}
    for number in numbers:
        assert kernels.m_isqrt(number, 0) == math.isqrt(number)


def test_factorials(kernels):
    assert [kernels.m_factorial(n, 0) for n in range(21)] == [math.factorial(n) for n in range(21)]


def test_whole_numbers_are_wanted():
    @sv.kernel
    def k(x: sv.f32) -> sv.f32:
        return math.gcd(x, 2)

    with pytest.raises(sv.SamovarError, match="integers"):
        k(2.0)


def test_vectors_go_entry_by_entry():
    @sv.kernel
    def k(x: sv.math.vec2, y: sv.math.vec2) -> sv.math.vec2:
        return np.add(x, y) + np.negative(x) + np.where(np.greater(x, y), x, y)

    assert list(k([1, 5], [4, 2])) == [8, 7]
