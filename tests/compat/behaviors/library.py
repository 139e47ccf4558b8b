"""Hints, algorithms, views, graphs, tensors, options and types."""

# ruff: noqa: F841, B007

import enum

import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def loop_config_forms():
    start()
    x = qd.field(qd.i32, 16)

    @qd.kernel
    def k():
        qd.loop_config(serialize=True)
        for i in range(1, 16):
            x[i] = x[i - 1] + i
        qd.loop_config(parallelize=4, block_dim=8)
        for i in range(16):
            x[i] += 1
        qd.loop_config(block_dim=16, name="abc")
        for i in x:
            x[i] *= 2

    k()
    return x.to_numpy()


def random():
    start(random_seed=3)

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        bad = 0
        for i in range(n):
            r = qd.random()
            if r < 0 or r >= 1:
                bad += 1
            d = qd.random(qd.f64)
            if d < 0 or d >= 1:
                bad += 1
            j = qd.random(qd.i32)
            u = qd.random(dtype=int)
            w = qd.randn()
        return bad

    return k(1000)


def sort():
    start()
    k = qd.field(qd.i32, 100)
    v = qd.field(qd.f32, 100)
    a = np.random.RandomState(0).permutation(100).astype(np.int32)
    k.from_numpy(a)
    v.from_numpy(a.astype(np.float32) * 2)
    qd.algorithms.parallel_sort(k, v)
    return [k.to_numpy(), v.to_numpy()]


def cg():
    start()
    n = 16
    A = qd.field(qd.f32, (n, n))
    b = qd.field(qd.f32, n)
    x = qd.field(qd.f32, n)
    A.from_numpy((np.eye(n) * 4 - np.eye(n, k=1) - np.eye(n, k=-1)).astype(np.float32))
    b.fill(1)

    @qd.kernel
    def mv(v: qd.template(), o: qd.template()):
        for i in v:
            s = 0.0
            for j in range(n):
                s += A[i, j] * v[j]
            o[i] = s

    qd.linalg.MatrixFreeCG(qd.linalg.LinearOperator(mv), b, x, tol=1e-7, maxiter=100, quiet=True)
    return x.to_numpy()


def perf_dispatch():
    start()

    @qd.perf_dispatch(get_geometry_hash=lambda x: hash(x.shape))
    def f(x: qd.types.NDArray[qd.i32, 1]): ...
    @f.register
    @qd.kernel
    def a(x: qd.types.NDArray[qd.i32, 1]):
        for i in x:
            x[i] += 1

    @f.register(is_compatible=lambda x: True)
    @qd.kernel
    def b(x: qd.types.NDArray[qd.i32, 1]):
        for i in range(x.shape[0]):
            x[i] += 1

    x = qd.ndarray(qd.i32, 8)
    for _ in range(30):
        f(x)
    return x.to_numpy()


def bufferview():
    start()

    @qd.func
    def inc(v: qd.BufferView, i: qd.i32):
        v[i] += 10

    @qd.kernel
    def k(v: qd.BufferView[qd.i32], n: qd.i32):
        for i in range(n):
            v[i] = i
            inc(v, i)

    x = qd.ndarray(qd.i32, 8)
    k(qd.BufferView(x, 2, 4), 4)
    k(x[6:8], 2)
    return x.to_numpy()


def graph_do_while():
    start()

    @qd.kernel(graph=True)
    def k(x: qd.types.NDArray[qd.i32, 1], c: qd.types.NDArray[qd.i32, 0]):
        while qd.graph_do_while(c):
            for i in range(x.shape[0]):
                x[i] += 1
            for i in range(1):
                c[()] = c[()] - 1

    x = qd.ndarray(qd.i32, 4)
    c = qd.ndarray(qd.i32, ())
    c.fill(5)
    k(x, c)
    return x.to_numpy()


def tensor():
    start()
    out = []
    for b in qd.Backend:
        t = qd.tensor(qd.f32, (3, 4), backend=b)
        t.fill(2)

        @qd.kernel
        def k(t: qd.Tensor):
            for i, j in t:
                t[i, j] += i * 10 + j

        k(t)
        out.append(t.to_numpy())
    return out


def vec_tensor():
    start()
    t = qd.Vector.tensor(3, qd.f32, (2,))
    t[0] = [1, 2, 3]
    m = qd.Matrix.tensor(2, 2, qd.f32, (2,))
    return [t.to_numpy(), m.to_numpy(), t.shape]


def pure():
    start()

    @qd.kernel(fastcache=True)
    def k(x: qd.types.NDArray[qd.i32, 1]):
        for i in x:
            x[i] += 2

    x = qd.ndarray(qd.i32, 3)
    k(x)

    @qd.pure
    @qd.kernel
    def k2(x: qd.types.NDArray[qd.i32, 1]):
        for i in x:
            x[i] += 2

    k2(x)
    return x.to_numpy()


G = 3


def pure_violation():
    start()

    @qd.kernel(fastcache=True)
    def k(x: qd.types.NDArray[qd.i32, 1]):
        for i in x:
            x[i] += G

    x = qd.ndarray(qd.i32, 3)
    k(x)
    return x.to_numpy()


def numpy_consts():
    start()
    A = np.float32(2.5)
    B = np.array([1, 2, 3])
    C = [1.5, 2.5]
    D = {"a": 3}
    E = (1, (2, 3))

    @qd.kernel
    def k() -> qd.f32:
        return A + B[1] + C[0] + D["a"] + E[1][0] + qd.static(len(C))

    return k()


def enum_const():
    start()

    class C(enum.IntEnum):
        A = 2
        B = 5

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        r = 0
        if x == C.B:
            r = C.A
        return r

    return [k(5), k(1)]


def modify_global_frozen():
    start()
    d = {"g": 1}

    class N:
        v = 3

    @qd.kernel
    def k() -> qd.i32:
        return N.v

    a = k()
    N.v = 7
    return a


def matrix_field_kernel():
    start()
    m = qd.Matrix.field(2, 2, qd.f32, 3)

    @qd.kernel
    def k():
        for i in m:
            m[i] = [[1, 2], [3, i]]
            m[i][0, 1] += 5
            m[i] *= 2

    k()
    return m.to_numpy()


def list_assign_vector():
    start()
    v = qd.Vector.field(3, qd.f32, 2)

    @qd.kernel
    def k():
        v[0] = [1, 2, 3]
        v[1] = (4, 5, 6)

    k()
    return v.to_numpy()


def static_matrix_loops():
    start()

    @qd.kernel
    def k() -> qd.i32:
        m = qd.Matrix([[1, 2], [3, 4]])
        s = 0
        for i in qd.static(range(m.n)):
            for j in qd.static(range(m.m)):
                s += m[i, j] * (i + 1)
        for i, j in qd.static(qd.ndrange(2, 2)):
            s += m[i, j]
        return s

    return k()


def struct_for_dense_inner():
    start()
    x = qd.field(qd.i32, (4, 4))

    @qd.kernel
    def k():
        for i in range(2):
            for I in qd.grouped(qd.ndrange((i, i + 2), 4)):
                x[I] += 1

    k()
    return x.to_numpy()


def nested_funcs_closure():
    start()

    def make(n):
        @qd.func
        def f(x):
            return x + n

        return f

    f3, f5 = make(3), make(5)

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        return f3(x) * 100 + f5(x)

    return k(1)


def func_list_call():
    start()

    @qd.func
    def a(x):
        return x + 1

    @qd.func
    def b(x):
        return x * 2

    fs = [a, b]

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        r = 0
        for f in qd.static(fs):
            r += f(x)
        return r

    return k(5)


def func_as_template():
    start()

    @qd.func
    def a(x):
        return x + 1

    @qd.func
    def ap(f: qd.template(), x):
        return f(x)

    @qd.kernel
    def k(f: qd.template(), x: qd.i32) -> qd.i32:
        return ap(f, x)

    return k(a, 5)


def kernel_template_field_recompile():
    start()
    a = qd.field(qd.i32, 3)
    b = qd.field(qd.f32, 5)

    @qd.kernel
    def k(x: qd.template(), v: qd.f32):
        for i in x:
            x[i] = v

    k(a, 2.7)
    k(b, 2.7)
    return [a.to_numpy(), b.to_numpy()]


def reset_reuse():
    start()

    @qd.kernel
    def k() -> qd.i32:
        return 5

    a = k()
    qd.reset()
    qd.init(arch=qd.cpu)
    return [a, k()]


def unknown_init():
    qd.init(arch=qd.cpu, foo=3)


def volatile_atomic_ops():
    start()
    x = qd.field(qd.i32, 4)

    @qd.kernel
    def k():
        x[0] = 3
        x[1] = qd.atomic_exchange(x[0], 9)
        x[2] = qd.atomic_cas(x[0], 9, 11)
        x[3] = qd.atomic_cas(x[0], 9, 12)

    k()
    return x.to_numpy()


def float_int_mix():
    start(default_fp=qd.f64)
    o = qd.field(qd.f64, 8)

    @qd.kernel
    def k(a: qd.f32, b: qd.i32, c: qd.f64, d: qd.i64):
        o[0] = a * b
        o[1] = a + c
        o[2] = b / d
        o[3] = d / 3
        o[4] = b**a
        o[5] = qd.max(a, b)
        o[6] = qd.min(d, c)
        o[7] = c % 1.5

    k(1.5, 3, 2.25, 7)
    return o.to_numpy()


def zero_div():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return 1.0 / a

    return [k(0.0), k(-0.0)]


def denormals():
    start(fast_math=True)

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return a * 0.5

    return k(1e-38) >= 0


def ndarray_python_ops():
    start()
    x = qd.ndarray(qd.f32, (2, 2))
    x.fill(3)
    x[0, 1] = 5
    return [x.to_numpy().sum(), x.shape, x.to_numpy().dtype == np.float32]


def field_list_dense_place_multi():
    start()
    x, y, z = [qd.field(qd.f32) for _ in range(3)]
    qd.root.dense(qd.ijk, (2, 3, 4)).place(x, y)
    qd.root.place(z)
    z[None] = 4
    x[1, 2, 3] = 2
    return [x.shape, z.shape, z[None], x.to_numpy().sum()]


def dense_int_dims():
    start()
    x = qd.field(qd.f32)
    qd.root.dense(qd.ij, 4).dense(qd.ij, 2).place(x)
    y = qd.field(qd.i32)
    qd.root.dense(indices=qd.i, dimensions=5).place(y)
    return [x.shape, y.shape]


def place_offset():
    start()
    x = qd.field(qd.i32)
    qd.root.dense(qd.ij, (4, 4)).place(x, offset=(-2, -2))

    @qd.kernel
    def k():
        for i, j in x:
            x[i, j] = i * 10 + j

    k()
    return [x[-2, -2], x[1, 1], x.to_numpy()]
