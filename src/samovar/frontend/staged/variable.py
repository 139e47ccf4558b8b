"""Local variables: places that names mean, and references to them that funcs may change."""

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
    from samovar.frontend.stager import Meaning, Stager


class Variable(Place):
    """A local variable, which holds a scalar."""

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
        """A value in the type that the variable already has."""
        return kept(stager, value, self.local.type, node, Keeper(f"`{name}`", "assigning", self.local))

    def store_value(self, stager: Stager, value: Value) -> None:
        stager.emit("store_local", None, (value,), self.local)

    def assign(
        self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None
    ) -> None:
        if annotated is not None and annotated is not self.type:
            stager.fail_type(node, f"`{name}` is {self.type.name} already and cannot become {annotated.name}")
        if self.is_shared(stager):
            assign_shared(stager, name, self.local, value, node)
        else:
            self.store_value(stager, self.converted(stager, value, name, node))

    def update(self, stager: Stager, code: str, values: tuple[Value, ...]) -> Operation:
        if self.is_shared(stager):
            gather(stager, self.local)
        return stager.emit("atomic", self.local.type, values, Atomic(code, self.local))


def first_number(stager: Stager, value: Staged, target: ast.Name, annotated: DType | None) -> Meaning:
    """What a name means that a number is the first value of. It decides the type."""
    name = target.id
    birthplace = (stager.staged_as, name, target.lineno, target.col_offset)
    is_plain = annotated is None and not value.is_run_time()
    dtype = annotated or (stager.context.widened.get(birthplace) if is_plain else None) or value.type(stager, target)
    run_time = value.as_stored(stager, dtype, target)
    if name in stager.once:
        return Scalar(run_time)
    hint = stager.hints.get(name)
    variable = hint if isinstance(hint, Variable) else Variable(stager.new_local(name, dtype))
    if is_plain and variable is not hint:
        stager.context.births[variable.local] = birthplace
    if variable.type is not dtype:
        run_time = variable.converted(stager, value, name, target)
    variable.store_value(stager, run_time)
    return variable


class Reference(Staged):
    """A variable of the caller that a func may change: it gets the present value, and gives the new one back."""

    __slots__ = ("present", "variable")

    def __init__(self, variable: Place, present: Staged) -> None:
        self.variable = variable
        self.present = present

    def ir_values(self) -> tuple[Value, ...]:
        return self.present.ir_values()

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return self.present.rebuild(values)

    def form(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("reference", self.present.form(stager, node))
