"""Structs in plain Python: values with named members, as in kernels.

Members are numbers that their dtypes can represent, vectors, matrices and structs. Assigning to a member copies the value;
reading a vector or struct returns the member itself, so that `s.a.b.x = 1` changes `s`.
"""

from __future__ import annotations

from samovar.errors import SamovarTypeError
from samovar.language import REGISTRY, ScalarAnnotation, options_in_force
from samovar.reflection import MethodType
from samovar.values.matrices import Matrix
from samovar.values.matrices import made as made_matrix
from samovar.values.matrix_types import MatrixType
from samovar.values.nested_values import nested, read, shown
from samovar.values.struct_types import StructType, check_name, made_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any


class StructClass(type):
    """The metaclass of `sv.Struct`: its methods are not available on values, so that members may have these names."""

    def field(cls, members: Mapping[str, Any], shape: Any = None, **options: Any) -> Any:
        """A field of structs with these members, see `sv.field`."""
        return made_of(members, "struct", {}, {}).field(shape, **options)

    def ndarray(cls, members: Mapping[str, Any], shape: Any, **options: Any) -> Any:
        """An array of structs with these members, see `sv.ndarray`."""
        return made_of(members, "struct", {}, {}).ndarray(shape, **options)


class Struct(metaclass=StructClass):
    """A value with named members, made by a type (`sv.types.struct`, `@sv.dataclass`) or from a dict, whose values decide
    the types.

    >>> import samovar as sv
    >>> s = sv.Struct(a=1, v=sv.Vector([1.0, 2.0]))
    >>> s.v.y = s.a + 4
    >>> s
    struct(a=1, v=[1.0, 5.0])
    """

    __slots__ = ("member_values", "struct", "when_written")
    #: The values of the members, in order.
    member_values: list[Any]
    struct: StructType
    #: For an element of an array: called with the position and the new value of a number that is assigned.
    when_written: Callable[[int, Any], None] | None
    __hash__ = None  # type: ignore[assignment]

    def __new__(cls, members: Mapping[str, Any] | None = None, /, **named: Any) -> Struct:
        return inferred({**(members or {}), **named})

    # --- members

    def __getattr__(self, name: str) -> Any:
        place = self.struct.place(name)
        if place is not None:
            return self.member_values[place]
        method = None if name.startswith("__") else self.struct.methods.get(name)
        if method is None:
            raise AttributeError(f"a {self.struct} has no member {name!r}; its members are {', '.join(self.struct.keys)}")
        return method.__func__ if isinstance(method, staticmethod) else MethodType(method, self)

    def __setattr__(self, name: str, value: Any) -> None:
        place = self.struct.place(name)
        if place is None:
            raise AttributeError(f"a {self.struct} has no member {name!r}; its members are {', '.join(self.struct.keys)}")
        entry = member_value(self.struct, place, value)
        if self.when_written is None:
            self.member_values[place] = entry
        elif isinstance(entry, Struct):
            own: Struct = self.member_values[place]
            for position, member in enumerate(own.struct.keys):
                setattr(own, member, entry.member_values[position])
        elif isinstance(entry, Matrix):
            self.member_values[place][:] = entry
        else:
            self.member_values[place] = entry
            self.when_written(place, entry)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.__getattr__(name)
        except AttributeError as error:
            raise KeyError(str(error)) from None

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)

    @property
    def keys(self) -> list[str]:
        """The names of the members."""
        return self.struct.keys

    @property
    def items(self) -> list[tuple[str, Any]]:
        """The names and values of the members."""
        return list(zip(self.struct.keys, self.member_values, strict=True))

    @property
    def entries(self) -> Any:
        """The member of this name; without one, the members by name."""
        place = self.struct.place("entries")
        return dict(self.items) if place is None else self.member_values[place]

    def __dir__(self) -> list[str]:
        return [*self.struct.keys, *self.struct.methods, "copy", "items", "keys", "to_dict"]

    # --- whole values

    def copy(self) -> Struct:
        """A copy."""
        return made(self.struct, [_copied(entry) for entry in self.member_values])

    def to_dict(self) -> dict[str, Any]:
        """The members by name: numbers, lists and dicts.

        >>> import samovar as sv
        >>> sv.Struct(v=sv.Vector([1, 2])).to_dict()
        {'v': [1, 2]}
        """
        return {
            name: entry.to_dict() if isinstance(entry, Struct) else entry.to_list() if isinstance(entry, Matrix) else entry
            for name, entry in zip(self.struct.keys, self.member_values, strict=True)
        }

    def __eq__(self, other: object) -> bool:
        """Whether all members are equal."""
        if not isinstance(other, Struct) or self.struct.keys != other.struct.keys:
            return NotImplemented
        return all(map(_equal, self.member_values, other.member_values))

    def __copy__(self) -> Struct:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Struct:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return made, (self.struct, [_copied(entry) for entry in self.member_values])

    def __repr__(self) -> str:
        shown = (
            f"{name}={entry.to_list() if isinstance(entry, Matrix) else entry!r}"
            for name, entry in zip(self.struct.keys, self.member_values, strict=True)
        )
        return f"{self.struct.name}({', '.join(shown)})"


def made(struct: StructType, entries: list[Any]) -> Struct:
    """A struct of values that match its members."""
    result = object.__new__(Struct)
    object.__setattr__(result, "struct", struct)
    object.__setattr__(result, "member_values", entries)
    object.__setattr__(result, "when_written", None)
    return result


def constructed(struct: StructType, values: tuple[Any, ...], named: Mapping[str, Any]) -> Struct:
    """The result of calling a type whose dtypes are known."""
    only = values[0] if len(values) == 1 and not named else None
    # A struct or dict may be meant for the first member.
    is_first = bool(struct.members) and isinstance(struct.members[0][1], StructType)
    if isinstance(only, dict) and not (is_first and any(struct.place(name) is None for name in only)):
        values, named = (), only
    elif isinstance(only, Struct) and not (is_first and only.struct.keys != struct.keys):
        return converted(struct, only)
    if len(values) > len(struct.members):
        raise SamovarTypeError(f"{struct} has {len(struct.members)} members, but got {len(values)} values")
    given = dict(zip(struct.keys, values, strict=False))
    for name, value in named.items():
        if struct.place(name) is None:
            raise SamovarTypeError(f"{struct} has no member `{name}`; its members are {', '.join(struct.keys)}")
        if name in given:
            raise SamovarTypeError(f"{struct} got multiple values for `{name}`")
        given[name] = value
    return made(
        struct,
        [
            constructed_member(struct, place, given[name]) if name in given else default_value(kind, default)
            for place, (name, kind, default) in enumerate(struct.members)
        ],
    )


def converted(struct: StructType, value: Struct) -> Struct:
    """A struct converted to another type with the same members."""
    if value.struct.keys != struct.keys:
        raise SamovarTypeError(
            f"expected a `{struct}` with the members {', '.join(struct.keys)}, got one with {', '.join(value.struct.keys)}"
        )
    return made(struct, [member_value(struct, place, entry) for place, entry in enumerate(value.member_values)])


def constructed_member(struct: StructType, place: int, value: Any) -> Any:
    """A member from a value passed to the constructor. Other values than structs may make one (`nested_structs`)."""
    kind = struct.members[place][1]
    is_made = isinstance(kind, StructType) and not isinstance(value, (Struct, dict))
    if is_made and options_in_force().nested_structs == "first":
        return constructed(kind, (value,), {})
    return member_value(struct, place, value)


def member_value(struct: StructType, place: int, value: Any) -> Any:
    """A value as a member stores it; a copy."""
    name, kind, _ = struct.members[place]
    if isinstance(kind, StructType):
        if isinstance(value, Struct):
            return converted(kind, value)
        if isinstance(value, dict):
            return constructed(kind, (), value)
        raise SamovarTypeError(f"`{name}` of {struct} is a {kind} and cannot be set to a {type(value).__name__}")
    if isinstance(kind, MatrixType):
        found = read(value, f"`{name}` of {struct}")
        if found.shape not in ((), kind.shape, (kind.n * kind.m,)):
            raise SamovarTypeError(f"`{name}` of {struct} has shape {shown(kind.shape)}, not {shown(found.shape)}")
        numbers = found.numbers * (kind.n * kind.m) if found.shape == () else found.numbers
        return made_matrix(kind.shape, numbers, kind.dtype)  # type: ignore[arg-type]
    if isinstance(value, (Matrix, Struct, list, tuple, dict, str)):
        raise SamovarTypeError(f"`{name}` of {struct} is a number ({kind.dtype.name}), not a {type(value).__name__}")
    return kind.dtype(value)


def default_value(kind: Any, default: tuple[Any, ...] | None) -> Any:
    """The value of an omitted member."""
    if isinstance(kind, StructType):
        return constructed(kind, (), {})
    if isinstance(kind, MatrixType):
        return made_matrix(kind.shape, default or [0] * (kind.n * kind.m), kind.dtype)  # type: ignore[arg-type]
    return kind.dtype(default[0] if default else 0)


def _copied(entry: Any) -> Any:
    return entry.copy() if isinstance(entry, (Matrix, Struct)) else entry


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, Matrix) and isinstance(other, Matrix):
        return one.shape == other.shape and one.entries == other.entries
    return bool(one == other)


def inferred(members: Mapping[str, Any]) -> Struct:
    """A struct with the types of its values."""
    if not members:
        raise SamovarTypeError("a struct must have at least one member")
    found = list(_inferred(members))
    struct = StructType("struct", tuple((name, kind, None) for name, kind, _ in found))
    return made(struct, [value for _, _, value in found])


def _inferred(members: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name, value in members.items():
        check_name("struct", name)
        if isinstance(value, (dict, Struct)):
            inner = inferred(value) if isinstance(value, dict) else value.copy()
            yield name, inner.struct, inner
            continue
        found = nested(value)
        if found is None or len(found.shape) > 2:
            raise SamovarTypeError(f"the member `{name}` cannot be a {type(value).__name__}: use numbers, vectors, structs")
        if found.shape == ():
            yield name, ScalarAnnotation(found.dtype), found.dtype(found.numbers[0])
        else:
            yield name, MatrixType(None, found.dtype, found.shape), made_matrix(found.shape, found.numbers, found.dtype)


REGISTRY["samovar.Struct"] = Struct
