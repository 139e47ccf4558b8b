"""What small programs of one behavior each do: a value, or an error. Recorded on Quadrants, compared on Samovar.

    path/to/python tests/compat/outcomes.py          runs them on Quadrants, which that Python has, and keeps what they do

A program is a function in a file of `behaviors`; its kernels use what the file imports as `quadrants`.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
RECORDED = HERE / "behaviors.json"
TOLERANCE = 2e-5


def load(path: Path, library: ModuleType) -> ModuleType:
    """A file of programs, for which a library is Quadrants."""
    spec = importlib.util.spec_from_file_location(f"behaviors_{path.stem}", path)
    assert spec is not None and spec.loader is not None  # noqa: PT018
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get("quadrants")
    sys.modules["quadrants"] = library
    try:
        spec.loader.exec_module(module)
    finally:
        if before is None:
            del sys.modules["quadrants"]
        else:
            sys.modules["quadrants"] = before
    return module


def programs(module: ModuleType) -> list[str]:
    """The names of the programs in a file: of the functions without parameters."""
    own = [(name, each) for name, each in vars(module).items() if getattr(each, "__module__", None) == module.__name__]
    return [name for name, each in own if callable(each) and not inspect.signature(each).parameters]


def plain(value: Any) -> Any:
    """A value as JSON has it. Which kind of number or array it is does not count."""
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else type(value).__name__


def outcome(program: Any) -> dict[str, Any]:
    """What a program gives back, or the classes of the error that it ends with, without the name of the library in them."""
    try:
        return {"value": plain(program())}
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return {"error": [name.replace("Quadrants", "").replace("Samovar", "") for name in kinds]}


def agrees(expected: Any, found: Any) -> bool:
    """Are two values the same, floats to a tolerance?"""
    if isinstance(expected, list):
        return isinstance(found, list) and len(expected) == len(found) and all(map(agrees, expected, found))
    if isinstance(expected, dict):
        if not isinstance(found, dict) or expected.keys() != found.keys():
            return False
        return all(agrees(expected[key], found[key]) for key in found)
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return abs(expected - found) <= TOLERANCE * max(abs(expected), abs(found)) + 1e-9
    return bool(expected == found)


def main() -> None:
    import quadrants

    found = {}
    for path in sorted((HERE / "behaviors").glob("*.py")):
        module = load(path, quadrants)
        for name in programs(module):
            found[f"{path.stem}.{name}"] = outcome(getattr(module, name))
    lines = [f"{json.dumps(name)}: {json.dumps(each)}" for name, each in found.items()]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
