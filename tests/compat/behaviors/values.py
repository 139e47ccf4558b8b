"""Functions as values, truth of vectors, structs inside structs, nodes of fields, and other small things of programs."""

import operator

import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def functions_that_are_values():
    start()
    double, plus = lambda x: x * 2, operator.add

    def halved(x):
        return x / 2

    @qd.kernel
    def k(x: qd.f32) -> qd.f32:
        return plus(double(x), qd.func(halved)(x)) + operator.neg(x)

    return k(3.0)


def logic_of_vectors():
    start()

    @qd.kernel
    def k(out: qd.types.ndarray()):
        a = qd.Vector([2, 0])
        b = qd.Vector([0, 0])
        c, d, e, f = a or b, a and b, not a, 3 and a
        for i in qd.static(range(2)):
            out[i] = c[i] * 1000 + d[i] * 100 + e[i] * 10 + f[i]
        out[2] = any(a) * 10 + all(a)

    out = qd.ndarray(qd.i32, 3)
    k(out)
    return out


def truth_of_a_comparison_in_python():
    start()
    v = qd.Vector([1, 2])
    return [bool(v == [1, 2]), bool(v == [1, 3])]


def a_condition_that_is_a_vector():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a = qd.Vector([2, 0])
        found = 0
        if a:
            found = 1
        return found

    return k()


def entries_at_a_vector():
    start()
    x = qd.Matrix.field(2, 3, qd.f32, shape=4)

    @qd.kernel
    def k():
        for i in range(4):
            for I in qd.static(qd.grouped(qd.ndrange(2, 3))):
                x[i][I] = I[0] + I[1] * 10 + i

    k()
    return x


def spaces_of_python():
    start()

    def stencil():
        return qd.ndrange(*((3,) * 2))

    @qd.kernel
    def k() -> qd.i32:
        found = 0
        for I in qd.static(qd.grouped(stencil())):
            found += I[0] * 3 + I[1]
        return found

    return [k(), len(list(stencil()))]


def loops_over_nodes():
    start()
    x, out = qd.field(qd.i32), qd.field(qd.i32, 3)
    node = qd.root.dense(qd.ij, (3, 5))
    node.dense(qd.ij, (2, 4)).place(x)

    @qd.kernel
    def k():
        for i, j in x.parent():
            out[0] += i * 100 + j
        for I in qd.grouped(x.parent(2)):
            out[1] += I[0] * 100 + I[1]
        for i, j in node:
            out[2] += i * 100 + j

    k()
    return out


Inner = qd.types.struct(v=qd.types.vector(3, float), length=float)
Outer = qd.types.struct(inner=Inner, index=int)


def numbers_for_structs():
    start()
    x = Outer.field(shape=2)

    @qd.kernel
    def k() -> qd.f32:
        x[0] = Outer(2)
        x[1] = Outer(index=3, inner=4)
        s = qd.Struct({"a": 3, "v": qd.Vector([1.0, 2.0])})
        return s.a + s.v[1]

    made = Outer(1.5)
    return [k(), x.inner.v, x.inner.length, x.index, made.inner.v[2], made.index]


def a_member_called_entries():
    start()
    S = qd.types.struct(entries=int, b=float)
    f = S.field(shape=2)

    @qd.kernel
    def k() -> qd.i32:
        f[1].entries = 4
        return f[0].entries + f[1].entries

    f[0].entries = 3
    return [k(), f.entries]


@qd.dataclass
class OnlyMethods:
    @qd.func
    def twice(self, x):
        return 2 * x


def a_struct_of_methods():
    start()

    @qd.kernel
    def k(x: qd.i32) -> qd.i32:
        tools = OnlyMethods()
        return tools.twice(x)

    return k(4)


def integer_fields_filled_with_floats():
    start()
    x, y = qd.field(qd.i32, 2), qd.Matrix.field(2, 2, qd.i32, shape=3)
    x.fill(-1.5)
    y.fill(2.7)
    return [x, y]


def integer_arrays_filled_with_floats():
    start()
    x = qd.ndarray(qd.i32, 2)
    x.fill(1.5)
    return x


def a_real_func_that_returns_in_a_loop():
    start()

    @qd.real_func
    def first_above(n: qd.i32) -> qd.i32:
        for i in range(n):
            if i * i > 50:
                return i

    @qd.kernel
    def k() -> qd.i32:
        return first_above(100)

    return k()


def vectors_of_any_size():
    start()

    @qd.kernel
    def k(x: qd.types.NDArray[qd.types.vector(), 1]) -> qd.f32:
        return x[0][1]

    x = qd.ndarray(qd.math.vec3, 2)
    x[0] = [1, 2, 3]
    return k(x)


def components_placed_by_themselves():
    start()
    v = qd.Vector.field(2, qd.i32)
    qd.root.dense(qd.i, 8).place(v.get_scalar_field(0))
    qd.root.dense(qd.i, 8).place(v.get_scalar_field(1))

    @qd.kernel
    def k():
        for i in range(8):
            v[i] += qd.Vector([i, 10 * i])

    v[3] = [1, 2]
    k()
    return v


def lazy_grads():
    start()
    x = qd.field(qd.f32)
    qd.root.dense(qd.i, 4).place(x)
    qd.root.lazy_grad()
    x.grad[1] = 3
    return [x, x.grad]


def a_tensor_of_an_array():
    start()
    a = qd.ndarray(qd.f32, 4)
    t = qd.Tensor(a)
    t[1] = 2
    return [a[1], isinstance(t, qd.Tensor)]
