"""What it takes to move a program from Numba: imports and decorators, and for a few programs some lines more."""

from __future__ import annotations

import ast
import re
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"

#: Program → lines that have to change besides imports and decorators, as (before, after).
EDITS: dict[str, tuple[tuple[str, str], ...]] = {}

_IMPORT = re.compile(r"^from numba import .*$", re.MULTILINE)
_DECORATED = re.compile(r"^@njit(?:\((?P<options>.*)\))?\ndef (?P<name>\w+)", re.MULTILINE)


def names() -> list[str]:
    """Return all programs."""
    return sorted(path.stem for path in PROGRAMS.glob("*.py"))


def original(name: str) -> str:
    """Return the text of a program, for Numba."""
    return (PROGRAMS / f"{name}.py").read_text()


def ported(name: str) -> str:
    """Return the text of a program for Samovar: the function that Python calls is a kernel, the others are funcs."""
    text = original(name)
    main = re.search(r"^main = (\w+)$", text, re.MULTILINE)
    assert main is not None

    def decorated(found: re.Match[str]) -> str:
        options = [each for each in (found["options"] or "").split(", ") if each]
        if found["name"] != main[1]:
            return f"@func\ndef {found['name']}"
        if "parallel=True" not in options:
            options.insert(0, "serial=True")
        return f"@kernel({', '.join(options)})\ndef {found['name']}"

    text = _DECORATED.sub(decorated, text)
    used = [each for each in ("func", "kernel", "prange") if re.search(rf"\b{each}\(|@{each}\b", text)]
    text = _IMPORT.sub(f"from samovar import {', '.join(used)}", text)
    for before, after in EDITS.get(name, ()):
        assert before in text, (name, before)
        text = text.replace(before, after)
    return text


def plain(name: str) -> str:
    """Return the text of a program for plain Python."""
    return _DECORATED.sub(r"def \g<name>", _IMPORT.sub("prange = range", original(name)))


def decorated_functions(text: str) -> int:
    """Return the number of functions with a decorator."""
    return sum(bool(node.decorator_list) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
