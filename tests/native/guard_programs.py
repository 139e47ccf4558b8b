"""Random guard programs that are valid, and a model in Python of what they do.

A program is made along an example: each instruction is about what the registers hold there, so that most programs hold for
their example, and miss or fail for something that is nearly the same. Its operands are objects by their number in a list
(`(..., "object", 3)`), as in artifacts: `literal` puts them in.
"""

from __future__ import annotations

import builtins
import math
import struct
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from samovar._native import BufferView, DType, Field, Ndarray, Tensor, f16, f32, f64, i8, i32, i64, memory_form, u1, u8, u64
from samovar.runtime import fields, tensors

#: How many instructions the table of native code has a model for; `test_guard_programs` counts those.
FORMS = (
    "parameter cell global builtin attribute inherited item constant function is type value method absent_attribute"
    " absent_global length keys stable tensor disjoint array scalar contents same_function extent layout"
    " tuple call"
).split()

NAMES = ("a", "b", "c", "number", "näme")


class Miss(Exception):
    """A guard does not hold."""


# --- things that programs look at


class Plain:
    def __init__(self, **names: Any) -> None:
        vars(self).update(names)

    def number(self) -> int:
        return 1


class Base:
    __slots__ = ("a", "b")

    def number(self) -> int:
        return 2


class Derived(Base, Plain):
    """Slots of one base, a dictionary and names of the other."""

    c = "of the class"

    def number(self) -> int:
        return 3


class Finding:
    """Reads attributes in its own ways."""

    c = property(lambda self: "made by a property")

    def __init__(self, a: Any) -> None:
        self.a = a

    def __getattr__(self, name: str) -> Any:
        if name == "b":
            return "found"
        raise AttributeError(name)

    def number(self) -> int:
        return 4


class Intercepting(Plain):
    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


class Broken:
    """Raises where the others have something."""

    @property
    def a(self) -> Any:
        raise ZeroDivisionError

    def __len__(self) -> int:
        raise OverflowError

    def __getitem__(self, key: Any) -> Any:
        raise LookupError


class Wrapping:
    def __init__(self, wrapped: Any) -> None:
        self.__wrapped__ = wrapped


class Inventing(dict):
    def __missing__(self, key: Any) -> str:
        return "invented"


def is_container(thing: Any) -> bool:
    return isinstance(thing, (list, tuple, dict))


def is_function(thing: Any) -> bool:
    return isinstance(thing, types.FunctionType)


def is_array(thing: Any) -> bool:
    return isinstance(thing, (np.ndarray, Tensor, BufferView))


def is_number(thing: Any) -> bool:
    return isinstance(thing, (int, float, np.generic))


def made_function(count: int, cell: Any) -> Callable[..., Any]:
    def function(a: int = count, b: float = 2.5) -> Any:
        return cell

    return function


MEMORY = np.zeros(64, np.float32)
READ_ONLY = np.frombuffer(bytes(32), np.float32)
OURS = Ndarray(f32, (2, 3))
LINE = Ndarray(f32, 12)
VIEWS = [LINE[:6], LINE[4:8], LINE[8:], LINE[5:5]]
WITH_GRADIENT = Ndarray(f64, 4, needs_grad=True)
FIELDS = [
    fields.field(f32, (2, 3)), fields.field(f32, (2, 3), order="ji"), fields.field(f64, 4, offset=1, needs_grad=True),
]  # fmt: skip
TURNED = [
    tensors.tensor(f32, shape, layout=order)
    for shape, order in [((2, 3), (1, 0)), ((3, 2), (1, 0)), ((2, 3, 2), (2, 0, 1)), ((2, 3, 2), (0, 2, 1))]
]
ARRAYS = [
    *TURNED, MEMORY[:8], MEMORY[4:12], MEMORY[16:24], MEMORY[:32:2], MEMORY[40:32:-1], MEMORY[24:40].reshape(4, 4),
    MEMORY[24:40].reshape(4, 4).T, np.zeros((2, 3), np.int32), np.zeros(5), np.zeros((2, 2, 2), np.uint8),
    np.zeros((), np.float32), READ_ONLY, OURS, WITH_GRADIENT, *FIELDS, LINE, *VIEWS,
]  # fmt: skip
OVERLAPPING = [each for each in ARRAYS if isinstance(each, np.ndarray) and each.base is not None] + [LINE, *VIEWS]

values = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 300), st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf, 2**70, 1j]),
    st.sampled_from(["a", "b", "täxt", ""]), st.sampled_from([np.float32(0.5), np.int64(7), np.float64(-0.0)]),
)  # fmt: skip
functions = st.builds(made_function, st.integers(1, 2), values)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from([*NAMES, 0, 1])
    names = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    return st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
        st.dictionaries(keys, inner, max_size=2).map(Inventing),
        names.map(lambda names: Plain(**names)),
        names.map(lambda names: Intercepting(**names)),
        names.map(lambda names: Derived(**names)),
        inner.map(Finding),
        inner.map(Wrapping),
        functions.map(Wrapping),
        st.builds(Broken),
    )


numbers = values.filter(is_number)
objects = _containers(values).filter(lambda thing: hasattr(type(thing), "number"))
containers = _containers(values).filter(is_container)
things = st.recursive(st.one_of(values, functions, st.sampled_from(ARRAYS)), _containers, max_leaves=6)


# --- the model


def same_value(actual: Any, expected: Any) -> bool:
    if actual is expected:
        return True
    if type(actual) is not type(expected):
        return False
    if isinstance(expected, float):
        return struct.pack("d", actual) == struct.pack("d", expected)
    if isinstance(expected, (int, str)):
        return actual == expected
    if type(expected) is tuple:
        return len(actual) == len(expected) and all(map(same_value, actual, expected))
    if type(expected) is complex:
        return same_value((actual.real, actual.imag), (expected.real, expected.imag))
    if isinstance(expected, np.floating):
        return same_value(float(actual), float(expected))
    return bool(actual == expected)


def same_contents(thing: Any, description: tuple[Any, ...]) -> bool:
    word, *parts = description
    if word == "value":
        return same_value(thing, parts[0])
    if word == "is":
        return thing is parts[0]
    if word == "weak":
        return parts[0]() is thing
    if word == "type":
        return type(thing) is parts[0]
    if word == "items":
        return isinstance(thing, (list, tuple)) and len(thing) == len(parts[0]) and all(map(same_contents, thing, parts[0]))
    assert word == "all"
    return all(same_contents(thing, each) for each in parts[0])


def own(cls: type, name: str) -> Any:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def bounds(array: Any) -> tuple[int, int]:
    """The bytes from the first to the last."""
    array = np.asarray(array)
    return np.lib.array_utils.byte_bounds(array) if hasattr(np.lib, "array_utils") else np.byte_bounds(array)


def facts(array: Any) -> tuple[Any, ...]:
    """As they stand in an instruction: dtype, dimensions, contiguous, wide, with a gradient, a field, of vectors, of
    matrices, a view, entry by entry, in another order; and whether it is writable."""
    if isinstance(array, BufferView):
        return array.dtype.name, 1, True, *(False,) * 5, True, False, False, True
    if isinstance(array, Tensor):
        in_order = bool(np.asarray(array).flags.c_contiguous)
        is_turned = isinstance(array, Ndarray) and not in_order
        flags = (False, array.needs_grad, isinstance(array, Field), *(False,) * 4, is_turned)
        return array.dtype.name, array.ndim, in_order, *flags, True
    name = {"f": "f", "i": "i", "u": "u"}[array.dtype.kind] + str(8 * array.itemsize)
    return name, array.ndim, bool(array.flags.c_contiguous), *(False,) * 8, bool(array.flags.writeable)


def stored(dtype: DType, value: Any) -> Any:
    """What a slot holds after a number was put into it."""
    if isinstance(value, float):
        if dtype.kind not in ("float", "bool"):
            raise Miss
    elif not isinstance(value, int):
        is_integer = isinstance(value, np.integer)
        if not is_integer and not (isinstance(value, np.floating) and dtype.kind in ("float", "bool")):
            raise Miss
    if dtype.kind == "bool":
        return bool(value)
    if dtype.kind == "float":
        value = float(value)
        if dtype is f64:
            return value
        form = "e" if dtype is f16 else "f"
        try:
            return struct.unpack(form, struct.pack(form, value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    value = int(value)
    least = 0 if dtype.kind == "uint" else -(2 ** (dtype.bits - 1))
    if not least <= value < least + 2**dtype.bits:
        raise OverflowError
    return value


DTYPES = {each.name: each for each in (f16, f32, f64, i8, i32, i64, u1, u8, u64)}


class Model:
    """Runs the literal form of a program. `slots` is what it leaves in the block: by the offset, the dtype and the value."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        self.arguments = arguments
        self.registers: dict[int, Any] = {}
        self.slots: dict[int, tuple[DType, Any]] = {}

    def run(self, program: list[tuple[Any, ...]]) -> None:
        """Numbers are put in last: one may raise, where a guard that does not hold may not."""
        for name, *operands in sorted(program, key=lambda instruction: instruction[0] in ("array", "scalar")):
            getattr(self, f"run_{name}")(*operands)

    def check(self, holds: bool) -> None:
        if not holds:
            raise Miss

    # Loads.

    def run_parameter(self, target: int, number: int) -> None:
        self.registers[target] = self.arguments[number]

    def run_constant(self, target: int, value: Any) -> None:
        self.registers[target] = value

    def run_cell(self, target: int, cell: types.CellType) -> None:
        try:
            self.registers[target] = cell.cell_contents
        except ValueError:
            raise Miss from None

    def run_global(self, target: int, names: dict[str, Any], name: str) -> None:
        self.check(name in names)
        self.registers[target] = names[name]

    def run_builtin(self, target: int, names: dict[str, Any], inherited: dict[str, Any], name: str) -> None:
        self.check(name not in names and name in inherited)
        self.registers[target] = inherited[name]

    def run_attribute(self, target: int, source: int, name: str) -> None:
        try:
            self.registers[target] = getattr(self.registers[source], name)
        except AttributeError:
            raise Miss from None

    def run_function(self, target: int, source: int) -> None:
        self.run_attribute(target, source, "__wrapped__")
        self.check(isinstance(self.registers[target], types.FunctionType))

    def run_inherited(self, target: int, source: int, cls: int, name: str) -> None:
        self.check(isinstance(self.registers[cls], type) and isinstance(self.registers[source], self.registers[cls]))
        try:
            self.registers[target] = getattr(super(self.registers[cls], self.registers[source]), name)
        except AttributeError:
            raise Miss from None

    def run_item(self, target: int, source: int, key: Any) -> None:
        container = self.registers[source]
        if isinstance(container, dict):
            self.check(key in container)
        try:
            self.registers[target] = container[key]
        except (KeyError, IndexError):
            raise Miss from None

    def run_tuple(self, target: int, sources: tuple[int, ...]) -> None:
        self.registers[target] = tuple(self.registers[each] for each in sources)

    def run_call(
        self, target: int, source: int, given: tuple[int, ...], names: tuple[str, ...], result: Any, again: bool, text: str
    ) -> None:
        if not again:
            self.registers[target] = result
            return
        values = [self.registers[each] for each in given]
        first = len(values) - len(names)
        try:
            named = dict(zip(names, values[first:], strict=True))
            self.registers[target] = self.registers[source](*values[:first], **named)
        except Exception:
            raise Miss from None

    # Guards.

    def run_is(self, source: int, expected: Any) -> None:
        self.check(self.registers[source] is expected)

    def run_type(self, source: int, expected: type) -> None:
        self.check(type(self.registers[source]) is expected)

    def run_value(self, source: int, expected: Any) -> None:
        self.check(same_value(self.registers[source], expected))

    def run_contents(self, source: int, description: tuple[Any, ...]) -> None:
        self.check(same_contents(self.registers[source], description))

    def run_method(self, source: int, name: str, func: Any) -> None:
        thing = self.registers[source]
        self.check(own(type(thing), name) is func and name not in getattr(thing, "__dict__", {}))

    def run_absent_attribute(self, source: int, name: str) -> None:
        self.check(not hasattr(self.registers[source], name))

    def run_absent_global(self, names: dict[str, Any], name: str) -> None:
        self.check(name not in names)

    def run_length(self, source: int, length: int) -> None:
        self.check(hasattr(type(self.registers[source]), "__len__"))
        if getattr(self.registers[source], "shape", None) == ():
            raise TypeError  # as NumPy says it
        self.check(len(self.registers[source]) == length)

    def run_keys(self, source: int, keys: tuple[Any, ...]) -> None:
        self.check(isinstance(self.registers[source], dict) and same_value(tuple(self.registers[source]), keys))

    def run_same_function(self, source: int, function: types.FunctionType, code: types.CodeType) -> None:
        self.check(self.registers[source] is function and function.__code__ is code)

    def run_stable(self, number: int, promised: bool) -> None:
        """It changes how often things are read, and not what comes of it."""

    def run_tensor(self, source: int, *expected: Any) -> None:
        array = self.registers[source]
        self.check(is_array(array))
        *found, writable = facts(array)
        self.check(tuple(found) == expected[:-1] and (writable or not expected[-1]))

    def run_layout(self, source: int, expected: tuple[Any, ...]) -> None:
        self.check(memory_form(self.registers[source]) == expected)

    def run_extent(self, source: int, axis: int, expected: int) -> None:
        found = np.asarray(self.registers[source]).shape[axis]
        self.check(found == expected if expected else not 2 <= found <= 8)

    def run_disjoint(self, written: tuple[int, ...], everything: tuple[int, ...], expected: bool) -> None:
        numbers = sorted({*written, *everything})
        spans = {number: bounds(self.registers[number]) for number in numbers if np.asarray(self.registers[number]).size}
        overlap = any(
            spans[one][0] < spans[other][1] and spans[other][0] < spans[one][1]
            for one in spans
            for other in spans
            if one < other and (one in written or other in written)
        )
        self.check(overlap != expected)

    # Fills.

    def run_array(self, source: int, offset: int, strided: bool) -> None:
        array = np.asarray(self.registers[source])
        numbers = [array.ctypes.data, *array.shape]
        if strided:
            numbers += [stride // array.itemsize for stride in array.strides]
        for place, number in enumerate(numbers):
            self.slots[offset + 8 * place] = (i64, number)

    def run_scalar(self, source: int, dtype: str, offset: int, name: str) -> None:
        self.slots[offset] = (DTYPES[dtype], stored(DTYPES[dtype], self.registers[source]))


# --- making programs


@dataclass
class Written:
    """A program: its instructions with objects by number, and what a specialization of it needs to know."""

    example: tuple[Any, ...]
    instructions: list[tuple[Any, ...]] = field(default_factory=list)
    objects: list[Any] = field(default_factory=list)
    registers: int = 0
    block: int = 0

    def literal(self) -> list[tuple[Any, ...]]:
        """The same with the objects themselves."""
        return [tuple(map(self.put_in, instruction)) for instruction in self.instructions]

    def put_in(self, operand: Any) -> Any:
        if type(operand) is not tuple or len(operand) != 3 or operand[0] is not ...:
            return operand
        thing = self.objects[operand[2]]
        return {
            "object": lambda: thing,
            "type": lambda: type(thing),
            "code": lambda: thing.__code__,
            "globals": lambda: thing.__globals__,
            "builtins": lambda: vars(builtins),
        }[operand[1]]()


class Writer:
    """Adds one instruction after the other, each about what a register holds in the example."""

    def __init__(self, draw: st.DrawFn, example: tuple[Any, ...]) -> None:
        self.draw = draw
        self.written = Written(example)
        self.known = Model(example)
        self.tensors: list[int] = []
        self.loaded: set[int] = set()

    def pick(self, choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def rarely(self) -> bool:
        return self.draw(st.integers(0, 11)) == 7

    def object(self, thing: Any, part: str = "object") -> tuple[Any, ...]:
        for number, known in enumerate(self.written.objects):
            if known is thing:
                return (..., part, number)
        self.written.objects.append(thing)
        return (..., part, len(self.written.objects) - 1)

    def source(self) -> tuple[int, Any]:
        """A register, one of the last four as often as any other."""
        numbers = sorted(self.known.registers)
        number = self.pick(numbers[-4:] if self.draw(st.booleans()) else numbers)
        return number, self.known.registers[number]

    def about(self, fits: Callable[[Any], bool], otherwise: st.SearchStrategy[Any]) -> tuple[int, Any]:
        """A register of something that an instruction can be about; rarely any, and a constant where there is none."""
        numbers = [number for number, thing in self.known.registers.items() if fits(thing)]
        if self.rarely():
            return self.source()
        number = self.pick(numbers) if numbers else self.load("constant", self.object(self.draw(otherwise)))
        assert number is not None
        return number, self.known.registers[number]

    def expected(self, value: Any) -> Any:
        return self.draw(values) if self.rarely() else value

    def emit(self, name: str, *operands: Any) -> bool:
        """Add an instruction, rarely one that does not hold for the example. Gives whether it was added."""
        try:
            getattr(self.known, f"run_{name}")(*map(self.written.put_in, operands))
        except Exception:
            if not self.rarely():
                return False
        self.written.instructions.append((name, *operands))
        return True

    def load(self, name: str, *operands: Any) -> int | None:
        """A load, and its register. What finds nothing in the example is followed by guards of something else."""
        number = self.written.registers
        if not self.emit(name, number, *operands):
            self.known.registers.pop(number, None)
            return None
        self.written.registers += 1
        self.known.registers.setdefault(number, None)
        return number

    def slots(self, count: int) -> int:
        offset = self.written.block
        self.written.block += 8 * count
        return offset

    # One method for each instruction, which may have nothing to say.

    def parameter(self) -> None:
        number = self.pick(range(len(self.known.arguments)))
        self.loaded.add(number)
        self.load("parameter", number)

    def constant(self) -> None:
        self.load("constant", self.object(self.draw(things)))

    def cell(self) -> None:
        self.load("cell", self.object(types.CellType() if self.rarely() else types.CellType(self.draw(things))))

    def names(self) -> dict[str, Any]:
        return self.draw(st.dictionaries(st.sampled_from(NAMES), things, max_size=3))

    def global_(self) -> None:
        names = self.names()
        self.load("global", self.object(names), self.pick([*names, *names, *names, "a"]))

    def builtin(self) -> None:
        if self.draw(st.booleans()):
            function = self.draw(functions)
            names, inherited = self.object(function, "globals"), self.object(function, "builtins")
            self.load("builtin", names, inherited, self.pick(["len", "range", "Plain"]))
        else:
            names, inherited = self.names(), {**self.names(), "number": 1}
            self.load("builtin", self.object(names), self.object(inherited), self.pick(sorted(inherited)))

    def attribute(self) -> None:
        number, thing = self.about(lambda thing: hasattr(type(thing), "number"), objects)
        names = [name for name in NAMES if not isinstance(thing, Broken) and hasattr(thing, name)]
        self.load("attribute", number, self.pick(NAMES if not names or self.rarely() else names))

    def inherited(self) -> None:
        number, thing = self.about(lambda thing: isinstance(thing, Derived), st.builds(Derived, a=values, b=values))
        cls = self.load("constant", self.object(self.pick([*type(thing).__mro__, 5])))
        if cls is not None:
            self.load("inherited", number, cls, self.pick(NAMES))

    def item(self) -> None:
        number, thing = self.about(lambda thing: is_container(thing) and bool(thing), containers)
        keys: list[Any] = list(thing) if isinstance(thing, dict) else list(range(len(thing))) if is_container(thing) else []
        self.load("item", number, self.pick([0, 5, "a", "gone"] if not keys or self.rarely() else keys))

    def function(self) -> None:
        number, _ = self.about(lambda thing: isinstance(thing, Wrapping), functions.map(Wrapping))
        self.load("function", number)

    def tuple_(self) -> None:
        self.load("tuple", tuple(self.source()[0] for _ in range(self.draw(st.integers(0, 3)))))

    def call(self) -> None:
        number, _ = self.about(callable, st.one_of(functions, st.sampled_from([dict, "a".join, [1].count])))
        given = tuple(self.source()[0] for _ in range(self.pick([0, 0, 1, 2, 20])))
        names = tuple(self.pick([(), (), ("a",), ("b",), ("a", "b")])[: len(given)])
        result = self.object(self.draw(values))
        self.load("call", number, given, names, result, self.draw(st.booleans()), "text")

    def is_(self) -> None:
        number, thing = self.source()
        self.emit("is", number, self.object(self.expected(thing)))

    def type_(self) -> None:
        number, thing = self.source()
        self.emit("type", number, self.object(self.expected(thing), "type"))

    def value(self) -> None:
        number, thing = self.source()
        if type(thing) in (int, float, str, bool, type(None)):
            self.emit("value", number, self.expected(thing))
        elif not isinstance(thing, (list, dict, np.ndarray, tuple)):
            self.emit("value", number, self.object(self.expected(thing)))

    def contents(self) -> None:
        number, thing = self.source()
        self.emit("contents", number, self.object(self.described(thing, 2)))

    def described(self, thing: Any, depth: int) -> tuple[Any, ...]:
        word = self.pick(["value", "is", "type", "items", "all", "weak"])
        if word == "value" and type(thing) in (int, float, str, bool, type(None)):
            return ("value", self.expected(thing))
        if word == "items" and isinstance(thing, (list, tuple)) and depth:
            return ("items", tuple(self.described(each, depth - 1) for each in thing))
        if word == "all" and depth:
            return ("all", tuple(self.described(thing, depth - 1) for _ in range(self.draw(st.integers(0, 3)))))
        if word == "type":
            return ("type", type(self.expected(thing)))
        return ("weak", weakref.ref(thing)) if word == "weak" and isinstance(thing, Plain) else ("is", self.expected(thing))

    def method(self) -> None:
        number, thing = self.about(lambda thing: hasattr(type(thing), "number"), objects)
        func = own(type(thing), "number") or Plain.number
        self.emit("method", number, "number", self.object(Base.number if self.rarely() else func))

    def absent_attribute(self) -> None:
        number, _ = self.source()
        self.emit("absent_attribute", number, self.pick(["gone", "gone", *NAMES]))

    def absent_global(self) -> None:
        self.emit("absent_global", self.object(self.names()), self.pick(["gone", "gone", "a"]))

    def length(self) -> None:
        number, thing = self.about(is_container, containers)
        self.emit("length", number, (len(thing) if is_container(thing) else 1) + self.rarely())

    def keys(self) -> None:
        number, thing = self.about(lambda thing: isinstance(thing, dict), st.builds(dict, a=values, b=values))
        self.emit("keys", number, tuple(thing) if isinstance(thing, dict) and not self.rarely() else ("a",))

    def same_function(self) -> None:
        number, thing = self.about(is_function, functions)
        function = thing if is_function(thing) and not self.rarely() else self.draw(functions)
        self.emit("same_function", number, self.object(function), self.object(function, "code"))

    def stable(self) -> None:
        if self.loaded:
            self.emit("stable", self.pick(sorted(self.loaded)), not self.rarely())

    def tensor(self) -> None:
        array = st.sampled_from(OVERLAPPING if self.draw(st.booleans()) else ARRAYS)
        number, thing = self.source() if self.draw(st.booleans()) else (None, None)
        if not is_array(thing):
            thing = self.draw(array)
            number = self.load("constant", self.object(thing))
        if number is None or number in self.tensors:
            return
        *found, writable = facts(thing)
        if self.rarely():
            found[2] = not found[2]
        if self.emit("tensor", number, *found, writable and self.draw(st.booleans())):
            self.tensors.append(number)

    def disjoint(self) -> None:
        self.tensor()
        if self.tensors:
            written = self.draw(st.lists(st.sampled_from(self.tensors), min_size=1, max_size=2))
            everything = self.draw(st.lists(st.sampled_from(self.tensors), max_size=4))
            self.emit("disjoint", tuple(written), tuple(everything), self.draw(st.booleans()))

    def extent(self) -> None:
        self.tensor()
        if self.tensors:
            number = self.pick(self.tensors)
            shape = np.asarray(self.known.registers[number]).shape
            if shape:
                axis = self.draw(st.integers(0, len(shape) - 1))
                wanted = shape[axis] if 2 <= shape[axis] <= 8 else 0
                self.emit("extent", number, axis, (wanted + 3) % 9 if self.rarely() else wanted)

    def layout(self) -> None:
        self.tensor()
        if self.tensors:
            number = self.pick(self.tensors)
            found = memory_form(self.known.registers[number])
            other = memory_form(self.pick([*FIELDS, *TURNED]))
            self.emit("layout", number, other if found is None or self.rarely() else found)

    def array(self) -> None:
        if not self.tensors:
            self.tensor()
        if self.tensors:
            number, strided = self.pick(self.tensors), self.draw(st.booleans())
            ndim = np.asarray(self.known.registers[number]).ndim
            self.emit("array", number, self.slots(1 + ndim * (1 + strided)), strided)

    def scalar(self) -> None:
        number, _ = self.about(is_number, numbers)
        self.emit("scalar", number, self.pick(sorted(DTYPES)), self.slots(1), "x")


#: The instructions by name, and the method that writes each.
WRITERS = {name: getattr(Writer, f"{name}_" if name in ("global", "is", "type", "tuple") else name) for name in FORMS}


@st.composite
def programs(draw: st.DrawFn, stable: bool = True) -> Written:
    """A program that native code accepts, with the arguments that it was made along."""
    writer = Writer(draw, tuple(draw(st.lists(_containers(things), min_size=1, max_size=3))))
    for number in range(len(writer.known.arguments)):
        writer.loaded.add(number)
        writer.load("parameter", number)
    choices = [name for name in FORMS if stable or name != "stable"]
    for name in draw(st.lists(st.sampled_from(choices), min_size=2, max_size=20)):
        WRITERS[name](writer)
    return writer.written
