"""Rules are entered when their modules are imported: lowering a kernel has to import all of them."""

import ast
import subprocess
import sys
from pathlib import Path

import samovar

FRONTEND = Path(samovar.__file__).parent / "frontend"
TABLES = {"EXPRESSIONS", "STATEMENTS", "OBJECTS", "INTRINSICS", "METHODS"}


def enters_rules(tree: ast.Module) -> bool:
    """Whether a module registers a rule of a generic function, or adds to a table."""
    registered = any(
        isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr == "register"
        for node in tree.body
        for each in getattr(node, "decorator_list", [])
    )
    return registered or any(
        isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id in TABLES
        for node in tree.body
    )


def test_lowering_imports_every_module_with_rules():
    paths = [path for path in FRONTEND.rglob("*.py") if enters_rules(ast.parse(path.read_text()))]
    modules = {".".join(("samovar.frontend", *path.relative_to(FRONTEND).with_suffix("").parts)) for path in paths}
    assert {"samovar.frontend.calls", "samovar.frontend.expressions", "samovar.frontend.bindings"} <= modules
    program = "import samovar.frontend.lowering, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert sorted(modules - set(loaded)) == []
