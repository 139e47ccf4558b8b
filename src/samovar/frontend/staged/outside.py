"""User objects that are not values of the language: read through the lens, or called at compile time."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from samovar import errors
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.static import Slice, Static, pick
from samovar.lens import EnumValue, Kind, Ref, shown

if TYPE_CHECKING:
    from samovar.frontend.staged.space import Space
    from samovar.frontend.stager import Stager


#: The length limit of lists and tuples with run-time indices: each iteration would copy a longer one.
LONGEST_INDEXED = 64


#: The classes of nodes of fields, which loops run over.
NODES = ("samovar.runtime.dense_trees.Node", "samovar.runtime.field_nodes.PlaceOfField")


class Outside(Staged):
    """A user object that is not a value of the language: it can only be read through, or called inside `static`."""

    __slots__ = ("kind", "ref")

    advice = "only numbers, enums, dtypes, strings, arrays, tuples and funcs can be used in a kernel"

    def __init__(self, ref: Ref, kind: Kind) -> None:
        self.ref = ref
        self.kind = kind

    def describe(self) -> str:
        kinds = {Kind.MAPPING: "dict", Kind.KERNEL: "kernel", Kind.MODULE: "module"}
        if self.kind is Kind.SEQUENCE:
            return f"the {'list' if self.ref.is_list() else 'tuple'} `{self.ref.spelled}`"
        return f"the {kinds.get(self.kind, 'Python object')} `{self.ref.spelled}`"

    def is_unrolled(self) -> bool:
        return self.kind in (Kind.SEQUENCE, Kind.MAPPING)

    def as_operand(self, stager: Stager, node: ast.AST) -> Staged:
        if self.kind is not Kind.SEQUENCE:
            return self
        return Items(self.sequence(stager, node), is_list=self.ref.is_list())

    # --- parts

    def attribute(self, stager: Stager, name: str, node: ast.AST) -> Staged:
        known = stager.attributes.get((self.ref, name))
        if known is not None:
            return known
        found = self.ref.attribute(name)
        if found.kind() is Kind.ABSENT:
            what = f"`{self.ref.spelled}`" + (f" (a {self.ref.type_name()})" if self.kind is Kind.OBJECT else "")
            advice = self.ref.advice_for_absent(name)
            stager.fail(node, f"{what} has no attribute `{name}`", advice, errors.SamovarCompilationError)
        opened = stager.open(found, node)
        if isinstance(opened, Outside) or found in stager.arrays:  # the same everywhere
            stager.attributes[self.ref, name] = opened
        return opened

    def gathers(self) -> bool:
        return self.kind is Kind.OBJECT and self.has_attribute("add_at")

    def has_attribute(self, name: str) -> bool:
        return self.ref.attribute(name).kind() is not Kind.ABSENT

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        if self.kind is Kind.OBJECT and stager.static_depth:
            sides = (each.as_outside_argument(stager, node) for each in (self, index))
            return stager.open(stager.context.lens.operate("getitem", *sides), node)
        if self.kind not in (Kind.SEQUENCE, Kind.MAPPING):
            return super().subscript(stager, index, node)
        if isinstance(index, Slice):
            return Items(pick(stager, self, self.sequence(stager, node), index, node), is_list=self.ref.is_list())
        if not isinstance(index, Static):
            picked = self.at_run_time(stager, index, node)
            if picked is not None:
                return picked
            stager.fail_type(
                node,
                f"{self.describe()} exists only at compile time, so its index must be known at compile time",
                "loop over it, `for x in values`, or copy the values into an array",
            )
        return self.item(stager, index.value, node)

    def at_run_time(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged | None:
        """An element of a short list or tuple of numbers at a run-time index; None for others."""
        from samovar.frontend.staged.matrix import as_matrix

        if self.kind is not Kind.SEQUENCE or not index.is_number() or self.ref.length() > LONGEST_INDEXED:
            return None
        vector = as_matrix(stager, self.as_operand(stager, node), node)
        return None if vector is None else vector.subscript(stager, index, node)

    def item(self, stager: Stager, key: Any, node: ast.AST) -> Staged:
        if self.kind is Kind.SEQUENCE:
            key = key.value if isinstance(key, EnumValue) else key
            length = self.ref.length()
            if not isinstance(key, int) or not -length <= key < length:
                stager.fail_type(node, f"index {shown(key)} is out of bounds: `{self.ref.spelled}` has {length} elements")
            key %= length
        item = self.ref.item(key)
        if item.kind() is Kind.ABSENT:
            stager.fail_type(node, f"`{self.ref.spelled}` has no key {shown(key)}")
        return stager.open(item, node)

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        if self.kind is Kind.SEQUENCE:
            values = self.ref.values()
            if values is not None:
                return tuple(self.long_element(position, value) for position, value in enumerate(values))
            return tuple(stager.open(self.ref.item(position), node) for position in range(self.ref.length()))
        if self.kind is Kind.MAPPING:
            keys = self.ref.keys()
            return tuple(Static(key) for key in keys)
        if self.kind is Kind.OBJECT and self.ref.is_instance("samovar.language.functions.ndrange"):
            return self.space(stager, node).sequence(stager, node)
        return super().sequence(stager, node)

    def long_element(self, position: int, value: Any) -> Static:
        """An element of a long sequence. Plain functions can get a number of a special type through its origin."""
        return Static(value[1], self.ref.item(position)) if isinstance(value, tuple) else Static(value)

    def tree_node(self) -> Ref | None:
        return self.ref if self.kind is Kind.OBJECT and any(map(self.ref.is_instance, NODES)) else None

    def length(self, stager: Stager, node: ast.AST) -> Staged | None:
        if self.kind in (Kind.SEQUENCE, Kind.MAPPING):
            return Static(self.ref.length())
        if self.kind is Kind.OBJECT and stager.static_depth:
            return stager.open(stager.context.lens.operate("len", self.as_outside_argument(stager, node)), node)
        return None

    def space(self, stager: Stager, node: ast.AST) -> Space:
        """The space of an `ndrange` that Python created, or the cells of a node."""
        from samovar.frontend.staged.node import Node
        from samovar.frontend.staged.space import Axis, Space

        if self.kind is Kind.OBJECT and self.ref.is_instance("samovar.language.functions.ndrange"):
            bounds, order = (Outside(self.ref.attribute(name), Kind.SEQUENCE) for name in ("bounds", "axes"))
            axes = tuple(Axis(*pair.sequence(stager, node)) for pair in bounds.sequence(stager, node))
            places = tuple(int(each.number() or 0) for each in order.sequence(stager, node))
            return Space(axes, order=places, tuple_of_axes=len(axes) != 1)
        if self.tree_node() is not None:
            return Node(self.ref).space(stager, node)
        return super().space(stager, node)

    # --- Python objects

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("outside", self.ref.path)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        if self.kind is Kind.OBJECT:
            self.ref.give()
        return self.ref

    def is_opaque(self) -> bool:
        return self.kind is Kind.OBJECT

    def compared_object(self) -> Any:
        """The object that Python compares inside `static`: it is then used as a value."""
        self.ref.opaque()
        return self.ref


class Inherited(Staged):
    """`super()`: the attributes of a method's base classes for the object in its first parameter."""

    __slots__ = ("cls", "owner")

    def __init__(self, owner: Ref, cls: Ref) -> None:
        self.owner = owner
        self.cls = cls

    def describe(self) -> str:
        return "`super()`"

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        found = self.owner.inherited(self.cls, name)
        if found.kind() is Kind.ABSENT:
            message = f"no base class of `{self.owner.spelled}` has an attribute `{name}`"
            stager.fail(node, message, None, errors.SamovarCompilationError)
        return stager.open(found, node)
