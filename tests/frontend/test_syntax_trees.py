"""Syntax trees as other libraries leave them: nodes that CPython shares between all trees, with attributes hung on them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import samovar as sv
from samovar.frontend.syntax import walk

TEXT = """
def f(a, *b, c=1, **d):
    for i in range(3):
        x: int = -a[i] ** 2 if a and not b else [y for y in c if y < 1]
"""


def hang_parents(tree):
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node


@pytest.fixture
def parents():
    """`parent` on the nodes of operators and contexts, as libraries that render tracebacks leave it."""
    trees = [ast.parse(TEXT), ast.parse("x + 1; y = x < 2")]
    for tree in trees:
        hang_parents(tree)
    yield
    for tree in trees:
        for node in ast.walk(tree):
            vars(node).pop("parent", None)


SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def test_a_tree_is_walked_by_the_fields_of_its_nodes(parents):
    tree = ast.parse(TEXT)
    assert walk(tree) == [each for each in ast.walk(tree) if not isinstance(each, SHARED)]
    hang_parents(tree)
    assert walk(tree) == [each for each in ast.walk(tree) if not isinstance(each, SHARED)]


def test_no_class_of_nodes_hides_a_node_from_a_walk():
    text = (Path(ast.__file__).read_text(), "async def f():\n  async for x in y: await z\n  async with a as b: pass")
    for tree in map(ast.parse, text):
        assert walk(tree) == [each for each in ast.walk(tree) if not isinstance(each, SHARED)]


def test_a_kernel_compiles_after_a_library_has_hung_attributes_on_shared_nodes():
    # In a process of its own: where it fails, it does not end.
    program = f"""
import ast
for node in ast.walk(ast.parse({TEXT!r} + "x + 1; x < 2; -x")):
    for child in ast.iter_child_nodes(node):
        child.parent = node
import samovar as sv

@sv.func
def twice(x):
    return x + x if x < 5 else -x

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    total = 0
    for i in range(n):
        total += twice(i)
    return total

print(k(7))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["9"], done.stderr


def test_a_kernel_with_every_kind_of_operator_compiles_with_shared_nodes_that_have_parents(parents):
    @sv.kernel
    def k(n: sv.i32) -> sv.i32:
        total = 0
        for i in range(n):
            if i > 1 and not i < 2 and i != 3:
                total += -i * 2 + 1
        return total

    assert k(5) == -10
