"""Random programs for property tests: race-free by construction, so that every order of iterations gives one result.

In each task an array is read only, or touched by each iteration in a row of its own, or a target of one commuting operation
whose old values nobody uses. Serial code does what it likes. Indices are in bounds by construction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from ir_builder import Builder
from samovar._native import i32
from samovar.ir.structure import Function, Kernel, Region
from samovar.ir.values import Array, Local, Parameter, Value

#: Rows are more than the widest vector has elements.
ROWS, COLUMNS, BINS = 70, 3, 4
#: How many iterations there are: fewer and more than vectors have elements, and none.
COUNTS = (0, 1, 5, 15, 16, 17, 32, 33, 64, 65, ROWS)
ARRAYS = ("source", "own", "line", "bins", "more")
ARITHMETIC = "add sub mul min max and or xor floordiv mod".split()
COMMUTING = "add sub mul min max and or xor".split()
ANY_ATOMIC = [*COMMUTING, "exchange", "floordiv"]
COMPARISONS = "lt le gt ge eq ne".split()


@dataclass
class Scope:
    """What statements may use at one place."""

    values: list[Value]
    locals: list[Local]
    bins: dict[str, str | None]  # arrays of bins by name; the operation they are the target of, None: anything goes
    row: Value | None  # the row of `own` that belongs to the iteration; None in serial code: any
    totals: dict[Local, str]
    depth: int
    in_loop: bool = False
    in_task: bool = False
    can_return: bool = False
    beside: bool = False  # iterations may run side by side: elements are those of all iterations, or of the row


class Programmer:
    """Draws statements. One per function and one for the kernel."""

    def __init__(self, draw: st.DrawFn, build: Builder, functions: list[tuple[str, Function]]) -> None:
        self.draw = draw
        self.build = build
        self.functions = functions

    def pick(self, options: list[object]) -> object:
        return self.draw(st.sampled_from(options))

    def value(self, scope: Scope, depth: int = 2) -> Value:
        kind = self.draw(st.integers(0, 9 if depth else 4))
        if kind <= 1 or (kind == 2 and not scope.locals):
            return self.build.value(self.draw(st.integers(-5, 9)))
        if kind == 2:
            return self.build.get(self.pick(scope.locals))
        if kind in (3, 4):
            return self.pick(scope.values)
        if kind == 5:
            place = self.draw(st.integers(0, ROWS - 1)) if scope.beside else self.index(scope, ROWS, depth - 1)
            return self.build.load(self.build["source"], place)
        if kind == 6:
            condition = self.condition(scope)
            return self.build.op("select", condition, self.value(scope, depth - 1), self.value(scope, depth - 1))
        left, right = self.value(scope, depth - 1), self.value(scope, depth - 1)
        return self.build.op(self.pick(ARITHMETIC[:-2] if scope.beside else ARITHMETIC), left, right)

    def condition(self, scope: Scope) -> Value:
        return self.build.op(self.pick(COMPARISONS), self.value(scope, 1), self.value(scope, 1))

    def index(self, scope: Scope, extent: int, depth: int = 1) -> Value:
        if self.draw(st.booleans()):
            return self.build.value(self.draw(st.integers(0, extent - 1)))
        return self.build.op("mod", self.value(scope, depth), extent)

    def statements(self, scope: Scope, count: int | None = None) -> bool:
        """Some statements; whether control never gets past them."""
        values = list(scope.values)
        ends = False
        for _ in range(self.draw(st.integers(1, 4)) if count is None else count):
            ends = self.statement(scope)
            if ends:
                break
        scope.values[:] = values
        return ends

    def statement(self, scope: Scope) -> bool:
        """One statement; whether control never gets past it."""
        kinds = ["let", "assign", "unused"]
        kinds += ["bins", "bins"] if scope.bins else []
        names = {each.name for each in self.build.parameters}
        kinds += ["own", "own"] if "own" in names else []
        kinds += ["line", "line", "line"] if "line" in names else []
        kinds += ["if", "if", "for", "while"] if scope.depth else []
        kinds += ["call"] * 3 if self.functions else []
        kinds += ["total"] if scope.totals else []
        kinds += ["jump"] * 2 if scope.in_loop or scope.in_task or scope.can_return else []
        if scope.beside:
            kinds = [kind for kind in kinds if kind not in ("bins", "own", "call", "total")]
            kinds += ["for", "while"] if scope.depth else []
            kinds += ["leave"] * 3 if scope.in_loop else []
        kind = self.pick(kinds)
        return bool(getattr(self, "_" + kind)(scope))

    def _let(self, scope: Scope) -> None:
        scope.values.append(self.value(scope))

    def _assign(self, scope: Scope) -> None:
        if scope.locals:
            self.build.set(self.pick(scope.locals), self.value(scope))

    def _unused(self, scope: Scope) -> None:
        self.build.op("neg", self.value(scope))

    def _bins(self, scope: Scope) -> None:
        name = self.pick(sorted(scope.bins))
        array, action = self.build[name], scope.bins[name]
        place = [self.index(scope, BINS)]
        if action == "read":
            scope.values.append(self.build.load(array, *place))
        elif action is not None:
            action = self.pick(["add", "sub"]) if action == "add" else action
            self.build.atomic(action, array, place, self.value(scope))
        elif self.draw(st.booleans()):
            scope.values.append(self.build.atomic(self.pick(ANY_ATOMIC), array, place, self.value(scope)))
        else:
            self.build.store(array, place, self.value(scope))

    def _own(self, scope: Scope) -> None:
        row = scope.row if scope.row is not None else self.index(scope, 2 * ROWS)
        place = [row, self.index(scope, COLUMNS)]
        kind = self.draw(st.integers(0, 2))
        if kind == 0:
            scope.values.append(self.build.load(self.build["own"], *place))
        elif kind == 1:
            self.build.store(self.build["own"], place, self.value(scope))
        else:
            scope.values.append(self.build.atomic(self.pick(ANY_ATOMIC), self.build["own"], place, self.value(scope)))

    def _line(self, scope: Scope) -> None:
        """The element of the row, which is next to that of the next iteration."""
        place = [scope.row if scope.row is not None else self.index(scope, 2 * ROWS)]
        if self.draw(st.booleans()):
            scope.values.append(self.build.load(self.build["line"], *place))
        else:
            self.build.store(self.build["line"], place, self.value(scope))

    def _total(self, scope: Scope) -> None:
        local = self.pick(list(scope.totals))
        action = scope.totals[local]
        self.build.atomic(self.pick(["add", "sub"]) if action == "add" else action, local, [], self.value(scope))

    def _call(self, scope: Scope) -> None:
        kind, function = self.pick(self.functions)
        arguments: list[Value] = [self.build["source"]]
        if kind == "own":
            row = scope.row if scope.row is not None else self.index(scope, 2 * ROWS)
            arguments += [self.build["own"], row]
        else:
            fitting = [name for name, action in scope.bins.items() if action in (None, kind)]
            if not fitting:
                return
            arguments += [self.build[self.pick(fitting)], self.index(scope, BINS)]
        call = self.build.call(function, *arguments, self.value(scope, 1))
        if len(function.returns) == 1:
            scope.values.append(call)
        else:
            scope.values += [self.build.extract(call, position) for position in range(len(function.returns))]

    def _nested(self, scope: Scope, in_loop: bool) -> Scope:
        return Scope(
            scope.values,
            scope.locals,
            scope.bins,
            scope.row,
            scope.totals,
            scope.depth - 1,
            scope.in_loop or in_loop,
            scope.in_task and not in_loop and not scope.in_loop,
            scope.can_return,
            scope.beside,
        )

    def _if(self, scope: Scope) -> None:
        constant = self.draw(st.integers(0, 5))
        condition = self.build.value(constant == 0) if constant < 2 else self.condition(scope)
        inner = self._nested(scope, False)
        with self.build.when(condition) as orelse:
            self.statements(inner)
        if self.draw(st.booleans()):
            with self.build.inside(orelse):
                self.statements(inner)

    def _for(self, scope: Scope) -> None:
        begin, end, step = (self.draw(st.integers(*limits)) for limits in ((-1, 3), (-1, 4), (-2, 2)))
        if scope.beside:
            begin, step = 0, max(step, 1)
        bound: Value | int = end
        if any(each.name == "few" for each in self.build.parameters) and (scope.beside or self.draw(st.booleans())):
            bound = self.build["few"]
            if self.draw(st.booleans()):  # from memory
                element = self.build.load(self.build["source"], self.draw(st.integers(0, ROWS - 1)))
                bound = self.build.op("and", element, 3)
        with self.build.loop(begin, bound, step) as variable:
            scope.values.append(variable)
            self.statements(self._nested(scope, True))
        scope.values.remove(variable)

    def _while(self, scope: Scope) -> None:
        counter = self.build.local("counter", i32)
        self.build.set(counter, 0)
        head, body = Region(), Region()
        with self.build.inside(head):
            condition = self.build.op("lt", self.build.get(counter), self.draw(st.integers(0, 3)))
        with self.build.inside(body):
            self.build.set(counter, self.build.op("add", self.build.get(counter), 1))
            self.statements(self._nested(scope, True))
        self.build.loop_while(head, condition, body)

    def _leave(self, scope: Scope) -> None:
        with self.build.when(self.condition(scope)):
            self.build.void(self.pick(["break", "continue"]))

    def _jump(self, scope: Scope) -> bool:
        kinds = ["break", "continue"] if scope.in_loop else ["continue"] if scope.in_task else []
        kinds += ["return"] if scope.can_return else []
        kind = self.pick(kinds)
        if kind == "return":
            self.build.give(*(self.value(scope, 1) for _ in self.build.returns))
        else:
            self.build.void(kind)
        return True


@st.composite
def functions(draw: st.DrawFn) -> list[tuple[str, Function]]:
    """Functions with early returns that touch one array: bins with one operation, or a row of `own`."""
    result: list[tuple[str, Function]] = []
    for number in range(draw(st.sampled_from([0, 1, 1, 2]))):
        kind = draw(st.sampled_from(["own", *COMMUTING]))
        returns = [i32] * draw(st.integers(0, 2))
        target = Array("own", i32, 2) if kind == "own" else Array("bins", i32, 1)
        build = Builder(
            Array("source", i32, 1), target, Parameter("at", i32), Parameter("x", i32), returns=returns, name=f"f{number}"
        )
        programmer = Programmer(draw, build, [])
        local = build.local("y", i32)
        build.set(local, 3)
        scope = Scope([build["x"], build["at"]], [local], {}, build["at"], {}, depth=3, can_return=True)
        if kind != "own":
            scope.bins["bins"] = "add" if kind == "sub" else kind
        if not programmer.statements(scope):
            build.give(*(programmer.value(scope, 1) for _ in returns))
        result.append((scope.bins.get("bins") or "own", build.function()))
    return result


@st.composite
def kernels(draw: st.DrawFn) -> Kernel:
    """Kernels over `source`, `own`, `line`, `bins` and `more`, with serial code, tasks, shared locals and functions."""
    parameters = [
        Array("source", i32, 1, alone=draw(st.booleans())),
        Array("own", i32, 2, alone=draw(st.integers(0, 3)) > 0),
        Array("line", i32, 1, alone=draw(st.integers(0, 3)) > 0),
        Array("bins", i32, 1, alone=draw(st.integers(0, 3)) > 0),
        Array("more", i32, 1, alone=draw(st.integers(0, 3)) > 0),
        Parameter("n", i32),
        Parameter("few", i32),
    ]
    build = Builder(*parameters, returns=[i32, i32])
    known = draw(functions())
    build.functions += [function for _, function in known]
    programmer = Programmer(draw, build, known)
    plain = build.local("plain", i32)
    total = build.local("total", i32, shared=True)
    for local in (plain, total):
        build.set(local, draw(st.integers(-3, 3)))
    serial = Scope([build["n"]], [plain, total], {"bins": None, "more": None}, None, {}, depth=2)
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            programmer.statements(serial, 2)
        _task(draw, build, programmer, plain, total)
    build.give(build.get(plain), build.get(total))
    return build.kernel()


def _task(draw: st.DrawFn, build: Builder, programmer: Programmer, plain: Local, total: Local) -> None:
    bins = {name: draw(st.sampled_from(["read", *COMMUTING])) for name in ("bins", "more")}
    bins = {name: "add" if action == "sub" else action for name, action in bins.items()}
    axes = [draw(st.sampled_from([build["n"], build["n"], ROWS, 1, (1, 4)]))]
    with build.parallel(*axes) as (i,):
        stride = draw(st.sampled_from([1, 1, -1, 2]))
        offset = draw(st.integers(0, 1)) if stride > 0 else ROWS
        row = build.op("add", build.op("mul", i, stride), offset)
        mine = build.local("mine", i32)
        build.set(mine, i)
        totals = {total: draw(st.sampled_from(["add", "max"]))}
        beside = stride == 1 and draw(st.booleans())
        scope = Scope([build["n"], i], [mine], bins, row, totals, 3, in_task=True, beside=beside)
        # The kernel's own local is only read in tasks, so it is a value here.
        scope.values.append(build.get(plain))
        programmer.statements(scope)


def arguments(seed: int) -> dict[str, object]:
    """Arrays and numbers for the kernels above."""
    random = np.random.default_rng(seed)
    return {
        "source": random.integers(-9, 9, ROWS, dtype=np.int32),
        "own": random.integers(-9, 9, (2 * ROWS, COLUMNS), dtype=np.int32),
        "line": random.integers(-9, 9, 2 * ROWS, dtype=np.int32),
        "bins": random.integers(-9, 9, BINS, dtype=np.int32),
        "more": random.integers(-9, 9, BINS, dtype=np.int32),
        "n": int(random.choice(COUNTS)),
        "few": int(random.integers(0, 5)),
    }
