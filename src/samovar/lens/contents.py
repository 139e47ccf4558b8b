"""Contents: what plain Python code can see of the things that it is given, described for native code to compare.

A plain function that is called in `static` is not called before each launch. Instead, what it was given, and what it is made
of, is described when it is called, and compared with the description before each launch: as long as that holds, the function
would be given the same again. `_native/contents.c` says what descriptions look like.

Described are values, containers by their elements, arrays by their layout (small ones by their elements as well), functions
by their code, defaults, captured variables and global names, and other objects, classes and modules by their identity and by
those of their attributes that the code mentions. What is beyond a number of parts is compared by identity alone, and so is
the code of installed packages.
"""

from __future__ import annotations

import _operator as operator
from _functools import _lru_cache_wrapper, partial  # type: ignore[import-not-found]  # `functools` loads `collections`
from _weakref import ref
from types import (
    BuiltinFunctionType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)

from samovar import _native
from samovar.lens import questions
from samovar.lens.answers import Kind, same_objects
from samovar.lens.mentioned import cell_content, global_names, is_installed, is_installed_class, mentioned_by
from samovar.reflection import ABSENT, bases, is_class, namespace, own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    Contents = tuple[Any, ...]

#: How many parts of one thing are described.
MOST_PARTS = 1000
#: Arrays of up to so many bytes are described by their elements.
SMALL_ARRAY = 512

#: Types whose objects do not change and are compared by value, by identity.
_VALUES = {id(each) for each in (int, float, bool, complex, str, bytes, type(None), _native.DType)}
#: Containers, by their identity.
_CONTAINERS: dict[int, Any] = {id(each): each for each in (tuple, list, set, frozenset)}
#: What callables that wrap others consist of.
_WRAPPERS: dict[int, tuple[str, ...]] = {
    id(partial): ("func", "args", "keywords"),
    id(_lru_cache_wrapper): ("__wrapped__",),
    id(staticmethod): ("__func__",),
    id(property): ("fget",),
    id(range): ("start", "stop", "step"),
}


def watched_call(compared: Sequence[Any], call: Callable[[], Any]) -> tuple[Any, tuple[Contents, ...]]:
    """Make a call. Gives its result, and what it depends on: the function, and each of the things that it is given.

    They are described before the call: what is there when a kernel is launched may be something else. What the function
    itself changes (a counter, a memory of results) is left out: it would be another one at the next launch.
    """
    function, *given = compared
    if function is operator.is_ or function is operator.is_not:
        return call(), tuple(map(identity, compared))
    mentioned = mentioned_by(function, given)
    describer = _Describer(mentioned)
    before = [describer.thing(each) for each in compared]
    result = call()
    seen = []
    for thing, described in zip(compared, before, strict=True):
        if _native.same_contents(thing, described):
            seen.append(described)
        else:
            seen.append(describer.in_common(described, _Describer(mentioned).thing(thing)) or _ANYTHING)
    return result, tuple(seen)


#: What describes everything.
_ANYTHING: Contents = ("all", ())


#: Of what kernels have as well: all that there is to see of it, whatever it is read by.
_VALUES_OF_OURS = {
    Kind.MATRIX: ("dtype", "shape", "entries"),
    Kind.STRUCT: ("struct", "entries"),
    Kind.STRUCTS: ("struct", "memory", "parts"),
}

#: What gives the same whenever it is read from an object.
_METHODS = (FunctionType, staticmethod, classmethod)


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


def _is_bound(value: Any) -> bool:
    """Is it a method of an object that is not written in Python?"""
    if type(value) is BuiltinFunctionType:
        return value.__self__ is not None and type(value.__self__) is not ModuleType
    return type(value) is MethodWrapperType


def _with_attributes(cls: type, attributes: tuple[tuple[str, Contents], ...]) -> Contents:
    return ("all", (("type", cls), ("attributes", attributes)))


class _Describer:
    """Describes things; `mentioned` are the names that count of objects, None if all of them do."""

    def __init__(self, mentioned: frozenset[str] | None) -> None:
        self.mentioned = mentioned
        self.parts = 0
        self.around: set[int] = set()  # what is being described: things can hold themselves
        self.identities: dict[int, Contents] = {}  # by the identity of the description of a container

    def thing(self, value: Any) -> Contents:
        """The description of a thing, with so many parts."""
        self.parts = MOST_PARTS
        return self.described(value)

    def described(self, value: Any) -> Contents:
        """The description of a value."""
        if id(type(value)) in _VALUES:
            return ("value", value)
        self.parts -= 1
        if self.parts < 0 or id(value) in self.around:
            return identity(value)
        self.around.add(id(value))
        try:
            return self._described(value)
        finally:
            self.around.discard(id(value))

    def _described(self, value: Any) -> Contents:
        cls = type(value)
        if cls is FunctionType:
            return identity(value) if is_installed(value.__code__.co_filename) else self._function(value)
        if cls is MethodType:
            return ("method", self.described(value.__func__), self.described(value.__self__))
        if _is_bound(value):
            name = ("__name__", ("value", value.__name__))
            return _with_attributes(cls, (("__self__", self.described(value.__self__)), name))
        if is_class(value):
            return ("all", (identity(value), self._attributes(value, self._class_names(value))))
        kind = questions.kind(value)
        if kind is Kind.MODULE:
            return self._module(value)
        if kind is Kind.SCALAR or kind is Kind.STRING:
            return ("value", value)
        if kind is Kind.TENSOR:
            return self._array(value)
        if kind in _VALUES_OF_OURS:
            parts = tuple((name, self.described(getattr(value, name))) for name in _VALUES_OF_OURS[kind])
            return _with_attributes(cls, parts)
        for base in bases(cls):
            if id(base) in _CONTAINERS:
                container = _CONTAINERS[id(base)]
                return self._container(value, container.__len__(value), "items", container.__iter__(value))
            if base is dict:
                return self._container(value, dict.__len__(value), "mapping", dict.keys(value), dict.values(value))
            if id(base) in _WRAPPERS:
                parts = tuple((name, self.described(getattr(value, name))) for name in _WRAPPERS[id(base)])
                return _with_attributes(cls, parts)
        return self._object(value) if kind is Kind.OBJECT else identity(value)

    def _container(self, value: Any, length: int, word: str, *elements: Iterable[Any]) -> Contents:
        if length > self.parts:
            return ("all", (identity(value), ("length", length)))
        made = ("all", (("type", type(value)), (word, *(tuple(map(self.described, each)) for each in elements))))
        self.identities[id(made)] = identity(value)
        return made

    def _array(self, value: Any) -> Contents:
        if type(value) is _native.BufferView:  # through which all of its array can be seen
            place = tuple((name, ("value", getattr(value, name))) for name in ("offset", "size"))
            return _with_attributes(type(value), (*place, ("array", self.described(value.array))))
        try:
            layout = _native.describe_array(value, SMALL_ARRAY)
        except TypeError:  # an array that no kernel takes
            layout = None
        if layout is None:
            return identity(value)
        has_elements = layout[-1] is not None
        return ("all", (("type", type(value)) if has_elements else identity(value), layout))

    def _function(self, value: FunctionType) -> Contents:
        optional = self._optional
        names = value.__globals__
        cells = tuple(optional(cell_content(cell)) for cell in value.__closure__ or ())
        mentioned = tuple((name, optional(names.get(name, ABSENT))) for name in global_names(value.__code__))
        defaults = optional(ABSENT if value.__defaults__ is None else value.__defaults__)
        keyword_defaults = optional(ABSENT if value.__kwdefaults__ is None else value.__kwdefaults__)
        return ("function", value.__code__, defaults, keyword_defaults, cells, names, mentioned)

    def _optional(self, value: Any) -> Contents | None:
        return None if value is ABSENT else self.described(value)

    def _object(self, value: Any) -> Contents:
        cls = type(value)
        held = own_attributes(value)
        if held is None:  # it finds attributes in a way of its own
            return ("all", (identity(value), ("type", cls)))
        names = [name for name in held if self.mentioned is None or name in self.mentioned]
        properties = []
        for name in self._class_names(cls):
            defined = own(cls, name)
            if type(defined) is property:  # not to be called here
                properties.append(name)
            elif name not in held and (type(defined) in _METHODS or own(type(defined), "__get__") is ABSENT):
                names.append(name)  # as the object has it: it may get an attribute that hides that of its class
        of_object = (identity(value), ("type", cls), self._attributes(value, names))
        return ("all", (*of_object, ("class", self._attributes(cls, properties))) if properties else of_object)

    def _class_names(self, cls: type) -> list[str]:
        """What code mentions of a class: its constants, methods and properties."""
        if self.mentioned is None or own(type(cls), "__getattribute__") is not type.__getattribute__:
            return []
        defined = [name for base in bases(cls) if not is_installed_class(base) for name in namespace(base)]
        return [name for name in dict.fromkeys(defined) if name in self.mentioned]

    def _module(self, value: Any) -> Contents:
        if is_installed(getattr(value, "__file__", None) or ""):
            return identity(value)
        names = value.__dict__ if self.mentioned is None else self.mentioned.intersection(value.__dict__)
        return ("all", (identity(value), self._attributes(value, sorted(names))))

    def _attributes(self, value: Any, names: Iterable[str]) -> Contents:
        return ("attributes", tuple((name, self._optional(questions.read_attribute(value, name))) for name in names))


    # --- two descriptions of one thing

    def in_common(self, one: Contents, other: Contents) -> Contents | None:
        """What two descriptions of one thing have in common, of which the first was made here; None if it is nothing."""
        if same_objects(one, other):
            return one
        if one[0] != other[0]:
            return None
        if one[0] == "all":
            parts = [self.in_common(mine, its) for mine, its in zip(one[1], other[1], strict=False)]
            is_complete = len(one[1]) == len(other[1]) and None not in parts
            return ("all", tuple(parts)) if is_complete else self.identities.get(id(one))
        if one[0] == "items" and len(one[1]) == len(other[1]):
            return ("items", self._each_in_common(one[1], other[1]))
        if one[0] == "mapping" and same_objects(one[1], other[1]):
            return ("mapping", one[1], self._each_in_common(one[2], other[2]))
        if one[0] == "attributes":
            return ("attributes", self._named_in_common(one[1], other[1]))
        if one[0] == "method":
            return ("method", *self._each_in_common(one[1:], other[1:]))
        if one[0] == "function" and one[1] is other[1]:
            _, code, defaults, keyword_defaults, cells, names, mentioned = one
            defaults, keyword_defaults = self._each_in_common((defaults, keyword_defaults), other[2:4])
            cells, mentioned = self._each_in_common(cells, other[4]), self._named_in_common(mentioned, other[6])
            return ("function", code, defaults, keyword_defaults, cells, names, mentioned)
        return None

    def _each_in_common(self, one: Sequence[Any], other: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(map(self._place_in_common, one, other))

    def _named_in_common(self, one: Sequence[Any], other: Sequence[Any]) -> tuple[Any, ...]:
        now = dict(other)
        return tuple((name, self._place_in_common(described, now.get(name))) for name, described in one)

    def _place_in_common(self, one: Contents | None, other: Contents | None) -> Contents | None:
        """The same of a place that may be empty, which None describes."""
        if one is None or other is None:
            return None if one is other else _ANYTHING
        return self.in_common(one, other) or _ANYTHING


def own_attributes(value: Any) -> list[str] | None:
    """The names of what an object itself holds, in its dictionary or in slots; None if it finds attributes in a way of its
    own."""
    cls = type(value)
    if type(own(cls, "__getattribute__")) is not WrapperDescriptorType:  # written in Python
        return None
    held = [
        name
        for base in bases(cls)
        for name, defined in namespace(base).items()
        if type(defined) is MemberDescriptorType and base is not object
    ]
    names = getattr(value, "__dict__", {})
    if type(names) is dict:
        held += [name for name in names if type(name) is str and not _is_computed(cls, name)]
    return held


def _is_computed(cls: Any, name: str) -> bool:
    """Does a class define a property under a name, so that what an object holds is not what is read?"""
    defined = own(cls, name)
    return defined is not ABSENT and own(type(defined), "__set__") is not ABSENT

