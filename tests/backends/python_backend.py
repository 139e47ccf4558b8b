"""A second backend, to see that the protocol is enough for one: kernels as the text of Python functions, run by the real
launcher.

One table (`RENDERINGS`) says how operations are written, and everything else is around it. A task is a function of its
captures and nothing else: what it does not capture has no name in it. Tasks run here, group by group as the schedule says,
the last ones first. Arithmetic is that of `ir_arithmetic`.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import operator
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ir_arithmetic import evaluate
from ir_interpreter import modified
from samovar import _native
from samovar._native import DType, Image, symbol_address
from samovar.backends import Backend, CannotLink, Rendered, RenderOptions
from samovar.ir import (
    RUNTIME,
    Arithmetic,
    Array,
    Captured,
    Constant,
    For,
    If,
    Kernel,
    Local,
    Operation,
    Plan,
    Region,
    Sections,
    Task,
    Units,
    Value,
    While,
    blocks,
    group,
    group_for_copies,
    layout_of,
    length,
    outlined,
    units,
    worth_copies,
)


class Text:
    """Python text under construction. Everything has one name in all functions; a captured value that of its source."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0
        self.names: dict[object, str] = {}
        self.sites: dict[Any, int] = {}
        self.has_one_result = False

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def name(self, value: object) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, Constant):
            return repr(value.value)
        if isinstance(value, Captured):
            value = value.source
        return self.names.setdefault(value, f"{type(value).__name__.lower()}{len(self.names)}")

    def tuple(self, values: Sequence[Any]) -> str:
        return f"({''.join(self.name(value) + ', ' for value in values)})"

    def block(self, header: str, body: Callable[[], None]) -> None:
        self.write(header)
        self.depth += 1
        self.write("pass")
        body()
        self.depth -= 1

    def region(self, region: Region) -> None:
        for operation in region.operations:
            RENDERINGS.get(operation.code, Text.pure)(self, operation)

    def function(self, name: str, parameters: Sequence[Any], locals: Sequence[Local], body: Callable[[], None]) -> None:
        def whole() -> None:
            for local in locals:
                self.write(f"{self.name(local)} = [None]")
            body()

        self.block(f"def {name}({', '.join(['launch', *map(self.name, parameters)])}):", whole)

    def define(self, operation: Operation, expression: str) -> None:
        self.write(f"{self.name(operation)} = {expression}")

    def pure(self, operation: Operation) -> None:
        assert operation.type is not None
        source = next((operand.type.name for operand in operation.operands if operand.type), operation.type.name)
        values = self.tuple(operation.operands)
        self.define(operation, f"compute({operation.code!r}, {operation.type.name!r}, {values}, {source!r})")

    def modify(self, operation: Operation) -> None:
        atomic = operation.payload
        count = 2 if atomic.operation == "cas" else 1
        indices, values = operation.operands[:-count], operation.operands[-count:]
        local = isinstance(atomic.target, Local)
        dtype = atomic.target.type if local else atomic.target.dtype
        place = "0" if local else self.tuple(indices)
        changed = f"{self.name(atomic.target)}, {place}, {atomic.operation!r}, {dtype.name!r}, {self.tuple(values)}"
        self.define(operation, f"modify({changed})")

    def branch(self, operation: If) -> None:
        self.block(f"if {self.name(operation.operands[0])}:", lambda: self.region(operation.then))
        self.block("else:", lambda: self.region(operation.orelse))

    def repeat(self, operation: While) -> None:
        def body() -> None:
            self.region(operation.head)
            self.write(f"if not {self.name(operation.condition)}: break")
            self.region(operation.body)

        self.block("while True:", body)

    def serial(self, operation: For) -> None:
        begin, end, step = map(self.name, operation.operands)
        header = f"for {self.name(operation.variable)} in range({begin}, {end}, {step}) if {step} else ():"
        self.block(header, lambda: self.region(operation.body))

    def speak(self, operation: Operation) -> None:
        values = operation.operands if operation.code == "print" else operation.operands[1:]
        site = self.sites.setdefault(operation.payload, len(self.sites))
        types = tuple(value.type.name for value in values if value.type)
        said = f"{site}, {types!r}, {self.tuple(values)}"
        if operation.code == "print":
            self.write(f"launch.print({said})")
        else:
            self.write(f"launch.check({self.name(operation.operands[0])}, {said})")

    def run(self, task: Task) -> None:
        """In the entry: run the task, and put together what its groups have gathered."""
        plan = task.plan
        taken = ", ".join(f"{self.name(each)}[0]" if by_value(each) else self.name(each) for each in task.captures)
        bounds = ", ".join(f"({self.name(begin)}, {self.name(end)})" for begin, end in task.axes())
        copied = ", ".join(f"({self.name(copy.scatter.array)}, {copy.identity!r})" for copy in plan.copies)
        self.write(f"groups = launch.run(task{plan.number}, PLAN{plan.number}, [{bounds}], [{copied}], [{taken}])")
        for position, partial in enumerate(plan.partials):
            target, indices = partial.reduction.target, partial.reduction.indices
            place = "0" if isinstance(target, Local) else self.tuple(indices)
            stored = target.type if isinstance(target, Local) else target.dtype
            how = f"{partial.reduction.operation!r}, {partial.type.name!r}, {partial.identity!r}, {stored.name!r}"
            self.write(f"combine(groups, {position}, {self.name(target)}, {place}, {how})")
        for position, copy in enumerate(plan.copies):
            array = copy.scatter.array
            self.write(f"merge(groups, {position}, {self.name(array)}, {copy.scatter.operation!r}, {array.dtype.name!r})")

    def task(self, task: Task) -> None:
        """The function of a task: one group of its iterations."""
        plan = task.plan
        fields = f"{plan.number}, {plan.cost!r}, {plan.flags}, {plan.dealt}, {plan.inner_iterations}, {plan.grain_log2}"
        self.write(f"PLAN{plan.number} = Plan({fields}, {plan.block}, {'(0,)' if plan.partials else '()'}, (), None)")
        sums = [partial.reduction for partial in plan.partials]

        def body() -> None:
            for each in task.captures:
                if by_value(each):
                    self.write(f"{self.name(each)} = [{self.name(each)}]")
            for partial in plan.partials:
                self.write(f"{self.name(partial.reduction)} = [{partial.identity!r}]")
            for position, scatter in enumerate(task.scatters):
                self.write(f"{self.name(scatter)} = copies[{position}] if copies else {self.name(scatter.array)}")
            header = f"for {self.tuple(task.variables)} in points:"
            self.block(header, lambda: self.region(task.body))
            self.write(f"return [{', '.join(f'{self.name(each)}[0]' for each in sums)}]")

        self.function(f"task{plan.number}", ["points", "copies", *task.captures], task.locals, body)


def _sections(text: Text, operation: Sections) -> None:
    """One after the other, the last first: nobody may rely on an order."""
    for part in reversed(operation.parts):
        for local in part.locals:
            text.write(f"{text.name(local)} = [None]")
        text.region(part.body)


def by_value(capture: Value | Local) -> bool:
    return isinstance(capture, Local) and not capture.shared


def _accumulate(text: Text, operation: Operation) -> None:
    reduction = operation.payload
    kind = "f32" if reduction.type.name == "f16" else reduction.type.name
    text.write(f"modify({text.name(reduction)}, 0, {reduction.operation!r}, {kind!r}, {text.tuple(operation.operands)})")


def _scatter(text: Text, operation: Operation) -> None:
    scatter, (*indices, value) = operation.payload, operation.operands
    how = f"{scatter.operation!r}, {scatter.array.dtype.name!r}, ({text.name(value)},)"
    text.write(f"modify({text.name(scatter)}, {text.tuple(indices)}, {how})")


RENDERINGS: dict[str, Callable[[Text, Any], None]] = {
    "load_local": lambda text, op: text.define(op, f"{text.name(op.payload)}[0]"),
    "store_local": lambda text, op: text.write(f"{text.name(op.payload)}[0] = {text.name(op.operands[0])}"),
    "reserve": lambda text, op: text.write(
        f"{text.name(op.payload)} = np.full({op.payload.shape!r}, 77, {op.payload.dtype.typestr!r})"
    ),
    "shape": lambda text, op: text.define(op, f"{text.name(op.payload[0])}.shape[{op.payload[1]}]"),
    "load": lambda text, op: text.define(op, f"{text.name(op.payload)}[{text.tuple(op.operands)}].item()"),
    "store": lambda text, op: text.write(
        f"{text.name(op.payload)}[{text.tuple(op.operands[:-1])}] = {text.name(op.operands[-1])}"
    ),
    "atomic": Text.modify,
    "update": Text.modify,
    "accumulate": _accumulate,
    "scatter": _scatter,
    "call": lambda text, op: text.define(op, f"{text.name(op.payload)}(launch, *{text.tuple(op.operands)})"),
    "extract": lambda text, op: text.define(op, f"{text.name(op.operands[0])}[{op.payload}]"),
    "print": Text.speak,
    "check": Text.speak,
    "if": Text.branch,
    "while": Text.repeat,
    "for": Text.serial,
    "task": Text.run,
    "sections": _sections,
    "break": lambda text, op: text.write("break"),
    "continue": lambda text, op: text.write("continue"),
    "return": lambda text, op: text.write(f"return {text.tuple(op.operands)}{'[0]' if text.has_one_result else ''}"),
}


def render(kernel: Kernel, options: RenderOptions) -> Rendered:
    text = Text()
    for function in kernel.functions:
        text.has_one_result = len(function.returns) == 1
        body = function.body
        text.function(text.name(function), function.parameters, function.locals, lambda body=body: text.region(body))  # type: ignore[misc]
    text.has_one_result = False
    for task in outlined(kernel):
        text.task(task)
    layout = layout_of(kernel)
    arguments = []
    for parameter, offset in layout.parameters.items():
        if isinstance(parameter, Array):
            arguments.append((offset, parameter.dtype.name, parameter.ndim, parameter.contiguous))
        else:
            assert parameter.type is not None
            arguments.append((offset, parameter.type.name, -1, True))
    results = [(offset, dtype.name) for offset, dtype in zip(layout.results, kernel.returns, strict=True)]
    text.function("entry", kernel.parameters, kernel.locals, lambda: text.region(kernel.body))
    text.write(f"ARGUMENTS, RESULTS = {arguments!r}, {results!r}")
    return Rendered("\n".join(text.lines) + "\n", tuple(text.sites))


# What the text calls.


class Numbers(Arithmetic[int]):
    """The schedule, counted."""

    def number(self, value: int) -> int:
        return value

    def known(self, value: int) -> int | None:
        return None

    def add(self, a: int, b: int) -> int:
        return a + b

    def subtract(self, a: int, b: int) -> int:
        return a - b

    def multiply(self, a: int, b: int) -> int:
        return a * b

    def divide(self, a: int, b: int) -> int:
        return a // b

    def shift_left(self, a: int, b: int) -> int:
        return a << b

    def shift_right(self, a: int, b: int) -> int:
        return a >> b

    def bits_of_both(self, a: int, b: int) -> int:
        return a & b

    def bit_length(self, a: int) -> int:
        return a.bit_length()

    def larger(self, a: int, b: int) -> int:
        return max(a, b)

    def compare(self, relation: str, a: int, b: int) -> int:
        assert relation.startswith("s") or min(a, b) >= 0
        return int(getattr(operator, relation[-2:])(a, b))

    def both(self, a: int, b: int) -> int:
        return a & b

    def choose(self, condition: int, a: int, b: int) -> int:
        return a if condition else b

    def where(self, condition: int, then: Callable[[], Sequence[int]], otherwise: Sequence[int]) -> Sequence[int]:
        return then() if condition else otherwise


NUMBERS = Numbers()


def points(plan: Plan, bounds: Sequence[tuple[int, int]], work: Units[int], number: int) -> Iterator[tuple[int, ...]]:
    """The iterations of a unit, or of a group of units."""
    whole = range(number, number + 1)
    if work.total is not None:
        size = plan.block if work.shift is None else 1 << work.shift
        assert size is not None
        whole = range(number * size, min((number + 1) * size, work.total))
    *outer, (begin, end) = bounds[: plan.dealt]
    inner = [range(*axis) for axis in bounds[plan.dealt :]]
    for unit in whole:
        if plan.flat:
            digits, last = [], range(begin + unit, begin + unit + 1)
        else:
            assert work.length is not None
            rest, digits = unit, []
            for low, high in reversed(outer):
                rest, digit = divmod(rest, high - low)
                digits.insert(0, low + digit)
            start = begin + rest * work.length
            last = range(start, min(start + work.length, end))
        yield from (tuple(digits) + point for point in itertools.product(last, *inner))


def modify(memory: Any, place: Any, operation: str, name: str, values: tuple[Any, ...]) -> Any:
    """A read-modify-write of an element of an array or a list; gives the old value."""
    old = memory[place].item() if isinstance(memory, np.ndarray) else memory[place]
    memory[place] = modified(operation, getattr(_native, name), old, values)
    return old


def compute(code: str, name: str, values: tuple[Any, ...], source: str) -> Any:
    return evaluate(code, getattr(_native, name), values, getattr(_native, source))


def combine(
    groups: list[Any], position: int, memory: Any, place: Any, operation: str, name: str, identity: Any, stored: str
) -> None:
    """Apply the partial results of a reduction to its target, in order."""
    inside = isinstance(memory, list) or all(0 <= at < size for at, size in zip(place, memory.shape, strict=True))
    if groups and inside:
        total = [identity]
        for partials, _ in groups:
            modify(total, 0, operation, name, (partials[position],))
        old = memory[place].item() if isinstance(memory, np.ndarray) else memory[place]
        new = compute(operation, name, (compute("cast", name, (old,), stored), total[0]), name)
        memory[place] = compute("cast", stored, (new,), name)


def merge(groups: list[Any], position: int, array: Any, operation: str, name: str) -> None:
    """Apply private copies to their array, in order."""
    for _, copies in groups:
        for place in np.ndindex(array.shape) if copies else ():
            modify(array, place, operation, name, (copies[position][place].item(),))


class Failed(Exception):
    """A check has failed, and the runtime knows."""


_KINDS = {"": None, "pointer": ctypes.c_void_p, "i32": ctypes.c_int32, "i64": ctypes.c_int64}


def runtime(name: str) -> Any:
    """A function of the runtime, by what the package says about it."""
    function = RUNTIME[name]
    address = symbol_address(name)
    assert address is not None
    return ctypes.PYFUNCTYPE(_KINDS[function.result], *(_KINDS[kind] for kind in function.parameters))(address)


class Launch:
    """One launch. `context` is that of the runtime."""

    def __init__(self, context: int) -> None:
        self.context = context

    def _said(self, name: str, site: int, types: tuple[str, ...], values: tuple[Any, ...]) -> None:
        packed = b"".join(_packed(value, getattr(_native, kind)) for value, kind in zip(values, types, strict=True))
        runtime(name)(self.context, site, ctypes.cast(ctypes.create_string_buffer(packed + b"\0"), ctypes.c_void_p))

    def print(self, site: int, types: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self._said("sv_print", site, types, values)

    def check(self, holds: bool, site: int, types: tuple[str, ...], values: tuple[Any, ...]) -> None:
        if not holds:
            self._said("sv_fail", site, types, values)
            raise Failed

    def run(
        self, task: Any, plan: Plan, bounds: list[tuple[int, int]], copied: list[tuple[Any, Any]], captures: list[Any]
    ) -> list[Any]:
        """Run all groups of a task, the last first; what each has gathered, in order."""
        lengths = [length(NUMBERS, begin, end) for begin, end in bounds[: plan.dealt]]
        work = units(NUMBERS, plan, lengths)
        elements = [array.size for array, _ in copied]
        private = bool(copied) and bool(worth_copies(NUMBERS, work.count * work.items, elements))
        if private:
            work = group_for_copies(NUMBERS, plan, work, elements)
        elif plan.partials:
            work = group(NUMBERS, work, plan.grain_log2)
        elif plan.block is not None:
            work = blocks(NUMBERS, work, plan.block)
        groups = []
        for number in reversed(range(work.count)):
            copies = [np.full_like(array, identity) for array, identity in copied] if private else []
            groups.append((task(self, points(plan, bounds, work, number), copies, *captures), copies))
        return groups[::-1]


def _packed(value: Any, dtype: DType) -> bytes:
    return struct.pack("<" + dtype.format, value).ljust(8, b"\0")


def _argument(block: int, offset: int, name: str, ndim: int, contiguous: bool) -> Any:
    """What the launcher has put into the argument block."""
    dtype = getattr(_native, name)
    if ndim < 0:
        return struct.unpack("<" + dtype.format, ctypes.string_at(block + offset, dtype.itemsize))[0]
    numbers = (ctypes.c_int64 * (1 + 2 * ndim)).from_address(block + offset)
    shape = tuple(numbers[1 : 1 + ndim])
    strides = None if contiguous else tuple(stride * dtype.itemsize for stride in numbers[1 + ndim :])
    steps = strides or [dtype.itemsize] * ndim
    reach = dtype.itemsize + sum((size - 1) * abs(step) for size, step in zip(shape, steps, strict=True))
    if 0 in shape:
        return np.zeros(shape, dtype.typestr)
    memory = (ctypes.c_char * (reach if strides else dtype.itemsize * math.prod(shape))).from_address(numbers[0])
    return np.ndarray(shape, dtype.typestr, memory, strides=strides)


#: The texts that were loaded.
LOADED: list[str] = []

_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


class PythonBackend:
    """Kernels as Python; see `samovar.backends.protocol`."""

    name = "python"
    compiler = "Python"
    suffix = "py"
    forms = ("as it is",)
    files = ()

    def salt(self) -> tuple[str, ...]:
        return ()

    def target(self) -> PythonTarget:
        return PythonTarget()

    def render(self, kernel: Kernel, options: RenderOptions) -> Rendered:
        return render(kernel, options)

    def canonical(self, text: str) -> str:
        return text

    def request(self, text: str, target: PythonTarget, form: str, product: str) -> tuple[Any, ...]:
        return (text,)

    def prepare(self) -> tuple[bytes, ...]:
        return ()

    def compile(self, text: str) -> bytes:
        compile(text, "<kernel>", "exec")
        return text.encode()

    def telling(self, words: list[str]) -> list[str]:
        return words

    def link(self, code: bytes) -> bytes:
        raise CannotLink("it is Python")

    def load(self, code: bytes) -> Image:
        called = {"Plan": Plan, "compute": compute, "modify": modify, "combine": combine, "merge": merge}
        names: dict[str, Any] = {"np": np, "nan": math.nan, "inf": math.inf, **called}
        exec(code, names)
        LOADED.append(code.decode())

        def entry(context: int, block: int) -> int:
            arguments = [_argument(block, *described) for described in names["ARGUMENTS"]]
            try:
                results = names["entry"](Launch(context), *arguments)
            except Failed:
                return 1
            for (offset, name), value in zip(names["RESULTS"], results or (), strict=True):
                ctypes.memmove(block + offset, _packed(value, getattr(_native, name)), 8)
            return 0

        called_back = _ENTRY(entry)
        address = ctypes.cast(called_back, ctypes.c_void_p).value
        assert address is not None
        return Image.from_address(address, called_back)


class PythonTarget:
    """Any machine."""

    def key(self) -> tuple[str | int, ...]:
        return ()


BACKEND: Backend = PythonBackend()
