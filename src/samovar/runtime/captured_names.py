"""Rules about captured values: `fastcache=True`, `print_non_pure`,
`raise_on_templated_floats`."""

from __future__ import annotations

import sys
from types import ModuleType

from samovar.artifact import Notice
from samovar.errors import SamovarCompilationError
from samovar.lens import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from samovar.lens import Lens, Path
    from samovar.runtime.kernel import Kernel

#: The kinds that are values, not names of parts of the program.
_VALUES = (Kind.NONE, Kind.SCALAR, Kind.STRING, Kind.TENSOR, Kind.SEQUENCE, Kind.MAPPING, Kind.OBJECT)
#: Modules with constants that do not change.
_CONSTANT_MODULES = (
    "math", "numpy", "samovar", "samovar.math",
    *(f"samovar.compat.{peer}{inner}" for peer in ("quadrants", "taichi") for inner in ("", ".math")),
)  # fmt: skip


def check(kernel: Kernel, lens: Lens) -> tuple[Notice, ...]:
    """Apply the rules that depend on what a compile has read. Returns the notices for the kernel."""
    if lens.options.raise_on_templated_floats:
        for path in _baked_floats(lens):
            raise SamovarCompilationError(
                f"{kernel.__qualname__} would be specialized on the float {path} (raise_on_templated_floats)\n"
                "  help: pass it as an argument with a dtype, so that other values use the same code"
            )
    return _require_pure(kernel, lens) if kernel.state.fastcache else ()


def name_non_pure(kernel: Kernel) -> None:
    """Report once that a kernel is not declared pure, whether it is compiled or loaded."""
    state = kernel.state
    if not state.fastcache and "non-pure" not in state.warned:
        state.warned.add("non-pure")
        print(f"samovar: {kernel.__module__}.{kernel.__qualname__} is not declared with fastcache=True", file=sys.stderr)


def _require_pure(kernel: Kernel, lens: Lens) -> tuple[Notice, ...]:
    captured = dict(_captures(lens))
    named = [path for path, excuse in captured.items() if not excuse]
    if named:
        raise SamovarCompilationError(
            f"{kernel.__qualname__} is declared with fastcache=True, but captures {', '.join(map(str, named))}\n"
            "  help: pass it as an argument, or remove fastcache: captured values are part of the key in any case"
        )
    return tuple(
        Notice(
            f"{kernel.__qualname__} is declared with fastcache=True but captures {path}, which is treated as a constant"
            f" {excuse}"
        )
        for path, excuse in captured.items()
    )


def _captures(lens: Lens) -> Iterator[tuple[Path, str]]:
    """The captured values that a compile depended on, in kernels and funcs, and why each is treated as a constant ("" if it
    is not). The result of a captured function is not one, nor is an object of which only members are read.
    """
    kinds = {asked.path: asked.answer for asked in lens.trace if asked.question == "kind"}
    read_through = {path.parent for path in kinds}
    for path, kind in kinds.items():
        if kind in _VALUES and path not in read_through and not path.below_call():
            captured = _captured(lens, path)
            if captured is not None and not _is_constant(lens, captured):
                yield path, _excuse(lens, path, captured, kinds)


def _excuse(lens: Lens, path: Path, captured: Path, kinds: Mapping[Path, Kind]) -> str:
    """Why a captured value is treated as a constant. The rules are those of Quadrants."""
    inner: Path | None = path
    while inner is not None:
        if isinstance(inner.key, str) and inner.step != "item" and inner.key.isupper():
            return "because of its name"
        if kinds.get(inner) in (Kind.SEQUENCE, Kind.MAPPING):
            return "like everything in lists, tuples and dicts"
        inner = None if inner is captured else inner.parent
    return "because `static` asks for it" if path in lens.trace.in_static else ""


def _captured(lens: Lens, path: Path) -> Path | None:
    """The first object on a path from a captured name that is not a module; None if the path starts elsewhere.

    The default of a parameter is part of a declaration and is not captured.
    """
    found, inner = path, path
    while inner.step not in ("cell", "global"):
        if inner.parent is None or inner.step == "default":
            return None
        inner = inner.parent
        if type(lens.object_at(inner)) is not ModuleType:
            found = inner
    return found


def _is_constant(lens: Lens, path: Path) -> bool:
    """Whether it is a constant of a module with constants that do not change, read or imported from it."""
    value, parent = lens.object_at(path), path.parent
    owner = None if path.step != "attribute" or parent is None else lens.object_at(parent)
    if owner is not None:
        return type(owner) is ModuleType and owner.__name__ in _CONSTANT_MODULES
    modules = (vars(sys.modules[name]) for name in _CONSTANT_MODULES if name in sys.modules)
    if type(value) is float:  # under any name
        return any(each is value for names in modules for each in names.values())
    return any(path.key in names and names[path.key] is value for names in modules)


def _baked_floats(lens: Lens) -> Iterator[Path]:
    for asked in lens.trace:
        values = [asked.answer[1] if isinstance(asked.answer, tuple) and len(asked.answer) == 2 else asked.answer]
        if asked.question == "values":
            values = [each[1] if isinstance(each, tuple) else each for each in lens.follow(asked.path).values() or ()]
        if asked.question in ("value", "values", "call") and any(isinstance(value, float) for value in values):
            captured = _captured(lens, asked.path)
            if captured is None or not _is_constant(lens, captured):
                yield asked.path
