"""The text of a compile error: message, place, line, caret, advice, calls."""

import ast
import types

from samovar.errors import at


def source(text):
    return types.SimpleNamespace(file="k.py", name="step", lines=text.splitlines(keepends=True))


def node(text, kind):
    return next(each for each in ast.walk(ast.parse(text)) if isinstance(each, kind))


def test_everything_together():
    text = "def step(a):\n    x = a + 1\n"
    calls = [types.SimpleNamespace(function="main", file="m.py", line=7)]
    assert at(source(text), node(text, ast.BinOp), "cannot add", "write it otherwise", calls) == (
        "cannot add\n"
        "  --> k.py:2, in step\n"
        "    2 |     x = a + 1\n"
        "      |         ^^^^^\n"
        "  help: write it otherwise\n"
        "  called from main at m.py:7"
    )


def test_letters_that_take_several_bytes():
    text = "größe = 'ü' + nö\n"
    lines = at(source(text), node(text, ast.BinOp).right, "no").splitlines()
    assert lines[3].index("^") == lines[2].index("nö")
    assert lines[3].count("^") == 2


def test_tabs():
    text = "if 1:\n\tx = 1 + y\n"
    lines = at(source(text), node(text, ast.BinOp).right, "no").splitlines()
    assert lines[3].index("^") == lines[2].index("y")


def test_a_node_over_several_lines_is_marked_to_the_end_of_its_first():
    text = "x = f(1,\n      2)\n"
    lines = at(source(text), node(text, ast.Call), "no").splitlines()
    assert lines[3].count("^") == len("f(1,")


def test_a_line_number_has_no_caret():
    assert at(source("x = 1\n"), 1, "no").splitlines()[2:] == ["    1 | x = 1"]


def test_a_line_that_is_not_there():
    assert at(source(""), 99, "no") == "no\n  --> k.py:99, in step"
