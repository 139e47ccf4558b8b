"""The rooms of the package: who may import whom, by which door, and that there are no circles."""

import ast
from pathlib import Path

import pytest

import samovar

PACKAGE = Path(samovar.__file__).parent

#: From below to above. A room imports from those before it. `samovar` is the package itself, with its public modules.
ORDER = (
    "_native", "_door", "_HOMES", "errors", "forking", "version", "output_file", "reflection", "language", "fingerprint",
    "lens", "artifact", "ir", "passes", "frontend", "backends", "cache", "compiler", "runtime", "compat", "cli",
    "samovar",
)  # fmt: skip
#: Modules at the root that the user imports, and what says that a name is missing: the package itself, above all rooms.
PUBLIC = {
    "__init__", "__main__", "algorithms", "composable_algorithms", "graph", "linalg", "math", "missing_name",
    "mypy_plugin", "simt",
    "tools", "types", "unknown_keyword",
}  # fmt: skip
#: Below all rooms, and open to everybody.
GROUND = ("_native", "_door", "_HOMES", "errors", "forking", "version", "output_file")


def sources() -> dict[str, str]:
    """Dotted name without the package → text."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
        found[name] = path.read_text()
    return found


def room_of(name: str) -> str:
    first = name.partition(".")[0]
    return "samovar" if first in PUBLIC or not first else first


def imports(module: str, text: str, modules: set[str]) -> list[str]:
    """What a module imports of the package, as dotted names; a name of a module as that of the module."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [alias.name.partition(".")[2] for alias in node.names if alias.name.split(".")[0] == "samovar"]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and node.module.split(".")[0] == "samovar":
            base = node.module.partition(".")[2]
            for alias in node.names:
                whole = f"{base}.{alias.name}".lstrip(".")
                found.append(whole if whole in modules or not base else base)
    return found


def problems(texts: dict[str, str]) -> list[str]:
    modules = set(texts)
    found = []
    for module, text in sorted(texts.items()):
        own = room_of(module)
        if own not in ORDER:
            found.append(f"{module}: no room has this name")
            continue
        for target in imports(module, text, modules):
            other = room_of(target)
            if other == "samovar" and target not in modules | {""}:
                continue  # a name that the package itself offers: __version__, __file__
            if other == own:
                continue
            is_above = other not in ORDER or ORDER.index(other) > ORDER.index(own)
            if is_above and (target or other != "samovar"):
                found.append(f"{module} imports {target}, which is above it")
            elif "." in target and other not in GROUND:
                found.append(f"{module} imports {target}, and not from the door of {other}")
    return found


def test_rooms_import_downwards_and_through_doors():
    assert problems(sources()) == []


@pytest.mark.parametrize(
    ("module", "text", "words"),
    [
        ("ir.values", "from samovar.frontend import lower", "above it"),
        ("lens.path", "def f():\n    from samovar.runtime import Kernel", "above it"),
        ("errors", "import samovar.lens", "above it"),
        ("runtime.kernel", "from samovar.lens.path import Path", "the door of lens"),
        ("cli.main", "from samovar.cache import store", "the door of cache"),
        ("frontend.loops", "from samovar import math", "above it"),
        ("attic.old", "", "no room"),
    ],
)
def test_a_planted_import_is_found(module, text, words):
    texts = sources()
    texts[module] = texts.get(module, "") + "\n" + text
    assert any(problem.startswith(module) and words in problem for problem in problems(texts))


def top_level_imports(text: str) -> ast.Module:
    """The part of a module that runs when it is imported, without what only type checkers read."""
    tree = ast.parse(text)
    body = [
        node
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    return ast.Module(body=body, type_ignores=[])


def circles(texts: dict[str, str]) -> list[list[str]]:
    """Modules that import each other while they are imported."""
    modules = set(texts)
    edges = {
        module: sorted({
            target for target in imports(module, ast.unparse(top_level_imports(text)), modules)
            if target in modules and target != module and "." in target
        })
        for module, text in texts.items()
    }  # fmt: skip
    found, done, path = [], set(), []

    def visit(module: str) -> None:
        if module in path:
            found.append([*path[path.index(module) :], module])
            return
        if module in done:
            return
        path.append(module)
        for target in edges.get(module, ()):
            visit(target)
        path.pop()
        done.add(module)

    for module in sorted(edges):
        visit(module)
    return found


def test_there_are_no_circles():
    assert circles(sources()) == []


def test_a_planted_circle_is_found():
    texts = sources()
    texts["ir.values"] += "\nfrom samovar.ir.printer import print_kernel"
    assert circles(texts)


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*/__init__.py")), ids=lambda path: path.parent.name)
def test_a_door_says_the_same_to_type_checkers(path):
    """What a door imports for type checkers is what its table loads, from the same files."""
    tree = ast.parse(path.read_text())
    tables = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "_door"]
    if not tables:
        return
    room = f"samovar.{path.parent.name}"
    table = ast.literal_eval(tables[0].args[1])
    told = {f"{room}.{home}": set(names.split()) for home, names in table.items()}
    checked = next(node for node in tree.body if isinstance(node, ast.If)).body
    assert {node.module: {alias.name for alias in node.names} for node in checked} == told
    for names in told.values():
        for name in names:
            assert getattr(__import__(room, fromlist=[name]), name) is not None
            assert not (path.parent / f"{name}.py").exists(), "a name and a file that hide each other"
