"""What each module of the package uses of the others, read from its text: for `test_packages.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import samovar
from samovar import _native

ROOT = "samovar"
PACKAGE = Path(samovar.__file__).parent
Texts = dict[str, str]


@dataclass(frozen=True)
class Use:
    """A use of a name of a module, both dotted and without `samovar`. The root is "", and no name means the module itself.

    `when` it happens: on "import", in a "function", or never but for type checkers ("types").
    """

    line: int
    module: str
    name: str = ""
    when: str = "function"


@dataclass(frozen=True)
class Dynamic:
    """An import of a module whose name the text does not say."""

    line: int


def sources() -> Texts:
    """Dotted name → text."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text()
    return found


class Reader:
    """Reads what modules use. The text of a module is parsed once."""

    def __init__(self, texts: Texts) -> None:
        self.modules = {*texts, "_native"}
        self.trees = {module: parsed(text) for module, text in texts.items()}
        self._names: dict[str, set[str] | None] = {"_native": native_names()}
        self._tables = {module: lazy_table(tree) for module, tree in self.trees.items()}

    def uses(self, module: str) -> list[Use | Dynamic]:
        """A chain of attributes counts where it begins with an imported name."""
        tree = self.trees[module]
        imported = dict(self._imported(module, tree))
        found = []
        for node, when in nodes_with_time(tree):
            for dotted in self._dotted(module, node, imported):
                if dotted is None:
                    found.append(Dynamic(node.lineno))
                elif dotted == ROOT or dotted.startswith(ROOT + "."):
                    found.append(self._use(node.lineno, dotted.partition(".")[2], when))
        return found

    def has(self, use: Use) -> bool:
        """Whether the module has the name; True where only running it would tell."""
        if use.module not in self._names:
            tree = self.trees.get(use.module)
            self._names[use.module] = None if tree is None else defined_names(tree, self._tables[use.module])
        names = self._names[use.module]
        return names is None or not use.name or use.name in names or use.name.startswith("__")

    def home(self, use: Use) -> str:
        """The module that defines a name which a public interface loads on demand."""
        table = self._tables.get(use.module) or {}
        home = table.get(use.name)
        return use.module if home is None else f"{use.module}.{home}".strip(".")

    def _use(self, line: int, dotted: str, when: str) -> Use:
        parts = dotted.split(".") if dotted else []
        for count in range(len(parts), -1, -1):
            module = ".".join(parts[:count])
            if module in self.modules:
                return Use(line, module, parts[count] if count < len(parts) else "", when)
        raise AssertionError("the root is a module")

    def _absolute(self, module: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        return self._relative(module, node.level, node.module or "")

    def _relative(self, module: str, level: int, name: str) -> str:
        is_package = any(other.startswith(f"{module}.".lstrip(".")) and other != module for other in self.modules)
        parts = [ROOT, *filter(None, module.split("."))]
        return ".".join([*parts[: len(parts) - level + is_package], *filter(None, [name])])

    def _imported(self, module: str, tree: ast.Module) -> Iterator[tuple[str, str]]:
        """Local name → dotted name."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.partition(".")[0]
                    yield (alias.asname, alias.name) if alias.asname else (first, first)
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    yield alias.asname or alias.name, f"{self._absolute(module, node)}.{alias.name}"

    def _dotted(self, module: str, node: ast.AST, imported: dict[str, str]) -> Iterator[str | None]:
        """What a node imports or reads, as dotted names; None for a name that is not a constant."""
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{self._absolute(module, node)}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute):
            yield from filter(None, [chain(node, imported)])
        elif isinstance(node, ast.Call):
            called = chain(node.func, {"__import__": "__import__", "getattr": "getattr", **imported})
            if called in ("__import__", "builtins.__import__", "importlib.import_module", "importlib.__import__"):
                yield from self._dynamic(module, node)
            elif called == "getattr" and isinstance(node.args[1], ast.Constant):
                owner = chain(node.args[0], imported)
                yield from [f"{owner}.{node.args[1].value}"] if owner else []

    def _dynamic(self, module: str, node: ast.Call) -> Iterator[str | None]:
        given = node.args[0]
        if not isinstance(given, ast.Constant):
            yield None
            return
        name = given.value.lstrip(".")
        level = len(given.value) - len(name)
        base = self._relative(module, level, name) if level else name
        wanted = [each.value for each in node.keywords if each.arg == "fromlist"]
        names = ast.literal_eval(wanted[0]) if wanted else ["*"]
        yield from (base if each == "*" else f"{base}.{each}" for each in names)


def chain(node: ast.AST, imported: dict[str, str]) -> str | None:
    """`sv.lens.path` as a dotted name; None if it does not begin with an imported name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in imported:
        return None
    return ".".join([imported[node.id], *reversed(parts)])


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def nodes_with_time(tree: ast.Module) -> list[tuple[ast.AST, str]]:
    """The nodes that can use a module, each with when it runs. Of a chain of attributes, only the whole."""
    found = []
    pending: list[tuple[ast.AST, str]] = [(tree, "import")]
    while pending:
        parent, when = pending.pop()
        is_function = isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        is_for_types = isinstance(parent, ast.If) and chain(parent.test, {"TYPE_CHECKING": "", "typing": ""}) is not None
        for field, value in ast.iter_fields(parent):
            inner = when
            if (is_for_types and field == "body") or field in ("annotation", "returns"):
                inner = "types"
            elif is_function and field == "body" and when == "import":
                inner = "function"
            for node in value if isinstance(value, list) else [value]:
                if not isinstance(node, ast.AST):
                    continue
                pending.append((node, inner))
                is_part = isinstance(parent, ast.Attribute) and isinstance(node, ast.Attribute)
                if isinstance(node, ast.Import | ast.ImportFrom | ast.Attribute | ast.Call) and not is_part:
                    found.append((node, inner))
    return found


@cache
def lazy_table(tree: ast.AST) -> dict[str, str]:
    """Name → file, from the table with which a public interface loads names."""
    constants = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and chain(node.func, {"_lazy_exports": ""}) is not None:
            table = node.args[1]
            table = constants.get(table.id, table) if isinstance(table, ast.Name) else table
            try:
                return {name: home for home, names in ast.literal_eval(table).items() for name in names.split()}
            except ValueError:
                return {}
    return {}


def defined_names(tree: ast.Module, table: dict[str, str]) -> set[str] | None:
    """What a module offers: what it defines, imports or loads. None if it computes its names."""
    names = set(table)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in statements(tree.body):
        if isinstance(node, functions):
            names.add(node.name)
            if node.name == "__getattr__" and not table:
                return None
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        else:
            text = ast.unparse(node)
            if "globals()" in text and "_lazy_exports(" not in text:
                return None
            names |= {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return names


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Those that run on import, also in branches."""
    for node in body:
        inner = [getattr(node, field, []) for field in ("body", "orelse", "finalbody")]
        inner += [handler.body for handler in getattr(node, "handlers", [])]
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for each in inner:
                yield from statements(each)


def native_names() -> set[str]:
    """The names of the extension, and those that its stub has for type checkers."""
    stub = ast.parse((PACKAGE / "_native.pyi").read_text())
    return {*vars(_native), *(defined_names(stub, {}) or ())}
