"""A kernel as readable text: for people, for dumps, and for tests that compare IR."""

from __future__ import annotations

from samovar.artifact import Hole, Site
from samovar.ir.graph import Checkpoint, DoWhile, Sections
from samovar.ir.opcodes import CELL_OPERATIONS, OPCODES
from samovar.ir.runtime_interface import LANES
from samovar.ir.structure import (
    Atomic,
    Captured,
    For,
    Function,
    Hints,
    If,
    Kernel,
    ParallelFor,
    Reduction,
    Region,
    Scatter,
    Task,
    While,
)
from samovar.ir.values import Array, Constant, Local, LoopVariable, Operation, Parameter, Value, VectorOperation

_SIGNS = {code: row.sign for code, row in OPCODES.items() if row.sign}


def print_kernel(kernel: Kernel, notes: bool = False) -> str:
    """The whole kernel: the funcs that it calls, then its own body. With `notes`, a comment before each loop describes what
    was decided about it."""
    printer = Printer(notes)
    for function in kernel.functions:
        printer.function("func", function.name, function)
    printer.function("kernel", kernel.name, kernel)
    return "\n".join(printer.lines) + "\n"


def print_with_lines(kernel: Kernel, notes: bool = False) -> tuple[str, list[int]]:
    """The whole kernel, and for each line of the text the line of the program that it comes from; 0 if there is none."""
    printer = _LocatedPrinter(notes)
    for function in kernel.functions:
        printer.function("func", function.name, function)
    printer.function("kernel", kernel.name, kernel)
    return "\n".join(printer.lines) + "\n", printer.origins


class KernelHistory:
    """Prints a kernel repeatedly while passes change it: a value keeps its name, so texts can be compared."""

    def __init__(self) -> None:
        self._names: Printer | None = None

    def text(self, kernel: Kernel) -> str:
        """The whole kernel in its current state."""
        printer = Printer()
        if self._names is not None:
            printer.numbers, printer.locals = self._names.numbers, self._names.locals
            printer.variables = self._names.variables
        self._names = printer
        for function in kernel.functions:
            printer.function("func", function.name, function)
        printer.function("kernel", kernel.name, kernel)
        return "\n".join(printer.lines) + "\n"


def print_arguments(kernel: Kernel) -> str:
    """The arguments of a kernel, one per line: where each comes from, what it is, and how it is used."""
    rows = [("argument", "kind", "dtype", "axes", "use")]
    for parameter in kernel.parameters:
        if isinstance(parameter, Array):
            uses = [word for word, holds in (("read", parameter.read), ("written", parameter.written)) if holds]
            rows.append((parameter.name, "array", parameter.dtype.name, str(parameter.ndim), ", ".join(uses) or "shape"))
        elif parameter.source is not None:
            assert parameter.type is not None
            rows.append((parameter.name, "scalar", parameter.type.name, "", "read"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines) + "\n"


def print_task(task: ParallelFor | Task) -> str:
    """A single task; captured values are named but not defined."""
    printer = Printer()
    printer.operation(task)
    return "\n".join(printer.lines) + "\n"


def print_operation(operation: Operation) -> str:
    """One operation, including its regions: for messages."""
    printer = Printer()
    printer.operation(operation)
    return "\n".join(printer.lines)


class Printer:
    """Writes lines; values are numbered in the order of their appearance."""

    def __init__(self, notes: bool = False) -> None:
        self.notes = notes
        self.lines: list[str] = []
        self.depth = 0
        self.numbers: dict[Value, int] = {}
        self.locals: dict[Local, str] = {}
        self.variables: dict[LoopVariable, str] = {}

    def write(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    # --- names

    def name(self, value: Value) -> str:
        if isinstance(value, Constant):
            return f"{value.value!r}:{value.type.name}" if value.type is not None else repr(value.value)
        if isinstance(value, (Parameter, Array)):
            return value.name
        if isinstance(value, LoopVariable):
            return self.variables.setdefault(value, self.fresh(value.name, set(self.variables.values())))
        if isinstance(value, Captured):
            return self.name(value.source)
        return f"%{self.numbers.setdefault(value, len(self.numbers))}"

    def local(self, local: Local) -> str:
        if local not in self.locals:
            self.locals[local] = "$" + self.fresh(local.name, {name[1:] for name in self.locals.values()})
        return self.locals[local]

    @staticmethod
    def fresh(name: str, taken: set[str]) -> str:
        candidates = [name, *(f"{name}.{count}" for count in range(1, len(taken) + 1))]
        return next(candidate for candidate in candidates if candidate not in taken)

    def names(self, values: tuple[Value, ...]) -> str:
        return ", ".join(self.name(value) for value in values)

    def element(self, array: Array, indices: tuple[Value, ...]) -> str:
        return f"{array.name}[{self.names(indices)}]"

    # --- structure

    def function(self, word: str, name: str, function: Function | Kernel) -> None:
        parameters = ", ".join(self.parameter(parameter) for parameter in function.parameters)
        returns = f" -> {', '.join(dtype.name for dtype in function.returns)}" if function.returns else ""
        self.write(f"{word} {name}({parameters}){returns}")
        self.region(function.body)

    @staticmethod
    def parameter(parameter: Parameter | Array) -> str:
        if not isinstance(parameter, Array):
            return f"{parameter.name}: {parameter.type.name if parameter.type is not None else '?'}"
        marks = [
            *(["strided"] if parameter.brings_strides else []),
            *([f"stride={parameter.record_stride[1]}"] if parameter.record_stride is not None else []),
            *(["soa"] if parameter.soa_ndim else []),
            *([] if parameter.order is None else [f"order {parameter.order}"]),
            *([] if parameter.layout is None else [f"layout {parameter.layout}"]),
            *(["wide"] if parameter.wide else []),
            *(["alone"] if parameter.alone else []),
            *(["written"] if parameter.written else []),
            *([parameter.boundary] if parameter.boundary != "unsafe" else []),
        ]
        kind = f"{parameter.dtype.name}[{', '.join(str(':' if extent is None else extent) for extent in parameter.extents)}]"
        return f"{parameter.name}: {' '.join([*marks, kind])}"

    def region(self, region: Region) -> None:
        self.depth += 1
        for operation in region.operations:
            self.operation(operation)
        if not region.operations:
            self.write("pass")
        self.depth -= 1

    def operation(self, operation: Operation) -> None:
        if self.notes and isinstance(operation, (For, While)) and operation.note:
            self.write(f"# {operation.note}")
        if isinstance(operation, If):
            self.write(f"{'unlikely ' if operation.unlikely else ''}if {self.name(operation.operands[0])}")
            self.region(operation.then)
            if operation.orelse.operations:
                self.write("else")
                self.region(operation.orelse)
        elif isinstance(operation, DoWhile):
            self.write("do")
            self.region(operation.head)
            self.write(f"while {self.name(operation.condition)}")
        elif isinstance(operation, Checkpoint):
            self.write(f"checkpoint {operation.label}")
            self.region(operation.body)
        elif isinstance(operation, Sections):
            self.write("sections")
            self.depth += 1
            for part in operation.parts:
                self.write("section")
                self.region(part.body)
            self.depth -= 1
        elif isinstance(operation, While):
            self.write("while")
            self.region(operation.head)
            self.write(f"holds {self.name(operation.condition)}")
            self.region(operation.body)
        elif isinstance(operation, For):
            variable = operation.variable
            assert variable.type is not None
            begin, end, step = (self.name(value) for value in operation.operands)
            hints = self.hints(operation.hints)
            self.write(f"for {self.name(variable)}: {variable.type.name} in {begin} .. {end} by {step}{hints}")
            self.region(operation.body)
        elif isinstance(operation, ParallelFor):
            self.parallel(operation)
        elif isinstance(operation, Task):
            self.task(operation)
        else:
            self.simple(operation)

    def parallel(self, loop: ParallelFor) -> None:
        axes = ", ".join(
            f"{self.name(variable)}: {variable.type.name if variable.type is not None else '?'} in"
            f" {self.name(begin)} .. {self.name(end)}"
            for variable, (begin, end) in zip(loop.variables, loop.axes(), strict=True)
        )
        self.write(f"parallel {loop.name}: {axes}")
        self.depth += 1
        for reduction in loop.reductions:
            self.write(f"reduces {self.target(reduction)} by {reduction.operation}")
        for scatter in loop.scatters:
            self.write(f"scatters into {scatter.array.name} by {scatter.operation}")
        self.depth -= 1
        self.region(loop.body)

    def task(self, task: Task) -> None:
        """The captures of a task, and the body for a range of its units."""
        units, items = map(self.name, task.operands)
        self.write(f"task {task.name}: {units} units of {items}")
        self.depth += 1
        taken = (self.local(each) if isinstance(each, Local) else self.taken(each) for each in task.captures)
        self.write(f"takes {', '.join(taken) or 'nothing'}")
        words = ("prints", "cost unknown", "one thread")
        facts = [f"{task.cost:.2f} ns each", *(word for bit, word in enumerate(words) if task.flags >> bit & 1)]
        if task.flags >> LANES:
            facts.append(f"{1 << (task.flags >> LANES)} units in SIMD lanes")
        self.write(f"costs {', '.join(facts)}")
        self.depth -= 1
        self.region(task.body)

    @staticmethod
    def hints(hints: Hints) -> str:
        words = [
            *(["parallel"] if hints.parallel else []),
            *(["independent"] if hints.independent else []),
            *(["no vectors"] if hints.vectors == 0 else [] if hints.vectors is None else [f"vectors of {hints.vectors}"]),
            *([] if hints.interleave is None else [f"interleaved {hints.interleave}"]),
            *([] if hints.unroll is None else ["not unrolled" if hints.unroll == 1 else f"unrolled {hints.unroll}"]),
        ]
        return f"  ({', '.join(words)})" if words else ""

    def taken(self, value: Value) -> str:
        """A captured value; an extent is printed as one of an array."""
        if isinstance(value, Operation) and value.code == "shape":
            array, axis = value.payload
            return f"{array.name}.shape[{axis}]"
        return self.name(value)

    def target(self, reduction: Reduction) -> str:
        if isinstance(reduction.target, Local):
            return self.local(reduction.target)
        return self.element(reduction.target, reduction.indices)

    def simple(self, operation: Operation) -> None:
        text = self.expression(operation)
        if isinstance(operation, VectorOperation):
            text += "" if operation.step == 1 else f" by {operation.step}"
            text += "" if operation.mask is None else f" where {self.name(operation.mask)}"
        if operation.type is not None or operation.code == "call":
            lanes = f"x{operation.width}" if operation.width else ""
            dtype = f": {operation.type.name}{lanes}" if operation.type is not None else ""
            text = f"{self.name(operation)}{dtype} = {text}"
        self.write(text)

    def expression(self, operation: Operation) -> str:
        code, operands, payload = operation.code, operation.operands, operation.payload
        checked = " checked" if isinstance(payload, Site) and code in _SIGNS else ""
        if code in _SIGNS:
            return f"{self.name(operands[0])} {_SIGNS[code]} {self.name(operands[1])}{checked}"
        if code == "load_local":
            return self.local(payload)
        if code == "store_local":
            return f"{self.local(payload)} = {self.name(operands[0])}"
        if code == "shape":
            return f"{payload[0].name}.shape[{payload[1]}]"
        if code == "reserve":
            return f"reserve {payload.name}: {payload.dtype.name}{list(payload.extents)}"
        if code == "scratch":
            size, wanted = map(self.name, operands)
            return f"scratch {payload[0].name}: {payload[1].dtype.name}[{size}] if {wanted}, else {payload[1].name}"
        if code in ("reduce", "shuffle"):
            return f"{code} {payload} of {self.names(operands)}"
        if code == "load":
            return self.element(payload, operands)
        if code == "store":
            return f"{self.element(payload, operands[:-1])} = {self.name(operands[-1])}"
        if isinstance(payload, Atomic):
            return self.read_modify_write(operation, payload)
        if isinstance(payload, Reduction):
            return f"accumulate {self.target(payload)} {payload.operation} {self.name(operands[0])}"
        if isinstance(payload, Scatter):
            place = self.element(payload.array, operands[:-1])
            return f"scatter {place} {payload.operation} {self.name(operands[-1])}"
        if isinstance(payload, Function):
            return f"{payload.name}({self.names(operands)})"
        if code == "extract":
            return f"{self.name(operands[0])}.{payload}"
        if code == "print":
            return f"print {self.message(payload, operands)}"
        if code == "check":
            return f"check {self.name(operands[0])} else {payload.kind} {self.message(payload, operands[1:])}"
        if code in ("break", "continue", "return"):
            return f"{code} {self.names(operands)}".rstrip()
        if code in CELL_OPERATIONS:
            return f"{code} {payload.name}({self.names(operands)})"
        return f"{code}({self.names(operands)})"

    def read_modify_write(self, operation: Operation, payload: Atomic) -> str:
        values = 2 if payload.operation == "cas" else 1
        indices, arguments = operation.operands[:-values], operation.operands[-values:]
        place = self.local(payload.target) if isinstance(payload.target, Local) else self.element(payload.target, indices)
        return f"{operation.code} {place} {payload.operation} {self.names(arguments)}"

    def message(self, site: Site, values: tuple[Value, ...]) -> str:
        parts = []
        for part in site.parts:
            if isinstance(part, Hole):
                conversion = f"!{part.conversion}" if part.conversion else ""
                form = f":{part.format}" if part.format else ""
                name = self.name(values[part.operand]) if part.operand < len(values) else "?"
                parts.append(f"{{{name}{conversion}{form}}}")
            else:
                parts.append(part)
        return repr("".join(parts))


class _LocatedPrinter(Printer):
    """Also collects where each line comes from."""

    def __init__(self, notes: bool) -> None:
        super().__init__(notes)
        self.origins: list[int] = []
        self._line = 0

    def write(self, text: str) -> None:
        super().write(text)
        self.origins.append(self._line)

    def operation(self, operation: Operation) -> None:
        before = self._line
        self._line = operation.line or before
        super().operation(operation)
        self._line = before
