"""Staged values are asked to do things, and not which kind they are: no function tells several kinds apart."""

import ast
from pathlib import Path

import pytest

import samovar.frontend

ROOM = Path(samovar.frontend.__file__).parent
KINDS = {
    node.name
    for path in (ROOM / "staged").glob("*.py")
    for node in ast.walk(ast.parse(path.read_text()))
    if isinstance(node, ast.ClassDef)
} - {"Staged", "Place"}
FILES = [path for path in sorted(ROOM.glob("*.py")) if path.name != "__init__.py"]


def kinds_told_apart(function: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            found |= {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)} & KINDS
    return found


def ladders(text: str) -> list[str]:
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return [function.name for function in functions if len(kinds_told_apart(function)) > 1]


def test_there_are_kinds():
    assert {"Scalar", "Static", "Items", "Tensor", "Intrinsic", "Callee", "Outside", "Space", "Forced", "Reference"} <= KINDS


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_function_outside_of_the_kinds_tells_them_apart(path):
    assert ladders(path.read_text()) == []


def test_a_ladder_is_found():
    text = "def f(x):\n    if isinstance(x, Items):\n        return 1\n    return isinstance(x, (Static, int))\n"
    assert ladders(text) == ["f"]
