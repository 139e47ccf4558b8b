"""The text of a function is compared with the loaded code without the rest of its file, where Python lets it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import FunctionType, ModuleType

import pytest

from samovar.errors import SamovarSyntaxError
from samovar.lens import source
from samovar.lens.source import function_source

TEXT = """\
from __future__ import annotations

import math
import math as other
from os import path
from dataclasses import dataclass

def plain(a, b: int = 3):
    return a + b * 2.5

def decorate(function):
    return function

@decorate
@decorate
def calling(x: sometype):
    y = math.sin(x) + other.cos(path.count(x))
    return [math.floor(each) for each in y.split()] if y else None

async def waiting(x):
    return await x

class Box:
    def method(self):
        return self.__hidden + math.pi

def outer(x):
    def inner(y):
        return x + y
    return inner

if True:
    def under(x):
        return x.real(3)
"""


def loaded(path: Path, text: str) -> ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_compiled_whole(function: FunctionType) -> bool:
    source._COMPILED.clear()
    source._NOT_ALONE.clear()
    assert function_source(function).node.name == function.__name__
    return bool(source._COMPILED)


def test_a_function_at_the_top_of_a_file_is_compared_alone(tmp_path: Path) -> None:
    module = loaded(tmp_path / "texts.py", TEXT)
    assert not is_compiled_whole(module.plain)
    assert not is_compiled_whole(module.outer)
    # In a class, in a function, and under an `if`, the rest of the file counts.
    assert is_compiled_whole(module.Box.method)
    assert is_compiled_whole(module.outer(1))
    assert is_compiled_whole(module.under)


def test_modules_are_known_by_their_imports(tmp_path: Path) -> None:
    text = TEXT.replace("path.count(x)", "x")
    assert not is_compiled_whole(loaded(tmp_path / "modules.py", text).calling)


def test_a_file_that_is_broken_elsewhere_still_has_the_text_of_a_function(tmp_path: Path) -> None:
    module = loaded(tmp_path / "broken.py", TEXT)
    (tmp_path / "broken.py").write_text(TEXT + "\n\ndef (:\n")
    source._NOT_ALONE.clear()
    assert function_source(module.plain).node.name == "plain"


@pytest.mark.parametrize(
    ("old", "new"), [("b * 2.5", "b * 2.25"), ("a + b", "b + a"), ("def plain", "\ndef plain"), ("def plain", "def other")]
)
def test_another_text_is_not_that_of_the_function(tmp_path: Path, old: str, new: str) -> None:
    module = loaded(tmp_path / "edited.py", TEXT)
    (tmp_path / "edited.py").write_text(TEXT.replace(old, new))
    source._NOT_ALONE.clear()
    with pytest.raises(SamovarSyntaxError, match="does not match the loaded code"):
        function_source(module.plain)
