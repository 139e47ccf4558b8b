"""Calls of the vector functions of `_native/vector_math` on arrays, by a loop that LLVM compiles: each instruction set is
tried on any processor that has it, whatever kernels would take."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from samovar._native import cpu_features, symbol_address

#: Name → bits of a vector, and the features that a processor needs.
INSTRUCTION_SETS = {"avx2": (256, ("avx2", "fma")), "avx512": (512, ("avx512f", "avx512dq"))}
FUNCTIONS = {"exp": 1, "log": 1, "sin": 1, "cos": 1, "tanh": 1, "pow": 2}


def available() -> list[str]:
    """The instruction sets that this processor has."""
    features = cpu_features()
    return [name for name, (_, needed) in INSTRUCTION_SETS.items() if all(features.get(each) for each in needed)]


def lanes(name: str, dtype: np.dtype) -> int:
    return INSTRUCTION_SETS[name][0] // (8 * dtype.itemsize)


@cache
def _caller(name: str, function: str, dtype: np.dtype) -> Any:
    """A compiled loop: f(x, y, results, vectors)."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    kind = "float" if dtype.itemsize == 4 else "double"
    address = symbol_address(f"sv_{name}_{function}{'f' if dtype.itemsize == 4 else ''}")
    assert address is not None
    vector = f"<{lanes(name, dtype)} x {kind}>"
    arguments = f"{vector} %a, {vector} %b" if FUNCTIONS[function] == 2 else f"{vector} %a"
    text = f"""
        define void @run(ptr %x, ptr %y, ptr %z, i64 %n) #0 {{
        entry:
          br label %loop
        loop:
          %i = phi i64 [ 0, %entry ], [ %next, %loop ]
          %p = getelementptr {vector}, ptr %x, i64 %i
          %q = getelementptr {vector}, ptr %y, i64 %i
          %r = getelementptr {vector}, ptr %z, i64 %i
          %a = load {vector}, ptr %p, align {dtype.itemsize}
          %b = load {vector}, ptr %q, align {dtype.itemsize}
          %c = call {vector} inttoptr (i64 {address} to ptr)({arguments})
          store {vector} %c, ptr %r, align {dtype.itemsize}
          %next = add i64 %i, 1
          %done = icmp eq i64 %next, %n
          br i1 %done, label %end, label %loop
        end:
          ret void
        }}
        attributes #0 = {{ "prefer-vector-width"="512" "min-legal-vector-width"="512" }}
    """
    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten()
    )
    session = llvm.create_lljit_compiler(target)
    library = llvm.JITLibraryBuilder().add_ir(text).export_symbol("run").add_current_process().link(session, function)
    run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(library["run"])
    run.kept = session, library  # type: ignore[attr-defined]
    return run


def called(name: str, function: str, x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """A function of each number, or of each pair."""
    width = lanes(name, x.dtype)
    vectors = -(-x.size // width)
    given = [np.ones(vectors * width, x.dtype) for _ in range(3)]
    for place, array in zip(given, (x, x if y is None else y), strict=False):
        place[: x.size] = array
    if vectors:
        _caller(name, function, x.dtype)(*(array.ctypes.data for array in given), vectors)
    return given[2][: x.size]
