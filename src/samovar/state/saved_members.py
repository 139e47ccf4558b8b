"""What is saved of an object: its members, each with a path such as `solver.particles.x`, and a description of the whole.

A description is plain data for JSON, from which new objects are made: dicts, lists, arrays and numbers, never classes.
"""

from __future__ import annotations

import enum
import numbers
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from samovar._native import BufferView, Field, Tensor, describe_tensor
from samovar.errors import SamovarTypeError
from samovar.lens import is_compound_class
from samovar.reflection import instance_state
from samovar.runtime import Node, is_sparse
from samovar.state.sparse_fields import SparseCells, SparseElements, described_nodes, nodes_above
from samovar.values import Matrix, Struct, StructArray, StructField, StructType

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

#: What belongs to the code of a program and not to its state.
_CODE = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type)


class ArrayMember(NamedTuple):
    """An array of numbers, or a part of a sparse field."""

    array: Any


class ValueMember(NamedTuple):
    """A number, a text or None, and how to replace it; None for a part of something immutable."""

    value: Any
    replace: Callable[[Any], object] | None

    @property
    def plain(self) -> Any:
        """The value as one of Python, if it is a scalar of NumPy."""
        return plain(self.value)


Member = ArrayMember | ValueMember


class Members:
    """The members of an object by path, collected by `visit`."""

    def __init__(self, skip: Collection[str]) -> None:
        self.by_path: dict[str, Member] = {}
        #: Other paths to members that have a path already.
        self.aliases: dict[str, str] = {}
        self._skip = skip
        #: The paths of the cells of sparse nodes.
        self._cells: dict[int, str] = {}
        self._seen: dict[int, tuple[str, object]] = {}

    def visit(self, value: Any, path: str, replace: Callable[[Any], object] | None) -> dict[str, Any]:
        """Add a value with everything below it, and return its description."""
        found = self._simple(value, path, replace)
        if found is not None:
            return found
        if id(value) in self._seen:
            self.aliases[path] = self._seen[id(value)][0]
            return {"kind": "same", "as": self.aliases[path]}
        self._seen[id(value)] = (path, value)
        found = self._array(value, path)
        return self._compound(value, path) if found is None else found

    def _add(self, path: str, member: Member) -> None:
        if path in self.by_path:
            raise SamovarTypeError(f"two members are called {path!r}\n  help: rename one, for example a key with a dot")
        self.by_path[path] = member

    def _simple(self, value: Any, path: str, replace: Callable[[Any], object] | None) -> dict[str, Any] | None:
        found = plain(value)
        if isinstance(found, enum.Enum):
            self._add(path, ValueMember(value, replace))
            return {"kind": "enum", "value": found.name}
        if found is None or isinstance(found, (str, bool, numbers.Real)):
            self._add(path, ValueMember(value, replace))
            is_entry = isinstance(found, numbers.Real) and (not isinstance(found, int) or -(2**63) <= found < 2**63)
            return {"kind": "number"} if is_entry else {"kind": "value", "value": found}
        return None

    def _array(self, value: Any, path: str) -> dict[str, Any] | None:
        if isinstance(value, StructField) and is_sparse(value.parts[0]):
            parts = {names: self._sparse(part, f"{path}.{names}") for names, part in parts_of(value)}
            return {"kind": "sparse structs", "struct": _struct(value.struct), "members": parts}
        if isinstance(value, Field) and is_sparse(value):
            return self._sparse(value, path)
        if isinstance(value, StructArray):
            for names, part in parts_of(value):
                self._add(f"{path}.{names}" if path else names, ArrayMember(part))
            kind = "struct field" if isinstance(value, StructField) else "structs"
            return {"kind": kind, "layout": value.layout, "struct": _struct(value.struct), "shape": value.shape}
        if isinstance(value, Matrix):
            self._add(path, ArrayMember(value))
            return {"kind": "vector"}
        if isinstance(value, (Tensor, BufferView)) or describe_tensor(value) is not None:
            self._add(path, ArrayMember(value))
            found: dict[str, Any] = {"kind": "field" if isinstance(value, Field) else "array"}
            found["inner"] = len(getattr(value, "element_shape", ()))
            if isinstance(value, Field) and any(value.offset):
                found["offset"] = value.offset[: value.ndim]
            if isinstance(value, Tensor):
                found["grad"] = value.needs_grad
                found["layout"] = value.layout
            return found
        return None

    def _sparse(self, field: Field, path: str) -> dict[str, Any]:
        nodes = nodes_above(field)
        found: dict[str, Any] = {"kind": "sparse", "nodes": described_nodes(nodes), "cells": []}
        for place, node in enumerate(node for node in nodes if node.kind != "dense"):
            cells: Any = node.cells
            if id(cells) not in self._cells:
                self._cells[id(cells)] = f"{path}.cells{place or ''}"
                self._add(self._cells[id(cells)], ArrayMember(SparseCells(cells, path, place)))
            found["cells"].append(self._cells[id(cells)])
        self._add(f"{path}.elements", ArrayMember(SparseElements(field, path)))
        found["grad"] = field.needs_grad
        if any(field.offset):
            found["offset"] = field.offset[: field.ndim]
        return found

    def _compound(self, value: Any, path: str) -> dict[str, Any]:
        members: dict[Any, Any]
        replace: Callable[[Any], Callable[[Any], object] | None]
        if isinstance(value, dict):
            kind, members = "dict", value
            replace = lambda key: lambda new: value.__setitem__(key, new)  # noqa: E731
            wrong = next((key for key in value if not isinstance(key, str)), None)
            if wrong is not None:
                raise SamovarTypeError(f"{path or 'the dict'} has the key {wrong!r}: keys have to be text to be saved")
        elif isinstance(value, (list, tuple)):
            kind, members = "list" if isinstance(value, list) else "tuple", dict(enumerate(value))
            if hasattr(value, "_fields"):
                kind, members = "object", dict(zip(value._fields, value, strict=True))
            replace = lambda key: (lambda new: value.__setitem__(key, new)) if isinstance(value, list) else None  # noqa: E731
        elif isinstance(value, Struct):
            kind, members = "object", dict(value.items)
            replace = lambda key: lambda new: setattr(value, key, new)  # noqa: E731
        elif is_compound_class(type(value)):
            kind, members = "object", instance_state(value, object)
            frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
            replace = lambda key: None if frozen else lambda new: setattr(value, key, new)  # noqa: E731
        else:
            raise SamovarTypeError(
                f"{path or 'this'} is a {type(value).__qualname__}, which cannot be saved: arrays, fields, structs, numbers,"
                " texts, lists, dicts, and objects of dataclasses and data_oriented classes can\n"
                f"  help: leave it out: skip=[{path.rpartition('.')[2]!r}]"
            )
        found = {
            str(key): self.visit(member, f"{path}.{key}" if path else str(key), replace(key))
            for key, member in members.items()
            if key not in self._skip and not _is_code(member)
        }
        return {"kind": kind, "members": found}


def plain(value: Any) -> Any:
    """A scalar of NumPy as a number of Python; other values as they are."""
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(value, "item")
    return value.item() if is_scalar and not hasattr(value, "__setitem__") else value


def _is_code(value: Any) -> bool:
    if isinstance(value, Node):  # its fields are saved with their cells
        return True
    return isinstance(value, _CODE) or (callable(value) and hasattr(value, "__wrapped__"))  # a function, or a kernel


def parts_of(array: StructArray) -> list[tuple[str, Any]]:
    """The arrays of the members, with the names that lead to them."""

    def names(struct: StructType, before: str) -> list[str]:
        found: list[str] = []
        for name, kind, _ in struct.members:
            found += names(kind, f"{before}{name}.") if isinstance(kind, StructType) else [before + name]
        return found

    return list(zip(names(array.struct, ""), array.parts, strict=True))


def _struct(struct: StructType) -> list[Any]:
    """A struct type as plain data: the name of each member, and its dtype and shape or its own members."""
    found: list[Any] = []
    for name, kind, _ in struct.members:
        if isinstance(kind, StructType):
            found.append([name, _struct(kind)])
        else:
            found.append([name, kind.dtype.name, getattr(kind, "shape", ())])
    return found
