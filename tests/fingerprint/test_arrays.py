"""NumPy arrays: by dtype, shape and content, or by identity."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import tracemalloc
import weakref

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hypothesis_profiles import examples
from samovar.fingerprint import make_deconstructor, make_fingerprinter, stable_fingerprinter


def same(left, right):
    assert stable_fingerprinter(left) == stable_fingerprinter.reference(left)
    return stable_fingerprinter(left) == stable_fingerprinter(right)


grid = numpy.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "layout",
    [
        numpy.asfortranarray(grid),
        numpy.repeat(grid, 2, axis=2)[:, :, ::2],
        grid[::-1][::-1],
        numpy.ascontiguousarray(grid.transpose(2, 0, 1)).transpose(1, 2, 0),
        grid.copy()[:, ::-1, :][:, ::-1, :],
        numpy.lib.stride_tricks.as_strided(grid, grid.shape, grid.strides),
    ],
    ids=["fortran", "strided", "reversed", "transposed", "reversed middle", "read by strides"],
)
def test_memory_order_and_strides_do_not_count(layout):
    assert same(grid, layout)


def test_dtype_shape_and_content_count():
    variants = [
        grid,
        grid.astype("f4"),
        grid.astype(">f8"),
        grid.reshape(3, 2, 4),
        grid.reshape(24),
        -grid,
        grid[..., None],
        grid.astype(object),
        grid.tolist(),
        grid.view("i8"),
        grid.tobytes(),
    ]
    assert len({stable_fingerprinter(variant) for variant in variants}) == len(variants)


def test_sign_of_zero_and_nan_count_by_bits():
    assert not same(numpy.array([0.0]), numpy.array([-0.0]))
    assert same(numpy.array([numpy.nan]), numpy.array([float("nan")]))


@pytest.mark.parametrize(
    "dtype",
    [
        "?",
        "i1",
        "u8",
        "f2",
        "f4",
        "f8",
        "g",
        "c8",
        "c16",
        "S3",
        "U3",
        "M8[ns]",
        "M8[D]",
        "m8[s]",
        "V5",
        "O",
        "S0",
        ">i4",
    ],
)
def test_every_dtype_works_in_every_layout(dtype):
    make = lambda: numpy.zeros((3, 4), dtype)  # noqa: E731
    assert same(make(), make())
    assert same(make(), numpy.asfortranarray(make()))
    assert same(make(), numpy.zeros((3, 8), dtype)[:, ::2])
    assert not same(make(), numpy.zeros((4, 3), dtype))


def test_empty_arrays_count_with_dtype_and_shape():
    empties = [numpy.zeros(shape, dtype) for shape in [(0,), (0, 3), (3, 0), (1, 0, 2)] for dtype in ("f4", "f8")]
    assert len({stable_fingerprinter(empty) for empty in empties}) == len(empties)


def test_rank_zero_is_neither_a_scalar_nor_a_number():
    values = [numpy.array(1.0), numpy.float64(1.0), 1.0, numpy.array([1.0]), numpy.float32(1.0)]
    assert len({stable_fingerprinter(value) for value in values}) == len(values)


def test_padding_between_fields_does_not_count():
    layout = numpy.dtype([("a", "u1"), ("b", "f8")], align=True)
    left, right = numpy.zeros(3, layout), numpy.frombuffer(bytearray(b"\xff" * 3 * layout.itemsize), layout)
    right["a"], right["b"] = 0, 0
    assert left.tobytes() != right.tobytes()
    assert same(left, right)
    right["b"][1] = 1
    assert not same(left, right)


def test_layout_of_a_record_counts():
    packed, aligned = (numpy.dtype([("a", "u1"), ("b", "f8")], align=align) for align in (False, True))
    renamed = numpy.dtype([("a", "u1"), ("c", "f8")])
    nested = numpy.dtype([("a", "u1"), ("b", "f8", (1,))])
    assert len({stable_fingerprinter(numpy.zeros(2, dtype)) for dtype in (packed, aligned, renamed, nested)}) == 4
    assert len({stable_fingerprinter(dtype) for dtype in (packed, aligned, renamed, nested)}) == 4


def test_objects_in_an_array_count_by_content():
    make = lambda last: numpy.array([{"a": 1}, [2], last], dtype=object)  # noqa: E731
    assert same(make("x"), make("x"))
    assert not same(make("x"), make("y"))


def test_scalars_and_dtypes_count():
    values = [
        numpy.float32(1),
        numpy.float64(1),
        numpy.int32(1),
        numpy.bool_(True),
        numpy.str_("1"),
        numpy.datetime64(1, "s"),
    ]
    values += [numpy.dtype("f4"), numpy.dtype("f8"), numpy.dtype(">f4"), numpy.float32, numpy.float64]
    assert len({stable_fingerprinter(value) for value in values}) == len(values)
    assert same(numpy.float32(1), numpy.ones(1, "f4")[0])


class Tagged(numpy.ndarray):
    pass


def test_subclass_counts_with_its_state():
    left, right = numpy.zeros(2).view(Tagged), numpy.zeros(2).view(Tagged)
    assert same(left, right)
    assert not same(left, numpy.zeros(2))
    left.unit = "m"
    assert not same(left, right)


def test_masked_arrays_count_with_their_mask():
    make = lambda mask: numpy.ma.MaskedArray([1.0, 2.0], mask)  # noqa: E731
    assert same(make([0, 1]), make([0, 1]))
    assert not same(make([0, 1]), make([1, 0]))


def test_mapped_file_is_an_array_like_any_other(tmp_path):
    mapped = numpy.memmap(tmp_path / "data", "f8", "w+", shape=(2, 3, 4))
    mapped[:] = grid
    assert same(mapped, grid)


@given(
    arrays.arrays(
        arrays.scalar_dtypes(), arrays.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4), fill=st.nothing()
    ),
    st.randoms(use_true_random=False),
)
@examples("values")
def test_layout_never_counts(array, random):
    axes = list(range(array.ndim))
    random.shuffle(axes)
    shuffled = numpy.ascontiguousarray(array.transpose(axes)).transpose(numpy.argsort(axes))
    assert same(array, shuffled)


def test_content_is_hashed_in_place():
    array = numpy.zeros(1 << 20)
    fortran = numpy.zeros((1 << 10, 1 << 10), order="F")
    stable_fingerprinter(array[:10])
    tracemalloc.start()
    try:
        for value in (array, array[::2], array.reshape(1 << 10, -1).T, fortran):
            tracemalloc.reset_peak()
            before = tracemalloc.get_traced_memory()[0]
            stable_fingerprinter(value)
            assert tracemalloc.get_traced_memory()[1] - before < 1 << 18
    finally:
        tracemalloc.stop()


def by_identity():
    return make_fingerprinter(make_deconstructor(arrays="identity"))


def test_identity_sees_the_object_and_not_the_content():
    fingerprinter = by_identity()
    array, twin = numpy.zeros(3), numpy.zeros(3)
    before = fingerprinter({"a": array})
    array[0] = 1
    assert fingerprinter({"a": array}) == before != fingerprinter({"a": twin})


def test_identity_holds_the_array_so_that_its_address_cannot_come_back():
    fingerprinter = by_identity()
    seen = set()
    for _ in range(200):
        seen.add(fingerprinter(numpy.zeros(3)))
    assert len(seen) == 200
    array = numpy.zeros(3)
    held = weakref.ref(array)
    fingerprinter(array)
    del array
    gc.collect()
    assert held() is not None
    fingerprinter.release_arrays()
    gc.collect()
    assert held() is None


def test_identity_is_not_reused_after_a_release():
    fingerprinter = by_identity()
    array = numpy.zeros(3)
    before = fingerprinter(array)
    fingerprinter.release_arrays()
    assert fingerprinter(array) != before


def test_identity_means_nothing_to_another_fingerprinter_or_process():
    array = numpy.zeros(3)
    fingerprinter = by_identity()
    before = fingerprinter(array)
    assert by_identity()(array) != before
    assert pickle.loads(pickle.dumps(fingerprinter))(array) != before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_identity_of_an_array_made_after_a_fork_is_its_own():
    fingerprinter = by_identity()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, fingerprinter(numpy.zeros(3)).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 100).decode() != fingerprinter(numpy.zeros(3))
    os.close(read)
    os.close(write)


class DeviceArray:
    """Has its memory elsewhere; copying it is what must not happen."""

    __cuda_array_interface__ = None

    def __reduce_ex__(self, protocol):
        raise AssertionError("copied from the device")


def test_identity_holds_for_arrays_of_other_libraries_without_a_copy():
    array = DeviceArray()
    fingerprinter = by_identity()
    assert fingerprinter([array]) == fingerprinter([array]) != fingerprinter([DeviceArray()])


def test_scalars_count_by_value_even_where_arrays_go_by_identity():
    assert by_identity()(numpy.float64(1.5)) == stable_fingerprinter(numpy.float64(1.5))


def test_unknown_array_policy_is_an_error():
    with pytest.raises(ValueError, match="'content', 'identity'"):
        make_deconstructor(arrays="address")


def test_numpy_is_not_imported_for_fingerprints():
    code = (
        "import sys, samovar.fingerprint as f; f.stable_fingerprinter([1]);"
        "assert not {'numpy', 'attr', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("code", ["g", "G", ">g", ">G"])
def test_padding_of_long_doubles_does_not_count(code):
    dtype = numpy.dtype(code)
    plain = numpy.array([1.5, -2.0, numpy.inf, 0.0]).astype(dtype)
    noisy = plain.copy()
    if numpy.finfo(dtype).nmant == 63:
        # The bytes of each number that no one ever reads.
        half = dtype.itemsize if code[-1] == "g" else dtype.itemsize // 2
        padding = slice(10, None) if dtype.isnative == (sys.byteorder == "little") else slice(None, half - 10)
        noisy.view("u1").reshape(-1, half)[:, padding] = 0xAA
        assert noisy.tobytes() != plain.tobytes()
    assert same(plain, noisy)
    assert same(plain[::2], noisy[::2])
    assert same(plain[1], noisy[1])
    assert not same(plain, -plain)
    assert not same(plain, plain.astype("c16" if code[-1] == "G" else "f8"))
