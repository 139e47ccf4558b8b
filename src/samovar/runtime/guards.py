"""From a trace to a guard program: the recorded questions in a form that native code asks before each launch.

Every path is loaded once into a register. What cannot change while an object stays the same (the names of a module that is
compared by identity, what is below a plain Python call) is bound when the program is made. `call` and `source` are not asked
at each launch: they are when a specialisation is made.
"""

from __future__ import annotations

import sys
from _weakref import ref
from types import BuiltinFunctionType, MethodType, ModuleType

from samovar._native import DType
from samovar.classes import own
from samovar.compound import has_stable_members
from samovar.lens.answers import Kind
from samovar.lens.functions import builtins_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from samovar.artifact import Fill
    from samovar.lens import Lens, Path, Replay, Trace

#: Kinds whose objects are compared by identity.
_BY_IDENTITY = (Kind.NONE, Kind.ENUM, Kind.DTYPE, Kind.INTRINSIC, Kind.FUNC, Kind.MODULE, Kind.ANNOTATION, Kind.KERNEL)
#: Questions that are answered the same for the same object.
_ABOUT_IDENTITY = ("opaque", "whole", "intrinsic", "annotation")
_CONSTANT_TYPES = (int, float, bool, str, bytes, type(None), DType)


def guard_program(
    trace: Trace, lens: Lens | Replay, parameters: Sequence[str], fills: Sequence[Fill]
) -> tuple[list[tuple[Any, ...]], int]:
    """The program for the arguments that a lens looks at, and the number of its registers."""
    builder = _Builder(trace, lens, parameters, fills)
    for path in builder.facts:
        builder.guard(path)
    for fill in fills:
        builder.fill(fill)
    return builder.instructions, len(builder.registers)


class _Builder:
    def __init__(self, trace: Trace, lens: Lens | Replay, parameters: Sequence[str], fills: Sequence[Fill]) -> None:
        self.lens = lens
        self.parameters = {name: index for index, name in enumerate(parameters)}
        self.filled = {fill.path for fill in fills if not fill.is_array}
        self.written = {fill.path for fill in fills if fill.written}
        self.facts: dict[Path, dict[str, Any]] = {}
        for asked in trace:
            self.facts.setdefault(asked.path, {})[asked.question] = asked.answer
        self.instructions: list[tuple[Any, ...]] = []
        self.registers: dict[Any, int] = {}
        self.identities: set[Path] = set()
        self.methods: set[Path] = set()  # bound methods that are compared without being made
        self.settled: set[Path] = set()  # tuples that are compared as a whole, with all that is in them

    def emit(self, *instruction: Any) -> None:
        self.instructions.append(instruction)

    # --- loads

    def register(self, path: Path) -> int:
        """The register of a path, loaded when it is first needed."""
        known = self.registers.get(path)
        if known is not None:
            return known
        load = self.load(path)
        number = self.registers[path] = len(self.registers)
        self.emit(load[0], number, *load[1:])
        return number

    def load(self, path: Path) -> tuple[Any, ...]:
        step, key, parent = path.step, path.key, path.parent
        if path.below_call() or self.is_fixed(path) or step in ("kernel", "operator"):
            value = self.lens.function_behind(path) if step == "kernel" else self.lens.object_at(path)
            return "constant", value
        if step == "parameter":
            return "parameter", self.parameters[key]
        assert parent is not None
        if step in ("cell", "global", "builtin", "default"):
            return self.load_name(path, parent)
        if step == "function":
            return "function", self.register(parent)
        if step == "item":
            return "item", self.register(parent), self.lens.actual(key)
        if step == "super":
            cls, name = key
            return "inherited", self.register(parent), self.register(cls), name
        if key == "__func__" and self.guard_method(parent):
            return "constant", self.lens.object_at(path)
        assert step == "attribute", step
        owner = self.lens.object_at(parent)
        if type(owner) is ModuleType and key in owner.__dict__:
            # A module's names are in its dictionary: found faster than through the module, which is compared by identity.
            self.guard_identity(parent)
            return "global", owner.__dict__, key
        return "attribute", self.register(parent), key

    def load_name(self, path: Path, parent: Path) -> tuple[Any, ...]:
        function = self.lens.function_behind(parent)
        if path.step == "cell":
            assert function.__closure__ is not None
            return "cell", function.__closure__[function.__code__.co_freevars.index(path.key)]
        if path.step == "global":
            return "global", function.__globals__, path.key
        if path.step == "builtin":
            return "builtin", function.__globals__, builtins_of(function), path.key
        keyword_only = path.key in (function.__kwdefaults__ or {})
        values = self.part(parent, "__kwdefaults__" if keyword_only else "__defaults__")
        if keyword_only:
            return "item", values, path.key
        code, count = function.__code__, len(function.__defaults__ or ())
        return "item", values, code.co_varnames.index(path.key) - (code.co_argcount - count)

    def part(self, path: Path, attribute: str) -> int:
        """The register of an attribute that is no step of a path of its own."""
        key = (path, attribute)
        if key not in self.registers:
            source = self.register(path)
            number = self.registers[key] = len(self.registers)
            self.emit("attribute", number, source, attribute)
        return self.registers[key]

    def is_fixed(self, path: Path) -> bool:
        """Is it a name of samovar itself? Those belong to the version, which is asked once, when the package is loaded."""
        if path.step != "attribute" or path.parent is None:
            return False
        owner = self.lens.object_at(path.parent)
        if type(owner) is not ModuleType or sys.modules.get(owner.__name__) is not owner:
            return False
        return owner.__name__ == "samovar" or owner.__name__.startswith("samovar.")

    # --- guards

    def guard(self, path: Path) -> None:
        """Ask at each launch what was asked about a path."""
        if path.step == "options":
            return
        facts = self.facts[path]
        if path.step == "overlap":
            self.guard_overlap(path, facts["disjoint"])
        elif path.step in ("kernel", "function"):
            if "function" in facts and not path.below_call():
                self.emit("code", self.register(path), self.lens.function_behind(path).__code__)
        elif path.below_call() or self.is_fixed(path):
            self.guard_tensor(path, facts)
        elif not self.is_settled(path):
            self.guard_object(path, facts)

    def is_settled(self, path: Path) -> bool:
        inner: Path | None = path
        while inner is not None and inner.step == "item":
            inner = inner.parent
            if inner in self.settled:
                return True
        return False

    def guard_object(self, path: Path, facts: dict[str, Any]) -> None:
        kind = facts.get("kind")
        if kind is Kind.ABSENT:
            self.guard_absence(path)
            return
        if kind is Kind.METHOD and self.guard_method(path):
            return
        value = self.lens.object_at(path)
        if "tensor" in facts:
            self.guard_tensor(path, facts)
        elif "value" in facts and kind in (Kind.SCALAR, Kind.STRING):
            self.emit("value", self.register(path), value)
        elif kind in _BY_IDENTITY or not facts.keys().isdisjoint(_ABOUT_IDENTITY) or _is_unbound(kind, value):
            self.guard_identity(path)
            if kind is Kind.OBJECT:  # an object can change its class
                self.emit("type", self.register(path), type(value))
        elif kind is Kind.SEQUENCE and _is_constant(value):
            self.settled.add(path)
            self.emit("value", self.register(path), value)
        elif kind is not None and path not in self.filled:
            self.emit("type", self.register(path), type(value))
        if kind is Kind.OBJECT and path.step == "parameter" and has_stable_members(type(value)):
            self.emit("stable", self.parameters[path.key])
        if "scalar type" in facts and path in self.filled:
            self.emit("type", self.register(path), type(value))
        if "keys" in facts:
            self.guard_keys(path, value)
        elif "length" in facts and path not in self.settled:
            self.emit("length", self.register(path), facts["length"])

    def guard_method(self, path: Path) -> bool:
        """Compare the func that a class defines, instead of binding it to the object only to look at it.

        False where reading the attribute gives something else than that func, bound.
        """
        if path in self.methods:
            return True
        if path.step != "attribute" or path.parent is None or not self.facts.get(path, {}).get("bound"):
            return False
        func = self.lens.object_at(path).__func__
        if own(type(self.lens.object_at(path.parent)), path.key) is not func:
            return False
        self.methods.add(path)
        self.emit("method", self.register(path.parent), path.key, func)
        return True

    def guard_identity(self, path: Path) -> None:
        if path not in self.identities:
            self.identities.add(path)
            value = self.lens.object_at(path)
            if self.facts.get(path, {}).get("kind") is Kind.OBJECT:
                try:
                    # A guard must not keep an object of the user alive, with all its arrays.
                    self.emit("weak", self.register(path), ref(value))
                    return
                except TypeError:  # it takes no weak references
                    pass
            self.emit("is", self.register(path), value)

    def guard_keys(self, path: Path, mapping: dict[Any, Any]) -> None:
        self.emit("keys", self.register(path), tuple(dict.keys(mapping)))

    def guard_absence(self, path: Path) -> None:
        assert path.parent is not None or path.step == "parameter"
        if path.step == "attribute" and path.parent is not None:
            self.emit("absent_attribute", self.register(path.parent), path.key)
        elif path.step == "undefined" and path.parent is not None:
            function = self.lens.function_behind(path.parent)
            self.emit("absent_global", function.__globals__, path.key)
            self.emit("absent_global", builtins_of(function), path.key)

    def guard_tensor(self, path: Path, facts: dict[str, Any]) -> None:
        if "tensor" not in facts:
            return
        dtype, ndim, contiguous, wide, needs_grad, _ = facts["tensor"]
        written = path in self.written or facts.get("readonly") is False
        self.emit("tensor", self.register(path), dtype, ndim, contiguous, wide, needs_grad, written)

    def guard_overlap(self, path: Path, disjoint: bool) -> None:
        written, everything = path.key
        self.emit("disjoint", tuple(map(self.register, written)), tuple(map(self.register, everything)), disjoint)

    def fill(self, fill: Fill) -> None:
        if fill.is_array:
            self.emit("array", self.register(fill.path), fill.offset, fill.strided)
        else:
            self.emit("scalar", self.register(fill.path), fill.dtype, fill.offset, fill.name)


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
