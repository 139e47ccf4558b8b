"""Conversions: `int(x)`, `sv.cast`, `sv.bit_cast`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from samovar.frontend.complex_functions import make
from samovar.frontend.dispatch import call_value
from samovar.frontend.rules import Call, Rule, bind, dtype_argument, folded
from samovar.frontend.scalars import read
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.complex import cast_to
from samovar.frontend.staged.intrinsic import python_type
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.language import part_type


def python_cast(name: str, python: Callable[[Any], Any]) -> Rule:
    """int(x), float(x), bool(x): a compile-time number remains one."""

    def apply(stager: Stager, call: Call) -> Staged:
        known = folded(call.values, python)
        if known is not None:
            return known
        dtype = python_type(stager, name)
        assert dtype is not None
        return Scalar(call["x"].as_type(stager, dtype, call.node))

    return Rule(apply, "x", elementwise=True)


def cast(stager: Stager, call: Call) -> Staged:
    return cast_to(stager, call["obj"], dtype_argument(stager, call["dtype"], call.node), call.node)


def bit_cast(stager: Stager, call: Call) -> Staged:
    operand, source = call["obj"].scalar(stager, call.node), call["obj"].type(stager, call.node)
    dtype = dtype_argument(stager, call["dtype"], call.node)
    if dtype.bits != source.bits:
        stager.fail_type(
            call.node,
            f"`bit_cast` requires types of the same size, not {source.name} and {dtype.name}",
        )
    return Scalar(operand if dtype is source else stager.emit("bitcast", dtype, (operand,)))


@call_value.register(Static)
def call_dtype(value: Static, stager: Stager, node: ast.Call) -> Staged:
    """`sv.f64(x)`."""
    dtype = value.as_dtype(stager)
    if dtype is None:
        stager.fail_type(node, f"{value.describe()} cannot be called")
    if part_type(dtype) is not None:
        return cast_to(stager, make(stager, bind(stager, node, "real? imag?")), dtype, node)
    given = bind(stager, node, "x")["x"]
    if given.number() is None:  # it has a dtype and is converted as at run time
        return Scalar(read(stager, given.as_type(stager, dtype, node)))
    return Scalar(read(stager, given.as_stored(stager, dtype, node)))
