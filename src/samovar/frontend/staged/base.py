"""The protocol of staged kinds, with the defaults for kinds without a rule: mostly errors.

`Staged` is the value of a name or an expression; `Place` is something that can be assigned. Callers never test the kind
of a staged value to decide what to do with it: they ask it to do it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from samovar.errors import did_you_mean

if TYPE_CHECKING:
    from samovar._native import DType
    from samovar.frontend.operators import BinaryOperator, Comparison, UnaryOperator
    from samovar.frontend.staged.array_values import ArrayValue, Section
    from samovar.frontend.staged.space import Counted, Space
    from samovar.frontend.staged.struct import StructKind
    from samovar.frontend.staged.tensor import Tensor
    from samovar.frontend.staged.view import Part
    from samovar.frontend.stager import Binding, Stager
    from samovar.ir import Array, Local, Operation, ResultShape, Value
    from samovar.lens import Ref
    from samovar.values import MatrixType


class Staged:
    """The value of a name or an expression."""

    __slots__ = ()

    #: Advice where a number was expected, and where it cannot be looped over.
    advice: str | None = None
    advice_for_loop: str | None = None
    #: Advice where an array was expected, and where a view was.
    advice_for_array: str | None = None
    advice_for_view: str | None = None
    #: Advice where a run-time condition cannot choose between it and another value.
    advice_for_choice = "use it in each branch of an `if`, perhaps through a func, or make the condition static"
    #: Advice where a parameter that holds it cannot be assigned.
    advice_for_assignment: str | None = None
    #: Whether it is the result of `static(...)`.
    is_forced = False

    # --- identity

    def describe(self) -> str:
        """A description for error messages."""
        return "a value"

    def is_none(self) -> bool:
        """Whether it is None."""
        return False

    def unforced(self) -> Staged:
        """The value without the mark of `static(...)`."""
        return self

    def load(self, stager: Stager) -> Staged:
        """The value of a name bound to it."""
        return self

    def as_operand(self, stager: Stager, node: ast.AST) -> Staged:
        """The operand for operators: a captured tuple or list as items, anything else unchanged."""
        return self

    # --- as a number

    def is_run_time(self) -> bool:
        """Whether it is only known at run time."""
        return False

    def wanted_by_static(self) -> tuple[Value, ...]:
        """The run-time values in it that `static(...)` would need to know."""
        return ()

    def is_unrolled_by_static(self) -> bool:
        """Whether `static(...)` of it is a sequence of known length with elements that may be run-time values."""
        return False

    def number(self) -> bool | int | float | None:
        """The Python number of a compile-time value (including an enum member that is one), else None."""
        return None

    def is_number(self) -> bool:
        """Whether it is a number, at compile time or at run time."""
        return False

    def type(self, stager: Stager, node: ast.AST) -> DType:
        """The dtype of a number; for a compile-time number, the default one."""
        self.fail_as_number(stager, node)

    def as_type(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        """A run-time scalar of a given dtype."""
        self.fail_as_number(stager, node)

    def scalar(self, stager: Stager, node: ast.AST) -> Value:
        """A run-time scalar; a compile-time number gets its default type."""
        return self.as_type(stager, self.type(stager, node), node)

    def as_stored(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        """Like `as_type`, for a value stored in a place of that dtype: a compile-time number must fit."""
        return self.as_type(stager, dtype, node)

    def can_be_chosen(self) -> bool:
        """Whether a run-time condition can choose between it and another value."""
        return self.is_number() or self.is_elementwise()

    def truth(self, stager: Stager) -> bool | None:
        """The truth of a compile-time value; None if only known at run time. Conditions use `known_truth`."""
        return None

    def advice_for_truth(self) -> str | None:
        """What to write instead, if its truth is ambiguous; None for others."""
        return None

    def fail_as_number(self, stager: Stager, node: ast.AST) -> NoReturn:
        stager.fail_type(node, f"expected a number, got {self.describe()}", self.advice)

    def as_dtype(self, stager: Stager) -> DType | None:
        """The dtype that it denotes in an annotation or as an argument; None if it is none."""
        return None

    def matrix_type(self) -> MatrixType | None:
        """The vector or matrix type that it denotes in an annotation; None if it is none."""
        return None

    def struct_kind(self) -> StructKind | None:
        """The struct type that it denotes in an annotation; None if it is none."""
        return None

    # --- operators: None if it has no rule for the other side, which is asked next

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        """`self operator other`."""
        return None

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        """`other operator self`, if `other` has no rule."""
        return None

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        """`self comparison other`."""
        return None

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        """`other comparison self`, if `other` has no rule."""
        return None

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        self.fail_as_number(stager, node)

    # --- components

    def is_elementwise(self) -> bool:
        """Whether operators and functions of numbers apply to its components."""
        return False

    def spread(self, count: int) -> tuple[Staged, ...]:
        """Its components beside those of another value; a value without components is repeated."""
        return (self,) * count

    def component_shape(self) -> tuple[int, ...]:
        """The number of components along each dimension. Only called on element-wise values."""
        return (len(self.spread(1)),)

    def beside(self, stager: Stager, leader: Staged, node: ast.AST) -> Staged:
        """The value beside one with components: a list or tuple of numbers has components too."""
        return self

    def component(self, stager: Stager, indices: tuple[int | Value, ...]) -> Staged:
        """The component beside that of a matrix in memory; a value without components is the same for each."""
        return self

    def fail_to_match(self, stager: Stager, operands: Sequence[Staged], node: ast.AST) -> NoReturn:
        """Report that the components of operands do not match. Only called on element-wise values."""
        raise NotImplementedError

    def with_components(self, components: tuple[Staged, ...]) -> Staged:
        """The same kind with other components. Only called on element-wise values."""
        raise NotImplementedError

    def by_components(
        self, stager: Stager, operands: Sequence[Staged], node: ast.AST, function: Callable[..., Staged]
    ) -> Staged:
        """Apply a function to the components of operands in a loop. Only called on element-wise values in memory."""
        raise NotImplementedError

    def is_in_memory(self) -> bool:
        """Whether its components are in memory, so that operations on them are loops."""
        return False

    def array_extents(self, stager: Stager) -> tuple[Staged, ...] | None:
        """The number of elements along each dimension, beside arrays; None for numbers."""
        return None

    def element_beside(self, stager: Stager, indices: tuple[Value, ...]) -> Staged:
        """The element beside that of an array at these indices; a number is the same for each."""
        return self

    def part_of_tensor(self) -> tuple[Tensor, int] | None:
        """The array that it is or is a part of, and its own number of dimensions; None for others."""
        return None

    def parts_read(self) -> tuple[Section, ...]:
        """The parts of arrays that an expression of arrays reads."""
        return ()

    def as_array_value(self) -> ArrayValue | None:
        """It as elements with a run-time shape: an array, a part of one, an expression of arrays. None for others."""
        return None

    def current(self, stager: Stager, node: ast.AST) -> Staged:
        """Its current value, independent of later assignments."""
        return self

    # --- parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        close = did_you_mean(name, self.member_names())
        message = f"`{ast.unparse(node.value)}` is {self.describe()} and has no attribute `{name}`{close}"
        stager.fail_type(node, message, self.advice_for_absent(node))

    def member_names(self) -> tuple[str, ...]:
        """The attributes that it has, for messages."""
        return ()

    def advice_for_member(self) -> str:
        """Advice for an attribute that cannot be assigned."""
        return "assign to an element of an array, or to a local variable"

    def fail_beyond(self, stager: Stager, index: int, count: int, node: ast.AST) -> NoReturn:
        """Report an index beyond a known number of elements."""
        elements = "1 element" if count == 1 else f"{count} elements"
        shown = str(index) if index.bit_length() < 64 else f"of {index.bit_length()} bits"
        stager.fail_type(node, f"index {shown} is out of bounds: {self.describe()} has {elements}")

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        """Advice for an attribute that it does not have."""
        return None

    def part_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Binding:
        """The owner for reading an attribute of an element: the element, or its place if only a part is read."""
        return self.subscript(stager, index, node).unforced()

    def part_named(self, stager: Stager, name: str, node: ast.Attribute) -> Binding:
        """The same for an attribute."""
        return self.attribute(stager, name, node).unforced()

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        stager.fail_type(node, f"{self.describe()} cannot be indexed")

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place | None:
        """The place of an element; None if elements cannot be modified."""
        return None

    def member(self, stager: Stager, name: str, node: ast.Attribute) -> Place | None:
        """The place of an attribute; None if attributes cannot be modified."""
        return None

    def tree_node(self) -> Ref | None:
        """The node of a field's tree that it is; None for everything else."""
        return None

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        """The elements of a compile-time sequence."""
        stager.fail_type(node, f"{self.describe()} is not a compile-time sequence")

    def backwards(self, stager: Stager, node: ast.AST) -> Staged | None:
        """The result of `reversed` for a run-time loop; None for a compile-time sequence."""
        return None

    def counted(self, stager: Stager, node: ast.AST) -> Counted | None:
        """How a run-time loop counts its elements and computes each from its position; None for a compile-time sequence."""
        return None

    def is_unrolled(self) -> bool:
        """Whether a loop over it is unrolled without `static(...)`."""
        return False

    def as_view(self, stager: Stager, node: ast.AST) -> Part:
        """All of it as a view, to slice."""
        stager.fail_type(node, f"`BufferView` takes an array, got {self.describe()}")

    def length(self, stager: Stager, node: ast.AST) -> Staged | None:
        """The result of `len`; None if it is the number of elements of a compile-time sequence."""
        return None

    def space(self, stager: Stager, node: ast.AST) -> Space:
        """The iteration space of a run-time loop over it."""
        stager.fail_type(node, f"cannot loop over {self.describe()}", self.advice_for_loop)

    # --- run-time values: arguments of funcs, results, values carried out of a branch

    def ir_values(self) -> tuple[Value, ...]:
        """The run-time values in it, in order: scalars and arrays."""
        return ()

    def rebuild(self, values: Iterator[Value]) -> Staged:
        """The same with other run-time values."""
        return self

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        """What code depends on besides its IR values: funcs are specialized once for arguments with equal keys."""
        stager.fail_type(node, f"{self.describe()} cannot be passed as an argument")

    def kept(self, stager: Stager, node: ast.AST) -> Staged:
        """The value as a part of something that gets a name: later changes of variables do not affect it."""
        return self

    def can_be_referred(self) -> bool:
        """Whether it is a place that a func can modify."""
        return False

    def as_argument(self, stager: Stager, node: ast.AST) -> Staged:
        """The value for a func parameter without an annotation."""
        return self

    def is_like(self, other: Staged) -> bool:
        """Whether another result is of the same kind, with as many values."""
        shapes = [each.component_shape() if each.is_elementwise() else () for each in (self, other)]
        return self.__class__ is other.__class__ and shapes[0] == shapes[1]

    def result_shape(self, numbers: Iterator[int]) -> ResultShape:
        """How Python sees a result or a part of it, by the numbers of its values."""
        return None if self.is_none() else next(numbers)

    # --- Python objects

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        """The argument of a plain function: simple values, tuples of them, or references to user objects."""
        stager.fail(node, f"a plain Python function runs at compile time and cannot be passed {self.describe()}")

    def gathers(self) -> bool:
        """Whether it has a func for `m[i, j] += x`."""
        return False

    def is_array(self) -> bool:
        """Whether it is an array or a field, of any elements."""
        return False

    def known_array(self, stager: Stager) -> Staged | None:
        """The array with elements known at compile time; None if it is not one."""
        return None

    def is_struct(self) -> bool:
        """Whether it is a struct."""
        return False

    def has_member(self, stager: Stager, name: str, node: ast.AST) -> bool | None:
        """Whether it has an attribute of a compile-time name; None for values without members."""
        return None

    def is_opaque(self) -> bool:
        """Whether it is a Python object unknown to the language."""
        return False

    def compared_object(self) -> Any:
        """The object that Python compares inside `static`. Only called on opaque objects and compile-time values."""
        raise NotImplementedError

    def text_value(self, stager: Stager, node: ast.AST) -> Any:
        """The Python value to use in compile-time text."""
        stager.fail_type(node, f"compile-time text can only contain numbers and strings, not {self.describe()}")


class Place:
    """Something that can be assigned."""

    __slots__ = ()

    @property
    def type(self) -> DType:
        """The dtype of its value."""
        raise NotImplementedError

    def describe(self) -> str:
        """A description of its value, for error messages."""
        return "a value"

    def load(self, stager: Stager) -> Staged:
        raise NotImplementedError

    def referred(self, stager: Stager) -> Staged:
        """The argument for a func that modifies it: its value, which is returned, or its location in memory."""
        return self.load(stager)

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        raise NotImplementedError

    def assign(
        self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None
    ) -> None:
        """Assign another value to a name bound to this place."""
        self.store(stager, value, node)

    def update(self, stager: Stager, code: str, values: tuple[Value, ...]) -> Operation:
        """An atomic read-modify-write; returns the old value."""
        raise NotImplementedError

    def locals(self) -> tuple[Local, ...]:
        """The IR variables that it consists of, in the order of the IR values of its value."""
        return ()

    def has_entries(self) -> bool:
        """Whether it holds a vector or matrix, so that a number can be assigned to all elements."""
        return False

    def arrays(self) -> tuple[Array, ...]:
        """The arrays that contain it in memory."""
        return ()

    def is_shared(self, stager: Stager) -> bool:
        """Whether the iterations of the enclosing task share it."""
        return any(local in stager.outer_locals for local in self.locals())

    def can_be_referred(self) -> bool:
        """Whether a func can modify it."""
        return True

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        """An attribute of its value."""
        return self.load(stager).attribute(stager, name, node)

    def part_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Binding:
        """Like that of a value: an element of a place is a place as well."""
        return self.element(stager, index, node) or self.load(stager).subscript(stager, index, node).unforced()

    def part_named(self, stager: Stager, name: str, node: ast.Attribute) -> Binding:
        """Like that of a value."""
        return self.attribute(stager, name, node).unforced()

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place | None:
        """The place of an element of its value; None if elements cannot be modified."""
        return None

    def member(self, stager: Stager, name: str, node: ast.Attribute) -> Place | None:
        """The place of an attribute of its value; None if attributes cannot be modified."""
        return None

    def member_names(self) -> tuple[str, ...]:
        """The assignable attributes of its value, for messages."""
        return ()

    def advice_for_member(self) -> str:
        """Advice for an attribute that cannot be assigned."""
        names = self.member_names()
        return f"its members are {', '.join(names)}" if names else Staged.advice_for_member(Staged())
