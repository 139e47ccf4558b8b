"""Derivatives by real numbers through complex ones: right in variables, an error through arrays, which have no gradient."""

import numpy as np
import pytest

import samovar as sv


@pytest.fixture(autouse=True)
def double():
    sv.init(default_fp=sv.f64)
    yield
    sv.reset()


def test_complex_variables_and_arrays():
    x, loss = sv.field(sv.f64, 4, needs_grad=True), sv.field(sv.f64, (), needs_grad=True)
    w, z = sv.field(sv.c128, 3), sv.field(sv.c128, 3)
    x.from_numpy(np.arange(1.0, 5.0))
    w.fill(1 + 1j)

    @sv.kernel
    def squares():
        for i in range(3):
            v = w[i] * x[i] + 1j * x[i + 1]
            loss[None] += (v * v).imag

    @sv.kernel
    def overwrites():
        for i in range(3):
            z[i] = w[i] * 1j
        for i in range(3):
            loss[None] += z[i].real * x[i] * x[i]
            w[i] = 0

    @sv.kernel
    def writes():
        for i in range(3):
            z[i] = x[i] * 1j

    @sv.kernel
    def reads():
        for i in range(3):
            loss[None] += z[i].real

    with sv.ad.Tape(loss):
        squares()  # v² = 2i x² + 2 (i - 1) x y - y²
        overwrites()  # -x²
    y = x.to_numpy()
    expected = np.zeros(4)
    expected[:3] += 4 * y[:3] + 2 * y[1:] - 2 * y[:3]
    expected[1:] += 2 * y[:3]
    np.testing.assert_allclose(x.grad.to_numpy(), expected)
    with sv.ad.Tape(loss):
        writes()
        with pytest.raises(sv.SamovarRuntimeError, match=r"has no gradient[\s\S]*real and imaginary"):
            reads()

    @sv.kernel
    def both():
        for i in range(3):
            z[i] = x[i] * 1j
        for i in range(3):
            loss[None] += z[i].real

    with pytest.raises(sv.SamovarCompilationError, match=r"has no gradient[\s\S]*real and imaginary"), sv.ad.Tape(loss):
        both()
