"""The source of a function: its syntax tree with the line numbers of its file, verified against the loaded code.

A file may change after it was imported. Compiling the new text as if it were the loaded function would be wrong, so Python
compiles the text as well, and both code objects have to be equivalent.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from types import CodeType, FunctionType, ModuleType

from samovar._native import code_fingerprint
from samovar.errors import SamovarSyntaxError, shown_place
from samovar.lens.lines import file_lines
from samovar.lens.nesting import raised_recursion_limit, with_large_stack

_FUTURES = 0x1FE0000  # the `from __future__` bits of co_flags
_LAMBDA = "<lambda>"
_REWRITTEN = "@py"  # prefix of names that pytest's assertion rewriting adds


class FunctionSource:
    """The syntax tree of a function, the lines of its file, the file, and the function's name."""

    __slots__ = ("file", "lines", "name", "node")

    def __init__(self, node: ast.FunctionDef, lines: list[str], file: str, name: str) -> None:
        self.node = node
        self.lines = lines
        self.file = file
        self.name = name


def function_source(function: FunctionType, is_compared: bool = False) -> FunctionSource:
    """Read and verify the source of a function. `is_compared` means that the lines are already known to match its code."""
    with raised_recursion_limit(function.__qualname__):
        return with_large_stack(lambda: _function_source(function, is_compared))


def _function_source(function: FunctionType, is_compared: bool) -> FunctionSource:
    code = function.__code__
    lines = file_lines(function)
    if not lines:
        raise _not_available(function)
    node: ast.FunctionDef | ast.AsyncFunctionDef | None
    if code.co_name == _LAMBDA:
        node = _lambda(lines, code)
    else:
        node = _parse(lines, code, FEW_ENDS)
        if not (is_compared and node is not None) and not _matches_alone(node, function):
            node = _parse(lines, code) if _matches(lines, code) else None
    if node is None and code.co_filename.startswith("<"):
        raise _not_available(function)  # for a name such as "<string>", the text may belong to something else
    if node is None:
        raise SamovarSyntaxError(
            f"the source of {function.__qualname__} ({_place(code)}) does not match the"
            " loaded code\n"
            "  help: the file has changed since it was imported: restart Python or reload the module"
            " (an import hook that rewrites code has the same effect)"
        )
    if not isinstance(node, ast.FunctionDef):
        raise SamovarSyntaxError(
            f"{function.__qualname__} is an async function ({_place(code)})\n"
            "  help: a kernel or func is a plain def"
        )
    return FunctionSource(node, lines, code.co_filename, function.__name__)


def _place(code: CodeType) -> str:
    return shown_place(code.co_filename, code.co_firstlineno)


def _not_available(function: FunctionType) -> SamovarSyntaxError:
    code = function.__code__
    return SamovarSyntaxError(
        f"the source of {function.__qualname__} is not available ({_place(code)})\n"
        "  help: kernels are compiled from source: put the function in a file or a notebook cell"
        " (Python does not keep long programs read from a pipe, nor text passed to exec unless the caller still holds"
        " it)"
    )


def mangle_private_names(source: FunctionSource, function: FunctionType) -> None:
    """Mangle private names in a syntax tree as in the loaded code."""
    private = _class_around(function)
    if private is not None:
        with raised_recursion_limit(function.__qualname__):
            _Mangler(private).visit(source.node)


def _class_around(function: FunctionType) -> str | None:
    """Return the innermost class around a function, as private names contain it, or None."""
    parts = getattr(function.__code__, "co_qualname", function.__qualname__).split(".")[:-1]
    while parts and parts[-1] == "<locals>":
        del parts[-2:]
    name = parts[-1].lstrip("_") if parts else ""
    return name or None


class _Mangler(ast.NodeVisitor):
    """Mangles `self.__x` to `self._Class__x`, as Python does inside classes."""

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


#: How many candidate ends are tried before the text is known to match the function.
FEW_ENDS = 4


def _parse(
    lines: list[str], code: CodeType, most_ends: int | None = None
) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Parse the definition that starts at the first line of the code.

    Only the lines of the function are parsed: parsing a large file for each kernel would take longer than compiling the
    kernel. Indentation tells where the function ends; if a string or an open bracket spans a less indented line, parsing
    fails and the next candidate is tried.
    """
    first = code.co_firstlineno
    if not 1 <= first <= len(lines):
        return None
    indented = lines[first - 1][:1] in (" ", "\t")
    # Blank lines preserve the line numbers, and an `if` the columns of an indented definition.
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


#: How lines begin that name a function.
_DEFINING = ("def", "async")


def _ends(lines: list[str], first: int) -> Iterator[int]:
    """Yield the numbers of lines after which a definition that starts at `first`, with its decorators, may end."""
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


#: Files with a function that compiles differently without the rest of the file.
_NOT_ALONE: set[str] = set()


def _matches_alone(node: ast.FunctionDef | ast.AsyncFunctionDef | None, function: FunctionType) -> bool:
    """Whether a top-level function, compiled without the rest of its file, gives the loaded code: compiling a large file
    takes longer than a kernel. False does not imply that the source is wrong.

    The imports are compiled along, because Python emits different calls for attributes of imported modules than for methods.
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


#: File → its lines when it was last compiled, and the code of its functions by name and first line.
_COMPILED: dict[str, tuple[list[str], dict[tuple[str, int], CodeType]]] = {}


def _matches(lines: list[str], loaded: CodeType) -> bool:
    """Whether the source compiles to the loaded code.

    The whole file is compiled, once, because the code of a function depends on its context (closures, classes, and in some
    versions the imports of the module).
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
    """Whether the loaded code contains everything in the source except its asserts.

    pytest rewrites the asserts of test modules and leaves the rest unchanged.
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


#: File → its lines when a lambda was last read, and their syntax tree.
_TREES: dict[str, tuple[list[str], ast.Module]] = {}


def _lambda(lines: list[str], loaded: CodeType) -> ast.FunctionDef | None:
    """Return the lambda that compiles to the loaded code, as the definition of a function that returns its value.

    A line may have several lambdas. If two of them compile to the same code from different texts, it is not known which one
    was loaded.
    """
    tree = _tree(lines, loaded.co_filename)
    first = loaded.co_firstlineno
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda) and node.lineno == first]
    if len(found) == 1:
        found = found if _matches(lines, loaded) else []
    else:
        digest = code_fingerprint(loaded)
        # Compiled as if it were on a line of its own, which tells its code apart.
        distance = len(lines)
        codes = []
        for node in found:
            ast.increment_lineno(node, distance)
            codes.append(codes_in(tree, loaded).get((_LAMBDA, first + distance)))
            ast.increment_lineno(node, -distance)
        found = [
            node for node, code in zip(found, codes, strict=True) if code is not None and code_fingerprint(code) == digest
        ]
    if len({ast.dump(node) for node in found}) > 1:
        raise SamovarSyntaxError(
            f"several lambdas on the same line compile to the same code ({_place(loaded)})\n"
            "  help: write them on separate lines"
        )
    if not found:
        return None
    result = ast.copy_location(ast.Return(found[0].body), found[0].body)
    return ast.copy_location(ast.FunctionDef(_LAMBDA, found[0].args, [result], []), found[0])


def _tree(lines: list[str], file: str) -> ast.Module:
    known = _TREES.get(file)
    if known is None or known[0] is not lines:
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            tree = ast.Module([], [])
        known = _TREES[file] = (lines, tree)
    return known[1]


def own_text(lines: list[str], code: CodeType) -> str:
    """Return the lines of the function that compiles to `code`; empty if they are not found."""
    node = _lambda(lines, code) if code.co_name == _LAMBDA else _parse(lines, code)
    return "" if node is None else "".join(lines[code.co_firstlineno - 1 : node.end_lineno])


def codes_in(text: str | ast.Module, loaded: CodeType) -> dict[tuple[str, int], CodeType]:
    """Compile a text with the flags of loaded code, and return the code of its functions by name and first line."""
    try:
        module = compile(text, loaded.co_filename, "exec", loaded.co_flags & _FUTURES, True)
    except (SyntaxError, ValueError):
        return {}
    except RecursionError:  # compiling a tree takes more stack than compiling text
        if isinstance(text, str):
            raise
        return {}
    found: dict[tuple[str, int], CodeType] = {}
    pending = [module]
    while pending:
        for constant in pending.pop().co_consts:
            if isinstance(constant, CodeType):
                found.setdefault((constant.co_name, constant.co_firstlineno), constant)  # the outermost of several lambdas
                pending.append(constant)
    return found


def _content(code: CodeType) -> set[object]:
    return {*code.co_names, *code.co_varnames, *((type(c), repr(c)) for c in code.co_consts if not isinstance(c, CodeType))}


def _numbers(code: CodeType) -> set[int | None]:
    return {line for _, _, line in code.co_lines()}
