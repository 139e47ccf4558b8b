"""From recorded questions to a guard program: what native code asks before each launch.

Every path is loaded once into a register. What cannot change while an object stays the same (the names of a module that is
compared by identity, what is below a plain Python call) is bound when the program is made. `call` and `source` are not asked
at each launch: they are when a specialisation is made. Paths are known by their numbers here, because a warm start makes
many programs.
"""

from __future__ import annotations

import sys
from _weakref import ref
from types import BuiltinFunctionType, MethodType, ModuleType

from samovar import _native
from samovar.classes import own
from samovar.compound import has_stable_members
from samovar.lens.answers import Kind
from samovar.lens.functions import builtins_of
from samovar.lens.replaying import Replay

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FunctionType
    from typing import Any

    from samovar.artifact import Fill
    from samovar.lens import Lens
    from samovar.lens.recorded import Recorded

#: Kinds whose objects are compared by identity.
_BY_IDENTITY = (Kind.NONE, Kind.ENUM, Kind.DTYPE, Kind.INTRINSIC, Kind.FUNC, Kind.MODULE, Kind.ANNOTATION, Kind.KERNEL)
#: Questions that are answered the same for the same object.
_ABOUT_IDENTITY = ("opaque", "whole", "intrinsic", "annotation")
_DTYPES = {dtype.name: dtype for dtype in vars(_native).values() if type(dtype) is _native.DType}
_CONSTANT_TYPES = (int, float, bool, str, bytes, type(None), _native.DType)


def guard_program(
    recorded: Recorded, lens: Lens | Replay, parameters: Sequence[str], fills: Sequence[Fill]
) -> tuple[list[tuple[Any, ...]], int]:
    """The program for the arguments that a lens looks at, and the number of its registers."""
    builder = _Builder(recorded, lens, parameters, fills)
    for number, facts in builder.facts.items():
        builder.guard(number, facts)
    for number, fill in zip(recorded.sources, fills, strict=True):
        builder.fill(number, fill)
    return builder.instructions, len(builder.registers)


class _Objects:
    """The objects behind numbered paths, seen through a lens or a replay."""

    def __init__(self, recorded: Recorded, lens: Lens | Replay) -> None:
        self.paths = recorded.paths
        self.lens = lens
        #: A replay along the same table knows the numbers.
        self.by_number = lens if isinstance(lens, Replay) and lens.paths is recorded.paths else None

    def at(self, number: int) -> Any:
        if self.by_number is not None:
            return self.by_number.object(number)
        return self.lens.object_at(self.paths.path(number))

    def function(self, number: int) -> FunctionType:
        if self.by_number is not None:
            found: FunctionType = self.by_number.object(number)
            return found
        return self.lens.function_behind(self.paths.path(number))

    def key(self, number: int) -> Any:
        return self.lens.actual(self.paths.decoded(self.paths.rows[number][2]))


class _Builder:
    def __init__(
        self, recorded: Recorded, lens: Lens | Replay, parameters: Sequence[str], fills: Sequence[Fill]
    ) -> None:
        self.rows = recorded.paths.rows
        self.objects = _Objects(recorded, lens)
        self.parameters = {name: index for index, name in enumerate(parameters)}
        sources = list(zip(recorded.sources, fills, strict=True))
        self.filled = {number for number, fill in sources if not fill.is_array}
        self.written = {number for number, fill in sources if fill.written}
        self.facts: dict[int, dict[str, Any]] = {}
        for number, question, answer in recorded.steps:
            known = self.facts.get(number)
            if known is None:
                self.facts[number] = {question: answer}
            else:
                known[question] = answer
        self.instructions: list[tuple[Any, ...]] = []
        self.emit = self.instructions.append
        self.registers: dict[Any, int] = {}
        self.identities: set[int] = set()
        self.methods: set[int] = set()  # bound methods that are compared without being made
        self.compounds: set[int] = set()  # objects that are read through, in registers
        self.settled: set[int] = set()  # tuples that are compared as a whole, with all that is in them
        self.called = self.below_calls()

    def below_calls(self) -> set[int]:
        """The paths that lead through the result of a plain Python call."""
        found: set[int] = set()
        for number, (parent, step, _) in enumerate(self.rows):
            if step == "call" or parent in found:
                found.add(number)
        return found

    def kind(self, number: int) -> Kind | None:
        facts = self.facts.get(number)
        encoded = None if facts is None else facts.get("kind")
        return None if encoded is None else Kind.members[encoded[2]]

    # --- loads

    def register(self, number: int) -> int:
        """The register of a path, loaded when it is first needed."""
        known = self.registers.get(number)
        if known is not None:
            return known
        load = self.load(number)
        register = self.registers[number] = len(self.registers)
        self.emit((load[0], register, *load[1:]))
        return register

    def load(self, number: int) -> tuple[Any, ...]:
        parent, step, key = self.rows[number]
        if number in self.called or step == "operator" or self.is_fixed(number):
            return "constant", self.objects.at(number)
        if step == "attribute":
            return self.load_attribute(number, parent, key)
        if step == "parameter":
            return "parameter", self.parameters[key]
        if step == "kernel":
            return "constant", self.objects.function(number)
        if step in ("cell", "global", "builtin", "default"):
            return self.load_name(parent, step, key)
        if step == "function":
            return "function", self.register(parent)
        if step == "item":
            return "item", self.register(parent), self.objects.key(number)
        assert step == "super", step
        cls, name = key
        return "inherited", self.register(parent), self.register(_numbered(cls)), name

    def load_attribute(self, number: int, parent: int, name: str) -> tuple[Any, ...]:
        if name == "__func__" and self.guard_method(parent):
            return "constant", self.objects.at(number)
        if self.kind(parent) in (Kind.MODULE, None):
            owner = self.objects.at(parent)
            if type(owner) is ModuleType and name in owner.__dict__:
                # Its dictionary is faster than the module, which is compared by identity.
                self.guard_identity(parent)
                return "global", owner.__dict__, name
        return "attribute", self.register(parent), name

    def load_name(self, parent: int, step: str, name: str) -> tuple[Any, ...]:
        function = self.objects.function(parent)
        if step == "cell":
            assert function.__closure__ is not None
            return "cell", function.__closure__[function.__code__.co_freevars.index(name)]
        if step == "global":
            return "global", function.__globals__, name
        if step == "builtin":
            return "builtin", function.__globals__, builtins_of(function), name
        keyword_only = name in (function.__kwdefaults__ or {})
        values = self.part(parent, "__kwdefaults__" if keyword_only else "__defaults__")
        if keyword_only:
            return "item", values, name
        code, count = function.__code__, len(function.__defaults__ or ())
        return "item", values, code.co_varnames.index(name) - (code.co_argcount - count)

    def part(self, number: int, attribute: str) -> int:
        """The register of an attribute that is no step of a path of its own."""
        key = (number, attribute)
        if key not in self.registers:
            source = self.register(number)
            register = self.registers[key] = len(self.registers)
            self.emit(("attribute", register, source, attribute))
        return self.registers[key]

    def is_fixed(self, number: int) -> bool:
        """Is it a name of samovar itself? Those belong to the version, which is asked once, when the package is loaded."""
        parent, step, _ = self.rows[number]
        if step != "attribute" or self.kind(parent) not in (Kind.MODULE, None):
            return False
        owner = self.objects.at(parent)
        if type(owner) is not ModuleType or sys.modules.get(owner.__name__) is not owner:
            return False
        return owner.__name__ == "samovar" or owner.__name__.startswith("samovar.")

    # --- guards

    def guard(self, number: int, facts: dict[str, Any]) -> None:
        """Ask at each launch what was asked about a path."""
        if "tensor" in facts:
            if not self.is_settled(number):
                self.guard_tensor(number, facts)
            return
        step = self.rows[number][1]
        if step == "options":
            return
        if step == "overlap":
            self.guard_overlap(number, facts["disjoint"])
        elif step in ("kernel", "function"):
            if "function" in facts and number not in self.called:
                self.emit(("code", self.register(number), self.objects.function(number).__code__))
        elif number not in self.called and not self.is_fixed(number) and not self.is_settled(number):
            self.guard_object(number, facts)

    def is_settled(self, number: int) -> bool:
        while self.settled and self.rows[number][1] == "item":
            number = self.rows[number][0]
            if number in self.settled:
                return True
        return False

    def guard_object(self, number: int, facts: dict[str, Any]) -> None:
        kind = self.kind(number)
        if kind is Kind.ABSENT:
            self.guard_absence(number)
            return
        if kind is Kind.METHOD and self.guard_method(number):
            return
        value = self.objects.at(number)
        if "value" in facts and kind in (Kind.SCALAR, Kind.STRING):
            self.emit(("value", self.register(number), value))
        elif kind in _BY_IDENTITY or not facts.keys().isdisjoint(_ABOUT_IDENTITY) or _is_unbound(kind, value):
            self.guard_identity(number)
            if kind is Kind.OBJECT:  # an object can change its class
                self.emit(("type", self.register(number), type(value)))
        elif kind is Kind.SEQUENCE and _is_constant(value):
            self.settled.add(number)
            self.emit(("value", self.register(number), value))
        elif kind is not None and number not in self.filled:
            self.emit(("type", self.register(number), type(value)))
        self.guard_parts(number, facts, kind, value)
        if kind is Kind.OBJECT:
            self.compounds.add(number)

    def guard_parts(self, number: int, facts: dict[str, Any], kind: Kind | None, value: Any) -> None:
        parameter = self.rows[number]
        if kind is Kind.OBJECT and parameter[1] == "parameter" and has_stable_members(type(value)):
            self.emit(("stable", self.parameters[parameter[2]]))
        if "scalar type" in facts and number in self.filled:
            self.emit(("type", self.register(number), type(value)))
        if "keys" in facts:
            self.emit(("keys", self.register(number), tuple(dict.keys(value))))
        elif "length" in facts and number not in self.settled:
            self.emit(("length", self.register(number), facts["length"]))

    def guard_method(self, number: int) -> bool:
        """Compare the func that a class defines, instead of binding it to the object only to look at it.

        False where reading the attribute gives something else than that func, bound.
        """
        if number in self.methods:
            return True
        parent, step, name = self.rows[number]
        if step != "attribute" or not self.facts.get(number, {}).get("bound"):
            return False
        func = self.objects.at(number).__func__
        if own(type(self.objects.at(parent)), name) is not func:
            return False
        self.methods.add(number)
        self.emit(("method", self.register(parent), name, func))
        return True

    def guard_identity(self, number: int) -> None:
        if number in self.identities:
            return
        self.identities.add(number)
        value = self.objects.at(number)
        if self.kind(number) is Kind.OBJECT:
            try:
                # A guard must not keep an object of the user alive, with all its arrays.
                self.emit(("weak", self.register(number), ref(value)))
                return
            except TypeError:  # it takes no weak references
                pass
        self.emit(("is", self.register(number), value))

    def guard_absence(self, number: int) -> None:
        parent, step, key = self.rows[number]
        if step == "attribute":
            self.emit(("absent_attribute", self.register(parent), key))
        elif step == "undefined":
            function = self.objects.function(parent)
            self.emit(("absent_global", function.__globals__, key))
            self.emit(("absent_global", builtins_of(function), key))

    def guard_tensor(self, number: int, facts: dict[str, Any]) -> None:
        dtype, ndim, contiguous, wide, needs_grad, _ = facts["tensor"]
        written = number in self.written or facts.get("readonly") is False
        register = self.registers.get(number)
        if register is None:
            parent, step, name = self.rows[number]
            if step == "attribute" and parent in self.compounds:  # as nearly all are, where there are many
                register = self.registers[number] = len(self.registers)
                self.emit(("attribute", register, self.registers[parent], name))
            else:
                register = self.register(number)
        self.emit(("tensor", register, _DTYPES[dtype[2]], ndim, contiguous, wide, needs_grad, written))

    def guard_overlap(self, number: int, disjoint: bool) -> None:
        written, everything = self.rows[number][2]
        registers = (tuple(self.register(_numbered(path)) for path in paths) for paths in (written, everything))
        self.emit(("disjoint", *registers, disjoint))

    def fill(self, number: int, fill: Fill) -> None:
        if fill.is_array:
            self.emit(("array", self.registers[number], fill.offset, fill.strided))
        else:
            self.emit(("scalar", self.register(number), fill.dtype, fill.offset, fill.name))


def _numbered(encoded: tuple[Any, ...]) -> int:
    """The number of an encoded path."""
    number: int = encoded[2]
    return number


def _is_unbound(kind: Kind | None, value: object) -> bool:
    """A function, and not a method bound to an object, which is made anew each time it is read."""
    if type(value) is BuiltinFunctionType:
        return value.__self__ is None or type(value.__self__) is ModuleType
    return kind is Kind.FUNCTION and type(value) is not MethodType


def _is_constant(value: object) -> bool:
    """A tuple of nothing but simple values, which is compared as a whole."""
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return type(value) in _CONSTANT_TYPES
