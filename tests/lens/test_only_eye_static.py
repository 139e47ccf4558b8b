"""The rule that makes cache keys sound, as source code shows it: the frontend sees user objects through the lens only.

The rule: a module of the frontend
- imports nothing that can look at objects behind the lens' back (`inspect`, `types`, `builtins`, `sys`, NumPy, …), and from
  the native room only the dtypes;
- takes from `samovar.lens` what it exports for the frontend, and not what serves the runtime or holds objects;
- does not call the builtins that look into objects (`getattr`, `vars`, `type(x)`, `id`, `eval`, …);
- does not touch attributes that lead from one object into another one's insides (`__dict__`, `__globals__`, …), nor the
  private attributes of anything but `self`.
"""

import ast
from pathlib import Path

import pytest

import samovar.frontend

#: `syntax` goes through trees of syntax, and has no other objects.
FRONTEND = [path for path in sorted(Path(samovar.frontend.__file__).parent.rglob("*.py")) if path.stem != "syntax"]

STANDARD_LIBRARY = {
    "__future__", "ast", "cmath", "collections", "collections.abc", "contextlib", "dataclasses", "difflib", "functools",
    "itertools", "math", "operator", "re", "string", "struct", "textwrap", "typing", "warnings",
}  # fmt: skip
DTYPES = {"DType", "bf16", "f16", "f32", "f64", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64"}
LENS = {"EnumValue", "FunctionParameter", "FunctionRef", "Kind", "Lens", "Ref", "TensorFacts", "shown"}
ROOMS = (
    "samovar.artifact", "samovar.errors", "samovar.frontend", "samovar.ir", "samovar.language", "samovar.passes",
    "samovar.values",
)  # fmt: skip
FORBIDDEN_CALLS = {
    "__import__", "breakpoint", "callable", "delattr", "dir", "eval", "exec", "getattr", "globals", "hasattr", "id",
    "issubclass", "locals", "memoryview", "setattr", "vars",
}  # fmt: skip
#: Of lens and references, for replay, guards, and among themselves.
RESERVED = {
    "actual", "answer", "ask", "cell", "cell_at", "child", "follow", "function_at", "function_behind", "name_at",
    "enum_members", "namespace", "object_at", "root", "trace",
}  # fmt: skip
ALLOWED_DUNDERS = {"__class__", "__init__", "__name__", "__doc__"}
#: `syntax` looks at nodes of trees that the compiler has made: no objects of the user's.
OF_TREES = {"syntax": {"._fields", "getattr()"}}


def violations(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        place = f"line {getattr(node, 'lineno', 0)}: "
        if isinstance(node, ast.Import):
            found += [f"{place}import {a.name}" for a in node.names if a.name not in STANDARD_LIBRARY]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names if not may_import(node.module, alias.name)]
            found += [f"{place}from {node.module} import {name}" for name in names]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            looks = node.func.id in FORBIDDEN_CALLS
            # `type(None)` is a way to write a class; `type(x)` looks at x.
            asks_type = node.func.id == "type" and not (len(node.args) == 1 and isinstance(node.args[0], ast.Constant))
            found += [f"{place}{node.func.id}()"] if looks or asks_type else []
        elif isinstance(node, ast.Attribute):
            name = node.attr
            dunder = name.startswith("__") and name.endswith("__")
            private = name.startswith("_") and not dunder
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if (dunder and name not in ALLOWED_DUNDERS) or (private and not own) or (name in RESERVED and not own):
                found.append(f"{place}.{name}")
    return found


def may_import(module: str | None, name: str) -> bool:
    if module in STANDARD_LIBRARY:
        return True
    if module == "samovar":
        return name in ("errors", "math")
    if module == "samovar._native":
        return name in DTYPES
    if module == "samovar.lens":
        return name in LENS
    return module is not None and any(module == room or module.startswith(room + ".") for room in ROOMS)


@pytest.mark.parametrize("path", FRONTEND, ids=lambda path: path.stem)
def test_the_frontend_looks_through_the_lens_only(path):
    found = violations(ast.parse(path.read_text()))
    assert [each for each in found if each.partition(": ")[2] not in OF_TREES.get(path.stem, ())] == []


def test_there_is_a_frontend_to_look_at():
    assert len(FRONTEND) > 5


@pytest.mark.parametrize(
    "text",
    [
        "import inspect",
        "import numpy as np",
        "from types import FunctionType",
        "from samovar._native import describe_tensor",
        "from samovar.lens.questions import kind",
        "from samovar.lens import replay",
        "from samovar.runtime.kernel import kernel",
        "getattr(x, 'n')",
        "type(x)",
        "vars(x)",
        "x.__dict__",
        "function.__globals__",
        "ref._object",
        "lens.object_at(path)",
        "ref.ask('tensor')",
    ],
)
def test_the_rule_catches(text):
    assert violations(ast.parse(text))


def test_the_rule_lets_the_ordinary_pass():
    text = "class A:\n def f(self, ref):\n  self._x = ref.kind().name\n  return isinstance(ref, Ref), ref.__class__"
    assert violations(ast.parse(text)) == []
