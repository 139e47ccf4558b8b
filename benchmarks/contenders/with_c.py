"""The C loops of `benchmarks/c`, compiled by gcc and called through ctypes on the buffers of the problem.

Compiled with -ffast-math and linked without: linking with it would make the whole process flush denormals.
"""

import ctypes
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from problems import Problem
from throughput_kernels import ENTRIES

LABEL = "C"
SOURCES = [Path(__file__).parent.parent / folder for folder in ("c", "throughput_kernels")]
OUTPUT = Path(__file__).parent.parent.parent / "out" / "c"
COMPILE = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-fPIC", "-std=gnu11"]
LINK = ["-shared", "-fopenmp"]
SCALARS: dict[str, Callable[..., object]] = {
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    "int": ctypes.c_int64,
    "int32": ctypes.c_int32,
}

Run = Callable[[], None]


def build() -> ctypes.CDLL:
    """Compile every source (it takes a second, so always) and load the library."""
    compiler = os.environ.get("CC", "gcc")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    objects = []
    for source in sorted(source for folder in SOURCES for source in folder.glob("*.c")):
        target = OUTPUT / (source.stem + ".o")
        subprocess.run([compiler, *COMPILE, "-c", str(source), "-o", str(target)], check=True)
        objects.append(str(target))
    library = OUTPUT / "libloops.so"
    subprocess.run([compiler, *LINK, *objects, "-o", str(library), "-lm"], check=True)
    return ctypes.CDLL(str(library))


LIBRARY = build()


def caller(function: str, *layout: str) -> Callable[[Problem], Run]:
    """A call of `function`; the layout names buffers, and scalars as `kind:name`, in order."""

    def prepare(problem: Problem) -> Run:
        arguments: list[object] = []
        for item in layout:
            kind, _, name = item.rpartition(":")
            if kind:
                arguments.append(SCALARS[kind](problem.scalars[name]))
            else:
                arguments.append(ctypes.c_void_p(problem.arrays[name].ctypes.data))
        entry = LIBRARY[function]
        entry.restype = None
        return lambda: entry(*arguments)

    return prepare


KERNELS: dict[str, Callable[[Problem], Run]] = {
    "axpy": caller("axpy", "float:a", "x", "y", "int:n"),
    "stencil_2d": caller("stencil_2d", "float:center", "float:side", "source", "target", "int:n", "int:n"),
    "stencil_3d": caller("stencil_3d", "float:center", "float:side", "source", "target", "int:n", "int:n", "int:n"),
    "sum": caller("sum", "x", "out", "int:n"),
    "dot": caller("dot", "x", "y", "out", "int:n"),
    "histogram": caller("histogram", "keys", "counts", "int:n"),
    "matmul": caller("matmul", "a", "b", "c", "int:n"),
    "nbody": caller("nbody", "x", "y", "z", "mass", "ax", "ay", "az", "float:softening", "int:n"),
    "mandelbrot": caller("mandelbrot", "iterations", "int:rows", "int:columns", "int32:limit"),
    "black_scholes": caller(
        "black_scholes", "price", "strike", "years", "call", "put", "float:rate", "float:volatility", "int:n"
    ),
    "lcg": caller("lcg", "seeds", "out", "int:n", "int:rounds"),
    **{name: caller(name, *entry.layout.split()) for name, entry in ENTRIES.items()},
}
