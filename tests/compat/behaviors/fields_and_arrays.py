"""Fields and arrays: how they are made, placed, filled, asked for, and looped over."""

import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def shapes():
    start()
    a, b, c = qd.field(qd.f32, ()), qd.field(qd.f32, 3), qd.field(qd.f32, (2, 3, 4))
    return [a.shape, b.shape, c.shape]


def number_of_components():
    start()
    v, m = qd.Vector.field(3, qd.f32, 4), qd.Matrix.field(2, 5, qd.f32, 4)
    out = qd.field(qd.i32, 3)

    @qd.kernel
    def k():
        out[0] = v.n
        out[1] = m.n
        out[2] = m.m

    k()
    return [out.to_numpy().tolist(), v.n, m.n, m.m]


def shapes_in_a_kernel():
    start()
    x = qd.field(qd.f32, (2, 3))

    @qd.kernel
    def k(a: qd.types.ndarray()) -> qd.i32:
        return x.shape[0] * 1000 + x.shape[1] * 100 + a.shape[0] * 10 + a.shape[1]

    return k(np.zeros((4, 5), np.float32))


def fills():
    start()
    x, y, v = qd.field(qd.i32, 3), qd.field(qd.f32, 3), qd.Vector.field(2, qd.f32, 2)
    x.fill(7)
    y.fill(2.5)
    v.fill(3)
    return [x.to_numpy().tolist(), y.to_numpy().tolist(), v.to_numpy().tolist()]


def a_fill_in_a_kernel():
    start()
    x = qd.field(qd.f32, 3)

    @qd.kernel
    def k():
        x.fill(4.5)

    k()
    return x


def a_fill_of_vectors_in_a_kernel():
    start()
    v = qd.Vector.field(2, qd.f32, 3)

    @qd.kernel
    def k():
        for I in qd.grouped(v):
            v[I].fill(2.0)

    k()
    return v


def numpy_there_and_back():
    start()
    x, v = qd.field(qd.f32, (2, 3)), qd.Vector.field(2, qd.i32, 3)
    x.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    v.from_numpy(np.arange(6, dtype=np.int32).reshape(3, 2))
    return [x.to_numpy().tolist(), v.to_numpy().tolist(), str(x.to_numpy().dtype), str(v.to_numpy().dtype)]


def another_dtype_from_numpy():
    start()
    x = qd.field(qd.i32, 3)
    x.from_numpy(np.array([1.7, 2.2, -3.9]))
    return x


def indices_of_the_host():
    start()
    x = qd.field(qd.f32, (2, 3))
    x[1, 2] = 5
    x[(0, 1)] = 3
    return [x[1, 2], x[0, 1], x[0, 0]]


def a_field_without_dimensions():
    start()
    x = qd.field(qd.i32, ())
    x[None] = 4

    @qd.kernel
    def k():
        x[None] += 1

    k()
    return [x[None], x.shape, int(x.to_numpy())]


def a_field_that_is_not_placed():
    start()
    x = qd.field(qd.f32)
    return x[0]


def nodes():
    start()
    x, y = qd.field(qd.f32), qd.field(qd.i32)
    block = qd.root.dense(qd.ij, (2, 2))
    block.dense(qd.ij, (2, 3)).place(x)
    block.place(y)
    return [x.shape, y.shape]


def interleaved_fields():
    start()
    x, y = qd.field(qd.f32), qd.field(qd.f32)
    qd.root.dense(qd.i, 4).place(x, y)

    @qd.kernel
    def k():
        for i in x:
            x[i] = i
            y[i] = x[i] * 2

    k()
    return [x.to_numpy().tolist(), y.to_numpy().tolist()]


def a_column_major_field():
    start()
    x = qd.field(qd.i32)
    qd.root.dense(qd.j, 3).dense(qd.i, 2).place(x)

    @qd.kernel
    def k():
        for i, j in x:
            x[i, j] = 10 * i + j

    k()
    return [x.shape, x.to_numpy().tolist()]


def orders():
    start()
    x = qd.field(qd.i32, (2, 3), order="ji")

    @qd.kernel
    def k():
        for i, j in x:
            x[i, j] = 10 * i + j

    k()
    return x


def offsets():
    start()
    x = qd.field(qd.i32, 4, offset=-2)

    @qd.kernel
    def k():
        for i in x:
            x[i] = i

    k()
    return [x.to_numpy().tolist(), x[-2], x[1]]


def offsets_of_two_dimensions():
    start()
    x = qd.field(qd.i32, (2, 3), offset=(5, -1))

    @qd.kernel
    def k() -> qd.i32:
        s = 0
        for i, j in x:
            x[i, j] = 10 * i + j
        for i, j in qd.ndrange((5, 7), (-1, 2)):
            s += x[i, j]
        return s

    return [k(), x.to_numpy().tolist()]


def a_component_before_it_is_placed():
    start()
    v = qd.Vector.field(2, qd.f32)
    first = v.get_scalar_field(0)
    qd.root.dense(qd.i, 3).place(v)
    v[1] = [4, 5]
    return [first.to_numpy().tolist(), first.shape]


def a_component_of_a_matrix_field():
    start()
    m = qd.Matrix.field(2, 2, qd.f32, 3)
    m[1] = [[1, 2], [3, 4]]
    return m.get_scalar_field(1, 0)


def a_struct_from_a_dictionary():
    start()
    s = qd.Struct({"a": 1, "b": 2.5})
    return [s.a, s.b, s["a"] if hasattr(s, "__getitem__") else s.a]


def a_struct_in_a_kernel():
    start()

    @qd.kernel
    def k(x: qd.f32) -> qd.f32:
        s = qd.Struct(a=x, b=qd.Vector([1.0, 2.0]))
        s.a += 1
        s.b[1] = 5
        return s.a * 10 + s.b.sum()

    return k(3.0)


def loops_over_fields():
    start()
    x = qd.field(qd.i32, (3, 4))

    @qd.kernel
    def k():
        for i, j in x:
            x[i, j] = i * 10 + j
        for I in qd.grouped(x):
            x[I] += I.sum()
        for i, j in qd.ndrange(*x.shape):
            x[i, j] *= 2

    k()
    return x


def loops_over_arrays():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=qd.i32, ndim=2)):
        for i, j in a:
            a[i, j] = i - j
        for I in qd.grouped(a):
            a[I] *= 3

    a = qd.ndarray(qd.i32, (2, 3))
    k(a)
    return a


def loops_over_a_field_of_vectors():
    start()
    v = qd.Vector.field(2, qd.f32, 3)

    @qd.kernel
    def k():
        for I in qd.grouped(v):
            v[I] = [I[0], -I[0]]

    k()
    return v


def arrays_of_vectors():
    start()
    vec2 = qd.types.vector(2, qd.f32)
    a = qd.ndarray(vec2, 3)

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=vec2, ndim=1)):
        for i in a:
            a[i] = [i, 2 * i]

    k(a)
    return [a.to_numpy().tolist(), a.shape, a.element_shape]


def arrays_of_matrices():
    start()
    a = qd.Matrix.ndarray(2, 2, qd.f32, 2)

    @qd.kernel
    def k(a: qd.types.ndarray()):
        for i in a:
            a[i] = qd.Matrix([[1.0, i], [2.0, i]])

    k(a)
    return a


def arrays_of_the_host():
    start()
    a = qd.ndarray(qd.f32, (2, 2))
    a[0, 1] = 3
    a.fill(1.5)
    a[1, 1] = 2
    return [a.to_numpy().tolist(), a[1, 1], a.shape]


def an_array_that_is_copied():
    start()
    import copy

    a = qd.ndarray(qd.i32, 3)
    a.fill(4)
    b, c = copy.copy(a), copy.deepcopy(a)
    a[0] = 9
    return [b.to_numpy().tolist(), c.to_numpy().tolist()]


def an_array_from_numpy():
    start()
    a = qd.ndarray(qd.f32, 3)
    a.from_numpy(np.array([1, 2, 3], np.float32))
    return a


def an_array_from_numpy_of_another_shape():
    start()
    a = qd.ndarray(qd.f32, 3)
    a.from_numpy(np.zeros(4, np.float32))
    return a


def numpy_arrays_in_place():
    start()
    a = np.zeros((2, 3), np.float64)

    @qd.kernel
    def k(a: qd.types.ndarray()):
        for i, j in a:
            a[i, j] = i + 0.5 * j

    k(a)
    return a


def a_field_as_an_argument():
    start()
    x, y = qd.field(qd.f32, 3), qd.field(qd.f32, 5)

    @qd.kernel
    def k(x: qd.template(), a: qd.f32):
        for i in x:
            x[i] = a * i

    k(x, 2.0)
    k(y, 3.0)
    return [x.to_numpy().tolist(), y.to_numpy().tolist()]


def gradients_of_fields():
    start()
    x = qd.field(qd.f32, 3, needs_grad=True)
    loss = qd.field(qd.f32, (), needs_grad=True)
    for i in range(3):
        x[i] = i + 1

    @qd.kernel
    def k():
        for i in x:
            loss[None] += x[i] ** 2

    loss.grad[None] = 1
    k()
    k.grad()
    return [loss[None], x.grad.to_numpy().tolist()]


def a_tape():
    start()
    x = qd.field(qd.f32, (), needs_grad=True)
    loss = qd.field(qd.f32, (), needs_grad=True)
    x[None] = 3

    @qd.kernel
    def k():
        loss[None] = qd.sin(x[None]) * 2

    with qd.ad.Tape(loss):
        k()
    return [loss[None], x.grad[None]]


def tensors_of_both_kinds():
    start()
    found = []
    for backend in (qd.Backend.FIELD, qd.Backend.NDARRAY):
        t = qd.tensor(qd.f32, (2, 3), backend=backend)
        t.fill(2)
        found.append([t.to_numpy().tolist(), t.shape])
    return found


def numbers_of_backends():
    start()
    return [int(qd.Backend.FIELD), int(qd.Backend.NDARRAY), qd.Backend(0).name, qd.Backend.FIELD == 0, len(qd.Backend)]


def a_list_of_fields():
    start()
    several = [qd.field(qd.i32, 2) for _ in range(3)]

    @qd.kernel
    def k():
        for i in qd.static(range(3)):
            for j in range(2):
                several[i][j] = 10 * i + j

    k()
    return [each.to_numpy().tolist() for each in several]


def a_dense_tree_of_three_levels():
    start()
    x = qd.field(qd.i32)
    qd.root.dense(qd.i, 2).dense(qd.i, 3).dense(qd.i, 2).place(x)

    @qd.kernel
    def k():
        for i in x:
            x[i] = i

    k()
    return [x.shape, x.to_numpy().tolist()]


def a_field_that_is_placed_late():
    start()
    x = qd.field(qd.f32)
    qd.root.dense(qd.i, 3).place(x)
    x[1] = 2
    y = qd.field(qd.f32)
    qd.root.dense(qd.i, 2).place(y)
    y[0] = 3
    return [x.to_numpy().tolist(), y.to_numpy().tolist()]
