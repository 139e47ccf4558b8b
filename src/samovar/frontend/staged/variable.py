"""Local variables: places bound to names, and references to them that funcs may modify."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING

from samovar._native import DType
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.shared import assign_shared, gather
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.ir import Atomic, Local, Operation, Value

if TYPE_CHECKING:
    from samovar.frontend.stager import Stager


class Variable(Place):
    """A local variable that holds a scalar."""

    __slots__ = ("local",)

    def __init__(self, local: Local) -> None:
        self.local = local

    @property
    def type(self) -> DType:
        return self.local.type

    def locals(self) -> tuple[Local, ...]:
        return (self.local,)

    def load(self, stager: Stager) -> Staged:
        loaded = stager.emit("load_local", self.local.type, (), self.local)
        if self.is_shared(stager):
            stager.context.sharing.reads.append((loaded, stager))
        return Scalar(loaded)

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        self.store_value(stager, self.converted(stager, value, self.local.name, node))

    def converted(self, stager: Stager, value: Staged, name: str, node: ast.AST) -> Value:
        """A value converted to the variable's type."""
        return kept(stager, value, self.local.type, node, Keeper(f"`{name}`", "assigning", self.local))

    def store_value(self, stager: Stager, value: Value) -> None:
        stager.emit("store_local", None, (value,), self.local)

    def assign(
        self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None
    ) -> None:
        if annotated is not None and annotated is not self.type:
            stager.fail_signature(node, f"`{name}` is already {self.type.name} and cannot become {annotated.name}")
        if self.is_shared(stager):
            assign_shared(stager, name, self.local, value, node)
        else:
            self.store_value(stager, self.converted(stager, value, name, node))

    def update(self, stager: Stager, code: str, values: tuple[Value, ...]) -> Operation:
        if self.is_shared(stager):
            gather(stager, self.local)
        return stager.emit("atomic", self.local.type, values, Atomic(code, self.local))


class Reference(Staged):
    """A variable of the caller that a func may modify: it gets the current value and returns the new one."""

    __slots__ = ("present", "variable")

    def __init__(self, variable: Place, present: Staged) -> None:
        self.variable = variable
        self.present = present

    def ir_values(self) -> tuple[Value, ...]:
        return self.present.ir_values()

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return self.present.rebuild(values)

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("reference", self.present.specialization_key(stager, node))
