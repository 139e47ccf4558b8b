"""Arguments of the functions of Quadrants can be given by the names that they have there."""

import inspect
from pathlib import Path

import pytest

import samovar.compat.quadrants as qd

LINES = (Path(__file__).parents[2] / "docs" / "names" / "parameters.txt").read_text().splitlines()


def names_of(function):
    """The names by which a function takes arguments, None if it takes any."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return None
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return None
    return {each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}


def found(path):
    value = qd
    for part in path.split("."):
        value = getattr(value, part, None)
    return value


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split()[0])
def test_the_names_are_here(line):
    path, *wanted = line.split()
    value = found(path)
    if value is None:
        return
    names = names_of(value)
    assert names is None or set(wanted) <= names
