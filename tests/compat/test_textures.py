"""Textures of Taichi are arrays that kernels store to, fetch from and sample."""

import numpy as np
import pytest

import samovar as sv
import samovar.compat.quadrants as qd
import samovar.compat.taichi as ti


@pytest.fixture(autouse=True)
def as_before():
    ti.init(arch=ti.cpu)
    yield
    sv.reset()


def stored(fmt, values):
    """A texture with the channels of an array."""
    texture = ti.Texture(fmt, values.shape[:2])

    @ti.kernel
    def store(tex: ti.types.rw_texture(num_dimensions=2, fmt=fmt, lod=0), values: ti.types.ndarray()):
        for i, j in ti.ndrange(values.shape[0], values.shape[1]):
            tex.store(ti.Vector([i, j]), ti.Vector([values[i, j, 0], values[i, j, 1], values[i, j, 2], values[i, j, 3]]))

    store(texture, values)
    return texture


@ti.kernel
def fetched(tex: ti.types.texture(num_dimensions=2), i: ti.i32, j: ti.i32) -> ti.math.vec4:
    return tex.fetch(ti.Vector([i, j]), 0)


@ti.kernel
def sampled(tex: ti.types.texture(num_dimensions=2), u: ti.f32, v: ti.f32) -> ti.math.vec4:
    return tex.sample_lod(ti.Vector([u, v]), 0.0)


VALUES = np.random.default_rng(3).random((4, 6, 4)).astype(np.float32)


def test_texels_are_what_was_stored():
    texture = stored(ti.Format.rgba32f, VALUES)
    assert fetched(texture, 2, 5).to_list() == VALUES[2, 5].tolist()
    assert texture.shape == (4, 6)


def test_formats_of_small_integers_hold_numbers_from_0_to_1():
    texture = stored(ti.Format.rg8, VALUES * 2 - 0.5)
    expected = np.round(np.clip(VALUES[1, 2] * 2 - 0.5, 0, 1) * 255) / 255
    assert fetched(texture, 1, 2).to_list() == pytest.approx([expected[0], expected[1], 0, 1], abs=1e-6)


def test_a_texel_outside_is_zero():
    texture = stored(ti.Format.r32f, VALUES)
    assert [fetched(texture, *place)[0] for place in ((-1, 0), (0, 6), (4, 0), (0, -7))] == [0, 0, 0, 0]


@pytest.mark.parametrize(("u", "v"), [(0.3, 0.7), (0.5, 0.5), (-0.4, 1.9), (0.01, 0.99)])
def test_samples_are_interpolated_and_repeat(u, v):
    texture = stored(ti.Format.rgba32f, VALUES)
    places = np.array([u, v]) * VALUES.shape[:2] - 0.5
    low = np.floor(places).astype(int)
    part = places - low
    expected = np.zeros(4)
    for first in (0, 1):
        for second in (0, 1):
            weight = abs(1 - first - part[0]) * abs(1 - second - part[1])
            expected += weight * VALUES[(low[0] + first) % 4, (low[1] + second) % 6]
    assert sampled(texture, u, v).to_list() == pytest.approx(expected.tolist(), abs=1e-5)


def test_a_texture_takes_the_elements_of_a_field():
    field = ti.Vector.field(2, ti.f32, (3, 3))
    field.fill(0.25)
    field[1, 2] = [3, 4]
    texture = ti.Texture(ti.Format.rg32f, (3, 3))
    texture.from_field(field)
    assert fetched(texture, 1, 2).to_list() == [3, 4, 0, 1]


def test_formats_have_the_names_of_the_peers():
    assert ti.Format.r32f is qd.Format.r32f
    assert {each.name for each in ti.Format} >= {"r8", "rg8i", "rgba16f", "rgb32u", "rgba32f"}
    with pytest.raises(sv.SamovarError, match="is not a format of textures"):
        ti.Texture(ti.Format.unknown, (2, 2))
    with pytest.raises(sv.SamovarCompilationError, match="fmt is required"):
        ti.types.rw_texture(num_dimensions=2)
