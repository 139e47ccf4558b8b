"""`flush_denormals`: where native code is entered, the processor is told to take denormals for zero, and back at the end.

Each function that the runtime calls sets the state of its own thread: the entry, and what is called for a part of a task.
"""

from __future__ import annotations

from samovar.backends.llvm.module import Module

#: Results that would be denormal are zero, and operands that are count as zero.
_FLUSH = 0x8000 | 0x0040


def around(module: Module, lines: list[str]) -> list[str]:
    """Lines of a function with the state set before and put back after them."""
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
