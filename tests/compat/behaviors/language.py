"""Loops, operators, assignments, `static` and atomics."""

# ruff: noqa: F841, B007, SIM113, B905


import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def ndrange_forms():
    start()
    x = qd.field(qd.i32, (4, 5, 6))

    @qd.kernel
    def k():
        for i, j, l in qd.ndrange(4, (1, 5), 6):
            x[i, j, l] = i + j * 10 + l * 100

    @qd.kernel
    def g():
        for I in qd.grouped(qd.ndrange((1, 3), (2, 4), (0, 2))):
            x[I] += I[0] * 1000 + I.sum()

    k()
    g()
    return x.to_numpy()


def ndrange_python():
    start()
    return [list(t) for t in qd.ndrange(2, (1, 3))]


def ndrange_negative():
    start()
    x = qd.field(qd.i32, ())

    @qd.kernel
    def k() -> qd.i32:
        s = 0
        for i, j in qd.ndrange((-2, 3), (5, 2)):
            s += 1
        for i, j in qd.ndrange((-2, 3), 2):
            s += i * 3 + j
        return s

    return k()


def ndrange_float_error():
    start()

    @qd.kernel
    def k():
        for i in qd.ndrange(1.5):
            pass

    k()


def ndrange_wrong_vars():
    start()

    @qd.kernel
    def k():
        for i, j in qd.ndrange(2, 3, 4):
            pass

    k()


def ndrange_vector_arg():
    start()
    x = qd.field(qd.i32, (3, 4))
    sh = (3, 4)

    @qd.kernel
    def k():
        for i, j in qd.ndrange(*sh):
            x[i, j] = i * j
        for i, j in qd.ndrange(*x.shape):
            x[i, j] += 1

    k()
    return x.to_numpy()


def ndrange_axes():
    start()
    x = qd.field(qd.i32, (3, 4))

    @qd.kernel
    def k():
        qd.loop_config(serialize=True)
        c = 0
        for j, i in qd.ndrange(3, 4, axes=(1, 0)):
            x[j, i] = c
            c += 1

    k()
    return x.to_numpy()


def grouped_field():
    start()
    x = qd.Vector.field(2, qd.f32, (3, 4))

    @qd.kernel
    def k():
        for I in qd.grouped(x):
            x[I] = I * 2.0 + 1

    k()
    return x.to_numpy()


def static_range():
    start()

    @qd.kernel
    def k() -> qd.i32:
        s = 0
        for i in qd.static(range(1, 10, 3)):
            s += i
        for i, j in qd.static(qd.ndrange(2, 3)):
            s += i * 100 * j
        for a, b in qd.static(zip([1, 2], (3, 4))):
            s += a * b * 1000
        for i, v in qd.static(enumerate([5, 6, 7])):
            s += i * v * 100000
        return s

    return k()


def static_grouped_ndrange():
    start()

    @qd.kernel
    def k() -> qd.i32:
        s = 0
        for I in qd.static(qd.grouped(qd.ndrange(2, 3))):
            s += I[0] * 10 + I[1]
        return s

    return k()


def static_multi():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a, b = qd.static(3, 4)
        return a * b

    return k()


def static_break_continue():
    start()

    @qd.kernel
    def k() -> qd.i32:
        s = 0
        for i in qd.static(range(10)):
            if qd.static(i == 3):
                continue
            if qd.static(i == 6):
                break
            s += i
        return s

    return k()


def static_runtime_break():
    start()

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        s = 0
        for i in qd.static(range(10)):
            if i == n:
                break
            s += i
        return s

    return k(4)


def static_nonconst_error():
    start()

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        s = 0
        for i in qd.static(range(n)):
            s += i
        return s

    return k(4)


def static_assert_fail():
    start()

    @qd.kernel
    def k():
        qd.static_assert(1 == 2, "no good")

    k()


def static_assert_field():
    start()
    f = qd.field(qd.f32, (3, 3))

    @qd.kernel
    def k(x: qd.template()) -> qd.i32:
        qd.static_assert(len(x.shape) == 2)
        qd.static_assert(x.shape == (3, 3), "shape")
        return x.shape[0] * 10 + len(x.shape)

    return k(f)


def template_values():
    start()

    @qd.kernel
    def k(n: qd.template()) -> qd.i32:
        s = 0
        for i in qd.static(range(n)):
            s += i
        return s

    return [k(3), k(5)]


def atomic_local():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a = 4
        b = qd.atomic_add(a, 3)
        c = qd.atomic_max(a, 20)
        return a * 10000 + b * 100 + c

    return k()


def atomic_vector():
    start()
    v = qd.Vector.field(3, qd.f32, ())

    @qd.kernel
    def k():
        for i in range(10):
            v[None] += qd.Vector([1.0, 2.0, 3.0])
            qd.atomic_max(v[None][0], i * 3.0)
            qd.atomic_sub(v[None], qd.Vector([0.5, 0.5, 0.5]))

    k()
    return [v[None][1], v[None][2]]


def atomic_cas_exchange():
    start()
    return [hasattr(qd, "atomic_cas"), hasattr(qd, "atomic_exchange")]


def casts():
    start()
    o = qd.field(qd.i64, 20)

    @qd.kernel
    def k(f: qd.f32, n: qd.i32):
        o[0] = qd.cast(f, qd.i32)
        o[1] = qd.i32(f)
        o[2] = qd.cast(f, int)
        o[3] = int(f)
        o[4] = qd.cast(n, qd.u8)
        o[5] = qd.cast(n, qd.i8)
        o[6] = qd.u16(n)
        o[7] = qd.bit_cast(f, qd.i32)
        o[8] = qd.bit_cast(f, qd.u32)
        o[9] = qd.cast(-f, qd.i32)
        o[10] = qd.cast(n, qd.f32) * 2.5
        o[11] = bool(n)
        o[12] = qd.cast(n, qd.u1)
        o[13] = qd.i64(n) << 33

    k(3.75, 300)
    return o.to_numpy()


def int_div_mod():
    start()
    o = qd.field(qd.f32, 20)

    @qd.kernel
    def k(a: qd.i32, b: qd.i32, f: qd.f32):
        o[0] = a // b
        o[1] = a % b
        o[2] = -a // b
        o[3] = -a % b
        o[4] = a / b
        o[5] = f // 1.5
        o[6] = f % 1.5
        o[7] = -f % 1.5
        o[8] = qd.raw_div(a, b)
        o[9] = qd.raw_div(-a, b)
        o[10] = qd.raw_mod(-a, b)
        o[11] = qd.raw_mod(a, -b)
        o[12] = a**2
        o[13] = f**3
        o[14] = 2**b
        o[15] = f**0.5
        o[16] = qd.floor(-f)
        o[17] = qd.ceil(f)
        o[18] = qd.round(f)
        o[19] = qd.round(-2.5)

    k(7, 3, 4.6)
    return o.to_numpy()


def int_pow_runtime():
    start()

    @qd.kernel
    def k(a: qd.i32, b: qd.i32) -> qd.i32:
        return a**b

    return [k(3, 4), k(2, 10), k(-2, 3), k(5, 0)]


def math_unary():
    start()
    o = qd.field(qd.f32, 40)

    @qd.kernel
    def k(x: qd.f32):
        o[0] = qd.sin(x)
        o[1] = qd.cos(x)
        o[2] = qd.tan(x)
        o[3] = qd.asin(x)
        o[4] = qd.acos(x)
        o[5] = qd.tanh(x)
        o[6] = qd.exp(x)
        o[7] = qd.log(x)
        o[8] = qd.sqrt(x)
        o[9] = qd.rsqrt(x)
        o[10] = qd.abs(-x)
        o[11] = qd.atan2(x, 2.0)
        o[12] = qd.max(x, 0.3, 0.9)
        o[13] = qd.min(x, 0.3, 0.9)
        o[14] = max(x, 2)
        o[15] = min(x, 2)
        o[16] = abs(-x)
        o[17] = qd.pow(x, 3)
        o[18] = pow(x, 2.5)
        o[19] = qd.select(x > 0, 1.0, 2.0)
        o[20] = qd.math.fract(x + 3)
        o[21] = qd.math.sign(-x)
        o[22] = qd.math.step(0.3, x)
        o[23] = qd.math.smoothstep(0.0, 1.0, x)
        o[24] = qd.math.mix(1.0, 3.0, x)
        o[25] = qd.math.clamp(x, 0.6, 0.9)
        o[26] = qd.math.radians(x)
        o[27] = qd.math.degrees(x)
        o[28] = qd.math.mod(x + 2, 1.5)
        o[29] = qd.math.log2(x)
        o[30] = qd.math.pi
        o[31] = qd.math.e
        o[32] = qd.math.inf
        o[33] = qd.math.isnan(qd.math.nan)
        o[34] = qd.math.isinf(qd.math.inf)

    k(0.5)
    return o.to_numpy()


def and_or_values():
    start()

    @qd.kernel
    def k(a: qd.i32, b: qd.i32) -> qd.i32:
        return a and b

    return [k(2, 3), k(0, 3), k(5, 0)]


def ternary_types():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.f32:
        x = 1 if a > 0 else 2.5
        return x

    return [k(1), k(0)]


def while_break():
    start()

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        i = 0
        while True:
            i += 1
            if i % 2 == 0:
                continue
            if i > n:
                break
        return i

    return k(10)


def break_in_parallel():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a = 0
        for i in range(10):
            if i == 5:
                break
            a += 1
        return a

    return k()


def redefine_type():
    start()

    @qd.kernel
    def k() -> qd.f32:
        a = 1
        a = 2.7
        return a

    return k()


def loop_var_reuse():
    start()

    @qd.kernel
    def k() -> qd.i32:
        s = 0
        for i in range(10):
            s += i
        for i in range(5):
            s += i
        return s

    return k()


def augassign():
    start()
    o = qd.field(qd.i32, 20)

    @qd.kernel
    def k():
        a = 100
        a += 3
        o[0] = a
        a -= 5
        o[1] = a
        a *= 2
        o[2] = a
        a //= 3
        o[3] = a
        a %= 40
        o[4] = a
        a <<= 2
        o[5] = a
        a >>= 1
        o[6] = a
        a |= 9
        o[7] = a
        a &= 61
        o[8] = a
        a ^= 7
        o[9] = a
        a **= 2
        o[10] = a

    k()
    return o.to_numpy()


def div_assign_int():
    start()

    @qd.kernel
    def k() -> qd.f32:
        a = 5
        a /= 2
        return a

    return k()


def field_div_assign():
    start()
    x = qd.field(qd.i32, ())

    @qd.kernel
    def k():
        x[None] = 9
        x[None] /= 2

    k()
    return x[None]


def literal_types():
    start(default_ip=qd.i64, default_fp=qd.f64)
    x = qd.field(qd.f64, 4)

    @qd.kernel
    def k():
        a = 2147483648 * 4
        x[0] = a
        x[1] = 0.1
        x[2] = 1e-300

    k()
    return x.to_numpy()


def hex_literals():
    start()

    @qd.kernel
    def k() -> qd.u32:
        a = qd.u32(0xFFFFFFFF)
        return a ^ qd.u32(0x0F)

    return k()


def none_compare():
    start()

    @qd.kernel
    def k(x: qd.template()) -> qd.i32:
        r = 0
        if qd.static(x is None):
            r = 1
        return r

    return [k(None), k(3)]
