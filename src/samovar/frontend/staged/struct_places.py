"""Structs as places: variables, and array elements. Each member is a place too."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.complex import Complex, new_complex
from samovar.frontend.staged.matrix import MatrixValue
from samovar.frontend.staged.matrix_places import InMemory, Parts, new_variable
from samovar.frontend.staged.struct import StructKind, StructValue
from samovar.frontend.staged.variable import Variable
from samovar.ir import Array, Local

if TYPE_CHECKING:
    from samovar._native import DType
    from samovar.frontend.stager import Binding, Stager


class StructPlace(Place):
    """A place that holds a struct."""

    __slots__ = ("parts", "struct")

    def __init__(self, struct: StructKind, parts: tuple[Place, ...]) -> None:
        self.struct = struct
        self.parts = parts

    def describe(self) -> str:
        return self.struct.shown

    def load(self, stager: Stager) -> Staged:
        return StructValue(self.struct, tuple(part.load(stager) for part in self.parts))

    def referred(self, stager: Stager) -> Staged:
        return StructValue(self.struct, tuple(part.referred(stager) for part in self.parts))

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        struct = self.components(stager, value, node)
        for part, member in zip(self.parts, struct.members, strict=True):
            part.store(stager, member, node)

    def assign(
        self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None
    ) -> None:
        struct = self.components(stager, value, node)
        for part, (own, member) in zip(self.parts, struct.named(), strict=True):
            part.assign(stager, member, f"{name}.{own}", node)

    def components(self, stager: Stager, value: Staged, node: ast.AST) -> StructValue:
        """A value to store here, with the same members, read before any of them is stored."""
        if not isinstance(value, StructValue):
            stager.fail_type(
                node,
                f"{self.describe()} cannot be assigned {value.describe() if not value.is_number() else 'a number'}",
                f"make a struct from it: `{self.struct.kind}(…)`",
            )
        value.require_alike(stager, self.struct.kind, node)
        current = value.current(stager, node)
        assert isinstance(current, StructValue)
        return current

    def locals(self) -> tuple[Local, ...]:
        return tuple(local for part in self.parts for local in part.locals())

    def arrays(self) -> tuple[Array, ...]:
        return tuple(array for part in self.parts for array in part.arrays())

    def is_shared(self, stager: Stager) -> bool:
        return any(part.is_shared(stager) for part in self.parts)

    def member(self, stager: Stager, name: str, node: ast.Attribute) -> Place | None:
        position = self.struct.kind.place(name)
        return None if position is None else self.parts[position]

    def member_names(self) -> tuple[str, ...]:
        return tuple(self.struct.kind.keys)

    def part_named(self, stager: Stager, name: str, node: ast.Attribute) -> Binding:
        return self.member(stager, name, node) or self.attribute(stager, name, node).unforced()

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        """The current value of a member, or a method of this struct."""
        part = self.member(stager, name, node)
        if part is not None:
            return part.load(stager)
        method = self.struct.method(stager, name, self, node)
        return self.load(stager).attribute(stager, name, node) if method is None else method


def new_struct(stager: Stager, name: str, value: StructValue) -> StructPlace:
    """A variable for such a value."""
    return StructPlace(value.struct, tuple(new_part(stager, f"{name}.{own}", member) for own, member in value.named()))


def new_part(stager: Stager, name: str, value: Staged) -> Place:
    """A variable for a member."""
    if isinstance(value, StructValue):
        return new_struct(stager, name, value)
    if isinstance(value, MatrixValue):
        made = new_variable(stager, name, value, None)
        if isinstance(made, Parts):
            return MemberParts(made.shape, made.parts, made.name, made.home)
        assert isinstance(made, InMemory)
        return MemberInMemory(made.array, made.leading, made.shape, made.name)
    if isinstance(value, Complex):
        return new_complex(stager, name, value.part_type(stager, stager.source.node), MemberVariable)
    return MemberVariable(stager.new_local(name, value.type(stager, stager.source.node)))


# Values shared by the iterations of a parallel loop are assigned like separate variables: as a reduction, or not at all.


class MemberVariable(Variable):
    """A number in a struct variable."""

    __slots__ = ()

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        self.assign(stager, value, self.local.name, node)


class MemberParts(Parts):
    """A vector or matrix in registers in a struct variable."""

    __slots__ = ()

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        if self.is_shared(stager):
            stager.want_memory(self.name, self.home)
        super().store(stager, value, node)


class MemberInMemory(InMemory):
    """A vector or matrix in memory in a struct variable."""

    __slots__ = ()

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        if self.is_shared(stager):
            self.refuse_shared(stager, self.name, node)
        super().store(stager, value, node)
