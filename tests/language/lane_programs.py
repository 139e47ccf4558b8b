"""Random programs for iterations side by side, each written twice: as a kernel, and as plain Python over `ir_arithmetic`.

An iteration has loops with bounds from memory and from variables, that it leaves in the middle or goes on with; indices,
bounds, loop variables and conditions go through every integer type. What is read is in bounds where a condition says so, or
by construction; arrays are just as long as that takes. An iteration writes elements of its own only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

WIDE = ("i32", "i64", "u32", "u64")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
#: Elements beyond those of the iterations at either end: `x[i]` is that of iteration i - PAD.
PAD = 8
#: Elements of the arrays that all iterations read the same of.
FEW = 16
#: Iterations of one loop, loops inside each other, and statements.
TURNS, DEPTH, STATEMENTS = 5, 3, 24

OPERATORS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "floordiv": "//", "mod": "%"}
SHIFTS = {"shl": "<<", "shr": ">>"}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")

PARAMETERS = {
    "x": "N[sv.f32, 1]",  # by iteration, padded
    "y": "N[sv.i32, 1]",  # by iteration, padded
    "c": "N[sv.i32, 1]",  # FEW, small numbers
    "d": "N[sv.{narrow}, 1]",  # FEW, small numbers
    "z": "N[sv.f32, 2]",  # FEW rows, padded
    "o": "N[sv.f32, 1]",  # results
    "q": "N[sv.{wide}, 1]",  # results
    "e": "N[sv.{small}, 1]",  # by iteration, padded
    "f": "N[sv.{small}, 1]",  # results
    "t": "N[sv.i32, 1]",  # a total and an extreme
    "m": "sv.i32",
    "n": "sv.i32",
}


@dataclass(frozen=True)
class Expression:
    kernel: str
    python: str
    type: str


@dataclass
class Scope:
    names: dict[str, str] = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)  # that may be assigned
    uniform: list[str] = field(default_factory=list)  # variables of `for` loops
    depth: int = 0
    loops: int = 0


@dataclass(frozen=True)
class LaneProgram:
    kernel: str
    python: str
    narrow: str
    wide: str
    small: str


class _Writer:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.narrow = random.choice(("i32", "i32", "u8", "i16", "u32", "i64"))
        self.wide = random.choice(("i32", "i32", "i32", "i64", "u32"))
        self.small = random.choice(INTEGERS)
        self.lines: list[tuple[int, str, str]] = []
        self.count = 0
        self.indent = 1
        self.left = STATEMENTS
        self.calls = False
        #: What most programs do without, because few of those with it run side by side.
        self.extras = [kind for kind in ("call", "border", "extreme") if random.random() < 0.1]
        #: Whether indices go through types that keep iterations from running side by side, and bounds of loops differ.
        self.wraps, self.bounds = random.random() < 0.2, random.random() < 0.1

    def line(self, kernel: str, python: str | None = None) -> None:
        self.lines.append((self.indent, kernel, kernel if python is None else python))

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # Expressions.

    def constant(self, type: str) -> Expression:
        value = self.random.choice((0, 1, 2, 3, 5, 7, 10, 31, 63, 100, 127))
        if type == "f32":
            number = value / 4 if self.random.random() < 0.5 else -value / 4
            return Expression(repr(number), repr(number), "f32")
        if type[0] == "i" and self.random.random() < 0.3:
            value = -value
        return Expression(f"sv.{type}({value})", str(value), type)

    def converted(self, each: Expression, type: str) -> Expression:
        if each.type == type:
            return each
        return Expression(f"sv.{type}({each.kernel})", f"cast({each.python}, {each.type}, {type})", type)

    def integer(self, scope: Scope, type: str, depth: int) -> Expression:
        random = self.random
        choice = random.random()
        if not depth or choice < 0.25:
            known = [name for name, its in scope.names.items() if its == type]
            if known and random.random() < 0.7:
                name = random.choice(known)
                return Expression(name, name, type)
            others = [name for name, its in scope.names.items() if its in INTEGERS]
            if others and random.random() < 0.6:
                name = random.choice(others)
                return self.converted(Expression(name, name, scope.names[name]), type)
            return self.constant(type)
        if choice < 0.35:
            return self.converted(self.uniform_element(scope), type)
        if choice < 0.45:
            return self.converted(self.integer(scope, random.choice(INTEGERS), depth - 1), type)
        if choice < 0.55:
            value = self.floating(scope, depth - 1)
            return self.constant(type) if _is_number(value.kernel) else self.converted(value, type)
        left = self.integer(scope, type, depth - 1)
        if choice < 0.65:
            code, sign = random.choice(list(SHIFTS.items()))
            right = self.integer(scope, type, 0)
        elif choice < 0.72:
            condition = self.condition(scope, depth - 1)
            right = self.integer(scope, type, depth - 1)
            return Expression(
                f"sv.select({condition.kernel}, {left.kernel}, {right.kernel})",
                f"({left.python} if {condition.python} else {right.python})",
                type,
            )
        elif choice < 0.8:
            code = random.choice(("min", "max"))
            right = self.integer(scope, type, depth - 1)
            return Expression(f"{code}({left.kernel}, {right.kernel})", f"{code}({left.python}, {right.python})", type)
        else:
            code, sign = random.choice(list(OPERATORS.items()))
            divides = code in ("floordiv", "mod") and random.random() < 0.95
            right = self.constant(type) if divides else self.integer(scope, type, depth - 1)
        return Expression(
            f"({left.kernel} {sign} {right.kernel})", f'op("{code}", {type}, {left.python}, {right.python})', type
        )

    def uniform_element(self, scope: Scope) -> Expression:
        """Something that is the same for all iterations, as long as they are there."""
        index: Expression
        if scope.uniform and self.random.random() < 0.8:
            name = self.random.choice(scope.uniform)
            index = Expression(name, name, scope.names[name])
            kernel = f"{index.kernel} & sv.{index.type}({FEW - 1})"
            python = f"{index.python} & {FEW - 1}"
        else:
            kernel = python = str(self.random.randrange(FEW))
        array, type = self.random.choice((("c", "i32"), ("d", self.narrow)))
        return Expression(f"{array}[{kernel}]", f"int({array}[{python}])", type)

    def floating(self, scope: Scope, depth: int) -> Expression:
        random = self.random
        choice = random.random()
        known = [name for name, its in scope.names.items() if its == "f32"]
        if not depth or choice < 0.3:
            if known and random.random() < 0.8:
                name = random.choice(known)
                return Expression(name, name, "f32")
            return self.constant("f32")
        if choice < 0.4:
            offset = random.randrange(-PAD, PAD + 1)
            return Expression(f"x[i + {PAD + offset}]", f"float(x[i + {PAD + offset}])", "f32")
        if choice < 0.5 and scope.uniform:
            name = random.choice(scope.uniform)
            row = f"{name} & sv.{scope.names[name]}({FEW - 1})"
            offset = random.randrange(-PAD, PAD + 1)
            python = f"float(z[{name} & {FEW - 1}, i + {PAD + offset}])"
            return Expression(f"z[{row}, i + {PAD + offset}]", python, "f32")
        if choice < 0.55:
            return self.converted(self.integer(scope, random.choice(INTEGERS), depth - 1), "f32")
        left, right = self.floating(scope, depth - 1), self.floating(scope, depth - 1)
        if choice < 0.65:
            condition = self.condition(scope, depth - 1)
            return Expression(
                f"sv.select({condition.kernel}, {left.kernel}, {right.kernel})",
                f"({left.python} if {condition.python} else {right.python})",
                "f32",
            )
        if choice < 0.75:
            code = random.choice(("min", "max"))
            python = f'op("{code}", f32, {left.python}, {right.python})'
            return Expression(f"{code}({left.kernel}, {right.kernel})", python, "f32")
        code = random.choice(("add", "sub", "mul"))
        return Expression(
            f"({left.kernel} {OPERATORS[code]} {right.kernel})", f'op("{code}", f32, {left.python}, {right.python})', "f32"
        )

    def condition(self, scope: Scope, depth: int) -> Expression:
        sign = self.random.choice(COMPARISONS)
        choice = self.random.random()
        if choice < 0.35:
            left, right = self.floating(scope, depth), self.floating(scope, 0)
        elif choice < 0.6 and scope.uniform:
            left = self.converted(self.uniform_element(scope), "i32")
            right = self.constant("i32")
        else:
            type = self.random.choice(INTEGERS)
            left, right = self.integer(scope, type, depth), self.integer(scope, type, 0)
        return Expression(f"({left.kernel} {sign} {right.kernel})", f"({left.python} {sign} {right.python})", "u1")

    # Statements.

    def block(self, scope: Scope, most: int = 3) -> None:
        names, assigned = dict(scope.names), set(scope.assigned)
        self.indent += 1
        before = len(self.lines)
        for _ in range(self.random.randint(1, most)):
            self.statement(scope)
        if len(self.lines) == before:
            self.line("pass")
        self.indent -= 1
        scope.names, scope.assigned = names, assigned

    def statement(self, scope: Scope) -> None:
        self.left -= 1
        if self.left < 0:
            return
        kinds = ["assign"] * 4 + ["choose"] * 3 + ["narrow"] * 2 + ["write", *self.extras]
        if scope.depth:
            kinds += ["for_"] * 3 + ["while_"] * 2
        if scope.loops:
            kinds += ["leave"] * 2
        getattr(self, "_" + self.random.choice(kinds))(scope)

    def _assign(self, scope: Scope) -> None:
        if scope.assigned and self.random.random() < 0.8:
            name = self.random.choice(sorted(scope.assigned))
            type = scope.names[name]
        else:
            type = self.random.choice(("f32", *INTEGERS))
            name = self.name("v")
        value = self.floating(scope, 2) if type == "f32" else self.integer(scope, type, 2)
        # A type of its own: what is assigned is of that type already.
        self.line(f"{name} = sv.{type}({value.kernel})", f"{name} = {value.python}")
        scope.names[name] = type
        scope.assigned.add(name)

    def _choose(self, scope: Scope) -> None:
        condition = self.condition(scope, 1)
        self.line(f"if {condition.kernel}:", f"if {condition.python}:")
        self.block(scope)
        while self.random.random() < 0.3:
            condition = self.condition(scope, 1)
            self.line(f"elif {condition.kernel}:", f"elif {condition.python}:")
            self.block(scope)
        if self.random.random() < 0.4:
            self.line("else:")
            self.block(scope)

    def _narrow(self, scope: Scope) -> None:
        """An element next to the iteration's, by an index that may wrap: read where it is in bounds."""
        if not self.floats(scope):
            return
        target = self.random.choice(self.floats(scope))
        variable = "i" if not scope.uniform or self.random.random() < 0.8 else self.random.choice(scope.uniform)
        index = Expression(variable, variable, scope.names[variable])
        for _ in range(self.random.choice((1, 1, 2, 2, 3))):
            if self.random.random() < 0.5:
                index = self.converted(index, self.random.choice(INTEGERS if self.wraps else WIDE))
            else:
                constant = self.constant(index.type)
                code = self.random.choice(("add", "sub"))
                index = Expression(
                    f"({index.kernel} {OPERATORS[code]} {constant.kernel})",
                    f'op("{code}", {index.type}, {index.python}, {constant.python})',
                    index.type,
                )
        place = self.name("e")
        element = f"y[{place}]" if self.random.random() < 0.3 else f"x[{place}]"
        # A local of its own, or the expression itself: both are how programs are written.
        text = place
        if self.random.random() < 0.5:
            self.line(f"{place} = {index.kernel}", f"{place} = {index.python}")
        else:
            text = index.kernel
            element = element.replace(place, text)
            self.line("pass", f"{place} = {index.python}")
        self.line(f"if sv.i64({text}) >= 0 and sv.i64({text}) < n + {2 * PAD}:", f"if 0 <= {place} < n + {2 * PAD}:")
        self.indent += 1
        read = f"float({element[0]}[{place}])"
        self.line(
            f"{target} = {target} * 0.5 + sv.f32({element})",
            f'{target} = op("add", f32, op("mul", f32, {target}, 0.5), op("add", f32, {read}, 0.0))',
        )
        self.indent -= 1

    def floats(self, scope: Scope) -> list[str]:
        return [name for name in sorted(scope.assigned) if scope.names[name] == "f32"]

    def _call(self, scope: Scope) -> None:
        """A func that returns from the middle of a loop, or before it."""
        if not self.floats(scope):
            return
        target, value = self.random.choice(self.floats(scope)), self.floating(scope, 1)
        number, some = self.integer(scope, "i32", 1), self.converted(self.uniform_element(scope), "i32")
        self.line(
            f"{target} = early({value.kernel}, {number.kernel}, {some.kernel}, m)",
            f"{target} = early({value.python}, {number.python}, {some.python}, m)",
        )
        self.calls = True

    def _border(self, scope: Scope) -> None:
        """Elements around the iteration's, where there are some, and those at the ends beyond."""
        if not self.floats(scope):
            return
        target, variable = self.random.choice(self.floats(scope)), self.name("b")
        first, last, step = self.random.choice(((-2, 3, 1), (2, -3, -1), (3, 0, -2), (0, 2, 1)))
        low, high = self.random.choice((("0", f"n + {2 * PAD - 1}"), ("sv.i32(1)", f"m + {PAD}")))
        self.line(f"for {variable} in range({first}, {last}, {step}):")
        for form in (0, 1):
            place = f"max(min(i + {variable}, {high}), {low})"
            element = f"x[{place}]" if form == 0 else f"float(x[{place.replace('sv.i32(1)', '1')}])"
            if form == 0:
                kernel = f"    {target} = {target} * 0.5 + {element}"
            else:
                python = f'    {target} = op("add", f32, op("mul", f32, {target}, 0.5), {element})'
        self.line(kernel, python)

    def _extreme(self, scope: Scope) -> None:
        """The greatest or the least of neighbors in a row."""
        if not self.floats(scope):
            return
        target, variable, code = self.random.choice(self.floats(scope)), self.name("j"), self.random.choice(("min", "max"))
        first = self.random.randrange(PAD)
        types = INTEGERS if self.wraps else ("i32", "i64", "u32")
        type = self.random.choice(types)
        limit = f"min(n + {2 * PAD}, 128)" if type == "i8" else f"n + {2 * PAD}"
        kernel, python = f"sv.{type}({variable})", f"cast({variable}, i32, {type})"
        self.line(f"for {variable} in range({first}, {limit}):")
        self.line(
            f"    {target} = {code}({target}, x[{kernel}])",
            f'    {target} = op("{code}", f32, {target}, float(x[{python}]))',
        )

    def _write(self, scope: Scope) -> None:
        if self.random.random() < 0.6:
            value = self.floating(scope, 1)
            self.line(f"o[i] = {value.kernel}", f"o[i] = {value.python}")
        else:
            value = self.integer(scope, self.wide, 1)
            self.line(f"q[i] += {value.kernel}", f'q[i] = op("add", {self.wide}, int(q[i]), {value.python})')

    def _leave(self, scope: Scope) -> None:
        condition = self.condition(scope, 1)
        self.line(f"if {condition.kernel}:", f"if {condition.python}:")
        self.indent += 1
        if self.random.random() < 0.3:
            self._assign(Scope(dict(scope.names), set(scope.assigned), scope.uniform))
        self.line(self.random.choice(("break", "continue")))
        self.indent -= 1

    def bound(self, scope: Scope) -> Expression:
        choice = self.random.random()
        if choice < 0.3:
            return Expression("m", "m", "i32")
        if choice < 0.75:
            element = self.uniform_element(scope)
            return element if self.random.random() < 0.7 else self.converted(element, self.random.choice(INTEGERS))
        if choice < 0.9 and self.bounds:
            type = self.random.choice(INTEGERS)
            return self.constant(type) if self.random.random() < 0.3 else self.converted(self.integer(scope, "i32", 1), type)
        number = str(self.random.randrange(TURNS))
        return Expression(number, number, "i32")

    def _for_(self, scope: Scope) -> None:
        """At most TURNS turns: bounds are masked where they are not small anyway."""
        bound = self.bound(scope)
        if not bound.kernel.isdigit() and bound.kernel != "m":
            bound = Expression(f"{bound.kernel} & sv.{bound.type}(3)", f"{bound.python} & 3", bound.type)
        variable = self.name("p")
        step = self.random.choice((1, 1, 1, 2))
        if step == 1 and self.random.random() < 0.7:
            self.line(f"for {variable} in range({bound.kernel}):", f"for {variable} in range({bound.python}):")
        elif bound.type in ("i32", "i64") and self.random.random() < 0.5:
            head = f"for {variable} in range("
            self.line(f"{head}{bound.kernel}, -1, -1):", f"{head}{bound.python}, -1, -1):")
        else:
            type = bound.type
            self.line(
                f"for {variable} in range(sv.{type}(1), {bound.kernel}, sv.{type}({step})):",
                f"for {variable} in range(1, {bound.python}, {step}):",
            )
        inner = Scope(
            {**scope.names, variable: bound.type if bound.type in WIDE else "i32"},
            set(scope.assigned),
            [*scope.uniform, variable],
            scope.depth - 1,
            scope.loops + 1,
        )
        self.block(inner, 4)

    def _while_(self, scope: Scope) -> None:
        counter = self.name("w")
        self.line(f"{counter} = 0")
        condition = self.condition(scope, 1)
        limit = self.random.randint(1, TURNS)
        self.line(
            f"while {counter} < {limit} and {condition.kernel}:", f"while {counter} < {limit} and {condition.python}:"
        )
        inner = Scope(
            {**scope.names, counter: "i32"}, set(scope.assigned), list(scope.uniform), scope.depth - 1, scope.loops + 1
        )
        self.indent += 1
        self.line(f"{counter} += 1")
        self.indent -= 1
        self.block(inner, 4)


#: A func with a way out before its loop, in it and after it, in both languages.
_FUNC = """@sv.func
def early(v: sv.f32, k: sv.i32, some: sv.i32, m: sv.i32) -> sv.f32:
    if v > 6.0:
        return v * 0.25
    for p in range(m):
        if k & 7 == p:
            return v - 1.0
        for s in range(some - p):
            v = v * 0.5 + 1.5
        k = k + some
    if k % 3 == 1:
        return 0.5
    return v + 2.0
"""
_PYTHON_FUNC = """def early(v, k, some, m):
    if v > 6.0:
        return op("mul", f32, v, 0.25)
    for p in range(m):
        if k & 7 == p:
            return op("sub", f32, v, 1.0)
        for s in range(some - p):
            v = op("add", f32, op("mul", f32, v, 0.5), 1.5)
        k = op("add", i32, k, some)
    if k % 3 == 1:
        return 0.5
    return op("add", f32, v, 2.0)
"""


def lane_program(random: Random) -> LaneProgram:
    """One program."""
    writer = _Writer(random)
    scope = Scope({"i": "i32", "m": "i32"}, set(), [], DEPTH)
    begin = random.choice((0, 0, 0, 1, 3))
    writer.line(f"for i in range({begin}, n):")
    writer.indent += 1
    for name, value, type in (("v", f"x[i + {PAD}]", "f32"), ("k", f"y[i + {PAD}]", "i32")):
        python = f"float({value})" if type == "f32" else f"int({value})"
        writer.line(f"{name} = {value}", f"{name} = {python}")
        scope.names[name] = type
        scope.assigned.add(name)
    offset = PAD + random.choice((-PAD, -1, 0, 0, 1, PAD))
    writer.line(f"g = e[i + {offset}]", f"g = int(e[i + {offset}])")
    scope.names["g"] = writer.small
    scope.assigned.add("g")
    narrow = random.choice(INTEGERS)
    writer.line(f"h = sv.{narrow}(i)", f"h = cast(i, i32, {narrow})")
    scope.names["h"] = narrow
    scope.assigned.add("h")
    for _ in range(random.randint(1, 3)):
        writer._for_(scope) if random.random() < 0.7 else writer._while_(scope)
        if random.random() < 0.4:
            writer.statement(scope)
    writer.line("o[i] = v")
    wide = writer.wide
    writer.line(
        f"q[i] = sv.{wide}(k) + sv.{wide}(h)",
        f'q[i] = op("add", {wide}, cast(k, i32, {wide}), cast(h, {narrow}, {wide}))',
    )
    writer.line(f"f[i] = g + sv.{writer.small}(k)", f'f[i] = op("add", {writer.small}, g, cast(k, i32, {writer.small}))')
    if random.random() < 0.4:
        writer.line("sv.atomic_add(t[0], k)", 't[0] = op("add", i32, int(t[0]), k)')
    if random.random() < 0.3:
        writer.line("sv.atomic_max(t[1], k)", "t[1] = max(int(t[1]), k)")
    listed = ", ".join(f"{name}: {kind}" for name, kind in PARAMETERS.items())
    heading = f"def k({listed.format(narrow=writer.narrow, wide=writer.wide, small=writer.small)}):"
    func = _FUNC if writer.calls else ""
    kernel = "\n".join(
        [f"N = sv.types.NDArray\n{func}@sv.kernel", heading, *("    " * depth + each for depth, each, _ in writer.lines)]
    )
    func = _PYTHON_FUNC if writer.calls else ""
    heading = f"{func}def k({', '.join(PARAMETERS)}):"
    python = "\n".join([heading, *("    " * depth + each for depth, _, each in writer.lines)])
    return LaneProgram(kernel + "\n", python + "\n", writer.narrow, writer.wide, writer.small)


def _is_number(text: str) -> bool:
    return text.lstrip("-").replace(".", "").isdigit()
