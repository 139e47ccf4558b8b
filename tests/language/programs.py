"""Random programs, each written twice: as a kernel, and as plain Python over the model of the language.

The two texts have the same statements in the same order. Where the kernel says `a + b`, Python says which types meet there;
where the kernel assigns, Python converts to the type that the name has. Every program ends, touches only elements that
exist, and says so where a number that the compiler knows does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import strategies as st

from . import model
from .model import BITWISE, COMPARISONS, FLOATS, SIGNS, WHOLE

#: Elements of each input array, more than the widest vector has; an index is masked to it.
EXTENT = 128
INPUTS = {"ai": "i32", "al": "i64", "ab": "u8", "au": "u32", "af": "f32", "ad": "f64", "at": "u1", "ah": "i16"}
SCALARS = {"s": "i32", "t": "f64"}
#: Types of locals, casts and parameters.
TYPES = ("i32", "i64", "f32", "f64", "u8", "u32", "i8", "u64", "u1", "f16")
#: What an expression is: methods of `Writer`.
KINDS = ("binary",) * 5 + ("compare", "unary", "choice", "logic", "call", "cast", "extremum", "load", "power")
#: Rows of the two output arrays, integers and floats.
ROWS = 3


@dataclass(frozen=True)
class Expression:
    """An expression of known type in both texts; `literal` if it is a number in the text, `known` if it may be one to the
    compiler, which has to fit where it goes."""

    dtype: str
    kernel: str
    python: str
    literal: bool = False
    known: bool = False


@dataclass(frozen=True)
class Func:
    name: str
    parameters: tuple[tuple[str, str], ...]
    result: str
    loops: bool


@dataclass
class Scope:
    """The names that code can use, and the loops around it."""

    names: dict[str, str] = field(default_factory=dict)
    constant: set[str] = field(default_factory=set)  # that may not be assigned
    shared: set[str] = field(default_factory=set)  # of the kernel, seen from a parallel loop
    loops: int = 0
    leaves: tuple[str, ...] = ()  # `break` and `continue`, as far as they may be used
    index: str | None = None  # of the parallel loop
    arrays: bool = True
    top: bool = False  # where loops, also those of funcs, are parallel tasks

    def inner(self, **changes: object) -> Scope:
        own = {"names": dict(self.names), "constant": set(self.constant), "shared": set(self.shared), "top": False}
        return replace(self, **{**own, **changes})


@dataclass
class Text:
    """Lines of both programs."""

    kernel: list[str] = field(default_factory=list)
    python: list[str] = field(default_factory=list)

    def add(self, kernel: str, python: str | None = None) -> None:
        self.kernel.append(kernel)
        self.python.append(kernel if python is None else python)

    def block(self, inner: Text) -> None:
        self.kernel += ["    " + line for line in inner.kernel]
        self.python += ["    " + line for line in inner.python]


@dataclass(frozen=True, repr=False)
class Program:
    kernel: str
    python: str


class Writer:
    """Writes one program, asking a source of random numbers for every choice."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0
        self.funcs: list[Func] = []

    # --- choices

    def pick(self, options):
        return options[self.random.randrange(len(options))]

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def chance(self, one_in: int) -> bool:
        return self.number(1, one_in) == one_in

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # --- expressions

    def literal(self) -> Expression:
        if self.chance(3):
            value = self.pick((0.0, 1.0, 0.5, -2.25, 3.0, 0.1, 1e6, -1e-3))
            return Expression("f32", repr(value) if value >= 0 else f"({value!r})", repr(value), literal=True)
        value = self.pick((0, 1, 2, 3, 5, 7, 8, 31, 255, -1, -2, -7, 2**31 - 1, -(2**31), 2**32, 2**40 + 1))
        dtype = "i32" if -(2**31) <= value < 2**31 else "i64"
        return Expression(dtype, repr(value) if value >= 0 else f"({value!r})", repr(value), literal=True)

    def leaf(self, scope: Scope) -> Expression:
        readable = [name for name in scope.names if name not in scope.shared]
        if readable and not self.chance(4):
            name = self.pick(readable)
            return Expression(scope.names[name], name, name, known=True)
        if scope.arrays and (scope.index is not None or not readable):
            array = self.pick(tuple(INPUTS))
            place = f"{array}[{scope.index or self.number(0, EXTENT - 1)}]"
            return Expression(INPUTS[array], place, place)
        return self.literal() if readable else Expression("i32", "sv.i32(4)", "4", known=True)

    def expression(self, scope: Scope, depth: int) -> Expression:
        if depth <= 0 or self.chance(5):
            return self.leaf(scope)
        return getattr(self, self.pick(KINDS))(scope, depth - 1)

    def run_time(self, scope: Scope, depth: int) -> Expression:
        """An expression that is not a number in the text, which Python would fold."""
        expression = self.expression(scope, depth)
        return self.as_value(expression) if expression.literal else expression

    def as_value(self, literal: Expression) -> Expression:
        dtype = literal.dtype
        return Expression(dtype, f"sv.{dtype}({literal.kernel})", self.cast_text(literal, dtype), known=True)

    def whole(self, scope: Scope, depth: int) -> Expression:
        """A run-time integer."""
        expression = self.run_time(scope, depth)
        return expression if expression.dtype in WHOLE else self.cast_to(expression, "i32")

    def operands(self, scope: Scope, depth: int) -> tuple[Expression, Expression]:
        left = self.expression(scope, depth)
        right = self.run_time(scope, depth) if left.literal else self.expression(scope, depth)
        return left, right

    @staticmethod
    def cast_text(expression: Expression, dtype: str) -> str:
        if expression.dtype == dtype and not expression.literal:
            return expression.python
        return f"cv({expression.python}, {dtype!r})"

    @staticmethod
    def operate(code: str, left: Expression, right: Expression) -> Expression:
        dtype = "u1" if code in COMPARISONS else model.result_type(code, left.dtype, right.dtype)
        python = f"do({code!r}, {left.dtype!r}, {left.python}, {right.dtype!r}, {right.python})"
        kernel = (
            f"{code}({left.kernel}, {right.kernel})"
            if code in ("min", "max")
            else f"({left.kernel} {SIGNS[code]} {right.kernel})"
        )
        return Expression(dtype, kernel, python)

    def fit(self, expression: Expression, dtype: str) -> Expression:
        """The expression, or where it may be known not to fit an integer type, a cast of it."""
        known = expression.literal or expression.known
        lossy = known and dtype in model.INTEGERS and expression.dtype != dtype
        return self.cast_to(expression, dtype) if lossy else expression

    def cast_to(self, expression: Expression, dtype: str) -> Expression:
        known = expression.literal or expression.known
        form = "sv.cast({0}, sv.{1})" if known else self.pick(("sv.{1}({0})", "sv.cast({0}, sv.{1})"))
        return Expression(dtype, form.format(expression.kernel, dtype), self.cast_text(expression, dtype), known=known)

    def binary(self, scope: Scope, depth: int) -> Expression:
        left, right = self.operands(scope, depth)
        code = self.pick(("add", "sub", "mul", "add", "sub", "mul", "div", "floordiv", "mod", *BITWISE, "shl", "shr"))
        if code in (*BITWISE, "shl", "shr") and model.promote(left.dtype, right.dtype) in FLOATS:
            code = self.pick(("add", "sub", "mul"))
        return self.operate(code, left, right)

    def compare(self, scope: Scope, depth: int) -> Expression:
        left, right = self.operands(scope, depth)
        first = self.pick(tuple(COMPARISONS))
        if not self.chance(4):
            return self.operate(first, left, right)
        third, second = self.run_time(scope, 0), self.pick(tuple(COMPARISONS))
        if right.literal:
            right = self.as_value(right)
        one, two = self.operate(first, left, right), self.operate(second, right, third)
        chained = f"({left.kernel} {SIGNS[first]} {right.kernel} {SIGNS[second]} {third.kernel})"
        return Expression("u1", chained, f"({one.python} and {two.python})")

    def unary(self, scope: Scope, depth: int) -> Expression:
        operand = self.run_time(scope, depth)
        dtype = operand.dtype
        kinds = ["-", "abs", "not"]
        kinds += ["sqrt", "floor", "ceil"] if dtype in FLOATS else ["~"]
        kind = self.pick(kinds)
        arithmetic = "i32" if dtype == "u1" else dtype
        if kind == "-":
            return Expression(arithmetic, f"(-{operand.kernel})", f"negate({dtype!r}, {operand.python})")
        if kind == "abs":
            return Expression(arithmetic, f"abs({operand.kernel})", f"magnitude({dtype!r}, {operand.python})")
        if kind == "not":
            return Expression("u1", f"(not {operand.kernel})", f"(not {operand.python})")
        if kind == "~":
            return Expression(dtype, f"(~{operand.kernel})", f"invert({dtype!r}, {operand.python})")
        return Expression(dtype, f"sv.{kind}({operand.kernel})", f"of_real({kind!r}, {dtype!r}, {operand.python})")

    def choice(self, scope: Scope, depth: int) -> Expression:
        condition = self.run_time(scope, depth)
        first, second = self.operands(scope, depth)
        dtype = model.promote(first.dtype, second.dtype)
        one, other = self.cast_text(first, dtype), self.cast_text(second, dtype)
        if self.chance(2):  # both are evaluated
            kernel = f"sv.select({condition.kernel}, {first.kernel}, {second.kernel})"
            return Expression(dtype, kernel, f"select({condition.python}, {one}, {other})")
        kernel = f"({first.kernel} if {condition.kernel} else {second.kernel})"
        return Expression(dtype, kernel, f"({one} if {condition.python} else {other})")

    def logic(self, scope: Scope, depth: int) -> Expression:
        """`and` and `or` give one of their operands, in the type that both meet in."""
        left, right = self.run_time(scope, depth), self.run_time(scope, depth)
        word = self.pick(("and", "or"))
        dtype = model.promote(left.dtype, right.dtype)
        chosen, other = (right, left) if word == "and" else (left, right)
        python = f"({self.cast_text(chosen, dtype)} if {left.python} else {self.cast_text(other, dtype)})"
        return Expression(dtype, f"({left.kernel} {word} {right.kernel})", python)

    def extremum(self, scope: Scope, depth: int) -> Expression:
        left, right = self.operands(scope, depth)
        if model.promote(left.dtype, right.dtype) in FLOATS:
            # Which of two zeros is the smaller one is open: adding 0.0 leaves one of them.
            zero = Expression("f32", "0.0", "0.0", literal=True)
            left, right = (side if side.literal else self.operate("add", side, zero) for side in (left, right))
        return self.operate(self.pick(("min", "max")), left, right)

    def cast(self, scope: Scope, depth: int) -> Expression:
        expression = self.run_time(scope, depth)
        if self.chance(3):
            name, dtype = self.pick((("int", "i32"), ("float", "f32"), ("bool", "u1")))
            known = expression.known
            return Expression(dtype, f"{name}({expression.kernel})", self.cast_text(expression, dtype), known=known)
        return self.cast_to(expression, self.pick(TYPES))

    def load(self, scope: Scope, depth: int) -> Expression:
        if not scope.arrays:
            return self.leaf(scope)
        array = self.pick(tuple(INPUTS))
        mask = Expression("i32", str(EXTENT - 1), str(EXTENT - 1), literal=True)
        index = self.operate("and", self.whole(scope, depth), mask)
        return Expression(INPUTS[array], f"{array}[{index.kernel}]", f"{array}[{index.python}]")

    def power(self, scope: Scope, depth: int) -> Expression:
        base = self.run_time(scope, depth)
        exponent = self.number(0, 5)
        dtype = model.result_type("pow", base.dtype, "i32")
        python = f"power({dtype!r}, {self.cast_text(base, dtype)}, {exponent})"
        return Expression(dtype, f"({base.kernel} ** {exponent})", python, known=base.known and exponent == 1)

    def call(self, scope: Scope, depth: int) -> Expression:
        # At the top level the loops of a func would be parallel, and its variables shared by their iterations.
        funcs = [func for func in self.funcs if not (func.loops and scope.top)]
        if not funcs:
            return self.binary(scope, depth)
        func = self.pick(funcs)
        kernel, python = [], []
        for position, (name, dtype) in enumerate(func.parameters):
            argument = self.fit(self.expression(scope, depth - 1), dtype)
            by_name = position and position == len(func.parameters) - 1 and self.chance(2)
            kernel.append(f"{name}={argument.kernel}" if by_name else argument.kernel)
            python.append(self.cast_text(argument, dtype))
        return Expression(func.result, f"{func.name}({', '.join(kernel)})", f"{func.name}({', '.join(python)})")

    # --- statements

    def statements(self, scope: Scope, depth: int, text: Text) -> None:
        for _ in range(self.number(1, 3)):
            self.statement(scope, depth, text)

    def statement(self, scope: Scope, depth: int, text: Text) -> None:
        kinds = ["new", "assign", "assign", "augment", "output"]
        if depth > 0:
            kinds += ["branch", "branch", "both"]
            if scope.loops < 2:
                kinds += ["loop", "loop", "repeat"]
        getattr(self, f"write_{self.pick(kinds)}")(scope, depth, text)

    def write_new(self, scope: Scope, depth: int, text: Text) -> None:
        value = self.expression(scope, 3)
        name = self.fresh("x")
        if self.chance(3):
            dtype = self.pick(TYPES)
            value = self.fit(value, dtype)
            text.add(f"{name}: sv.{dtype} = {value.kernel}", f"{name} = cv({value.python}, {dtype!r})")
        else:
            value = self.as_value(value) if value.literal else value  # a plain number says nothing of the type
            dtype = value.dtype
            text.add(f"{name} = {value.kernel}", f"{name} = cv({value.python}, {dtype!r})")
        scope.names[name] = dtype

    def assignable(self, scope: Scope) -> list[str]:
        return [name for name in scope.names if name not in scope.constant and name not in scope.shared]

    def write_assign(self, scope: Scope, depth: int, text: Text) -> None:
        names = self.assignable(scope)
        if not names:
            return self.write_new(scope, depth, text)
        name = self.pick(names)
        dtype = scope.names[name]
        value = self.fit(self.expression(scope, 3), dtype)
        text.add(f"{name} = {value.kernel}", f"{name} = cv({value.python}, {dtype!r})")

    def write_augment(self, scope: Scope, depth: int, text: Text) -> None:
        if scope.shared and self.chance(2):
            return self.write_reduction(scope, text)
        names = self.assignable(scope)
        if not names:
            return self.write_new(scope, depth, text)
        name = self.pick(names)
        dtype = scope.names[name]
        value = self.run_time(scope, 2)
        result = self.operate(self.pick(("add", "sub", "mul")), Expression(dtype, name, name), value)
        if result.dtype in FLOATS and dtype not in FLOATS:
            value = self.whole(scope, 2)
            result = self.operate("add", Expression(dtype, name, name), value)
        sign = result.kernel[len(f"({name} ")]
        text.add(f"{name} {sign}= {value.kernel}", f"{name} = cv({result.python}, {dtype!r})")

    def write_reduction(self, scope: Scope, text: Text) -> None:
        """A variable of the kernel that iterations share: integers, so that their order does not matter."""
        name = self.pick(sorted(scope.shared))
        dtype = scope.names[name]
        value = self.fit(self.whole(scope, 2), dtype)
        added = f"do('add', {dtype!r}, {name}, {dtype!r}, cv({value.python}, {dtype!r}))"
        text.add(f"{name} += {value.kernel}", f"{name} = {added}")

    def write_output(self, scope: Scope, depth: int, text: Text) -> None:
        """An element of the output that this iteration owns; in serial code, any."""
        if not scope.arrays:
            return self.write_new(scope, depth, text)
        value = self.expression(scope, 3)
        row = self.number(0, ROWS - 1)
        column = scope.index or str(self.number(0, EXTENT - 1))
        array, dtype = ("real", "f64") if value.dtype in FLOATS else ("whole", "i64")
        value = self.fit(value, dtype)
        if self.chance(4) and not value.literal:
            added = f"do('add', {dtype!r}, {array}[{row}][{column}], {dtype!r}, cv({value.python}, {dtype!r}))"
            text.add(f"{array}[{row}, {column}] += {value.kernel}", f"{array}[{row}][{column}] = {added}")
        else:
            stored = f"cv({value.python}, {dtype!r})"
            text.add(f"{array}[{row}, {column}] = {value.kernel}", f"{array}[{row}][{column}] = {stored}")

    def body(self, scope: Scope, depth: int) -> Text:
        text = Text()
        self.statements(scope, depth, text)
        return text

    def write_branch(self, scope: Scope, depth: int, text: Text) -> None:
        condition = self.run_time(scope, 2)
        text.add(f"if {condition.kernel}:", f"if {condition.python}:")
        block = self.body(scope.inner(), depth - 1)
        if scope.leaves and self.chance(3):
            block.add(self.pick(scope.leaves))
        text.block(block)
        while self.chance(3):
            other = self.run_time(scope, 1)
            text.add(f"elif {other.kernel}:", f"elif {other.python}:")
            text.block(self.body(scope.inner(), depth - 1))
        if self.chance(2):
            text.add("else:")
            text.block(self.body(scope.inner(), depth - 1))

    def write_both(self, scope: Scope, depth: int, text: Text) -> None:
        """A name that both branches give a value is a variable after them, of the type of the first."""
        condition = self.run_time(scope, 2)
        name = self.fresh("y")
        text.add(f"if {condition.kernel}:", f"if {condition.python}:")
        first, second = self.run_time(scope, 2), self.expression(scope, 2)
        dtype = first.dtype
        second = self.fit(second, dtype)
        for value, otherwise in ((first, True), (second, False)):
            block = self.body(scope.inner(), 0)
            block.add(f"{name} = {value.kernel}", f"{name} = cv({value.python}, {dtype!r})")
            text.block(block)
            if otherwise:
                text.add("else:")
        scope.names[name] = dtype

    def write_loop(self, scope: Scope, depth: int, text: Text) -> None:
        """A serial `range` with literal or run-time bounds, up or down."""
        name = self.fresh("j")
        if self.chance(2):
            begin, end = self.number(-3, 6), self.number(-3, 8)
            bounds, python, dtype = f"{begin}, {end}", f"{begin}, {end}", "i32"
        else:
            begin, end = (self.bound(scope) for _ in range(2))
            bounds, python = f"{begin.kernel}, {end.kernel}", f"{begin.python}, {end.python}"
            wide = any(model.bits(side.dtype) > 32 or side.dtype == "u32" for side in (begin, end))
            dtype = "i64" if wide else "i32"
        step = self.pick(("", ", 2", ", -1", ", 3", ", -2"))
        if step == "" and self.chance(4):
            runtime = self.operate("add", self.bound(scope), Expression("i32", "1", "1", literal=True))
            bounds, python = f"{bounds}, {runtime.kernel}", f"{python}, {runtime.python}"
        text.add(f"for {name} in range({bounds}{step}):", f"for {name} in range({python}{step}):")
        inner = scope.inner(loops=scope.loops + 1, leaves=("break", "continue"))
        inner.names[name] = dtype
        text.block(self.body(inner, depth - 1))

    def bound(self, scope: Scope) -> Expression:
        return self.operate("and", self.whole(scope, 1), Expression("i32", "7", "7", literal=True))

    def write_repeat(self, scope: Scope, depth: int, text: Text) -> None:
        """A `while` that a counter ends at the latest."""
        counter = self.fresh("n")
        condition = self.run_time(scope, 2)
        text.add(f"{counter} = 0")
        limit = self.number(1, 6)
        text.add(f"while {counter} < {limit} and {condition.kernel}:", f"while {counter} < {limit} and {condition.python}:")
        inner = scope.inner(loops=scope.loops + 1, leaves=("break", "continue"))
        inner.names[counter] = "i32"
        inner.constant.add(counter)
        block = Text()
        block.add(f"{counter} += 1")
        self.statements(inner, depth - 1, block)
        text.block(block)
        scope.names[counter] = "i32"
        scope.constant.add(counter)

    # --- functions and tasks

    def write_func(self, text: Text) -> None:
        name = self.fresh("f")
        parameters = tuple((f"p{position}", self.pick(TYPES)) for position in range(self.number(1, 3)))
        result = self.pick(TYPES)
        scope = Scope(dict(parameters), arrays=False)
        signature = ", ".join(f"{parameter}: sv.{dtype}" for parameter, dtype in parameters)
        text.kernel += ["@sv.func", f"def {name}({signature}) -> sv.{result}:"]
        text.python.append(f"def {name}({', '.join(parameter for parameter, _ in parameters)}):")
        body = Text()
        self.statements(scope, 2, body)
        if self.chance(2):
            condition = self.run_time(scope, 2)
            body.add(f"if {condition.kernel}:", f"if {condition.python}:")
            early = Text()
            self.write_return(scope.inner(), result, early)
            body.block(early)
            self.statements(scope, 1, body)
        self.write_return(scope, result, body)
        text.block(body)
        loops = any(line.lstrip().startswith("for ") for line in body.kernel)
        self.funcs.append(Func(name, parameters, result, loops))

    def write_return(self, scope: Scope, result: str, text: Text) -> None:
        value = self.fit(self.run_time(scope, 2), result)
        text.add(f"return {value.kernel}", f"return cv({value.python}, {result!r})")

    def write_task(self, scope: Scope, text: Text) -> None:
        """A parallel loop over the columns of the output."""
        index = self.fresh("i")
        dtype = "i32"
        text.add(f"for {index} in range({EXTENT}):")
        shared = {name for name in self.assignable(scope) if scope.names[name] in model.INTEGERS and self.chance(2)}
        unassignable = scope.constant | (set(scope.names) - shared)
        inner = scope.inner(loops=1, leaves=("continue",), index=index, shared=shared, constant=unassignable | {index})
        inner.names[index] = dtype
        text.block(self.body(inner, 3))

    def program(self) -> Program:
        text = Text()
        for _ in range(self.number(0, 2)):
            self.write_func(text)
        arrays = ", ".join(f"{name}: sv.types.NDArray[sv.{dtype}, 1]" for name, dtype in INPUTS.items())
        outputs = "whole: sv.types.NDArray[sv.i64, 2], real: sv.types.NDArray[sv.f64, 2]"
        scalars = ", ".join(f"{name}: sv.{dtype}" for name, dtype in SCALARS.items())
        names = ", ".join((*INPUTS, "whole", "real", *SCALARS))
        text.kernel += ["@sv.kernel", f"def k({arrays}, {outputs}, {scalars}):"]
        text.python.append(f"def k({names}):")
        scope = Scope(dict(SCALARS), set(SCALARS), loops=1, top=True)
        body = Text()
        for _ in range(self.number(1, 3)):
            for _ in range(self.number(0, 2)):
                self.pick((self.write_new, self.write_assign, self.write_augment, self.write_output, self.write_branch))(
                    scope, 2, body
                )
            self.write_task(scope, body)
        returned = self.assignable(scope)[:4]
        if returned:
            body.add(f"return {', '.join(returned)},")
        text.block(body)
        return Program("\n".join(text.kernel) + "\n", "\n".join(text.python) + "\n")


def programs() -> st.SearchStrategy[Program]:
    return st.randoms(use_true_random=False).map(lambda random: Writer(random).program())
