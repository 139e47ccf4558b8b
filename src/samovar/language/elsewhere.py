"""Names that other packages of this kind have and `sv` has not, and what is written here instead: for messages alone."""

from __future__ import annotations

_LOOP = "a loop at the top of a kernel is parallel: `for i in range(n)`, `for i, j in a`"
_DECORATOR = "`@sv.kernel` makes what Python calls, `@sv.func` what kernels call"
_VECTORS = "vectors and matrices are in `sv.math` and `sv.types`"

_PARALLEL = "a loop at the top of a kernel is parallel without it"
_INLINED = "funcs are inlined where it pays"
_CACHED = "compiled kernels are kept for other processes without it, see `sv.init(offline_cache=…)`"
_TYPES = "annotate the parameters: `a: sv.types.NDArray[sv.f32, 1], n: sv.i32`"
_FAST_MATH = "`sv.init(fast_math=True)` is for all kernels, and is the default"
_DEBUG = "`sv.init(debug=True)` is for all kernels"

#: The same for keywords, after the name of the function that does not have them.
KEYWORDS_ELSEWHERE = {
    f"{function} {keyword}": hint
    for keyword, hint in {
        # Numba
        "boundscheck": "`sv.init(check_out_of_bound=True)` is for all kernels",
        "cache": _CACHED,
        "error_model": "a division by zero is checked under `sv.init(debug=True)`",
        "fastmath": _FAST_MATH,
        "forceobj": "what kernels cannot do is done outside of them",
        "inline": _INLINED,
        "locals": "annotate the variable: `x: sv.f64 = 0`",
        "looplift": _PARALLEL,
        "nogil": "a launch that takes long lets other threads run",
        "nopython": "kernels are always compiled as a whole",
        "parallel": _PARALLEL,
        "signature": _TYPES,
        "debug": _DEBUG,
        # Taichi, Quadrants and others
        "fast_math": _FAST_MATH,
        "arch": "`sv.init(arch=sv.cpu)` is for all kernels",
        "dynamic": "each shape and type is found out at the launch",
        "enable_backward": "there are no derivatives in this version",
        "num_threads": "`sv.init(num_threads=n)` is for all kernels",
        "opt_level": "`sv.init(opt_level=n)` is for all kernels",
    }.items()
    for function in ("kernel", "func", "real_func")
} | {
    "dataclass frozen": "structs are values: a kernel that changes one changes its own",
    "dataclass slots": "the members of a struct are laid out in memory one after the other",
    "dataclass order": "compare the members",
    "ndarray order": "arrays are in C order; `sv.field(…, order=…)` chooses another",
    "zeros like": "`sv.zeros_like(a)`",
}

ELSEWHERE = {
    # Numba
    "guvectorize": "write a kernel with a loop over the array",
    "jit": _DECORATOR,
    "jitclass": "`@sv.data_oriented` marks classes whose methods are kernels",
    "njit": _DECORATOR,
    "prange": _LOOP,
    "set_num_threads": "`sv.init(num_threads=n)`",
    "stencil": "write a kernel with a loop over the array",
    "vectorize": "write a kernel with a loop over the array",
    # Warp
    "array2d": "an annotation is `sv.types.NDArray[sv.f32, 2]`; `sv.array` makes an array",
    "array3d": "an annotation is `sv.types.NDArray[sv.f32, 3]`; `sv.array` makes an array",
    "clamp": "it is `sv.math.clamp`",
    "constant": "a plain global is a constant of the kernels that use it",
    "copy": "`a.copy()`, `a.copy_from(b)`",
    "cross": "it is `sv.math.cross`",
    "dot": "it is `sv.math.dot`",
    "launch": "call the kernel: `kernel(a, b)`",
    "length": "it is `sv.math.length`",
    "lerp": "it is `sv.math.mix`",
    "mat33": _VECTORS,
    "normalize": "it is `sv.math.normalize`",
    "randf": "it is `sv.random()`",
    "struct": "`@sv.dataclass` makes a type of structs",
    "synchronize": "a launch returns when it is done",
    "tid": _LOOP,
    "vec2": _VECTORS,
    "vec3": _VECTORS,
    "vec4": _VECTORS,
    "where": "it is `sv.select`, or `a if c else b`",
    # NumPy and torch
    "asarray": "kernels take arrays of NumPy as they are; `sv.array(x)` makes one of ours",
    "concatenate": "NumPy does it: `np.concatenate`",
    "empty": "it is `sv.ndarray(dtype, shape)`",
    "linspace": "NumPy does it, and kernels take its arrays",
    "ones_like": "`sv.full(a.shape, 1, a.dtype)`",
    "pi": "it is `sv.math.pi`",
    "rand": "it is `sv.random()` in kernels; NumPy fills arrays",
    "sum": "`a.sum()` outside of kernels; inside, a loop with `+=`",
    # Taichi, and CUDA as Numba has it
    "block_idx": _LOOP,
    "grid": _LOOP,
    "thread_idx": _LOOP,
    "threadIdx": _LOOP,
    "types.quant": "there are no quantised types here: use i8, i16 or f16, or pack bits with shifts",
    "GUI": "there are no windows to draw in: `a.to_numpy()` gives the picture to another package",
}
