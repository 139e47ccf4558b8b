"""Writes the programs that `startup.py` runs: 100 small kernels that all differ, each called once. Each library keeps what
it compiles as well as it can, so that the same program can be run again.

The bodies are the same for every library; what differs is how a kernel is declared and called.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

SIZE = 64

# The four shapes that small kernels have: a map, a stencil, a branch, a short loop. {k} makes each of them distinct.
BODIES = (
    ("y[i] = x[i] * {k}.5 + {k}.0",),
    ("y[i] = x[i] + {k}.25 * (x[i + 1] - x[i + 2])",),
    ("if x[i] > {k}.5:", "    y[i] = x[i] * {k}.0", "else:", "    y[i] = x[i] + {k}.0"),
    ("value = x[i]", "for _ in range(4):", "    value = value * 0.5 + {k}.0", "y[i] = value"),
)


@dataclass(frozen=True)
class Dialect:
    """How one library declares a kernel over x and y, how it makes arrays and how it is called."""

    begin: str
    declare: str
    loop: str
    arrays: str
    call: str
    ahead_of: str = ""  # a statement before the first call, where {all} stands for `ahead` of every kernel
    ahead: str = ""


def taichi_dialect(begin: str, declare: str = "@ti.kernel") -> Dialect:
    return Dialect(
        begin,
        f"{declare}\ndef kernel_{{k}}(x: vector, y: vector):",
        "for i in range(1, x.shape[0] - 2):",
        f"x, y = np.arange({SIZE}, dtype=np.float32), np.zeros({SIZE}, dtype=np.float32)\n",
        "kernel_{k}(x, y)",
    )


SAMOVAR = Dialect(
    "import samovar as sv\nvector = sv.types.NDArray[sv.f32, 1]\n",
    "@sv.kernel\ndef kernel_{k}(x: vector, y: vector):",
    "for i in range(1, x.shape[0] - 2):",
    f"x, y = sv.ndarray(sv.f32, {SIZE}), sv.ndarray(sv.f32, {SIZE})\nfor i in range({SIZE}):\n    x[i] = i\n",
    "kernel_{k}(x, y)",
)

DIALECTS: dict[str, Dialect] = {
    "Samovar": SAMOVAR,
    "Samovar, precompile": replace(SAMOVAR, ahead="(kernel_{k}, x, y)", ahead_of="sv.precompile([{all}])\n"),
    "Numba": Dialect(
        "import numpy as np\nfrom numba import njit\n",
        "@njit(cache=True)\ndef kernel_{k}(x, y):",
        "for i in range(1, x.shape[0] - 2):",
        f"x, y = np.arange({SIZE}, dtype=np.float32), np.zeros({SIZE}, dtype=np.float32)\n",
        "kernel_{k}(x, y)",
    ),
    "Warp": Dialect(
        "import numpy as np\nimport warp as wp\nwp.config.quiet = True\nwp.init()\n"
        "wp.set_module_options({'enable_backward': False})\nvector = wp.array(dtype=wp.float32)\n",
        "@wp.kernel\ndef kernel_{k}(x: vector, y: vector):",
        "i = wp.tid() + 1\n    if i < x.shape[0] - 2:",
        f"x, y = np.arange({SIZE}, dtype=np.float32), np.zeros({SIZE}, dtype=np.float32)\n"
        "wx, wy = (wp.array(v, dtype=wp.float32, device='cpu', copy=False) for v in (x, y))\n",
        f"wp.launch(kernel_{{k}}, {SIZE - 3}, [wx, wy], device='cpu')",
    ),
    "Quadrants": taichi_dialect(
        "import numpy as np\nimport quadrants as ti\nti.init(arch=ti.cpu, log_level=ti.ERROR)\n"
        "vector = ti.types.ndarray(dtype=ti.f32, ndim=1)\n",
        "@ti.kernel(fastcache=True)",
    ),
    "Taichi": taichi_dialect(
        "import numpy as np\nimport taichi as ti\nti.init(arch=ti.cpu, log_level=ti.ERROR)\n"
        "vector = ti.types.ndarray(dtype=ti.f32, ndim=1)\n"
    ),
}


def program(library: str, kernels: int) -> str:
    """The text of a program that prints its checksum and the seconds from the first line to the last result; then those
    until the library was imported, the kernels defined, the first of them called, and all of them."""
    dialect = DIALECTS[library]
    parts = ["import time\nbegin = time.perf_counter()\n", dialect.begin, "imported = time.perf_counter()\n"]
    for k in range(1, kernels + 1):
        body = "".join(f"        {line.format(k=k)}\n" for line in BODIES[k % len(BODIES)])
        parts.append(f"{dialect.declare.format(k=k)}\n    {dialect.loop}\n{body}")
    parts.append(f"{dialect.arrays}checksum = 0.0\ndefined = time.perf_counter()\n")
    parts.append(dialect.ahead_of.format(all=", ".join(dialect.ahead.format(k=k) for k in range(1, kernels + 1))))
    for k in range(1, kernels + 1):
        parts.append(f"{dialect.call.format(k=k)}\nchecksum += float(y[5])\n")
        if k == 1:
            parts.append("first = time.perf_counter()\n")
    parts.append(
        "end = time.perf_counter()\n"
        'print("measured", end - begin, checksum)\n'
        'print("marks", imported - begin, defined - begin, first - begin, end - begin)\n'
    )
    return "\n".join(parts)


def expected_checksum(kernels: int) -> float:
    """What every program must print."""
    x = 5.0
    branches: tuple[Callable[[float], float], ...] = (
        lambda k: x * (k + 0.5) + k,
        lambda k: x + (k + 0.25) * -1.0,
        lambda k: x * k if x > k + 0.5 else x + k,
        lambda k: (((x * 0.5 + k) * 0.5 + k) * 0.5 + k) * 0.5 + k,
    )
    return sum(branches[k % len(BODIES)](float(k)) for k in range(1, kernels + 1))
