"""Finding the text of a function: its syntax tree with the line numbers of its file, checked against the loaded code.

A file can change after it was imported. Compiling its new text as if it were the loaded function would be wrong, so the text
is compiled by Python as well, and the two code objects have to do the same.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType

from samovar.errors import SamovarSyntaxError
from samovar.lens.code import code_fingerprint

_FUTURES = 0x1FE0000  # the bits of co_flags that `from __future__` sets
_REWRITTEN = "@py"  # how the names begin that pytest's assert rewriting adds


class FunctionSource:
    """The syntax tree of a function, the lines of its file, the file, and the function's name."""

    __slots__ = ("file", "lines", "name", "node")

    def __init__(self, node: ast.FunctionDef, lines: list[str], file: str, name: str) -> None:
        self.node = node
        self.lines = lines
        self.file = file
        self.name = name

    def text(self) -> str:
        """The function's own lines, decorators included."""
        first = min([self.node.lineno, *(decorator.lineno for decorator in self.node.decorator_list)])
        return "".join(self.lines[first - 1 : self.node.end_lineno])


def function_source(function: FunctionType) -> FunctionSource:
    """Read and check the source of a function."""
    code = function.__code__
    lines = _lines(function)
    if not lines:
        raise SamovarSyntaxError(
            f"the source of {function.__qualname__} is not available ({code.co_filename}:{code.co_firstlineno})\n"
            "  help: kernels are compiled from their text: put it in a file or a notebook cell"
            " (code given to exec, to python -c or on standard input leaves no text behind)"
        )
    if code.co_name == "<lambda>":
        raise SamovarSyntaxError(
            f"a lambda cannot be a kernel or a func ({code.co_filename}:{code.co_firstlineno})\n  help: write it as a def"
        )
    node = _parse(lines, code)
    if node is None or not _matches(node, function):
        raise SamovarSyntaxError(
            f"the text of {function.__qualname__} at {code.co_filename}:{code.co_firstlineno} is not what is loaded\n"
            "  help: the file changed after it was imported: restart Python, or reload the module"
            " (an import hook that rewrites code has the same effect)"
        )
    if not isinstance(node, ast.FunctionDef):
        raise SamovarSyntaxError(
            f"{function.__qualname__} is an async function ({code.co_filename}:{code.co_firstlineno})\n"
            "  help: a kernel or func is a plain def"
        )
    return FunctionSource(node, lines, code.co_filename, function.__name__)


def _lines(function: FunctionType) -> list[str]:
    file = function.__code__.co_filename
    linecache.checkcache(file)
    return linecache.getlines(file, function.__globals__)


def _parse(lines: list[str], code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The definition that begins at the first line of the code.

    Only the lines of the function are parsed, because parsing a large file for each kernel would take longer than compiling
    the kernel. Where it ends is found by indentation; a line of a string or an open bracket that is less indented makes a
    parse fail, and the next candidate is tried.
    """
    first = code.co_firstlineno
    if not 1 <= first <= len(lines):
        return None
    indented = lines[first - 1][:1] in (" ", "\t")
    # Blank lines before it keep the line numbers, and an `if` keeps the columns of an indented definition.
    before = "\n" * (first - 1)
    if indented:
        if first == 1:
            return None
        before = "\n" * (first - 2) + "if 1:\n"
    for end in _ends(lines, first):
        text = before + "".join(lines[first - 1 : end])
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        body = tree.body[0].body if indented and isinstance(tree.body[0], ast.If) else tree.body
        node = body[0]
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            return node
        return None
    return None


def _ends(lines: list[str], first: int) -> Iterator[int]:
    """Numbers of lines after which a definition that begins at `first` may end."""
    indentation = _indentation(lines[first - 1])
    for number in range(first + 1, len(lines) + 1):
        line = lines[number - 1]
        content = line.strip()
        if content and not content.startswith("#") and _indentation(line) <= indentation:
            yield number - 1
    yield len(lines)


def _indentation(line: str) -> int:
    widened = line.expandtabs(8)
    return len(widened) - len(widened.lstrip())


def _matches(node: ast.FunctionDef | ast.AsyncFunctionDef, function: FunctionType) -> bool:
    """Does the text compile to the code that is loaded?"""
    loaded = function.__code__
    compiled = _compiled(node, function)
    if compiled is None:
        return False
    if code_fingerprint(compiled) == code_fingerprint(loaded):
        return True
    # pytest replaces each assert of a test module by code of its own: compare what it leaves alone.
    if not any(name.startswith(_REWRITTEN) for name in (*loaded.co_names, *loaded.co_varnames)):
        return False
    bare = _compiled(_WithoutAsserts().visit(node), function)
    return bare is not None and _content(bare) <= _content(loaded) and _numbers(compiled) == _numbers(loaded)


class _WithoutAsserts(ast.NodeTransformer):
    """A copy of a tree in which asserts are empty statements; the tree itself stays."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.Assert):
            return ast.copy_location(ast.Pass(), node)
        copy = type(node)(**{name: getattr(node, name) for name in node._fields if hasattr(node, name)})
        ast.copy_location(copy, node)
        for name, value in ast.iter_fields(copy):
            if isinstance(value, ast.AST):
                setattr(copy, name, self.visit(value))
            elif isinstance(value, list):
                setattr(copy, name, [self.visit(item) if isinstance(item, ast.AST) else item for item in value])
        return copy


def _content(code: CodeType) -> set[object]:
    return {*code.co_names, *code.co_varnames, *((type(c), repr(c)) for c in code.co_consts if not isinstance(c, CodeType))}


def _numbers(code: CodeType) -> set[int | None]:
    return {line for _, _, line in code.co_lines()}


def _compiled(node: ast.AST, function: FunctionType) -> CodeType | None:
    """Python's own code for the definition, in surroundings like the ones it was defined in.

    They matter in two ways: a name is free if a function around it binds it, and `__name` is mangled inside a class.
    """
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    bare = type(node)(**{name: getattr(node, name) for name in node._fields if hasattr(node, name)})
    ast.copy_location(bare, node)
    bare.decorator_list = []
    # Annotations and defaults belong to the surroundings, and may use names that are not at hand.
    bare.args = _plain_arguments(node.args)
    bare.returns = None
    free = [name for name in function.__code__.co_freevars if name != "__class__"]
    parts = function.__qualname__.split(".")[:-1]
    surrounding: ast.stmt = bare
    owner = _class_around(parts)
    direct = bool(parts) and parts[-1] != "<locals>"
    if owner is not None and direct:
        surrounding = _class(owner, surrounding)
    surrounding = _function(free, surrounding)
    if owner is not None and not direct:
        surrounding = _class(owner, surrounding)
    module = ast.fix_missing_locations(ast.Module(body=[surrounding], type_ignores=[]))
    try:
        outer = compile(module, function.__code__.co_filename, "exec", function.__code__.co_flags & _FUTURES, True)
    except (SyntaxError, ValueError):
        return None
    return next((code for code in _codes(outer) if code.co_name == node.name and code.co_firstlineno == node.lineno), None)


def _plain_arguments(arguments: ast.arguments) -> ast.arguments:
    def plain(names: Iterable[ast.arg]) -> list[ast.arg]:
        return [ast.copy_location(ast.arg(arg=name.arg), name) for name in names]

    def constant(values: Iterable[ast.expr | None]) -> list[ast.expr]:
        return [ast.Constant(value=None) for _ in values]

    return ast.arguments(
        posonlyargs=plain(arguments.posonlyargs),
        args=plain(arguments.args),
        vararg=arguments.vararg and plain([arguments.vararg])[0],
        kwonlyargs=plain(arguments.kwonlyargs),
        kw_defaults=list(constant(arguments.kw_defaults)),
        kwarg=arguments.kwarg and plain([arguments.kwarg])[0],
        defaults=constant(arguments.defaults),
    )


def _class_around(parts: list[str]) -> str | None:
    """The innermost class in a qualified name without its last part."""
    while parts:
        if parts[-1] != "<locals>":
            return parts[-1]
        parts = parts[:-2]
    return None


def _class(name: str, body: ast.stmt) -> ast.stmt:
    made = ast.parse(f"class {name}: pass").body[0]
    assert isinstance(made, ast.ClassDef)
    made.body = [body]
    return made


def _function(parameters: list[str], body: ast.stmt) -> ast.stmt:
    made = ast.parse(f"def surroundings({', '.join(parameters)}): pass").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.body = [body]
    return made


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
