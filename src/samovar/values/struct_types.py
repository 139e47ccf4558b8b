"""Struct types, as made by `sv.types.struct` and `@sv.dataclass`, and their memory layout.

A type annotates parameters and results, is the element type of arrays, and makes values when it is called.
"""

from __future__ import annotations

import sys

import samovar
from samovar._native import DType, api_boundary
from samovar.language import Annotation, Declaration, ScalarAnnotation, evaluated, options_in_force, plainly, specification
from samovar.reflection import namespace
from samovar.values.matrix_types import MatrixType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType
    from typing import Any

    from samovar.language import Options


class StructType(Annotation):
    """A struct type: named members in order, and methods. Called with values for the members, by position, by name
    or in a dict, it makes a struct; omitted members are their default, or 0.

    A member is a number, a vector, a matrix or a struct. Methods are not part of the key: a kernel that calls one finds its
    function through the type.

    >>> import samovar as sv
    >>> Ray = sv.types.struct(origin=sv.math.vec3, length=sv.f32)
    >>> ray = Ray([1, 2, 3], length=4)
    >>> ray.origin.x += ray.length
    >>> ray
    struct(origin=[5.0, 2.0, 3.0], length=4.0)
    """

    __slots__ = ("_places", "_resolved", "members", "methods", "name")
    is_struct = True
    #: (name, type, default) of each member; a default is None, or the numbers of the member in order.
    members: tuple[tuple[str, Any, tuple[Any, ...] | None], ...]
    _places: dict[str, int]
    _resolved: dict[Any, StructType]
    methods: dict[str, Any]
    name: str

    def __init__(
        self,
        name: str,
        members: tuple[tuple[str, Any, tuple[Any, ...] | None], ...],
        methods: Mapping[str, Any] | None = None,
    ) -> None:
        places = {member: place for place, (member, _, _) in enumerate(members)}
        self._set(name=name, members=members, methods=dict(methods or {}), _places=places, _resolved={})

    def key(self) -> tuple[Any, ...]:
        try:
            return self._key
        except AttributeError:
            members = tuple((member, kind.key(), default) for member, kind, default in self.members)
            key = ("StructType", self.name, members)
            object.__setattr__(self, "_key", key)
            return key

    def plain_key(self) -> tuple[Any, ...]:
        """The key with names instead of dtypes, as stored in files."""
        key: tuple[Any, ...] = plainly(self.key())
        return key

    def __reduce__(self) -> tuple[Any, ...]:
        return StructType, (self.name, self.members, self.methods)

    def __copy__(self) -> StructType:
        return self

    def __deepcopy__(self, memo: object) -> StructType:
        return self

    # --- members

    def place(self, member: str) -> int | None:
        """The position of a member; None if there is none of this name."""
        return self._places.get(member)

    @property
    def keys(self) -> list[str]:
        """The names of the members."""
        return list(self._places)

    def __getattr__(self, name: str) -> Any:
        # Called only for attributes that the class does not have.
        if not name.startswith("_"):
            found = self.methods.get(name)
            if found is not None:
                return found.__func__ if isinstance(found, staticmethod) else found
        raise AttributeError(f"the type `{self.name}` has no attribute {name!r}")

    def resolved(self, options: Options) -> StructType:
        """The same with dtypes instead of `int` and `float`; reading options through a recording view records them."""
        resolved = tuple((member, resolved_member(kind, options), default) for member, kind, default in self.members)
        if all(new is old for (_, new, _), (_, old, _) in zip(resolved, self.members, strict=True)):
            return self
        known = self._resolved.get(resolved)
        if known is None:
            known = self._resolved[resolved] = StructType(self.name, resolved, self.methods)
        return known

    # --- creating structs

    def __call__(self, *values: Any, **named: Any) -> Any:
        from samovar.values.structs import constructed

        return constructed(self.in_force(), values, named)

    def in_force(self) -> StructType:
        """The same with dtypes instead of `int` and `float`, under the options in force."""
        options = options_in_force()
        kinds = (options.default_ip, options.default_fp)
        known = self._resolved.get(kinds)
        if known is None:
            known = self._resolved[kinds] = self.resolved(options)
        return known

    def maker(self) -> Any:
        """A function that makes structs from member values of the right types: those that a kernel returns."""
        from samovar.values.structs import made

        struct = self.in_force()
        return lambda entries: made(struct, list(entries))

    def ndarray(self, shape: Any, needs_grad: bool = False, layout: str = "aos", needs_dual: bool = False) -> Any:
        """An array of such structs, see `sv.ndarray`."""
        return sys.modules["samovar"].ndarray(self, shape, needs_grad, layout, needs_dual)

    def from_numpy(self, array: Any, copy: bool | None = None) -> Any:
        """An array of structs with the elements of a structured NumPy array.

        `copy=None` shares the memory if its layout is the same: that of C, as in `numpy.dtype(…, align=True)`.

        >>> import numpy as np
        >>> import samovar as sv
        >>> S = sv.types.struct(n=sv.i8, x=sv.f64)
        >>> x = np.zeros(3, np.dtype([("n", "i1"), ("x", "f8")], align=True))
        >>> S.from_numpy(x)[1].x = 2
        >>> x["x"].tolist()
        [0.0, 2.0, 0.0]
        """
        from samovar.values.struct_arrays import structs_in

        return structs_in(self.in_force(), array, copy)

    def field(self, shape: Any = None, **options: Any) -> Any:
        """A field of such structs, see `sv.field`."""
        return sys.modules["samovar"].field(self, shape, **options)

    def __instancecheck__(self, value: object) -> bool:
        from samovar.values.structs import Struct

        return type(value) is Struct and value.struct.is_like(self)

    def is_like(self, other: StructType) -> bool:
        """Whether it is the same type, under any options."""
        return self is other or self == other or self in other._resolved.values() or other in self._resolved.values()

    def has_members_of(self, other: StructType) -> bool:
        """Whether both have the same members, of the same types. Names of types, defaults and methods do not matter."""
        if self is other:
            return True
        pairs = zip(self.members, other.members, strict=False)
        return self.keys == other.keys and all(
            mine.has_members_of(its) if isinstance(mine, StructType) and isinstance(its, StructType) else mine == its
            for (_, mine, _), (_, its, _) in pairs
        )

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """Let a class derive from it and inherit its members and methods: `dataclass` finds it in `__orig_bases__`."""
        return (StructBase,)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        inner = ", ".join(f"{member}={kind}" for member, kind, _ in self.members)
        return f"sv.types.struct({inner})" if self.name == "struct" else f"<struct {self.name}({inner})>"


class StructArrayAnnotation(Annotation):
    """An array of structs: `NDArray[S, 1]`."""

    is_struct = True
    __slots__ = ("boundary", "ndim", "needs_grad", "struct")
    boundary: str
    ndim: int | None
    needs_grad: bool | None
    struct: StructType

    def __init__(self, struct: StructType, ndim: int | None, needs_grad: bool | None, boundary: str) -> None:
        self._set(struct=struct, ndim=ndim, needs_grad=needs_grad, boundary=boundary)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.struct, self.ndim, self.needs_grad, self.boundary)

    def __str__(self) -> str:
        return f"NDArray[{self.struct}, {'any rank' if self.ndim is None else self.ndim}]"


def resolved_member(kind: Any, options: Options) -> Any:
    """The type of a member with a dtype instead of `int` or `float`."""
    if isinstance(kind, StructType):
        return kind.resolved(options)
    if kind.dtype is not None:
        return kind
    dtype = kind.resolved(options)
    return MatrixType(None, dtype, kind.shape) if isinstance(kind, MatrixType) else ScalarAnnotation(dtype)


# --- memory layout


class Leaf:
    """A number, vector or matrix in a struct, and its location: the path of names, and the byte offset."""

    __slots__ = ("dtype", "names", "offset", "shape")

    def __init__(self, names: tuple[str, ...], dtype: DType, shape: tuple[int, ...], offset: int) -> None:
        self.names = names
        self.dtype = dtype
        self.shape = shape
        self.offset = offset

    @property
    def count(self) -> int:
        """The number of scalars it has."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count


class MemoryLayout:
    """The memory layout of a struct of known dtypes, as in C: each member is aligned to its own size, a struct to its
    largest member, and its size is a multiple of that."""

    __slots__ = ("alignment", "leaves", "size")

    def __init__(self, struct: StructType) -> None:
        self.leaves: list[Leaf] = []
        self.size, self.alignment = self._add(struct, (), 0)
        if not self.leaves:
            raise samovar.SamovarTypeError(f"{struct} has no members, so there are no arrays of it")

    def _add(self, struct: StructType, names: tuple[str, ...], start: int) -> tuple[int, int]:
        end, alignment = start, 1
        for member, kind, _ in struct.members:
            if isinstance(kind, StructType):
                _, needed = extent_of(kind)
                end = aligned(end, needed)
                size, _ = self._add(kind, (*names, member), end)
            else:
                dtype = kind.dtype
                needed = dtype.itemsize
                end = aligned(end, needed)
                leaf = Leaf((*names, member), dtype, kind.shape if isinstance(kind, MatrixType) else (), end)
                self.leaves.append(leaf)
                size = needed * leaf.count
            end += size
            alignment = max(alignment, needed)
        return aligned(end, alignment) - start, alignment

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes that occur, without duplicates."""
        return list(dict.fromkeys(leaf.dtype for leaf in self.leaves))


def extent_of(struct: StructType) -> tuple[int, int]:
    """The size and alignment of a struct in bytes."""
    layout = MemoryLayout(struct)
    return layout.size, layout.alignment


def aligned(size: int, alignment: int) -> int:
    """The size rounded up to a multiple of the alignment."""
    return -(-size // alignment) * alignment


# --- declarations


@api_boundary
def struct(**members: Any) -> StructType:
    """The struct type with these members: dtypes, `int`, `float`, `bool`, vector, matrix or struct types.

    >>> import samovar as sv
    >>> Particle = sv.types.struct(x=sv.math.vec3, mass=sv.f32)
    >>> Particle(mass=2)
    struct(x=[0.0, 0.0, 0.0], mass=2.0)
    """
    return made_of(members, "struct", {}, {})


@api_boundary
def dataclass(cls: Any) -> Any:
    """The struct type with the annotated members of a class, and its methods: funcs run in kernels and in plain Python,
    others in plain Python only.

    >>> import samovar as sv
    >>> @sv.dataclass
    ... class Sphere:
    ...     center: sv.math.vec3
    ...     radius: sv.f32 = 1
    ...     @sv.func
    ...     def area(self):
    ...         return 4 * sv.math.pi * self.radius ** 2
    >>> round(Sphere(radius=2).area())
    50
    """
    if isinstance(cls, StructType):  # derived from `StructBase` or from another struct
        return cls
    if not isinstance(cls, type):
        raise samovar.SamovarTypeError(f"@sv.dataclass decorates a class, not a {type(cls).__name__}")
    return declared(cls, sys._getframe(1))


def declared(cls: type, frame: FrameType) -> StructType:
    """The struct type that the body of a class describes."""
    members: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    methods: dict[str, Any] = {}
    for base in reversed(cls.__dict__.get("__orig_bases__", ())):
        if isinstance(base, StructType):
            members.update({member: kind for member, kind, _ in base.members})
            defaults.update(
                {
                    member: default[0] if isinstance(kind, ScalarAnnotation) else default
                    for member, kind, default in base.members
                    if default is not None
                }
            )
            methods.update(base.methods)
    if cls.__bases__ not in ((object,), (StructBase,)):
        raise samovar.SamovarTypeError(
            f"{cls.__qualname__}: a struct can only derive from other structs, not from {cls.__bases__}"
        )
    annotations = annotations_of(cls)
    members.update({member: _evaluated(cls, member, written, frame) for member, written in annotations.items()})
    for name, value in vars(cls).items():
        if name in annotations:
            defaults[name] = value
        elif isinstance(value, (Declaration, staticmethod)) or type(value).__name__ == "function":
            methods[name] = value
        elif not (name.startswith("__") and name.endswith("__")):
            raise samovar.SamovarTypeError(
                f"{cls.__qualname__}.{name}: a struct has only annotated members and methods, not a {type(value).__name__}\n"
                f"  help: annotate it, as in `{name}: sv.f32 = …`, or define it outside the class"
            )
    return made_of(members, cls.__name__, defaults, methods)


class StructDeclaration(type):
    """The metaclass of `StructBase`: a class statement creates a struct type."""

    @staticmethod
    @api_boundary
    def __new__(metaclass: type[type], name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        cls = type.__new__(metaclass, name, bases, namespace, **options)
        return declared(cls, sys._getframe(1)) if bases else cls


class StructBase(metaclass=StructDeclaration):
    """A base class that does what `sv.dataclass` does, in a form that all type checkers understand.

    >>> import samovar as sv
    >>> class Ray(sv.types.StructBase):
    ...     length: sv.f32
    >>> Ray.field(shape=16).shape
    (16,)
    """


def annotations_of(cls: type) -> dict[str, Any]:
    """The annotations in the body of a class."""
    # Not `inspect`, which nothing else would load.
    found: dict[str, Any] = dict(namespace(cls).get("__annotations__", {}))
    return found


def _evaluated(cls: type, member: str, written: Any, frame: FrameType) -> Any:
    if not isinstance(written, str):
        return written
    return evaluated(written, frame, f"the annotation of {cls.__qualname__}.{member}")


def made_of(members: Mapping[str, Any], name: str, defaults: Mapping[str, Any], methods: Mapping[str, Any]) -> StructType:
    """A type from the written types of its members."""
    if not members and not methods:
        raise samovar.SamovarTypeError(f"{name}: a struct must have at least one member")
    found = []
    for member, written in members.items():
        kind = member_type(written)
        if kind is None:
            raise samovar.SamovarTypeError(
                f"the member `{member}` of {name} has an unsupported type: {written!r}\n"
                "  help: use a dtype (sv.f32), int, float, bool, a vector or matrix type, or another struct"
            )
        check_name(name, member)
        if member in methods:
            raise samovar.SamovarTypeError(f"`{member}` is both a member and a method of {name}")
        default = defaults.get(member)
        found.append((member, kind, None if default is None else _default(name, member, kind, default)))
    return StructType(name, tuple(found), methods)


#: Names of the attributes of structs, which members cannot have.
TAKEN = ("copy", "items", "keys", "member_values", "struct", "to_dict", "when_written")


def check_name(name: str, member: object) -> None:
    """Raise a type error for an invalid member name."""
    if not isinstance(member, str) or not member.isidentifier() or member.startswith("__") or member in TAKEN:
        taken = ": structs have an attribute of this name" if member in TAKEN else ""
        raise samovar.SamovarTypeError(f"{member!r} cannot be the name of a member of {name}{taken}")


def member_type(written: Any) -> Any:
    """The type of a member; None if it is unsupported."""
    kind = specification(written) if not isinstance(written, dict) else struct(**written)
    return kind if isinstance(kind, (ScalarAnnotation, MatrixType, StructType)) else None


def _default(name: str, member: str, kind: Any, value: Any) -> tuple[Any, ...]:
    """A default as numbers, as many as the member has."""
    from samovar.values.nested_values import nested, shown

    if isinstance(kind, StructType):
        raise samovar.SamovarTypeError(f"`{member}` of {name} is a struct and takes the defaults of its own members")
    found = nested(value)
    shape = kind.shape if isinstance(kind, MatrixType) else ()
    flat = (kind.n * kind.m,) if isinstance(kind, MatrixType) else ()
    if found is None or found.shape not in ((), shape, flat):
        what = f"a {type(value).__name__}" if found is None else shown(found.shape)
        raise samovar.SamovarTypeError(f"the default of `{member}` of {name} must be a {kind}, not {what}")
    count = kind.n * kind.m if isinstance(kind, MatrixType) else 1
    return tuple(found.numbers * count if found.shape == () else found.numbers)
