"""Fields in kernels: every layout, order, rank and dtype does what the same program does on arrays."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import samovar as sv

pytestmark = pytest.mark.filterwarnings("ignore:.* was compiled .* times:samovar.SamovarWarning")

ALL = [sv.i8, sv.i16, sv.i32, sv.i64, sv.u1, sv.u8, sv.u16, sv.u32, sv.u64, sv.f16, sv.f32, sv.f64]


@sv.kernel
def stencil(a: sv.Template, b: sv.Template):
    for i, j in b:
        s = a[i, j]
        if i > 0:
            s += a[i - 1, j]
        if j + 1 < a.shape[1]:
            s += a[i, j + 1]
        b[i, j] = sv.cast(s * 2 + i - j, b.dtype)


@sv.kernel
def update(a: sv.Template, b: sv.Template):
    for I in sv.grouped(a):
        a[I] += b[I]
        b[I] -= 1


def placed(dtype, levels, together=1):
    fields = [sv.field(dtype) for _ in range(together)]
    node = sv.root
    for axes, extents in levels:
        node = node.dense(axes, extents)
    node.place(*fields)
    return fields


LAYOUTS = {
    "an array": lambda dtype: [sv.ndarray(dtype, (6, 8)) for _ in range(2)],
    "C order": lambda dtype: [sv.field(dtype, (6, 8)) for _ in range(2)],
    "another order": lambda dtype: [sv.field(dtype, (6, 8), order="ji") for _ in range(2)],
    "both orders": lambda dtype: [sv.field(dtype, (6, 8)), sv.field(dtype, (6, 8), order="ji")],
    "one node": lambda dtype: placed(dtype, [(sv.ij, (6, 8))], 2),
    "an axis below the other": lambda dtype: placed(dtype, [(sv.j, 8), (sv.i, 6)], 2),
    "blocks": lambda dtype: placed(dtype, [(sv.ij, (3, 2)), (sv.ij, (2, 4))], 2),
    "blocks of blocks": lambda dtype: placed(dtype, [(sv.ij, (3, 2)), (sv.ij, (1, 2)), (sv.ji, (2, 2))], 2),
    "blocks of odd sizes": lambda dtype: placed(dtype, [(sv.i, 2), (sv.ij, (3, 8))], 2),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_stencil_in_every_layout_and_dtype(layout):
    for dtype in (sv.i32, sv.f64) if layout == "an array" else (sv.i8, sv.u16, sv.i32, sv.i64, sv.f32, sv.f64):
        a, b = LAYOUTS[layout](dtype)
        start = (np.arange(48).reshape(6, 8) % 7).astype(a.to_numpy().dtype)
        a.from_numpy(start)
        stencil(a, b)
        whole = start.astype(np.int64)
        expected = whole.copy()
        expected[1:] += whole[:-1]
        expected[:, :-1] += whole[:, 1:]
        i, j = np.indices(start.shape)
        expected = expected * 2 + i - j
        np.testing.assert_array_equal(b.to_numpy(), expected.astype(start.dtype))
        update(a, b)
        np.testing.assert_array_equal(a.to_numpy(), (whole + expected).astype(start.dtype))
        np.testing.assert_array_equal(b.to_numpy(), (expected - 1).astype(start.dtype))


@pytest.mark.parametrize("dtype", ALL, ids=lambda dtype: dtype.name)
def test_every_dtype_beside_a_larger_one(dtype):
    one, wide = sv.field(dtype), sv.field(sv.f64)
    sv.root.dense(sv.i, 5).place(one, wide)

    @sv.kernel
    def write():
        for i in one:
            one[i] = i % 2
            wide[i] = i + 0.5

    write()
    np.testing.assert_array_equal(one.to_numpy(), np.arange(5) % 2)
    np.testing.assert_array_equal(wide.to_numpy(), np.arange(5) + 0.5)


@pytest.mark.parametrize("rank", range(6))
def test_every_rank_and_order(rank):
    shape = (2, 3, 2, 4, 1)[:rank]
    letters = "ijklm"[:rank]
    for order in list(itertools.permutations(letters))[:: max(1, rank)]:
        a = sv.field(sv.i32, shape, order="".join(order))

        @sv.kernel
        def number(a: sv.Template):
            for I in sv.grouped(a):
                a[I] += 1 + a.ndim

        number(a)
        assert a.shape == shape
        np.testing.assert_array_equal(a.to_numpy(), np.full(shape, 1 + rank))


AXES = [sv.i, sv.j, sv.k, sv.ij, sv.ji, sv.jk, sv.kji, sv.ijk]


@st.composite
def trees(draw):
    """Levels of a tree, each with its axes and extents, and what is placed at each of them."""
    levels = []
    for _ in range(draw(st.integers(1, 4))):
        axes = draw(st.sampled_from(AXES))
        levels.append((axes, tuple(draw(st.integers(1, 3)) for _ in axes), draw(st.lists(st.sampled_from(ALL), max_size=2))))
    if not any(dtypes for _, _, dtypes in levels):
        levels[-1] = (*levels[-1][:2], [sv.f32])
    return levels


@settings(max_examples=40, deadline=None)
@given(trees())
def test_any_tree(levels):
    builder = sv.FieldsBuilder()
    node, fields, extents = builder, [], {}
    for axes, shape, dtypes in levels:
        node = node.dense(axes, shape)
        for axis, extent in zip(axes, shape, strict=True):
            extents[axis] = extents.get(axis, 1) * extent
        for dtype in dtypes:
            field = sv.field(dtype)
            node.place(field)
            fields.append((field, tuple(extents[axis] for axis in sorted(extents))))
    for number, (field, shape) in enumerate(fields):
        assert field.shape == shape
        field.from_numpy(np.arange(number, number + field.size).reshape(shape) % 2)
    for number, (field, shape) in enumerate(fields):  # nothing was written over
        np.testing.assert_array_equal(field.to_numpy(), np.arange(number, number + field.size).reshape(shape) % 2)
        for index in itertools.islice(np.ndindex(*shape), 5):
            assert field[index] == field.to_numpy()[index]
    field, shape = fields[-1]
    count(field)
    np.testing.assert_array_equal(field.to_numpy(), (np.indices(shape).sum(0) % 2).astype(field.to_numpy().dtype))
    for number, (other, shape) in enumerate(fields[:-1]):
        np.testing.assert_array_equal(other.to_numpy(), np.arange(number, number + other.size).reshape(shape) % 2)


@sv.kernel
def count(a: sv.Template):
    for I in sv.grouped(a):
        s = 0
        for axis in sv.static(range(a.ndim)):
            s += I[axis]
        a[I] = s % 2


# --- loops, methods and attributes


def test_the_shape_is_known_when_a_kernel_is_compiled():
    f = sv.field(sv.f32, (3, 5))

    @sv.kernel
    def shape() -> int:
        s = 0
        for axis in sv.static(range(len(f.shape))):
            for _ in sv.static(range(f.shape[axis])):
                s += 1
        return s

    assert shape() == 8


def test_a_kernel_fills_what_it_is_given():
    fields = [sv.field(sv.f32, (3, 4)), *placed(sv.i16, [(sv.ij, 2), (sv.ij, (2, 3))], 2), sv.ndarray(sv.f64, (2, 2))]

    @sv.kernel
    def fill(a: sv.Template, value: sv.f32):
        a.fill(sv.cast(value, a.dtype))
        for i, j in a:
            a[i, j] += sv.cast(i, a.dtype)
        if value > 0:
            a.fill(sv.cast(value * 2, a.dtype))

    for field in fields:
        fill(field, 3)
        assert (field.to_numpy() == 6).all()
        fill(field, -2)
        np.testing.assert_array_equal(field.to_numpy(), np.indices(field.shape)[0] - 2)


def test_a_single_element():
    f, placed_alone = sv.field(sv.f32, ()), sv.field(sv.i32)
    sv.root.place(placed_alone)

    @sv.kernel
    def add():
        f[None] += 2
        placed_alone[None] = 7

    add()
    add()
    assert (f[None], placed_alone[None]) == (4, 7)


def test_indices_begin_at_the_offset():
    f = sv.field(sv.i32, (4, 3), offset=(-2, 5))
    g = sv.field(sv.i32)
    sv.root.dense(sv.i, 2).dense(sv.i, 3).place(g, offset=100)

    @sv.kernel
    def write():
        for i, j in f:
            f[i, j] = 10 * i + j
        f[-2, 5] += 1000
        for i in g:
            g[i] = i
        g[105] += g[100]

    write()
    i, j = np.indices((4, 3))
    expected = 10 * (i - 2) + j + 5
    expected[0, 0] += 1000
    np.testing.assert_array_equal(f.to_numpy(), expected)
    assert f[-2, 5] == 985
    assert f[1, 7] == 17
    np.testing.assert_array_equal(g.to_numpy(), [100, 101, 102, 103, 104, 205])
    with pytest.raises(IndexError):
        _ = f[2, 5]


def test_an_index_before_the_offset_is_refused():
    f = sv.field(sv.i32, 4, offset=3)

    @sv.kernel
    def read() -> sv.i32:
        return f[2]

    with pytest.raises(sv.SamovarTypeError, match="dimension 0 begins at 3"):
        read()


def test_a_parallel_sum_into_a_field():
    total, source = sv.field(sv.f64, ()), sv.field(sv.f64, 10_000, order="i")
    histogram = sv.field(sv.i32, 8)

    @sv.kernel
    def gather():
        for i in source:
            source[i] = i
        for i in source:
            total[None] += source[i]
            histogram[i % 8] += 1

    gather()
    assert total[None] == 10_000 * 9_999 / 2
    assert (histogram.to_numpy() == 1250).all()


def test_a_field_and_a_numpy_view_of_it_overlap():
    f = sv.field(sv.f32, 100)
    f.from_numpy(np.arange(100, dtype=np.float32))
    view = f.to_numpy(copy=False)

    @sv.kernel
    def shift(a: sv.Template, b: sv.types.NDArray[sv.f32, 1]):
        sv.loop_config(serialize=True)
        for i in range(99):
            a[i + 1] = b[i] + 1

    shift(f, view)
    np.testing.assert_array_equal(f.to_numpy(), np.arange(100))


def test_a_gradient_is_laid_out_like_its_field():
    x = sv.field(sv.f32, needs_grad=True)
    sv.root.dense(sv.ij, 2).dense(sv.ij, 3).place(x)

    @sv.kernel
    def write(x: sv.Template):
        for I in sv.grouped(x):
            x.grad[I] = I[0]
            x[I] = I[1]

    write(x)
    i, j = np.indices((6, 6))
    np.testing.assert_array_equal(x.grad.to_numpy(), i)
    np.testing.assert_array_equal(x.to_numpy(), j)
    assert x.needs_grad


def test_debug_mode_checks_the_bounds_of_a_field(debug):
    f = sv.field(sv.i32, 6, offset=2)
    g = placed(sv.i32, [(sv.i, 2), (sv.i, 3)])[0]

    @sv.kernel
    def write(a: sv.Template, i: sv.i32):
        a[i] = 1

    write(f, 7)
    assert f[7] == 1
    shifted = "(6,) and offset (2,)"
    for field, index, shape in ((f, 1, shifted), (f, 8, shifted), (g, 6, "(6,)"), (g, -1, "(6,)")):
        message = re.escape(f"index {index} is out of bounds for array 'a' of shape {shape}")
        with pytest.raises(sv.SamovarRuntimeError, match=message):
            write(field, index)


@dataclass(frozen=True)
class Frozen:
    a: sv.Template
    b: sv.Template


@sv.data_oriented
class Holder:
    def __init__(self, a, b):
        self.a, self.b = a, b

    @sv.kernel
    def swap_sum(self) -> sv.f64:
        s: sv.f64 = 0
        for i in self.a:
            self.a[i] += i
            s += self.a[i] * self.b[i]
        return s


@sv.kernel
def member_sum(pair: Frozen) -> sv.f64:
    s: sv.f64 = 0
    for i in pair.a:
        pair.a[i] += i
        s += pair.a[i] * pair.b[i]
    return s


def test_members_in_turns():
    """One class whose members are arrays, fields and fields in blocks, in every order."""
    makers = [
        lambda: sv.ndarray(sv.f64, 6),
        lambda: sv.field(sv.f64, 6),
        lambda: placed(sv.f64, [(sv.i, 2), (sv.i, 3)])[0],
        lambda: sv.field(sv.f64, 7),
        lambda: np.zeros(6),
    ]
    for _ in range(2):
        for first, second in itertools.product(makers, makers[:3]):
            for run in (lambda a, b: Holder(a, b).swap_sum(), lambda a, b: member_sum(Frozen(a, b))):
                a, b = first(), second()
                size = a.shape[0]
                if size > b.shape[0]:
                    continue
                b.from_numpy(np.arange(6.0))
                expected = float((np.arange(6.0) ** 2).sum())
                assert run(a, b) == expected
                assert run(a, b) == 2 * expected


def test_elements_that_are_vectors_are_filled_in_kernels():
    field, array = sv.Vector.field(2, sv.f32, (2, 3)), sv.Vector.ndarray(3, sv.i32, 4)
    shifted = sv.Matrix.field(2, 2, sv.f32, 3, offset=1)

    @sv.kernel
    def fill(a: sv.types.ndarray(), x: sv.f32):
        field.fill(x)
        a.fill(sv.Vector([1, 2, 3]))
        for _ in range(1):
            shifted.fill(x + 1)

    fill(array, 2.5)
    assert field.to_numpy().tolist() == [[[2.5, 2.5]] * 3] * 2
    assert array.to_numpy().tolist() == [[1, 2, 3]] * 4
    assert shifted.to_numpy().tolist() == [[[3.5, 3.5]] * 2] * 3


def test_a_part_of_an_array_of_vectors_is_filled_in_kernels():
    array = sv.Vector.ndarray(2, sv.f32, 4)

    @sv.kernel
    def fill(part: sv.BufferView):
        part.fill(sv.Vector([1.0, 2.0]))

    fill(array[1:3])
    assert array.to_numpy().tolist() == [[0, 0], [1, 2], [1, 2], [0, 0]]
