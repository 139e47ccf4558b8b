"""Arrays and fields of structs in plain Python. They are created in `samovar.runtime.struct_arrays`.

Each member has its own array (or field): `parts`, in the order of the numbers, vectors and matrices in the struct. Their
memory is interleaved per struct (AoS), or separate (SoA). Reading an element returns a struct that writes assignments to
its members back.
"""

from __future__ import annotations

from math import prod

from samovar._native import Ndarray, array_within, as_ndarray, reshaped, u8
from samovar.errors import SamovarTypeError
from samovar.values.struct_types import MemoryLayout, StructType
from samovar.values.structs import Struct, constructed, converted, made

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class StructArray:
    """The common part of arrays and fields of structs."""

    __slots__ = ("__weakref__", "layout", "memory", "options", "parts", "pitched", "struct")
    #: "aos" or "soa".
    layout: str
    #: The contiguous memory of the structs; None if each member has its own.
    memory: Any
    #: The arguments for creating another one like it; None for one that is placed in a tree or is a member of another.
    options: dict[str, Any] | None
    #: An array or field for each number, vector and matrix in the struct.
    parts: tuple[Any, ...]
    #: Whether the members of one struct are adjacent in memory, with the structs in C order.
    pitched: bool
    #: With dtypes instead of `int` and `float`.
    struct: StructType

    def __init__(
        self,
        struct: StructType,
        parts: tuple[Any, ...],
        layout: str,
        options: dict[str, Any] | None = None,
        memory: Any = None,
        pitched: bool = False,
    ) -> None:
        object.__setattr__(self, "struct", struct)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "layout", layout)
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "memory", memory)
        object.__setattr__(self, "pitched", pitched)

    # --- array interface

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the dimensions."""
        shape: tuple[int, ...] = self.parts[0].shape
        return shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of structs."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    @property
    def dtype(self) -> StructType:
        """The type of the elements."""
        return self.struct

    @property
    def keys(self) -> list[str]:
        """The names of the members."""
        return self.struct.keys

    def __len__(self) -> int:
        return len(self.parts[0])

    def __bool__(self) -> bool:
        if self.shape:
            raise ValueError("the truth value of an array of structs is ambiguous: use its size, or a member")
        return True

    def __iter__(self) -> Iterator[Struct]:
        return (self[index] for index in range(self.shape[0]))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            from samovar.values.struct_views import part_of

            return part_of(self, tuple(part[key] for part in self.parts))
        return _element(self.struct, iter(self.parts), key)

    def __setitem__(self, key: Any, value: Any) -> None:
        for part, number in zip(self.parts, self._leaves_of(value), strict=True):
            part[key] = number

    def _leaves_of(self, value: Any) -> list[Any]:
        """The numbers, vectors and matrices of a value to store as an element."""
        if isinstance(value, Struct):
            found = converted(self.struct, value)
        elif isinstance(value, dict):
            found = constructed(self.struct, (), value)
        elif isinstance(value, tuple):
            found = constructed(self.struct, value, {})
        else:
            raise SamovarTypeError(f"an element of this array is a `{self.struct}`, not a {type(value).__name__}")
        return list(_leaves(found))

    # --- members

    def get_member_field(self, key: str) -> Any:
        """The array (or field) of a member."""
        place = self.struct.place(key)
        if place is None:
            raise AttributeError(f"a {self.struct} has no member {key!r}; its members are {', '.join(self.struct.keys)}")
        before = sum(map(_count, (kind for _, kind, _ in self.struct.members[:place])))
        kind = self.struct.members[place][1]
        if not isinstance(kind, StructType):
            return self.parts[before]
        return type(self)(kind, self.parts[before : before + _count(kind)], self.layout)

    @property
    def grad(self) -> StructArray | None:
        """The gradients of the members that have one, as an array of structs; None if there are none."""
        return self._beside([part.grad for part in self.parts])

    @property
    def dual(self) -> StructArray | None:
        """The tangents of the members that have one, as an array of structs; None if there are none."""
        return self._beside([part.dual for part in self.parts])

    def _beside(self, found: list[Any]) -> StructArray | None:
        struct = with_gradient(self.struct, iter(found))
        return None if struct is None else type(self)(struct, tuple(each for each in found if each is not None), self.layout)

    def has_grad(self) -> bool:
        """Whether a member has a gradient."""
        return self.grad is not None

    def has_dual(self) -> bool:
        """Whether a member has a tangent."""
        return self.dual is not None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get_member_field(name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} of an array of structs cannot be assigned: assign its elements, or use fill()")

    # --- bulk operations

    def fill(self, val: Any) -> None:
        """Set every element to a struct, or every number in the elements to a number."""
        numbers = [val] * len(self.parts) if isinstance(val, (int, float)) else self._leaves_of(val)
        parts, memory = self.parts, self.memory
        if self.pitched and memory is not None and memory.size:  # contiguous structs: the bytes of one, repeated
            size = memory.size // self.size
            one = over_memory(self.struct, (1,), Ndarray(u8, size))
            parts = one.parts
        for part, number in zip(parts, numbers, strict=True):
            part.fill(number)
        if parts is not self.parts:
            reshaped(memory, (self.size, size), 1).fill(one.memory.tolist())

    def copy_from(self, other: Any) -> None:
        """Copy the elements of another array or field with the same members."""
        if not isinstance(other, StructArray):
            self.from_numpy(other)
            return
        if self.struct.keys != other.struct.keys or len(self.parts) != len(other.parts):
            raise SamovarTypeError(f"cannot copy an array of `{other.struct}` into one of `{self.struct}`")
        for part, source in zip(self.parts, other.parts, strict=True):
            part.copy_from(source)

    def __copy__(self) -> StructArray:
        from copy import copy

        parts = self.parts if self.options is not None else tuple(map(copy, self.parts))
        return rebuilt(type(self), self.struct, self.shape, self.layout, self.options, parts)

    def __deepcopy__(self, memo: object) -> StructArray:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return rebuilt, (type(self), self.struct, self.shape, self.layout, self.options, self.parts)

    def to_dict(self, convert: Callable[[Any], Any]) -> dict[str, Any]:
        """The results of a function for the array of each member, by name."""
        return _by_name(self.struct, iter(self.parts), convert)

    def to_numpy(self, structured: bool = False, copy: bool = True) -> Any:
        """A dict of NumPy arrays by member name; with `structured=True` one structured array, with the dtype of
        `numpy.dtype(…, align=True)`. `copy=False` shares the memory or raises."""
        if not structured:
            return self.to_dict(lambda part: part.to_numpy(copy=copy))
        dtype = numpy_dtype(self.struct)
        if not copy and not self.pitched:
            raise ValueError("only a contiguous array of structs can be shared as a structured array: use copy=True")
        if self.pitched and self.memory is not None:
            shared = self.memory.to_numpy(copy=False).view(dtype).reshape(self.shape)
            return shared.copy() if copy else shared
        import numpy

        result = numpy.zeros(self.shape, dtype)
        for leaf, part in zip(MemoryLayout(self.struct).leaves, self.parts, strict=True):
            _at(result, leaf.names)[...] = part.to_numpy()
        return result

    def from_numpy(self, source: Any) -> None:
        """Copy the elements of a dict of arrays, or of a structured array, by member name."""
        import numpy

        # The members of a packed array are not aligned.
        self._take(source, lambda part, array: part.copy_from(numpy.ascontiguousarray(array).reshape(array.shape)))

    def to_torch(self, **options: Any) -> dict[str, Any]:
        """A dict of torch tensors by member name."""
        return self.to_dict(lambda part: part.to_torch(**options))

    def from_torch(self, source: Any) -> None:
        """Copy the elements of a dict of torch tensors."""
        self._take(source, lambda part, array: part.copy_from(array))

    def _take(self, source: Any, take: Callable[[Any, Any], Any]) -> None:
        names = source.dtype.names if hasattr(source, "dtype") else tuple(source)
        if names is None or set(names) != set(self.struct.keys):
            raise SamovarTypeError(f"the members of `{self.struct}` are {', '.join(self.struct.keys)}, got {names}")
        for leaf, part in zip(MemoryLayout(self.struct).leaves, self.parts, strict=True):
            take(part, _at(source, leaf.names))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.struct}, shape={self.shape}, layout={self.layout!r}>"

    def _repr_html_(self) -> str:
        """A table for each member, for notebooks."""
        leaves = MemoryLayout(self.struct).leaves
        parts = zip(leaves, self.parts, strict=True)
        return "".join(f"<b>{'.'.join(leaf.names)}</b> {part._repr_html_()}" for leaf, part in parts)


class StructNdarray(StructArray):
    """An array of structs, created by `sv.ndarray(S, shape)` or `S.ndarray(shape)`.

    >>> import samovar as sv
    >>> a = sv.types.struct(x=sv.f32, n=sv.i32).ndarray(3)
    >>> a[1].x = 4
    >>> a[1], a.x.to_numpy().tolist()
    (struct(x=4.0, n=0), [0.0, 4.0, 0.0])
    """

    __slots__ = ()

    def _samovar_part(self, offset: Any, size: Any) -> Any:
        """The result of `BufferView(array, offset, size)`."""
        from samovar._native import BufferView
        from samovar.values.struct_views import part_of

        return part_of(self, tuple(BufferView(part, offset, size) for part in self.parts))


class StructField(StructArray):
    """A field of structs, created by `sv.field(S, shape)` or `S.field(shape)`.

    >>> import samovar as sv
    >>> f = sv.types.struct(x=sv.f32, n=sv.i32).field(3)
    >>> f.fill(2)
    >>> f.n
    field([2, 2, 2], dtype=i32, shape=(3,))
    """

    __slots__ = ()

    @property
    def offset(self) -> tuple[int, ...]:
        """The first index of each dimension."""
        first: tuple[int, ...] = self.parts[0].offset[: self.ndim]
        return first

    def __getattr__(self, name: str) -> Any:
        if name in ("parent", "snode") and self.struct.place(name) is None:
            return getattr(self.parts[0], name)  # the node that the members share
        return super().__getattr__(name)


def rebuilt(
    cls: type[StructArray],
    struct: StructType,
    shape: tuple[int, ...],
    layout: str,
    options: dict[str, Any] | None,
    parts: tuple[Any, ...],
) -> StructArray:
    """A copy of an array of structs, with these elements."""
    if options is None:
        return cls(struct, parts, layout)
    make = struct.field if cls is StructField else struct.ndarray
    made: StructArray = make(shape, layout=layout, **options)
    for part, source in zip(made.parts, parts, strict=True):
        part.copy_from(source)
        if source.grad is not None:
            part.grad.copy_from(source.grad)
    return made


def with_gradient(struct: StructType, grads: Iterator[Any]) -> StructType | None:
    """The struct type of only those members that have a gradient; None if there are none."""
    members: list[tuple[str, Any, None]] = []
    for name, kind, _ in struct.members:
        if isinstance(kind, StructType):
            inner = with_gradient(kind, grads)
        else:
            inner = None if next(grads) is None else kind
        if inner is not None:
            members.append((name, inner, None))
    return StructType(struct.name, tuple(members)) if members else None


def _count(kind: Any) -> int:
    """The number of arrays of a member."""
    return sum(_count(inner) for _, inner, _ in kind.members) if isinstance(kind, StructType) else 1


def _element(struct: StructType, parts: Iterator[Any], key: Any) -> Struct:
    """The element at an index, which writes assignments to its members back."""
    entries: list[Any] = []
    homes: list[Any] = []
    for _, kind, _ in struct.members:
        if isinstance(kind, StructType):
            entries.append(_element(kind, parts, key))
            homes.append(None)
        else:
            part = next(parts)
            entries.append(part[key])
            homes.append(part)

    def write(place: int, value: Any) -> None:
        homes[place][key] = value

    result = made(struct, entries)
    object.__setattr__(result, "when_written", write)
    return result


def _leaves(value: Struct) -> Iterator[Any]:
    for entry in value.member_values:
        if isinstance(entry, Struct):
            yield from _leaves(entry)
        else:
            yield entry


def _by_name(struct: StructType, parts: Iterator[Any], convert: Callable[[Any], Any]) -> dict[str, Any]:
    return {
        name: _by_name(kind, parts, convert) if isinstance(kind, StructType) else convert(next(parts))
        for name, kind, _ in struct.members
    }


def _at(source: Any, names: tuple[str, ...]) -> Any:
    for name in names:
        source = source[name]
    return source


def numpy_dtype(struct: StructType) -> Any:
    """The structured NumPy dtype with the same memory layout as the structs of an array.

    >>> import samovar as sv
    >>> sv.types.struct(n=sv.i8, x=sv.f64).ndarray(2).to_numpy(structured=True).dtype.itemsize
    16
    """
    import numpy

    fields: list[Any] = []
    for name, kind, _ in struct.members:
        if isinstance(kind, StructType):
            fields.append((name, numpy_dtype(kind)))
        else:
            fields.append((name, kind.dtype.typestr, getattr(kind, "shape", ())))
    return numpy.dtype(fields, align=True)


def structs_in(struct: StructType, array: Any, copy: bool | None) -> StructNdarray:
    """An array of structs that shares the memory of a structured array, or copies its elements."""
    wanted = numpy_dtype(struct)
    fits = array.dtype == wanted and array.flags.c_contiguous and array.flags.writeable and array.ndim > 0
    if fits and not copy and array.size:
        memory = as_ndarray(array.reshape(-1).view("u1"), False)
        return over_memory(struct, array.shape, memory)
    if copy is False:
        raise ValueError(f"cannot share this array: it must be writable, in C order, and of dtype {wanted}")
    made: StructNdarray = struct.ndarray(array.shape)
    made.from_numpy(array)
    return made


def over_memory(struct: StructType, shape: tuple[int, ...], memory: Any) -> StructNdarray:
    """An array of contiguous structs in an array of bytes."""
    placed, parts = MemoryLayout(struct), []
    for leaf in placed.leaves:
        step = placed.size // leaf.dtype.itemsize
        axes = [((extent, step * prod(shape[axis + 1 :])),) for axis, extent in enumerate(shape)]
        axes += [((extent, prod(leaf.shape[axis + 1 :])),) for axis, extent in enumerate(leaf.shape)]
        layout = ((0,) * len(axes), tuple(axes))
        parts.append(array_within(leaf.dtype, layout, memory, leaf.offset if prod(shape) else 0, len(leaf.shape)))
    return StructNdarray(struct, tuple(parts), "aos", {}, memory, pitched=True)
