"""Vectors and matrices: components, products, truth, slices and conversions, in kernels and outside."""

import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def products():
    start()
    out = qd.field(qd.f32, 8)

    @qd.kernel
    def k():
        a = qd.Vector([1.0, 2.0, 3.0])
        b = qd.Vector([4.0, -5.0, 6.0])
        out[0] = a.dot(b)
        c = a.cross(b)
        out[1], out[2], out[3] = c[0], c[1], c[2]
        o = a.outer_product(b)
        out[4] = o[1, 2]
        out[5] = o.sum()
        out[6] = a.norm()
        out[7] = a.norm_sqr()

    k()
    return out


def norms():
    start()
    out = qd.field(qd.f32, 6)

    @qd.kernel
    def k():
        v = qd.Vector([3.0, 4.0])
        out[0] = v.norm()
        out[1] = v.norm_inv()
        out[2] = v.normalized()[0]
        out[3] = v.norm(1e-3)
        out[4] = qd.math.length(v)
        out[5] = qd.math.distance(v, qd.Vector([0.0, 0.0]))

    k()
    return out


def reductions():
    start()
    out = qd.field(qd.i32, 5)

    @qd.kernel
    def k():
        v = qd.Vector([3, -1, 7, 2])
        out[0] = v.sum()
        out[1] = v.max()
        out[2] = v.min()
        out[3] = v.any()
        out[4] = v.all()

    k()
    return out


def any_and_all():
    start()
    out = qd.field(qd.i32, 6)

    @qd.kernel
    def k(a: qd.i32):
        v = qd.Vector([a, 0, 2])
        out[0] = any(v)
        out[1] = all(v)
        out[2] = (v > 1).any()
        out[3] = (v >= 0).all()
        out[4] = any(v > 5)
        out[5] = all(v < 9)

    found = []
    for each in (0, 1, 7, -2):
        k(each)
        found.append(out.to_numpy().tolist())
    return found


def swizzles():
    start()
    out = qd.field(qd.f32, 9)

    @qd.kernel
    def k():
        v = qd.math.vec4(1.0, 2.0, 3.0, 4.0)
        out[0], out[1] = v.xy
        out[2] = v.zyx[0]
        out[3] = v.rgba[3]
        v.xy = [7.0, 8.0]
        out[4] = v.x
        out[5] = v.y
        v.w += 1.0
        out[6] = v.w
        w = v.wz
        out[7] = w[0]
        out[8] = v.b

    k()
    return out


def entries_at_an_index_vector():
    start()
    m = qd.Matrix.field(2, 3, qd.i32, ())

    @qd.kernel
    def k() -> qd.i32:
        s = 0
        for I in qd.static(qd.grouped(qd.ndrange(2, 3))):
            m[None][I] = I[0] * 10 + I[1]
            s += m[None][I]
        return s

    return [k(), m.to_numpy().tolist()]


def matrices():
    start()
    out = qd.field(qd.f32, 8)

    @qd.kernel
    def k():
        m = qd.Matrix([[2.0, 1.0], [1.0, 3.0]])
        out[0] = m.determinant()
        out[1] = m.trace()
        i = m.inverse()
        out[2], out[3] = i[0, 0], i[0, 1]
        p = m @ i
        out[4], out[5] = p[0, 0], p[0, 1]
        t = (m + qd.Matrix([[0.0, 5.0], [0.0, 0.0]])).transpose()
        out[6] = t[1, 0]
        out[7] = (m @ qd.Vector([1.0, 2.0]))[1]

    k()
    return out


def larger_inverses():
    start(default_fp=qd.f64)
    m = qd.Matrix.field(4, 4, qd.f64, ())

    @qd.kernel
    def k():
        a = qd.Matrix([[4.0, 1, 0, 2], [1, 5, 1, 0], [0, 1, 6, 1], [2, 0, 1, 7]])
        m[None] = a.inverse()

    @qd.kernel
    def d() -> qd.f64:
        return qd.Matrix([[4.0, 1, 0], [1, 5, 1], [0, 1, 6]]).determinant()

    k()
    return [m.to_numpy().tolist(), d()]


def constants_of_matrices():
    start()

    @qd.kernel
    def k() -> qd.f32:
        i = qd.Matrix.identity(qd.f32, 3)
        z = qd.Matrix.zero(qd.f32, 2, 2)
        o = qd.Matrix.one(qd.f32, 2, 3)
        u = qd.Vector.unit(3, 1)
        d = qd.Matrix.diag(3, 5)
        return i.sum() + z.sum() + o.sum() + u[1] * 100 + d.sum() * 1000

    return k()


def rows_and_columns():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a, b = qd.Vector([1, 2]), qd.Vector([3, 4])
        r = qd.Matrix.rows([a, b])
        c = qd.Matrix.cols([a, b])
        return r[0, 1] * 1000 + r[1, 0] * 100 + c[0, 1] * 10 + c[1, 0]

    return k()


def parts_of_matrices():
    start()

    @qd.kernel
    def k() -> qd.i32:
        m = qd.Matrix([[1, 2, 3], [4, 5, 6]])
        row = m[1, :]
        column = m[:, 2]
        part = m[0:2, 1:3]
        return row.sum() * 1000 + column.sum() * 10 + part.sum()

    return k()


def parts_of_vectors():
    start()

    @qd.kernel
    def k() -> qd.i32:
        v = qd.Vector([1, 2, 3, 4, 5])
        a = v[1:4]
        b = v[::2]
        return a.sum() * 100 + b.sum()

    return k()


def assigned_parts():
    start()

    @qd.kernel
    def k() -> qd.i32:
        v = qd.Vector([1, 2, 3, 4])
        v[1:3] = [7, 8]
        return v[0] * 1000 + v[1] * 100 + v[2] * 10 + v[3]

    return k()


def componentwise_functions():
    start()
    out = qd.Vector.field(3, qd.f32, 6)

    @qd.kernel
    def k():
        v = qd.Vector([1.0, -2.5, 4.0])
        out[0] = abs(v)
        out[1] = qd.max(v, 0.0)
        out[2] = qd.floor(v)
        out[3] = qd.exp(v * 0.1)
        out[4] = qd.math.clamp(v, -1.0, 2.0)
        out[5] = qd.math.sign(v)

    k()
    return out


def vectors_with_numbers():
    start()
    out = qd.Vector.field(2, qd.f32, 6)

    @qd.kernel
    def k():
        v = qd.Vector([1.0, 2.0])
        out[0] = v + 1
        out[1] = 1 - v
        out[2] = v * [3, 4]
        out[3] = v / 2
        out[4] = 2 ** v
        out[5] = v % 1.5

    k()
    return out


def comparisons_of_vectors():
    start()
    out = qd.Vector.field(3, qd.i32, 4)

    @qd.kernel
    def k():
        a, b = qd.Vector([1, 2, 3]), qd.Vector([3, 2, 1])
        out[0] = a < b
        out[1] = a == b
        out[2] = (a > 1) & (b > 1)
        out[3] = (a > 2) | (b > 2)

    k()
    return out


def casts_of_vectors():
    start()

    @qd.kernel
    def k() -> qd.f32:
        v = qd.Vector([1.7, 2.2])
        i = v.cast(qd.i32)
        j = qd.cast(v, qd.i32)
        x = qd.Vector([3, 4], dt=qd.f32) / 8
        return i.sum() * 100 + j.sum() * 10 + x.sum()

    return k()


def vectors_of_the_host():
    start()
    a, b = qd.Vector([1.0, 2.0, 3.0]), qd.Vector([4.0, 5.0, 6.0])
    return [
        (a + b).to_list(),
        (a * 2).to_list(),
        a.dot(b),
        a.cross(b).to_list(),
        a.norm(),
        a[1],
        len(a),
        (a - b).sum(),
        a.max(),
        a.normalized().to_list(),
    ]


def vectors_to_numpy():
    start()
    v, m = qd.Vector([1, 2, 3]), qd.Matrix([[1.5, 2.0], [3.0, 4.0]])
    return [v.to_numpy().tolist(), m.to_numpy().tolist(), np.asarray(v.to_numpy()).shape, m.to_numpy().shape]


def iteration_of_the_host():
    start()
    v = qd.Vector([5, 6, 7])
    return [list(v), tuple(v), max(v), sum(v)]


def assignment_of_the_host():
    start()
    v = qd.Vector([1, 2, 3])
    v[1] = 9
    v.z = 7
    return v.to_list()


def types_that_are_called():
    start()
    vec3, mat2 = qd.types.vector(3, qd.f32), qd.types.matrix(2, 2, qd.i32)

    @qd.kernel
    def k() -> qd.f32:
        a = vec3(1, 2, 3)
        b = vec3(5)
        c = vec3([1, 1, 1])
        d = mat2(1, 2, 3, 4)
        e = mat2([[1, 2], [3, 4]])
        f = vec3(qd.Vector([1.0, 2.0]), 9)
        return a.sum() + 10 * b.sum() + 100 * c.sum() + 1000 * d[1, 0] + e[0, 1] + f.sum()

    return k()


def types_of_the_host():
    start()
    vec2, mat2 = qd.types.vector(2, qd.f32), qd.types.matrix(2, 2, qd.f32)
    return [vec2(1, 2).to_list(), vec2(3).to_list(), mat2([[1, 2], [3, 4]]).to_list(), vec2([5, 6]).to_list()]


def arguments_and_results():
    start()
    vec3, mat2 = qd.types.vector(3, qd.f32), qd.types.matrix(2, 2, qd.f32)

    @qd.kernel
    def k(v: vec3, m: mat2) -> vec3:
        return v * m[0, 1] + m.sum()

    return k(vec3(1, 2, 3), mat2([[1, 2], [3, 4]])).to_list()


def fields_of_matrices():
    start()
    m = qd.Matrix.field(2, 2, qd.f32, (2, 2))

    @qd.kernel
    def k():
        for i, j in m:
            m[i, j] = [[i, j], [i + j, i * j]]

    k()
    return [m.to_numpy().tolist(), m[1, 1].to_list(), m.n, m.m, m.shape]


def fields_of_vectors_outside():
    start()
    v = qd.Vector.field(3, qd.f32, 2)
    v[0] = [1, 2, 3]
    v[1][2] = 5
    v[1].x = 4
    return [v.to_numpy().tolist(), v[0].to_list(), v[1][2], v[1].x]


def a_sum_of_vectors():
    start()
    v = qd.Vector.field(2, qd.f32, 100)

    @qd.kernel
    def k() -> qd.types.vector(2, qd.f32):
        s = qd.Vector([0.0, 0.0])
        for i in v:
            v[i] = [i, 2 * i]
        for i in range(100):
            s += v[i]
        return s

    return k().to_list()


def atomic_sums_of_vectors():
    start()
    total = qd.Vector.field(2, qd.i32, ())

    @qd.kernel
    def k():
        for i in range(50):
            qd.atomic_add(total[None], qd.Vector([i, 1]))

    k()
    return total[None].to_list()


def a_component_at_run_time():
    start()

    @qd.kernel
    def k(i: qd.i32) -> qd.i32:
        v = qd.Vector([3, 5, 7])
        v[i] += 10
        return v.sum() * 100 + v[i]

    return [k(0), k(2)]


def two_by_three():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a = qd.Matrix([[1, 2, 3], [4, 5, 6]])
        b = qd.Matrix([[1, 0], [0, 1], [2, 2]])
        c = a @ b
        return c[0, 0] * 1000 + c[0, 1] * 100 + c[1, 0] * 10 + c[1, 1]

    return k()


def a_matrix_of_expressions():
    start()

    @qd.kernel
    def k(x: qd.f32) -> qd.f32:
        m = qd.Matrix([[qd.cos(x), -qd.sin(x)], [qd.sin(x), qd.cos(x)]])
        v = m @ qd.Vector([1.0, 0.0])
        return v[0] * 10 + v[1]

    return k(0.5)


def decompositions():
    start(default_fp=qd.f64)
    out = qd.field(qd.f64, 6)

    @qd.kernel
    def k():
        a = qd.Matrix([[2.0, 1.0], [1.0, 3.0]])
        u, s, v = qd.svd(a, qd.f64)
        out[0], out[1] = s[0, 0], s[1, 1]
        r, _ = qd.polar_decompose(a, qd.f64)
        out[2] = r[0, 0]
        w, _ = qd.sym_eig(a, qd.f64)
        out[3], out[4] = qd.min(w[0], w[1]), qd.max(w[0], w[1])
        out[5] = (u @ s @ v.transpose() - a).norm() < 1e-9

    k()
    return out


def solutions():
    start(default_fp=qd.f64)

    @qd.kernel
    def k() -> qd.types.vector(2, qd.f64):
        a = qd.Matrix([[2.0, 1.0], [1.0, 3.0]])
        return qd.solve(a, qd.Vector([1.0, 2.0]), qd.f64)

    return k().to_list()


def functions_of_shaders():
    start()
    out = qd.field(qd.f32, 9)

    @qd.kernel
    def k():
        a, b = qd.math.vec3(1, 2, 2), qd.math.vec3(0, 1, 0)
        out[0] = qd.math.mix(1.0, 3.0, 0.25)
        out[1] = qd.math.fract(2.75)
        out[2] = qd.math.step(0.5, 0.7)
        out[3] = qd.math.smoothstep(0.0, 1.0, 0.3)
        out[4] = qd.math.normalize(a)[0]
        out[5] = qd.math.reflect(a, b)[1]
        out[6] = qd.math.dot(a, b)
        out[7] = qd.math.cross(a, b)[2]
        out[8] = qd.math.mod(-1.5, 1.0)

    k()
    return out


def rotations():
    start()

    @qd.kernel
    def k() -> qd.f32:
        m = qd.math.rotation2d(0.5)
        e = qd.math.eye(3)
        r = qd.math.rot_yaw_pitch_roll(0.1, 0.2, 0.3)
        return m[0, 0] + 10 * m[0, 1] + 100 * e.sum() + r[0, 1]

    return k()


def complex_numbers():
    start()
    out = qd.Vector.field(2, qd.f32, 5)

    @qd.kernel
    def k():
        a, b = qd.math.vec2(1, 2), qd.math.vec2(3, -1)
        out[0] = qd.math.cmul(a, b)
        out[1] = qd.math.cdiv(a, b)
        out[2] = qd.math.cconj(a)
        out[3] = qd.math.csqrt(a)
        out[4] = qd.math.cexp(a)

    k()
    return out


def a_vector_in_a_condition():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        v = qd.Vector([a, 1])
        s = 0
        if all(v == [1, 1]):
            s = 5
        if any(v != [1, 1]):
            s = 7
        return s

    return [k(1), k(2)]


def a_wrong_length():
    start()

    @qd.kernel
    def k():
        v = qd.Vector([1, 2])
        w = v + qd.Vector([1, 2, 3])
        w[0] = 1

    k()


def a_field_of_long_vectors():
    start()
    v = qd.Vector.field(9, qd.f32, 3)

    @qd.kernel
    def k():
        for i in v:
            for j in qd.static(range(9)):
                v[i][j] = i * j

    k()
    return v.to_numpy().sum()
