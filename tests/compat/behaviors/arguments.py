"""Arguments and results of kernels and funcs."""

# ruff: noqa: F841, UP006, UP035

from typing import Tuple

import numpy as np
import quadrants as qd


def start(**options):
    qd.init(arch=qd.cpu, **options)


DT = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "f16", "u1"]


def return_extremes():
    start()
    out = []
    for d, v in [
        ("i8", -128),
        ("i16", -32768),
        ("i64", -(2**63)),
        ("u8", 255),
        ("u16", 65535),
        ("u32", 2**32 - 1),
        ("u64", 2**64 - 1),
        ("f16", 1.5),
        ("f64", 1e300),
    ]:
        dt = getattr(qd, d)

        @qd.kernel
        def k(a: dt) -> dt:
            return a

        out.append([d, k(v)])
    return out


def arg_float_to_int():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        return a

    return k(1.5)


def arg_int_to_float():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return a

    return k(3)


def arg_numpy_scalars():
    start()

    @qd.kernel
    def k(a: qd.i32, b: qd.f32) -> qd.f32:
        return a + b

    return [k(np.int32(3), np.float32(2.5)), k(np.int64(3), np.float64(2.5)), k(np.uint8(3), np.int32(2)), k(True, 1)]


def arg_str():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        return a

    return k("3")


def arg_none():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.f32:
        return a

    return k(None)


def arg_missing():
    start()

    @qd.kernel
    def k(a: qd.i32, b: qd.i32) -> qd.i32:
        return a + b

    return k(3)


def arg_toomany():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        return a

    return k(3, 4)


def arg_unknown_kw():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        return a

    return k(3, c=4)


def arg_duplicate():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        return a

    return k(3, a=4)


def arg_missing_annotation():
    start()

    @qd.kernel
    def k(a) -> qd.i32:
        return 1

    return k(3)


def arg_bad_annotation():
    start()

    @qd.kernel
    def k(a: list) -> qd.i32:
        return 1

    return k([3])


def arg_python_annotations():
    start()

    @qd.kernel
    def k(a: int, b: float, c: bool) -> float:
        return a * b + c

    return k(2, 1.5, True)


def varargs():
    start()

    @qd.kernel
    def k(*args) -> qd.i32:
        return 1

    return k(3)


def kwargs():
    start()

    @qd.kernel
    def k(**kw) -> qd.i32:
        return 1

    return k()


def func_varargs():
    start()

    @qd.func
    def f(a, *args):
        return a + args[0]

    @qd.kernel
    def k() -> qd.i32:
        return f(1, 2, 3)

    return k()


def func_kwargs_defaults():
    start()

    @qd.func
    def f(a, b=2, c: qd.i32 = 3):
        return a * 100 + b * 10 + c

    @qd.kernel
    def k() -> qd.i32:
        return f(1) + f(1, c=5) + f(b=4, a=2) + f(1, 2, 3)

    return k()


def func_missing_arg():
    start()

    @qd.func
    def f(a, b):
        return a + b

    @qd.kernel
    def k() -> qd.i32:
        return f(1)

    return k()


def return_missing():
    start()

    @qd.kernel
    def k() -> qd.i32:
        a = 3

    return k()


def return_multi():
    start()

    @qd.kernel
    def k(a: qd.i32) -> tuple[qd.i32, qd.f32]:
        return a, a * 1.5

    r = k(3)
    return [type(r).__name__, r[0], r[1]]


def return_typing_tuple():
    start()

    @qd.kernel
    def k(a: qd.i32) -> Tuple[qd.i32, qd.math.vec2]:
        return a, qd.math.vec2(a, 2)

    r = k(3)
    return [type(r).__name__, r[0], r[1]]


def return_vector_wrong_len():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.types.vector(3, qd.i32):
        return qd.Vector([a, 1])

    return k(3)


def return_convert():
    start()

    @qd.kernel
    def k(a: qd.f32) -> qd.i32:
        return a

    return k(3.7)


def return_in_loop():
    start()

    @qd.kernel
    def k(a: qd.i32) -> qd.i32:
        for i in range(10):
            if i == a:
                return i
        return -1

    return k(3)


def func_return_in_static_if():
    start()

    @qd.func
    def f(a: qd.template()):
        if qd.static(a > 3):
            return 1
        else:
            return 2

    @qd.kernel
    def k() -> qd.i32:
        return f(5) * 10 + f(1)

    return k()


def func_multi_return():
    start()

    @qd.func
    def f(a):
        return a + 1, a * 2, qd.Vector([a, a])

    @qd.kernel
    def k() -> qd.i32:
        x, y, z = f(4)
        t = f(5)
        return x * 1000 + y * 100 + z[0] * 10 + t[1]

    return k()


def vector_arg_scalar():
    start()

    @qd.kernel
    def k(v: qd.math.vec3) -> qd.f32:
        return v.sum()

    return k(1)


def ivec_float():
    start()

    @qd.kernel
    def k(v: qd.types.vector(2, qd.i32)) -> qd.i32:
        return v.sum()

    return k([1.7, 2.7])


def numpy_wrong_dtype():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=qd.f32)):
        for i in a:
            a[i] += 1

    a = np.zeros(8, np.float64)
    k(a)
    return a


def numpy_wrong_ndim():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(ndim=2)):
        for i, j in a:
            a[i, j] += 1

    a = np.zeros(8, np.float32)
    k(a)
    return a


def ndarray_wrong_dtype():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=qd.f32, ndim=1)):
        for i in a:
            a[i] += 1

    a = qd.ndarray(qd.i32, 4)
    k(a)


def ndarray_wrong_ndim():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=qd.f32, ndim=1)):
        for i in a:
            a[i] += 1

    a = qd.ndarray(qd.f32, (4, 4))
    k(a)


def ndarray_list_given():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=qd.f32, ndim=1)):
        for i in a:
            a[i] += 1

    k([1.0, 2.0])


def ndarray_scalar_given():
    start()

    @qd.kernel
    def k(a: qd.types.ndarray(dtype=qd.f32, ndim=1)):
        for i in a:
            a[i] += 1

    k(3)
