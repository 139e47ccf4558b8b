"""`sv.save`: the arrays and numbers of a program in a file that `numpy.load` reads as well."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from samovar._native import BufferView, Ndarray, Tensor, api_boundary, as_ndarray, bf16, bits_of, describe_tensor
from samovar.errors import SamovarTypeError
from samovar.runtime import ProgressBar
from samovar.state.npz_files import CHUNK, Header, archive, encoded_header
from samovar.state.saved_members import ArrayMember, Members, ValueMember
from samovar.state.sparse_fields import SparseCells, SparseElements
from samovar.system import write_pieces
from samovar.values import Matrix, StructArray

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator

#: The entry with the description of what is saved, as JSON.
DESCRIPTION = "__samovar__"
#: Stands for an argument that is not given.
NOTHING: Any = object()
#: The version of the description.
VERSION = 1
#: The name of an array that is saved without one, as in files of `numpy.savez`.
_UNNAMED = "arr_0"
#: A progress bar appears for this many bytes.
_LARGE = 256 << 20


@api_boundary
def save(
    path: str | os.PathLike[str],
    state: Any = NOTHING,
    /,
    *,
    skip: Collection[str] = (),
    progress: bool | None = None,
    **named: Any,
) -> None:
    """Save arrays, fields, structs and numbers, or all members of an object, in one file: `sv.save(path, simulation)` or
    `sv.save(path, x=x, v=v)`.

    Objects of dataclasses and `data_oriented` classes, lists, tuples and dicts are saved with everything below them; `skip`
    lists names of members that are left out. Functions and kernels are code and are not saved, and neither are gradients.
    The file has the format `.npz`: `numpy.load(path)["particles.x"]` reads a member. It contains no pickled objects.

    The file is written under another name, and replaces an old one when it is complete and on the disk: if saving fails, the
    old file is untouched. On a terminal, `progress=None` shows a progress bar for large states.

    >>> import os, tempfile
    >>> import samovar as sv
    >>> path = os.path.join(tempfile.mkdtemp(), "state.npz")
    >>> x = sv.ones(3)
    >>> sv.save(path, x=x, time=0.5)
    >>> x.fill(7)
    >>> sv.load(path, x=x)["time"]
    0.5
    >>> x
    ndarray([1.0, 1.0, 1.0], dtype=f32, shape=(3,))
    """
    members, tree = described(state, named, skip)
    arrays = {path: _elements(member, path) for path, member in members.by_path.items() if _is_entry(member)}
    total = sum(max(1, -(-header.nbytes // CHUNK)) for header, _ in arrays.values())
    size = sum(header.nbytes + len(encoded_header(header)) for header, _ in arrays.values())
    text = json.dumps({"version": VERSION, "state": tree}).encode()

    with ProgressBar("saving", total, shown(progress, size)) as bar:

        def entries() -> Iterator[tuple[str, Header, Iterator[bytes]]]:
            for name, (header, source) in arrays.items():
                yield name, header, _blocks(source)
            yield DESCRIPTION, Header("|u1", (len(text),)), iter((text,))

        try:
            write_pieces(path, archive(entries(), bar.advance), is_synced=True)
        except OSError as error:
            why = f"{error.strerror} (saving {size} bytes; no old file was changed)"
            raise type(error)(error.errno, why, path) from None


def described(state: Any, named: dict[str, Any], skip: Collection[str]) -> tuple[Members, dict[str, Any]]:
    """The members of what is given, and the description of each by name."""
    if isinstance(skip, str):
        skip = (skip,)
    if state is not NOTHING and named:
        raise SamovarTypeError("pass one object, or several by name: sv.save(path, simulation=simulation, x=x)")
    if state is NOTHING and not named:
        raise SamovarTypeError("pass what to save: sv.save(path, simulation), or sv.save(path, x=x)")
    members = Members(skip)
    if state is NOTHING:
        state = named
    elif isinstance(state, (Tensor, BufferView, StructArray, Matrix)) or describe_tensor(state) is not None:
        state = {_UNNAMED: state}
    tree = members.visit(state, "", None)
    if "members" not in tree:
        raise SamovarTypeError(f"pass an object, an array, or values by name, not a {type(state).__name__}")
    return members, tree["members"]


def shown(progress: bool | None, size: int) -> bool | None:
    return False if progress is None and size < _LARGE else progress


def _is_entry(member: ArrayMember | ValueMember) -> bool:
    """Whether a member has an entry of its own; other values are in the description."""
    return isinstance(member, ArrayMember) or _number_header(member.plain) is not None


def _number_header(value: Any) -> Header | None:
    from enum import Enum
    from numbers import Real

    if isinstance(value, bool):
        return Header("|b1", ())
    if isinstance(value, int) and not isinstance(value, Enum):
        return Header("<i8", ()) if -(2**63) <= value < 2**63 else None
    return Header("<f8", ()) if isinstance(value, Real) and not isinstance(value, Enum) else None


def _elements(member: ArrayMember | ValueMember, path: str) -> tuple[Header, Any]:
    """The header of an entry, and an array or the bytes of a number."""
    import struct

    if isinstance(member, ValueMember):
        header = _number_header(member.plain)
        assert header is not None
        return header, struct.pack({"b": "?", "i": "<q", "f": "<d"}[header.typestr[1]], member.plain)
    array = member.array
    if isinstance(array, (SparseCells, SparseElements)):
        array = array.read()
        return Header(array.dtype.typestr, array.shape), array
    if isinstance(array, Matrix):
        made = Ndarray(array.dtype, array.shape)
        for index in indices(made.shape):
            made[index] = array[index if len(index) > 1 else index[0]]
        array = made
    elif not isinstance(array, (Tensor, BufferView)):
        array = as_ndarray(array, None)
    if describe_tensor(array) is None:
        raise SamovarTypeError(f"{path} is not placed yet: place the field before saving it")
    return Header(array.dtype.typestr, (*array.shape, *array.element_shape)), array


def indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    from itertools import product

    return list(product(*map(range, shape)))


def _blocks(source: Any) -> Iterator[bytes]:
    """The bytes of an array in C order, block by block."""
    if isinstance(source, bytes):
        yield source
        return
    view = bytes_of(_in_c_order(source))
    for start in range(0, len(view), CHUNK):
        yield bytes(view[start : start + CHUNK])


def is_c_ordered(array: Any) -> bool:
    try:
        return bool(memoryview(array).c_contiguous)
    except BufferError:  # a blocked layout
        return False


def _in_c_order(array: Any) -> Any:
    """An array, or a copy of it in C order."""
    if is_c_ordered(array):
        return array
    copied = Ndarray(array.dtype, (*array.shape, *array.element_shape), False, len(array.element_shape))
    copied.copy_from(array)
    return copied


def bytes_of(array: Any) -> memoryview:
    if not array.nbytes:
        return memoryview(b"")
    return memoryview(bits_of(array) if array.dtype is bf16 else array).cast("B")
