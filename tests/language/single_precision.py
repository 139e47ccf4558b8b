"""The linear algebra library in the precision of f32, operation by operation.

In plain Python its functions compute with doubles between the entries that they read and write; a kernel does not. Here
numbers that are read from matrices of f32 are NumPy's, which stay f32 in arithmetic with each other and with literals.
"""

from __future__ import annotations

import importlib
import pkgutil

import numpy as np

import samovar as sv
from samovar.values import linear_algebra

MODULES = [
    importlib.import_module(f"{linear_algebra.__name__}.{module.name}")
    for module in pkgutil.iter_modules(linear_algebra.__path__)
]
#: Functions of numbers that modules of the library use, by the names that they have there.
NAMES = "sqrt rsqrt abs fma max min copysign hypot cbrt cos acos atan2"
FUNCTIONS = {getattr(sv, name, None) or getattr(sv.math, name) for name in NAMES.split()}


def narrow(result):
    return np.float32(result) if isinstance(result, float) else result


def use_single_precision(monkeypatch) -> None:
    """Until the end of a test, what is read from a matrix of f32 is an f32."""

    def narrowed(function, when=lambda self: self.dtype is sv.f32):
        def read(self, *arguments):
            result = function(self, *arguments)
            return narrow(result) if when(self) else result

        return read

    for name in ("__getitem__", "sum", "min", "max"):
        monkeypatch.setattr(sv.Matrix, name, narrowed(getattr(sv.Matrix, name)))
    monkeypatch.setattr(sv.Vector, "__getattr__", narrowed(sv.Vector.__getattr__))
    for module in MODULES:
        for name, value in list(vars(module).items()):
            if callable(value) and value in FUNCTIONS:
                monkeypatch.setattr(module, name, _single(value))


def _single(function):
    def call(*arguments):
        result = function(*arguments)
        return np.float32(result) if any(isinstance(argument, np.float32) for argument in arguments) else result

    return call
