"""Complex numbers as vectors of two, and other functions of `sv.math`, against Python's own."""

import cmath

import numpy as np
import pytest

import samovar as sv

vec2 = sv.math.vec2
NUMBERS = [complex(1, 2), complex(-3, 0.5), complex(-4, 0), complex(0, -1), complex(0.25, -7)]


@sv.kernel
def unary(z: sv.math.vec2, out: sv.types.ndarray(dtype=sv.math.vec2, ndim=1)):
    out[0] = sv.math.cconj(z)
    out[1] = sv.math.cinv(z)
    out[2] = sv.math.cexp(z)
    out[3] = sv.math.clog(z)
    out[4] = sv.math.csqrt(z)
    out[5] = sv.math.cpow(z, 2.5)
    out[6] = sv.math.vdir(z[0])


@pytest.mark.parametrize("z", NUMBERS)
def test_functions_of_one(z):
    out = sv.Vector.ndarray(2, sv.f32, 7)
    unary(vec2(z.real, z.imag), out)
    wanted = [z.conjugate(), 1 / z, cmath.exp(z), cmath.log(z), cmath.sqrt(z), z**2.5, cmath.exp(1j * z.real)]
    np.testing.assert_allclose(out.to_numpy(), [(w.real, w.imag) for w in wanted], rtol=2e-5, atol=2e-5)
    for name, want in zip(("cconj", "cinv", "cexp", "clog", "csqrt"), wanted, strict=False):
        found = getattr(sv.math, name)(vec2(z.real, z.imag))
        np.testing.assert_allclose([found[0], found[1]], (want.real, want.imag), rtol=2e-5, atol=2e-5)


@sv.kernel
def binary(z: sv.math.vec2, w: sv.math.vec2, out: sv.types.ndarray(dtype=sv.math.vec2, ndim=1)):
    out[0] = sv.math.cmul(z, w)
    out[1] = sv.math.cdiv(z, w)


@pytest.mark.parametrize("w", NUMBERS)
def test_functions_of_two(w):
    z, out = complex(1.5, -0.5), sv.Vector.ndarray(2, sv.f32, 2)
    binary(vec2(z.real, z.imag), vec2(w.real, w.imag), out)
    np.testing.assert_allclose(out.to_numpy(), [(n.real, n.imag) for n in (z * w, z / w)], rtol=2e-6, atol=1e-6)


def test_a_rest_has_the_sign_of_the_divisor():
    @sv.kernel
    def rest(x: sv.f32, y: sv.f32) -> sv.f32:
        return sv.math.mod(x, y)

    for x, y in ((-1.5, 1.0), (5.5, 2.0), (-5.5, 2.0), (5.5, -2.0)):
        assert rest(x, y) == sv.math.mod(x, y) == x % y


def nth_set(mask, base, offset):
    """By hand: the places in the order that they are looked at."""
    places = [base] if offset == 0 else range(base, 32) if offset > 0 else range(base, -1, -1)
    found = [place for place in places if mask >> place & 1]
    wanted = abs(offset) - 1 if offset else 0
    return found[wanted] if wanted < len(found) else 0xFFFFFFFF


def test_the_nth_bit_that_is_set():
    @sv.kernel
    def find(mask: sv.u32, base: sv.u32, offset: sv.i32) -> sv.u32:
        return sv.math.fns(mask, base, offset)

    for mask in (0b101101, 0, 0xFFFFFFFF, 0x80000001):
        for base in (0, 1, 3, 31):
            for offset in range(-3, 4):
                assert find(mask, base, offset) == sv.math.fns(mask, base, offset) == nth_set(mask, base, offset)


def test_turns_of_space():
    @sv.kernel
    def turned(x: sv.f32, y: sv.f32, z: sv.f32) -> sv.math.mat4:
        return sv.math.rotation3d(x, y, z)

    found = np.array(turned(0.1, 0.2, 0.3).to_list())
    np.testing.assert_allclose(found[:3, :3] @ found[:3, :3].T, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(found[0], [0.942155, 0.197677, -0.270682, 0], atol=1e-6)


def test_the_nearest_matrix_without_negative_eigenvalues():
    @sv.kernel
    def nearest(a: sv.types.matrix(3, 3, sv.f64)) -> sv.types.matrix(3, 3, sv.f64):
        return sv.make_spd(a, sv.f64)

    random = np.random.default_rng(3)
    for _ in range(5):
        a = random.normal(size=(3, 3))
        a = a + a.T
        values, vectors = np.linalg.eigh(a)
        wanted = vectors @ np.diag(np.maximum(values, 0)) @ vectors.T
        np.testing.assert_allclose(np.array(nearest(a.tolist()).to_list()), wanted, atol=1e-12)
        np.testing.assert_allclose(np.array(sv.make_spd(sv.Matrix(a.tolist(), sv.f64)).to_list()), wanted, atol=1e-12)


def test_a_type_may_be_given_to_decompositions():
    @sv.kernel
    def sums(a: sv.types.matrix(2, 2, sv.f32)) -> sv.f32:
        u, s, v = sv.svd(a, sv.f32)
        r, p = sv.polar_decompose(a, sv.f32)
        w, q = sv.sym_eig(a, sv.f32)
        return s[0, 0] + s[1, 1] + p[0, 0] + w[0] + 0 * (u[0, 0] + v[0, 0] + r[0, 0] + q[0, 0])

    assert sums([[2.0, 0.0], [0.0, 1.0]]) == pytest.approx(3 + 2 + 1, abs=1e-5)
