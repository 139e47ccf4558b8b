"""The module `_test_tools` of Quadrants and Taichi: kernels from text, structs from types, one-time warnings."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import sys
import tempfile
from pathlib import Path

import samovar
from samovar.runtime import current_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: The extent of each dimension of created arrays.
_EXTENT = 10


def init_same_arch(**options: Any) -> None:
    """Set options without changing the architecture."""
    samovar.init(**{**options, "arch": str(current_options().arch)})


def dedent(indent_size: int, v: str) -> str:
    """Remove the first characters of each line."""
    return "\n".join(line[indent_size:] for line in v.split("\n"))


def import_kernel_from_file(kernel_filepath: Path, kernel_name: str) -> Any:
    """Import a file and return the object with a name."""
    spec = importlib.util.spec_from_file_location(kernel_name, kernel_filepath)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[kernel_name] = module
    spec.loader.exec_module(module)
    return getattr(module, kernel_name)


@contextlib.contextmanager
def load_kernel_from_string(kernel_str: str, kernel_name: str) -> Iterator[Any]:
    """A context with a kernel that is defined by text."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / f"{kernel_name}.py"
        path.write_text(kernel_str)
        try:
            yield import_kernel_from_file(path, kernel_name)
        finally:
            sys.modules.pop(kernel_name, None)


def _made(annotation: Any) -> Any:
    """Create a value for a parameter or a member of this type."""
    if dataclasses.is_dataclass(annotation):
        return build_struct(annotation)
    if annotation is samovar.Template or type(annotation) is samovar.Template:
        return samovar.field(samovar.i32, (_EXTENT,))
    return samovar.ndarray(annotation.dtype, (_EXTENT,) * annotation.ndim)


def build_struct(struct_type: Any) -> Any:
    """Create a dataclass object with arrays."""
    return struct_type(**{each.name: _made(each.type) for each in dataclasses.fields(struct_type)})


def build_obj_tuple_from_type_dict(name_to_type: dict[str, Any]) -> tuple[Any, ...]:
    """Create a value for each of several types."""
    return tuple(_made(each) for each in name_to_type.values())


def warn_once(message: str) -> None:
    """Issue a warning once."""
    if message not in SEEN:
        SEEN.add(message)
        import warnings

        warnings.warn(message, stacklevel=2)


SEEN: set[str] = set()
#: Module of `_test_tools` → its names.
MODULES: dict[str, dict[str, Any]] = {
    "": {"qd_init_same_arch": init_same_arch, "ti_init_same_arch": init_same_arch},
    "dataclass_test_tools": {each.__name__: each for each in (build_obj_tuple_from_type_dict, build_struct)},
    "load_kernel_string": {each.__name__: each for each in (import_kernel_from_file, load_kernel_from_string)},
    "textwrap2": {"dedent": dedent},
    "warnings_helper": {"_seen": SEEN, "warn_once": warn_once},
}
