"""Kernels in `dask.array`: blocks, overlapping blocks, generalized ufuncs, and xarray through them."""

import numpy as np
import pytest

import samovar as sv

dask_array = pytest.importorskip("dask.array")


@sv.kernel
def stencil(a: sv.types.NDArray[sv.f64, 2], out: sv.types.NDArray[sv.f64, 2]):
    for i, j in sv.ndrange((1, a.shape[0] - 1), (1, a.shape[1] - 1)):
        out[i, j] = 0.2 * (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


@sv.kernel
def total(a: sv.types.NDArray[sv.f64, 1]) -> sv.f64:
    found = 0.0
    for i in range(a.shape[0]):
        found += a[i]
    return found


def smooth(block):
    out = block.copy()
    stencil(block, out)
    return out


def row_totals(block):
    rows = block.reshape(-1, block.shape[-1])
    return np.array([total(np.ascontiguousarray(row)) for row in rows]).reshape(block.shape[:-1])


@pytest.fixture
def field():
    return np.random.default_rng(32).random((60, 40))


def test_map_overlap_gives_what_the_whole_array_gives(field):
    chunked = dask_array.from_array(field, chunks=(17, 13))
    found = chunked.map_overlap(smooth, depth=1, boundary="none", dtype=field.dtype).compute(scheduler="threads")
    assert np.array_equal(found, smooth(field))


def test_map_blocks_and_apply_gufunc_take_functions_that_launch(field):
    chunked = dask_array.from_array(field, chunks=(17, 40))
    doubled = chunked.map_blocks(smooth, dtype=field.dtype).compute(scheduler="threads", num_workers=4)
    assert doubled.shape == field.shape
    sums = dask_array.apply_gufunc(row_totals, "(i)->()", chunked, output_dtypes=np.float64).compute(scheduler="threads")
    assert np.allclose(sums, field.sum(axis=1), rtol=1e-12)


def test_xarray_applies_kernels_to_chunks(field):
    xarray = pytest.importorskip("xarray")
    data = xarray.DataArray(field, dims=("y", "x")).chunk(y=17, x=-1)
    sums = xarray.apply_ufunc(
        row_totals, data, input_core_dims=[["x"]], dask="parallelized", output_dtypes=[np.float64]
    )
    assert np.allclose(sums.compute(scheduler="threads").values, field.sum(axis=1), rtol=1e-12)
