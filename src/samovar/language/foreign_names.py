"""Names in other frameworks that `sv` does not have, and what to write instead; used in messages only."""

from __future__ import annotations

_LOOP = "the outermost loop of a kernel is parallel: `for i in range(n)`, `for i, j in a`"
_DECORATOR = "`@sv.kernel` is for functions called from Python, `@sv.func` for those called from kernels"
_VECTORS = "vectors and matrices are in `sv.math` and `sv.types`"

_PARALLEL = "the outermost loop of a kernel is parallel by default"
_INLINED = "funcs are inlined where it is worthwhile"
_CACHED = "compiled kernels are cached on disk by default; `sv.init(offline_cache=False)` switches that off"
_TYPES = "the arguments decide the types; or annotate the parameters: `a: sv.Array[sv.f32, 1], n: sv.i32`"
_FAST_MATH = "fast math is the default; `sv.init(fast_math=False)` switches it off for all kernels"
_DEBUG = "`sv.init(debug=True)` applies to all kernels"

#: The same for keywords, after the name of the function that lacks them.
KEYWORDS_ELSEWHERE = {
    f"{function} {keyword}": hint
    for keyword, hint in {
        # Numba
        "boundscheck": "`sv.init(check_out_of_bound=True)` applies to all kernels",
        "cache": _CACHED,
        "error_model": "`sv.init(debug=True)` checks for division by zero",
        "fastmath": _FAST_MATH,
        "forceobj": "there is no object mode: move unsupported code out of the kernel",
        "inline": _INLINED,
        "locals": "annotate the variable: `x: sv.f64 = 0`",
        "looplift": _PARALLEL,
        "nogil": "long launches release the GIL",
        "nopython": "kernels are always fully compiled",
        "parallel": "it is True or False",
        "signature": _TYPES,
        "debug": _DEBUG,
        # Taichi, Quadrants and others
        "fast_math": _FAST_MATH,
        "arch": "`sv.init(arch=sv.cpu)` applies to all kernels",
        "dynamic": "shapes and types are determined at each launch",
        "enable_backward": "`kernel.grad` is compiled when it is called",
        "num_threads": "`sv.init(num_threads=n)` applies to all kernels",
        "opt_level": "`sv.init(opt_level=n)` applies to all kernels",
    }.items()
    for function in ("kernel", "func", "real_func")
} | {
    "dataclass frozen": "structs are values: a kernel changes its own copy",
    "dataclass slots": "the members of a struct are contiguous in memory",
    "dataclass order": "compare the members instead",
    "ndarray order": "arrays are in C order; use `sv.field(…, order=…)` for another",
    "zeros like": "`sv.zeros_like(a)`",
}

ELSEWHERE = {
    # Numba
    "jit": _DECORATOR,
    "jitclass": "`@sv.data_oriented` is for classes whose methods are kernels",
    "njit": _DECORATOR,
    "set_num_threads": "`sv.init(num_threads=n)`",
    "stencil": "write a kernel with a loop over the array",
    # Warp
    "array2d": "annotate with `sv.types.NDArray[sv.f32, 2]`; create arrays with `sv.array`",
    "array3d": "annotate with `sv.types.NDArray[sv.f32, 3]`; create arrays with `sv.array`",
    "clamp": "use `sv.math.clamp`",
    "constant": "plain globals are compile-time constants in kernels",
    "copy": "`a.copy()`, `a.copy_from(b)`",
    "cross": "use `sv.math.cross`",
    "dot": "use `sv.math.dot`",
    "launch": "call the kernel: `kernel(a, b)`",
    "lerp": "use `sv.math.mix`",
    "mat33": _VECTORS,
    "normalize": "use `sv.math.normalize`",
    "randf": "use `sv.random()`",
    "struct": "use `@sv.dataclass`",
    "synchronize": "launches are synchronous",
    "tid": _LOOP,
    "vec2": _VECTORS,
    "vec3": _VECTORS,
    "vec4": _VECTORS,
    "where": "use `sv.select`, or `a if c else b`",
    # NumPy and torch
    "asarray": "kernels accept NumPy arrays directly; `sv.array(x)` makes an `sv.ndarray`",
    "concatenate": "use `np.concatenate`",
    "empty": "use `sv.ndarray(dtype, shape)`",
    "linspace": "use `np.linspace`; kernels accept NumPy arrays",
    "ones_like": "`sv.full(a.shape, 1, a.dtype)`",
    "pi": "use `sv.math.pi`",
    "rand": "use `sv.random()` in kernels, NumPy outside",
    "sum": "use `a.sum()` outside kernels, a loop with `+=` inside",
    # Taichi, and CUDA as Numba has it
    "block_idx": _LOOP,
    "grid": _LOOP,
    "thread_idx": _LOOP,
    "threadIdx": _LOOP,
    "types.quant": "Samovar has no quantized types: use i8, i16 or f16, or pack bits with shifts",
    "GUI": "use `sv.ui.GUI`",
}
