"""State shared by the functions of one LLVM module: declarations, helper functions, sites, names and options.

A kernel is one module, or one per compile unit: the entry with what belongs to it, and each separate function and task. A
unit knows only the declarations of other units, so its text depends neither on their contents nor on the kernel that they
are part of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from samovar._native import DType
from samovar.artifact import Site
from samovar.backends.llvm.array_tables import Tables
from samovar.backends.llvm.effort import CHOICES_STAY, DEEP, DEEP_NESTS, PLAIN_LOOPS, first_line
from samovar.backends.llvm.target import Target
from samovar.backends.llvm.types import register_type
from samovar.backends.llvm.vectors import mappings, variants
from samovar.backends.protocol import FIRST_SITE, USED_UNIT, Unit
from samovar.ir import RUNTIME, Affine, Array, Function, Hints, Kernel, Operation, Value, bodies, users, walk

#: Flags of every float operation with `fast_math`. Not nnan and ninf: NaN and infinity keep their meaning.
FAST = "reassoc nsz arcp contract afn "

_UNSAFE = re.compile(r"[^A-Za-z0-9_.]")

#: The LLVM types of the runtime's functions.
_KINDS = {"": "void", "pointer": "ptr", "i32": "i32", "i64": "i64"}

_ATTRIBUTES = """
attributes #0 = { nounwind nonlazybind }
attributes #1 = { nounwind nonlazybind cold }
attributes #2 = { nounwind nonlazybind willreturn memory(none) }
attributes #4 = { nounwind "no-trapping-math"="true" "reciprocal-estimates"="%s"%s }
attributes #5 = { nounwind noinline "no-trapping-math"="true" "reciprocal-estimates"="%s"%s%s }
attributes #6 = { nounwind noinline optnone "reciprocal-estimates"="%s"%s }
attributes #7 = { nounwind nonlazybind cold memory(argmem: readwrite, inaccessiblemem: readwrite) }
!0 = !{!"branch_weights", i32 1, i32 1048575}
!1 = !{i64 0, i64 2147483648}
!2 = !{i64 0, i64 -9223372036854775808}
!3 = !{i8 0, i8 2}
!4 = !{}
"""
#: What LLVM may assume of denormals if the processor flushes them to zero.
_FLUSHED = ' "denormal-fp-math"="preserve-sign,preserve-sign"'
_FIRST_NODE = 5
#: Attribute groups: our functions, those that must not be inlined, those that are not worth optimizing; `UNLIKELY` is for
#: branches whose first target is cold.
PLAIN = "#4"
OUTLINED = "#5"
AS_WRITTEN = "#6"
UNLIKELY = ", !prof !0"

#: Ranges of a loaded extent (of an ordinary array, of a wide one) and of a u1 in memory.
EXTENT = ", !range !1"
WIDE_EXTENT = ", !range !2"
BOOLEAN = ", !range !3"
#: A load with the same result everywhere.
INVARIANT = ", !invariant.load !4"


@dataclass(frozen=True)
class Callee:
    """A rendered function: its name, whether it can fail, and whether it needs the context (to fail or to print).

    `written` are the indices of array parameters that it writes to, `lengths` of those whose length is passed, `declared`
    its parameters in declarations, and `facts` the attributes of declarations.
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
    """The compile units of a kernel, and the units of its separate functions. The entry is the first unit."""

    kernel: Kernel
    target: Target
    fast_math: bool
    opt_level: int
    render_function: Callable[[Module, Function], Callee]
    has_units: bool = False
    flush_denormals: bool = False
    without: str = ""
    marks_lines: bool = False
    units: list[Unit] = field(default_factory=list)
    functions: dict[Function, tuple[int, Callee]] = field(default_factory=dict)
    _roots_of: dict[Function, set[str]] = field(default_factory=dict)
    tables: Tables = field(default_factory=Tables)

    @cached_property
    def affine(self) -> Affine:
        """The affine forms of indices. Symbols are not shared between equal values in different places."""
        return Affine(*bodies(self.kernel), numbered=False)

    @cached_property
    def users(self) -> dict[Value, list[Operation]]:
        """The operations that use each value of the kernel."""
        return users(bodies(self.kernel))

    def module(self, operations: Iterable[Operation], is_entry: bool = False) -> Module:
        """A module for another unit with these operations."""
        return Module(self, self.fast_math and self._roots_are_reciprocal(operations), is_entry)

    def _roots_are_reciprocal(self, operations: Iterable[Operation]) -> bool:
        codes = self._roots(operations)
        # LLVM turns some powers into roots.
        return "rsqrt" in codes and not codes & {"sqrt", "pow"}

    def _roots(self, operations: Iterable[Operation]) -> set[str]:
        """The operations computed by roots, including functions that go into the same unit."""
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

    def add(self, name: str, module: Module, worth: int = 3) -> int:
        """Add a complete module; return the number of its unit."""
        text = first_line(self.opt_level, worth) + module.text()
        unit = Unit(name, text, tuple(module.sites), tuple(module.used_units))
        self.units.append(unit)
        return len(self.units)


@dataclass(eq=False)
class Module:
    """Collects the parts of the text; `flags` are the fast-math flags of every float operation, or empty.

    `used_units` are the names of the units that it uses. `estimate_roots` turns the quotient of 1 and the root of an f32
    vector into the processor's estimate: only for modules in which every root is corrected (see `rsqrt` in
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
    facts: dict[str, str] = field(default_factory=dict)
    #: The maximum nesting depth of loops.
    deepest: int = 0
    #: The number of loops, and how many of them have vectorization hints.
    entered: int = 0
    plain: int = 0
    used_units: dict[int, str] = field(default_factory=dict)
    #: How often a function has referred to something in this module, besides declarations.
    references: int = 0
    #: Vector variants of functions, which must exist until LLVM has vectorized loops.
    variants: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.flags = FAST if self.program.fast_math else ""

    @property
    def fast_math(self) -> bool:
        return self.program.fast_math

    @property
    def users(self) -> dict[Value, list[Operation]]:
        return self.program.users

    def callee(self, function: Function) -> Callee:
        """A function as called by this module: a unit is declared, any other function becomes part of the module."""
        self.references += 1
        found = self.callees.get(function)
        if found is None:
            separate = self.program.functions.get(function)
            if separate is None:
                found = self.program.render_function(self, function)
            else:
                number, called = separate
                line = f"declare hidden {called.result} @*({called.declared}) nounwind {called.facts}".rstrip()
                found = replace(called, name=self.use_unit(number, line))
            self.callees[function] = found
        return found

    def use_unit(self, number: int, line: str) -> str:
        """The name of another unit in this module; `line` declares it, with a star for the name."""
        name = self.used_units.get(number)
        if name is None:
            name = self.used_units[number] = f"{USED_UNIT}{len(self.used_units)}"
            self.declare(name, line.replace("@*", f"@{name}"))
        return name

    def declare(self, name: str, line: str) -> None:
        """Declare an external function or an intrinsic, once."""
        self.declarations.setdefault(name, line)

    def runtime(self, name: str) -> tuple[str, list[str]]:
        """Declare an entry point of the runtime; the LLVM types of its result and its parameters."""
        function = RUNTIME[name]
        result, kinds = _KINDS[function.result], [_KINDS[kind] for kind in function.parameters]
        attributes = "#7" if function.isolated else "#1" if function.rare else "#0"
        self.declare(name, f"declare {result} @{name}({', '.join(kinds)}) {attributes}")
        return result, kinds

    def site(self, site: Site) -> str:
        """The number of a site for the runtime. A unit counts its own; the linker adds the number of those before."""
        self.references += 1
        number = self.sites.setdefault(site, len(self.sites))
        if self.is_entry:
            return str(number)
        self.declare(FIRST_SITE, f"@{FIRST_SITE} = external global i8")
        return f"add (i32 ptrtoint (ptr @{FIRST_SITE} to i32), i32 {number})"

    def function_name(self, wanted: str) -> str:
        """A unique function name: letters, digits, `_` and `.`."""
        base = name = _UNSAFE.sub("_", wanted)
        count = 1
        while name in self.names:
            count += 1
            name = f"{base}.{count}"
        self.names.add(name)
        return name

    def loop_mark(self, hints: Hints, group: str = "") -> str:
        """The metadata of a loop. `group` is the access group of its independent accesses."""
        facts = [f'!"llvm.loop.parallel_accesses", {group}'] if group else []
        self.plain += bool(hints.vectors and hints.interleave)
        if hints.vectors is not None:
            facts.append(
                f'!"llvm.loop.vectorize.width", i32 {hints.vectors}' if hints.vectors
                else '!"llvm.loop.vectorize.enable", i1 false'
            )  # fmt: skip
        if hints.interleave is not None and hints.vectors != 0:
            facts.append(f'!"llvm.loop.interleave.count", i32 {hints.interleave}')
        if hints.unroll is not None:
            unrolled = f'!"llvm.loop.unroll.count", i32 {hints.unroll}'
            facts.append('!"llvm.loop.unroll.disable"' if hints.unroll == 1 else unrolled)
        if not facts:
            return ""
        nodes = ", ".join(self.fact(fact) for fact in facts)
        return f", !llvm.loop {self.node(f'distinct !{{!*, {nodes}}}')}"

    def access_group(self) -> str:
        """A new access group: accesses that are independent between iterations of a loop."""
        return self.node("distinct !{}")

    def library_function(self, symbol: str, name: str, dtype: DType, arity: int) -> None:
        """Declare a function of libm; with `fast_math` LLVM may call its vector variants."""
        if symbol in self.declarations:
            return
        kind = register_type(dtype)
        parameters, facts = ", ".join([kind] * arity), "#2"
        found = variants(name, dtype, arity, self.program.target) if self.fast_math else []
        if found:
            facts = f"nounwind nonlazybind willreturn memory(none) {mappings(found)}"
            for each in found:
                self.declare(each.symbol, each.declaration(kind, arity))
                self.variants[f"ptr @{each.symbol}"] = None
        self.declare(symbol, f"declare {kind} @{symbol}({parameters}) {facts}")

    def vector_function(self, symbol: str, name: str, dtype: DType, arity: int, width: int) -> tuple[int, str]:
        """The vector variant of a libm function: its number of lanes, and its symbol."""
        found = variants(name, dtype, arity, self.program.target) if self.fast_math else []
        fitting = [each for each in found if each.lanes <= width]
        if not fitting:
            self.library_function(symbol, name, dtype, arity)
            return 1, symbol
        self.declare(fitting[-1].symbol, fitting[-1].declaration(register_type(dtype), arity))
        return fitting[-1].lanes, fitting[-1].symbol

    def alias_scopes(self, arrays: Iterable[object], written: Container[object]) -> Callable[[Array], str]:
        """Alias metadata for accesses to those arrays that overlap no other. Distinguishing the written ones is enough."""
        alone = [each for each in arrays if isinstance(each, Array) and each.alone]
        domain = self.node("distinct !{!*}")
        scopes = {each: self.node(f"distinct !{{!*, {domain}}}") for each in alone if each in written}
        marks = {}
        for array in alone:
            others = ", ".join(scope for each, scope in scopes.items() if each is not array)
            own = f", !alias.scope {self.fact(scopes[array])}" if array in scopes else ""
            marks[array] = own + (f", !noalias {self.fact(others)}" if others else "")
        return lambda array: marks.get(array, "")

    def node(self, text: str) -> str:
        """A metadata node; `*` is replaced by its own number."""
        self.references += 1
        number = _FIRST_NODE + len(self.loops)
        self.loops.append(f"!{number} = {text.replace('*', str(number))}")
        return f"!{number}"

    def fact(self, text: str) -> str:
        """A metadata node shared by equal uses."""
        if text not in self.facts:
            self.facts[text] = self.node(f"!{{{text}}}")
        return self.facts[text]

    def text(self) -> str:
        """The whole module."""
        estimates = "!sqrtf,vec-sqrtf:0" if self.estimate_roots else "none"
        denormals = _FLUSHED if self.program.flush_denormals else ""
        facts = estimates, denormals
        # Vectors are spilled to the stack if there are too few registers, and around calls. Across two cache lines that is
        # slow, and LLVM does not align the stack by itself, because it notices the need too late.
        realigned = "" if "stack" in self.program.without.split() else ' "stackrealign"'
        attributes = _ATTRIBUTES % (*facts, *facts, realigned, *facts)
        switches = [CHOICES_STAY] if self.program.kernel.has_recurrence else []
        if self.deepest > DEEP:
            switches.append(DEEP_NESTS)
        if self.entered == self.plain > 0:
            switches.append(PLAIN_LOOPS)
        kept = ", ".join(self.variants)
        used = [f"@llvm.compiler.used = appending global [{len(self.variants)} x ptr] [{kept}], section \"llvm.metadata\""]
        declared = [*self.declarations.values(), *(used if kept else [])]
        return "\n".join([*declared, "", *self.definitions, attributes, *self.loops, *switches, ""])
