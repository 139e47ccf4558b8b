"""Sparse nodes: lists, members, graphs, gradients' place, checks, memory, and what is refused."""

from __future__ import annotations

import copy
import gc
import os

import numpy as np
import pytest

import samovar as sv


def blocks(extent=8, inner=4, kind="pointer", dtype=sv.i32):
    x = sv.field(dtype)
    node = getattr(sv.root, kind)(sv.i, extent)
    node.dense(sv.i, inner).place(x)
    return x, node


# --- lists


@pytest.mark.parametrize("above", ["dense", "pointer", "bitmasked"])
def test_appending_threads_fill_lists(above):
    x = sv.field(sv.i32)
    lists = getattr(sv.root, above)(sv.i, 16).dynamic(sv.j, 4096, chunk_size=32)
    lists.place(x)
    taken = sv.ndarray(sv.i32, 20000)

    @sv.kernel
    def fill():
        for p in range(20000):
            taken[p] = x[p % 13].append(p)

    @sv.kernel
    def visit(count: sv.types.NDArray[sv.i32, 1]):
        for i, j in x:
            count[x[i, j]] += 1

    fill()
    lengths = [sv.length(lists, i) for i in range(16)]
    assert sum(lengths) == 20000 == lists.active_count
    assert lengths[13:] == [0, 0, 0]
    for i in range(13):
        of_list = sorted(taken.to_numpy()[i::13].tolist())
        assert of_list == list(range(lengths[i]))
        assert sorted(x.to_numpy()[i, : lengths[i]].tolist()) == list(range(i, 20000, 13))
    count = np.zeros(20000, np.int32)
    visit(count)
    assert count.min() == count.max() == 1
    if above != "dense":
        assert lists.parent().active_count == 13
    lists.deactivate_all()
    assert lists.active_count == 0
    assert not x.to_numpy().any()


def test_a_list_ends_with_its_last_element():
    x = sv.field(sv.f32)
    lists = sv.root.dense(sv.i, 4).dynamic(sv.j, 10).place(x)

    @sv.kernel
    def run() -> sv.i32:
        x[1, 6] = 5.0
        x[2].append(1.0)
        sv.append(lists, 2, 2.0)
        x[3].append(3.0)
        x[3].deactivate()
        total = 0
        for _i, _j in x:
            total += 1
        return total + 100 * x[1].length() + 10000 * sv.length(lists, 2)

    assert run() == 20000 + 700 + 9
    assert x[1, 6] == 5
    assert x[1, 5] == 0
    assert x[2, 1] == 2
    assert x[3, 0] == 0


def test_a_full_list_is_an_error():
    x = sv.field(sv.i32)
    sv.root.dense(sv.i, 2).dynamic(sv.j, 5).place(x)

    @sv.kernel
    def run(count: sv.i32):
        for p in range(count):
            x[1].append(p)

    run(5)
    with pytest.raises(sv.SamovarAssertionError, match=r"a list of `x` is full: .* maximum length of 5"):
        run(1)
    assert x.to_numpy()[1].max() == 4


def test_lists_of_vectors_and_structs():
    v = sv.Vector.field(3, sv.f32)
    sv.root.pointer(sv.i, 4).dynamic(sv.j, 8).place(v)

    @sv.kernel
    def run() -> sv.f32:
        v[2].append(sv.Vector([1.0, 2.0, 3.0]))
        v[2].append(sv.Vector([4.0, 5.0, 6.0]))
        total = 0.0
        for i, j in v:
            total += v[i, j].sum()
        return total

    assert run() == 21
    assert list(v[2, 1]) == [4, 5, 6]

    Pair = sv.types.struct(first=sv.types.vector(2, sv.f32), second=sv.i32)
    pairs, only, apart = Pair.field(), Pair.field(), Pair.field()
    sv.root.dense(sv.i, 3).dynamic(sv.j, 10).place(pairs)
    sv.root.dynamic(sv.i, 100).place(only)
    for member in (apart.first, apart.second):
        sv.root.dense(sv.i, 1).dynamic(sv.j, 10).place(member)

    @sv.kernel
    def collect() -> sv.i32:
        for _ in range(1):
            only.deactivate()
        for p in range(50):
            only.append(Pair(sv.Vector([1.0, p]), p))
        for p in range(5):
            pairs[2].append(Pair(sv.Vector([1.0, p]), p))
            apart[0].append(Pair(sv.Vector([1.0, p]), p))
        total = 0
        for k in only:
            total += only[k].second
        return total + 10000 * only.length() + 1000000 * pairs[2].length()

    for _ in range(2):
        assert collect() == 25 * 49 + 500000 + 1000000 * pairs.parent().active_count
    assert sorted(int(only[k].first[1]) for k in range(50)) == list(range(50))
    assert apart.second.parent().active_count == apart.first.parent().active_count == 10


# --- where fields come from


def test_fields_of_one_cell_share_its_activity():
    a, b, m = sv.field(sv.f32), sv.field(sv.f64), sv.Matrix.field(2, 2, sv.f32)
    node = sv.root.pointer(sv.ij, 4)
    node.dense(sv.ij, 2).place(a, b)
    node.place(m)

    @sv.kernel
    def write():
        b[5, 3] = 1.5

    @sv.kernel
    def count() -> sv.i32:
        total = 0
        for i, j in a:
            total += 1
            a[i, j] = 2
        for I in sv.grouped(m):
            total += 100
            m[I] = sv.Matrix([[1.0, 2.0], [3.0, 4.0]])
        return total

    write()
    assert count() == 104
    assert a[5, 3] == 2
    assert b[5, 3] == 1.5
    assert m[2, 1][1, 0] == 3
    assert node.active_count == 1


def test_offsets_shift_indices_of_sparse_fields():
    x = sv.field(sv.i32)
    node = sv.root.pointer(sv.ij, 4)
    node.dense(sv.ij, 4).place(x, offset=(-8, -8))

    @sv.kernel
    def run() -> sv.i32:
        x[-8, -8] = 1
        x[7, 7] = 1
        total = 0
        for i, j in x:
            x[i, j] += 1
            total += i * x[i, j]
        return total

    visited = [(i, j) for c in (-8, 4) for i in range(c, c + 4) for j in range(c, c + 4)]
    expected = sum(i * (2 if (i, j) in ((-8, -8), (7, 7)) else 1) for i, j in visited)
    assert run() == expected
    assert node.active_count == 2
    assert x[-8, -8] == 2


def test_members_and_arguments_are_looped_over():
    @sv.data_oriented
    class Grid:
        def __init__(self):
            self.x, self.block = blocks()

        @sv.kernel
        def run(self, other: sv.Template) -> sv.i32:
            self.x[9] = 3
            total = 0
            for _ in self.x:
                total += 1
            for i in self.x.parent(2):
                total += 10 * (i + 1)
            for i in other:
                total += 1000 * other[i]
            return total

    grid, (other, _) = Grid(), blocks(4, 2)
    other[3] = 7
    assert grid.run(other) == 4 + 30 + 7000
    assert grid.run(grid.x) == 4 + 30 + 3000


def test_writes_of_funcs_and_views_of_nodes():
    x, node = blocks()

    @sv.func
    def put(i, value):
        x[i] = value
        return sv.is_active(node, i // 4)

    @sv.kernel
    def run() -> sv.i32:
        total = 0
        for i in range(3):
            if put(10 * i, i + 1):
                total += 1
        return total

    assert run() == 3
    assert node.active_count == 3
    assert x[20] == 3


def test_a_graph_loops_over_what_it_activates():
    x, node = blocks(16, 1)
    left = sv.field(sv.i32, ())

    @sv.kernel(graph=True)
    def grow():
        while sv.graph.do_while(left):
            for i in x:
                if i < 15:
                    sv.atomic_max(x[i + 1], 1)
            for _ in range(1):
                left[None] -= 1

    x[2], left[None] = 1, 4
    grow()
    assert node.active_count == 5
    assert x.to_numpy()[:8].tolist() == [0, 0, 1, 1, 1, 1, 1, 0]


def test_reductions_over_active_cells_are_exact():
    x, _node = blocks(1024, 32, dtype=sv.f32)

    @sv.kernel
    def run() -> sv.f64:
        total = sv.f64(0)
        for i in x:
            total += x[i]
        return total

    wanted = 0.0
    for cell in range(0, 1024, 3):
        x[32 * cell + 5] = cell
        wanted += cell
    assert run() == wanted


def test_a_loop_that_deactivates_reads_zeros_afterwards():
    x, node = blocks()

    @sv.kernel
    def run() -> sv.i32:
        total = 0
        for _i in range(1):
            x[6] = 4
            first = x[6]
            sv.deactivate(node, 1)
            second = x[6]
            x[6] = second + 1
            total += 100 * first + 10 * second + x[6]
        return total

    assert run() == 401
    assert node.active_count == 1


# --- debug mode


def test_checks_of_debug_mode():
    x, node = blocks()

    @sv.kernel
    def write(i: sv.i32):
        x[i] = 1

    @sv.kernel
    def clear(i: sv.i32):
        sv.deactivate(node, i)

    @sv.kernel
    def only_active(i: sv.i32):
        sv.no_activate(x)
        x[i] = 2

    sv.init(debug=True)
    try:
        with pytest.raises(sv.SamovarError, match="index 32 is out of bounds"):
            write(32)
        with pytest.raises(sv.SamovarError, match="index 8 is out of bounds for dimension 0 of the cells"):
            clear(8)
        with pytest.raises(sv.SamovarError, match="an inactive element of `x` is written"):
            only_active(3)
        write(3)
        only_active(2)
    finally:
        sv.init(debug=False)
    assert x[2] == 2
    assert node.active_count == 1


# --- memory


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def mappings():
    with open("/proc/self/maps") as file:
        return file.read().count("\n")


@pytest.mark.parametrize("rounds", [40, pytest.param(1000, marks=pytest.mark.stress)])
def test_memory_returns_after_deactivation(rounds):
    x, node = blocks(1 << 16, 1 << 10, dtype=sv.f64)

    @sv.kernel
    def write(first: sv.i32):
        for i in range(2000):
            x[(first + 7 * i) % (1 << 16) * 1024 + 3] = 1.0

    write(0)
    node.deactivate_all()
    before = resident()
    for repetition in range(rounds):
        write(1000 * repetition)
        assert node.active_count == 2000
        node.deactivate_all()
    assert node.active_count == 0
    assert resident() - before < 64 << 20  # many times as much was used


def test_a_tree_is_freed_with_its_fields():
    gc.disable()
    try:
        before = mappings()
        for _ in range(20):
            x, node = blocks(1 << 20, 1 << 10)
            x[77] = 1
        del x, node
        after = mappings()
    finally:
        gc.enable()
    assert after - before < 10


def test_fill_changes_active_elements_only():
    x, _node = blocks()
    x[5] = 1
    x.fill(3)
    assert x.to_numpy().sum() == 12
    x.from_numpy(np.arange(32, dtype=np.int32))
    assert x.to_numpy().tolist() == [0, 0, 0, 0, 4, 5, 6, 7, *[0] * 24]
    y, other = blocks()
    y[31] = 1
    y.copy_from(x)
    assert np.array_equal(x.to_numpy(), y.to_numpy())
    assert other.active_count == 2
    dense = sv.field(sv.i32, 32)
    dense.fill(2)
    y.copy_from(dense)
    assert other.active_count == 8
    assert y.to_numpy().sum() == 64
    dense.copy_from(x)
    assert np.array_equal(dense.to_numpy(), x.to_numpy())


# --- what is refused


def test_what_is_refused():
    x, _ = blocks()
    with pytest.raises(TypeError, match="sparse fields cannot be copied"):
        copy.copy(x)
    with pytest.raises(sv.SamovarFieldError, match="below `dynamic`"):
        sv.root.dynamic(sv.i, 4).pointer(sv.j, 4)
    with pytest.raises(sv.SamovarFieldError, match="already used above"):
        sv.root.dense(sv.i, 4).dynamic(sv.i, 4)
    huge = sv.field(sv.f32)
    sv.root.pointer(sv.ijkl, 1 << 12).place(huge)
    with pytest.raises(sv.SamovarFieldError, match="use smaller extents"):
        huge[0, 0, 0, 0] = 1

    @sv.kernel
    def inner():
        for _ in range(2):
            for i in x:
                x[i] = 1

    with pytest.raises(sv.SamovarTypeError, match="must be parallel"):
        inner()

    @sv.kernel
    def of_dense():
        for i in x.parent():
            x[i] = 1

    with pytest.raises(sv.SamovarTypeError, match="loop over a field in it"):
        of_dense()

    @sv.kernel
    def of_field():
        sv.activate(x, 1)

    with pytest.raises(sv.SamovarTypeError, match=r"x.parent\(\)"):
        of_field()
    with pytest.raises(sv.SamovarTypeError, match="takes a sparse node"):
        sv.activate(x, 1)


def test_serial_loops_over_cells_warn():
    x, _ = blocks()
    x[1] = 1

    @sv.kernel
    def run() -> sv.i32:
        total = 0
        sv.loop_config(serialize=True)
        for _i in x:
            total += 1
        return total

    with pytest.warns(sv.SamovarWarning, match="always parallel"):
        assert run() == 4


def test_gradients_of_sparse_fields_are_beside_them():
    x = sv.field(sv.f32, needs_grad=True)
    loss = sv.field(sv.f32, (), needs_grad=True)
    node = sv.root.pointer(sv.i, 8)
    node.dense(sv.i, 4).place(x)

    @sv.kernel
    def squares():
        for i in x:
            loss[None] += x[i] * x[i]

    x[5], x[17] = 3.0, 2.0
    squares()
    loss.grad[None] = 1.0
    squares.grad()
    assert x.grad.to_numpy().nonzero()[0].tolist() == [5, 17]
    assert (x.grad[5], x.grad[17]) == (6.0, 4.0)
    assert node.active_count == 2
    node.deactivate_all()
    assert not x.grad.to_numpy().any()
