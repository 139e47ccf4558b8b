"""`sv.load`: what is in a file, as new objects or into existing ones.

Files are not trusted: sizes are checked before memory is reserved, and nothing in a file is executed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import samovar
from samovar._native import BufferView, DType, Ndarray, Tensor, api_boundary, as_ndarray, describe_tensor
from samovar.errors import SamovarError
from samovar.lens import dtype_named
from samovar.runtime import ProgressBar
from samovar.state.npz_files import CHUNK, Archive, Header
from samovar.state.saved_members import ArrayMember, Members, ValueMember, parts_of
from samovar.state.saving import DESCRIPTION, NOTHING, VERSION, bytes_of, described, indices, is_c_ordered, shown
from samovar.state.sparse_fields import SparseCells, SparseElements, described_nodes, new_sparse, nodes_above
from samovar.values import Matrix

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterator

#: The types of elements by how NumPy writes them.
_NAMES = "i8 i16 i32 i64 u1 u8 u16 u32 u64 f16 f32 f64 c64 c128 bf16".split()
_DTYPES = {dtype.typestr[1:]: dtype for dtype in map(dtype_named, _NAMES)}


@api_boundary
def load(
    path: str | os.PathLike[str],
    state: Any = NOTHING,
    /,
    *,
    skip: Collection[str] = (),
    progress: bool | None = None,
    **named: Any,
) -> Any:
    """Load what `sv.save` has saved, or any `.npz` file of numbers.

    `sv.load(path)` returns new arrays, fields and numbers by name; objects become dicts of their members. A new field is in
    C order. `sv.load(path, simulation)` loads into an object, and `sv.load(path, x=x)` into arrays: elements are overwritten
    and numbers are assigned. It returns all of the file's state, with the given objects in it. If something does not match,
    or the file is damaged, it raises an error and changes nothing.

    >>> import os, tempfile
    >>> import samovar as sv
    >>> path = os.path.join(tempfile.mkdtemp(), "state.npz")
    >>> sv.save(path, {"grid": sv.field(sv.i32, (2, 2)), "step": 10})
    >>> sv.load(path)["grid"].shape
    (2, 2)
    >>> sv.load(path, grid=sv.field(sv.i32, 3))
    Traceback (most recent call last):
    ...
    samovar.errors.SamovarError: grid has the shape (3,), but (2, 2) in the file
      help: load into an array of that shape, or use sv.load(path)["grid"]
    """
    with Archive(path) as file:
        tree = _tree(file)
        size = sum(map(file.size, file.names))
        is_into = state is not NOTHING or bool(named)
        chunks = sum(max(1, -(-file.size(name) // CHUNK)) for name in file.names)
        with ProgressBar("loading", chunks * (1 + is_into), shown(progress, size)) as bar:
            made: dict[str, Any] = {}
            if is_into:
                members, _ = described(state, named, skip)
                _fill(file, tree, members, is_whole=state is not NOTHING and not isinstance(state, dict), bar=bar)
                made = dict(named)
                if state is not NOTHING and not isinstance(state, dict):
                    return state
                made |= state if isinstance(state, dict) else {}
            found: dict[str, Any] = {}
            loading = _New(file, found, bar)
            for name, about in tree.items():
                found[name] = made[name] if name in made else loading.value(about, name)
            return found


def _tree(file: Archive) -> dict[str, Any]:
    """The description of what is in a file; one of arrays for a file that NumPy has written."""
    if DESCRIPTION not in file.names:
        return {name: {"kind": "array", "inner": 0} for name in file.names}
    try:
        found = json.loads(b"".join(file.blocks(DESCRIPTION)))
        version, tree = found["version"], found["state"]["members"] if "members" in found["state"] else found["state"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise file.damaged("its description cannot be read") from None
    if version != VERSION or not isinstance(tree, dict):
        raise SamovarError(f"{file.path} was saved by a newer version of Samovar\n  help: update Samovar")
    return tree


def _all_leaves(file: Archive, tree: dict[str, Any], before: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The parts of a description that have no members, with their paths."""
    for name, each in tree.items():
        path = f"{before}{name}"
        if not isinstance(each, dict):
            raise file.damaged(f"its description of {path} cannot be read")
        if isinstance(each.get("members"), dict):
            yield from _all_leaves(file, each["members"], f"{path}.")
        else:
            yield path, each


def _fill(file: Archive, tree: dict[str, Any], members: Members, is_whole: bool, bar: ProgressBar) -> None:
    """Load into existing members, after everything has been checked."""
    leaves = dict(_all_leaves(file, tree))
    problems = []
    jobs: list[tuple[ArrayMember | ValueMember, str, Any]] = []
    for path, member in members.by_path.items():
        name = _source_of(path, leaves)
        if isinstance(member, ArrayMember):
            if isinstance(member.array, SparseCells):
                saved = leaves.get(member.array.path, {}).get("cells")
                name = saved[member.array.place] if isinstance(saved, list) and len(saved) > member.array.place else name
            if name not in file.names:
                problems.append(f"{path} is not in the file, which has {_listed(file)}")
                continue
            if isinstance(member.array, (SparseCells, SparseElements)):
                problem = _sparse_mismatch(file.header(name), member.array, leaves)
            else:
                problem = _mismatch(file.header(name), member.array, path)
            if problem:
                problems.append(problem)
            jobs.append((member, name, None))
        else:
            if name not in leaves:
                problems.append(f"{path} is not in the file, which has {_listed(file)}")
                continue
            value = _value(file, name, leaves[name])
            problem, value = _replacement(member, value, path)
            if problem:
                problems.append(problem)
            jobs.append((member, name, value))
    known = {*members.by_path, *members.aliases}
    extra = [path for path in leaves if path not in known and not any(each.startswith(f"{path}.") for each in known)]
    if is_whole and extra:
        problems.append(f"the file has {', '.join(extra)}, which the object does not have")
    if problems:
        raise SamovarError("\n".join(problems))
    for name in file.names:
        file.check(name, bar.advance)
    for member, name, value in jobs:
        if isinstance(member, ArrayMember):
            _read_into(file, name, member.array, bar)
        elif member.replace is not None and value is not member.value:
            member.replace(value)


def _listed(file: Archive) -> str:
    names = [name for name in file.names if name != DESCRIPTION]
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _source_of(path: str, leaves: dict[str, dict[str, Any]]) -> str:
    """The path at which the file has a member; another one if it is saved as the same as that."""
    for end in range(len(path), 0, -1):
        if end == len(path) or path[end] == ".":
            found = leaves.get(path[:end])
            if found is not None and found.get("kind") == "same":
                return f"{found.get('as')}{path[end:]}"
    return path


def _sparse_mismatch(header: Header, part: SparseCells | SparseElements, leaves: dict[str, dict[str, Any]]) -> str:
    """Why an entry cannot be loaded into a part of a sparse field, or an empty text."""
    saved = leaves.get(part.path, {}).get("nodes")
    if isinstance(part, SparseElements):
        own = described_nodes(nodes_above(part.field))
        if saved != own:
            return f"{part.path} has other nodes in the file: {json.dumps(saved)}, not {json.dumps(own)}"
    if part.mismatch(header):
        return f"{part.path} has other elements in the file: {header.typestr[1:]}, {header.shape}"
    return ""


def _mismatch(header: Header, array: Any, path: str) -> str:
    """Why an entry cannot be loaded into an array, or an empty text."""
    if isinstance(array, Matrix):
        shape, typestr, readonly = array.shape, array.dtype.typestr, False
    else:
        facts = describe_tensor(array)
        if facts is None:
            return f"{path} is not placed yet: place the field before loading into it"
        shape, typestr, readonly = tuple(facts["shape"]), facts["dtype"].typestr, facts["readonly"]
    if shape != header.shape:
        help = f'load into an array of that shape, or use sv.load(path)["{path}"]'
        return f"{path} has the shape {shape}, but {header.shape} in the file\n  help: {help}"
    if typestr.lstrip("<|=>") != header.typestr.lstrip("<|=>"):
        help = f'convert it: x.copy_from(sv.load(path)["{path}"])'
        return f"{path} has the dtype {typestr[1:]}, but {header.typestr[1:]} in the file\n  help: {help}"
    return f"{path} is read-only\n  help: load into a writable array" if readonly else ""


def _replacement(member: ValueMember, value: Any, path: str) -> tuple[str, Any]:
    """Why a value cannot be replaced, or an empty text, and the new value in the type of the old one."""
    old = member.value
    kind = type(old)
    is_plain = old is None or value is None or {kind, type(value)} <= {bool, int, float}
    try:
        new = value if is_plain else kind[value] if hasattr(kind, "__members__") else kind(value)
        loses = new != value and new == new and not hasattr(kind, "__members__")
    except (TypeError, ValueError, KeyError):
        loses = True
    if loses:
        return f"{path} is the {kind.__name__} {old!r}, but {value!r} in the file", None
    if new == old and type(new) is kind:
        return "", old
    if member.replace is None:
        return f"{path} is {old!r} in something immutable, but {value!r} in the file\n  help: create the object anew", None
    return "", new


def _value(file: Archive, name: str, about: dict[str, Any]) -> Any:
    """A number or a text."""
    import struct

    if about.get("kind") != "number":
        return about.get("value")
    if name not in file.names:
        raise file.damaged(f"{name} is missing")
    header, content = file.header(name), b"".join(file.blocks(name))
    format = {"|b1": "?", "<i8": "<q", "<f8": "<d"}.get(header.typestr)
    if header.shape or format is None:
        raise file.damaged(f"{name} is not a number")
    return struct.unpack(format, content)[0]


def _read_into(file: Archive, name: str, target: Any, bar: ProgressBar) -> None:
    """Read the elements of an entry into an array with its dtype and shape, or into a part of a sparse field."""
    if isinstance(target, (SparseCells, SparseElements)):
        header = file.header(name)
        read = Ndarray(_DTYPES[header.typestr[1:]], header.shape)
        _read_into(file, name, read, bar)
        target.write(read)
        return
    if isinstance(target, Matrix):
        header = file.header(name)
        read = Ndarray(target.dtype, header.shape)
        _read_into(file, name, read, bar)
        for index in indices(header.shape):
            target[index if len(index) > 1 else index[0]] = read[index]
        return
    header = file.header(name)
    if header.is_fortran or header.typestr[0] == ">":
        # NumPy has written it, and converts it.
        import numpy

        order: Any = "F" if header.is_fortran else "C"
        found = numpy.frombuffer(b"".join(file.blocks(name)), header.typestr).reshape(header.shape, order=order)
        _put(target, as_ndarray(numpy.ascontiguousarray(found.astype(found.dtype.newbyteorder("="))).reshape(header.shape)))
        return
    inner = len(getattr(target, "element_shape", ()))
    is_direct = isinstance(target, (Tensor, BufferView)) and is_c_ordered(target)
    memory = target if is_direct else Ndarray(describe_tensor(target)["dtype"], header.shape, False, inner)  # type: ignore[index]
    view, at = bytes_of(memory), 0
    for block in file.blocks(name):
        view[at : at + len(block)] = block
        at += len(block)
        bar.advance()
    if not is_direct:
        _put(target, memory)


def _put(target: Any, elements: Ndarray) -> None:
    """Overwrite the elements of an array of any library."""
    if isinstance(target, (Tensor, BufferView)):
        target.copy_from(elements)
    elif type(target).__module__.startswith("torch"):
        from importlib import import_module

        with import_module("torch").no_grad():
            target.copy_(elements.to_torch())
    else:
        target[...] = elements.to_numpy(copy=False)


class _New:
    """Makes new objects from their descriptions."""

    def __init__(self, file: Archive, whole: dict[str, Any], bar: ProgressBar) -> None:
        self._file = file
        self._bar = bar
        self._made: dict[str, Any] = {"": whole}

    def value(self, about: dict[str, Any], path: str) -> Any:
        """The value at a path."""
        if path not in self._made:
            try:
                self._made[path] = self._new(about, path)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise self._file.damaged(f"its description of {path} is wrong ({error!r})") from None
        return self._made[path]

    def _new(self, about: dict[str, Any], path: str) -> Any:
        kind = about["kind"]
        if kind in ("value", "enum", "number"):
            return _value(self._file, path, about)
        if kind == "same":
            return self._made[about["as"]]
        if kind in ("object", "dict", "list", "tuple"):
            members = about["members"]
            found: Any = {} if kind in ("object", "dict") else []
            self._made[path] = found  # which members may refer to
            for name, each in members.items():
                value = self.value(each, f"{path}.{name}")
                if isinstance(found, dict):
                    found[name] = value
                else:
                    found.append(value)
            return tuple(found) if kind == "tuple" else found
        if kind in ("structs", "struct field"):
            return self._structs(about, path)
        if kind in ("sparse", "sparse structs"):
            return self._sparse(about, path)
        header = self._header(path)
        if kind == "vector":
            read = Ndarray(_DTYPES[header.typestr[1:]], header.shape)
            _read_into(self._file, path, read, self._bar)
            return (samovar.Vector if len(header.shape) == 1 else samovar.Matrix)(read.tolist(), read.dtype)
        return self._array(about, path, header)

    def _header(self, path: str) -> Header:
        if path not in self._file.names:
            raise self._file.damaged(f"{path} is missing")
        header = self._file.header(path)
        if header.typestr[1:] not in _DTYPES:
            raise SamovarError(f"{self._file.path}: {path} has the dtype {header.typestr}, which arrays do not have")
        return header

    def _array(self, about: dict[str, Any], path: str, header: Header) -> Any:
        split = len(header.shape) - int(about["inner"])
        element = _element(_DTYPES[header.typestr[1:]], header.shape[split:])
        made: Any
        options = {"needs_grad": bool(about.get("grad")), "layout": about.get("layout", "aos")}
        if about["kind"] == "field":
            made = samovar.field(element, header.shape[:split], offset=about.get("offset"), **options)
        else:
            made = samovar.ndarray(element, header.shape[:split], **options)
        _read_into(self._file, path, made, self._bar)
        return made

    def _sparse(self, about: dict[str, Any], path: str) -> Any:
        """A sparse field, or one of structs, in new nodes."""
        is_struct = about["kind"] == "sparse structs"
        made: Any
        if is_struct:
            parts = about["members"]
            made = _struct(about["struct"]).field()
        else:
            parts = {"": about}
            header = self._header(f"{path}.elements")
            made = samovar.field(_element(_DTYPES[header.typestr[1:]], header.shape[1:]), needs_grad=bool(about["grad"]))
        first = next(iter(parts.values()))
        cells = new_sparse(first["nodes"], made, first.get("offset"))
        for place, (name, each) in enumerate(zip(first["cells"], cells, strict=True)):
            self._part(name, SparseCells(each, path, place))
        for name, field in parts_of(made) if is_struct else [("", made)]:
            below = f"{path}.{name}" if name else path
            self._part(f"{below}.elements", SparseElements(field, below))
        return made

    def _part(self, name: str, part: SparseCells | SparseElements) -> None:
        if part.mismatch(self._header(name)):
            raise self._file.damaged(f"{name} is of another form")
        _read_into(self._file, name, part, self._bar)

    def _structs(self, about: dict[str, Any], path: str) -> Any:
        struct = _struct(about["struct"])
        make = struct.field if about["kind"] == "struct field" else struct.ndarray
        made = make(tuple(about["shape"]), layout=about["layout"])
        for name, part in parts_of(made):
            below = f"{path}.{name}"
            problem = _mismatch(self._header(below), part, below)
            if problem:
                raise self._file.damaged(problem)
            _read_into(self._file, below, part, self._bar)
        return made


def _element(dtype: DType, shape: tuple[int, ...]) -> Any:
    """The type of an element: a number, a vector or a matrix."""
    if not shape:
        return dtype
    return samovar.types.vector(shape[0], dtype) if len(shape) == 1 else samovar.types.matrix(shape[0], shape[1], dtype)


def _struct(members: list[Any]) -> Any:
    """The struct type of a description."""
    kinds = {
        name: _struct(kind) if isinstance(kind, list) else _element(dtype_named(kind), tuple(map(int, shape[0])))
        for name, kind, *shape in members
    }
    return samovar.types.struct(**kinds)
