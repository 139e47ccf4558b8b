"""Complex numbers in kernels: parameters, variables, results, arrays, operators, reductions, structs and funcs."""

import cmath
from dataclasses import dataclass

import numpy as np
import pytest

import samovar as sv

NUMPY = {"c64": np.complex64, "c128": np.complex128}
RELATIVE = {"c64": 2e-6, "c128": 1e-14}


def numbers(count: int, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.normal(size=count) + 1j * random.normal(size=count)


@sv.kernel
def mixed(z: sv.c128, x: sv.f64, n: sv.i32, out: sv.types.NDArray[sv.c128, 1]) -> sv.c128:
    w = z * 2 + 1j
    out[0] = z + w
    out[1] = z - x
    out[2] = n * z
    out[3] = z / w
    out[4] = 1 / z
    out[5] = z**2
    out[6] = z**w
    out[7] = -z
    out[8] = z.conjugate()
    out[9] = complex(z.real, x)
    out[10] = x if n > 3 else z
    out[11] = complex(1, 2) * (3 - 1j)
    out[12] = z**-3
    out[13] = x - z
    out[14] = complex(x, z)
    out[15] = z**0.5
    z2 = z
    z2 += 1
    z2 *= 2j
    z2 /= w
    z2 -= x
    out[16] = z2
    return np.exp(z) if z == w else abs(z) + z.imag * 1j


def test_operators_are_those_of_python():
    for z in (1.5 - 2j, -0.25 + 1e-3j, 3 + 0j):
        out, x, n = np.zeros(17, np.complex128), 0.75, 5
        result = mixed(z, x, n, out)
        w = z * 2 + 1j
        z2 = ((z + 1) * 2j) / w - x
        wanted = [
            z + w, z - x, n * z, z / w, 1 / z, z**2, z**w, -z, z.conjugate(), complex(z.real, x), x, (1 + 2j) * (3 - 1j),
            z**-3, x - z, complex(x, z), z**0.5, z2,
        ]  # fmt: skip
        np.testing.assert_allclose(out, wanted, rtol=1e-14)
        assert cmath.isclose(result, abs(z) + z.imag * 1j)
        assert type(result) is complex


def test_numbers_of_any_type_are_complex_arguments():
    @sv.kernel
    def twice(z: sv.c64) -> sv.c64:
        return z + z

    for value in (1, 2.5, True, 1 - 2j, np.complex64(3j), np.float32(2), np.int8(-1), np.complex128(1 + 1j)):
        assert twice(value) == complex(value) * 2
    for wrong in ("1", None, [1j]):
        with pytest.raises(sv.SamovarTypeError, match="z"):
            twice(wrong)


def test_complex_stands_for_the_default_type():
    @sv.kernel
    def third(z: complex) -> complex:
        return z / 3

    assert third(1j) == complex(np.complex64(1j) / np.float32(3))
    sv.init(default_fp=sv.f64)
    assert third(1j) == 1j / 3
    sv.reset()


@pytest.mark.parametrize("name", NUMPY)
def test_arrays_of_all_libraries_are_shared(name):
    dtype = getattr(sv, name)

    @sv.kernel
    def turn(a: sv.types.NDArray, b: sv.types.NDArray, by: dtype):
        for i, j in sv.ndrange(a.shape[0], a.shape[1]):
            b[i, j] = a[i, j] * by

    given = numbers(35).reshape(5, 7).astype(NUMPY[name])
    wanted = given * NUMPY[name](0.5 - 1j)
    ours, target = sv.array(given), sv.zeros((5, 7), dtype=dtype)
    assert ours.dtype is dtype
    turn(ours, target, 0.5 - 1j)
    np.testing.assert_allclose(target.to_numpy(), wanted, rtol=RELATIVE[name])
    # Strided, reversed, transposed and one of each.
    space = np.zeros((14, 10), NUMPY[name])
    for source, into in (
        (given, space[::2, :7][:5]),
        (given[::-1], space[4::-1, 9:2:-1]),
        (given.T.copy().T, np.zeros((7, 5), NUMPY[name]).T),
        (ours, np.zeros((5, 7), NUMPY[name])),
    ):
        turn(source, into, 0.5 - 1j)
        np.testing.assert_allclose(into, np.asarray(source) * NUMPY[name](0.5 - 1j), rtol=RELATIVE[name])


def test_tensors_of_torch_are_shared():
    torch = pytest.importorskip("torch")

    @sv.kernel
    def square(a: sv.types.NDArray[sv.c64, 1]):
        for i in a:
            a[i] *= a[i]

    tensor = torch.tensor([1 + 2j, 3j], dtype=torch.complex64)
    square(tensor)
    assert tensor.tolist() == [-3 + 4j, -9]
    with pytest.raises(sv.SamovarTypeError, match="resolve_conj"):
        square(tensor.conj())
    with pytest.raises(sv.SamovarTypeError, match="expected elements of type c64, got c128"):
        square(tensor.to(torch.complex128))
    assert sv.from_torch(tensor).to_torch().tolist() == tensor.tolist()


def test_our_arrays_hold_complex_numbers():
    a = sv.array([[1, 2j], [3.5, 0 - 1j]])
    assert a.dtype is sv.c64
    assert a.tolist() == [[1, 2j], [3.5, -1j]]
    assert a[0, 1] == 2j
    assert str(a) == "ndarray([[1.0+0.0j, 0.0+2.0j],\n         [3.5+0.0j, 0.0-1.0j]], dtype=c64, shape=(2, 2))"
    assert a.sum() == 4.5 + 1j
    assert a.astype(sv.c128).dtype is sv.complex128
    assert (a == a.to_numpy()).all()
    assert (a == 2j).sum() == 1
    assert a.reshape(4).tolist() == [1, 2j, 3.5, -1j]
    assert sv.array(a.to_numpy()).tolist() == a.tolist()
    a.fill(1 - 1j)
    assert a.tolist() == [[1 - 1j] * 2] * 2
    with pytest.raises(TypeError, match="cannot become f32"):
        a.astype(sv.f32)
    with pytest.raises(TypeError, match="needs_grad"):
        sv.ndarray(sv.c64, 3, needs_grad=True)


def test_fields_hold_complex_numbers():
    x, y = sv.field(sv.c64, shape=(3, 4)), sv.field(sv.c128, shape=12)

    @sv.kernel
    def write():
        for i, j in x:
            x[i, j] = complex(i, j)
            y[4 * i + j] += x[i, j] * 2

    write()
    assert x.to_numpy().tolist() == [[complex(i, j) for j in range(4)] for i in range(3)]
    assert y.to_numpy().tolist() == [2 * complex(i, j) for i in range(3) for j in range(4)]


@pytest.mark.parametrize("name", NUMPY)
def test_sums_are_reductions(name):
    dtype = getattr(sv, name)

    @sv.kernel
    def sums(a: sv.types.NDArray[dtype, 1], total: sv.types.NDArray[dtype, 1], bins: sv.types.NDArray[dtype, 1]) -> dtype:
        inside: dtype = 0
        other = dtype(1)
        for i in range(a.shape[0]):
            inside += a[i] * a[i]
            other = other - a[i]
            total[0] += a[i]
            bins[i % 4] += a[i]
            sv.atomic_sub(total[1], a[i])
        return inside + other

    a = numbers(5000, 1).astype(NUMPY[name])
    total, bins = np.zeros(2, NUMPY[name]), np.zeros(4, NUMPY[name])
    found = sums(a, total, bins)
    exact = a.astype(np.complex128)
    bound = RELATIVE[name] * 5000
    np.testing.assert_allclose(found, (exact * exact).sum() + 1 - exact.sum(), rtol=bound)
    np.testing.assert_allclose(total, [exact.sum(), -exact.sum()], rtol=bound)
    np.testing.assert_allclose(bins, [exact[k::4].sum() for k in range(4)], rtol=bound)


Signal = sv.types.struct(gain=sv.c64, phase=sv.f32)


@sv.func
def amplified(s: Signal, z: sv.c64):
    return s.gain * z * np.exp(1j * s.phase)


@sv.func
def shift(z: sv.template(), by):
    z += by


@dataclass
class Circuit:
    impedance: sv.c128
    current: complex


def test_structs_and_funcs_take_them():
    @sv.kernel
    def run(s: Signal, many: sv.types.NDArray[Signal, 1], out: sv.types.NDArray[sv.c64, 1]) -> Signal:
        for i in many:
            many[i].gain += complex(i, -i)
            z = amplified(many[i], out[i])
            shift(z, 1)
            out[i] = z
        t = s
        t.gain *= 1j
        return t

    many = Signal.ndarray(3)
    for i in range(3):
        many[i].gain = 2 + 1j
    out = np.array([1, 1j, 2 - 1j], np.complex64)
    wanted = [(2 + 1j + complex(i, -i)) * z + 1 for i, z in enumerate(out)]
    result = run(Signal(gain=3 - 1j, phase=0), many, out)
    np.testing.assert_allclose(out, wanted, rtol=1e-6)
    assert result.gain == (3 - 1j) * 1j
    assert [many[i].gain for i in range(3)] == [2 + 1j, 3, 4 - 1j]

    @sv.kernel
    def voltage(c: Circuit) -> sv.c128:
        return c.impedance * c.current

    assert voltage(Circuit(50 - 2j, 0.5j)) == (50 - 2j) * 0.5j
    assert voltage(Circuit(50, 2)) == 100


CAPTURED = 0.25 - 0.5j


def test_captured_numbers_are_constants():
    @sv.kernel
    def scaled(x: sv.f32) -> sv.c64:
        return x * CAPTURED

    global CAPTURED
    assert scaled(2) == 0.5 - 1j
    CAPTURED = 3j
    assert scaled(2) == 6j
    CAPTURED = 0.25 - 0.5j


def test_text_is_that_of_python(capfd):
    @sv.kernel
    def say(z: sv.c128):
        print(z, 1j)
        print(f"{z:.2f}")

    say(1.5 - 0.25j)
    sv.sync()
    assert capfd.readouterr().out == "(1.5-0.25j) (0.0+1.0j)\n1.50-0.25j\n"


def test_mandelbrot_as_written_for_numba():
    @sv.kernel
    def mandelbrot(counts: sv.types.NDArray[sv.i32, 2], limit: sv.i32):
        for i, j in sv.ndrange(counts.shape[0], counts.shape[1]):
            c = complex(-2 + 3 * i / counts.shape[0], -1.5 + 3 * j / counts.shape[1])
            z = 0.0j
            for k in range(limit):
                z = z * z + c
                if (z.real * z.real + z.imag * z.imag) >= 4:
                    counts[i, j] = k
                    break

    counts = np.full((24, 24), 40, np.int32)
    mandelbrot(counts, 40)
    wanted = np.full((24, 24), 40)
    for i, j in np.ndindex(24, 24):
        z, c = np.complex64(0), np.complex64(complex(-2 + 3 * i / 24, -1.5 + 3 * j / 24))
        for k in range(40):
            z = z * z + c
            if abs(z) >= 2:
                wanted[i, j] = k
                break
    assert np.mean(counts == wanted) > 0.97


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x[0] = z < 1", "`<` is not defined for complex numbers"),
        ("x[0] = z // 2", "`//` is not defined for complex numbers"),
        ("x[0] = z % 2", "`%` is not defined for complex numbers"),
        ("x[0] = z", "expected a real number, got a complex number"),
        ("x[0] = float(z)", "expected a real number, got a complex number"),
        ("x[0] = x[z]", "expected a real number, got a complex number"),
        ("x[0] = math.sqrt(z)", "expected a real number, got a complex number"),
        ("x[0] = ~z", "`~` is not defined for complex numbers"),
        ("x[0] = z.length", "is a complex number and has no attribute `length`"),
        ("x[0] = sv.max(z, 1)", "expected a real number, got a complex number"),
        ("y: sv.f32 = z", "a complex number cannot be stored as f32"),
        ("v = sv.Vector([z, z])", "a vector requires numbers"),
    ],
)
def test_mistakes_are_explained(line, problem):
    from .source import define

    kernel = define(f"import math\n@sv.kernel\ndef k(x: sv.types.NDArray[sv.f32, 1], z: sv.c64):\n    {line}\n")
    with pytest.raises(sv.SamovarError, match=problem.replace("(", r"\(")):
        kernel(np.zeros(1, np.float32), 1j)


def test_products_of_a_shared_number_are_refused():
    @sv.kernel
    def product(a: sv.types.NDArray[sv.c64, 1]) -> sv.c64:
        p = 1 + 0j
        for i in a:
            p *= a[i]
        return p

    with pytest.raises(sv.SamovarError, match="that the iterations of a parallel loop share is not supported"):
        product(np.ones(4, np.complex64))


def test_debug_mode_checks_indices(debug):
    @sv.kernel
    def beyond(a: sv.types.NDArray[sv.c64, 1], i: sv.i32):
        a[i] = 1j

    beyond(np.zeros(3, np.complex64), 2)
    with pytest.raises(sv.SamovarAssertionError, match="index 3"):
        beyond(np.zeros(3, np.complex64), 3)


def test_the_dtype_is_a_fact_of_each_launch():
    @sv.kernel
    def double(a: sv.types.NDArray):
        for i in a:
            a[i] = a[i] + a[i]

    for dtype in (np.complex64, np.float32, np.complex128, np.float64, np.complex64):
        given = np.array([1, 2, 3], dtype)
        double(given)
        assert given.tolist() == [2, 4, 6]
    # As two-dimensional floats, the same memory is another array.
    pairs = np.ones((3, 2), np.float32)

    @sv.kernel
    def either(a: sv.types.NDArray) -> sv.i32:
        return a.ndim

    assert [either(pairs), either(pairs.view(np.complex64)), either(pairs.view(np.complex64)[:, 0])] == [2, 2, 1]
