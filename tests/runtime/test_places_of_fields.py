"""`field.snode`, `field.parent()`, `field.get_scalar_field()`: what programs ask of the place of a field."""

import gc
import weakref

import numpy as np
import pytest

import samovar as sv


def test_the_nodes_above_a_field():
    field = sv.field(sv.i32)
    inner = sv.root.dense(sv.i, 4).dense(sv.ij, (2, 3))
    inner.place(field)
    assert field.snode.shape == field.shape == (8, 3)
    assert field.parent() is inner
    assert field.snode.parent() is inner
    assert field.parent(n=2) is inner.parent()
    assert [field.parent(n).shape for n in (1, 2, 3)] == [(8, 3), (4,), ()]
    assert field.parent(3) is sv.root
    assert field.parent(4) is None
    assert field.parent(0) == field.snode
    assert field.snode != sv.field(sv.i32, 3).snode


def test_a_builder_and_a_field_of_one_element():
    builder = sv.FieldsBuilder()
    field, single = sv.field(sv.f32), sv.field(sv.f32)
    node = builder.dense(sv.ji, (2, 5))
    node.place(field)
    builder.place(single)
    assert not builder.empty
    builder.finalize()
    assert not builder.empty
    assert field.parent() is node
    assert node.shape == (5, 2)
    assert single.parent() is sv.root


def test_a_field_with_memory_of_its_own():
    field = sv.field(sv.f32, (3, 4))
    assert field.parent().shape == (3, 4)
    assert field.parent() is field.parent()
    assert field.parent(2) is sv.root
    assert sv.field(sv.f32, ()).parent() is sv.root
    with pytest.raises(RuntimeError, match="this tree is in use"):
        field.parent().place(sv.field(sv.f32))


def test_memory_goes_with_the_last_reference():
    field = sv.field(sv.f32)
    sv.root.dense(sv.i, 4).place(field)
    field[1] = 2
    gone = weakref.ref(field)
    gc.disable()
    try:
        del field
        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("layout", [sv.Layout.AOS, sv.Layout.SOA])
def test_one_entry_of_each_matrix(layout):
    field = sv.Matrix.field(2, 3, sv.f32, (4, 5), layout=layout, offset=(1, -2))
    values = np.arange(120, dtype=np.float32).reshape(4, 5, 2, 3)
    field.from_numpy(values)
    entry = field.get_scalar_field(1, 2)
    assert entry.shape == (4, 5)
    assert entry.offset == (1, -2)
    assert np.array_equal(entry.to_numpy(), values[:, :, 1, 2])
    entry[1, -2] = -1
    assert field[1, -2][1, 2] == -1


def test_in_a_tree():
    field, other = sv.Vector.field(2, sv.i64), sv.field(sv.i32)
    sv.root.dense(sv.i, 3).dense(sv.i, 2).place(other, field)
    field.fill(0)
    entry = field.get_scalar_field(1)
    entry.from_numpy(np.arange(6))
    assert field.to_numpy()[:, 1].tolist() == list(range(6))
    assert field.to_numpy()[:, 0].tolist() == [0] * 6
    assert other.to_numpy().tolist() == [0] * 6


vectors = sv.Vector.field(2, sv.i32, 64)
seconds = vectors.get_scalar_field(1)


@sv.kernel
def step():
    for _ in range(1):
        for i in range(63):
            vectors[i + 1][1] = seconds[i] + 1


def test_a_kernel_that_uses_both_sees_that_they_share_memory():
    seconds.fill(0)
    step()
    assert seconds.to_numpy().tolist() == list(range(64))


def test_what_is_refused():
    with pytest.raises(sv.SamovarFieldError, match="of a field of numbers"):
        sv.field(sv.f32, 3).get_scalar_field(0)
    with pytest.raises(sv.SamovarFieldError, match="of a field of elements of 1 axes"):
        vectors.get_scalar_field(0, 1)
    with pytest.raises(sv.SamovarFieldError, match=r"have the shape \(2,\)"):
        vectors.get_scalar_field(2)
