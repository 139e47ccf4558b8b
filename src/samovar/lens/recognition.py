"""Tables of what is recognized by identity: classes whose instances have one kind, and the intrinsics.

Native code shares these tables, so a warm start loads little else of the lens: `questions`, which handles everything else,
is imported on demand.
"""

from __future__ import annotations

import builtins
import sys
from _functools import _lru_cache_wrapper, partial  # type: ignore[import-not-found]  # `functools` loads `collections`

from samovar import _HOMES as PUBLIC_NAMES
from samovar import _native
from samovar._native import BufferView, DType, Field, Ndarray, code_fingerprint
from samovar.language import Annotation, Declaration
from samovar.lens.answers import Kind
from samovar.reflection import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: Builtins that kernels support. Others are plain functions, to be called inside `static`.
BUILTINS = (
    "abs all any bool complex divmod enumerate float getattr hasattr int isinstance len list max min pow print range"
    " reversed round str sum super tuple zip"
).split()

#: Classes whose direct instances all have one kind.
EXACT_KINDS: tuple[tuple[type, Kind], ...] = (
    (Ndarray, Kind.TENSOR),
    (Field, Kind.TENSOR),
    (BufferView, Kind.TENSOR),
    (int, Kind.SCALAR),
    (float, Kind.SCALAR),
    (bool, Kind.SCALAR),
    (complex, Kind.COMPLEX),
    (str, Kind.STRING),
    (type(None), Kind.NONE),
    (ModuleType, Kind.MODULE),
    (DType, Kind.DTYPE),
    (tuple, Kind.SEQUENCE),
    (list, Kind.SEQUENCE),
    (dict, Kind.MAPPING),
)
_CALLABLES: tuple[type, ...] = (
    FunctionType,
    BuiltinFunctionType,
    MethodType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
    partial,
    _lru_cache_wrapper,
    staticmethod,
    _native.ApiBoundary,
)
#: The kind of instances of derived classes, by the identity of the base, which is never freed.
BASE_KINDS: dict[int, Kind] = {
    id(Declaration): Kind.FUNC,
    id(_native.Kernel): Kind.KERNEL,
    id(_native.BoundKernel): Kind.KERNEL,
    id(Annotation): Kind.ANNOTATION,
    id(ModuleType): Kind.MODULE,
    **{id(each): Kind.FUNCTION for each in _CALLABLES},
    id(tuple): Kind.SEQUENCE,
    id(list): Kind.SEQUENCE,
    id(dict): Kind.MAPPING,
    id(int): Kind.SCALAR,
    id(float): Kind.SCALAR,
    id(complex): Kind.COMPLEX,
    id(str): Kind.STRING,
}

#: The intrinsics by identity. The table keeps them alive, so their ids stay valid.
INTRINSICS: dict[int, tuple[Any, str]] = {
    id(value): (value, f"builtins.{name}") for name, value in vars(builtins).items() if name in BUILTINS
}
INTRINSICS[id(BufferView)] = (BufferView, "samovar.BufferView")
#: The modules that define further intrinsics. A program that has one has imported its module.
_LIBRARY = (
    *(f"language.{name}" for name in ("functions", "mathematics", "graph", "raw_arithmetic", "hints", "cells", "simt")),
    "language.derivative_rules",
    *(f"values.{name}" for name in ("matrices", "linear_algebra", "geometry", "complex_numbers", "structs")),
    *(f"values.{name}" for name in ("struct_arrays", "python_mathematics")),
)
#: Functions of the module `operator` that kernels support; others are plain functions.
_OPERATORS = (
    "abs add and_ eq floordiv ge gt inv invert le lshift lt matmul mod mul ne neg not_ or_ pos pow rshift sub truediv truth"
    " xor"
).split()
#: The modules that were not yet imported at the last check.
_NOT_IMPORTED = ["math", "cmath", "_operator", *(f"samovar.{name}" for name in _LIBRARY)]

#: Types whose objects compare equal only if identical.
_COMPARED_BY_IDENTITY = (type, BuiltinFunctionType, FunctionType)
#: Intrinsic → its name, for native code.
NATIVE_NAMES: dict[Any, str] = {
    value: name for value, name in INTRINSICS.values() if type(value) in _COMPARED_BY_IDENTITY
}

#: Code of functions whose source came from another process, by identity: files on this machine do not count.
CARRIED: set[int] = set()


def learn_intrinsics() -> None:
    """Register the intrinsics of modules that were imported since the last call."""
    for module in [name for name in _NOT_IMPORTED if name in sys.modules and is_imported(name)]:
        if module in ("math", "cmath"):
            # By their own names: module attributes may have been replaced or renamed.
            named = {
                f"{module}.{value.__name__}": value
                for value in vars(sys.modules[module]).values()
                if isinstance(value, BuiltinFunctionType) and value.__module__ == module
            }
        elif module == "_operator":
            found = vars(sys.modules[module])
            named = {f"operator.{name}": found[name] for name in _OPERATORS}
        else:
            named = sys.modules["samovar.language.functions"].REGISTRY
        if module == "samovar.values.matrices":
            BASE_KINDS[id(sys.modules[module].Matrix)] = Kind.MATRIX
        if module == "samovar.values.structs":
            BASE_KINDS[id(sys.modules[module].Struct)] = Kind.STRUCT
        if module == "samovar.values.struct_arrays":
            BASE_KINDS[id(sys.modules[module].StructArray)] = Kind.STRUCTS
        learn(named)
        if module in _NOT_IMPORTED:  # another thread may have registered it
            _NOT_IMPORTED.remove(module)


def is_imported(name: str) -> bool:
    """Whether a module is fully imported."""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


def learn(named: dict[str, Any]) -> None:
    """Register functions by their canonical names."""
    for name, value in list(named.items()):
        INTRINSICS[id(value)] = (value, name)
        if type(value) in _COMPARED_BY_IDENTITY:
            NATIVE_NAMES[value] = name


#: Modules whose public names are intrinsics, named as in the package: `samovar.NAME`.
_NAMED_BY_THE_PACKAGE = tuple(
    "language.functions language.mathematics language.hints language.raw_arithmetic values.matrices values.structs".split()
)


def unloaded_intrinsic(module: str, name: str) -> str | None:
    """Return the canonical name of an intrinsic of the package or of `samovar.math` without importing it, or None.

    >>> from samovar.lens.recognition import unloaded_intrinsic
    >>> unloaded_intrinsic("samovar", "Matrix"), unloaded_intrinsic("samovar", "kernel")
    ('samovar.Matrix', None)
    """
    if module == "samovar.math":
        if name in vars(sys.modules[module])["_FUNCTIONS"]:
            return f"samovar.math.{name}"
        is_tabled = name != "abs" and name in PUBLIC_NAMES["language.mathematics"].split()
        return f"samovar.{name}" if is_tabled else None
    is_known = module == "samovar" and any(name in PUBLIC_NAMES[home].split() for home in _NAMED_BY_THE_PACKAGE)
    return f"samovar.{name}" if is_known else None


def code_answer(function: FunctionType, locations: bool) -> tuple[Any, ...]:
    """Return the answer to the question `function`: a fingerprint of its code, and its name if `locations` matter."""
    digest = code_fingerprint(function.__code__, locations)
    return (digest, function.__qualname__) if locations else (digest,)
