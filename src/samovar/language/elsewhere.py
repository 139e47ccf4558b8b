"""Names that other packages of this kind have and `sv` has not, and what is written here instead: for messages alone."""

from __future__ import annotations

_LOOP = "a loop at the top of a kernel is parallel: `for i in range(n)`, `for i, j in a`"
_DECORATOR = "`@sv.kernel` makes what Python calls, `@sv.func` what kernels call"
_VECTORS = "vectors and matrices are in `sv.math` and `sv.types`"

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
