"""An interpreter of the IR over NumPy arrays: every operation, with parallel iterations interleaved at random.

    results = Interpreter(kernel, {"a": array, "n": 3}, seed=1).run()

Arrays are changed in place. A vector is a list with a number for each lane. A task runs on a few simulated threads: each
takes iterations in random order, and at each memory operation another thread may come in between. `atomic` is one step;
`update` reads and writes in two steps, so that an `update` of an element that is not the iteration's own loses values sooner
or later. Access out of bounds, reading a local before it was assigned and using a value that is not defined are errors of
the program, and reported as such.
"""

from __future__ import annotations

import functools
import itertools
import operator
import random
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np

from ir_arithmetic import Number, bitcast, evaluate, exact_integer, identity, limits, settle, wrap
from samovar import _native
from samovar._native import DType
from samovar.artifact.sites import Site
from samovar.ir.graph import Sections
from samovar.ir.opcodes import CELL_OPERATIONS
from samovar.ir.structure import (
    Atomic,
    Captured,
    For,
    Function,
    If,
    Kernel,
    ParallelFor,
    Reduction,
    Region,
    Scatter,
    Task,
    While,
)
from samovar.ir.traversal import indices
from samovar.ir.values import Array, Constant, Local, Operation, Value, VectorOperation
from samovar.passes.random_numbers import mixed

T = TypeVar("T")

STEPS = 1_000_000
#: Operations that only watch what others do.
WATCHING = ("watch", "iteration", "touch", "report", "watch_sections", "section", "report_sections")

Signal = tuple[str, tuple[Number, ...]] | None
Run = Generator[None, None, Signal]


class Failed(Exception):
    """A check of the program failed."""

    def __init__(self, site: Site, values: tuple[Number, ...]) -> None:
        super().__init__(message(site, values))
        self.site = site
        self.values = values


class Wrong(Exception):
    """The program does what no program may do."""


def message(site: Site, values: tuple[Number, ...]) -> str:
    """The text of a site with its values filled in."""
    return "".join(
        part if isinstance(part, str) else format(values[part.operand], part.format) for part in site.parts
    )


@dataclass
class Gathered:
    """What one thread has gathered in a task: partial results, and private copies by touched element."""

    partials: dict[Reduction, Number] = field(default_factory=dict)
    copies: dict[Scatter, dict[tuple[int, ...], Number]] = field(default_factory=dict)


@dataclass
class Frame:
    """The values, locals and arrays of a kernel, a function, or an iteration of a task (with the kernel around it)."""

    arrays: dict[Value, np.ndarray]
    values: dict[Value, object] = field(default_factory=dict)
    locals: dict[Local, Number] = field(default_factory=dict)
    around: Frame | None = None
    own: frozenset[Local] = frozenset()
    gathered: Gathered | None = None

    def value(self, value: Value) -> Number:
        if isinstance(value, Constant):
            return value.value
        if isinstance(value, Captured):
            value = value.source
        frame: Frame | None = self
        while frame is not None:
            if value in frame.values:
                return frame.values[value]
            frame = frame.around
        raise Wrong(f"{getattr(value, 'code', value)} is used before it is defined")

    def home(self, local: Local) -> dict[Local, Number]:
        return self.locals if self.around is None or local in self.own else self.around.locals


class Interpreter:
    """One launch of a kernel. `arguments` maps the names of the parameters to arrays and numbers."""

    def __init__(self, kernel: Kernel, arguments: Mapping[str, object], seed: int = 0, threads: int = 3) -> None:
        self.kernel = kernel
        self.printed: list[str] = []
        self._random = random.Random(seed)
        self._stack: list[object] = []
        self._cells: dict[int, dict[int, int]] = {}  # of sparse fields, by the identity of the memory
        self._threads = threads
        self._steps = 0
        arrays = {each: arguments[each.name] for each in kernel.parameters if isinstance(each, Array)}
        scalars = {each: arguments[each.name] for each in kernel.parameters if not isinstance(each, Array)}
        self._frame = Frame(arrays, dict(scalars))

    def run(self) -> tuple[Number, ...]:
        """Run the kernel to its end; its results."""
        signal = _exhaust(self._region(self.kernel.body, self._frame))
        return signal[1] if signal is not None else ()

    def _region(self, region: Region, frame: Frame) -> Run:
        for operation in region.operations:
            self._steps += 1
            if self._steps > STEPS:
                raise Wrong("the program does not end")
            code = operation.code
            if code in ("break", "continue", "return"):
                return (code, tuple(frame.value(each) for each in operation.operands))
            if isinstance(operation, (If, While, For, ParallelFor, Task, Sections)):
                signal = yield from self._control(operation, frame)
                if signal is not None:
                    return signal
            elif code in self.MEMORY:
                yield
                frame.values[operation] = yield from self.MEMORY[code](self, operation, frame)
            elif code == "call":
                frame.values[operation] = yield from self._call(operation, frame)
            else:
                frame.values[operation] = self._scalar(operation, frame)
        return None

    # Control.

    def _control(self, operation: Operation, frame: Frame) -> Run:
        if isinstance(operation, If):
            chosen = operation.then if frame.value(operation.operands[0]) else operation.orelse
            return (yield from self._region(chosen, frame))
        if isinstance(operation, While):
            return (yield from self._while(operation, frame))
        if isinstance(operation, Sections):
            for part in self._random.sample(operation.parts, len(operation.parts)):
                yield from self._region(part.body, frame)
            return None
        if isinstance(operation, For):
            return (yield from self._for(operation, frame))
        if isinstance(operation, Task):
            self._task(operation, frame)
            return None
        assert isinstance(operation, ParallelFor)
        self._parallel(operation, frame)
        return None

    def _while(self, loop: While, frame: Frame) -> Run:
        while True:
            signal = yield from self._region(loop.head, frame)
            assert signal is None, "a head only computes"
            if not frame.value(loop.condition):
                return None
            signal = yield from self._region(loop.body, frame)
            if signal is not None and signal[0] == "return":
                return signal
            if signal is not None and signal[0] == "break":
                return None

    def _for(self, loop: For, frame: Frame) -> Run:
        begin, end, step = (frame.value(each) for each in loop.operands)
        for value in range(begin, end, step) if step else ():
            frame.values[loop.variable] = value
            signal = yield from self._region(loop.body, frame)
            if signal is not None and signal[0] == "return":
                return signal
            if signal is not None and signal[0] == "break":
                return None
        return None

    def _parallel(self, task: ParallelFor, frame: Frame) -> None:
        axes = [range(frame.value(begin), frame.value(end)) for begin, end in task.axes()]
        iterations = list(itertools.product(*axes))
        ran = bool(iterations)
        gathered = [Gathered() for _ in range(self._threads)]
        self._interleave(iterations, lambda point, thread: self._iteration(task, point, frame, gathered[thread]))
        if ran:
            self._combine(task, gathered, frame)

    def _interleave(self, work: list[T], start: Callable[[T, int], Run]) -> None:
        """Some threads, each of which takes what is left in a random order, and may come in between at each step."""
        self._random.shuffle(work)
        active: dict[int, Run] = {}
        while work or active:
            for thread in range(self._threads):
                if thread not in active and work:
                    active[thread] = start(work.pop(), thread)
            thread = self._random.choice(list(active))
            try:
                next(active[thread])
            except StopIteration as end:
                if end.value is not None and end.value[0] != "continue":
                    raise Wrong(f"{end.value[0]} out of a parallel loop") from None
                del active[thread]

    def _task(self, task: Task, frame: Frame) -> None:
        units = frame.value(task.operands[0])
        cuts = sorted({0, units, *(self._random.randint(0, units) for _ in range(self._threads))}) if units > 0 else []
        ranges = list(itertools.pairwise(cuts))

        def start(part: tuple[int, int], thread: int) -> Run:
            values: dict[Value, object] = {task.first: part[0], task.last: part[1]}
            return self._region(task.body, Frame(dict(frame.arrays), values, {}, frame, frozenset(task.locals)))

        self._interleave(ranges, start)

    def _iteration(self, task: ParallelFor, point: tuple[int, ...], frame: Frame, gathered: Gathered) -> Run:
        values: dict[Value, object] = dict(zip(task.variables, point, strict=True))
        inner = Frame(dict(frame.arrays), values, {}, frame, frozenset(task.locals), gathered)
        return (yield from self._region(task.body, inner))

    def _combine(self, task: ParallelFor, gathered: list[Gathered], frame: Frame) -> None:
        for reduction in task.reductions:
            partial = identity(reduction.operation, reduction.type)
            for each in gathered:
                if reduction in each.partials:
                    partial = evaluate(reduction.operation, reduction.type, (partial, each.partials[reduction]))
            location = tuple(frame.value(index) for index in reduction.indices)
            if isinstance(reduction.target, Local):
                old: Number = self._read_local(reduction.target, frame)
                frame.locals[reduction.target] = evaluate(reduction.operation, reduction.type, (old, partial))
                continue
            array = frame.arrays[reduction.target]
            if all(0 <= index < extent for index, extent in zip(location, array.shape, strict=True)):
                array[location] = evaluate(reduction.operation, reduction.type, (array[location].item(), partial))
        for scatter in task.scatters:
            array = frame.arrays[scatter.array]
            for each in gathered:
                for location, value in each.copies.get(scatter, {}).items():
                    array[location] = evaluate(scatter.operation, scatter.array.dtype, (array[location].item(), value))

    def _call(self, operation: Operation, frame: Frame) -> Generator[None, None, object]:
        function = operation.payload
        assert isinstance(function, Function)
        arrays = dict(frame.arrays)
        values: dict[Value, object] = {}
        for parameter, operand in zip(function.parameters, operation.operands, strict=True):
            if isinstance(parameter, Array):
                arrays[parameter] = frame.arrays[operand]
            else:
                values[parameter] = frame.value(operand)
        signal = yield from self._region(function.body, Frame(arrays, values))
        results = signal[1] if signal is not None else ()
        if len(results) != len(function.returns):
            raise Wrong(f"{function.name} ends without a result")
        return results[0] if len(results) == 1 else results

    # Cells of sparse fields.

    def _of_cells(self, code: str, array: np.ndarray[Any, Any], field: Array, operands: tuple[Any, ...]) -> object:
        """The cells of an array, which begin inactive: for each number 1, or the length of the list."""
        assert field.cells is not None
        cells = self._cells.setdefault(id(array), {})
        if code == "list_cells":
            return len(cells)
        number = operands[0]
        if code == "listed":
            return sorted(cells)[number]
        if code == "cell_active":
            return number in cells
        if code == "list_length":
            return cells.get(number, 0)
        if code == "list_append":
            cells[number] = cells.get(number, 0) + 1
            return cells[number] - 1
        if code == "activate":
            cells[number] = max(cells.get(number, 0), operands[1] + 1 if field.cells.is_list else 1)
            return None
        cells.pop(number, None)
        for place in np.ndindex(*array.shape):
            digits = [place[axis] // divisor % modulus * factor for axis, divisor, modulus, factor in field.cells.terms]
            if sum(digits) == number:
                array[place] = 0
        return None

    # Values and effects.

    def _scalar(self, operation: Operation, frame: Frame) -> object:
        code, type, payload = operation.code, operation.type, operation.payload
        operands = tuple(frame.value(each) for each in operation.operands)
        if code == "reserve":
            # What is read before it is written should show.
            frame.arrays[payload] = np.full(payload.shape, 77, np.dtype(payload.dtype.typestr))
            return None
        if code == "shape":
            return frame.arrays[payload[0]].shape[payload[1]]
        if code in CELL_OPERATIONS:
            return self._of_cells(code, frame.arrays[payload], payload, operands)
        if code == "threads":
            return self._threads
        if code in ("thread", "clock"):
            return 0
        if code in ("poll", "spend"):
            return None
        if code == "scratch":
            memory, array = payload
            elements, wanted = operands
            dtype = np.dtype(memory.dtype.typestr)
            frame.arrays[memory] = np.full(elements, 77, dtype) if wanted else frame.arrays[array].reshape(-1)
            return None
        if operation.width or any(each.width for each in operation.operands):
            return self._vector(operation, operands)
        if code == "extract":
            return operands[0][payload]
        if code == "push":
            return self._stack.append(operands[0])
        if code == "pop":
            return self._stack.pop()
        if code in ("key", "random"):
            assert type is not None
            return self._random.random() if type.kind == "float" else self._random.randint(*limits(type))
        if code == "uniform":
            assert type is not None
            bits = mixed(operands[0])
            if type.kind == "float":
                digits = {16: 11, 32: 24, 64: 53}[type.bits]
                return (bits >> (64 - digits)) * 2.0**-digits
            return wrap(bits, type)
        if code in WATCHING:
            return None
        if code == "print":
            self.printed.append(message(payload, operands))
            return None
        if code == "check":
            if not operands[0]:
                raise Failed(payload, operands[1:])
            return None
        assert type is not None
        if code == "cast" and isinstance(payload, tuple) and not payload[0] <= operands[0] <= payload[1]:
            raise Wrong(f"{operands[0]} is not in {payload}")
        if isinstance(payload, Site):
            least, greatest = limits(type)
            if not least <= exact_integer(code, operands) <= greatest:
                raise Failed(payload, operands)
        return evaluate(code, type, operands, operation.operands[0].type)

    def _vector(self, operation: Operation, operands: tuple[object, ...]) -> object:
        code, type, payload = operation.code, operation.type, operation.payload
        assert type is not None
        if code == "lane_numbers":
            return list(range(operation.width))
        if code == "any":
            return any(operands[0])
        if code == "reduce":
            return functools.reduce(lambda a, b: evaluate(payload, type, (a, b)), operands[0])
        if code == "shuffle":
            lanes = list(itertools.chain.from_iterable(operands))
            return [77 if lane is None else lanes[lane] for lane in payload]
        columns = [_lanes(each, operation.width) for each in operands]
        source = operation.operands[0].type
        return [evaluate(code, type, lanes, source) for lanes in zip(*columns, strict=True)]

    # Memory. Each may be interrupted where it yields.

    def _read_local(self, local: Local, frame: Frame) -> Number:
        home = frame.home(local)
        if local not in home and local.width:  # lanes that have no value yet keep what nobody asks for
            return [settle(77, local.type)] * local.width
        if local not in home:
            raise Wrong(f"local {local.name} is read before it is assigned")
        return home[local]

    def _load_local(self, operation: Operation, frame: Frame) -> Generator[None, None, Number]:
        yield from ()
        return self._read_local(operation.payload, frame)

    def _store_local(self, operation: Operation, frame: Frame) -> Generator[None, None, None]:
        yield from ()
        value = frame.value(operation.operands[0])
        width = operation.payload.width
        frame.home(operation.payload)[operation.payload] = _lanes(value, width) if width else value

    def _element(self, operation: Operation, frame: Frame, array: Array) -> tuple[np.ndarray, tuple[int, ...]]:
        elements = frame.arrays[array]
        location = tuple(frame.value(index) for index in indices(operation))
        if not all(0 <= index < extent for index, extent in zip(location, elements.shape, strict=True)):
            raise Wrong(f"{operation.code} of {array.name}{list(location)} with shape {elements.shape}")
        return elements, location

    def _load(self, operation: Operation, frame: Frame) -> Generator[None, None, Number]:
        yield from ()
        if isinstance(operation, VectorOperation):
            return self._lanes_of(operation, frame, operation.payload, lambda elements, at, _: elements[at].item())
        elements, location = self._element(operation, frame, operation.payload)
        return elements[location].item()

    def _lanes_of(
        self,
        operation: VectorOperation,
        frame: Frame,
        array: Array,
        act: Callable[[np.ndarray, tuple[int, ...], int], object],
    ) -> object:
        """Do something to the element of each lane where the mask holds; 0 elsewhere."""
        elements = frame.arrays[array]
        mask = _lanes(True if operation.mask is None else frame.value(operation.mask), operation.width or 1)
        places = [_lanes(frame.value(index), operation.width or 1) for index in indices(operation)]
        apart = operation.width and not any(index.width for index in indices(operation))
        found = []
        for lane, holds in enumerate(mask):
            location = tuple(place[lane] for place in places)
            if not holds:
                found.append(0)
                continue
            if apart:  # from the first one on, which need not be there itself
                strides = [int(np.prod(elements.shape[axis + 1 :])) for axis in range(elements.ndim)]
                place = sum(map(operator.mul, location, strides)) + lane * operation.step
                if not 0 <= place < elements.size:
                    raise Wrong(f"{operation.code} of {array.name}{list(location)}, lane {lane}")
                location = tuple(int(each) for each in np.unravel_index(place, elements.shape))
            elif not all(0 <= index < extent for index, extent in zip(location, elements.shape, strict=True)):
                raise Wrong(f"{operation.code} of {array.name}{list(location)} with shape {elements.shape}, lane {lane}")
            found.append(act(elements, location, lane))
        return found if operation.width else found[0]

    def _store(self, operation: Operation, frame: Frame) -> Generator[None, None, None]:
        yield from ()
        if isinstance(operation, VectorOperation):
            values = _lanes(frame.value(operation.operands[-1]), operation.width)

            def put(elements: np.ndarray, at: tuple[int, ...], lane: int) -> None:
                elements[at] = values[lane]

            self._lanes_of(operation, frame, operation.payload, put)
            return
        elements, location = self._element(operation, frame, operation.payload)
        elements[location] = frame.value(operation.operands[-1])

    def _modify(self, operation: Operation, frame: Frame) -> Generator[None, None, Number]:
        payload = operation.payload
        assert isinstance(payload, Atomic)
        if isinstance(operation, VectorOperation):
            return (yield from self._modify_lanes(operation, payload, frame))
        values = tuple(frame.value(each) for each in operation.operands)
        if isinstance(payload.target, Local):
            old = self._read_local(payload.target, frame)
            type = payload.target.type
        else:
            elements, location = self._element(operation, frame, payload.target)
            old = elements[location].item()
            type = payload.target.dtype
        if operation.code == "update":
            yield
        if payload.step is None:
            new = modified(payload.operation, type, old, values)
        else:
            given = dict(zip(payload.step.parameters, (old, values[-1]), strict=True))
            signal = _exhaust(self._region(payload.step.body, Frame({}, given)))
            assert signal is not None, "a step gives a value"
            (new,) = signal[1]
        if isinstance(payload.target, Local):
            frame.home(payload.target)[payload.target] = new
        else:
            elements[location] = new
        return old

    def _modify_lanes(self, operation: VectorOperation, payload: Atomic, frame: Frame) -> Generator[None, None, object]:
        """One lane after the other, each as an operation of its own."""
        mask = _lanes(True if operation.mask is None else frame.value(operation.mask), operation.width)
        columns = [_lanes(frame.value(each), operation.width) for each in operation.operands]
        found = []
        for lane, holds in enumerate(mask):
            if not holds:
                found.append(0)
                continue
            operands = tuple(
                Constant(column[lane], each.type) for column, each in zip(columns, operation.operands, strict=True)
            )
            single = Operation(operation.code, operation.type, operands, payload)
            found.append((yield from self._modify(single, frame)))
        return found

    def _accumulate(self, operation: Operation, frame: Frame) -> Generator[None, None, None]:
        yield from ()
        reduction = operation.payload
        assert isinstance(reduction, Reduction)
        if frame.gathered is None:
            raise Wrong("accumulate outside a task")
        partials = frame.gathered.partials
        old = partials.get(reduction, identity(reduction.operation, reduction.type))
        partials[reduction] = evaluate(reduction.operation, reduction.type, (old, frame.value(operation.operands[0])))

    def _scatter(self, operation: Operation, frame: Frame) -> Generator[None, None, None]:
        yield from ()
        scatter = operation.payload
        assert isinstance(scatter, Scatter)
        if frame.gathered is None:
            raise Wrong("scatter outside a task")
        _, location = self._element(operation, frame, scatter.array)
        copy = frame.gathered.copies.setdefault(scatter, {})
        old = copy.get(location, identity(scatter.operation, scatter.array.dtype))
        value = frame.value(operation.operands[-1])
        copy[location] = evaluate(scatter.operation, scatter.array.dtype, (old, value))

    MEMORY: ClassVar = {
        "load_local": _load_local,
        "store_local": _store_local,
        "load": _load,
        "store": _store,
        "atomic": _modify,
        "update": _modify,
        "accumulate": _accumulate,
        "scatter": _scatter,
    }


def _lanes(value: object, width: int) -> list:
    """A value for each lane."""
    return value if isinstance(value, list) else [value] * width


def modified(operation: str, type: DType, old: Number, values: tuple[Number, ...]) -> Number:
    """What an atomic operation leaves in the element; a compare-and-swap compares bits."""
    if operation == "exchange":
        return values[-1]
    if operation == "cas":
        expected, new = values[-2:]
        if type.kind != "float":
            return new if old == expected else old
        bits = getattr(_native, f"u{type.bits}")
        return new if bitcast(old, type, bits) == bitcast(expected, type, bits) else old
    return evaluate(operation, type, (old, values[-1]))


def _exhaust(run: Run) -> Signal:
    while True:
        try:
            next(run)
        except StopIteration as end:
            return end.value


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal arrays, where NaN equals NaN."""
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
