"""The interface of compiled code and the runtime: the entry point, the functions that the runtime offers, the flags of
tasks, and the frame of a task. The C side is `_native/launch/runtime.h`; a test compares the two.

The argument block is described in `samovar.ir.layout`.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Name of a kernel's entry point, the same in every image: int32 entry(context, argument block), not 0 if the launch failed.
ENTRY = "samovar_entry"

#: Flags of a task: it prints; its cost is a guess, because it contains loops of unknown length; it runs on one thread; it is
#: not a task but sections that run in parallel. From bit LANES on, 2^n units run in SIMD lanes.
SPEAKS = 1
COST_UNKNOWN = 2
SERIAL = 4
SECTIONS = 8
LANES = 4

#: The frame of a task is an array of slots of so many bytes, filled before the task runs. The first is the address of the
#: argument block; the captured values follow, each in the lowest bytes of a slot.
FRAME_SLOT = 8
FRAME_VALUES = 1


@dataclass(frozen=True)
class RuntimeFunction:
    """Types of the result ("" for none) and of the parameters: "pointer", "i32" or "i64". A `rare` function is seldom
    called. An `isolated` one is rare too, and accesses no memory of the program: only what its arguments point to, and its
    own."""

    result: str
    parameters: tuple[str, ...]
    rare: bool = False
    isolated: bool = False


def _function(result: str, parameters: str, rare: bool = False, isolated: bool = False) -> RuntimeFunction:
    return RuntimeFunction(result, tuple(parameters.split()), rare, isolated)


#: The functions that the runtime offers to compiled code, described in docs/launch.md.
RUNTIME = {
    "sv_run": _function("i32", "pointer i32 pointer pointer i64 i64"),
    "sv_sections": _function("i32", "pointer i32 pointer pointer i64"),
    "sv_clock": _function("i64", "pointer"),
    "sv_fail": _function("", "pointer i32 pointer", rare=True),
    "sv_poll": _function("i64", "pointer pointer", isolated=True),
    "sv_print": _function("", "pointer i32 pointer"),
    "sv_pop": _function("i64", "pointer"),
    "sv_push": _function("", "pointer i64"),
    "sv_races_begin": _function("", "pointer i32 i32 pointer i32"),
    "sv_races_end": _function("i32", "pointer"),
    "sv_races_iteration": _function("", "pointer pointer"),
    "sv_races_touch": _function("", "pointer i32 i32 pointer i32 i32 pointer i64"),
    "sv_sections_begin": _function("", "pointer i32 i32 i32"),
    "sv_sections_next": _function("", "pointer i32"),
    "sv_sections_end": _function("i32", "pointer"),
    "sv_random": _function("i64", "pointer"),
    "sv_scratch": _function("pointer", "pointer i64"),
    "sv_sparse_activate": _function("", "pointer i64", isolated=True),
    "sv_sparse_deactivate": _function("", "pointer i64", rare=True),
    "sv_sparse_list": _function("i64", "pointer", rare=True),
    "sv_sparse_reach": _function("", "pointer i64 i64", isolated=True),
    "sv_thread": _function("i64", "pointer"),
    "sv_threads": _function("i64", "pointer"),
}

