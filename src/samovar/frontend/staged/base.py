"""What every staged kind can be asked, and the answer of a kind that has none of its own: mostly an error.

`Staged` is what a name or an expression stands for; `Place` is what can be assigned. Nobody asks a staged value which kind
it is in order to decide what to do with it: they ask it to do it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from samovar.errors import did_you_mean

if TYPE_CHECKING:
    from samovar._native import DType
    from samovar.frontend.messages import Message
    from samovar.frontend.operators import BinaryOperator, Comparison, UnaryOperator
    from samovar.frontend.staged.space import Counted, Space
    from samovar.frontend.staged.struct import StructKind
    from samovar.frontend.staged.view import Part
    from samovar.frontend.stager import Meaning, Stager
    from samovar.ir import Array, Local, Operation, Region, ResultForm, Value
    from samovar.language import Annotation, MatrixType, ViewAnnotation


class Staged:
    """What a name or an expression stands for."""

    __slots__ = ()

    #: What to do where a number was expected, and where a loop should run over it.
    advice: str | None = None
    advice_for_loop: str | None = None
    #: What to do where an array was expected, and where a view was.
    advice_for_array: str | None = None
    advice_for_view: str | None = None
    #: What to do where a run-time condition cannot choose between it and another one.
    advice_for_choice = "use it in each branch of an `if`, perhaps through a func, or make the condition `static`"
    #: What to do where a parameter that holds it was to be assigned.
    advice_for_assignment: str | None = None
    #: Is it the result of `static(...)`?
    is_forced = False

    # --- as it is

    def describe(self) -> str:
        """What it is, for an error message."""
        return "a value"

    def is_none(self) -> bool:
        """Is it None?"""
        return False

    def unforced(self) -> Staged:
        """Without the mark of `static(...)`."""
        return self

    def load(self, stager: Stager) -> Staged:
        """What a name that means it gives."""
        return self

    def as_operand(self, stager: Stager, node: ast.AST) -> Staged:
        """What operators work with: a captured tuple or list as items, anything else as it is."""
        return self

    # --- as a number

    def is_run_time(self) -> bool:
        """Is it known at run time only?"""
        return False

    def wanted_by_static(self) -> tuple[Value, ...]:
        """The run-time values in it that would have to be known for `static(...)`."""
        return ()

    def is_unrolled_by_static(self) -> bool:
        """Is `static(...)` of it a sequence of known length, whose elements may be known at run time only?"""
        return False

    def number(self) -> bool | int | float | None:
        """The Python number of a compile-time value (an enum member that is one included), else None."""
        return None

    def is_number(self) -> bool:
        """Is it a number, known at compile time or at run time?"""
        return False

    def type(self, stager: Stager, node: ast.AST) -> DType:
        """The dtype of a number, the natural one for a compile-time number."""
        self.fail_as_number(stager, node)

    def as_type(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        """A run-time scalar of a given dtype."""
        self.fail_as_number(stager, node)

    def scalar(self, stager: Stager, node: ast.AST) -> Value:
        """A run-time scalar; a compile-time number takes its natural type."""
        return self.as_type(stager, self.type(stager, node), node)

    def as_stored(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        """As `as_type`, for what is kept in a place of that dtype: a number that is known must fit."""
        return self.as_type(stager, dtype, node)

    def can_be_chosen(self) -> bool:
        """Can a run-time condition choose between it and another value?"""
        return self.is_number() or self.is_elementwise()

    def truth(self, stager: Stager) -> bool | None:
        """The truth of a compile-time value, None where it is only known at run time. A condition asks `known_truth`."""
        return None

    def advice_for_truth(self) -> str | None:
        """What to ask instead, if it is neither true nor false. None for all that has a truth."""
        return None

    def fail_as_number(self, stager: Stager, node: ast.AST) -> NoReturn:
        stager.fail_type(node, f"expected a number, got {self.describe()}", self.advice)

    def as_dtype(self, stager: Stager) -> DType | None:
        """The dtype that it stands for in an annotation or as an argument, None if it stands for none."""
        return None

    def matrix_type(self) -> MatrixType | None:
        """The type of vectors or matrices that it stands for in an annotation, None if it stands for none."""
        return None

    def struct_kind(self) -> StructKind | None:
        """The type of structs that it stands for in an annotation, None if it stands for none."""
        return None

    # --- under operators: None where it has no rule for the other side, which is asked next

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        """`self operator other`."""
        return None

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        """`other operator self`, where `other` has no rule."""
        return None

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        """`self comparison other`."""
        return None

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        """`other comparison self`, where `other` has no rule."""
        return None

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        self.fail_as_number(stager, node)

    # --- component by component

    def is_elementwise(self) -> bool:
        """Do operators and functions of numbers work on its components, one by one?"""
        return False

    def spread(self, count: int) -> tuple[Staged, ...]:
        """Its components beside those of another value; what has none goes with each of them."""
        return (self,) * count

    def component_shape(self) -> tuple[int, ...]:
        """How many components there are along each axis. Only what is element-wise is asked for it."""
        return (len(self.spread(1)),)

    def beside(self, stager: Stager, leader: Staged, node: ast.AST) -> Staged:
        """As it is taken beside what has components: a list or tuple of numbers has some too."""
        return self

    def component(self, stager: Stager, indices: tuple[int | Value, ...]) -> Staged:
        """The component beside that of a matrix in memory; what has none goes with each of them."""
        return self

    def fail_to_match(self, stager: Stager, operands: Sequence[Staged], node: ast.AST) -> NoReturn:
        """Say that operands have components that do not match. Only what is element-wise is asked for it."""
        raise NotImplementedError

    def with_components(self, components: tuple[Staged, ...]) -> Staged:
        """The same kind, of other components. Only what is element-wise is asked for it."""
        raise NotImplementedError

    def is_in_memory(self) -> bool:
        """Are its components in memory, so that what is done to them is a loop?"""
        return False

    def by_components(
        self, stager: Stager, operands: Sequence[Staged], node: ast.AST, function: Callable[..., Staged]
    ) -> Staged:
        """Do something with the components of operands, one by one. Only what is element-wise is asked for it."""
        from samovar.frontend.operators import component_rows

        _, rows = component_rows(stager, operands, node)
        return self.with_components(tuple([function(*row) for row in rows]))

    def settled(self, stager: Stager, node: ast.AST) -> Staged:
        """As it is now, whatever is assigned later."""
        return self

    # --- its parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        close = did_you_mean(name, self.member_names())
        message = f"`{ast.unparse(node.value)}` is {self.describe()} and has no attribute `{name}`{close}"
        stager.fail_type(node, message, self.advice_for_absent(node))

    def member_names(self) -> tuple[str, ...]:
        """The attributes that it has, for a message."""
        return ()

    def advice_for_member(self) -> str:
        """What to do where an attribute is assigned that cannot be."""
        return "write into an element of an array, or into a local variable"

    def fail_beyond(self, stager: Stager, index: int, count: int, node: ast.AST) -> NoReturn:
        """Say that there is no such element of so many that are known at compile time."""
        elements = "1 element" if count == 1 else f"{count} elements"
        shown = str(index) if index.bit_length() < 64 else f"of {index.bit_length()} bits"
        stager.fail_type(node, f"index {shown} is out of bounds: {self.describe()} of {elements} is indexed")

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        """What to do where an attribute is read that it does not have."""
        return None

    def part_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Meaning:
        """What an attribute of an element is read from: the element, or its place if not all of it is to be read."""
        return self.subscript(stager, index, node).unforced()

    def part_named(self, stager: Stager, name: str, node: ast.Attribute) -> Meaning:
        """The same of an attribute."""
        return self.attribute(stager, name, node).unforced()

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        stager.fail_type(node, f"{self.describe()} cannot be indexed")

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place | None:
        """The place of an element, None where elements cannot be changed."""
        return None

    def member(self, stager: Stager, name: str, node: ast.Attribute) -> Place | None:
        """The place of an attribute, None where attributes cannot be changed."""
        return None

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        """The elements of a compile-time sequence."""
        stager.fail_type(node, f"{self.describe()} is not a compile-time sequence")

    def backwards(self, stager: Stager, node: ast.AST) -> Staged | None:
        """What `reversed` of it is for a run-time loop, None where it is a compile-time sequence."""
        return None

    def counted(self, stager: Stager, node: ast.AST) -> Counted | None:
        """How a run-time loop counts it and makes each element from its place, None for a compile-time sequence."""
        return None

    def is_unrolled(self) -> bool:
        """Is a loop over it unrolled, without being told so by `static(...)`?"""
        return False

    def as_view(self, stager: Stager, node: ast.AST) -> Part:
        """All of it as a view, to cut parts of."""
        stager.fail_type(node, f"`BufferView` takes an array, got {self.describe()}")

    def required_view(self, stager: Stager, annotation: ViewAnnotation, what: str, node: ast.AST) -> Part:
        """The view that an annotation asks for."""
        problem = f"{what} must be a BufferView ({annotation}), got {self.describe()}"
        stager.fail_type(node, problem, self.advice_for_view)

    def length(self, stager: Stager, node: ast.AST) -> Staged | None:
        """What `len` gives, None where it is the number of elements of a compile-time sequence."""
        return None

    def space(self, stager: Stager, node: ast.AST) -> Space:
        """What a run-time loop over it runs over."""
        stager.fail_type(node, f"a loop cannot run over {self.describe()}", self.advice_for_loop)

    def call(self, stager: Stager, node: ast.Call) -> Staged:
        stager.fail_type(node, f"{self.describe()} cannot be called")

    # --- its run-time values: arguments of funcs, results, what is carried out of a branch

    def ir_values(self) -> tuple[Value, ...]:
        """The run-time values in it, in order: scalars and arrays."""
        return ()

    def rebuild(self, values: Iterator[Value]) -> Staged:
        """The same with other run-time values."""
        return self

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        """What code depends on apart from its IR values: funcs are lowered once for arguments of equal form."""
        stager.fail_type(node, f"{self.describe()} cannot be an argument")

    def kept(self, stager: Stager, node: ast.AST) -> Staged:
        """As a part of something that gets a name: later changes of variables do not change it."""
        return self

    def first_assigned(self, stager: Stager, target: ast.Name, annotated: DType | None) -> Meaning:
        """What a name means that it is the first value of: mostly itself, and for numbers mostly a variable."""
        if annotated is not None:
            self.fail_as_number(stager, target)
        return self

    def can_be_referred(self) -> bool:
        """Is it a place that a func can change?"""
        return False

    def member_type(self, stager: Stager, node: ast.AST) -> tuple[Annotation, Staged]:
        """The type of a member that it is the value of, and what the member is then."""
        from samovar.frontend.structs import number_member

        return number_member(stager, self, node)

    def as_argument(self, stager: Stager, node: ast.AST) -> Staged:
        """As a parameter of a func takes it that has no annotation."""
        return self

    def copied(self, stager: Stager, name: str) -> Meaning:
        """As a parameter that the body of a func may change: what has run-time values becomes a variable."""
        return self

    def referenced(self, stager: Stager, name: str) -> Meaning:
        """As a parameter through which the body of a func changes a variable of the caller."""
        return self.copied(stager, name)

    def returned(self, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
        """As a function returns it: all in run-time scalars, of the dtypes that the annotation gives."""
        from samovar.frontend.returns import returned_scalar

        return returned_scalar(stager, self, declared, node)

    def is_like(self, other: Staged) -> bool:
        """Is another result of the same kind, with as many values in it?"""
        shapes = [each.component_shape() if each.is_elementwise() else () for each in (self, other)]
        return self.__class__ is other.__class__ and shapes[0] == shapes[1]

    def result_form(self, numbers: Iterator[int]) -> ResultForm:
        """How Python sees a result or a part of it, by the numbers of the values in it."""
        return None if self.is_none() else next(numbers)

    def carried_out(self, stager: Stager, region: Region, name: str) -> Meaning:
        """The same for code after a region in which it was made."""
        values = self.ir_values()
        if all(value.type is None for value in values):
            return self
        carried = [value if value.type is None else carry(stager, region, name, value) for value in values]
        return self.rebuild(iter(carried))

    # --- outside of the language

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        """What a plain function gets: simple values, tuples of them, or references to user objects."""
        stager.fail(node, f"a plain Python function runs at compile time and cannot take {self.describe()}")

    def gathers(self) -> bool:
        """Has it a func for what `m[i, j] += x` adds?"""
        return False

    def is_array(self) -> bool:
        """Is it an array or a field, of whatever elements?"""
        return False

    def known_array(self, stager: Stager) -> Staged | None:
        """An array whose elements are known at compile time, None if it is none."""
        return None

    def is_struct(self) -> bool:
        """Is it a struct?"""
        return False

    def has_member(self, stager: Stager, name: str, node: ast.AST) -> bool | None:
        """Has it an attribute of a name that is known at compile time? None for what has no members of its own."""
        return None

    def is_opaque(self) -> bool:
        """Is it a Python object that the language knows nothing of?"""
        return False

    def compared_object(self) -> Any:
        """What Python compares, inside `static`. Only opaque objects and compile-time values are asked for it."""
        raise NotImplementedError

    def text_value(self, stager: Stager, node: ast.AST) -> Any:
        """The Python value of which compile-time text is made."""
        stager.fail_type(node, f"compile-time text is made of numbers and strings, not of {self.describe()}")

    def formatted(self, stager: Stager, conversion: str, form: str, node: ast.AST) -> str:
        """A compile-time value as text, converted and formatted."""
        stager.fail(
            node,
            f"an f-string that is more than a message cannot hold {self.describe()}",
            "only the f-strings of `print` and `assert` can have run-time values in them",
        )

    def write(self, message: Message, node: ast.AST, conversion: str, form: str) -> None:
        """Add it to a message that is put together at run time."""
        message.add_value(self.scalar(message.stager, node), node, conversion, form)

    def write_static(self, message: Message, node: ast.AST) -> None:
        """Add it to the text of `static_print`."""
        message.text(self.describe())


def carry(stager: Stager, region: Region, name: str, value: Value) -> Value:
    """A scalar that was made in a region, for code after it."""
    assert value.type is not None
    local = stager.new_local(name, value.type)
    with stager.into(region):
        stager.emit("store_local", None, (value,), local)
    return stager.emit("load_local", local.type, (), local)


class Place:
    """What can be assigned."""

    __slots__ = ()

    def carried_out(self, stager: Stager, region: Region, name: str) -> Meaning:
        """The same for code after a region in which a name got it."""
        return self

    @property
    def type(self) -> DType:
        """The dtype of what it holds."""
        raise NotImplementedError

    def describe(self) -> str:
        """What it holds, for an error message."""
        return "a value"

    def load(self, stager: Stager) -> Staged:
        raise NotImplementedError

    def referred(self, stager: Stager) -> Staged:
        """What a func is given that changes it: its value, which comes back, or where it is in memory."""
        return self.load(stager)

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        raise NotImplementedError

    def assign(
        self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None
    ) -> None:
        """Give another value to a name that means this place."""
        self.store(stager, value, node)

    def update(self, stager: Stager, code: str, values: tuple[Value, ...]) -> Operation:
        """An atomic read-modify-write; gives the old value."""
        raise NotImplementedError

    def augment(self, stager: Stager, operator: BinaryOperator, value: Staged, node: ast.AugAssign) -> None:
        """`place operator= value`, where others may change it meanwhile."""
        from samovar.frontend.assignments import update_scalar

        update_scalar(stager, operator, self, value, node)

    def atomic(self, stager: Stager, code: str, values: tuple[Staged, ...], node: ast.AST) -> Staged:
        """An atomic operation that a program asks for by name; the old value."""
        from samovar.frontend.atomics import atomic_scalar

        return atomic_scalar(stager, code, self, values, node)

    def locals(self) -> tuple[Local, ...]:
        """The variables of the IR that it consists of, in the order of the IR values of what it holds."""
        return ()

    def has_entries(self) -> bool:
        """Does it hold a vector or matrix, so that a number can be stored everywhere in it?"""
        return False

    def arrays(self) -> tuple[Array, ...]:
        """The arrays in which it is in memory."""
        return ()

    def is_shared(self, stager: Stager) -> bool:
        """Do the iterations of the task around share it?"""
        return any(local in stager.outer_locals for local in self.locals())

    def can_be_referred(self) -> bool:
        """Can a func change it?"""
        return True

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        """An attribute of what it holds."""
        return self.load(stager).attribute(stager, name, node)

    def part_at(self, stager: Stager, index: Staged, node: ast.Subscript) -> Meaning:
        """As that of a value: of a place, an element has one as well."""
        return self.element(stager, index, node) or self.load(stager).subscript(stager, index, node).unforced()

    def part_named(self, stager: Stager, name: str, node: ast.Attribute) -> Meaning:
        """As that of a value."""
        return self.attribute(stager, name, node).unforced()

    def element(self, stager: Stager, index: Staged, node: ast.Subscript) -> Place | None:
        """The place of an element of what it holds, None where elements cannot be changed."""
        return None

    def member(self, stager: Stager, name: str, node: ast.Attribute) -> Place | None:
        """The place of an attribute of what it holds, None where attributes cannot be changed."""
        return None

    def member_names(self) -> tuple[str, ...]:
        """The attributes of what it holds that can be assigned, for a message."""
        return ()

    def advice_for_member(self) -> str:
        """What to do where an attribute is assigned that cannot be."""
        names = self.member_names()
        return f"there are {', '.join(names)}" if names else Staged.advice_for_member(Staged())
