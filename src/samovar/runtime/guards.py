"""From a trace to guards: the recorded questions in a form that native code evaluates before each launch.

Every path is loaded once into a register. A plain Python call is such a load: it is made before each launch, and guards
check its result. Only if everything that it depends on could be described when a specialization was made, which each process
determines for itself, is the description compared instead, and the call skipped. `source` is not checked at each launch.

Guards are plain data and part of an artifact. They name objects by the number of a path, and `OperandResolver` binds
them.
"""

from __future__ import annotations

from types import ModuleType

from samovar.artifact import Guards
from samovar.errors import SamovarCompilationError
from samovar.lens import (
    EXACT_EXTENT_QUESTIONS,
    EXTENT_QUESTIONS,
    Kind,
    Path,
    PathTable,
    TensorFacts,
    compared_paths,
    paths_in,
)
from samovar.reflection import comes_from_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from samovar.artifact import Fill
    from samovar.lens import Lens, Replay

#: Kinds whose objects are compared by identity, which keeps them alive: they are part of the program.
_BY_IDENTITY = (
    Kind.NONE, Kind.ENUM, Kind.DTYPE, Kind.INTRINSIC, Kind.FUNC, Kind.MODULE, Kind.SAMOVAR, Kind.ANNOTATION, Kind.KERNEL,
)  # fmt: skip
#: Questions with the same answer for the same object.
_ABOUT_IDENTITY = ("opaque", "intrinsic", "annotation")
#: Questions about the type of a number that is read at each launch.
_NUMBER_TYPES = ("scalar type", "number type")
#: The maximum number of registers of a program.
_MOST_REGISTERS = 65_000


def make_guards(
    facts: dict[Path, dict[str, Any]], lens: Lens | Replay, parameters: Sequence[str], fills: Sequence[Fill]
) -> Guards:
    """The guards for arguments like those of a lens."""
    builder = _Builder(facts, lens, parameters, fills)
    for path in builder.facts:
        builder.guard(path)
    for fill in fills:
        builder.fill(fill)
    if len(builder.registers) > _MOST_REGISTERS:
        raise SamovarCompilationError(
            f"a kernel cannot depend on {len(builder.registers)} Python objects, which each launch would compare\n"
            "  help: store the numbers it reads in an array, or in a tuple of numbers"
        )
    paths = tuple(builder.paths.path(number) for number in range(len(builder.paths)))
    return Guards(tuple(builder.instructions), len(builder.registers), paths)


class _Builder:
    def __init__(
        self, facts: dict[Path, dict[str, Any]], lens: Lens | Replay, parameters: Sequence[str], fills: Sequence[Fill]
    ) -> None:
        self.lens = lens
        self.parameters = {name: index for index, name in enumerate(parameters)}
        self.filled = {fill.path for fill in fills if not fill.is_array}
        self.written = {fill.path for fill in fills if fill.written}
        self.facts = facts
        self.paths = PathTable([])
        self.instructions: list[tuple[Any, ...]] = []
        self.registers: dict[Any, int] = {}
        self.identities: set[Path] = set()
        #: The arguments of plain functions, and these functions themselves: in which calls, at which positions.
        self.given: dict[Path, list[tuple[Path, int]]] = {}
        #: Calls, and those that take a result of theirs, including themselves.
        self.users: dict[Path, list[Path]] = {}
        for path in facts:
            for position, given in enumerate(compared_paths(path) if path.step == "call" else ()):
                self.given.setdefault(given, []).append((path, position))
        for path in reversed([each for each in facts if each.step == "call"]):
            users = self.users.setdefault(path, [path])
            for inner in _calls_behind(path):  # which came earlier, so all users of this one are known
                self.users.setdefault(inner, [inner]).extend(users)
        self.compared: set[Path] = set()  # arguments that have a guard
        self.counted: set[Path] = set()  # functions with a guard for the number of defaults
        self.plain_modules: set[Path] = set()
        self.methods: set[Path] = set()  # bound methods that are compared without being created
        self.immutable: set[Path] = set()  # tuples that are compared as a whole, with their contents

    def emit(self, *instruction: Any) -> None:
        self.instructions.append(instruction)

    def bound(self, what: str, path: Path, *more: Any) -> tuple[Any, ...]:
        """An operand that `OperandResolver` binds."""
        return (..., what, self.paths.number(path), *more)

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
        if step == "probes":
            return "constant", (..., "probes", key)
        if step in ("kernel", "operator") or self.is_fixed(path):
            return "constant", self.bound("object", path)
        if step == "call":
            return self.load_call(path)
        if step == "parameter":
            return "parameter", self.parameters[key]
        assert parent is not None
        if step in ("cell", "global", "builtin", "default"):
            return self.load_name(path, parent)
        if step == "function":
            return "function", self.register(parent)
        if step == "item":
            return "item", self.register(parent), (..., "key", self.paths.encoded(key))
        if step == "super":
            cls, name = key
            return "inherited", self.register(parent), self.register(cls), name
        if key == "__func__" and self.guard_method(parent):
            return "constant", self.bound("object", path)
        assert step == "attribute", step
        owner = self.lens.object_at(parent)
        if type(owner) is ModuleType and key in owner.__dict__:
            # The names of a module are in its dictionary: a lookup there is faster than through the module.
            self.guard_module(parent)
            return "global", self.bound("module", parent, key), key
        return "attribute", self.register(parent), key

    def load_call(self, path: Path) -> tuple[Any, ...]:
        """A plain call. If a call that takes its result is repeated, so is this one: the other could change the result."""
        _, arguments, keywords = path.key
        assert path.parent is not None
        function = self.register(path.parent)
        given = tuple(map(self.argument, (*arguments, *(value for _, value in keywords))))
        again = (..., "again", tuple(map(self.paths.number, dict.fromkeys(self.users[path]))))
        names = tuple(name for name, _ in keywords)
        return "call", function, given, names, self.bound("object", path), again, path.spelled()

    def argument(self, value: Any) -> int:
        """The register of an argument of a plain call."""
        if isinstance(value, Path):
            return self.register(value)
        key = Path(None, "item", value)  # 0.0 and -0.0 are different keys, and so are 1 and True
        if key not in self.registers:
            name, operand = self.load_argument(value)
            number = self.registers[key] = len(self.registers)
            self.emit(name, number, operand)
        return self.registers[key]

    def load_argument(self, value: Any) -> tuple[str, Any]:
        if isinstance(value, tuple) and next(paths_in(value), None) is not None:
            return "tuple", tuple(map(self.argument, value))
        return "constant", value if type(value) in (int, str, float) else (..., "key", self.paths.encoded(value))

    def load_name(self, path: Path, parent: Path) -> tuple[Any, ...]:
        function = self.lens.function_behind(parent)
        if path.step == "cell":
            return "cell", self.bound("cell", parent, path.key)
        if path.step == "global":
            return "global", self.bound("globals", parent), path.key
        if path.step == "builtin":
            return "builtin", self.bound("globals", parent), self.bound("builtins", parent), path.key
        keyword_only = path.key in (function.__kwdefaults__ or {})
        values = self.part(parent, "__kwdefaults__" if keyword_only else "__defaults__")
        if keyword_only:
            return "item", values, path.key
        code, count = function.__code__, len(function.__defaults__ or ())
        # The position of a default depends on their number. Their names are part of the signature.
        if parent not in self.counted:
            self.counted.add(parent)
            self.emit("length", values, count)
        return "item", values, code.co_varnames.index(path.key) - (code.co_argcount - count)

    def part(self, path: Path, attribute: str) -> int:
        """The register of an attribute that is not a step of a path."""
        key = (path, attribute)
        if key not in self.registers:
            source = self.register(path)
            number = self.registers[key] = len(self.registers)
            self.emit("attribute", number, source, attribute)
        return self.registers[key]

    def is_fixed(self, path: Path) -> bool:
        """Whether it is a name of samovar itself. Those belong to the version, which is checked once, at load time."""
        above = None if path.step != "attribute" or path.parent is None else self.facts.get(path.parent)
        return above is not None and above.get("kind") is Kind.SAMOVAR

    # --- guards

    def guard(self, path: Path) -> None:
        """Repeat the questions about a path at each launch."""
        if path.step == "options":
            return
        facts = self.facts[path]
        if path.step == "overlap":
            self.guard_overlap(path, facts["disjoint"])
        elif path.step in ("kernel", "function"):
            if "function" in facts:
                self.emit("same_function", self.register(path), self.bound("object", path), self.bound("code", path))
        elif self.is_fixed(path):
            self.guard_tensor(path, facts)
        elif not self.is_in_immutable(path):
            if path.step == "call":
                self.guard_call(path)
                kind, value = facts["call"]
                facts = {"kind": kind, "value": value, **facts}
            self.guard_object(path, facts)

    def is_in_immutable(self, path: Path) -> bool:
        inner: Path | None = path
        while inner is not None and inner.step == "item":
            inner = inner.parent
            if inner in self.immutable:
                return True
        return False

    def guard_object(self, path: Path, facts: dict[str, Any]) -> None:
        kind = facts.get("kind")
        if kind is Kind.ABSENT:
            self.guard_absence(path)
            return
        is_method = "bound" in facts
        if is_method and self.guard_method(path):
            return
        if "tensor" in facts:
            self.guard_tensor(path, facts)
        elif "value" in facts and kind in (Kind.SCALAR, Kind.STRING):
            self.emit("value", self.register(path), self.bound("object", path))
        elif is_method:  # created on each read: the parts are compared
            self.emit("type", self.register(path), self.bound("type", path))
        elif kind in _BY_IDENTITY or kind is Kind.FUNCTION or not facts.keys().isdisjoint(_ABOUT_IDENTITY):
            if path not in self.given or kind in _BY_IDENTITY:  # arguments are checked with the calls
                self.guard_identity(path)
            if kind in (Kind.OBJECT, Kind.MATRIX, Kind.STRUCT, Kind.STRUCTS):  # an object can change its class
                self.emit("type", self.register(path), self.bound("type", path))
        elif kind is Kind.SEQUENCE and facts.get("immutable"):
            self.immutable.add(path)
            self.emit("value", self.register(path), self.bound("object", path))
        elif facts.get("values"):
            self.emit("contents", self.register(path), (..., "seen", ((self.paths.number(path), 0),)))
        elif kind is not None and path not in self.filled:
            self.emit("type", self.register(path), self.bound("type", path))
        if facts.get("bound") and path.parent is not None:  # to the object that holds it; it could be bound to another one
            self.emit("contents", self.part(path, "__self__"), self.bound("identity", path.parent))
        if kind is Kind.OBJECT and path.step == "parameter":
            self.emit("stable", self.parameters[path.key], self.bound("stable", path))
        if not facts.keys().isdisjoint(_NUMBER_TYPES) and path in self.filled:
            self.emit("type", self.register(path), self.bound("type", path))
        if "keys" in facts:
            self.emit("keys", self.register(path), self.bound("keys", path))
        elif "length" in facts and path not in self.immutable:
            self.emit("length", self.register(path), facts["length"])

    def guard_call(self, path: Path) -> None:
        """Compare a plain function and its arguments with what was seen of them when it was called, unless it is called
        again.

        Arguments shared by several calls are compared once.
        """
        for given in compared_paths(path):
            if given.step != "operator" and given not in self.compared:
                self.compared.add(given)
                places = tuple((self.paths.number(call), position) for call, position in self.given[given])
                is_function = self.facts.get(given, {}).get("kind") is Kind.FUNCTION
                seen = self.bound("callee", given, places) if is_function else (..., "seen", places)
                self.emit("contents", self.register(given), seen)

    def guard_method(self, path: Path) -> bool:
        """Compare the func that a class defines, instead of binding it to the object just to check it.

        False if reading the attribute gives anything else than that func, bound.
        """
        if path in self.methods:
            return True
        if path.step != "attribute" or path.parent is None or not self.facts.get(path, {}).get("bound"):
            return False
        func = self.lens.object_at(path).__func__
        if not comes_from_class(self.lens.object_at(path.parent), path.key, func):
            return False
        self.methods.add(path)
        owner = self.paths.number(path.parent)
        self.emit("method", self.register(path.parent), path.key, self.bound("method", path, owner, path.key))
        return True

    def guard_identity(self, path: Path) -> None:
        if path in self.identities:
            return
        self.identities.add(path)
        kind = self.facts.get(path, {}).get("kind")
        if kind in _BY_IDENTITY:
            self.emit("is", self.register(path), self.bound("object", path))
        else:
            self.emit("contents", self.register(path), self.bound("identity", path))

    def guard_module(self, path: Path) -> None:
        """Compare a module whose dictionary will be read: its identity, and its class, which can change."""
        self.guard_identity(path)
        if path not in self.plain_modules:
            self.plain_modules.add(path)
            self.emit("type", self.register(path), self.bound("type", path))

    def guard_absence(self, path: Path) -> None:
        assert path.parent is not None or path.step == "parameter"
        if path.step == "attribute" and path.parent is not None:
            owner = self.lens.object_at(path.parent)
            if type(owner) is ModuleType and "__getattr__" not in owner.__dict__:
                self.guard_module(path.parent)
                for name in (path.key, "__getattr__"):
                    self.emit("absent_global", self.bound("names", path.parent), name)
            else:
                self.emit("absent_attribute", self.register(path.parent), path.key)
        elif path.step == "undefined" and path.parent is not None:
            self.emit("absent_global", self.bound("globals", path.parent), path.key)
            self.emit("absent_global", self.bound("builtins", path.parent), path.key)

    def guard_tensor(self, path: Path, facts: dict[str, Any]) -> None:
        if "tensor" not in facts:
            return
        register = self.register(path)
        written = path in self.written or facts.get("readonly") is False
        self.emit("tensor", register, *facts["tensor"], written)
        if "layout" in facts:
            self.emit("layout", register, facts["layout"])
        for axis in range(len(EXTENT_QUESTIONS)):
            for question in (EXTENT_QUESTIONS[axis], EXACT_EXTENT_QUESTIONS[axis]):
                if question in facts:
                    self.emit("extent", register, axis, facts[question])

    def guard_overlap(self, path: Path, disjoint: bool) -> None:
        written, everything = path.key
        self.emit("disjoint", tuple(map(self.register, written)), tuple(map(self.register, everything)), disjoint)

    def fill(self, fill: Fill) -> None:
        if fill.path.step == "probes":
            self.emit("tensor", self.register(fill.path), *TensorFacts(fill.dtype, 1).answer(), True)
        if fill.is_array:
            self.emit("array", self.register(fill.path), fill.offset, fill.strided)
        else:
            self.emit("scalar", self.register(fill.path), fill.dtype.name, fill.offset, fill.name)


def _calls_behind(call: Path) -> Iterator[Path]:
    """The calls whose results, or something below them, a call takes as arguments, or is a method of."""
    for given in compared_paths(call):
        inner: Path | None = given
        while inner is not None:
            if inner.step == "call":
                yield inner
            inner = inner.parent
