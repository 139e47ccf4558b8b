"""What is recognised at sight: classes whose objects are of one kind, and the functions that the compiler knows.

Native code shares these tables, so that a warm start needs no more of the lens than this: `questions`, which asks about
everything else, is loaded when there is something else.
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

#: The builtins that have a meaning in kernels. The others are plain functions, to be called inside `static`.
BUILTINS = (
    "abs all any bool divmod enumerate float getattr hasattr int isinstance len list max min pow print range reversed round"
    " str sum super tuple zip"
).split()

#: Classes of which every direct instance is of one kind.
EXACT_KINDS: tuple[tuple[type, Kind], ...] = (
    (Ndarray, Kind.TENSOR),
    (Field, Kind.TENSOR),
    (BufferView, Kind.TENSOR),
    (int, Kind.SCALAR),
    (float, Kind.SCALAR),
    (bool, Kind.SCALAR),
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
    _native.Entrance,
)
#: What the objects of derived classes are, by the identity of the base, which is never freed.
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
    id(str): Kind.STRING,
}

#: The functions that the compiler knows, by identity. The table keeps them alive, so their ids stay theirs.
INTRINSICS: dict[int, tuple[Any, str]] = {
    id(value): (value, f"builtins.{name}") for name, value in vars(builtins).items() if name in BUILTINS
}
INTRINSICS[id(BufferView)] = (BufferView, "samovar.BufferView")
#: Where the others live. Whoever has one of them has imported the module.
_LIBRARY = (
    "functions", "mathematics", "graph", "matrices", "linear_algebra", "geometry", "complex_numbers", "raw_arithmetic",
    "structs", "struct_arrays", "hints", "simt", "python_mathematics",
)  # fmt: skip
#: Those that were not imported when it was last looked.
_NOT_IMPORTED = ["math", *(f"samovar.language.{name}" for name in _LIBRARY)]

#: Types whose objects are equal if they are the same.
_COMPARED_BY_IDENTITY = (type, BuiltinFunctionType, FunctionType)
#: Known function → its name, for native code.
NATIVE_NAMES: dict[Any, str] = {
    value: name for value, name in INTRINSICS.values() if type(value) in _COMPARED_BY_IDENTITY
}

#: The code of functions that came with their texts from another process, by identity: files say nothing about it.
CARRIED: set[int] = set()


def learn_intrinsics() -> None:
    """Add what modules that were imported meanwhile define."""
    for module in [name for name in _NOT_IMPORTED if name in sys.modules and is_imported(name)]:
        if module == "math":
            # By their own names: somebody may have put other functions there, or these under other names.
            named = {
                f"math.{value.__name__}": value
                for value in vars(sys.modules[module]).values()
                if isinstance(value, BuiltinFunctionType) and value.__module__ == "math"
            }
        else:
            named = sys.modules["samovar.language.functions"].REGISTRY
        if module == "samovar.language.matrices":
            BASE_KINDS[id(sys.modules[module].Matrix)] = Kind.MATRIX
        if module == "samovar.language.structs":
            BASE_KINDS[id(sys.modules[module].Struct)] = Kind.STRUCT
        if module == "samovar.language.struct_arrays":
            BASE_KINDS[id(sys.modules[module].StructArray)] = Kind.STRUCTS
        learn(named)
        if module in _NOT_IMPORTED:  # no other thread has learned it meanwhile
            _NOT_IMPORTED.remove(module)


def is_imported(name: str) -> bool:
    """Is a module there, and no thread in the middle of importing it?"""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


def learn(named: dict[str, Any]) -> None:
    """Add functions by their canonical names."""
    for name, value in list(named.items()):
        INTRINSICS[id(value)] = (value, name)
        if type(value) in _COMPARED_BY_IDENTITY:
            NATIVE_NAMES[value] = name


#: Modules whose public names are intrinsics, each called as the package has it: `samovar.NAME`.
_NAMED_BY_THE_PACKAGE = tuple(
    f"language.{name}" for name in ("functions", "mathematics", "matrices", "hints", "raw_arithmetic", "structs")
)


def unloaded_intrinsic(module: str, name: str) -> str | None:
    """The canonical name of an intrinsic that the package or `samovar.math` offers, known without loading it; else None.

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
    """The answer to the question `function`: what its code does, and where it is if `locations` count."""
    digest = code_fingerprint(function.__code__, locations)
    return (digest, function.__qualname__) if locations else (digest,)
