"""What compiled code and the runtime agree on: the entry, the functions that the runtime offers, flags of tasks, and the
frame of a task. The other side is `_native/runtime.h`; a test compares them.

The argument block is described in `samovar.ir.layout`.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Name of a kernel's entry point, the same in every image: int32 entry(context, argument block), not 0 if the launch failed.
ENTRY = "samovar_entry"

#: Flags of a task: it prints; its cost is a guess, because it contains loops of unknown length; it runs on one thread; it is
#: not a task, but sections that run side by side. From bit LANES on, 2^n units run side by side in vectors.
SPEAKS = 1
COST_UNKNOWN = 2
SERIAL = 4
SECTIONS = 8
LANES = 4

#: The frame of a task is an array of slots of so many bytes, filled before the task is run. The first is the address of the
#: argument block; then the values follow that serial code hands over, each in the lowest bytes of a slot.
FRAME_SLOT = 8
FRAME_VALUES = 1


@dataclass(frozen=True)
class RuntimeFunction:
    """Types of the result ("" for none) and of the parameters: "pointer", "i32" or "i64". A `rare` one is hardly called. One
    that is `apart` is rare too, and touches no memory of the program: only what its arguments point to, and its own."""

    result: str
    parameters: tuple[str, ...]
    rare: bool = False
    apart: bool = False


def _function(result: str, parameters: str, rare: bool = False, apart: bool = False) -> RuntimeFunction:
    return RuntimeFunction(result, tuple(parameters.split()), rare, apart)


#: What the runtime offers to compiled code. docs/launch.md says what each does.
RUNTIME = {
    "sv_run": _function("i32", "pointer i32 pointer pointer i64 i64"),
    "sv_sections": _function("i32", "pointer i32 pointer pointer i64"),
    "sv_fail": _function("", "pointer i32 pointer", rare=True),
    "sv_poll": _function("i64", "pointer pointer", apart=True),
    "sv_print": _function("", "pointer i32 pointer"),
    "sv_races_begin": _function("", "pointer i32 i32 pointer i32"),
    "sv_races_end": _function("i32", "pointer"),
    "sv_races_iteration": _function("", "pointer pointer"),
    "sv_races_touch": _function("", "pointer i32 i32 pointer i32 i32 pointer i64"),
    "sv_sections_begin": _function("", "pointer i32 i32 i32"),
    "sv_sections_next": _function("", "pointer i32"),
    "sv_sections_end": _function("i32", "pointer"),
    "sv_random": _function("i64", "pointer"),
    "sv_scratch": _function("pointer", "pointer i64"),
    "sv_threads": _function("i64", "pointer"),
}

