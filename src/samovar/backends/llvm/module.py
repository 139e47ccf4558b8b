"""What the functions of one LLVM module share: declarations, helper functions, sites, names and options.

A kernel is one module, or where parts of it are compiled apart, one for each unit: the entry with what belongs to it, and
each separate function and task. A unit knows of another one only how it is called, so its text does not depend on what is
in the others, nor on the kernel that they are parts of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from samovar.artifact import Site
from samovar.backends.llvm.array_tables import Tables
from samovar.backends.llvm.forms import CHOICES_STAY, first_line
from samovar.backends.llvm.refining import WITHOUT
from samovar.backends.protocol import Unit
from samovar.ir import RUNTIME, Array, Function, Kernel, Operation, Value, bodies, use_counts, users, walk

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
attributes #4 = { nounwind "no-trapping-math"="true" "reciprocal-estimates"="%s"%s }
attributes #5 = { nounwind noinline "no-trapping-math"="true" "reciprocal-estimates"="%s"%s%s }
attributes #6 = { nounwind noinline optnone "reciprocal-estimates"="%s"%s }
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
!10 = !{!"llvm.loop.interleave.count", i32 1}
!11 = !{}
"""
#: What LLVM may assume of denormals where the processor takes them for zero.
_FLUSHED = ' "denormal-fp-math"="preserve-sign,preserve-sign"'
_FIRST_LOOP = 12
#: Attribute groups: functions of ours, ours that must stay calls, ours that gain nothing from optimisation; `UNLIKELY` is
#: for branches whose first target is cold.
PLAIN = "#4"
OUTLINED = "#5"
AS_WRITTEN = "#6"
UNLIKELY = ", !prof !0"
#: So many loops inside of iterations may be several vectors by turns, and so many may be vectors, in one text.
LOOPS_BY_TURNS, LOOPS_IN_VECTORS = 6, 16

#: Ranges of a loaded extent (an array that is not wide, a wide one) and of a u1 in memory.
EXTENT = ", !range !1"
WIDE_EXTENT = ", !range !2"
BOOLEAN = ", !range !3"
#: A load that gives the same wherever it stands.
INVARIANT = ", !invariant.load !11"


#: The symbol that a unit defines, those of the units that it uses (with a number each), and what the linker puts the number
#: of a unit's first site in the place of.
UNIT, USED_UNIT, FIRST_SITE = "samovar_unit", "samovar_unit.", "samovar_first_site"


@dataclass(frozen=True)
class Callee:
    """A rendered function: its name, whether it can fail, and whether it needs the context (to fail or to print).

    `written` are the numbers of the parameters that are arrays it writes to, `lengths` of those whose length it takes with
    them, `declared` its parameters as others declare
    them, and `facts` what they may know of it beside.
    """

    name: str
    result: str
    fails: bool
    context: bool
    written: frozenset[int] = frozenset()
    lengths: frozenset[int] = frozenset()
    declared: str = ""
    facts: str = ""


@dataclass(eq=False)
class Program:
    """The units of a kernel, and where its separate functions are among them. The entry is the first unit."""

    kernel: Kernel
    fast_math: bool
    opt_level: int
    render_function: Callable[[Module, Function], Callee]
    has_units: bool = False
    flush_denormals: bool = False
    without: str = ""
    units: list[Unit] = field(default_factory=list)
    functions: dict[Function, tuple[int, Callee]] = field(default_factory=dict)
    _roots_of: dict[Function, set[str]] = field(default_factory=dict)
    tables: Tables = field(default_factory=Tables)
    #: Functions that may run long.
    looping: set[Function] = field(default_factory=set)

    @cached_property
    def uses(self) -> Counter[Value]:
        """How often each value of the kernel is used."""
        return use_counts(bodies(self.kernel))

    @cached_property
    def users(self) -> dict[Value, list[Operation]]:
        """The operations that use each value of the kernel."""
        return users(bodies(self.kernel))

    def module(self, operations: Iterable[Operation], is_entry: bool = False) -> Module:
        """A module for another unit, which has these operations in it."""
        return Module(self, self.fast_math and self._roots_are_reciprocal(operations), is_entry)

    def _roots_are_reciprocal(self, operations: Iterable[Operation]) -> bool:
        codes = self._roots(operations)
        # LLVM makes roots of some powers.
        return "rsqrt" in codes and not codes & {"sqrt", "pow"}

    def _roots(self, operations: Iterable[Operation]) -> set[str]:
        """The operations that are computed by roots, also in the functions that go into the same unit."""
        found: set[str] = set()
        for operation in operations:
            if operation.code in ("rsqrt", "sqrt", "pow"):
                found.add(operation.code)
            elif operation.code == "call" and operation.payload not in self.functions:
                known = self._roots_of.get(operation.payload)
                if known is None:
                    known = self._roots_of[operation.payload] = self._roots(walk(operation.payload.body))
                found |= known
        return found

    def add(self, name: str, module: Module, only_plain_loops: bool = False, worth: int = 3) -> int:
        """A module is complete: gives the number of its unit."""
        text = first_line(self.opt_level, only_plain_loops, worth) + module.text()
        unit = Unit(name, text, tuple(module.sites), tuple(module.used_units))
        self.units.append(unit)
        return len(self.units)


@dataclass(eq=False)
class Module:
    """Gathers the parts of the text; `flags` are the fast-math flags of every float operation, or nothing.

    `used_units` are the names of the units that it uses. `estimate_roots` makes the quotient of 1 and the root of a vector
    of f32 the processor's estimate: only for modules where every root is one of those that correct it (see `rsqrt` in
    `samovar.backends.llvm.mathematics`).
    """

    program: Program
    estimate_roots: bool
    is_entry: bool
    flags: str = field(init=False)
    declarations: dict[str, str] = field(default_factory=dict)
    definitions: list[str] = field(default_factory=list)
    sites: dict[Site, int] = field(default_factory=dict)
    callees: dict[Function, Callee] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    loops: list[str] = field(default_factory=list)
    used_units: dict[int, str] = field(default_factory=dict)
    #: How often a function has referred to something that is in this module, beside what it declares.
    references: int = 0
    #: How many loops inside of iterations there are so far that LLVM would make vectors of.
    inner_loops: int = 0

    def __post_init__(self) -> None:
        self.flags = FAST if self.program.fast_math else ""

    @property
    def fast_math(self) -> bool:
        return self.program.fast_math

    @property
    def uses(self) -> Counter[Value]:
        return self.program.uses

    @property
    def users(self) -> dict[Value, list[Operation]]:
        return self.program.users

    @property
    def looping(self) -> set[Function]:
        return self.program.looping

    def callee(self, function: Function) -> Callee:
        """A function as this module calls it: one that is a unit is declared, any other becomes part of the module."""
        self.references += 1
        found = self.callees.get(function)
        if found is None:
            apart = self.program.functions.get(function)
            if apart is None:
                found = self.program.render_function(self, function)
            else:
                number, called = apart
                line = f"declare hidden {called.result} @*({called.declared}) nounwind {called.facts}".rstrip()
                found = replace(called, name=self.use_unit(number, line))
            self.callees[function] = found
        return found

    def use_unit(self, number: int, line: str) -> str:
        """The name under which a unit is used here; `line` declares it, with a star for the name."""
        name = self.used_units.get(number)
        if name is None:
            name = self.used_units[number] = f"{USED_UNIT}{len(self.used_units)}"
            self.declare(name, line.replace("@*", f"@{name}"))
        return name

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
        self.references += 1
        if name not in self.names:
            self.names.add(name)
            self.definitions.append(text())

    def site(self, site: Site) -> str:
        """The number by which the runtime knows a site. A unit counts its own; the linker knows how many come before."""
        self.references += 1
        number = self.sites.setdefault(site, len(self.sites))
        if self.is_entry:
            return str(number)
        self.declare(FIRST_SITE, f"@{FIRST_SITE} = external global i8")
        return f"add (i32 ptrtoint (ptr @{FIRST_SITE} to i32), i32 {number})"

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

    def independent_loop(self) -> tuple[str, str]:
        """A mark for accesses, and one for the end of a loop: none of them meets one of another iteration."""
        group, properties = (_FIRST_LOOP + len(self.loops) + more for more in (0, 1))
        self.loops.append(f"!{group} = distinct !{{}}")
        self.loops.append(f'!{properties} = !{{!"llvm.loop.parallel_accesses", !{group}}}')
        return f", !llvm.access.group !{group}", self._mark(f"!{properties}")

    def branching_loop(self) -> str:
        """A mark for the end of a loop with so many conditions that looking for vectors would take forever."""
        return self._mark("!5")

    def short_loop(self) -> str:
        """A mark for the end of a loop of so few iterations that vectors by turns would find nothing to do."""
        return self._mark("!4, !10")

    def inner_loop(self) -> str:
        """A mark for the end of the next loop in a text that LLVM would make vectors of, by turns if it has the time.

        What that takes adds up, and the text of one loop gets a hundred times as long: the first loops have all of it, the
        next ones one vector at a time, and those after them none.
        """
        self.inner_loops += 1
        if self.inner_loops <= LOOPS_BY_TURNS:
            return ""
        return self.short_loop() if self.inner_loops <= LOOPS_IN_VECTORS else self.branching_loop()

    def alias_scopes(self, written: Sequence[Array]) -> Callable[[Array], str]:
        """Marks for accesses to arrays of which no two overlap. It is enough to tell those apart that are written."""
        domain = self._node("distinct !{!*}")
        scopes = [self._node(f"distinct !{{!*, {domain}}}") for _ in written]
        everyone = self._node(f"!{{{', '.join(scopes)}}}") if scopes else ""
        marks = {}
        for array, scope in zip(written, scopes, strict=True):
            others = [each for each in scopes if each is not scope]
            apart = f", !noalias {self._node(f'!{{{chr(44).join(others)}}}')}" if others else ""
            marks[array] = f", !alias.scope {self._node(f'!{{{scope}}}')}{apart}"
        return lambda array: marks.get(array) or (f", !noalias {everyone}" if everyone else "")

    def _node(self, text: str) -> str:
        """A node of metadata; a star stands for its own number."""
        self.references += 1
        number = _FIRST_LOOP + len(self.loops)
        self.loops.append(f"!{number} = {text.replace('*', str(number))}")
        return f"!{number}"

    def composed_loop(self) -> str:
        """A mark for the end of a loop whose steps LLVM can put together: sixteen of them are as much work as one."""
        return self._mark("!9")

    def _mark(self, properties: str) -> str:
        return f", !llvm.loop {self._node(f'distinct !{{!*, {properties}}}')}"

    def text(self) -> str:
        """The whole module."""
        estimates = "!sqrtf,vec-sqrtf:0" if self.estimate_roots else "none"
        denormals = _FLUSHED if self.program.flush_denormals else ""
        facts = estimates, denormals
        # Vectors wait on the stack where there are too few registers, and while functions are called. Across two cache lines
        # that takes long, and LLVM does not align the stack by itself, because it finds out too late that it has to.
        realigned = "" if "stack" in self.program.without.split() else ' "stackrealign"'
        attributes = _ATTRIBUTES % (*facts, *facts, realigned, *facts)
        switches = [WITHOUT + self.program.without] if self.program.without else []
        choices = [CHOICES_STAY] if self.program.kernel.recurs else []
        parts = [*self.declarations.values(), "", *self.definitions, attributes, *self.loops, *choices, *switches, ""]
        return "\n".join(parts)
