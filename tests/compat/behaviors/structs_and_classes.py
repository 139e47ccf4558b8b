"""Structs, vectors and matrices, dataclasses and classes, and mistakes."""

# ruff: noqa: F841, C416, RUF059, F821, SIM105, E722

import dataclasses

import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def struct_dataclass():
    start()

    @qd.dataclass
    class P:
        pos: qd.math.vec2
        m: qd.f32

        @qd.func
        def energy(self):
            return 0.5 * self.m * self.pos.norm_sqr()

    f = P.field(shape=4)

    @qd.kernel
    def k() -> qd.f32:
        for i in f:
            f[i] = P(pos=qd.Vector([i, 1.0]), m=2)
        s = 0.0
        for i in f:
            s += f[i].energy()
        return s

    return [k(), f.pos.to_numpy(), f.m.to_numpy()]


def struct_arg_ret():
    start()
    S = qd.types.struct(a=qd.i32, v=qd.math.vec2)

    @qd.kernel
    def k(s: S) -> S:
        return S(a=s.a * 2, v=s.v + 1)

    r = k(S(3, [1, 2]))
    return [r.a, r.v]


def struct_nested():
    start()
    A = qd.types.struct(x=qd.f32, y=qd.f32)
    B = qd.types.struct(p=A, n=qd.i32)
    f = B.field(shape=2)

    @qd.kernel
    def k():
        for i in f:
            f[i].p.x = i + 1
            f[i].p = A(x=3.0 + i, y=4.0)
            f[i].n += 5

    k()
    return [f[1].p.x, f[1].p.y, f[1].n, f.to_numpy()["p"]["x"], B(p=A(1, 2), n=3).p.y]


def struct_from_numpy():
    start()
    S = qd.types.struct(a=qd.i32, v=qd.math.vec2)
    f = S.field(shape=3)
    f.from_numpy({"a": np.arange(3, dtype=np.int32), "v": np.ones((3, 2), np.float32)})
    return [f.a.to_numpy(), f.v.to_numpy(), f.keys if not callable(f.keys) else 0]


def struct_assign_member_missing():
    start()
    S = qd.types.struct(a=qd.i32)
    f = S.field(shape=3)

    @qd.kernel
    def k():
        f[0].b = 3

    k()


def struct_getmember():
    start()
    S = qd.types.struct(a=qd.i32, b=qd.f32)
    f = S.field(shape=3)
    f.get_member_field("a").fill(4)
    return [f.a.to_numpy(), sorted(f.keys), f[0]["a"]]


def struct_copy_semantics():
    start()
    S = qd.types.struct(a=qd.i32)
    f = S.field(shape=2)

    @qd.kernel
    def k() -> qd.i32:
        s = f[0]
        s.a = 7
        return f[0].a * 10 + s.a

    return k()


def matrix_kernel_all():
    start(default_fp=qd.f64)
    o = qd.field(qd.f64, 60)

    @qd.kernel
    def k():
        m = qd.Matrix([[1.0, 2.0, 3.0], [0.0, 1.0, 4.0], [5.0, 6.0, 0.0]])
        v = qd.Vector([1.0, 2.0, 3.0])
        o[0] = m.determinant()
        o[1] = m.trace()
        o[2] = m.inverse()[0, 2]
        o[3] = (m @ v)[1]
        o[4] = m.transpose()[0, 2]
        o[5] = m.norm()
        o[6] = m.sum()
        o[7] = m.max()
        o[8] = m.min()
        o[9] = v.normalized()[2]
        o[10] = v.dot(v)
        o[11] = v.cross(qd.Vector([3.0, 1.0, 2.0]))[0]
        o[12] = v.outer_product(v)[1, 2]
        o[13] = v.norm_inv()
        o[14] = v.norm(1e-3)
        o[15] = (m @ m)[2, 0]
        o[16] = m.all()
        o[17] = m.any()
        o[18] = abs(-v)[1]
        o[19] = qd.sin(v)[2]
        o[20] = (v**2)[2]
        o[21] = (v > 1.5)[1]
        o[22] = qd.max(v, 2.0)[0]
        o[23] = v.cast(qd.i32)[2]
        o[24] = m.n * 10 + m.m
        a, b = qd.polar_decompose(qd.Matrix([[1.0, 2.0], [3.0, 4.0]]), qd.f64)
        o[25] = a[0, 0]
        o[26] = b[0, 1]
        U, s, V = qd.svd(qd.Matrix([[1.0, 2.0], [3.0, 4.0]]), qd.f64)
        o[27] = s[0, 0]
        o[28] = s[1, 1]
        e, vv = qd.sym_eig(qd.Matrix([[2.0, 1.0], [1.0, 3.0]]), qd.f64)
        o[29] = e[0]
        o[30] = e[1]
        x = qd.solve(qd.Matrix([[2.0, 1.0], [1.0, 3.0]]), qd.Vector([1.0, 2.0]), qd.f64)
        o[31] = x[0]
        o[32] = x[1]
        rows = qd.Matrix.rows([v, v, v])
        cols = qd.Matrix.cols([v, v, v])
        o[33] = rows[1, 2]
        o[34] = cols[1, 2]
        o[35] = qd.Matrix.zero(qd.f64, 3, 3).sum()
        o[36] = qd.Matrix.identity(qd.f64, 3).sum()
        o[37] = qd.Matrix.unit(3, 1)[1]
        o[38] = qd.Vector.one(qd.f64, 3).sum()
        o[39] = qd.math.dot(v, v)
        o[40] = qd.math.length(v)
        o[41] = qd.math.distance(v, v * 2)
        o[42] = qd.math.normalize(v).x
        o[43] = qd.math.reflect(v, qd.Vector([0.0, 1.0, 0.0])).y
        v.fill(4.0)
        o[44] = v.sum()
        m[0, 1] = 9
        o[45] = m[0, 1]
        m[1, 2] += 3
        o[46] = m[1, 2]
        v.xy = qd.Vector([7.0, 8.0])
        o[47] = v.x * 10 + v.y
        o[48] = v.zyx[1]
        v.z += 1
        o[49] = v[2]

    k()
    return o.to_numpy()


def matrix_slice():
    start()
    o = qd.field(qd.i32, 10)

    @qd.kernel
    def k():
        m = qd.Matrix([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
        v = qd.Vector([1, 2, 3, 4, 5])
        o[0] = m[1, :].sum()
        o[1] = m[:, 2].sum()
        o[2] = m[0:2, 1:3].sum()
        o[3] = v[1:4].sum()
        o[4] = v[::2].sum()
        o[5] = m[:, :2].sum()

    k()
    return o.to_numpy()


def matrix_dyn_index():
    start()

    @qd.kernel
    def k(i: qd.i32) -> qd.i32:
        v = qd.Vector([3, 5, 7])
        s = 0
        for j in range(3):
            s += v[j] * (j + 1)
        v[i] = 100
        return s + v[0] + v[1] + v[2]

    return k(1)


def matrix_shape_mismatch():
    start()

    @qd.kernel
    def k() -> qd.i32:
        v = qd.Vector([3, 5, 7]) + qd.Vector([1, 2])
        return v[0]

    return k()


def matmul_mismatch():
    start()

    @qd.kernel
    def k() -> qd.f32:
        m = qd.Matrix([[1, 2], [3, 4]]) @ qd.Vector([1, 2, 3])
        return m[0]

    return k()


def vector_too_large_warn():
    start()

    @qd.kernel
    def k() -> qd.i32:
        v = qd.Vector([i for i in range(40)])
        return v.sum()

    return k()


def math_types():
    start()
    return [
        qd.math.vec2(1, 2),
        qd.math.vec3(1),
        qd.math.vec4([1, 2], 3, 4),
        qd.math.ivec2(1.7, 2),
        qd.math.uvec3(1, 2, 3),
        qd.math.mat2(1, 2, 3, 4),
        qd.math.mat3([[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        qd.math.mat2(1),
        qd.math.vec3(qd.math.vec2(1, 2), 3),
    ]


def math_funcs():
    start()
    o = qd.field(qd.f32, 40)

    @qd.kernel
    def k():
        v = qd.math.vec3(1.0, 2.0, 3.0)
        o[0] = qd.math.refract(v.normalized(), qd.math.vec3(0, 1, 0), 0.5).y
        o[1] = qd.math.cross(v, qd.math.vec3(1, 0, 0)).z
        r = qd.math.rotation2d(0.5)
        o[2] = r[0, 1]
        o[3] = qd.math.rot_yaw_pitch_roll(0.1, 0.2, 0.3)[0, 2]
        o[4] = qd.math.rot_by_axis(qd.math.vec3(0, 0, 1), 0.3)[0, 1]
        o[5] = qd.math.translate(1.0, 2.0, 3.0)[0, 3]
        o[6] = qd.math.scale(1.0, 2.0, 3.0)[1, 1]
        o[7] = qd.math.eye(3).sum()
        o[8] = qd.math.cconj(qd.math.vec2(1, 2)).y
        o[9] = qd.math.cmul(qd.math.vec2(1, 2), qd.math.vec2(3, 4)).x
        o[10] = qd.math.cdiv(qd.math.vec2(1, 2), qd.math.vec2(3, 4)).x
        o[11] = qd.math.csqrt(qd.math.vec2(3, 4)).x
        o[12] = qd.math.cinv(qd.math.vec2(1, 2)).x
        o[13] = qd.math.cpow(qd.math.vec2(1, 2), 2).x
        o[14] = qd.math.cexp(qd.math.vec2(1, 2)).x
        o[15] = qd.math.clog(qd.math.vec2(1, 2)).x
        o[16] = qd.math.mix(v, v * 2, 0.5).y
        o[17] = qd.math.clamp(v, 1.5, 2.5).z
        o[18] = qd.math.step(2.0, v).z
        o[19] = qd.math.acos(0.5)
        o[20] = qd.math.atan2(1.0, 2.0)
        o[21] = qd.math.exp(1.0)
        o[22] = qd.math.floor(2.7)
        o[23] = qd.math.round(2.7)
        o[24] = qd.math.sqrt(2.0)
        o[25] = qd.math.pow(2.0, 3.0)
        o[26] = qd.math.max(2.0, 3.0)
        o[27] = qd.math.inverse(qd.math.mat2([[2.0, 0.0], [0.0, 4.0]]))[0, 0]
        o[28] = qd.math.determinant(qd.math.mat2([[2.0, 0.0], [0.0, 4.0]]))
        o[29] = qd.math.vdir(0.5).x
        o[30] = qd.math.sign(0.0)

    k()
    return o.to_numpy()


def dataclass_arg():
    start()

    @dataclasses.dataclass
    class S:
        a: qd.types.NDArray[qd.f32, 1]
        b: qd.types.NDArray[qd.i32, 2]

    @qd.func
    def f(s: S, i: qd.i32):
        s.a[i] += 10

    @qd.kernel
    def k(s: S, n: qd.i32):
        for i in range(n):
            s.a[i] = i
            s.b[i, 0] = i * 2
            f(s, i)

    s = S(qd.ndarray(qd.f32, 4), qd.ndarray(qd.i32, (4, 2)))
    k(s, 4)
    return [s.a.to_numpy(), s.b.to_numpy()]


def dataclass_nested_kw():
    start()

    @dataclasses.dataclass
    class A:
        x: qd.types.ndarray(qd.f32, 1)

    @dataclasses.dataclass
    class B:
        a: A
        n: qd.i32
        t: qd.Template

    fld = qd.field(qd.i32, 3)

    @qd.kernel
    def k(b: B):
        for i in range(b.n):
            b.a.x[i] = b.t[i] + 1

    b = B(A(qd.ndarray(qd.f32, 3)), 3, fld)
    fld.fill(4)
    k(b=b)
    return b.a.x.to_numpy()


def dataclass_wrong_type():
    start()

    @dataclasses.dataclass
    class A:
        x: qd.types.NDArray[qd.f32, 1]

    @qd.kernel
    def k(b: A):
        for i in range(3):
            b.x[i] = 1

    k(A(qd.ndarray(qd.i32, 3)))


def dataclass_wrong_class():
    start()

    @dataclasses.dataclass
    class A:
        x: qd.types.NDArray[qd.f32, 1]

    @dataclasses.dataclass
    class B:
        x: qd.types.NDArray[qd.f32, 1]

    @qd.kernel
    def k(b: A):
        for i in range(3):
            b.x[i] = 1

    k(B(qd.ndarray(qd.f32, 3)))


def dataclass_missing_member():
    start()

    @dataclasses.dataclass
    class A:
        x: qd.types.NDArray[qd.f32, 1]

    @qd.kernel
    def k(b: A):
        for i in range(3):
            b.y[i] = 1

    k(A(qd.ndarray(qd.f32, 3)))


def pyfunc():
    start()

    @qd.pyfunc
    def f(a):
        return a + 1

    @qd.kernel
    def k() -> qd.i32:
        return f(4)

    return [f(3), k()]


def real_func():
    start()

    @qd.real_func
    def fib(n: qd.i32) -> qd.i32:
        r = n
        if n > 1:
            r = 2 * n
        return r

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        return fib(n)

    return k(7)


def kernel_in_kernel():
    start()

    @qd.kernel
    def a() -> qd.i32:
        return 1

    @qd.kernel
    def k() -> qd.i32:
        return a()

    return k()


def name_error():
    start()

    @qd.kernel
    def k() -> qd.i32:
        return undefined_thing

    return k()


def attr_error():
    start()

    @qd.kernel
    def k() -> qd.i32:
        return qd.nothing_there(3)

    return k()


def assert_debug():
    start(debug=True)

    @qd.kernel
    def k(a: qd.i32):
        assert a > 3, "too small"

    k(1)


def assert_nodebug():
    start()

    @qd.kernel
    def k(a: qd.i32):
        assert a > 3, "too small"

    k(1)
    return 1


def assert_fmt():
    start(debug=True)

    @qd.kernel
    def k(a: qd.i32):
        assert a > 3, f"too small {a}"

    try:
        k(1)
    except AssertionError as e:
        return "too small 1" in str(e)


def oob_debug():
    start(debug=True)
    x = qd.field(qd.i32, 8)

    @qd.kernel
    def k(i: qd.i32):
        x[i] = 3

    k(3)
    k(8)


def oob_debug_nd():
    start(debug=True)
    x = qd.ndarray(qd.i32, 8)

    @qd.kernel
    def k(x: qd.types.ndarray(), i: qd.i32):
        x[i] = 3

    k(x, 9)


def oob_debug_neg():
    start(debug=True)
    x = qd.field(qd.i32, 8)

    @qd.kernel
    def k(i: qd.i32) -> qd.i32:
        return x[i]

    k(-1)


def index_float():
    start()
    x = qd.field(qd.i32, 8)

    @qd.kernel
    def k(i: qd.f32) -> qd.i32:
        return x[i]

    k(1.0)


def index_too_many():
    start()
    x = qd.field(qd.i32, 8)

    @qd.kernel
    def k() -> qd.i32:
        return x[1, 2]

    k()


def try_in_kernel():
    start()

    @qd.kernel
    def k():
        try:
            a = 1
        except:
            pass

    k()
