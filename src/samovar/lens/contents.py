"""Contents: what plain Python code reads, described for native code to compare, where all that it reads is known.

A plain function that is called in `static` may give something else at the next launch. If its code is *closed* (see
`closed_code`), everything that it depends on can be described: Python's own values and containers, by value; functions by
their code, defaults, captured variables, global names and builtins; functions of Python that only compute. As long as that
holds, the function would give the same again, and it is not called. `_native/contents.c` says what descriptions look like.

Of everything else, objects first of all, no description would be complete. There is none then, and the function is called
before each launch.
"""

from __future__ import annotations

import builtins
import sys
from _weakref import ref
from types import BuiltinFunctionType, FunctionType, MethodType, MethodWrapperType, ModuleType

from samovar import _native
from samovar.lens import questions
from samovar.lens.answers import Kind
from samovar.lens.closed_code import CONTAINERS, VALUES, closed_code
from samovar.lens.functions import builtins_of
from samovar.reflection import is_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Contents = tuple[Any, ...]

#: How many parts the description of one call has.
MOST_PARTS = 1000

#: What describes everything.
ANYTHING: Contents = ("all", ())

#: By identity: types whose objects do not change and are compared by value, containers, and mutable ones among them.
_VALUES = {id(each) for each in (*VALUES, _native.DType)}
_CONTAINERS = {id(each) for each in CONTAINERS}
_MUTABLE = {id(each) for each in (list, dict, set)}
#: Builtins that only compute, and what they give depends on nothing but what they are given. What `print` does is no result.
_COMPUTING = {
    id(each): each
    for each in (
        *map(
            vars(builtins).__getitem__,
            "abs all any ascii bin bool bytes chr complex dict divmod enumerate filter float format frozenset hex int"
            " isinstance issubclass iter len list map max min next oct ord pow print range repr reversed round set slice"
            " sorted str sum tuple zip".split(),
        ),
        *(each for each in vars(builtins).values() if is_class(each) and issubclass(each, BaseException)),
    )
}
#: Functions of the module `operator` that do what operators do, without those that assign.
_OPERATORS = frozenset(
    "abs add and_ concat contains countOf eq floordiv ge getitem gt index indexOf invert le lshift lt matmul mod mul ne neg"
    " not_ or_ pos pow rshift sub truediv truth xor".split()
)
#: Modules of nothing but functions that compute and constants.
_MODULES = ("math", "cmath")


class NotClosed(Exception):
    """Something is read of which no description would be complete."""


def watched_call(
    compared: Sequence[Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[Any, tuple[Contents, ...] | None]:
    """Call the first of what is compared. Gives its result, and the descriptions of what is compared if they are all that
    the result depends on: None if the function has to be called again.

    What is there is described before the call. If the call changes it, the next one may give something else.
    """
    function = compared[0]
    seen = described_call(compared, (*arguments, *keywords.values()))
    result = function(*arguments, **keywords)
    if seen is not None and (not _is_closed(result) or not all(map(_native.same_contents, compared, seen))):
        seen = None
    return result, seen


def described_call(compared: Sequence[Any], given: Sequence[Any]) -> tuple[Contents, ...] | None:
    """All that a call depends on, as descriptions of what is compared; None if there is more."""
    describer, others = _Describer(), _Describer()
    try:
        for each in given:  # also what is written out in a call, and cannot be another one
            others.described(each)
        seen = tuple(map(describer.described, compared))
    except (NotClosed, RecursionError):
        return None
    # That two names stand for one container is no part of a description, and can be told by changing it.
    return None if describer.changes and describer.mutables > 1 else seen


def _is_closed(result: Any) -> bool:
    """Is the result of a call the same whenever it is looked at, unless somebody changes what it was made of?"""
    cls = id(type(result))
    if cls in _VALUES or questions.kind(result) in (Kind.ANNOTATION, Kind.DTYPE):
        return True
    try:
        if cls in _CONTAINERS:
            return all(map(_is_closed, (*result, *result.values()) if type(result) is dict else result))
        return type(result) is FunctionType and bool(_Describer().described(result))
    except (NotClosed, RecursionError):
        return False


def described_values(cls: type, elements: tuple[Any, ...]) -> Contents:
    """A list or tuple of simple values, all of them."""
    return ("all", (("type", cls), ("values", elements)))


def identity(value: Any) -> Contents:
    """That it is the same object. A method is made anew whenever it is read: its parts are the same then."""
    cls = type(value)
    if cls is MethodType:
        return ("method", identity(value.__func__), identity(value.__self__))
    if cls is _native.BoundKernel:
        parts = (("__func__", identity(value.__func__)), ("__self__", identity(value.__self__)))
        return _with_attributes(cls, parts)
    if _is_bound(value):
        return _with_attributes(cls, (("__self__", identity(value.__self__)), ("__name__", ("value", value.__name__))))
    try:
        return ("weak", ref(value))  # a guard must not keep an object of the user alive, with all its arrays
    except TypeError:
        return ("is", value)


def callee(value: Any) -> Contents:
    """That a plain function is one, and the same: of a method, without the object that it is bound to."""
    if type(value) is MethodType:
        return ("method", identity(value.__func__), ANYTHING)
    if _is_bound(value):
        parts = (("__self__", ("type", type(value.__self__))), ("__name__", ("value", value.__name__)))
        return _with_attributes(type(value), parts)
    return identity(value)


def _is_bound(value: Any) -> bool:
    """Is it a method of an object that is not written in Python?"""
    if type(value) is BuiltinFunctionType:
        return value.__self__ is not None and type(value.__self__) is not ModuleType
    return type(value) is MethodWrapperType


def _with_attributes(cls: type, attributes: tuple[tuple[str, Contents], ...]) -> Contents:
    return ("all", (("type", cls), ("attributes", attributes)))


class _Describer:
    """Describes what one call depends on, or raises `NotClosed`. `changes` says whether code may change what it is given,
    `mutables` how many things it could change."""

    def __init__(self) -> None:
        self.parts = MOST_PARTS
        self.changes = False
        self.mutables = 0
        self.around: set[int] = set()  # containers that are being described: they can hold themselves
        self.functions: set[int] = set()  # that were described

    def described(self, value: Any) -> Contents:
        cls = id(type(value))
        if cls in _VALUES:
            return ("value", value)
        self.parts -= 1
        if self.parts < 0 or id(value) in self.around:
            raise NotClosed
        if cls in _CONTAINERS:
            return self._container(value)
        if type(value) is FunctionType:
            return ("is", value) if _makes_type(value) else self._function(value)
        if type(value) is ModuleType or not _computes(value):
            raise NotClosed
        return ("is", value)

    def _container(self, value: Any) -> Contents:
        self.mutables += id(type(value)) in _MUTABLE
        if len(value) > self.parts:
            raise NotClosed
        self.around.add(id(value))
        described: Contents
        if type(value) is dict:
            described = ("mapping", self._each(value), self._each(value.values()))
        else:
            described = ("items", self._each(value))
        self.around.discard(id(value))
        return ("all", (("type", type(value)), described))

    def _each(self, values: Iterable[Any]) -> tuple[Contents, ...]:
        return tuple(map(self.described, values))

    def _function(self, function: FunctionType) -> Contents:
        if id(function) in self.functions:
            return identity(function)
        self.functions.add(id(function))
        code = closed_code(function.__code__)
        if code is None or function.__dict__:
            raise NotClosed
        self.changes = self.changes or code.changes
        names, computing = [], []
        unknown = set(code.attributes)
        for name in code.names:
            if name in function.__globals__:
                value = function.__globals__[name]
                is_module = type(value) is ModuleType
                names.append((name, self._module(value, code.attributes) if is_module else self.described(value)))
                unknown.difference_update(vars(value) if is_module else ())
            else:
                value = builtins_of(function).get(name)
                if not _computes(value):
                    raise NotClosed
                computing.append((name, value))
        if unknown:
            raise NotClosed
        try:
            cells = tuple(self.described(cell.cell_contents) for cell in function.__closure__ or ())
        except ValueError:  # not assigned yet
            raise NotClosed from None
        defaults = function.__defaults__, function.__kwdefaults__
        described_defaults = [None if each is None else self.described(each) for each in defaults]
        made_of = (function.__code__, *described_defaults, cells, function.__globals__, tuple(names), tuple(computing))
        return ("function", ref(function), *made_of)

    def _module(self, module: ModuleType, attributes: Iterable[str]) -> Contents:
        """A module with those of its names that code mentions."""
        if not any(module is sys.modules.get(name) for name in _MODULES):
            raise NotClosed
        held = module.__dict__
        mentioned = tuple((name, self.described(held[name])) for name in attributes if name in held)
        return ("all", (("is", module), _with_attributes(ModuleType, mentioned)))


def _makes_type(function: FunctionType) -> bool:
    """Is it one of ours that makes types?"""
    makers = (sys.modules.get(f"samovar.language.{name}") for name in ("matrix_types", "struct_types"))
    return any(each is not None and function.__globals__ is vars(each) for each in makers)


def _computes(value: Any) -> bool:
    """Is it a function, or a type, of Python or of ours that only computes?"""
    if id(value) in _COMPUTING:
        return True
    if type(value) is BuiltinFunctionType:
        home = value.__self__
        if type(home) is not ModuleType:
            return False
        return any(home is sys.modules.get(name) for name in _MODULES) or (
            home is sys.modules.get("_operator") and value.__name__ in _OPERATORS
        )
    return questions.kind(value) in (Kind.ANNOTATION, Kind.DTYPE)
