"""Arrays and fields, and what NumPy makes of them."""

# ruff: noqa: F841


import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def numpy_arrays_dtypes():
    start()
    out = []

    @qd.kernel
    def k(a: qd.types.ndarray(), b: qd.types.ndarray()):
        for i in range(a.shape[0]):
            b[i] = a[i] + 1

    for d in [
        np.int8,
        np.int16,
        np.int32,
        np.int64,
        np.uint8,
        np.uint16,
        np.uint32,
        np.uint64,
        np.float32,
        np.float64,
        np.float16,
    ]:
        a = np.arange(4).astype(d)
        b = np.zeros(4, d)
        k(a, b)
        out.append(b)
    return out


def numpy_bool():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(), b: qd.types.ndarray()):
        for i in range(a.shape[0]):
            b[i] = a[i]

    a = np.array([True, False, True])
    b = np.zeros(3, np.int32)
    k(a, b)
    return b


def numpy_noncontig():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray()):
        for i, j in a:
            a[i, j] += 1

    a = np.zeros((4, 4), np.float32)
    k(a.T)
    return a


def ndarray_basic():
    start()
    a = qd.ndarray(qd.f32, shape=(3, 4))
    a.fill(2.5)
    a[1, 2] = 7
    b = qd.ndarray(qd.f32, (3, 4))
    b.copy_from(a)
    import copy

    c = copy.deepcopy(b)
    return [
        a.shape,
        a[1, 2],
        b.to_numpy(),
        c.to_numpy(),
        a.dtype == qd.f32,
        repr(a)[:5] != "",
        a.element_shape,
        len(a.shape),
    ]


def ndarray_zero_d():
    start()
    a = qd.ndarray(qd.i32, ())
    a[None] = 3

    @qd.kernel
    def k(a: qd.types.ndarray()):
        a[None] += 4

    k(a)
    return [a[None], a[()], a.shape, a.to_numpy()]


def ndarray_slice():
    start()
    a = qd.ndarray(qd.i32, 8)
    for i in range(8):
        a[i] = i
    v = a[2:6]
    return [type(v).__name__, v.size, v.offset]


def ndarray_float_write():
    start()
    a = qd.ndarray(qd.i32, 3)
    a[0] = 2.7
    return a[0]


def field_float_write():
    start()
    a = qd.field(qd.i32, 3)
    a[0] = 2.7
    return a[0]


def from_numpy_wrong_shape():
    start()
    a = qd.ndarray(qd.f32, 3)
    a.from_numpy(np.zeros(4, np.float32))


def field_from_numpy_wrong_shape():
    start()
    a = qd.field(qd.f32, 3)
    a.from_numpy(np.zeros(4, np.float32))


def field_from_numpy_wrong_ndim():
    start()
    a = qd.field(qd.f32, 3)
    a.from_numpy(np.zeros((3, 1), np.float32))


def ndarray_from_numpy_wrong_dtype():
    start()
    a = qd.ndarray(qd.f32, 3)
    a.from_numpy(np.arange(3, dtype=np.float64))
    return a.to_numpy()


def from_numpy_list():
    start()
    a = qd.ndarray(qd.f32, 3)
    a.from_numpy([1, 2, 3])
    return a.to_numpy()


def field_from_numpy_int():
    start()
    a = qd.field(qd.f32, 3)
    a.from_numpy(np.arange(3))
    return a.to_numpy()


def to_numpy_dtype():
    start()
    a = qd.field(qd.f32, 3)
    a.fill(2.5)
    b = qd.ndarray(qd.f32, 3)
    b.fill(1.5)
    return [a.to_numpy(dtype=np.int32), b.to_numpy(dtype=np.float64), a.to_numpy(np.float64)]


def vector_field_io():
    start()
    v = qd.Vector.field(3, qd.f32, (2, 2))
    v.fill(1.0)
    v[0, 1] = [1, 2, 3]
    v[1, 1][2] = 9
    m = qd.Matrix.field(2, 3, qd.i32, 2)
    m.from_numpy(np.arange(12).reshape(2, 2, 3))
    return [v.to_numpy(), m.to_numpy(), v.shape, m.shape, v.n, v.m, m.n, m.m, v[0, 1], m[1], m[1][1, 2], m[1][1, 2]]


def vector_field_keepdims():
    start()
    v = qd.Vector.field(3, qd.f32, 2)
    v.fill(1)
    return [v.to_numpy(keep_dims=True), v.to_numpy(keep_dims=False)]


def fill_vector():
    start()
    v = qd.Vector.field(3, qd.f32, 2)
    v.fill(qd.Vector([1, 2, 3]))
    w = qd.Vector.ndarray(3, qd.f32, 2)
    w.fill(qd.Vector([1.0, 2, 3]))
    u = qd.Vector.field(3, qd.f32, 2)
    u.fill([4, 5, 6])
    m = qd.Matrix.field(2, 2, qd.f32, 2)
    m.fill([[1, 2], [3, 4]])
    return [v.to_numpy(), w.to_numpy(), u.to_numpy(), m.to_numpy()]


def copy_from():
    start()
    a = qd.Vector.field(2, qd.f32, 3)
    b = qd.Vector.field(2, qd.f32, 3)
    a.fill(3)
    b.copy_from(a)
    c = qd.field(qd.i32, (2, 2))
    d = qd.field(qd.f32, (2, 2))
    c.fill(7)
    d.copy_from(c)
    return [b.to_numpy(), d.to_numpy()]


def copy_from_shape_mismatch():
    start()
    a = qd.field(qd.f32, 3)
    b = qd.field(qd.f32, 4)
    a.copy_from(b)


def field_str():
    start()
    a = qd.field(qd.f32, 3)
    b = qd.Vector.field(2, qd.i32, 2)
    c = qd.field(qd.i32, ())
    c[None] = 4
    return [str(a), str(b), str(c)]


def field_shape_forms():
    start()
    return [
        qd.field(qd.i32, shape=3).shape,
        qd.field(qd.i32, shape=[3, 2]).shape,
        qd.field(qd.i32, np.int64(3)).shape,
        qd.field(int, 2).dtype == qd.i32,
        qd.field(float, 2).dtype == qd.f32,
    ]


def field_neg_shape():
    start()
    a = qd.field(qd.i32, -3)
    return a.shape


def field_place_twice():
    start()
    a = qd.field(qd.i32)
    qd.root.dense(qd.i, 3).place(a)
    qd.root.dense(qd.i, 3).place(a)


def field_shape_and_place():
    start()
    a = qd.field(qd.i32, 3)
    qd.root.dense(qd.i, 3).place(a)


def field_offset():
    start()
    a = qd.field(qd.i32, shape=(4, 4), offset=(-2, 3))

    @qd.kernel
    def k():
        for i, j in a:
            a[i, j] = i * 10 + j

    k()
    return [a.to_numpy(), a[-2, 3], a[1, 6]]


def field_offset_wrong():
    start()
    a = qd.field(qd.i32, shape=(4, 4), offset=(1,))


def field_offset_no_shape():
    start()
    a = qd.field(qd.i32, offset=(1,))


def snode_trees():
    start()
    x = qd.field(qd.i32)
    y = qd.field(qd.f32)
    v = qd.Vector.field(2, qd.f32)
    b = qd.root.dense(qd.ij, (2, 4))
    b.dense(qd.ij, (2, 2)).place(x, v)
    qd.root.dense(qd.i, 3).dense(qd.j, 5).place(y)

    @qd.kernel
    def k():
        for i, j in x:
            x[i, j] = i * 100 + j
        for i, j in y:
            y[i, j] = i + j
        for I in qd.grouped(v):
            v[I] = I

    k()
    return [x.shape, y.shape, x.to_numpy(), y.to_numpy(), v.to_numpy()]


def order():
    start()
    a = qd.field(qd.i32, (3, 4), order="ij")
    b = qd.field(qd.i32, (3, 4), order="ji")

    @qd.kernel
    def k():
        for i, j in a:
            a[i, j] = i * 10 + j
            b[i, j] = i * 10 + j

    k()
    return [a.to_numpy(), b.to_numpy()]


def order_wrong():
    start()
    a = qd.field(qd.i32, (3, 4), order="jj")


def layout_soa():
    start()
    v = qd.Vector.field(3, qd.f32, 4, layout=qd.Layout.SOA)
    w = qd.Vector.field(3, qd.f32, 4, layout=qd.Layout.AOS)

    @qd.kernel
    def k():
        for i in v:
            v[i] = qd.Vector([i, 2 * i, 3 * i])
            w[i] = v[i]

    k()
    return [v.to_numpy(), w.to_numpy()]


def fields_builder():
    start()
    fb = qd.FieldsBuilder()
    x = qd.field(qd.f32)
    fb.dense(qd.i, 5).place(x)
    t = fb.finalize()

    @qd.kernel
    def k():
        for i in x:
            x[i] = i

    k()
    r = x.to_numpy()
    t.destroy()
    return r


def fields_builder_twice():
    start()
    fb = qd.FieldsBuilder()
    x = qd.field(qd.f32)
    fb.dense(qd.i, 5).place(x)
    fb.finalize()
    fb.finalize()


def deepcopy_vector():
    start()
    import copy

    v = qd.Vector.ndarray(2, qd.f32, 3)
    v.fill(2)
    w = copy.deepcopy(v)
    w[0] = [5, 6]
    return [v.to_numpy(), w.to_numpy()]


def vec_ndarray_access():
    start()
    v = qd.Vector.ndarray(3, qd.f32, (2,))
    v[0] = [1, 2, 3]
    v[1][2] = 5
    m = qd.Matrix.ndarray(2, 2, qd.i32, 2)
    m[0] = [[1, 2], [3, 4]]
    m[1][0, 1] = 7
    return [
        v.to_numpy(),
        m.to_numpy(),
        v[0],
        v[0][1],
        m[1],
        m[1][0, 1],
        v.element_shape,
        m.element_shape,
        v.shape,
        v.n,
        m.n,
        m.m,
    ]
