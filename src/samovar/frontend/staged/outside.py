"""User objects that are no values of the language: read through the lens, or called at compile time."""

from __future__ import annotations

import ast
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from samovar import errors
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items, Slice, pick
from samovar.frontend.staged.static import Static
from samovar.lens import EnumValue, Kind, Ref, shown

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


#: A longer list or tuple belongs in an array: each iteration would have a copy of it.
LONGEST_INDEXED = 64


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

    # --- its parts

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
        if isinstance(opened, Outside) or found in stager.arrays:  # the same wherever it is written
            stager.attributes[self.ref, name] = opened
        return opened

    def gathers(self) -> bool:
        return self.kind is Kind.OBJECT and self.has_attribute("add_at")

    def has_attribute(self, name: str) -> bool:
        return self.ref.attribute(name).kind() is not Kind.ABSENT

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
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
                f"{self.describe()} is known at compile time, and so must be its index",
                "loop over it, `for x in values`, or copy the values into an array",
            )
        return self.item(stager, index.value, node)

    def at_run_time(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged | None:
        """An element of a short list or tuple of numbers by a run-time index, None where there is none."""
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
                stager.fail_type(node, f"index {shown(key)} is outside of `{self.ref.spelled}`, which has {length} elements")
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
        return super().sequence(stager, node)

    def long_element(self, position: int, value: Any) -> Static:
        """An element of a long sequence. A number of a type of its own can be asked for by plain functions."""
        return Static(value[1], self.ref.item(position)) if isinstance(value, tuple) else Static(value)

    def length(self, stager: Stager, node: ast.AST) -> Staged | None:
        if self.kind in (Kind.SEQUENCE, Kind.MAPPING):
            return Static(self.ref.length())
        if self.kind is Kind.OBJECT and stager.static_depth:
            return stager.open(stager.context.lens.operate("len", self.as_outside_argument(stager, node)), node)
        return None

    def call(self, stager: Stager, node: ast.Call) -> Staged:
        """A plain Python function runs at compile time inside `static`, and is compiled like a func elsewhere."""
        from samovar.frontend.plain_calls import compiled_plainly, is_of_library, makes_type, plain_arguments, refuse_call

        if self.kind is Kind.KERNEL:
            stager.fail_signature(
                node,
                f"{self.describe()} cannot be called in a kernel",
                "kernels are launched from Python: make it a `@sv.func`, which kernels and funcs can call",
            )
        if self.kind is Kind.FUNCTION:
            if not stager.static_depth and not makes_type(self.ref):
                if self.ref.is_written_in_python() and not is_of_library(self.ref):
                    return compiled_plainly(stager, self.ref, node).call(stager, node)
                refuse_call(stager, self.ref, node)
        elif self.ref.origin()[0].partition(".")[0] == "numpy":
            refuse_call(stager, self.ref, node)
        else:
            stager.fail_type(node, f"{self.describe()} cannot be called in a kernel")
        owner = self.ref.bound_object()
        if owner is not None:
            owner.whole()
        positional, keywords = plain_arguments(stager, node)
        return stager.open(self.ref.call(positional, keywords), node)

    # --- outside of the language

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("outside", self.ref.path)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        if self.kind is Kind.OBJECT:
            self.ref.give()
        return self.ref

    def is_opaque(self) -> bool:
        return self.kind is Kind.OBJECT

    def compared_object(self) -> Any:
        """What Python compares, inside `static`: the object is used as a value then."""
        self.ref.opaque()
        return self.ref

    def formatted(self, stager: Stager, conversion: str, form: str, node: ast.AST) -> str:
        from samovar.frontend.formatting import format_object

        return format_object(stager, self, conversion, form, node)


class Inherited(Staged):
    """`super()`: what the bases of a method's class give to the object in its first parameter."""

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
