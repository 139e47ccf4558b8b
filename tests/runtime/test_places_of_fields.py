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
    with pytest.raises(sv.SamovarFieldError, match="of a field of 1-D elements"):
        vectors.get_scalar_field(0, 1)
    with pytest.raises(sv.SamovarFieldError, match=r"have shape \(2,\)"):
        vectors.get_scalar_field(2)


def test_lazy_grad_gives_placed_fields_of_floats_a_grad():
    x, v, n, used = sv.field(sv.f32), sv.Vector.field(2, sv.f64), sv.field(sv.i32), sv.field(sv.f32)
    sv.root.dense(sv.i, 4).dense(sv.i, 2).place(x, n)
    sv.root.dense(sv.i, 3).place(v)
    sv.root.dense(sv.i, 2).place(used)
    used[0] = 1
    sv.root.lazy_grad()
    assert (n.grad, used.grad) == (None, None)
    x.grad[5] = 3  # before the field itself is used
    v[1] = [1, 2]
    v.grad[1] = [4, 5]
    assert (x.grad[5], x[5], x.grad.shape) == (3, 0, (8,))
    assert (v.grad[1].to_list(), v[1].to_list()) == ([4, 5], [1, 2])
    sv.root.lazy_grad()  # they are in use
    assert x.grad[5] == 3

    @sv.kernel
    def doubles():
        for i in x:
            x[i] += x.grad[i] * 2

    doubles()
    assert x[5] == 6


def test_lazy_grad_and_lazy_dual_of_a_builder_and_a_node():
    builder = sv.FieldsBuilder()
    x, y, z = sv.field(sv.f32), sv.field(sv.f32), sv.field(sv.f32)
    node = builder.dense(sv.i, 4)
    node.place(x)
    builder.dense(sv.i, 3).place(y)
    node.lazy_grad()
    assert not y.needs_grad
    builder.lazy_grad()
    sv.root.dense(sv.i, 2).place(z)
    builder.lazy_dual()
    assert not z.needs_grad
    builder.finalize()
    x.grad[3], y.grad[2], y.dual[1] = 1, 2, 3
    assert (x.grad[3], y.grad[2], y.dual[1]) == (1, 2, 3)
    assert z.dual is None


def test_the_grad_of_a_field_is_placed_with_it_or_by_itself():
    x, y = sv.field(sv.f32, needs_grad=True), sv.field(sv.f32, needs_grad=True)
    sv.root.dense(sv.i, 4).place(x)
    x.grad[1] = 3
    assert (x.grad[1], x[1]) == (3, 0)
    sv.root.dense(sv.i, 4).place(y)
    sv.root.dense(sv.i, 2).dense(sv.i, 2).place(y.grad)
    y[1] = 5
    assert y.grad[1] == 0
    assert y.grad.parent(2).shape == (2,)
    with pytest.raises(sv.SamovarFieldError, match="placed only once"):
        sv.root.dense(sv.i, 4).place(x.grad)


@sv.kernel
def mixes(v: sv.template(), x: sv.template(), y: sv.template()):
    for i in v:
        v[i] += sv.Vector([10, 20])
        x[i] += 1
        y[i] = v[i][0] + v[i][1]


def test_components_are_placed_by_themselves():
    v = sv.Vector.field(2, sv.i32)
    x, y = v.get_scalar_field(0), v.get_scalar_field(1)
    assert v.get_scalar_field(0) is x
    sv.root.dense(sv.i, 8).place(x)
    sv.root.dense(sv.i, 8).place(y)
    v[3] = [1, 2]
    y[4] = 7
    assert (v.shape, x.shape, v[3].to_list(), v[4].to_list(), x[3], y[3]) == ((8,), (8,), [1, 2], [0, 7], 1, 2)
    mixes(v, x, y)
    assert (x[3], y[3], v[3].to_list()) == (12, 34, [12, 34])
    assert v.to_numpy()[0].tolist() == [11, 31]


def test_components_beside_other_fields():
    m, other = sv.Matrix.field(2, 2, sv.f32), sv.field(sv.f64)
    node = sv.root.dense(sv.i, 4).dense(sv.i, 2)
    node.place(*(m.get_scalar_field(i, j) for i in range(2) for j in range(2)), other)
    other[5] = 2.5
    m[5] = [[1, 2], [3, 4]]
    m.get_scalar_field(1, 0)[6] = 9
    assert m.to_numpy()[5:7].tolist() == [[[1, 2], [3, 4]], [[0, 0], [9, 0]]]
    assert other[5] == 2.5


def test_three_components_in_three_trees_with_a_grad():
    v = sv.Vector.field(3, sv.f32, needs_grad=True)
    for place in range(3):
        sv.root.dense(sv.ij, (3, 5)).place(v.get_scalar_field(place))
    v.get_scalar_field(2)[2, 4] = 6
    v.grad[2, 4] = [1, 2, 3]
    assert v[2, 4].to_list() == [0, 0, 6]
    assert v.get_scalar_field(1).grad[2, 4] == 2


def test_the_whole_field_may_be_placed_after_all():
    v = sv.Vector.field(2, sv.i32)
    x = v.get_scalar_field(0)
    sv.root.dense(sv.i, 4).place(v)
    x[1] = 5
    assert v[1].to_list() == [5, 0]
    with pytest.raises(sv.SamovarFieldError, match="placed only once"):
        sv.root.dense(sv.i, 4).place(v.get_scalar_field(0))


def test_components_that_are_not_placed_or_not_alike():
    v, w, u = (sv.Vector.field(2, sv.i32) for _ in range(3))
    sv.root.dense(sv.i, 8).place(v.get_scalar_field(0))
    with pytest.raises(RuntimeError, match=r"get_scalar_field\(1,\) of it is not"):
        v[0]
    with pytest.raises(sv.SamovarFieldError, match="placed only once"):
        sv.root.dense(sv.i, 8).place(v)
    for place, extent in ((0, 8), (1, 4)):
        sv.root.dense(sv.i, extent).place(w.get_scalar_field(place))
    with pytest.raises(sv.SamovarFieldError, match="not placed alike"):
        w[0]
    with pytest.raises(sv.SamovarFieldError, match="elements of this field have shape"):
        u.get_scalar_field(2)
