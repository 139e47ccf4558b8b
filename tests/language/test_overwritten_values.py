"""Gradients that need a value that the launch overwrites: an error, or computed from the last value, as the option
`overwritten_values` says."""

import pytest

import samovar as sv
import samovar.compat.taichi as ti


@pytest.fixture(autouse=True)
def as_before():
    yield
    sv.reset()


def made():
    """y = 3 x², where x is read before the kernel writes 2 x to it."""
    x, y = sv.field(sv.f32, 4, needs_grad=True), sv.field(sv.f32, 4, needs_grad=True)

    @sv.kernel
    def run():
        for i in x:
            y[i] = 3 * x[i] * x[i]
            x[i] = 2 * x[i]

    x.fill(5)
    run()
    y.grad.fill(1)
    x.grad.fill(0)
    return x, run


def test_it_is_an_error_by_default():
    _, run = made()
    with pytest.raises(sv.SamovarCompilationError, match="may write the same element later in the launch"):
        run.grad()


def test_the_option_is_part_of_the_key():
    x, run = made()
    sv.init(overwritten_values="last")
    with pytest.warns(sv.SamovarWarning, match="the gradient uses the last value of `x`"):
        run.grad()
    assert x.grad.to_numpy().tolist() == [60] * 4
    sv.init(overwritten_values="error")
    with pytest.raises(sv.SamovarCompilationError, match="may write the same element later in the launch"):
        run.grad()


@pytest.mark.filterwarnings("ignore::samovar.errors.SamovarWarning")
def test_programs_of_taichi_use_the_last_value_and_tapes_keep_the_first():
    ti.init(arch=ti.cpu)
    x, run = made()
    run.grad()
    assert x.grad.to_numpy().tolist() == [60] * 4
    x.fill(5)
    loss = sv.field(sv.f32, (), needs_grad=True)

    @sv.kernel
    def total():
        for i in x:
            loss[None] += x[i] * x[i]

    with ti.ad.Tape(loss):
        run()
        total()
    assert x.grad.to_numpy().tolist() == [40] * 4
