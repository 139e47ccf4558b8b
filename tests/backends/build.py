"""Kernels and functions whose body is written by a function, with the builder of all tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ir_builder import Builder
from samovar._native import DType
from samovar.ir.structure import Function, Kernel
from samovar.ir.values import Array, Local, Parameter

__all__ = ["Builder", "function", "kernel"]


def kernel(
    parameters: Sequence[Parameter | Array],
    build: Callable[[Builder], None],
    returns: Sequence[DType] = (),
    locals: Sequence[Local] = (),
    functions: Sequence[Function] = (),
    name: str = "kernel",
) -> Kernel:
    builder = Builder(returns=returns)
    build(builder)
    return Kernel(name, list(parameters), tuple(returns), builder.body, list(functions), list(locals), "test.py")


def function(
    name: str,
    parameters: Sequence[Parameter | Array],
    build: Callable[[Builder], None],
    returns: Sequence[DType] = (),
    locals: Sequence[Local] = (),
) -> Function:
    builder = Builder(returns=returns)
    build(builder)
    return Function(name, list(parameters), tuple(returns), builder.body, list(locals), "test.py")
