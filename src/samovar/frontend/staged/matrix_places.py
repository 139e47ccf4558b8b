"""Vectors and matrices as places: variables, parts of them, and array elements."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from samovar._native import DType, u1
from samovar.frontend.lossy import element_at, kept
from samovar.frontend.scalars import constant
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.matrix import (
    LARGEST_CHOSEN,
    LARGEST_IN_REGISTERS,
    Matrix,
    MatrixValue,
    Stored,
    as_matrix,
    described,
    every_index,
    flat_position,
    index_value,
    loop,
)
from samovar.frontend.staged.matrix_indices import Index, entry_names, selected, selectors, swizzle
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.tensor import Element
from samovar.frontend.staged.variable import Variable
from samovar.ir import Array, Local, Value

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


class MatrixPlace(Place):
    """A place with a shape."""

    __slots__ = ("name", "shape")

    name: str
    shape: tuple[int, ...]

    def describe(self) -> str:
        return described(self.shape)

    def has_entries(self) -> bool:
        return True

    def advice_for_member(self) -> str:
        return entry_names(self.shape)

    def part(self, stager: Stager, indices: tuple[Index, ...], node: ast.AST) -> Place:
        """The place of an element."""
        raise NotImplementedError

    def components(self, stager: Stager, value: Staged, node: ast.AST) -> MatrixValue:
        """A value to store here, with as many elements."""
        matrix = as_matrix(stager, value, node)
        if not isinstance(matrix, MatrixValue):
            stager.fail_type(
                node,
                f"{self.describe()} cannot be assigned {value.describe() if not value.is_number() else 'a number'}",
                f"to set all elements to one number: `{self.name}[:] = x`" if value.is_number() else None,
            )
        if matrix.shape != self.shape:
            stager.fail_type(node, f"shapes do not match: {self.describe()} cannot be assigned {matrix.describe()}")
        return matrix

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place:
        shape, places = selected(selectors(stager, self.shape, index, node))
        parts = tuple(self.part(stager, place, node) for place in places)
        return parts[0] if not shape else Parts(shape, parts)

    def member(self, stager: Stager, name: str, node: ast.Attribute) -> Place | None:
        places = swizzle(self.shape, name)
        if places is None:
            return None
        parts = tuple(self.part(stager, (place,), node) for place in places)
        if len(set(places)) != len(places):
            stager.fail(node, f"`.{name}` names a component twice and cannot be assigned")
        return parts[0] if len(parts) == 1 else Parts((len(parts),), parts)

    def assign(
        self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None
    ) -> None:
        self.store(stager, value, node)

    def each(self, stager: Stager, action: Callable[[tuple[Index, ...]], None]) -> None:
        """Apply a function to the indices of each element."""
        for indices in every_index(self.shape):
            action(indices)


class Parts(MatrixPlace):
    """Elements that are separate places: a variable in registers, or some elements of another place."""

    __slots__ = ("home", "parts")

    def __init__(self, shape: tuple[int, ...], parts: tuple[Place, ...], name: str = "", home: object = None) -> None:
        self.shape = shape
        self.parts = parts
        self.name = name
        self.home = home  # the function that owns the variable

    @property
    def type(self) -> DType:
        return self.parts[0].type

    def locals(self) -> tuple[Local, ...]:
        return tuple(local for part in self.parts for local in part.locals())

    def can_be_referred(self) -> bool:
        return len(self.locals()) == len(self.parts)

    def arrays(self) -> tuple[Array, ...]:
        return tuple(array for part in self.parts for array in part.arrays())

    def load(self, stager: Stager) -> Staged:
        return Matrix(self.shape, tuple(part.load(stager) for part in self.parts))

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        if value.is_number():
            entries: tuple[Staged, ...] = (value,) * len(self.parts)
        else:
            entries = self.components(stager, value, node).entries(stager)
        for part, entry in zip(self.parts, entries, strict=True):
            part.store(stager, entry, node)

    def assign(
        self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None
    ) -> None:
        entries = self.components(stager, value, node).entries(stager)
        for part, entry in zip(self.parts, entries, strict=True):
            part.assign(stager, entry, name, node)

    def part(self, stager: Stager, indices: tuple[Index, ...], node: ast.AST) -> Place:
        if all(isinstance(index, int) for index in indices):
            return self.parts[flat_position(self.shape, indices)]
        if self.name and (len(self.parts) > LARGEST_CHOSEN or stager.context.debug or self.is_shared(stager)):
            stager.want_memory(self.name, self.home)
        return ChosenPart(self, indices)


class VectorEntry(Variable):
    """The variable of one component. If iterations of a parallel loop share it and store to it, it must be in memory."""

    __slots__ = ("home",)

    def __init__(self, local: Local, home: object) -> None:
        super().__init__(local)
        self.home = home

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        if self.is_shared(stager):
            stager.want_memory(self.local.name, self.home)
        super().store(stager, value, node)


class ChosenPart(Place):
    """The element at a run-time index of a value in registers: all elements are written, one with a new value."""

    __slots__ = ("indices", "owner")

    def __init__(self, owner: Parts, indices: tuple[Index, ...]) -> None:
        self.owner = owner
        self.indices = indices

    @property
    def type(self) -> DType:
        return self.owner.type

    def locals(self) -> tuple[Local, ...]:
        return self.owner.locals()

    def can_be_referred(self) -> bool:
        return False

    def load(self, stager: Stager) -> Staged:
        matrix = self.owner.load(stager)
        assert isinstance(matrix, Matrix)
        return matrix.entry(stager, self.indices)

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        new = kept(stager, value, self.type, node, element_at(node))
        for place, part in zip(every_index(self.owner.shape), self.owner.parts, strict=True):
            here = self.is_at(stager, place)
            old = part.load(stager).as_type(stager, self.type, node)
            part.store(stager, Scalar(stager.emit("select", self.type, (here, new, old))), node)

    def is_at(self, stager: Stager, place: tuple[int, ...]) -> Value:
        tests = []
        for index, position in zip(self.indices, place, strict=True):
            value = index_value(index)
            assert value.type is not None
            tests.append(stager.emit("eq", u1, (value, constant(position, value.type))))
        return tests[0] if len(tests) == 1 else stager.emit("and", u1, tuple(tests))


class InMemory(MatrixPlace):
    """Elements in an array, after leading indices: a large variable, or an element of an array of vectors."""

    __slots__ = ("array", "leading")

    def __init__(self, array: Array, leading: tuple[Value, ...], shape: tuple[int, ...], name: str = "") -> None:
        self.array = array
        self.leading = leading
        self.shape = shape
        self.name = name

    @property
    def type(self) -> DType:
        return self.array.dtype

    def is_shared(self, stager: Stager) -> bool:
        return self.array in stager.outer_locals

    def arrays(self) -> tuple[Array, ...]:
        return (self.array,)

    def is_small(self) -> bool:
        return sum(1 for _ in every_index(self.shape)) <= LARGEST_IN_REGISTERS

    def part(self, stager: Stager, indices: tuple[Index, ...], node: ast.AST) -> Place:
        return Element(self.array, (*self.leading, *map(index_value, indices)))

    def referred(self, stager: Stager) -> Staged:
        return Stored(self.array, self.leading, self.shape)

    def load(self, stager: Stager) -> Staged:
        stored = Stored(self.array, self.leading, self.shape)
        return Matrix(self.shape, stored.entries(stager)) if self.is_small() else stored

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        target = Stored(self.array, self.leading, self.shape)
        dtype = self.array.dtype
        if value.is_number():
            number = kept(stager, value, dtype, node, element_at(node, self.array))
            self.each(stager, lambda indices: target.put(stager, indices, number))
            return
        matrix = self.components(stager, value, node)

        def move(indices: tuple[Index, ...]) -> None:
            entry = matrix.entry(stager, indices)
            target.put(stager, indices, kept(stager, entry, dtype, node, element_at(node, self.array)))

        if isinstance(matrix, Matrix):
            for indices in every_index(self.shape):
                move(indices)
        else:
            loop(stager, self.shape, move)

    def assign(
        self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None
    ) -> None:
        if self.is_shared(stager):
            self.refuse_shared(stager, name, node)
        self.store(stager, self.components(stager, value, node), node)

    def refuse_shared(self, stager: Stager, name: str, node: ast.AST) -> NoReturn:
        """Report that the iterations of a parallel loop assign a shared variable."""
        stager.want_serial(name)
        stager.fail(
            node,
            f"data race on `{name}`: the iterations of a parallel loop assign it, but it is defined before the loop and"
            " shared by all of them",
            "for one value per iteration, use a name first assigned inside the loop",
        )

    def each(self, stager: Stager, action: Callable[[tuple[Index, ...]], None]) -> None:
        if self.is_small():
            super().each(stager, action)
        else:
            loop(stager, self.shape, action)


# --- variables


def new_variable(
    stager: Stager, name: str, value: MatrixValue, hint: Place | None, in_memory: bool = False
) -> MatrixPlace:
    """A variable for such a value; `hint` is the variable from another branch."""
    if isinstance(hint, MatrixPlace) and hint.shape == value.shape:
        return hint
    node = stager.source.node
    dtype = value.dtype(stager, node)
    if in_memory or isinstance(value, Stored) or name in stager.memory_names():
        return InMemory(stager.new_array(name, dtype, value.shape), (), value.shape, name)
    count = sum(1 for _ in every_index(value.shape))
    home = stager.function.identity
    parts = tuple(VectorEntry(stager.new_local(name, dtype), home) for _ in range(count))
    return Parts(value.shape, parts, name, home)
