"""`flush_denormals`: native code sets the processor to flush denormals to zero on entry, and restores the state at the end.

Each function that the runtime calls sets the state of its own thread: the entry point, and the functions of tasks.
"""

from __future__ import annotations

from samovar.backends.llvm.module import Module

#: MXCSR: flush denormal results to zero, and treat denormal operands as zero.
_FLUSH = 0x8000 | 0x0040


def around(module: Module, lines: list[str]) -> list[str]:
    """Wrap the lines of a function in code that sets and restores the state."""
    if not module.program.flush_denormals:
        return lines
    for name in ("stmxcsr", "ldmxcsr"):
        module.declarations[f"llvm.x86.sse.{name}"] = f"declare void @llvm.x86.sse.{name}(ptr)"
    return [
        "  %state = alloca i32",
        "  call void @llvm.x86.sse.stmxcsr(ptr %state)",
        "  %state.before = load i32, ptr %state",
        f"  %state.inside = or i32 %state.before, {_FLUSH}",
        "  store i32 %state.inside, ptr %state",
        "  call void @llvm.x86.sse.ldmxcsr(ptr %state)",
        *lines,
        "  store i32 %state.before, ptr %state",
        "  call void @llvm.x86.sse.ldmxcsr(ptr %state)",
    ]
