"""Guard programs are written in Python and compiled in C: what the one writes, the other knows."""

import ast
from pathlib import Path

from samovar import _native
from samovar.runtime import guard_operands, guards

TREE = ast.parse(Path(guards.__file__).read_text())
#: What `OperandResolver` gives itself.
RESOLVED = {"again", "callee", "key", "probes", "seen", *guard_operands._OPERANDS}


def first_words(*functions):
    """The first argument of calls of some methods, where it is written out."""
    return {
        node.args[0].value
        for node in ast.walk(TREE)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in functions
        and node.args
        and isinstance(node.args[0], ast.Constant)
    }


def loads():
    """The names of instructions that the methods which choose a load give."""
    methods = [node for node in ast.walk(TREE) if isinstance(node, ast.FunctionDef) and node.name.startswith("load")]
    returns = [node.value for method in methods for node in ast.walk(method) if isinstance(node, ast.Return)]
    return {
        node.elts[0].value for node in returns if isinstance(node, ast.Tuple) and isinstance(node.elts[0], ast.Constant)
    }


def marks():
    """The words of operands that are put in later: of `bound`, and of tuples that begin with an ellipsis."""
    tuples = (node.elts for node in ast.walk(TREE) if isinstance(node, ast.Tuple) and len(node.elts) > 1)
    written = {
        parts[1].value
        for parts in tuples
        if isinstance(parts[0], ast.Constant) and parts[0].value is ... and isinstance(parts[1], ast.Constant)
    }
    return first_words("bound") | written


def test_every_instruction_that_is_written_has_a_form():
    written = first_words("emit") | loads()
    assert len(written) > 20
    assert written - _native.guard_formats().keys() == set()


def test_every_form_is_written():
    assert _native.guard_formats().keys() - first_words("emit") - loads() == set()


def test_every_operand_that_is_put_in_is_known_to_one_of_the_two():
    parts = {*_native.guard_parts()}
    assert len(marks()) > 8
    assert marks() - parts - RESOLVED == set()
    assert parts & RESOLVED == set()
    assert RESOLVED - marks() == set()
