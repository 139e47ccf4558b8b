"""Layouts of fields: equal ones are one object, and a launch compares addresses; and fields of one tree among each other."""

import gc
import itertools
import random
import sys

import numpy as np
import pytest

import samovar as sv
from samovar._native import disjoint, field_layout, new_field, place_field


def test_equal_layouts_are_one_object():
    fields = [sv.field(sv.f32, (4, 5), order="ji") for _ in range(3)]
    assert len({id(field_layout(each)) for each in fields}) == 1
    assert field_layout(sv.field(sv.f64, (4, 5), order="ji")) is field_layout(fields[0])
    assert field_layout(sv.field(sv.f32, (4, 5))) is not field_layout(fields[0])


def test_a_layout_goes_with_its_last_field():
    field = sv.field(sv.f32, (7, 11, 13))
    description = field_layout(field)
    assert sys.getrefcount(description) > 2
    del field
    gc.collect()
    assert sys.getrefcount(description) == 2
    assert field_layout(sv.field(sv.f32, (7, 11, 13))) == description


@pytest.mark.parametrize(
    "wrong",
    [
        ((0,), (((True, 1),),)),
        ((0,), (((4, 1.0),),)),
        ((0,), ((((4,), 1),),)),
        ((0,), [((4, 1),)]),
        ((0,), (((4, (((1,),),)),),)),
        4,
        None,
    ],
)
def test_what_describes_no_layout_is_refused(wrong):
    with pytest.raises(ValueError, match="invalid layout"):
        place_field(new_field(sv.f32), wrong, sv.ndarray(sv.u8, 64), 0)


def test_a_kernel_for_one_layout_does_not_run_for_another():
    @sv.kernel
    def numbered(x: sv.Template):
        for i, j in x:
            x[i, j] = 10 * i + j

    for shape, order in itertools.product([(3, 4), (4, 3), (1, 12)], ["ij", "ji"]):
        field = sv.field(sv.i32, shape, order=order)
        for _ in range(3):
            field.fill(0)
            numbered(field)
            assert np.array_equal(field.to_numpy(), np.fromfunction(lambda i, j: 10 * i + j, shape))


def bytes_of(array) -> set[int]:
    """The address of each byte that belongs to an element."""
    if isinstance(array, sv.Field):
        _, axes = field_layout(array)
        base = array.to_numpy(copy=False).__array_interface__["data"][0] if array.size else 0
        steps = [[k * stride for k in range(extent)] for ((extent, stride),) in axes]
        starts = [base + sum(each) * array.dtype.itemsize for each in itertools.product(*steps)]
    else:
        view = np.asarray(array)
        base = view.__array_interface__["data"][0]
        starts = [base + int(np.dot(index, view.strides)) for index in np.ndindex(view.shape)]
    return {start + k for start in starts for k in range(array.dtype.itemsize)}


@pytest.mark.parametrize("seed", range(30))
def test_fields_of_trees_and_arrays_overlap_where_they_share_bytes(seed):
    chance = random.Random(seed)
    arrays: list = []
    for _ in range(chance.randint(1, 3)):
        placed = [sv.field(chance.choice([sv.f32, sv.f64, sv.i32])) for _ in range(chance.randint(1, 5))]
        sv.root.dense(sv.i, chance.randint(1, 6)).place(*placed)
        arrays += placed
    block = np.zeros(40, np.float32)
    arrays += [block[3:10], block[8:20], block[::3], block[1::3], sv.ndarray(sv.f32, 5), sv.field(sv.f32, (2, 3))]
    for _ in range(100):
        chosen = [chance.choice(arrays) for _ in range(chance.randint(1, 7))]
        count = chance.randint(0, len(chosen))
        written, others = tuple(chosen[:count]), tuple(chosen[count:])
        found = disjoint(written, others)
        pairs = itertools.combinations(range(len(chosen)), 2)
        shared = any(i < count and bytes_of(chosen[i]) & bytes_of(chosen[k]) for i, k in pairs)
        # Strided arrays of NumPy that reach into each other count as overlapping.
        interleaved = sum(isinstance(each, np.ndarray) and not each.flags.c_contiguous for each in chosen)
        assert not (found and shared)
        assert found == (not shared) or interleaved


@pytest.mark.parametrize("seed", range(10))
def test_launches_with_fields_of_a_tree_and_without(seed):
    chance = random.Random(seed)

    @sv.kernel
    def shift(a: sv.Tensor, b: sv.Tensor, c: sv.Tensor):
        for i in range(5):
            a[i] = b[i + 1] + c[i]

    tree = [sv.field(sv.f32) for _ in range(3)]
    sv.root.dense(sv.i, 8).place(*tree)
    arrays = [*tree, sv.field(sv.f32, 8), sv.ndarray(sv.f32, 8), np.zeros(16, np.float32)[::2]]
    for number, each in enumerate(arrays):
        target = each if isinstance(each, np.ndarray) else each.to_numpy(copy=False)
        target[:] = np.arange(8) * (number + 1)
    for _ in range(40):
        a, b, c = (chance.choice(arrays) for _ in range(3))
        if a is b or a is c:
            continue
        expected = np.asarray(b)[1:6] + np.asarray(c)[:5]
        shift(a, b, c)
        assert np.array_equal(np.asarray(a)[:5], expected)
