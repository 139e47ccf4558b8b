"""Taichi's argument packs, and the sparse grids of both."""

import numpy as np
import pytest

import samovar as sv
import samovar.compat.quadrants as qd
import samovar.compat.taichi as ti


@pytest.fixture(autouse=True)
def as_before():
    yield
    sv.reset()


def test_numbers_and_vectors_of_a_pack_are_read_at_each_launch():
    Pack = ti.types.argpack(m=ti.math.mat2, v=ti.types.vector(2, ti.f32), n=ti.i32)

    @ti.kernel
    def k(p: Pack) -> ti.f32:
        return (p.m @ p.v).sum() * p.n

    pack = Pack(m=[[1, 2], [3, 4]], v=[1, 1], n=2)
    assert isinstance(pack, ti.ArgPack)
    compiled = sv.compile_count()
    assert k(pack) == 20
    pack.v, pack.n = [2, 0], 3
    assert k(pack) == 24
    assert sv.compile_count() == compiled + 1
    with pytest.raises(AttributeError, match="no member 'w'"):
        pack.w = 1


def test_arrays_and_packs_in_a_pack():
    Inner = ti.types.argpack(scale=ti.f32)
    Pack = ti.types.argpack(values=ti.types.ndarray(dtype=ti.f32, ndim=1), inner=Inner)

    @ti.kernel
    def k(p: Pack):
        for i in p.values:
            p.values[i] += i * p.inner.scale

    values = np.zeros(3, np.float32)
    k(Pack(values=values, inner=Inner(scale=1.5)))
    assert values.tolist() == [0, 1.5, 3]


def test_a_sparse_grid():
    grid = qd.sparse.grid({"position": qd.math.vec2, "mass": qd.f32}, shape=(10, 10))
    grid[0, 0].mass = 1.0
    grid[9, 3].position = [1.0, 2.0]
    assert qd.sparse.usage(grid) == 0.02
    with pytest.raises(ValueError, match="two or three dimensions, not 1"):
        qd.sparse.grid({"mass": qd.f32}, shape=(10,))
