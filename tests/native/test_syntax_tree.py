"""Looking through syntax trees natively, against the same in plain Python."""

import ast
import signal
import sys
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from samovar._native import tree_nodes, tree_text

TEXTS = [
    "x = 1",
    "async def f(a, /, b: int = 2, *c, d=None, **e) -> str:\n    'text'\n    return await a\n",
    "for i, (j, *k) in zip(a, b):\n    a[i].x += [k for k in j if k][::2]\nelse:\n    pass\n",
    "with open(f) as g, h:\n    lambda *a, b=1: (yield)\n",
    "try:\n    raise A from b\nexcept (C, D) as e:\n    del e\nfinally:\n    assert not 0 <= x < 1 != y, 'm'\n",
    "global z; import a.b as c; from . import d as e",
    "s = f'{x!r:>{w}} {y=}' if False else f'é\\ud800 {1j} {...} {1e400} {-0.0}'",
    "if (n := 10) > 5 and a or b:\n    class C(B, metaclass=M):\n        x: int\n        def f(s): x()\n",
    "match p:\n    case {'k': [1, *r], **q} if r:\n        pass\n    case C(1, x=-2.5) | None as w:\n        pass\n",
    "",
]
HERE = Path(__file__).read_text()


def described(tree: Any) -> str:
    """What a tree looks like, written with a loop over its fields."""
    words, pending = [], [tree]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.AST):
            words.append(type(each).__name__ + "(")
            pending += [getattr(each, name, None) for name in reversed(each._fields) if name != "ctx"]
        elif isinstance(each, list):
            words.append(f"{len(each)}[")
            pending += reversed(each)
        else:
            words.append(f"{each!r},")
    return "".join(words)


@pytest.mark.parametrize("text", [*TEXTS, HERE], ids=range(len(TEXTS) + 1))
def test_text_and_nodes_are_those_of_python(text: str) -> None:
    tree = ast.parse(text)
    assert tree_text(tree) == described(tree)
    assert tree_text(tree.body) == described(tree.body)
    skipped = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop)
    nodes = [each for each in ast.walk(tree) if not isinstance(each, skipped)]
    # The operators of `and` and `or` are shared nodes as those of `+` are.
    assert tree_nodes([tree]) == [each for each in nodes if not isinstance(each, ast.boolop)]
    wanted = {ast.Name, ast.For}
    assert tree_nodes((tree,), wanted) == [each for each in nodes if type(each) in wanted]
    assert tree_nodes([tree], None) == tree_nodes([tree])
    wanted = {ast.Name, ast.Attribute, ast.For}
    for context in (ast.Store, ast.Load):
        found = [each for each in nodes if type(each) in wanted and isinstance(getattr(each, "ctx", context()), context)]
        assert tree_nodes([tree], wanted, context) == found


@given(st.lists(st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.binary())))
def test_constants_are_told_apart(values: list[Any]) -> None:
    trees: list[Any] = [ast.Constant(value) for value in values]
    assert tree_text(trees) == described(trees)


def test_other_attributes_lead_nowhere() -> None:
    tree: Any = ast.parse("x + y")
    tree.body[0].parent = tree
    tree.body[0].value.op.parent = tree
    assert len(tree_nodes([tree])) == 5


def test_missing_fields_are_none() -> None:
    node = ast.Return()
    assert tree_text(node) == "Return(None,"
    assert tree_nodes([node]) == [node]


def test_deep_trees_take_no_stack() -> None:
    node: ast.expr = ast.Name("x", ast.Load())
    for _ in range(100_000):
        node = ast.UnaryOp(ast.USub(), node)
    assert len(tree_nodes([node])) == 100_001
    assert tree_text(node).count("USub(") == 100_000
    while isinstance(node, ast.UnaryOp):  # so that nothing is freed deep inside
        node.operand, node = ast.Name("x", ast.Load()), node.operand


def test_what_is_no_node_is_refused() -> None:
    for wrong in ([1], 3, ["x"]):
        with pytest.raises(TypeError):
            tree_nodes(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a set of classes"):
        tree_nodes([], [ast.Name])  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        tree_nodes()  # type: ignore[call-arg]


def test_references_are_given_back() -> None:
    tree = ast.parse(HERE)
    before = sys.getrefcount(tree.body[0])
    for _ in range(3):
        tree_text(tree)
        tree_nodes([tree])
        tree_nodes([tree], {ast.Name})
    after = sys.getrefcount(tree.body[0])
    assert after == before


def test_what_contains_itself_has_no_end() -> None:
    """A program can build such trees, and is told so; it neither waits for ever nor takes all memory."""
    items: list[Any] = []
    items.append(items)
    doubled: list[Any] = []
    doubled += [doubled, doubled]
    node = ast.UnaryOp(ast.USub(), ast.Name("x"))
    node.operand = node
    both = ast.BinOp(ast.Name("x"), ast.Add(), ast.Name("y"))
    both.left = both.right = both
    for tree in (items, doubled, node, both):
        with pytest.raises(RecursionError, match="contains itself"):
            tree_text(tree)
    for tree in (node, both):
        with pytest.raises(RecursionError, match="contains itself"):
            tree_nodes([tree])


def test_a_user_who_does_not_want_to_wait_for_a_tree_need_not() -> None:
    def raise_it(*_: object) -> None:
        raise KeyboardInterrupt

    items: list[Any] = [1]
    for _ in range(60):
        items = [items, items]
    before = signal.signal(signal.SIGALRM, raise_it)
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises((KeyboardInterrupt, RecursionError)):
            tree_text(items)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
