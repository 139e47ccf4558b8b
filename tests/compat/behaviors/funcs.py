"""Funcs, their arguments and results, sparse matrices, and arrays of vectors."""



import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def func_ret_annot():
    start()

    @qd.func
    def f(x) -> qd.i32:
        return x * 1.5

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return f(a)

    return k(1.0)


def func_ret_annot_vec():
    start()

    @qd.func
    def f(x) -> qd.f32:
        return qd.Vector([x, x])

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return f(a).sum()

    return k(1.0)


def func_arg_annot():
    start()

    @qd.func
    def f(x: qd.i32):
        return x * 1.0

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return f(a)

    return k(1.5)


def func_arg_annot_int():
    start()

    @qd.func
    def f(x: qd.f32):
        return x / 2

    @qd.kernel
    def k(a: qd.i32) -> qd.f32:
        return f(a)

    return k(3)


def sparse_builder():
    start()
    K = qd.linalg.SparseMatrixBuilder(4, 4, max_num_triplets=100)

    @qd.kernel
    def fill(A: qd.types.sparse_matrix_builder()):
        for i in range(4):
            A[i, i] += 2.0 * i
            A[i, 0] -= 1

    fill(K)
    A = K.build()
    return [A[1, 1], A[0, 0], A[2, 0], A.shape]


def sparse_cg():
    start()
    K = qd.linalg.SparseMatrixBuilder(4, 4, max_num_triplets=100)

    @qd.kernel
    def fill(A: qd.types.sparse_matrix_builder(), b: qd.types.ndarray()):
        for i in range(4):
            A[i, i] += 2.0
            b[i] = i

    b = qd.ndarray(qd.f32, 4)
    x0 = qd.ndarray(qd.f32, 4)
    fill(K, b)
    A = K.build()
    x, ok = qd.linalg.SparseCG(A, b, x0, max_iter=50, atol=1e-6).solve()
    return [x.to_numpy() if hasattr(x, "to_numpy") else x, ok]


def local_share():
    start()
    x = qd.field(qd.i32, 8)

    @qd.kernel
    def k() -> qd.i32:
        last = -1
        qd.loop_config(serialize=True)
        for i in x:
            last = i
        return last

    return k()


def found_flag():
    start()

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        found = 0
        for i in range(10):
            if i == n:
                found = i * 10
        return found

    return k(4)


def vec_compare_if():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a = qd.Vector([1, 2])
        b = qd.Vector([1, 2])
        r = 0
        if (a == b).all():
            r = 1
        if all(a == b):
            r += 10
        if any(a > 1):
            r += 100
        return r

    return k()


def mat_scalar_init():
    start()

    @qd.kernel
    def k() -> qd.f32:
        m = qd.math.mat3(0.0)
        v = qd.math.vec3(1.0)
        u = qd.types.vector(4, qd.f32)(2.0)
        w = qd.Vector([0.0] * 5)
        return m.sum() + v.sum() + u.sum() + w.sum()

    return k()


def vec_list_comp():
    start()

    @qd.kernel
    def k() -> qd.f32:
        v = qd.Vector([i * 2.0 for i in range(4)])
        m = qd.Matrix([[i + j for i in range(2)] for j in range(3)])
        return v.sum() * 100 + m.sum()

    return k()


def dyn_matrix_field_idx():
    start()
    m = qd.Matrix.field(3, 3, qd.f32, ())

    @qd.kernel
    def k():
        for i in range(3):
            for j in range(3):
                m[None][i, j] = i * 10 + j

    k()
    return m[None].to_numpy()


def field_of_fields_list():
    start()
    fs = [qd.field(qd.f32, 2**i) for i in range(3)]

    @qd.kernel
    def k(l: qd.template()):
        for i in fs[l]:
            fs[l][i] = l + i

    for l in range(3):
        k(l)
    return [f.to_numpy() for f in fs]


def ext_shape():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray()) -> qd.i32:
        n, m = a.shape
        return n * 10 + m + len(a.shape) * 100

    return k(np.zeros((3, 4), np.float32))


def vec_ndarray_from_numpy_arg():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=qd.math.vec3, ndim=1)):
        for i in a:
            a[i] += qd.math.vec3(1, 2, 3)

    a = np.zeros((2, 3), np.float32)
    k(a)
    return a


def arg_mat_ndarray():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=qd.types.matrix(2, 2, qd.f32))):
        for i in a:
            a[i] = a[i] @ a[i]

    a = qd.Matrix.ndarray(2, 2, qd.f32, 3)
    a.fill(2.0)
    k(a)
    return a.to_numpy()


def zero_dim_loop():
    start()
    x = qd.field(qd.i32, ())

    @qd.kernel
    def k():
        for I in qd.grouped(x):
            x[I] += 5

    k()
    return x[None]


def ndarray_iter_loop():
    start()

    @qd.kernel
    def k(x: qd.types.ndarray()):
        for I in qd.grouped(x):
            x[I] = I[0] * 10 + I[1]

    a = qd.ndarray(qd.i32, (2, 3))
    k(a)
    return a.to_numpy()


def one_name_for_two_axes():
    start()
    x = qd.field(qd.i32, (2, 3))

    @qd.kernel
    def k():
        for i in x:
            x[i, 0] = 1

    k()


def neg_floor():
    start()

    @qd.kernel
    def k(a: qd.i32, b: qd.i32) -> qd.i32:
        return a // b * 100 + a % b

    return [k(-7, 2), k(7, -2), k(-8, 3), k(8, 3)]


def shift_ops():
    start()

    @qd.kernel
    def k(a: qd.u32, n: qd.i32) -> qd.u32:
        return (a << n) | (a >> (32 - n))

    return k(0x80000001, 4)


def u64_big():
    start()

    @qd.kernel
    def k(a: qd.u64) -> qd.u64:
        return a * qd.u64(6364136223846793005) + qd.u64(1)

    return k(12345678901234567890)


def minmax_mixed():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.f32:
        return max(a, 2.5, min(a, 7)) + qd.max(1, a)

    return k(4)


def struct_in_func():
    start()
    S = qd.types.struct(p=qd.math.vec2, n=qd.i32)

    @qd.func
    def step(s):
        s.p += 1.0
        s.n += 1
        return s

    @qd.func
    def step_t(s: qd.template()):
        s.n += 10

    @qd.kernel
    def k() -> qd.i32:
        s = S(p=[1, 2], n=3)
        t = step(s)
        step_t(s)
        return s.n * 100 + t.n

    return k()


def class_func_static():
    start()

    @qd.data_oriented
    class C:
        K = 5

        def __init__(self):
            self.items = [1, 2, 3]
            self.opts = {"a": 2}

        @qd.kernel
        def go(self) -> qd.i32:
            s = 0
            for v in qd.static(self.items):
                s += v
            return s * self.K + self.opts["a"]

    return C().go()


def kernel_method_template():
    start()

    @qd.data_oriented
    class C:
        def __init__(self):
            self.x = qd.field(qd.i32, 3)

        @qd.kernel
        def go(self, f: qd.template(), v: qd.i32):
            for i in f:
                f[i] = v + self.x[i]

    c = C()
    y = qd.field(qd.i32, 3)
    c.go(y, 4)
    return y.to_numpy()
