"""Small things that programs are used to: arguments by name, unpacked arguments, floats where integers are meant."""

import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def arguments_by_name():
    start()
    out = qd.field(qd.f32, 8)

    @qd.kernel
    def k(x: qd.f32, n: qd.i32):
        out[0] = qd.math.clamp(x, xmin=1.0, xmax=2.0)
        out[1] = qd.math.mix(x=1.0, y=x, a=0.25)
        out[2] = qd.select(cond=x > 1.0, x1=5, x2=n)
        out[3] = qd.cast(obj=x, dtype=qd.i32)
        out[4] = qd.math.smoothstep(edge0=0.0, edge1=8.0, x=x)
        out[5] = qd.math.step(edge=3.0, x=x) + qd.math.fract(x=x) + qd.math.radians(x=x)
        out[6] = qd.math.dot(x=qd.Vector([x, 1.0]), y=qd.Vector([2.0, 3.0]))
        out[7] = qd.math.reflect(x=qd.Vector([x, 1.0]), n=qd.Vector([0.0, 1.0]))[1]

    k(3.5, 11)
    return out


SHAPE = (2, 3)
SIZES = [4, 2]


def ndrange_of_unpacked():
    start()
    vector = qd.Vector([2, 5])

    @qd.kernel
    def k(a: qd.types.ndarray(), given: qd.template()) -> qd.i32:
        total = 0
        for _i, _j in qd.ndrange(*SHAPE):
            total += 1
        for _i, _j in qd.ndrange(*SIZES):
            total += 10
        for _i, _j in qd.ndrange(*a.shape):
            total += 100
        for _i, _j in qd.ndrange(*vector):
            total += 1000
        for _i, _j in qd.ndrange(*given):
            total += 10000
        for _i, _j in qd.ndrange(*(2, (1, 3))):
            total += 100000
        local = qd.Vector([2, 3])
        for _i, _j in qd.ndrange(*local):
            total += 1000000
        return total

    return k(np.zeros((2, 2), np.float32), (3, 1))


def float_bounds():
    start()

    @qd.kernel
    def k(x: qd.f32) -> qd.i32:
        total = 0
        for _i in range(x):
            total += 1
        for _ in range(1):
            for i in range(1.5, x + 1.2):
                total += 10 * i
        for _i in range(4.0):
            total += 1000
        return total

    return [k(3.7), k(-2.5)]


def float_bound_of_ndrange():
    start()

    @qd.kernel
    def k(x: qd.f32) -> qd.i32:
        total = 0
        for _i, _j in qd.ndrange(x, 2):
            total += 1
        return total

    return k(3.7)


def integers_that_do_not_fit():
    start()

    @qd.kernel
    def narrow(n: qd.i8) -> qd.i32:
        return qd.cast(n, qd.i32)

    @qd.kernel
    def ordinary(n: qd.i32) -> qd.i32:
        return n

    @qd.kernel
    def unsigned(n: qd.u32) -> qd.u32:
        return n

    return [
        [narrow(n) for n in (300, -1, 128, 2**40 + 5)],
        [ordinary(n) for n in (2**31, -(2**31) - 1, 2**32 + 7, -(2**63))],
        [unsigned(n) for n in (2**32 + 1, 2**33)],
    ]


def nodes_above_a_field():
    start()
    own, placed, nested = qd.field(qd.f32, (3, 4)), qd.Vector.field(2, qd.f32), qd.field(qd.i32)
    qd.root.dense(qd.i, 8).place(placed)
    node = qd.root.dense(qd.i, 4).dense(qd.ij, (2, 3))
    node.place(nested)
    return [
        [list(each.snode.shape) for each in (own, placed, nested)],
        [list(each.parent().shape) for each in (own, placed, nested)],
        list(nested.parent(2).shape),
        nested.parent() == node,
        nested.parent(3) is qd.root,
        own.parent(2) is qd.root,
        nested.parent(4) is None,
    ]


def one_entry_of_each_vector():
    start()
    vectors, matrices = qd.Vector.field(2, qd.f32, 4), qd.Matrix.field(2, 3, qd.f32, 2)
    second, corner = vectors.get_scalar_field(1), matrices.get_scalar_field(1, 2)
    vectors[1] = [5, 6]
    second[2] = 9
    corner[1] = 7

    @qd.kernel
    def k():
        for i in second:
            second[i] += 1

    k()
    return [second.to_numpy(), vectors.to_numpy(), matrices.to_numpy()]
