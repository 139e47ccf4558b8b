"""The names that code mentions: which attributes and which global names a plain function can read, without running it.

A function mentions what is in its own code, and what is in the code of the functions, methods and properties that it
mentions, as far as it is not that of installed packages. A name that is put together while it runs (`getattr(x, name)`,
`vars(x)`) is not among them.
"""

from __future__ import annotations

import os
import sys
from _functools import _lru_cache_wrapper, partial  # type: ignore[import-not-found]  # `functools` loads `collections`
from types import CodeType, FunctionType, MethodType

from samovar.lens import questions
from samovar.lens.answers import Kind
from samovar.reflection import ABSENT, bases, derives, is_class, module_of, namespace, own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CellType
    from typing import Any

#: How many objects are looked at for methods.
MOST_OBJECTS = 64
#: How many functions are remembered.
MOST_FUNCTIONS = 1024

#: By the identity of the code, which the table keeps alive: its global names, and all names in it.
_known: dict[int, tuple[CodeType, tuple[str, ...], frozenset[str]]] = {}


#: Where Python's own library is, and with it mostly what is installed.
_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")


def is_installed(file: str) -> bool:
    """Is a file part of an installed package, or of Python? Such code does not change while a program runs."""
    return file.startswith((_LIBRARY, "<frozen ")) or "site-packages" in file or "dist-packages" in file


def is_installed_class(cls: Any) -> bool:
    """The same of the module that a class was made in."""
    module = sys.modules.get(str(module_of(cls)))
    return module is not None and is_installed(getattr(module, "__file__", None) or "<frozen >")


def global_names(code: CodeType) -> tuple[str, ...]:
    """The names that a function, with the functions in it, looks up in its module."""
    return _names(code)[1]


def _names(code: CodeType) -> tuple[CodeType, tuple[str, ...], frozenset[str]]:
    found = _known.get(id(code))
    if found is None:
        if len(_known) >= MOST_FUNCTIONS:
            _known.clear()
        codes = list(_codes(code))
        loaded = tuple(dict.fromkeys(name for each in codes for name in _loaded_globals(each)))
        found = _known[id(code)] = (code, loaded, frozenset(name for each in codes for name in each.co_names))
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from _codes(constant)


def _loaded_globals(code: CodeType) -> Iterator[str]:
    from opcode import opmap

    load_global, load_name, extended = opmap["LOAD_GLOBAL"], opmap["LOAD_NAME"], opmap["EXTENDED_ARG"]
    # Since 3.11 the lowest bit says something else.
    shift = 1 if sys.version_info >= (3, 11) else 0
    instructions, argument = code.co_code, 0
    for position in range(0, len(instructions), 2):
        operation = instructions[position]
        argument = argument << 8 | instructions[position + 1]
        if operation == load_global:
            yield code.co_names[argument >> shift]
        elif operation == load_name:
            yield code.co_names[argument]
        if operation != extended:
            argument = 0


def cell_content(cell: CellType) -> Any:
    """What a cell holds, ABSENT if it was not assigned yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


def mentioned_by(function: Any, given: Sequence[Any]) -> frozenset[str] | None:
    """The names that a call may read attributes under; None if it may read all of them, because it is not written in
    Python."""
    search = _Search(given)
    return search.names() if search.take(function) else None


class _Search:
    """Follows what functions mention, and the methods of the objects that they get."""

    def __init__(self, given: Sequence[Any]) -> None:
        self.functions: list[FunctionType] = []
        self.objects: list[Any] = []
        self.seen: set[int] = set()
        for each in given:
            self.take_object(each)

    def take(self, value: Any) -> bool:
        """Add a callable; False if it is not written in Python."""
        cls = type(value)
        if cls is FunctionType:
            if id(value.__code__) not in self.seen and not is_installed(value.__code__.co_filename):
                self.seen.add(id(value.__code__))
                self.functions.append(value)
            return True
        if cls is MethodType:
            self.take_object(value.__self__)
            return self.take(value.__func__)
        if derives(cls, partial):
            for each in (*value.args, *value.keywords.values()):
                self.take_object(each)
            return self.take(value.func)
        if cls is _lru_cache_wrapper:
            return self.take(value.__wrapped__)
        return False

    def take_object(self, value: Any) -> None:
        """Add an object whose methods may be called."""
        if id(value) in self.seen or len(self.objects) >= MOST_OBJECTS:
            return
        if is_class(value) or questions.kind(value) in (Kind.OBJECT, Kind.MODULE):
            self.seen.add(id(value))
            self.objects.append(value)
        elif type(value) in (tuple, list, dict):
            self.seen.add(id(value))
            for each in list(value.values() if type(value) is dict else value)[:MOST_OBJECTS]:
                self.take_object(each)

    def names(self) -> frozenset[str]:
        """Everything that is mentioned, after everything was followed."""
        names: set[str] = set()
        done = (-1, -1)
        while done != (len(self.functions), len(self.objects)):
            done = (len(self.functions), len(self.objects))
            for function in self.functions:
                _, loaded, mentioned = _names(function.__code__)
                names |= mentioned
                for cell in function.__closure__ or ():
                    self.follow(cell_content(cell))
                for name in loaded:
                    self.follow(function.__globals__.get(name, ABSENT))
            for each in self.objects:
                self.follow_object(each, names)
        return frozenset(names)

    def follow(self, value: Any) -> None:
        """What a function mentions: another one, an object, a class, or a module."""
        if value is not ABSENT and not self.take(value):
            self.take_object(value)

    def follow_object(self, value: Any, names: set[str]) -> None:
        cls = value if is_class(value) else type(value)
        held = None if is_class(value) else getattr(value, "__dict__", None)
        for name in list(names):
            self.take_method(own(cls, name))
            if type(held) is dict and name in held:
                self.follow(held[name])
        # Those that syntax calls are not mentioned. What `dataclasses` makes looks at all fields, and is of no use here.
        for base in bases(cls):
            for name, defined in namespace(base).items():
                is_special = name.startswith("__") and type(defined) is FunctionType and name not in _NOT_CALLED
                if is_special and not defined.__code__.co_filename.startswith("<"):
                    self.take(defined)

    def take_method(self, defined: Any) -> None:
        """What a class has under a name: a function, a property, or what wraps a function."""
        if type(defined) is property:
            self.take(defined.fget)
        elif type(defined) in (staticmethod, classmethod):
            self.take(defined.__func__)
        elif type(defined).__name__ == "cached_property":
            self.take(getattr(defined, "func", None))
        else:
            self.take(defined)


#: Special methods that no syntax calls on an object that is there.
_NOT_CALLED = frozenset(("__init__", "__new__", "__del__", "__init_subclass__", "__setattr__", "__repr__"))
