"""The packages: which may import which, through which public interface, and which import cycles are left."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from package_imports import PACKAGE, Dynamic, Reader, Texts, Use, sources

#: From below to above. A package imports from those before it. `samovar` is the package itself.
ORDER = (
    "_native", "errors", "version", "system", "reflection", "language", "values", "fingerprint", "lens", "artifact",
    "ir", "passes", "frontend", "backends", "cache", "tiers", "compiler", "runtime", "types", "math", "graph", "ad", "simt",
    "algorithms", "linalg", "state", "tools", "ui", "dask", "ray", "compat", "cli", "samovar",
)  # fmt: skip
#: Files of the package itself: its public names, and the plugin, which only mypy imports.
ITSELF = ("", "__main__", "mypy_plugin")
#: Below all packages, and open to everybody. `errors` is a file because tracebacks and pickles name it; `version` is one
#: because each warm start reads it, and a package would be one more module to load.
GROUND = ("_native", "errors", "version")
#: What packages may use of the root besides public names: how they load their own, and where the public ones are.
SHARED = ("", "_lazy_exports", "_HOMES", "__version__", "__file__")
#: Modules that import by computed names, and how often: the loaders of names, backends, other libraries and pickles.
COMPUTED = {
    "": 2, "backends": 1, "compat.importing": 1, "compat.module_tables": 1, "linalg.sparse_storage": 1,
    "runtime.pickle_by_value": 1, "system.forking": 1,
}  # fmt: skip
#: The import cycles that are left, one per line: the number of imports in functions that belong to it, and its modules.
CYCLES = Path(__file__).with_name("import_cycles.txt")


def package_of(module: str) -> str:
    return "samovar" if module in ITSELF else module.partition(".")[0]


def problems(texts: Texts, *chosen: str) -> list[str]:
    """What is wrong with the imports of all modules or the chosen ones, one sentence each."""
    reader = Reader(texts)
    found = []
    for module in sorted(chosen or texts):
        if package_of(module) not in ORDER:
            found.append(f"{module}: no package has this name")
            continue
        uses = reader.uses(module)
        computed = [use for use in uses if isinstance(use, Dynamic)]
        if len(computed) != COMPUTED.get(module, 0):
            found.append(f"{module}: {len(computed)} imports by a computed name, not {COMPUTED.get(module, 0)}")
        for use in uses:
            if isinstance(use, Use) and (problem := problem_of(module, use, reader)):
                found.append(f"{module}:{use.line} {problem}")
    return found


def problem_of(module: str, use: Use, reader: Reader) -> str | None:
    own, used = package_of(module), package_of(reader.home(use))
    whole = f"{use.module}.{use.name}".strip(".")
    if not reader.has(use):
        return f"uses {whole}, which does not exist"
    if own == used or (not use.module and use.name in SHARED):
        return None
    if used not in ORDER or ORDER.index(used) > ORDER.index(own):
        return f"uses {whole}, which is above it"
    if "." in use.module:
        return f"uses {whole}, and not the public interface of {used}"
    if use.name.startswith("_") and not use.name.endswith("__"):
        return f"uses {whole}, which is private"
    return None


def test_packages_import_downward_and_through_public_interfaces():
    assert problems(sources()) == []


@pytest.mark.parametrize(
    ("module", "text", "words"),
    [
        ("ir.values", "from samovar.frontend import lower", "above it"),
        ("lens.path", "def f():\n    from samovar.runtime import Kernel", "above it"),
        ("errors", "import samovar.lens", "above it"),
        ("frontend.loops", "from samovar import math", "above it"),
        ("ir.values", "import samovar\nprint(samovar.kernel)", "above it"),
        ("ir.values", "from ..runtime import Kernel", "above it"),
        ("ir", "from ..frontend import lower", "above it"),
        ("ir.values", "from importlib import import_module as load\nload('samovar.frontend')", "above it"),
        ("ir.values", "import importlib as i\ni.import_module('..runtime', 'samovar.ir')", "above it"),
        ("ir.values", "__import__('samovar.cache')", "above it"),
        ("ir.values", "if True:\n    import samovar as sv\ndef f(): return getattr(sv, 'runtime')", "above it"),
        ("runtime.kernel", "from samovar.lens.path import Path", "public interface of lens"),
        ("runtime.kernel", "from ..lens.path import Path", "public interface of lens"),
        ("runtime.kernel", "from .. import lens\nlens.path.Path", "public interface of lens"),
        ("runtime.kernel", "import samovar\nsamovar.lens.path.Path", "public interface of lens"),
        ("runtime.kernel", "import samovar.lens as l\nclass A:\n    b = l.path.Path()", "public interface of lens"),
        ("runtime.kernel", "__import__('samovar.lens.path', fromlist=['Path']).Path", "public interface of lens"),
        ("cli.listing", "from samovar.cache import store", "public interface of cache"),
        ("runtime.kernel", "from samovar.lens import Pfad", "does not exist"),
        ("runtime.kernel", "from samovar import lens\nlens.Pfad", "does not exist"),
        ("runtime.kernel", "from samovar._native import Narray", "does not exist"),
        ("runtime.kernel", "def f():\n    import samovar\n    return samovar.ndaray", "does not exist"),
        ("cli.listing", "from samovar.errors import _warned", "private"),
        ("runtime.kernel", "from importlib import import_module\nimport_module(f'samovar.{name}')", "computed name"),
        ("runtime.kernel", "import builtins\nbuiltins.__import__(name)", "computed name"),
        ("attic.old", "", "no package"),
    ],
)  # fmt: skip
def test_a_planted_import_is_found(module, text, words):
    texts = sources()
    texts[module] = texts.get(module, "") + "\n" + text
    assert any(problem.startswith(module) and words in problem for problem in problems(texts, module))


def imports_between(reader: Reader, *times: str) -> dict[str, set[str]]:
    """Module → the modules that it imports at one of the times. A name of an interface counts for the file that has it."""
    found: dict[str, set[str]] = {module: set() for module in reader.trees}
    for module, targets in found.items():
        for use in reader.uses(module):
            if isinstance(use, Use) and use.when in times:
                targets |= {reader.home(use), *([use.module] if package_of(use.module) != package_of(module) else [])}
        targets &= found.keys() - {module, ""}
    return found


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module (Tarjan, 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for other in sorted(edges[module]):
            if other not in number:
                visit(other)
            if other in stack:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == number[module]:
            component = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            found.append(sorted(component))

    for module in sorted(edges):
        if module not in number:
            visit(module)
    return [component for component in found if len(component) > 1]


def cycles_through_functions(texts: Texts) -> list[str]:
    """The lines of `import_cycles.txt`."""
    reader = Reader(texts)
    late = imports_between(reader, "function")
    lines = []
    for component in cycles(imports_between(reader, "import", "function")):
        count = sum(len(late[module].intersection(component)) for module in component)
        lines.append(" ".join([str(count), *component]))
    return sorted(lines, key=lambda line: line.split()[1])


def test_no_modules_import_each_other_on_import():
    assert cycles(imports_between(Reader(sources()), "import")) == []


def test_import_cycles_through_functions_only_shrink():
    """Remove from the file what is gone. A new module or a higher number is a new cycle: undo it instead."""
    assert cycles_through_functions(sources()) == CYCLES.read_text().splitlines()


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("ir.values", "def f():\n    from samovar.ir.printer import print_kernel"),
        ("ir.values", "def f():\n    from samovar.ir import print_kernel"),
        ("ir.values", "def f():\n    from .printer import print_kernel"),
        ("frontend.staged.base", "def f():\n    from samovar.frontend.statements import run as run_2"),
        ("lens.path", "import samovar\nf = lambda: samovar.lens.Trace"),
    ],
)
def test_a_planted_cycle_through_a_function_is_found(module, text):
    texts = sources()
    texts[module] += "\n" + text
    assert cycles_through_functions(texts) != CYCLES.read_text().splitlines()


def test_a_planted_cycle_on_import_is_found():
    texts = sources()
    texts["ir.values"] += "\nfrom samovar.ir.printer import print_kernel"
    assert cycles(imports_between(Reader(texts), "import"))


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*/__init__.py")), ids=lambda path: path.parent.name)
def test_an_interface_tells_type_checkers_the_same(path):
    """What it imports for type checkers is what its table loads, from the same files."""
    tree = ast.parse(path.read_text())
    tables = [node for node in ast.walk(tree) if getattr(getattr(node, "func", None), "id", "") == "_lazy_exports"]
    if not tables:
        return
    package = f"samovar.{path.parent.name}"
    table = ast.literal_eval(tables[0].args[1])
    told = {f"{package}.{home}": set(names.split()) for home, names in table.items()}
    checked = next(node for node in tree.body if isinstance(node, ast.If)).body
    seen: dict[str, set[str]] = {}
    for node in checked:
        seen.setdefault(node.module, set()).update(alias.name for alias in node.names)
    assert seen == told
    for names in told.values():
        for name in names:
            assert getattr(__import__(package, fromlist=[name]), name) is not None
            assert not (path.parent / f"{name}.py").exists(), "a name and a file that hide each other"
