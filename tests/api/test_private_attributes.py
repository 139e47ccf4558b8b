"""What begins with an underscore belongs to the module that defines it: nobody else reads or writes it."""

import ast
from pathlib import Path

import pytest

import samovar

PACKAGE = Path(samovar.__file__).parent

#: Python's own, which are private by their spelling only.
PYTHONS = {
    "_getframe", "_exit",  # documented functions of `sys` and `os`
    "_fields",  # of syntax trees and named tuples
    "_value_", "_name_",  # of enum members, out of reach of what a class makes of `value` and `name`
    "_field_type", "_FIELD", "_lru_cache_wrapper",  # how the standard library marks what it has made
}  # fmt: skip
#: Module → what it may use of another one's.
FRIENDS = {
    # A reference hides its object from the frontend, and shows it to the lens that has made it.
    "lens.lens": {"_object", "_function"},
}


def defined(tree: ast.AST) -> set[str]:
    """The private names that the classes of a module have."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for each in ast.walk(node):
                if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    found.add(each.name)
                elif isinstance(each, ast.Attribute) and ast.unparse(each.value) in ("self", "cls"):
                    found.add(each.attr)
                elif isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                    found.add(each.target.id)
    return found


def intrusions(module: str, text: str) -> list[str]:
    """Where a module uses a private attribute of an object of another one's."""
    tree = ast.parse(text)
    allowed = PYTHONS | FRIENDS.get(module, set()) | defined(tree)
    return [
        f"{module}, line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.endswith("__")
        and node.attr not in allowed
        # A module of the package is read by its own name: `from samovar import _native`.
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "samovar"))
    ]


def test_private_attributes_stay_where_they_are_defined():
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        found += intrusions(".".join(path.relative_to(PACKAGE).with_suffix("").parts), path.read_text())
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "kernel._reason = 'because'",
        "def f(search): return search.kernel._lock",
        "class A:\n    def f(self, other): return other._hidden",
        "lens.follow(path)._object",
    ],
)
def test_an_intrusion_is_found(text):
    assert len(intrusions("runtime.install", text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    def __init__(self, other): self._hidden = other._hidden",
        "class A:\n    _hidden: int\ndef f(a): return a._hidden",
        "import sys\nsys._getframe(1)",
        "member._value_",
        "type(x).__mro__",
    ],
)
def test_what_is_ones_own_is_not_an_intrusion(text):
    assert intrusions("runtime.install", text) == []


def test_friends_use_what_they_may():
    for module, names in FRIENDS.items():
        text = (PACKAGE / (module.replace(".", "/") + ".py")).read_text()
        assert all(f".{name}" in text for name in names)
