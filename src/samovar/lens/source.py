"""Finding the text of a function: its syntax tree with the line numbers of its file, checked against the loaded code.

A file can change after it was imported. Compiling its new text as if it were the loaded function would be wrong, so the text
is compiled by Python as well, and the two code objects have to do the same.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from types import CodeType, FunctionType, ModuleType

from samovar._native import code_fingerprint
from samovar.errors import SamovarSyntaxError
from samovar.lens.lines import file_lines
from samovar.lens.nesting import room_for_nesting, with_large_stack

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


def function_source(function: FunctionType, is_compared: bool = False) -> FunctionSource:
    """Read and check the source of a function. Of one that `is_compared`, it is known that the lines give its code."""
    with room_for_nesting(function.__qualname__):
        return with_large_stack(lambda: _function_source(function, is_compared))


def _function_source(function: FunctionType, is_compared: bool) -> FunctionSource:
    code = function.__code__
    lines = file_lines(function)
    if not lines:
        raise _not_available(function)
    if code.co_name == "<lambda>":
        raise SamovarSyntaxError(
            f"a lambda cannot be a kernel or a func ({code.co_filename}:{code.co_firstlineno})\n  help: write it as a def"
        )
    node = _parse(lines, code, FEW_ENDS)
    if not (is_compared and node is not None) and not _matches_alone(node, function):
        node = _parse(lines, code) if _matches(lines, code) else None
    if node is None and code.co_filename.startswith("<"):
        raise _not_available(function)  # under such a name there is the text of something else: what `python -c` was given
    if node is None:
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


def _not_available(function: FunctionType) -> SamovarSyntaxError:
    code = function.__code__
    return SamovarSyntaxError(
        f"the source of {function.__qualname__} is not available ({code.co_filename}:{code.co_firstlineno})\n"
        "  help: kernels are compiled from their text: put it in a file or a notebook cell"
        " (a long program that came through a pipe leaves no text behind, nor does what exec was given if nobody holds"
        " it any more)"
    )


def mangle_private_names(source: FunctionSource, function: FunctionType) -> None:
    """Give the private names in a syntax tree the names that they have in the loaded code."""
    private = _class_around(function)
    if private is not None:
        with room_for_nesting(function.__qualname__):
            _Mangler(private).visit(source.node)


def _class_around(function: FunctionType) -> str | None:
    """The innermost class that a function is written in, as it is named in private names; None if there is none."""
    parts = getattr(function.__code__, "co_qualname", function.__qualname__).split(".")[:-1]
    while parts and parts[-1] == "<locals>":
        del parts[-2:]
    name = parts[-1].lstrip("_") if parts else ""
    return name or None


class _Mangler(ast.NodeVisitor):
    """Writes `self.__x` as Python does inside of a class: `self._Class__x`."""

    def __init__(self, cls: str) -> None:
        self.cls = cls

    def _mangled(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__")
        return f"_{self.cls}{name}" if private else name

    def visit_Attribute(self, node: ast.Attribute) -> None:
        node.attr = self._mangled(node.attr)
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        node.id = self._mangled(node.id)

    def visit_arg(self, node: ast.arg) -> None:
        node.arg = self._mangled(node.arg)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg is not None:
            node.arg = self._mangled(node.arg)
        self.generic_visit(node)


#: Where a text may be another one than that of the function, so many places are tried as its end.
FEW_ENDS = 4


def _parse(
    lines: list[str], code: CodeType, most_ends: int | None = None
) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
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
    for end in islice(_ends(lines, first), most_ends):
        text = before + "".join(lines[first - 1 : end])
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError):
            continue
        body = tree.body[0].body if indented and isinstance(tree.body[0], ast.If) else tree.body
        node = body[0] if body else None
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            return node
        return None
    return None


#: What a line begins with that has the name of a function.
_DEFINING = ("def", "async")


def _ends(lines: list[str], first: int) -> Iterator[int]:
    """Numbers of lines after which a definition that begins at `first`, with its decorators, may end."""
    indentation = _indentation(lines[first - 1])
    is_begun = lines[first - 1].lstrip().startswith(_DEFINING)
    for number in range(first + 1, len(lines) + 1):
        line = lines[number - 1]
        if line[:1] in " \t" and not indentation:
            continue
        content = line.strip()
        if content and not content.startswith("#") and _indentation(line) <= indentation:
            if is_begun:
                yield number - 1
            is_begun |= content.startswith(_DEFINING)
    yield len(lines)


def _indentation(line: str) -> int:
    widened = line.expandtabs(8)
    return len(widened) - len(widened.lstrip())


#: Files with a function that Python makes other code of where it stands alone.
_NOT_ALONE: set[str] = set()


def _matches_alone(node: ast.FunctionDef | ast.AsyncFunctionDef | None, function: FunctionType) -> bool:
    """Does the text of a function at the top of its file, compiled without the rest of the file, give the code that is
    loaded? A large file takes longer than a kernel. Where it does not, that need not be the fault of the function's text.

    Python calls what is in a module in another way than a method, and knows modules by their imports.
    """
    loaded = function.__code__
    file = loaded.co_filename
    if node is None or node.col_offset or file in _NOT_ALONE:
        return False
    modules = [name for name in loaded.co_names if isinstance(function.__globals__.get(name), ModuleType)]
    named = [ast.alias(name, lineno=1, col_offset=0) for name in modules]
    imports = [ast.Import([each], lineno=1, col_offset=0) for each in named]
    alone = codes_in(ast.Module([*imports, node], []), loaded).get((loaded.co_name, loaded.co_firstlineno))
    if alone is not None and code_fingerprint(alone) == code_fingerprint(loaded):
        return True
    _NOT_ALONE.add(file)
    return False


#: File → its lines when it was last compiled, and the code of each function in it by name and first line.
_COMPILED: dict[str, tuple[list[str], dict[tuple[str, int], CodeType]]] = {}


def _matches(lines: list[str], loaded: CodeType) -> bool:
    """Does the text compile to the code that is loaded?

    The whole file is compiled, once: what Python makes of a function depends on what surrounds it (closures, classes, and in
    some versions the imports of the module).
    """
    file = loaded.co_filename
    known = _COMPILED.get(file)
    if known is None or known[0] is not lines:
        known = _COMPILED[file] = (lines, codes_in("".join(lines), loaded))
    compiled = known[1].get((loaded.co_name, loaded.co_firstlineno))
    if compiled is None:
        return False
    if code_fingerprint(compiled) == code_fingerprint(loaded):
        return True
    rewritten = any(name.startswith(_REWRITTEN) for name in (*loaded.co_names, *loaded.co_varnames))
    return rewritten and _matches_but_for_asserts("".join(lines), loaded)


def _matches_but_for_asserts(text: str, loaded: CodeType) -> bool:
    """Is everything that the text says beside its asserts in the code that is loaded?

    pytest puts code of its own in the place of each assert of a test module. What Python makes of the rest is in it still.
    """
    try:
        tree = _WithoutAsserts().visit(ast.parse(text))
    except (SyntaxError, ValueError):
        return False
    remaining = codes_in(tree, loaded).get((loaded.co_name, loaded.co_firstlineno))
    return remaining is not None and _content(remaining) <= _content(loaded) and _numbers(remaining) <= _numbers(loaded)


class _WithoutAsserts(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.Pass:
        return ast.copy_location(ast.Pass(), node)


def own_text(lines: list[str], code: CodeType) -> str:
    """The lines of the function alone that code was made of; nothing if they cannot be found."""
    node = _parse(lines, code)
    return "" if node is None else "".join(lines[code.co_firstlineno - 1 : node.end_lineno])


def codes_in(text: str | ast.Module, loaded: CodeType) -> dict[tuple[str, int], CodeType]:
    """What Python makes of the functions in a text, compiled as loaded code was: by name and first line."""
    try:
        module = compile(text, loaded.co_filename, "exec", loaded.co_flags & _FUTURES, True)
    except (SyntaxError, ValueError):
        return {}
    except RecursionError:  # a tree takes more of the stack than the text that it was read from
        if isinstance(text, str):
            raise
        return {}
    found: dict[tuple[str, int], CodeType] = {}
    pending = [module]
    while pending:
        for constant in pending.pop().co_consts:
            if isinstance(constant, CodeType):
                found[constant.co_name, constant.co_firstlineno] = constant
                pending.append(constant)
    return found


def _content(code: CodeType) -> set[object]:
    return {*code.co_names, *code.co_varnames, *((type(c), repr(c)) for c in code.co_consts if not isinstance(c, CodeType))}


def _numbers(code: CodeType) -> set[int | None]:
    return {line for _, _, line in code.co_lines()}
