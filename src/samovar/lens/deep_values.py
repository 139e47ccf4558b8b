"""Deep values: descriptions of everything that plain Python code reads, which native guards compare.

A plain function called inside `static` may return something else at the next launch. If its code is *closed* (see
`closed_code`), all of its inputs can be described: built-in values and containers by value; functions by their code,
defaults, captured variables, globals and builtins; pure builtins by identity. While the description holds, the function
would return the same result and is not called again. `_native/guards/deep_values.c` defines the format.

Other things, above all objects, cannot be described completely. A function that reads them is called before each launch.
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
from samovar.lens.question_tables import builtins_of
from samovar.reflection import is_class

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Contents = tuple[Any, ...]

#: Maximum number of nodes in the description of one call.
MOST_PARTS = 1000

#: Matches everything.
ANYTHING: Contents = ("all", ())

#: By identity: immutable types that are compared by value, containers, and the mutable containers among them.
_VALUES = {id(each) for each in (*VALUES, _native.DType)}
_CONTAINERS = {id(each) for each in CONTAINERS}
_MUTABLE = {id(each) for each in (list, dict, set)}
#: Pure builtins: the result depends on nothing but the arguments. The output of `print` is not a result.
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
#: Functions of the module `operator` that implement operators, except in-place ones.
_OPERATORS = frozenset(
    "abs add and_ concat contains countOf eq floordiv ge getitem gt index indexOf invert le lshift lt matmul mod mul ne neg"
    " not_ or_ pos pow rshift sub truediv truth xor".split()
)
#: Modules that hold only constants and pure functions.
_MODULES = ("math", "cmath")


class NotClosed(Exception):
    """The code reads something that cannot be described completely."""


def watched_call(
    compared: Sequence[Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[Any, tuple[Contents, ...] | None]:
    """Call `compared[0]`. Return its result and the descriptions of all of `compared`, or None in their place if the result
    depends on more and the function has to be called again.

    Inputs are described before the call: if the call mutates them, the next call may return something else.
    """
    function = compared[0]
    seen = described_call(compared, (*arguments, *keywords.values()))
    result = function(*arguments, **keywords)
    if seen is not None and (not _is_closed(result) or not all(map(_native.same_contents, compared, seen))):
        seen = None
    return result, seen


def described_call(compared: Sequence[Any], given: Sequence[Any]) -> tuple[Contents, ...] | None:
    """Describe everything that a call depends on, in terms of `compared`; None if it depends on more."""
    if _declares_func(compared[0]):
        is_plain = len(compared) == len(given) + 1 and all(type(each) is FunctionType for each in given)
        return (("is", compared[0]), *map(_described_declaration, compared[1:])) if is_plain else None
    describer, others = _Describer(), _Describer()
    try:
        for each in given:  # literals in the call as well, which cannot change
            others.described(each)
        seen = tuple(map(describer.described, compared))
    except (NotClosed, RecursionError):
        return None
    # A description does not record aliasing between containers, and mutation can make it observable.
    return None if describer.changes and describer.mutables > 1 else seen


def _is_closed(result: Any) -> bool:
    """Whether the result of a call stays the same until one of its inputs is mutated."""
    cls = id(type(result))
    if cls in _VALUES or questions.kind(result) in (Kind.ANNOTATION, Kind.DTYPE, Kind.FUNC):
        return True
    try:
        if cls in _CONTAINERS:
            return all(map(_is_closed, (*result, *result.values()) if type(result) is dict else result))
        return type(result) is FunctionType and bool(_Describer().described(result))
    except (NotClosed, RecursionError):
        return False


def described_values(cls: type, elements: tuple[Any, ...]) -> Contents:
    """Describe a list or tuple of simple values."""
    return ("all", (("type", cls), ("values", elements)))


def identity(value: Any) -> Contents:
    """Describe object identity. A bound method is created anew at each read, so its parts are compared."""
    cls = type(value)
    if cls is MethodType:
        return ("method", identity(value.__func__), identity(value.__self__))
    if cls is _native.BoundKernel:
        parts = (("__func__", identity(value.__func__)), ("__self__", identity(value.__self__)))
        return _with_attributes(cls, parts)
    if _is_bound(value):
        return _with_attributes(cls, (("__self__", identity(value.__self__)), ("__name__", ("value", value.__name__))))
    try:
        return ("weak", ref(value))  # a guard must not keep a user object and its arrays alive
    except TypeError:
        return ("is", value)


def callee(value: Any) -> Contents:
    """Describe the identity of a plain function; of a method, without the object that it is bound to."""
    if type(value) is MethodType:
        return ("method", identity(value.__func__), ANYTHING)
    if _is_bound(value):
        parts = (("__self__", ("type", type(value.__self__))), ("__name__", ("value", value.__name__)))
        return _with_attributes(type(value), parts)
    return identity(value)


def _is_bound(value: Any) -> bool:
    """Whether the value is a bound method implemented in C."""
    if type(value) is BuiltinFunctionType:
        return value.__self__ is not None and type(value.__self__) is not ModuleType
    return type(value) is MethodWrapperType


def _with_attributes(cls: type, attributes: tuple[tuple[str, Contents], ...]) -> Contents:
    return ("all", (("type", cls), ("attributes", attributes)))


class _Describer:
    """Describes what one call depends on, or raises `NotClosed`. `changes` says whether the code may mutate its inputs,
    `mutables` how many of them are mutable."""

    def __init__(self) -> None:
        self.parts = MOST_PARTS
        self.changes = False
        self.mutables = 0
        self.around: set[int] = set()  # containers that are being described, to detect cycles
        self.functions: set[int] = set()  # already described

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
        """Describe a module and those of its names that the code mentions."""
        if not any(module is sys.modules.get(name) for name in _MODULES):
            raise NotClosed
        held = module.__dict__
        mentioned = tuple((name, self.described(held[name])) for name in attributes if name in held)
        return ("all", (("is", module), _with_attributes(ModuleType, mentioned)))


def _declares_func(value: Any) -> bool:
    """Whether the value is `sv.func` or one of its variants."""
    home = sys.modules.get("samovar.runtime.func")
    return type(value) is _native.ApiBoundary and home is not None and any(value is each for each in vars(home).values())


def _described_declaration(function: FunctionType) -> Contents:
    """Describe what `sv.func` reads in a function. What its code reads is asked when it is compiled."""
    annotations = function.__annotations__
    mapping = ("mapping", tuple(("value", name) for name in annotations), tuple(map(identity, annotations.values())))
    parts = (("__code__", ("is", function.__code__)), ("__annotations__", ("all", (("type", dict), mapping))))
    return ("all", (identity(function), _with_attributes(FunctionType, parts)))


def _makes_type(function: FunctionType) -> bool:
    """Whether the function is one of samovar's type factories."""
    makers = (sys.modules.get(f"samovar.values.{name}") for name in ("matrix_types", "struct_types"))
    return any(each is not None and function.__globals__ is vars(each) for each in makers)


def _computes(value: Any) -> bool:
    """Whether the value is a pure function or a type, of Python or of samovar."""
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
