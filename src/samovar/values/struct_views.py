"""Views of a slice of an array of structs in plain Python: a view of the array of each member.

Slicing an array of structs returns one. `isinstance(view, BufferView)` is true.
"""

from __future__ import annotations

from samovar._native import BufferView
from samovar.values.struct_arrays import StructArray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class StructView(StructArray):
    """A slice of an array of structs.

    >>> import samovar as sv
    >>> a = sv.types.struct(x=sv.f32, n=sv.i32).ndarray(8)
    >>> view = a[2:6]
    >>> view.fill(3)
    >>> view.offset, view.size, isinstance(view, sv.BufferView), a.n.to_numpy().tolist()
    (2, 4, True, [0, 0, 3, 3, 3, 3, 0, 0])
    """

    __slots__ = ("array",)
    #: The array it is a slice of.
    array: StructArray

    __class__ = property(lambda self: BufferView)

    @property
    def offset(self) -> int:
        """The position of the first element in the array."""
        offset: int = self.parts[0].offset
        return offset

    @property
    def element_shape(self) -> tuple[int, ...]:
        return ()

    @property
    def grad(self) -> None:
        return None

    def get_ndarray(self) -> StructArray:
        """The array it is a slice of."""
        return self.array

    def subview(self, offset: Any, size: Any) -> StructView:
        """A slice of this slice: `size` elements from its element `offset` on."""
        return part_of(self.array, tuple(part.subview(offset, size) for part in self.parts))

    def _samovar_part(self, offset: Any, size: Any) -> NoReturn:
        raise TypeError(
            f"BufferView() takes an array, not a view (offset={self.offset}, size={self.size}): slice a view with"
            " view.subview(offset, size), or with a slice"
        )

    def get_member_field(self, key: str) -> Any:
        """The view of a member."""
        found = super().get_member_field(key)
        if type(found) is StructView:
            object.__setattr__(found, "array", self.array.get_member_field(key))
        return found

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return part_of(self.array, tuple(part[key] for part in self.parts))
        return self.parts[0][key]  # raises the right error

    def __setitem__(self, key: Any, value: Any) -> None:
        self.parts[0][key] = value  # likewise

    def __iter__(self) -> NoReturn:
        raise TypeError("'samovar.BufferView' object is not iterable")

    def to_numpy(self, structured: bool = False, copy: bool = True) -> Any:
        """Like `to_numpy` of the array, for the slice."""
        if not structured:
            return super().to_numpy(copy=copy)
        part = self.array.to_numpy(structured=True, copy=copy)[self.offset : self.offset + self.size]
        return part.copy() if copy else part

    def __copy__(self) -> StructView:
        return part_of(self.array, self.parts)

    def __deepcopy__(self, memo: Any) -> StructView:
        from copy import deepcopy

        copied: StructView = deepcopy(self.array, memo)[self.offset : self.offset + self.size]
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return BufferView, (self.array, self.offset, self.size)

    def __repr__(self) -> str:
        place = f"offset={self.offset}, size={self.size}"
        return f"BufferView({place}, dtype={self.struct}) of an array of shape {self.array.shape}"


def part_of(array: Any, parts: tuple[Any, ...]) -> StructView:
    """The slice of an array of structs that consists of these slices of its members."""
    view = StructView(array.struct, parts, array.layout, pitched=array.pitched)
    object.__setattr__(view, "array", array)
    return view
