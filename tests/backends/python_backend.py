"""A second backend, to see that the protocol is enough for one: kernels as the text of Python functions, run by the real
launcher.

One table (`RENDERINGS`) says how operations are written, and everything else is around it. A task is a function of its
captures and nothing else: what it does not capture has no name in it. Tasks run here, a few ranges of units one after the
other, the last one first. Arithmetic is that of `ir_arithmetic`.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ir_arithmetic import evaluate
from ir_interpreter import modified
from samovar import _native
from samovar._native import DType, Image, symbol_address
from samovar.backends import Backend, CannotLink, Listing, Rendered, RenderOptions
from samovar.ir import (
    RUNTIME,
    SCALAR,
    Array,
    Captured,
    Constant,
    For,
    If,
    Kernel,
    Local,
    Machine,
    Operation,
    Region,
    Sections,
    Task,
    Value,
    While,
    layout_of,
    outlined,
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
        """In the entry: run the task."""
        taken = ", ".join(f"{self.name(each)}[0]" if by_value(each) else self.name(each) for each in task.captures)
        self.write(f"launch.run(task{task.number}, {self.name(task.operands[0])}, [{taken}])")

    def task(self, task: Task) -> None:
        """The function of a task: a range of its units."""

        def body() -> None:
            for each in task.captures:
                if by_value(each):
                    self.write(f"{self.name(each)} = [{self.name(each)}]")
            self.region(task.body)

        self.function(f"task{task.number}", [task.first, task.last, *task.captures], task.locals, body)

    def scratch(self, operation: Operation) -> None:
        copies, array = operation.payload
        elements, wanted = map(self.name, operation.operands)
        made = f"np.full({elements}, 77, {copies.dtype.typestr!r})"
        self.write(f"{self.name(copies)} = {made} if {wanted} else {self.name(array)}.reshape(-1)")


def _sections(text: Text, operation: Sections) -> None:
    """One after the other, the last first: nobody may rely on an order."""
    for part in reversed(operation.parts):
        for local in part.locals:
            text.write(f"{text.name(local)} = [None]")
        text.region(part.body)


def by_value(capture: Value | Local) -> bool:
    return isinstance(capture, Local) and not capture.shared


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
    "scratch": Text.scratch,
    "threads": lambda text, op: text.define(op, "2"),
    "thread": lambda text, op: text.define(op, "0"),
    "clock": lambda text, op: text.define(op, "0"),
    "poll": lambda text, op: None,
    "spend": lambda text, op: None,
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


def modify(memory: Any, place: Any, operation: str, name: str, values: tuple[Any, ...]) -> Any:
    """A read-modify-write of an element of an array or a list; gives the old value."""
    old = memory[place].item() if isinstance(memory, np.ndarray) else memory[place]
    memory[place] = modified(operation, getattr(_native, name), old, values)
    return old


def compute(code: str, name: str, values: tuple[Any, ...], source: str) -> Any:
    return evaluate(code, getattr(_native, name), values, getattr(_native, source))


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
        values_of_site = ctypes.create_string_buffer(packed + b"\0")
        # On the launching thread, the runtime may release the GIL of a launch that takes long, which Python code needs.
        given = (self.context, site, ctypes.cast(values_of_site, ctypes.c_void_p))
        thread = threading.Thread(target=runtime(name), args=given)
        thread.start()
        thread.join()

    def print(self, site: int, types: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self._said("sv_print", site, types, values)

    def check(self, holds: bool, site: int, types: tuple[str, ...], values: tuple[Any, ...]) -> None:
        if not holds:
            self._said("sv_fail", site, types, values)
            raise Failed

    def run(self, task: Any, units: int, captures: list[Any]) -> None:
        """Run all units of a task, as three ranges."""
        edges = sorted({units * part // 3 for part in range(4)})
        for first, last in reversed(list(itertools.pairwise(edges))):
            task(self, first, last, *captures)


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
    efforts = ("as it is",)
    files = ()

    def salt(self) -> tuple[str, ...]:
        return ()

    def target(self) -> PythonTarget:
        return PythonTarget()

    def render(self, kernel: Kernel, options: RenderOptions) -> Rendered:
        return render(kernel, options)

    def listings(
        self, kernel: Kernel, options: RenderOptions, assemble: Callable[[str], str]
    ) -> dict[str, Listing]:
        text = render(kernel, options).text
        return {self.name: Listing(text, [0] * len(text.splitlines()))}

    def canonical(self, text: str) -> str:
        return text

    def request(self, text: str, target: PythonTarget, effort: str, product: str) -> tuple[Any, ...]:
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
        names: dict[str, Any] = {"np": np, "nan": math.nan, "inf": math.inf, "compute": compute, "modify": modify}
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

    def plans_for(self) -> Machine:
        return SCALAR

    def key(self) -> tuple[str | int, ...]:
        return ()


BACKEND: Backend = PythonBackend()
