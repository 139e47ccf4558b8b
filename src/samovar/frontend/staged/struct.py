"""Structs as values: named members, each staged like a value of its own."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from samovar._native import u1
from samovar.frontend.operators import EQUAL, Comparison, compare, negate, truth
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.callee import Callee
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import MatrixValue, accumulate
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.ir import StructResult
from samovar.lens import Kind, Ref
from samovar.values import MatrixType, StructType

if TYPE_CHECKING:
    from samovar.frontend.stager import Binding, Stager
    from samovar.ir import ResultShape, Value


class StructKind(Staged):
    """A struct type, and where it was found: its methods are looked up there. A call creates a struct."""

    __slots__ = ("kind", "ref", "within")

    advice = "call it"

    def __init__(self, kind: StructType, ref: Ref | None = None, within: tuple[int, ...] = ()) -> None:
        self.kind = kind
        self.ref = ref
        self.within = within  # for a member's type: its path of positions from the type at `ref`

    def describe(self) -> str:
        return f"the type `{self.kind}`"

    @property
    def shown(self) -> str:
        """The description of its values in messages."""
        return "a struct" if self.kind.name == "struct" else f"the struct `{self.kind}`"

    def truth(self, stager: Stager) -> bool | None:
        return True

    def struct_kind(self) -> StructKind:
        return self

    def inner(self, place: int) -> StructKind:
        """The type of a member that is a struct."""
        kind = self.kind.members[place][1]
        assert isinstance(kind, StructType)
        return StructKind(kind, self.ref, (*self.within, place))

    def found_at(self, ref: Ref | None, within: tuple[int, ...]) -> StructKind:
        """The same type with methods looked up elsewhere."""
        return StructKind(self.kind, ref, within)

    def method(self, stager: Stager, name: str, receiver: Binding | None, node: ast.AST) -> Callee | None:
        """A method that is a func; None if there is none of this name."""
        source = self.ref
        if source is None:
            return None
        for place in self.within:
            source = source.attribute("members").item(place).item(1)
        found = source.attribute("methods").item(name)
        kind = found.kind()
        if kind is Kind.ABSENT:
            return None
        if kind is Kind.FUNCTION:  # a static method wraps its func
            found, receiver = found.attribute("__func__"), None
            kind = found.kind()
        if kind is not Kind.FUNC:
            stager.fail_type(
                node, f"`{name}` of {self.kind} is a plain Python function", "decorate it with `@sv.func`"
            )
        return Callee(found.function(), receiver)

    def has(self, stager: Stager, name: str, node: ast.AST) -> bool:
        """Whether there is a member or method of this name."""
        return self.kind.place(name) is not None or self.method(stager, name, None, node) is not None

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        found = self.method(stager, name, None, node)
        return super().attribute(stager, name, node) if found is None else found

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        # The path is included: methods are looked up there.
        return ("struct type", self.kind.key(), None if self.ref is None else self.ref.path, self.within)


    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        return super().as_outside_argument(stager, node) if self.ref is None or self.within else self.ref


class StructValue(Staged):
    """A struct: the values of its members, in order. Assignment copies."""

    __slots__ = ("members", "struct")

    advice = "use one of its members"

    def __init__(self, struct: StructKind, members: tuple[Staged, ...]) -> None:
        self.struct = struct
        self.members = members

    def describe(self) -> str:
        return self.struct.shown

    def named(self) -> Iterator[tuple[str, Staged]]:
        """The members with their names."""
        return zip(self.struct.kind.keys, self.members, strict=True)

    def is_run_time(self) -> bool:
        return any(member.is_run_time() for member in self.members)

    def wanted_by_static(self) -> tuple[Value, ...]:
        return tuple(value for member in self.members for value in member.wanted_by_static())

    def can_be_chosen(self) -> bool:
        return True

    def is_struct(self) -> bool:
        return True

    def has_member(self, stager: Stager, name: str, node: ast.AST) -> bool | None:
        return self.struct.has(stager, name, node)

    # --- operators

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        """`==` and `!=`: whether all members are equal."""
        if comparison.sign not in ("==", "!=") or not isinstance(other, StructValue):
            return None
        self.require_alike(stager, other.struct.kind, node)
        equal = self.equals(stager, other, node)
        return equal if comparison.sign == "==" else negate(stager, equal, node)

    def equals(self, stager: Stager, other: StructValue, node: ast.AST) -> Staged:
        result: Staged = Static(True)
        for mine, its in zip(self.members, other.members, strict=True):
            if isinstance(mine, StructValue) and isinstance(its, StructValue):
                equal = mine.equals(stager, its, node)
            else:
                equal = compare(stager, EQUAL, mine, its, node)
                if isinstance(equal, MatrixValue):
                    equal = accumulate(stager, equal, node, lambda one, two: conjunction(stager, one, two, node))
            result = conjunction(stager, result, equal, node)
        return result

    def require_alike(self, stager: Stager, wanted: StructType, node: ast.AST) -> None:
        """Check that it has the members of another type."""
        difference = difference_between(self.struct.kind, wanted)
        if difference is not None:
            stager.fail_type(node, f"{self.describe()} does not match {wanted}: {difference}")

    # --- parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        place = self.struct.kind.place(name)
        if place is not None:
            return self.members[place]
        if name == "keys":
            return Items(tuple(map(Static, self.struct.kind.keys)), is_list=True)
        method = self.struct.method(stager, name, self, node)
        return super().attribute(stager, name, node) if method is None else method

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        """`s["a"]`."""
        if not isinstance(index, Static) or not isinstance(index.value, str):
            stager.fail_type(node, f"the index of {self.describe()} must be a member name known at compile time")
        attribute = ast.copy_location(ast.Attribute(node.value, index.value, ast.Load()), node)
        return self.attribute(stager, index.value, attribute)

    def member_names(self) -> tuple[str, ...]:
        return (*self.struct.kind.keys, *self.struct.kind.methods)

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        if node.attr in self.struct.kind.methods:
            return "a struct passed as a dict has no methods: pass one made by its type"
        return f"its members are {', '.join(self.member_names())}"

    def current(self, stager: Stager, node: ast.AST) -> Staged:
        return StructValue(self.struct, tuple(member.current(stager, node) for member in self.members))

    def kept(self, stager: Stager, node: ast.AST) -> Staged:
        return StructValue(self.struct, tuple(member.kept(stager, node) for member in self.members))

    # --- as a variable, an argument, a result

    def ir_values(self) -> tuple[Value, ...]:
        return tuple(value for member in self.members for value in member.ir_values())

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return StructValue(self.struct, tuple(member.rebuild(values) for member in self.members))

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        members = tuple(member.specialization_key(stager, node) for member in self.members)
        return ("struct", self.struct.specialization_key(stager, node), members)

    def as_argument(self, stager: Stager, node: ast.AST) -> Staged:
        return StructValue(self.struct, tuple(member.as_argument(stager, node) for member in self.members))

    def is_like(self, other: Staged) -> bool:
        return isinstance(other, StructValue) and difference_between(self.struct.kind, other.struct.kind) is None

    def result_shape(self, numbers: Iterator[int]) -> ResultShape:
        return StructResult(self.struct.kind.plain_key(), tuple(member.result_shape(numbers) for member in self.members))

    # --- Python objects

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        message = "a plain Python function runs at compile time and cannot be passed a struct"
        stager.fail(node, message, "pass the members it needs")

    def fail_as_number(self, stager: Stager, node: ast.AST) -> NoReturn:
        stager.fail_type(node, f"expected a number, got {self.describe()}", self.advice)


def conjunction(stager: Stager, one: Staged, other: Staged, node: ast.AST) -> Staged:
    """`one and other` for two staged conditions."""
    for side, rest in ((one, other), (other, one)):
        known = side.truth(stager)
        if known is not None:
            return rest if known else Static(False)
    return Scalar(stager.emit("and", u1, (truth(stager, one, node), truth(stager, other, node))))


def difference_between(one: StructType, other: StructType) -> str | None:
    """How the members of two types differ; None if they are the same."""
    if one is other:
        return None
    if one.keys != other.keys:
        return f"its members are {', '.join(one.keys)}, not {', '.join(other.keys)}"
    for (name, mine, _), (_, its, _) in zip(one.members, other.members, strict=True):
        if isinstance(mine, StructType) and isinstance(its, StructType):
            difference = difference_between(mine, its)
            if difference is not None:
                return f"in `{name}`, {difference}"
        elif shape_of(mine) != shape_of(its):
            return f"`{name}` is {mine}, not {its}"
    return None


def shape_of(kind: Any) -> tuple[int, ...] | None:
    """The shape of a member: () for a number, None for a struct."""
    return None if isinstance(kind, StructType) else kind.shape if isinstance(kind, MatrixType) else ()


