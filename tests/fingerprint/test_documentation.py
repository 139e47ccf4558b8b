"""Every public name has an example that runs, and the room needs nothing above it."""

from __future__ import annotations

import ast
import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import samovar.fingerprint

MODULES = sorted(module.name for module in pkgutil.iter_modules(samovar.fingerprint.__path__))


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_the_module_run(name):
    assert doctest.testmod(importlib.import_module(f"samovar.fingerprint.{name}")).failed == 0


def test_every_public_name_is_explained_in_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "fingerprint.md").read_text()
    named_otherwise = {"Deconstructor", "Difference", "Fingerprinter"}
    missing = [name for name in samovar.fingerprint.__all__ if name not in text and name not in named_otherwise]
    assert missing == []


@pytest.mark.parametrize("name", MODULES)
def test_room_imports_little_beside_itself_and_the_standard_library(name):
    path = Path(samovar.fingerprint.__file__).parent / f"{name}.py"
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    ours = {
        (node.module, alias.name)
        for node in imports
        for alias in node.names
        if (node.module or "").startswith("samovar")
    }
    assert all(
        module.startswith(("samovar.fingerprint", "samovar._native", "samovar.reflection", "samovar.version"))
        or (module, imported) == ("samovar", "_native")
        for module, imported in ours
    )
