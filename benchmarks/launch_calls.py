"""The calls that `launch.py` times: for each library, the same four kernels over 16 elements.

Each function takes NumPy arrays and returns cases; a case is a Python statement with the names it uses. Every statement
adds one to each element of `a`, so that a run can be seen to work.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ONE_ARRAY = "1 array"
SCALAR = "array and scalar"
SCALARS = "array and 3 scalars"
KEYWORDS = "by keyword"
TEN_ARRAYS = "10 arrays"

POSITIONAL = {
    ONE_ARRAY: "one(a)",
    SCALAR: "scalar(a, 1.0)",
    SCALARS: "scalars(a, 0.5, 0.25, 2)",
    KEYWORDS: "scalar(a=a, s=1.0)",
    TEN_ARRAYS: "ten(a, b0, b1, b2, b3, b4, b5, b6, b7, b8)",
}


#: Views of a part of an array, beside the array itself.
VIEWS = {
    ONE_ARRAY: "one(a)",
    "1 view": "view(v)",
    "1 view, cut in the call": "view(a[:16])",
    "1 view, of a dataclass": "member(s)",
}


@dataclass(frozen=True)
class Statement:
    """What is timed: a statement and the names in it."""

    code: str
    names: dict[str, Any]


Cases = dict[str, Statement]


def named(arrays: list[Any]) -> dict[str, Any]:
    return {"a": arrays[0], **{f"b{k}": array for k, array in enumerate(arrays[1:])}}


def numba_cases(arrays: list[np.ndarray]) -> Cases:
    from numba import njit

    @njit
    def one(a):
        for i in range(a.shape[0]):
            a[i] = a[i] + np.float32(1)

    @njit
    def scalar(a, s):
        for i in range(a.shape[0]):
            a[i] = a[i] + s

    @njit
    def scalars(a, s, t, n):
        for i in range(a.shape[0]):
            a[i] = a[i] + s + t * n

    @njit
    def ten(a, b0, b1, b2, b3, b4, b5, b6, b7, b8):
        for i in range(a.shape[0]):
            a[i] = a[i] + b0[i] + b1[i] + b2[i] + b3[i] + b4[i] + b5[i] + b6[i] + b7[i] + b8[i]

    names = {"one": one, "scalar": scalar, "scalars": scalars, "ten": ten, **named(arrays)}
    return {case: Statement(code, names) for case, code in POSITIONAL.items()}


def warp_cases(arrays: list[np.ndarray]) -> Cases:
    import warp as wp

    wp.config.quiet = True
    wp.init()
    wp.set_module_options({"enable_backward": False})
    vector = wp.array(dtype=wp.float32)

    @wp.kernel
    def one(a: vector):
        i = wp.tid()
        a[i] = a[i] + 1.0

    @wp.kernel
    def scalar(a: vector, s: wp.float32):
        i = wp.tid()
        a[i] = a[i] + s

    @wp.kernel
    def scalars(a: vector, s: wp.float32, t: wp.float32, n: wp.int32):
        i = wp.tid()
        a[i] = a[i] + s + t * wp.float32(n)

    @wp.kernel
    def ten(
        a: vector,
        b0: vector,
        b1: vector,
        b2: vector,
        b3: vector,
        b4: vector,
        b5: vector,
        b6: vector,
        b7: vector,
        b8: vector,
    ):
        i = wp.tid()
        a[i] = a[i] + b0[i] + b1[i] + b2[i] + b3[i] + b4[i] + b5[i] + b6[i] + b7[i] + b8[i]

    wrapped = [wp.array(array, dtype=wp.float32, device="cpu", copy=False) for array in arrays]
    names = {
        "wp": wp,
        "one": one,
        "scalar": scalar,
        "scalars": scalars,
        "ten": ten,
        "size": len(arrays[0]),
        **named(wrapped),
    }
    codes = {
        ONE_ARRAY: "wp.launch(one, size, [a])",
        SCALAR: "wp.launch(scalar, size, [a, 1.0])",
        SCALARS: "wp.launch(scalars, size, [a, 0.5, 0.25, 2])",
        TEN_ARRAYS: "wp.launch(ten, size, [a, b0, b1, b2, b3, b4, b5, b6, b7, b8])",
    }
    return {case: Statement(code, names) for case, code in codes.items()}


def taichi_language_cases(ti: Any, vector: Any, arrays: list[Any]) -> Cases:
    """Taichi, Quadrants and Samovar have one language, so one text serves the three."""

    @ti.kernel
    def one(a: vector):
        for i in range(a.shape[0]):
            a[i] = a[i] + 1.0

    @ti.kernel
    def scalar(a: vector, s: ti.f32):
        for i in range(a.shape[0]):
            a[i] = a[i] + s

    @ti.kernel
    def scalars(a: vector, s: ti.f32, t: ti.f32, n: ti.i32):
        for i in range(a.shape[0]):
            a[i] = a[i] + s + t * n

    @ti.kernel
    def ten(
        a: vector,
        b0: vector,
        b1: vector,
        b2: vector,
        b3: vector,
        b4: vector,
        b5: vector,
        b6: vector,
        b7: vector,
        b8: vector,
    ):
        for i in range(a.shape[0]):
            a[i] = a[i] + b0[i] + b1[i] + b2[i] + b3[i] + b4[i] + b5[i] + b6[i] + b7[i] + b8[i]

    names = {"one": one, "scalar": scalar, "scalars": scalars, "ten": ten, **named(arrays)}
    return {case: Statement(code, names) for case, code in POSITIONAL.items()}


def view_cases(ti: Any, vector: Any, view_type: Any, arrays: list[Any]) -> Cases:
    """The same for views: of the libraries above, two have them."""

    @ti.kernel
    def one(a: vector):
        for i in range(a.shape[0]):
            a[i] = a[i] + 1.0

    @ti.kernel
    def view(v: view_type):
        for i in range(v.size):
            v[i] = v[i] + 1.0

    @dataclass(frozen=True)
    class Holder:
        v: view_type

    @ti.kernel
    def member(s: Holder):
        for i in range(s.v.size):
            s.v[i] = s.v[i] + 1.0

    array = arrays[0]
    part = array[:]
    names = {"one": one, "view": view, "member": member, "a": array, "v": part, "s": Holder(part)}
    return {case: Statement(code, names) for case, code in VIEWS.items()}


def samovar_view_cases(arrays: list[np.ndarray]) -> Cases:
    import samovar as sv

    return view_cases(sv, sv.types.NDArray[sv.f32, 1], sv.BufferView[sv.f32], own_arrays(sv, arrays))


def quadrants_view_cases(arrays: list[np.ndarray]) -> Cases:
    import quadrants as qd

    qd.init(arch=qd.cpu, offline_cache=False, log_level=qd.ERROR)
    cases = view_cases(qd, qd.types.ndarray(dtype=qd.f32, ndim=1), qd.BufferView[qd.f32], own_arrays(qd, arrays))
    del cases["1 view, of a dataclass"]  # which it does not have
    return cases


def own_arrays(ti: Any, arrays: list[np.ndarray]) -> list[Any]:
    """The arrays of the library itself, with the same contents: what it launches fastest."""
    own = [ti.ndarray(ti.f32, array.shape) for array in arrays]
    for array, values in zip(own, arrays, strict=True):
        array.from_numpy(values)
    return own


def quadrants_cases(arrays: list[np.ndarray]) -> Cases:
    import quadrants as qd

    qd.init(arch=qd.cpu, offline_cache=False, log_level=qd.ERROR)
    return taichi_language_cases(qd, qd.types.ndarray(dtype=qd.f32, ndim=1), own_arrays(qd, arrays))


def taichi_cases(arrays: list[np.ndarray]) -> Cases:
    import taichi as ti

    ti.init(arch=ti.cpu, offline_cache=False, log_level=ti.ERROR)
    return taichi_language_cases(ti, ti.types.ndarray(dtype=ti.f32, ndim=1), own_arrays(ti, arrays))


def samovar_cases(arrays: list[np.ndarray]) -> Cases:
    import samovar as sv

    return taichi_language_cases(sv, sv.types.NDArray[sv.f32, 1], own_arrays(sv, arrays))


def samovar_numpy_cases(arrays: list[np.ndarray]) -> Cases:
    import samovar as sv

    return taichi_language_cases(sv, sv.types.NDArray[sv.f32, 1], arrays)


#: Those that have views.
WITH_VIEWS: dict[str, Callable[[list[np.ndarray]], Cases]] = {
    "Samovar, own arrays": samovar_view_cases,
    "Quadrants": quadrants_view_cases,
}

LIBRARIES: dict[str, Callable[[list[np.ndarray]], Cases]] = {
    "Samovar, own arrays": samovar_cases,
    "Samovar, NumPy arrays": samovar_numpy_cases,
    "Numba": numba_cases,
    "Warp": warp_cases,
    "Quadrants": quadrants_cases,
    "Taichi": taichi_cases,
}
