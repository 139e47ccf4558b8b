"""Sparse fields: which cells are active, what is read from the others, loops, lists, and nodes of all kinds."""

import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def blocks(kind="pointer", size=8, cell=4, dtype=None):
    """A field in `size` cells with `cell` elements each, and their node."""
    start()
    x = qd.field(dtype or qd.i32)
    node = getattr(qd.root, kind)(qd.i, size)
    node.dense(qd.i, cell).place(x)
    return x, node


def visited(x):
    """The indices that a loop over a field visits."""
    seen = qd.field(qd.i32, x.shape)

    @qd.kernel
    def k():
        for I in qd.grouped(x):
            seen[I] += 1

    k()
    return seen.to_numpy().tolist()


def active(node, size):
    """Which cells of a node with one dimension are active."""
    found = qd.field(qd.i32, size)

    @qd.kernel
    def k():
        for i in range(size):
            found[i] = qd.is_active(node, i)

    k()
    return found.to_numpy().tolist()


def a_write_activates_a_cell():
    x, node = blocks()

    @qd.kernel
    def k():
        x[9] = 3

    k()
    return [active(node, 8), visited(x), x.to_numpy().tolist()]


def a_write_from_python_activates_a_cell():
    x, node = blocks()
    x[30] = 5
    return [active(node, 8), x[30], x[29], x[0]]


def a_read_activates_nothing():
    x, node = blocks()

    @qd.kernel
    def k() -> qd.i32:
        return x[5] + x[31]

    return [k(), active(node, 8)]


def a_write_of_zero_activates():
    x, node = blocks()

    @qd.kernel
    def k():
        x[0] = 0

    k()
    return active(node, 8)


def an_atomic_update_activates():
    x, node = blocks(dtype=qd.f32)

    @qd.kernel
    def k():
        for i in range(100):
            x[i % 3 * 9] += 0.5
            qd.atomic_max(x[25], i)

    k()
    return [active(node, 8), x.to_numpy().tolist()]


def a_write_under_a_condition():
    x, node = blocks()

    @qd.kernel
    def k():
        for i in range(32):
            if i % 12 == 5:
                x[i] = i

    k()
    return [active(node, 8), x.to_numpy().tolist()]


def activating_without_a_write():
    x, node = blocks()

    @qd.kernel
    def k():
        for i in range(4):
            qd.activate(node, [2 * i])

    k()
    return [active(node, 8), visited(x)]


def deactivating_zeroes():
    x, node = blocks()

    @qd.kernel
    def fill():
        for i in range(32):
            x[i] = i + 1

    @qd.kernel
    def remove():
        for i in range(8):
            if i % 3 == 1:
                qd.deactivate(node, [i])

    fill()
    remove()
    return [active(node, 8), x.to_numpy().tolist(), visited(x)]


def active_again_after_deactivation():
    x, node = blocks()

    @qd.kernel
    def write(first: qd.i32):
        x[first] = 7

    @qd.kernel
    def remove():
        qd.deactivate(node, [1])

    write(5)
    remove()
    write(6)
    return x.to_numpy().tolist()


def all_cells_at_once():
    x, node = blocks()

    @qd.kernel
    def fill():
        for i in range(20):
            x[i] = i

    fill()
    node.deactivate_all()
    empty = [active(node, 8), visited(x)]
    fill()
    return [empty, active(node, 8), x.to_numpy().tolist()]


def the_root_deactivates_everything():
    start()
    x, y = qd.field(qd.i32), qd.field(qd.i32)
    a = qd.root.pointer(qd.i, 4)
    a.dense(qd.i, 2).place(x)
    qd.root.dense(qd.i, 2).pointer(qd.i, 3).place(y)
    x[1], y[5] = 1, 2
    qd.root.deactivate_all()
    return [active(a, 4), x.to_numpy().tolist(), y.to_numpy().tolist()]


def a_bitmask():
    start()
    x = qd.field(qd.f32)
    node = qd.root.bitmasked(qd.ij, (4, 5))
    node.place(x)
    x[1, 2] = 3
    x[3, 4] = 4

    @qd.kernel
    def k() -> qd.f32:
        total = 0.0
        for i, j in x:
            total += x[i, j] + 100 * i + 10 * j
        return total

    return [k(), visited(x)]


def pointers_in_pointers():
    start()
    x = qd.field(qd.i32)
    outer = qd.root.pointer(qd.i, 3)
    inner = outer.pointer(qd.i, 4)
    inner.dense(qd.i, 2).place(x)
    x[7] = 1
    x[20] = 2
    return [active(outer, 3), active(inner, 12), visited(x)]


def an_inner_cell_alone_is_deactivated():
    start()
    x = qd.field(qd.i32)
    outer = qd.root.pointer(qd.i, 3)
    inner = outer.pointer(qd.i, 4)
    inner.dense(qd.i, 2).place(x)
    x[7] = 1
    x[4] = 2

    @qd.kernel
    def k():
        qd.deactivate(inner, [3])

    k()
    return [active(outer, 3), active(inner, 12), x.to_numpy().tolist()]


def an_outer_cell_takes_inner_ones_along():
    start()
    x = qd.field(qd.i32)
    outer = qd.root.pointer(qd.i, 3)
    inner = outer.bitmasked(qd.i, 4)
    inner.place(x)
    x[2], x[5], x[6] = 1, 2, 3

    @qd.kernel
    def k():
        qd.deactivate(outer, [1])

    k()
    x[7] = 4
    return [active(outer, 3), visited(x), x.to_numpy().tolist()]


def a_bitmask_in_pointers():
    start()
    x = qd.field(qd.i32)
    outer = qd.root.pointer(qd.ij, 2)
    inner = outer.bitmasked(qd.ij, (2, 4))
    inner.place(x)

    @qd.kernel
    def k():
        for i, j in qd.ndrange(4, 8):
            if (i * j) % 5 == 3:
                x[i, j] = i + j

    k()
    return [visited(x), x.to_numpy().tolist()]


def dense_above_pointers():
    start()
    x = qd.field(qd.i32)
    node = qd.root.dense(qd.i, 2).pointer(qd.i, 4)
    node.dense(qd.i, 3).place(x)
    x[13] = 1
    x[2] = 1
    return [active(node, 8), visited(x)]


def fields_share_a_cell():
    start()
    x, y = qd.field(qd.i32), qd.field(qd.f32)
    node = qd.root.pointer(qd.i, 4)
    node.dense(qd.i, 2).place(x, y)
    x[3] = 1
    return [visited(x), visited(y), y.to_numpy().tolist()]


def fields_at_two_levels():
    start()
    x, y = qd.field(qd.i32), qd.field(qd.i32)
    node = qd.root.pointer(qd.i, 4)
    node.place(y)
    node.dense(qd.i, 3).place(x)
    y[2] = 9
    first = [visited(x), visited(y)]
    x[0] = 1
    return [first, visited(x), visited(y), y.to_numpy().tolist()]


def vectors_and_matrices():
    start()
    v, m = qd.Vector.field(2, qd.f32), qd.Matrix.field(2, 2, qd.i32)
    node = qd.root.pointer(qd.i, 4)
    node.dense(qd.i, 2).place(v, m)

    @qd.kernel
    def k():
        v[3] = [1.5, 2.5]
        m[6] += qd.Matrix([[0, 1], [4, 0]])

    k()
    return [active(node, 4), v.to_numpy().tolist(), m.to_numpy().tolist()]


def structs():
    start()
    S = qd.types.struct(a=qd.i32, b=qd.types.vector(2, qd.f32))
    s = S.field()
    node = qd.root.pointer(qd.i, 4)
    node.place(s)

    @qd.kernel
    def k():
        s[2] = S(5, [1.0, 2.0])
        s[0].a += 3

    k()
    return [active(node, 4), s.a.to_numpy().tolist(), s.b.to_numpy().tolist()]


def a_loop_over_a_node():
    x, node = blocks()
    x[3] = 1
    x[17] = 1
    found = qd.field(qd.i32, 8)

    @qd.kernel
    def k():
        for i in node:
            found[i] += 1

    k()
    return found.to_numpy().tolist()


def a_loop_over_the_parent_of_a_field():
    x, _ = blocks()
    x[3] = 1
    x[17] = 1
    found = qd.field(qd.i32, 8)

    @qd.kernel
    def k():
        for i in x.parent(2):
            found[i] += 1

    k()
    return found.to_numpy().tolist()


def a_node_as_an_argument():
    x, node = blocks()
    x[3] = 1

    @qd.kernel
    def k(of: qd.template(), i: qd.i32) -> qd.i32:
        return qd.cast(qd.is_active(of, i), qd.i32)

    return [k(node, 0), k(node, 1), k(x.parent(2), 0)]


def an_index_is_rescaled():
    start()
    x, y = qd.field(qd.i32), qd.field(qd.i32)
    node = qd.root.pointer(qd.ij, 4)
    node.dense(qd.ij, (4, 2)).place(x)
    qd.root.dense(qd.ij, (2, 16)).place(y)
    found = qd.field(qd.i32, 6)

    @qd.kernel
    def k():
        for _ in range(1):
            I = qd.rescale_index(x, node, qd.Vector([13, 5]))
            J = qd.rescale_index(node, x, I)
            K = qd.rescale_index(x, y, qd.Vector([13, 5]))
            found[0], found[1] = I[0], I[1]
            found[2], found[3] = J[0], J[1]
            found[4], found[5] = K[0], K[1]

    k()
    return found.to_numpy().tolist()


def a_loop_that_activates_elsewhere():
    x, node = blocks()
    x[5] = 1

    @qd.kernel
    def grow():
        for i in x:
            if x[i] > 0 and i + 4 < 32:
                x[i + 4] = x[i] + 1

    counts = []
    for _ in range(3):
        grow()
        counts.append(sum(active(node, 8)))
    return counts


def a_loop_after_another_in_a_kernel():
    x, _ = blocks()
    y = qd.field(qd.i32, 32)

    @qd.kernel
    def k():
        for i in range(10, 13):
            x[i] = i
        for i in x:
            y[i] = x[i] + 1

    k()
    return y.to_numpy().tolist()


def a_sum_over_active_elements():
    x, _ = blocks(dtype=qd.f32)

    @qd.kernel
    def fill():
        for i in range(32):
            if i % 9 == 0:
                x[i] = i

    @qd.kernel
    def total() -> qd.f32:
        found = 0.0
        for i in x:
            found += x[i] + 1
        return found

    fill()
    return total()


def an_offset():
    start()
    x = qd.field(qd.i32)
    node = qd.root.pointer(qd.i, 4)
    node.dense(qd.i, 4).place(x, offset=-8)

    @qd.kernel
    def k() -> qd.i32:
        x[-8] = 3
        x[7] = 4
        total = 0
        for i in range(-8, 8):
            total += x[i] * (i + 10)
        return total

    @qd.kernel
    def indices() -> qd.i32:
        total = 0
        for i in x:
            total += i
        return total

    return [k(), indices(), active(node, 4)]


def fill_changes_active_elements():
    x, node = blocks()
    x[1] = 1
    x[9] = 1
    x.fill(6)
    return [active(node, 8), x.to_numpy().tolist()]


def a_fill_in_a_kernel():
    x, _ = blocks()
    x[1] = 1

    @qd.kernel
    def k():
        for i in x:
            x[i] = 8

    k()
    return x.to_numpy().tolist()


def from_numpy_where_active():
    x, node = blocks()
    x[1] = 1
    x.from_numpy(np.arange(32, dtype=np.int32) + 1)
    return [active(node, 8)[0], x.to_numpy()[:4].tolist()]


def no_activation():
    x, node = blocks()
    x[4] = 1

    @qd.kernel
    def k():
        qd.no_activate(x)
        for i in range(4, 8):
            x[i] = 2 * i

    k()
    return [active(node, 8), x.to_numpy().tolist()]


def lists_grow():
    start()
    x = qd.field(qd.i32)
    lists = qd.root.dense(qd.i, 4).dynamic(qd.j, 16, chunk_size=4)
    lists.place(x)
    lengths = qd.field(qd.i32, 4)

    @qd.kernel
    def k():
        for i in range(4):
            for j in range(3 * i):
                qd.append(lists, i, 10 * i + j)

    @qd.kernel
    def measure():
        for i in range(4):
            lengths[i] = qd.length(lists, i)

    k()
    measure()
    return [lengths.to_numpy().tolist(), x.to_numpy().tolist()]


def a_position_in_a_list():
    start()
    x = qd.field(qd.i32)
    lists = qd.root.dense(qd.i, 2).dynamic(qd.j, 16)
    lists.place(x)
    found = qd.field(qd.i32, 5)

    @qd.kernel
    def k():
        qd.loop_config(serialize=True)
        for p in range(5):
            found[p] = qd.append(lists, 1, p * p)

    k()
    return [found.to_numpy().tolist(), x.to_numpy().tolist()]


def many_threads_extend_a_list():
    start()
    x = qd.field(qd.i32)
    list_ = qd.root.dynamic(qd.i, 4096, chunk_size=64)
    list_.place(x)

    @qd.kernel
    def k():
        for p in range(1000):
            x.append(p)

    @qd.kernel
    def length() -> qd.i32:
        return x.length()

    k()
    return [length(), sorted(x.to_numpy()[:1000].tolist())]


def an_element_beyond_the_end_of_a_list():
    start()
    x = qd.field(qd.i32)
    list_ = qd.root.dynamic(qd.i, 64, chunk_size=8)
    list_.place(x)

    @qd.kernel
    def k() -> qd.i32:
        x[9] = 5
        return x.length()

    return [k(), x.to_numpy()[:12].tolist()]


def a_list_is_cleared():
    start()
    x = qd.field(qd.i32)
    lists = qd.root.dense(qd.i, 3).dynamic(qd.j, 8)
    lists.place(x)
    lengths = qd.field(qd.i32, 3)

    @qd.kernel
    def fill():
        for i in range(3):
            for j in range(i + 2):
                x[i].append(j + 1)

    @qd.kernel
    def clear():
        x[1].deactivate()

    @qd.kernel
    def measure():
        for i in range(3):
            lengths[i] = x[i].length()

    fill()
    clear()
    measure()
    return [lengths.to_numpy().tolist(), x.to_numpy().tolist()]


def a_loop_over_lists():
    start()
    x = qd.field(qd.i32)
    lists = qd.root.dense(qd.i, 4).dynamic(qd.j, 8)
    lists.place(x)
    count = qd.field(qd.i32, (4, 8))

    @qd.kernel
    def fill():
        for i in range(4):
            for j in range(i):
                x[i].append(j)

    @qd.kernel
    def k():
        for i, j in x:
            count[i, j] += 1

    fill()
    k()
    return count.to_numpy().tolist()


def a_list_in_a_pointer():
    start()
    x = qd.field(qd.i32)
    outer = qd.root.pointer(qd.i, 4)
    outer.dynamic(qd.j, 8).place(x)

    @qd.kernel
    def k():
        for i in range(2):
            for j in range(3):
                x[2 * i + 1].append(i + j)

    k()
    return [active(outer, 4), x.to_numpy().tolist()]


def a_list_of_structs():
    start()
    S = qd.types.struct(a=qd.i32, b=qd.f32)
    s = S.field()
    qd.root.dynamic(qd.i, 32, chunk_size=8).place(s)

    @qd.kernel
    def k() -> qd.f32:
        qd.loop_config(serialize=True)
        for i in range(5):
            s.append(S(i, 0.5 * i))
        return s.length() + s[4].b

    return [k(), s.a.to_numpy()[:6].tolist()]


def a_list_starts_again():
    start()
    x = qd.field(qd.i32)
    lists = qd.root.dynamic(qd.i, 32, chunk_size=8)
    lists.place(x)

    @qd.kernel
    def k(count: qd.i32) -> qd.i32:
        x.deactivate()
        for i in range(count):
            x.append(i)
        return x.length()

    return [k(9), k(3), k(0)]


def a_field_of_two_dimensions():
    start()
    x = qd.field(qd.f32)
    node = qd.root.pointer(qd.ij, (4, 2))
    node.dense(qd.ij, (2, 3)).place(x)

    @qd.kernel
    def k():
        for i in range(8):
            x[i, i % 6] = i + 0.5

    k()
    return [visited(x), x.to_numpy().tolist(), x.shape]


def three_dimensions():
    start()
    x = qd.field(qd.i32)
    qd.root.pointer(qd.ijk, 2).dense(qd.ijk, 2).place(x)
    x[1, 2, 3] = 4
    return visited(x)


def different_dimensions_at_each_level():
    start()
    x = qd.field(qd.i32)
    rows = qd.root.pointer(qd.i, 3)
    rows.bitmasked(qd.j, 4).place(x)
    x[1, 2] = 1
    x[1, 0] = 1
    return [active(rows, 3), visited(x)]


def a_tree_of_its_own():
    start()
    builder = qd.FieldsBuilder()
    x = qd.field(qd.i32)
    node = builder.pointer(qd.i, 4)
    node.dense(qd.i, 2).place(x)
    tree = builder.finalize()
    x[3] = 1
    found = [visited(x), x.to_numpy().tolist()]
    tree.destroy()
    return found


def a_member_of_an_object():
    start()

    @qd.data_oriented
    class Grid:
        def __init__(self):
            self.x = qd.field(qd.i32)
            self.block = qd.root.pointer(qd.i, 4)
            self.block.dense(qd.i, 2).place(self.x)

        @qd.kernel
        def write(self, i: qd.i32):
            self.x[i] = i

        @qd.kernel
        def count(self) -> qd.i32:
            total = 0
            for _i in self.block:
                total += 1
            return total

    one, other = Grid(), Grid()
    one.write(1)
    one.write(5)
    other.write(7)
    return [one.count(), other.count(), one.x.to_numpy().tolist(), other.x.to_numpy().tolist()]


def a_field_as_a_template():
    x, _ = blocks()
    y = qd.field(qd.i32, 32)

    @qd.kernel
    def k(a: qd.template()):
        for i in a:
            a[i] += 1

    x[4] = 1
    k(x)
    k(y)
    return [x.to_numpy().tolist(), y.to_numpy().tolist()]


def a_func_that_writes():
    x, node = blocks()

    @qd.func
    def put(i, value):
        x[i] = value

    @qd.kernel
    def k():
        for i in range(3):
            put(10 * i, i)

    k()
    return active(node, 8)


def copies_between_fields():
    x, _ = blocks()
    y = qd.field(qd.i32)
    node = qd.root.pointer(qd.i, 8)
    node.dense(qd.i, 4).place(y)

    @qd.kernel
    def copy():
        for i in x:
            y[i] = 2 * x[i]

    x[6] = 1
    x[30] = 2
    copy()
    return [active(node, 8), y.to_numpy().tolist()]


def a_number_is_not_a_node():
    _ = blocks()

    @qd.kernel
    def k():
        qd.activate(3, [0])

    k()


def an_index_with_too_many_numbers():
    x, _ = blocks()

    @qd.kernel
    def k():
        x[0, 0] = 1

    k()


def the_shape_of_a_node():
    x, node = blocks()
    return [node.shape, x.shape, node.parent() is not None]


def gradients_beside_fields():
    start()
    x, loss = qd.field(qd.f32, needs_grad=True), qd.field(qd.f32, (), needs_grad=True)
    node = qd.root.pointer(qd.i, 4)
    node.dense(qd.i, 2).place(x, x.grad)

    @qd.kernel
    def k():
        for i in x:
            loss[None] += x[i] ** 2

    x[3] = 3
    x[6] = 5
    with qd.ad.Tape(loss):
        k()
    return [loss[None], x.grad.to_numpy().tolist()]
