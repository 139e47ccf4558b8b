"""Dicts written in a kernel: compile-time keys, and values of any kind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, Any

from samovar.frontend.dispatch import call_value
from samovar.frontend.rules import bind
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.static import Static
from samovar.lens import shown

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager
    from samovar.ir import Value


class Table(Staged):
    """An immutable dict."""

    __slots__ = ("entries",)

    advice_for_loop = "unroll it at compile time: `for key in sv.static(table)`"

    def __init__(self, entries: dict[Any, tuple[Staged, Staged]]) -> None:
        self.entries = entries  # Python's key → staged key and value

    def describe(self) -> str:
        return "a dict"

    def truth(self, stager: Stager) -> bool | None:
        return bool(self.entries)

    # --- parts

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        found = self.find(stager, index, node)
        if found is None:
            keys = ", ".join(shown(key) for key in self.entries) or "none"
            assert isinstance(index, Static)
            stager.fail_type(node, f"this dict has no key {shown(index.value)}", f"its keys are {keys}")
        return found

    def find(self, stager: Stager, key: Staged, node: ast.AST) -> Staged | None:
        """The value for a key; None if there is none."""
        found = self.entries.get(key_value(stager, key, node))
        return None if found is None else found[1]

    def length(self, stager: Stager, node: ast.AST) -> Staged:
        return Static(len(self.entries))

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        return tuple(key for key, _ in self.entries.values())

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        return TableMethod(self, name) if name in METHODS else super().attribute(stager, name, node)

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        return f"its methods are {', '.join(METHODS)}"

    def with_values(self, values: Iterator[Staged]) -> Table:
        return Table({key: (own, next(values)) for key, (own, _) in self.entries.items()})

    def values(self) -> tuple[Staged, ...]:
        return tuple(value for _, value in self.entries.values())

    # --- run-time values

    def ir_values(self) -> tuple[Value, ...]:
        return tuple(each for value in self.values() for each in value.ir_values())

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return self.with_values(value.rebuild(values) for value in self.values())

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("table", tuple(self.entries), tuple(value.specialization_key(stager, node) for value in self.values()))

    def current(self, stager: Stager, node: ast.AST) -> Staged:
        return self.with_values(value.current(stager, node) for value in self.values())

    def kept(self, stager: Stager, node: ast.AST) -> Staged:
        return self.with_values(value.kept(stager, node) for value in self.values())

    # --- Python objects


def key_value(stager: Stager, key: Staged, node: ast.AST) -> Any:
    """The Python value by which a dict finds a key."""
    if isinstance(key, Items):
        return tuple(key_value(stager, item, node) for item in key.items)
    if not isinstance(key, Static):
        stager.fail_type(node, f"the key of a dict must be known at compile time, not {key.describe()}")
    return key.value


# --- methods


class TableMethod(Staged):
    """A bound method of a dict."""

    __slots__ = ("name", "table")

    advice = "call it"

    def __init__(self, table: Table, name: str) -> None:
        self.table = table
        self.name = name

    def describe(self) -> str:
        return f"the method `{self.name}` of a dict"


def keys_of(stager: Stager, table: Table, given: Any, node: ast.Call) -> Staged:
    return Items(table.sequence(stager, node))


def values_of(stager: Stager, table: Table, given: Any, node: ast.Call) -> Staged:
    return Items(table.values())


def pairs_of(stager: Stager, table: Table, given: Any, node: ast.Call) -> Staged:
    return Items(tuple(Items(pair) for pair in table.entries.values()))


def value_or_default(stager: Stager, table: Table, given: Any, node: ast.Call) -> Staged:
    found = table.find(stager, given[0], node)
    if found is not None:
        return found
    default: Staged = given[1] if len(given) > 1 else Static(None)
    return default


METHODS: dict[str, tuple[str, Callable[[Stager, Table, Any, ast.Call], Staged]]] = {
    "get": ("key default?", value_or_default),
    "items": ("", pairs_of),
    "keys": ("", keys_of),
    "values": ("", values_of),
}


@call_value.register(TableMethod)
def call_method(method: TableMethod, stager: Stager, node: ast.Call) -> Staged:
    parameters, apply = METHODS[method.name]
    return apply(stager, method.table, bind(stager, node, parameters).values, node)
