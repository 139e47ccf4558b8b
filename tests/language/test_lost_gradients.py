"""Derivatives through arrays without a gradient: an error, or lost, as the option `lost_gradients` says."""

import pytest

import samovar as sv
import samovar.compat.taichi as ti


@pytest.fixture(autouse=True)
def as_before():
    yield
    sv.reset()


def made():
    """y = x², loss += w·x, where w = 2x is stored in a field without a gradient."""
    x, loss = sv.field(sv.f32, 4, needs_grad=True), sv.field(sv.f32, (), needs_grad=True)
    w = sv.field(sv.f32, 4)
    x.fill(3)

    @sv.kernel
    def both():
        for i in x:
            w[i] = 2 * x[i]
        for i in x:
            loss[None] += w[i] * x[i]

    @sv.kernel
    def first():
        for i in x:
            w[i] = 2 * x[i]

    @sv.kernel
    def second():
        for i in x:
            loss[None] += w[i] * x[i]

    return x, loss, both, first, second


def test_it_is_an_error_by_default():
    _, loss, both, _, _ = made()
    with pytest.raises(sv.SamovarCompilationError, match="`w` has no gradient"), sv.ad.Tape(loss):
        both()


def test_the_option_is_part_of_the_key():
    x, loss, both, _, _ = made()
    sv.init(lost_gradients="zero")
    with pytest.warns(sv.SamovarWarning, match="derivatives through `w` are lost"), sv.ad.Tape(loss):
        both()
    assert x.grad.to_numpy().tolist() == [6, 6, 6, 6]
    sv.init(lost_gradients="error")
    with pytest.raises(sv.SamovarCompilationError, match="`w` has no gradient"), sv.ad.Tape(loss):
        both()


@pytest.mark.filterwarnings("ignore::samovar.errors.SamovarWarning")
def test_from_launch_to_launch_they_are_lost_as_in_taichi():
    ti.init(arch=ti.cpu)
    x, loss, _, first, second = made()
    with ti.ad.Tape(loss):
        first()
        second()
    assert loss[None] == 72
    assert x.grad.to_numpy().tolist() == [6, 6, 6, 6]
