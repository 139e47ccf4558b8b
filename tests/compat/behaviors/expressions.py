"""Expressions and statements: conversions, operators, assignments, conditions and loops."""

import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


def operators_of_integers():
    start()
    out = qd.field(qd.i32, 12)

    @qd.kernel
    def k(a: qd.i32, b: qd.i32):
        out[0] = a + b
        out[1] = a - b
        out[2] = a * b
        out[3] = a // b
        out[4] = a % b
        out[5] = a & b
        out[6] = a | b
        out[7] = a ^ b
        out[8] = ~a
        out[9] = a << 2
        out[10] = a >> 1
        out[11] = -a

    found = []
    for pair in ((17, 5), (-17, 5), (17, -5), (-17, -5)):
        k(*pair)
        found.append(out.to_numpy().tolist())
    return found


def operators_of_floats():
    start()
    out = qd.field(qd.f32, 8)

    @qd.kernel
    def k(a: qd.f32, b: qd.f32):
        out[0] = a + b
        out[1] = a / b
        out[2] = a // b
        out[3] = a % b
        out[4] = a**b
        out[5] = -a
        out[6] = abs(a)
        out[7] = a * b - b

    found = []
    for pair in ((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0)):
        k(*pair)
        found.append(out.to_numpy().tolist())
    return found


def true_division_of_integers():
    start()

    @qd.kernel
    def k(a: qd.i32, b: qd.i32) -> qd.f32:
        return a / b

    return [k(7, 2), k(-7, 2), k(1, 3)]


def overflow_of_i32():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        return a + 1

    @qd.kernel
    def m(a: qd.i32) -> qd.i32:
        return a * a

    return [k(2147483647), m(65536), m(46341)]


def small_integers_wrap():
    start()
    out = qd.field(qd.i32, 4)

    @qd.kernel
    def k(a: qd.i32):
        out[0] = qd.cast(a, qd.i8)
        out[1] = qd.cast(a, qd.u8)
        out[2] = qd.cast(a, qd.i16)
        out[3] = qd.cast(a, qd.u16)

    found = []
    for each in (200, -1, 70000, 128):
        k(each)
        found.append(out.to_numpy().tolist())
    return found


def comparisons_in_a_chain():
    start()

    @qd.kernel
    def k(a: qd.i32, b: qd.i32, c: qd.i32) -> qd.i32:
        return (a < b < c) * 100 + (a <= b <= c) * 10 + (a < b > c)

    return [k(1, 2, 3), k(1, 1, 1), k(1, 3, 2), k(3, 2, 1)]


def comparisons_as_numbers():
    start()
    out = qd.field(qd.i32, 6)

    @qd.kernel
    def k(a: qd.f32, b: qd.f32):
        out[0] = a < b
        out[1] = a <= b
        out[2] = a > b
        out[3] = a >= b
        out[4] = a == b
        out[5] = a != b

    k(1.0, 2.0)
    return out


def logic():
    start()
    out = qd.field(qd.i32, 6)

    @qd.kernel
    def k(a: qd.i32, b: qd.i32):
        out[0] = a > 0 and b > 0
        out[1] = a > 0 or b > 0
        out[2] = not a > 0
        out[3] = 1 if a and b else 0
        out[4] = 1 if a or b else 0
        out[5] = 1 if not (a and b) else 0

    found = []
    for pair in ((0, 0), (0, 2), (3, 0), (3, 2)):
        k(*pair)
        found.append(out.to_numpy().tolist())
    return found


def conditions_in_sequence():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        found = 0
        if a < 0:
            found = -1
        elif a == 0:
            found = 0
        elif a < 10:
            found = 1
        else:
            found = 2
        return found

    return [k(each) for each in (-5, 0, 5, 50)]


def several_targets():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a = b = 3
        a += 1
        c, d = a, b
        c, d = d, c
        (e, f) = (c * 2, d * 2)
        return a * 10000 + b * 1000 + c * 100 + d * 10 + e + f

    return k()


def unpacked_vectors():
    start()

    @qd.kernel
    def k() -> qd.i32:
        v = qd.Vector([1, 2, 3])
        a, b, c = v
        return a * 100 + b * 10 + c

    return k()


def annotated_assignments():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        b: qd.i32 = a
        c: qd.f32 = 7
        return b + c / 2

    return k(2.75)


def nested_loops_with_break():
    start()

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        s = 0
        for _ in range(1):
            for i in range(n):
                for j in range(n):
                    if j > i:
                        break
                    if j % 2:
                        continue
                    s += 10 * i + j
                if s > 200:
                    break
        return s

    return [k(3), k(6), k(10)]


def while_loops():
    start()

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        steps = 0
        x = n
        while x != 1:
            if x % 2 == 0:
                x //= 2
            else:
                x = 3 * x + 1
            steps += 1
        return steps

    return [k(each) for each in (1, 6, 27)]


def while_true():
    start()

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        i = 0
        while True:
            i += 3
            if i > n:
                break
        return i

    return [k(5), k(6)]


def ranges():
    start()

    @qd.kernel
    def k(a: qd.i32, b: qd.i32) -> qd.i32:
        s = 0
        for i in range(a, b):
            s += i
        for i in range(b):
            s += 100 * i
        return s

    return [k(2, 5), k(5, 2), k(-2, 2)]


def a_static_range_with_a_step():
    start()

    @qd.kernel
    def k() -> qd.i32:
        s = 0
        for i in qd.static(range(8, 0, -3)):
            s = s * 10 + i
        return s

    return k()


def conditional_expressions():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.f32:
        return 1.5 if a > 0 else (2 if a == 0 else -1)

    return [k(1), k(0), k(-1)]


def select():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.f32:
        v = qd.select(a > 0, qd.Vector([1.0, 2.0]), qd.Vector([3.0, 4.0]))
        return qd.select(a > 1, 10, 20) + v[0] + v[1]

    return [k(0), k(1), k(2)]


def deletion():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a = 3
        del a
        return 1

    return k()


def a_walrus():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        s = 0
        if (b := a * 2) > 5:
            s = b
        return s

    return [k(1), k(4)]


def strings_in_a_kernel():
    start()
    mode = "fast"

    @qd.kernel
    def k() -> qd.i32:
        return 1 if qd.static(mode == "fast") else 2

    return k()


def functions_of_bits():
    start()
    out = qd.field(qd.i32, 3)

    @qd.kernel
    def k(a: qd.i32):
        out[0] = qd.math.popcnt(a)
        out[1] = qd.math.clz(a)
        out[2] = a & -a

    found = []
    for each in (1, 96, -1):
        k(each)
        found.append(out.to_numpy().tolist())
    return found


def bits_of_floats():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.i32:
        return qd.bit_cast(a, qd.i32)

    @qd.kernel
    def back(a: qd.i32) -> qd.f32:
        return qd.bit_cast(a, qd.f32)

    return [k(1.0), k(-2.5), back(1065353216)]


def powers():
    start(default_fp=qd.f64)
    out = qd.field(qd.f64, 8)

    @qd.kernel
    def k(a: qd.f64, n: qd.i32):
        out[0] = a**2
        out[1] = a**-1
        out[2] = a**0.5
        out[3] = a**n
        out[4] = 2**n
        out[5] = n**3
        out[6] = n**0
        out[7] = qd.pow(a, 3)

    k(2.25, 5)
    return out


def rounding():
    start()
    out = qd.field(qd.f32, 6)

    @qd.kernel
    def k(a: qd.f32):
        out[0] = qd.floor(a)
        out[1] = qd.ceil(a)
        out[2] = qd.round(a)
        out[3] = qd.floor(a, qd.i32)
        out[4] = int(a)
        out[5] = a - qd.floor(a)

    found = []
    for each in (2.5, -2.5, 3.5, 2.4, -0.5):
        k(each)
        found.append(out.to_numpy().tolist())
    return found


def infinities_and_nan():
    start(fast_math=False)
    out = qd.field(qd.f32, 6)

    @qd.kernel
    def k(a: qd.f32):
        out[0] = 1.0 / a
        out[1] = -1.0 / a
        out[2] = a / a
        out[3] = qd.math.isnan(a / a)
        out[4] = qd.math.isinf(1.0 / a)
        out[5] = qd.math.isinf(a)

    k(0.0)
    return out


def conversions_of_floats_to_integers():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.i32:
        return qd.i32(a)

    return [k(each) for each in (2.9, -2.9, 0.0, 1e6, -0.99)]


def implicit_conversions_in_assignments():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        n = 3
        n = a
        x = 1.0
        x = 7
        x /= 2
        return n * 100 + x

    return k(2.9)


def unsigned_numbers():
    start()
    out = qd.field(qd.u32, 5)

    @qd.kernel
    def k(a: qd.u32, b: qd.u32):
        out[0] = a - b
        out[1] = a // b
        out[2] = a % b
        out[3] = a >> 3
        out[4] = a > b

    k(5, 7)
    return out


def numbers_of_64_bits():
    start(default_ip=qd.i64, default_fp=qd.f64)

    @qd.kernel
    def k(a: qd.i64) -> qd.i64:
        return a * a + 1

    @qd.kernel
    def x(a: qd.f64) -> qd.f64:
        return qd.sqrt(a) * 1.1

    return [k(3000000000), k(-5), x(2.0)]


def halves():
    start()
    x = qd.field(qd.f16, 3)

    @qd.kernel
    def k():
        for i in x:
            x[i] = 1.0 / (i + 3)

    k()
    return x


def atomics_and_their_results():
    start()
    x = qd.field(qd.i32, 6)

    @qd.kernel
    def k():
        for _ in range(1):
            x[1] = qd.atomic_add(x[0], 5)
            x[2] = qd.atomic_sub(x[0], 2)
            x[3] = qd.atomic_max(x[0], 10)
            x[4] = qd.atomic_min(x[0], 4)
            x[5] = qd.atomic_or(x[0], 3)

    k()
    return x


def atomics_of_bits():
    start()
    x = qd.field(qd.i32, 4)

    @qd.kernel
    def k():
        for _ in range(1):
            x[0] = 12
            x[1] = qd.atomic_and(x[0], 10)
            x[2] = qd.atomic_xor(x[0], 3)
            x[3] = qd.atomic_mul(x[0], 2)

    k()
    return x


def sums_over_threads():
    start()
    s = qd.field(qd.i32, ())

    @qd.kernel
    def k(n: qd.i32):
        for i in range(n):
            s[None] += i

    k(1000)
    return s[None]


def a_local_sum():
    start()

    @qd.kernel
    def k(n: qd.i32) -> qd.i32:
        s = 0
        for i in range(n):
            s += i * i
        return s

    return k(100)


def captured_numbers():
    start()
    n, x, flag, numpy_number = 3, 2.5, True, np.float32(1.5)

    @qd.kernel
    def k() -> qd.f32:
        return n * x + flag + numpy_number

    return k()


def assertions_that_hold():
    start(debug=True)

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        assert a > 0
        assert a < 10, "too large"
        assert a < 10, f"too large: {a}"
        return a

    return k(5)
