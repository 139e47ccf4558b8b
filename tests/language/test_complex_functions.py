"""Functions of complex numbers against NumPy: branch cuts, signed zeros, infinities, NaN, huge numbers, accuracy."""

import cmath

import numpy as np
import pytest

import samovar as sv

from .source import define

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

FUNCTIONS = (
    "exp log log10 sqrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh"
).split()
NUMPY = {"c64": np.complex64, "c128": np.complex128}
#: Allowed error relative to the length of the result.
RELATIVE = {"c64": 2e-6, "c128": 4e-15}
INF, NAN = float("inf"), float("nan")
PARTS = [
    0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.7, INF, -INF, NAN, 1e-5, -1e-5, 20.0, -30.0, 0.999999, 1.0000001, 100.0,
    1e-300, -1e-300, 1e300, -1e300, 5e-324, 1.7e308, 709.5, 800.0, 355.0,
]  # fmt: skip


def points(name: str) -> np.ndarray:
    """Pairs of special values, random numbers of all sizes, and numbers close to the unit circle."""
    random = np.random.default_rng(1)
    plain = random.normal(size=300) + 1j * random.normal(size=300)
    spread = plain * 10.0 ** random.integers(-20, 20, 300)
    circle = np.exp(1j * random.uniform(0, 7, 300)) * (1 + random.normal(size=300) * 10.0 ** random.integers(-12, -1, 300))
    special = np.array([complex(x, y) for x in PARTS for y in PARTS])
    return np.concatenate([special, plain, spread, circle]).astype(NUMPY[name])


def same_part(found: np.ndarray, wanted: np.ndarray, relative: float) -> np.ndarray:
    return (np.isnan(found) & np.isnan(wanted)) | (found == wanted) | (abs(found - wanted) <= relative * abs(wanted))


def same(found: np.ndarray, wanted: np.ndarray, name: str) -> np.ndarray:
    """Close by length if finite, part by part otherwise. Subnormal numbers may be rounded twice."""
    tiny, relative = np.finfo(NUMPY[name]).tiny, RELATIVE[name]
    is_finite = np.isfinite(found) & np.isfinite(wanted)
    parts = same_part(found.real, wanted.real, relative) & same_part(found.imag, wanted.imag, relative)
    return np.where(is_finite, abs(found - wanted) <= np.maximum(relative * abs(wanted), tiny), parts)


def same_zeros(found: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Zeros have the same sign. C leaves it open where the other part is NaN."""
    differ = np.zeros(found.shape, bool)
    for part in ("real", "imag"):
        one, other = getattr(found, part), getattr(wanted, part)
        differ |= (one == 0) & (other == 0) & (np.signbit(one) != np.signbit(other))
    return ~differ | np.isnan(wanted.real) | np.isnan(wanted.imag)


@pytest.fixture(scope="module")
def results():
    """Every function at every point, with and without fast_math."""
    lines = "".join(f"        out[{place}, i] = np.{name}(x[i])\n" for place, name in enumerate(FUNCTIONS))
    found = {}
    for fast in (True, False):
        sv.init(fast_math=fast)
        for name in NUMPY:
            kernel = define(
                f"import numpy as np\n@sv.kernel\n"
                f"def k(x: sv.types.NDArray[sv.{name}, 1], out: sv.types.NDArray[sv.{name}, 2]):\n"
                f"    for i in range(x.shape[0]):\n{lines}"
            )
            x = points(name)
            out = np.zeros((len(FUNCTIONS), len(x)), NUMPY[name])
            kernel(x, out)
            found[fast, name] = out
    sv.reset()
    return found


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("name", NUMPY)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_are_those_of_numpy(results, fast, name, function):
    x, found = points(name), results[fast, name][FUNCTIONS.index(function)]
    wanted = getattr(np, function)(x)
    wrong = np.flatnonzero(~(same(found, wanted, name) & same_zeros(found, wanted)))
    assert not len(wrong), [(x[i], found[i], wanted[i]) for i in wrong[:5]]


@pytest.mark.parametrize("name", NUMPY)
def test_quotients_and_lengths_neither_overflow_nor_divide_by_zero(name):
    kernel = define(
        f"import numpy as np\n@sv.kernel\n"
        f"def k(z: sv.types.NDArray, w: sv.types.NDArray, out: sv.types.NDArray[sv.{name}, 2]):\n"
        f"    for i in range(z.shape[0]):\n"
        f"        out[0, i] = z[i] / w[i]\n        out[1, i] = abs(z[i])\n        out[2, i] = np.angle(z[i])\n"
        f"        out[3, i] = z[i] + w[i]\n"
    )
    x = points(name)
    # A quotient by a subnormal number may be finite here and NaN in NumPy.
    x = x[~((abs(x) < np.finfo(NUMPY[name]).tiny) & (x != 0))]
    random = np.random.default_rng(3)
    z, w = x[random.integers(0, len(x), 8000)], x[random.integers(0, len(x), 8000)]
    out = np.zeros((4, len(z)), NUMPY[name])
    kernel(z, w, out)
    wanted = [z / w, abs(z).astype(z.dtype), np.angle(z).astype(z.dtype), z + w]
    for found, each in zip(out, wanted, strict=True):
        wrong = np.flatnonzero(~same(found, each, name))
        assert not len(wrong), [(z[i], w[i], found[i], each[i]) for i in wrong[:5]]


def test_powers():
    @sv.kernel
    def powers(z: sv.c128, w: sv.c128, out: sv.types.NDArray[sv.c128, 1]):
        out[0] = z**w
        out[1] = z**2
        out[2] = z**-2
        out[3] = z**0.5
        out[4] = pow(z, 3)
        out[5] = np.power(z, w)
        out[6] = 2**w
        out[7] = np.square(z)

    out = np.zeros(8, np.complex128)
    for z, w in ((1 + 2j, 0.5 - 1j), (-3j, 2), (1e-100 + 1e-100j, 1.25), (2, -1j)):
        powers(z, w, out)
        np.testing.assert_allclose(out, [z**w, z * z, 1 / (z * z), z**0.5, z * z * z, z**w, 2**w, z * z], rtol=1e-13)
    powers(0, 1 + 1j, out)
    assert out[0] == out[1] == out[7] == 0
    powers(0, -1, out)
    assert np.isnan(out[0])
    powers(0, 0, out)
    assert out[0] == 1


def test_cmath_and_real_numbers():
    @sv.kernel
    def all_of(x: sv.f64, z: sv.c128, out: sv.types.NDArray[sv.c128, 1], real: sv.types.NDArray[sv.f64, 1]):
        out[0] = cmath.sqrt(x)
        out[1] = cmath.log(z, 2)
        out[2] = cmath.rect(x, 0.5)
        length, angle = cmath.polar(z)
        real[0], real[1], real[2] = length, angle, cmath.phase(x)
        out[3] = cmath.exp(1j * cmath.pi)
        out[4] = np.conj(z) + np.conj(x)
        out[5] = cmath.atan(z) + cmath.acosh(z)
        real[3] = np.real(z) + np.imag(z) + np.real(x)
        real[4] = cmath.isnan(z) or cmath.isinf(z) or not cmath.isfinite(z)
        out[6] = sv.exp(z) + sv.sqrt(z)
        out[7] = np.complex128(x) + sv.c64(0.5, 1) + complex("1+2j")

    x, z = -2.25, 0.5 - 1.5j
    out, real = np.zeros(8, np.complex128), np.zeros(5)
    all_of(x, z, out, real)
    wanted = [
        cmath.sqrt(x), cmath.log(z, 2), cmath.rect(x, 0.5), cmath.exp(1j * cmath.pi), z.conjugate() + x,
        cmath.atan(z) + cmath.acosh(z), cmath.exp(z) + cmath.sqrt(z), x + 0.5 + 1j + 1 + 2j,
    ]  # fmt: skip
    np.testing.assert_allclose(out, wanted, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(real, [*cmath.polar(z), cmath.phase(x), z.real + z.imag + x, 0], rtol=1e-14)
