"""What the functions of one LLVM module share: declarations, helper functions, sites, names and options."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from samovar.artifact import Site
from samovar.ir import RUNTIME, Function, Kernel, Operation, Value, bodies, use_counts, users

#: Allowed on every float operation with `fast_math`. Not nnan and ninf: NaN and infinity keep their meaning.
FAST = "reassoc nsz arcp contract afn "

_UNSAFE = re.compile(r"[^A-Za-z0-9_.]")

#: Types in which the runtime's functions are described.
_KINDS = {"": "void", "pointer": "ptr", "i32": "i32", "i64": "i64"}

_ATTRIBUTES = """
attributes #0 = { nounwind nonlazybind }
attributes #1 = { nounwind nonlazybind cold }
attributes #2 = { nounwind nonlazybind willreturn memory(none) }
attributes #3 = { nounwind nonlazybind willreturn memory(none) "samovar-vector" }
attributes #4 = { nounwind "no-trapping-math"="true" "reciprocal-estimates"="%s" }
attributes #5 = { nounwind noinline "no-trapping-math"="true" "reciprocal-estimates"="%s" }
attributes #6 = { nounwind noinline optnone }
attributes #7 = { nounwind nonlazybind cold memory(argmem: readwrite, inaccessiblemem: readwrite) }
!0 = !{!"branch_weights", i32 1, i32 1048575}
!1 = !{i64 0, i64 2147483648}
!2 = !{i64 0, i64 -9223372036854775808}
!3 = !{i8 0, i8 2}
!4 = !{!"llvm.loop.unroll.disable"}
!5 = !{!"llvm.loop.vectorize.enable", i1 false}
!6 = !{!"samovar.interleave", i32 2}
!7 = !{!"samovar.elements", i32 32}
!8 = !{!"samovar.elements", i32 64}
!9 = !{!"llvm.loop.unroll.count", i32 16}
"""
_FIRST_LOOP = 10
#: Attribute groups: functions of ours, ours that must stay calls, ours that gain nothing from optimisation; `UNLIKELY` is
#: for branches whose first target is cold.
PLAIN = "#4"
OUTLINED = "#5"
AS_WRITTEN = "#6"
UNLIKELY = ", !prof !0"
#: Ranges of a loaded extent (an array that is not wide, a wide one) and of a u1 in memory.
EXTENT = ", !range !1"
WIDE_EXTENT = ", !range !2"
BOOLEAN = ", !range !3"


@dataclass(frozen=True)
class Callee:
    """A rendered function: its name, whether it can fail, and whether it needs the context (to fail or to print)."""

    name: str
    result: str
    fails: bool
    context: bool


@dataclass(eq=False)
class Module:
    """Gathers the parts of the text; `flags` are the fast-math flags of every float operation, or nothing.

    `estimate_roots` makes the quotient of 1 and the root of a vector of f32 the processor's estimate: only for modules
    where every root is one of those that correct it (see `rsqrt` in `samovar.backends.llvm.mathematics`).
    """

    kernel: Kernel
    fast_math: bool
    estimate_roots: bool = False
    flags: str = field(init=False)
    declarations: dict[str, str] = field(default_factory=dict)
    definitions: list[str] = field(default_factory=list)
    sites: dict[Site, int] = field(default_factory=dict)
    #: Functions that may run long.
    looping: set[Function] = field(default_factory=set)
    callees: dict[Function, Callee] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    loops: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.flags = FAST if self.fast_math else ""

    @cached_property
    def uses(self) -> Counter[Value]:
        """How often each value of the kernel is used."""
        return use_counts(bodies(self.kernel))

    @cached_property
    def users(self) -> dict[Value, list[Operation]]:
        """The operations that use each value of the kernel."""
        return users(bodies(self.kernel))

    def declare(self, name: str, line: str) -> None:
        """Declare an external function or an intrinsic, once."""
        self.declarations.setdefault(name, line)

    def runtime(self, name: str) -> None:
        """Declare an entry point of the runtime."""
        if name not in self.declarations:
            function = RUNTIME[name]
            parameters = ", ".join(_KINDS[kind] for kind in function.parameters)
            result, attributes = _KINDS[function.result], "#7" if function.apart else "#1" if function.rare else "#0"
            self.declarations[name] = f"declare {result} @{name}({parameters}) {attributes}"

    def helper(self, name: str, text: Callable[[], str]) -> None:
        """Define an internal function of ours, once."""
        if name not in self.names:
            self.names.add(name)
            self.definitions.append(text())

    def site(self, site: Site) -> int:
        """The number by which the runtime knows a site."""
        return self.sites.setdefault(site, len(self.sites))

    def function_name(self, wanted: str) -> str:
        """A name for a function: letters, digits, `_` and `.`, different from every other of the module."""
        base = name = _UNSAFE.sub("_", wanted)
        count = 1
        while name in self.names:
            count += 1
            name = f"{base}.{count}"
        self.names.add(name)
        return name

    def small_loop(self, vectorise: bool) -> str:
        """A mark for the end of a loop that is not worth unrolling: code that runs briefly should not take long to make."""
        return self._mark("!4" if vectorise else "!4, !5")

    def plain_loop(self, bits: int) -> str:
        """A mark for the end of a plain loop (see `samovar.passes.plain_loops`) over elements of 32 or 64 bits.

        The step that knows the target turns it into a length of vectors (`samovar.backends.llvm.vectors`). Vectors two at a
        time are enough: whether to unroll them further is a question that takes LLVM longer than it is worth.
        """
        return self._mark("!4, !6, !7" if bits == 32 else "!4, !6, !8")

    def composed_loop(self) -> str:
        """A mark for the end of a loop whose steps LLVM can put together: sixteen of them are as much work as one."""
        return self._mark("!9")

    def _mark(self, properties: str) -> str:
        number = _FIRST_LOOP + len(self.loops)
        self.loops.append(f"!{number} = distinct !{{!{number}, {properties}}}")
        return f", !llvm.loop !{number}"

    def text(self) -> str:
        """The whole module."""
        estimates = "!sqrtf,vec-sqrtf:0" if self.estimate_roots else "none"
        attributes = _ATTRIBUTES % (estimates, estimates)
        return "\n".join([*self.declarations.values(), "", *self.definitions, attributes, *self.loops, ""])
