"""Random programs for Quadrants: what they compute there, and on Samovar.

    python tests/compat/random_programs.py [--seeds 0:1000] [--keep DIRECTORY]   runs programs on both, and compares
    python tests/compat/random_programs.py --seeds 0:16 --record                 keeps what Quadrants computes, for the tests

A seed determines a program: its fields (dense, sparse, of vectors, matrices and structs), its functions, and its kernels
with loops, branches, atomic updates and reductions. No two iterations of a parallel loop touch one element, except for
atomic updates of one kind, so results do not depend on their order. Divisors are positive, shifts are small, indices
are within bounds, and floats decide no branches: what is left undefined is not in question. Neither are three defects of
Quadrants 1.3.3: an element of a sparse field that is read, activated in a branch, and read again is still 0; and a write in
an inner loop activates its cell even if the loop does not get there. So cells that a loop reads at its own index, or writes
in an inner loop, are activated first. The third one makes seeds differ: where it folds a constant, `-13 % 5` is -3 and
`-13 // 5` is -2, as in C; of run-time values they are 2 and -3, as in Python and here.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "random_programs.json"
#: How far floats may differ, relative to the largest number of an array: an f64 may come from f32.
TOLERANCE = 2e-4
#: How many programs run in one process, and how many seconds each may take.
BATCH, SECONDS = 20, 60

INTEGERS = ("qd.i32", "qd.i32", "qd.i32", "qd.i64", "qd.u32", "qd.i16", "qd.u8", "qd.i8")
FLOATS = ("qd.f32", "qd.f32", "qd.f64")


class Field:
    """A field of the program: its name, what its elements are, and its rank."""

    def __init__(self, name: str, kind: str, rank: int, dtype: str, node: str = "", lists: bool = False) -> None:
        self.name, self.kind, self.rank, self.dtype, self.node, self.lists = name, kind, rank, dtype, node, lists

    @property
    def is_sparse(self) -> bool:
        return bool(self.node)


class Scope:
    """The names that code may use: by kind of value, and the fields that it may read at any index and write at its own."""

    def __init__(self, index: tuple[str, ...] = ()) -> None:
        self.index = index
        self.names: dict[str, list[str]] = {kind: [] for kind in ("int", "float", "vec", "ivec", "mat", "struct")}
        self.constants: dict[str, list[str]] = {"int": list(index), "float": []}
        self.readable: list[Field] = []
        self.writable: list[Field] = []
        self.atomics: list[tuple[Field, str]] = []
        #: Sparse fields whose own cell may be inactive: they are only written, outside of inner loops.
        self.inactive: list[Field] = []
        self.in_loop = False

    def inner(self) -> Scope:
        """A block: names that are made in it are not visible after it."""
        made = Scope(self.index)
        made.names = {kind: list(names) for kind, names in self.names.items()}
        made.constants = {kind: list(names) for kind, names in self.constants.items()}
        made.readable, made.writable, made.atomics = self.readable, self.writable, self.atomics
        made.inactive, made.in_loop = self.inactive, self.in_loop
        return made


class Program:
    """A program that a seed determines; `text` has it."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 0
        self.count = 0
        self.size = self.random.randint(5, 40)
        self.shape = (self.random.randint(2, 6), self.random.randint(2, 7))
        self.fields: list[Field] = []
        self.functions: list[tuple[str, str, tuple[str, ...]]] = []
        self.calls: list[str] = []
        self.scalars: list[str] = []
        self.write_program()

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    # --- writing

    def say(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.say(head)
        self.indent += 1
        yield
        self.indent -= 1

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    # --- the whole

    def write_program(self) -> None:
        self.say("import numpy as np")
        self.say("import quadrants as qd\n")
        self.say(f"qd.init(arch=qd.cpu, log_level=qd.ERROR, fast_math={self.chance(0.5)})\n")
        self.say("@qd.dataclass")
        with self.block("class Pair:"):
            self.say("a: qd.i32")
            self.say("b: qd.f32")
            self.say("v: qd.types.vector(3, qd.f32)\n")
            self.say("@qd.func")
            with self.block("def mix(self, k):"):
                self.say("return self.b * 0.5 + self.v[k % 3] + self.a % 5\n")
        for _ in range(self.random.randint(3, 6)):
            self.write_field()
        for _ in range(self.random.randint(1, 3)):
            self.write_function()
        for _ in range(self.random.randint(1, 3)):
            self.write_kernel()
        self.write_run()

    def write_field(self) -> None:
        name = self.name("x")
        kind = self.pick("int", "int", "float", "float", "vec", "mat", "struct", "ivec")
        rank = self.pick(1, 1, 2)
        dtype = self.pick(*INTEGERS) if kind in ("int", "ivec") else self.pick(*FLOATS)
        make = {
            "int": f"qd.field({dtype}", "float": f"qd.field({dtype}", "vec": f"qd.Vector.field(3, {dtype}",
            "ivec": f"qd.Vector.field(2, {dtype}", "mat": f"qd.Matrix.field(2, 2, {dtype}", "struct": "Pair.field(",
        }[kind]  # fmt: skip
        shape = str(self.shape if rank == 2 else self.size)
        place = self.pick("shape", "shape", "order", "dense", "pointer", "bitmasked", "deep", "lists")
        axes = "qd.i" if rank == 1 else "qd.ij"
        if kind == "struct":
            dtype = ""
        separator = "" if make.endswith("(") else ", "
        if place == "order" and rank == 2 and kind in ("int", "float"):
            self.say(f'{name} = {make}{separator}{shape}, order="ji")')
        elif place in ("shape", "order") or (place == "lists" and (kind == "struct" or rank == 2)):
            self.say(f"{name} = {make}{separator}shape={shape})")
        else:
            self.say(f"{name} = {make})")
            node = self.name("node")
            above = f"qd.root.dense({axes}, 1)" if place == "deep" and self.chance(0.3) else "qd.root"
            if place == "lists":
                self.say(f"{node} = qd.root.dynamic(qd.i, {self.size}, chunk_size={self.pick(4, 16, 32)})")
            else:
                method = {"deep": "pointer"}.get(place, place)
                self.say(f"{node} = {above}.{method}({axes}, {shape})")
            inner = f"{node}.bitmasked({axes}, 1)" if place == "deep" else node
            self.say(f"{inner}.place({name})")
            sparse = "" if place == "dense" else node
            self.fields.append(Field(name, kind, rank, dtype, sparse, place == "lists"))
            return
        self.fields.append(Field(name, kind, rank, dtype))

    # --- expressions

    def integer(self, scope: Scope, depth: int = 2) -> str:
        if depth <= 0 or self.chance(0.15):
            choices = [str(self.random.randint(-9, 20)), *scope.names["int"], *scope.constants["int"]]
            return self.pick(*choices, *scope.names["int"])
        one, other = (self.integer(scope, depth - 1) for _ in range(2))
        forms: list[Callable[[], str]] = [
            lambda: f"({one} {self.pick('+', '-', '*', '&', '|', '^')} {other})",
            lambda: f"({one} {self.pick('+', '-')} {other})",
            lambda: f"({one} {self.pick('//', '%')} (({other} & 7) + 1))",
            lambda: f"({one} {self.pick('<<', '>>')} ({other} & 7))",
            lambda: f"{self.pick('min', 'max', 'qd.min', 'qd.max')}({one}, {other})",
            lambda: f"({one} if {self.condition(scope, depth - 1)} else {other})",
            lambda: f"qd.select({self.condition(scope, depth - 1)}, {one}, {other})",
            lambda: f"{self.pick('-', '~', '')}({one})",
            lambda: f"qd.cast({one}, {self.pick(*INTEGERS)})",
            lambda: f"({one}) ** {self.random.randint(1, 3)}",
            lambda: f"qd.cast({self.condition(scope, depth - 1)}, qd.i32)",
            lambda: self.loaded(scope, "int") or one,
            lambda: self.loaded(scope, "int") or one,
            lambda: self.called(scope, "int", depth) or one,
            lambda: self.part(scope, "ivec", depth) or self.part_of_struct(scope, "a") or one,
        ]
        return self.pick(*forms)()

    def real(self, scope: Scope, depth: int = 2) -> str:
        if depth <= 0 or self.chance(0.15):
            return self.pick(f"{self.random.randint(-20, 20) / 8}", *scope.names["float"], *scope.constants["float"])
        one, other = (self.real(scope, depth - 1) for _ in range(2))
        number = self.random.randint(0, 4)
        forms: list[Callable[[], str]] = [
            lambda: f"({one} {self.pick('+', '-', '*')} {other})",
            lambda: f"({one} / (2.0 + abs({other})))",
            lambda: f"{self.pick('qd.sin', 'qd.cos', 'qd.tanh', 'abs', '-')}({one})",
            lambda: f"qd.sqrt(abs({one}))",
            lambda: f"qd.exp(qd.sin({one}))",
            lambda: f"{self.pick('min', 'max')}({one}, {other})",
            lambda: f"({one} if {self.condition(scope, depth - 1)} else {other})",
            lambda: f"({self.integer(scope, depth - 1)} % 17) * 0.25",
            lambda: f"(({self.integer(scope, depth - 1)} & 15) / 4)",
            lambda: f"qd.cast({self.integer(scope, depth - 1)} & 63, {self.pick(*FLOATS)})",
            lambda: self.loaded(scope, "float") or one,
            lambda: self.loaded(scope, "float") or one,
            lambda: self.called(scope, "float", depth) or one,
            lambda: self.part(scope, "vec", depth) or one,
            lambda: self.of_matrix(scope) or self.part_of_struct(scope, "b") or one,
            lambda: f"{self.pick(*scope.names['struct'])}.mix({number})" if scope.names["struct"] else one,
        ]
        return self.pick(*forms)()

    def condition(self, scope: Scope, depth: int = 1) -> str:
        left = self.integer(scope, depth - 1)
        test = f"{left} {self.pick('<', '<=', '==', '!=', '>', '>=')} {self.integer(scope, depth - 1)}"
        if self.chance(0.2):
            test = f"({test} {self.pick('and', 'or')} {self.integer(scope, 0)} % 3 == {self.random.randint(0, 2)})"
        return f"({test})" if self.chance(0.8) else f"(not ({test}))"

    def vector(self, scope: Scope, kind: str, depth: int = 1) -> str:
        number, size = (self.real, 3) if kind == "vec" else (self.integer, 2)
        if depth <= 0 or self.chance(0.3):
            if scope.names[kind] and self.chance(0.7):
                return str(self.pick(*scope.names[kind]))
            return f"qd.Vector([{', '.join(number(scope, 1) for _ in range(size))}])"
        one, other = self.vector(scope, kind, depth - 1), self.vector(scope, kind, depth - 1)
        forms = [
            f"({one} {self.pick('+', '-', '*')} {other})", f"({one} * {number(scope, 1)})", f"(-{one})", f"abs({one})",
            f"{self.pick('min', 'max')}({one}, {other})", self.loaded(scope, kind) or one,
        ]  # fmt: skip
        if kind == "vec":
            forms += [f"{one}.cross({other})", f"({one} / (1.5 + {other}.norm_sqr()))", f"{one}.{self.pick('zyx', 'xxy')}"]
        return str(self.pick(*forms))

    def part(self, scope: Scope, kind: str, depth: int) -> str:
        """A number from a vector."""
        if not scope.names[kind]:
            return ""
        one = self.pick(*scope.names[kind])
        size = 3 if kind == "vec" else 2
        return str(self.pick(
            f"{one}[{self.random.randrange(size)}]", f"{one}[{self.integer(scope, 1)} % {size}]", f"{one}.x", f"{one}.y",
            f"{one}.sum()", f"{one}.{self.pick('max', 'min')}()", f"{one}.dot({self.vector(scope, kind, 0)})",
            f"{one}.norm_sqr()",
        ))  # fmt: skip

    def part_of_struct(self, scope: Scope, member: str) -> str:
        return f"{self.pick(*scope.names['struct'])}.{member}" if scope.names["struct"] else ""

    def matrix(self, scope: Scope, depth: int = 1) -> str:
        if depth <= 0 or self.chance(0.3):
            if scope.names["mat"] and self.chance(0.7):
                return str(self.pick(*scope.names["mat"]))
            rows = ", ".join(f"[{self.real(scope, 1)}, {self.real(scope, 1)}]" for _ in range(2))
            return f"qd.Matrix([{rows}])"
        one, other = self.matrix(scope, depth - 1), self.matrix(scope, depth - 1)
        return str(self.pick(
            f"({one} {self.pick('+', '-', '@', '*')} {other})", f"{one}.transpose()", f"(0.5 * {one})",
            self.loaded(scope, "mat") or one,
        ))  # fmt: skip

    def of_matrix(self, scope: Scope) -> str:
        """A number from a matrix."""
        if not scope.names["mat"]:
            return ""
        one = self.pick(*scope.names["mat"])
        row = self.integer(scope, 1)
        return str(self.pick(f"{one}[0, 1]", f"{one}[{row} % 2, 1]", f"{one}.determinant()", f"{one}.trace()"))

    def struct(self, scope: Scope) -> str:
        if scope.names["struct"] and self.chance(0.4):
            return str(self.pick(*scope.names["struct"]))
        return f"Pair({self.integer(scope, 1)}, {self.real(scope, 1)}, {self.vector(scope, 'vec', 0)})"

    def value(self, scope: Scope, kind: str) -> str:
        if kind == "int":
            return self.integer(scope)
        if kind == "float":
            return self.real(scope)
        return self.matrix(scope) if kind == "mat" else self.struct(scope) if kind == "struct" else self.vector(scope, kind)

    def index_of(self, scope: Scope, field: Field, own: bool) -> str:
        if own:
            return ", ".join(scope.index)
        sizes = (self.size,) if field.rank == 1 else self.shape
        return ", ".join(f"({self.integer(scope, 1)} & 63) % {size}" for size in sizes)

    def loaded(self, scope: Scope, kind: str) -> str:
        """An element of a field, or a part of one."""
        found = [(each, False) for each in scope.readable] + [
            (each, True) for each in scope.writable if each not in scope.inactive
        ]
        kinds = (kind, "struct") if kind in "int float vec" else (kind,)
        wanted = [(each, own) for each, own in found if each.kind in kinds]
        if not wanted:
            return ""
        field, own = self.pick(*wanted)
        element = f"{field.name}[{self.index_of(scope, field, own)}]"
        if field.kind != "struct" or kind == "struct":
            return element
        return f"{element}.{ {'int': 'a', 'float': 'b', 'vec': 'v'}[kind] }"

    def called(self, scope: Scope, kind: str, depth: int) -> str:
        """A call of a function that gives such a value."""
        found = [(name, kinds) for name, result, kinds in self.functions if result == kind]
        if not found or depth < 2:
            return ""
        name, kinds = self.pick(*found)
        return f"{name}({', '.join(self.value(scope, each) for each in kinds)})"

    # --- statements

    def statements(self, scope: Scope, depth: int, count: int) -> None:
        for _ in range(count):
            self.statement(scope, depth)

    def statement(self, scope: Scope, depth: int) -> None:
        forms: list[Callable[[Scope, int], None]] = [
            self.new_local, self.new_local, self.change_local, self.change_local, self.store, self.store, self.store,
            self.atomic, self.atomic,
        ]  # fmt: skip
        if depth > 0:
            forms += [self.branch, self.branch, self.inner_loop, self.static_loop, self.while_loop]
        self.pick(*forms)(scope, depth)

    def new_local(self, scope: Scope, depth: int) -> None:
        kind = self.pick("int", "int", "float", "float", "vec", "ivec", "mat", "struct")
        value = self.value(scope, kind)
        if kind == "int" and self.chance(0.2):
            value = f"{self.pick(*INTEGERS)}({value})"
        name = self.name("v")
        self.say(f"{name} = {value}")
        scope.names[kind].append(name)

    def change_local(self, scope: Scope, depth: int) -> None:
        kinds = [kind for kind, names in scope.names.items() if names]
        if not kinds:
            self.new_local(scope, depth)
            return
        kind = self.pick(*kinds)
        name = self.pick(*scope.names[kind])
        if kind == "int":
            self.say(f"{name} {self.pick('=', '+=', '-=', '*=', '^=', '|=', '&=')} {self.integer(scope)}")
        elif kind == "float":
            self.say(f"{name} {self.pick('=', '+=', '-=')} {self.real(scope)}")
        elif kind == "struct":
            member = self.pick("a", "b", "v")
            value = self.value(scope, {"a": "int", "b": "float", "v": "vec"}[member])
            self.say(f"{name}.{member} {self.pick('=', '+=')} {value}")
        elif kind in ("vec", "ivec") and self.chance(0.5):
            number, size = (self.real, 3) if kind == "vec" else (self.integer, 2)
            at = self.pick(str(self.random.randrange(size)), f"{self.integer(scope, 1)} % {size}")
            self.say(f"{name}[{at}] {self.pick('=', '+=')} {number(scope, 1)}")
        else:
            self.say(f"{name} {self.pick('=', '+=')} {self.value(scope, kind)}")

    def store(self, scope: Scope, depth: int) -> None:
        own = [each for each in scope.writable if not (scope.in_loop and each in scope.inactive)]
        if not own:
            self.new_local(scope, depth)
            return
        field = self.pick(*own)
        element = f"{field.name}[{self.index_of(scope, field, True)}]"
        if field.kind == "struct" and self.chance(0.7):
            member = self.pick("a", "b", "v")
            value = self.value(scope, {"a": "int", "b": "float", "v": "vec"}[member])
            self.say(f"{element}.{member} {self.pick('=', '+=')} {value}")
        elif field.kind == "struct":
            self.say(f"{element} = {self.struct(scope)}")
        else:
            self.say(f"{element} {self.pick('=', '=', '+=', '-=')} {self.value(scope, field.kind)}")

    def atomic(self, scope: Scope, depth: int) -> None:
        found = [each for each in scope.atomics if not (scope.in_loop and each[0].is_sparse)]
        if not found:
            self.new_local(scope, depth)
            return
        field, operation = self.pick(*found)
        value = self.value(scope, field.kind)
        element = f"{field.name}[{self.index_of(scope, field, False)}]"
        if operation == "add" and self.chance(0.5):
            self.say(f"{element} += {value}")
        else:
            self.say(f"qd.atomic_{operation}({element}, {value})")

    def branch(self, scope: Scope, depth: int) -> None:
        with self.block(f"if {self.condition(scope)}:"):
            self.statements(scope.inner(), depth - 1, self.random.randint(1, 2))
        if self.chance(0.3):
            with self.block(f"elif {self.condition(scope)}:"):
                self.statements(scope.inner(), depth - 1, 1)
        if self.chance(0.5):
            with self.block("else:"):
                self.statements(scope.inner(), depth - 1, self.random.randint(1, 2))

    def inner_loop(self, scope: Scope, depth: int) -> None:
        inner = scope.inner()
        inner.in_loop = True
        name = self.name("q")
        least = self.random.randint(-2, 1)
        bounds = self.pick(str(self.random.randint(1, 6)), f"{self.integer(scope, 1)} & 7", f"{least}, 4")
        head = f"for {name} in range({bounds}):"
        if self.chance(0.2):
            other = self.name("q")
            head = f"for {name}, {other} in qd.ndrange({self.random.randint(1, 3)}, (1, {self.random.randint(2, 4)})):"
            inner.constants["int"].append(other)
        with self.block(head):
            inner.constants["int"].append(name)
            if self.chance(0.3):
                with self.block(f"if {self.condition(inner)}:"):
                    self.say(self.pick("break", "continue") if "ndrange" not in head else "continue")
            self.statements(inner, depth - 1, self.random.randint(1, 3))

    def static_loop(self, scope: Scope, depth: int) -> None:
        name = self.name("q")
        inner = scope.inner()
        inner.constants["int"].append(name)
        with self.block(f"for {name} in qd.static(range({self.random.randint(1, 3)})):"):
            if self.chance(0.3):
                with self.block(f"if qd.static({name} % 2 == {self.random.randint(0, 1)}):"):
                    self.statement(inner.inner(), 0)
            self.statements(inner, min(depth - 1, 1), self.random.randint(1, 2))

    def while_loop(self, scope: Scope, depth: int) -> None:
        name = self.name("n")
        self.say(f"{name} = {self.integer(scope, 1)} & 7")
        inner = scope.inner()
        inner.in_loop = True
        inner.constants["int"].append(name)
        with self.block(f"while {name} > 0:"):
            self.say(f"{name} -= 1")
            if self.chance(0.3):
                with self.block(f"if {self.condition(inner)}:"):
                    self.say(self.pick("break", "continue"))
            self.statements(inner, depth - 1, self.random.randint(1, 2))

    # --- functions and kernels

    def write_function(self) -> None:
        name = self.name("f")
        result = self.pick("int", "float", "float", "vec")
        kinds = tuple(self.pick("int", "float", "vec", "struct") for _ in range(self.random.randint(1, 3)))
        is_real = result != "vec" and self.chance(0.3)
        if is_real:
            kinds = tuple("int" if kind in ("vec", "struct") else kind for kind in kinds)
        hints = {"int": ": qd.i32", "float": ": qd.f32"}
        parameters = [f"p{place}{hints[kind] if is_real else ''}" for place, kind in enumerate(kinds)]
        scope = Scope()
        for place, kind in enumerate(kinds):
            (scope.constants if kind in scope.constants else scope.names)[kind].append(f"p{place}")
        self.say("@qd.real_func" if is_real else "@qd.func")
        declared = f" -> {hints[result][2:]}" if is_real else ""
        with self.block(f"def {name}({', '.join(parameters)}){declared}:"):
            for place, kind in enumerate(kinds):
                if kind not in scope.constants:  # a copy, which may be changed
                    self.say(f"c{place} = p{place}")
                    scope.names[kind][scope.names[kind].index(f"p{place}")] = f"c{place}"
            self.statements(scope, 1, self.random.randint(1, 3))
            if is_real and self.chance(0.5):
                with self.block(f"if {self.condition(scope)}:"):
                    self.say(f"return {self.value(scope, result)}")
            self.say(f"return {self.value(scope, result)}\n")
        self.functions.append((name, result, kinds))

    def write_kernel(self) -> None:
        name = self.name("k")
        result = self.pick("", "", "qd.i32", "qd.f32")
        self.say("@qd.kernel")
        with self.block(f"def {name}(s: qd.i32, t: qd.f32, n: qd.template()){f' -> {result}' if result else ''}:"):
            if result:
                self.say("total = 0" if result == "qd.i32" else "total = 0.0")
            for _ in range(self.random.randint(1, 3)):
                self.write_loop(result)
            if result:
                self.say("return total")
        self.say("")
        call = f"{name}({self.random.randint(-5, 20)}, {self.random.randint(-20, 20) / 4}, {self.random.randint(1, 4)})"
        if result:
            self.scalars.append(call)
        else:
            self.calls.append(call)

    def write_loop(self, result: str) -> None:
        """A parallel loop. Each field is read, written at the own index, updated atomically, or none of them."""
        rank = self.pick(1, 1, 2)
        index = tuple(self.name("i") for _ in range(rank))
        scope = Scope(index)
        scope.constants["int"] += ["s", "n"]
        scope.constants["float"].append("t")
        for field in self.fields:
            use = self.pick("read", "write", "write", "atomic")
            if field.lists and use != "read":
                continue
            if use == "read":
                scope.readable.append(field)
            elif use == "write" and field.rank == rank:
                scope.writable.append(field)
            elif use == "atomic" and field.kind in ("int", "float") and field.dtype[3:] not in ("i16", "u8", "i8"):
                kinds = ("add", "add", "max", "min", "or", "and", "xor") if field.kind == "int" else ("add", "max", "min")
                scope.atomics.append((field, self.pick(*kinds)))
        over = [each for each in scope.writable if each.rank == rank]
        names = ", ".join(index)
        sizes = (self.size,) if rank == 1 else self.shape
        whole = f"range({sizes[0]})" if rank == 1 else f"qd.ndrange({sizes[0]}, {sizes[1]})"
        part = f"range(1, {sizes[0]})" if rank == 1 else f"qd.ndrange((1, {sizes[0]}), {sizes[1]})"
        space = self.pick(whole, whole, part)
        form = self.pick("range", "range", "field", "grouped")
        if form != "range" and over:
            space = self.pick(*over).name
            if form == "grouped":
                names, space = "I", f"qd.grouped({space})"
        if self.chance(0.1):
            self.say("qd.loop_config(serialize=True)")
        with self.block(f"for {names} in {space}:"):
            if names == "I":
                for place, each in enumerate(index):
                    self.say(f"{each} = I[{place}]")
            for field in scope.writable:
                if field.is_sparse and space != field.name and space != f"qd.grouped({field.name})":
                    if self.chance(0.5):
                        scope.inactive.append(field)
                    else:
                        self.say(f"qd.activate({field.node}, [{', '.join(index)}])")
            self.statements(scope, 2, self.random.randint(2, 5))
            if result and self.chance(0.8):
                self.say(f"total += {self.integer(scope) if result == 'qd.i32' else self.real(scope)}")

    def write_run(self) -> None:
        generator = self.random.randint(0, 10**6)
        with self.block("def run():"):
            self.say(f"numbers = np.random.default_rng({generator})")
            for field in self.fields:
                if field.is_sparse and not field.lists:
                    self.say(f"_{field.name}()")
                elif field.lists:
                    self.say(f"_{field.name}({self.random.randint(0, self.size)})")
                elif field.kind == "struct":
                    self.say(f"{field.name}.a.from_numpy(numbers.integers(-50, 50, {field.name}.shape).astype(np.int32))")
                    self.say(f"{field.name}.b.from_numpy(numbers.standard_normal({field.name}.shape).astype(np.float32))")
                else:
                    inner = {"vec": "(3,)", "ivec": "(2,)", "mat": "(2, 2)"}.get(field.kind, "()")
                    kind = {"i": "int", "u": "uint", "f": "float"}[field.dtype[3]] + field.dtype[4:]
                    draw = "integers(0, 100, " if kind[0] != "f" else "standard_normal("
                    self.say(f"{field.name}.from_numpy(numbers.{draw}({field.name}.shape + {inner})).astype(np.{kind}))")
            self.say("found = {}")
            for round_ in range(2):
                for call in self.calls:
                    self.say(call)
                for place, call in enumerate(self.scalars):
                    self.say(f'found["{call.partition("(")[0]} {round_} {place}"] = {call}')
            for field in self.fields:
                if field.kind == "struct":
                    for member in "abv":
                        self.say(f'found["{field.name}.{member}"] = {field.name}.{member}.to_numpy()')
                else:
                    self.say(f'found["{field.name}"] = {field.name}.to_numpy()')
                if field.is_sparse and not field.lists:
                    self.say(f'found["cells of {field.name}"] = _{field.name}_active()')
            self.say("return found\n")
        for field in self.fields:
            if field.is_sparse:
                self.write_kernels_of(field)

    def write_kernels_of(self, field: Field) -> None:
        """Kernels that activate some elements of a sparse field, and tell which cells are active."""
        names = "i" if field.rank == 1 else "i, j"
        value = {
            "int": "i % 5",
            "float": "i * 0.25",
            "vec": "qd.Vector([i * 0.5, 1.0, 2.0])",
            "ivec": "qd.Vector([i, 3])",
            "mat": "qd.Matrix([[i * 0.5, 1.0], [2.0, 3.0]])",
            "struct": "Pair(i, i * 0.5, qd.Vector([1.0, 2.0, 3.0]))",
        }[field.kind]
        self.say("@qd.kernel")
        if field.lists:
            with self.block(f"def _{field.name}(count: qd.i32):"):
                self.say("qd.loop_config(serialize=True)")
                with self.block("for i in range(count):"):
                    self.say(f"{field.name}.append({value})")
            self.say("")
            return
        space = f"range({self.size})" if field.rank == 1 else f"qd.ndrange{self.shape}"
        step = self.random.randint(1, 4)
        chosen = f"if ({names.replace(', ', ' + 3 * ')}) % {step} == 0:"
        with self.block(f"def _{field.name}():"), self.block(f"for {names} in {space}:"), self.block(chosen):
            self.say(f"{field.name}[{names}] = {value}")
        self.say("")
        self.say("@qd.kernel")
        with self.block(f"def _{field.name}_active() -> qd.i32:"):
            self.say("count = 0")
            with self.block(f"for {names} in {space}:"):
                self.say(f"count += qd.cast(qd.is_active({field.node}, [{names}]), qd.i32)")
            self.say("return count")
        self.say("")


# --- running and comparing


def plain(value: Any) -> Any:
    """A result as JSON has it: [whether these are floats, numbers]."""
    import numpy as np

    array = np.asarray(value)
    is_float = array.dtype.kind == "f"
    return [is_float, [repr(each) if is_float and not math.isfinite(each) else each for each in array.ravel().tolist()]]


def run_here(seeds: list[int], directory: Path) -> None:
    """Run programs in this process; a line of JSON for each."""
    for seed in seeds:
        path = directory / f"program_{seed}.py"
        path.write_text(Program(seed).text)
        try:
            outcome: dict[str, Any] = {name: plain(each) for name, each in runpy.run_path(str(path))["run"]().items()}
        except Exception as error:
            outcome = {"error": f"{type(error).__name__}: {error}"}
        print("\n" + json.dumps({"seed": seed, "outcome": outcome}), flush=True)


def run_all(command: list[str], seeds: list[int], directory: Path) -> dict[int, dict[str, Any]]:
    """What programs do in processes of their own. A process that ends early is started again behind that program."""
    found: dict[int, dict[str, Any]] = {}
    left = list(seeds)
    while left:
        batch = left[:BATCH]
        arguments = [__file__, "--run", ",".join(map(str, batch)), "--keep", str(directory)]
        try:
            limit = SECONDS * len(batch)
            done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=limit, check=False)
            output, status = done.stdout, f"status {done.returncode}: {done.stderr[-500:]}"
        except subprocess.TimeoutExpired as expired:
            output, status = (expired.stdout or b"").decode(), "still running"
        for line in output.splitlines():
            if line.startswith('{"seed"'):
                row = json.loads(line)
                found[row["seed"]] = row["outcome"]
        ended = next((seed for seed in batch if seed not in found), None)
        if ended is not None:
            found[ended] = {"error": f"the process ended, {status}"}
        left = [seed for seed in left if seed not in found]
    return found


def are_close(one: Any, other: Any, limit: float) -> bool:
    return one == other or not (isinstance(one, str) or isinstance(other, str) or abs(one - other) > limit)


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """How two outcomes differ."""
    if "error" in expected or "error" in found:
        return [] if "error" in expected and "error" in found else [f"Quadrants {expected}"[:300], f"Samovar {found}"[:1500]]
    wrong = []
    for name, (is_float, numbers) in expected.items():
        _, own = found[name]
        scale = max((abs(each) for each in numbers if not isinstance(each, str)), default=0.0)
        limit = TOLERANCE * (scale + 1) if is_float else 0
        if len(numbers) != len(own) or not all(are_close(*pair, limit) for pair in zip(numbers, own, strict=True)):
            wrong.append(f"{name}: {str(numbers)[:200]} became {str(own)[:200]}")
    return wrong


def seeds_of(text: str) -> list[int]:
    first, colon, last = text.partition(":")
    return list(range(int(first), int(last))) if colon else [int(each) for each in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0:1000", help="a range, or numbers")
    parser.add_argument("--keep", help="a directory for the programs")
    parser.add_argument("--record", action="store_true", help="keep the results of Quadrants")
    parser.add_argument("--peer", default=sys.executable, help="the Python that has Quadrants")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        directory = Path(given.keep or place)
        directory.mkdir(exist_ok=True, parents=True)
        if given.run:
            run_here(seeds_of(given.run), directory)
            return
        seeds = seeds_of(given.seeds)
        count = same = 0
        for start in range(0, len(seeds), BATCH):
            part = seeds[start : start + BATCH]
            expected = run_all([given.peer], part, directory)
            if given.record:
                lines = [f'"{seed}": {json.dumps(expected[seed])}' for seed in part]
                RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
                return
            found = run_all([sys.executable, "-m", "samovar", "run", "--as", "quadrants"], part, directory)
            for seed in part:
                wrong = differences(expected[seed], found[seed])
                count, same = count + 1, same + (not wrong and "error" not in expected[seed])
                if wrong:
                    print(f"seed {seed}: " + "\n    ".join(wrong), flush=True)
                elif "error" in expected[seed]:
                    print(f"seed {seed}: both refuse: {expected[seed]['error'][-300:]}", flush=True)
        print(f"{same} of {count} programs agree")


if __name__ == "__main__":
    main()
