"""The question `source`: the source text of a function, where its bytecode is ambiguous.

Compiling to bytecode loses what matters in a kernel: annotations of locals, or whether a conditional expression or an `if`
chose a value. If the bytecode could come from several texts, the source is compared as well: first its lines, which is fast,
and where those differ (a comment, an indentation) its syntax tree.

Without any source, the loaded code is assumed to be current. Source that does not match the loaded function (it was edited
after the import) is not an answer: the text that was loaded is no longer known.
"""

from __future__ import annotations

from samovar._native import plain_digest, tree_text
from samovar.errors import SamovarCompilationError
from samovar.lens.lines import file_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FunctionType

    from samovar.lens.source import FunctionSource

    #: Number of lines, digest of the lines, digest of the syntax tree.
    Text = tuple[int, str, str]

#: Jumps that only loops contain.
_LOOP = ("FOR_ITER", "JUMP_BACKWARD", "JUMP_ABSOLUTE")
#: Padding between instructions.
_BETWEEN = ("CACHE", "EXTENDED_ARG")


def determines_source(code: CodeType) -> bool:
    """Whether the bytecode determines the source, as far as a kernel is concerned.

    It does if it consists of expressions and loops only: no conditions, no assignments to locals (except loop targets, which
    have no annotation), and no trace of statements that compile to nothing.
    """
    from opcode import hasjabs, hasjrel, opname

    jumps = {*hasjabs, *hasjrel}
    instructions = code.co_code
    previous, unpacked = "", 0
    for position in range(0, len(instructions), 2):
        operation = instructions[position]
        name = opname[operation]
        if name in _BETWEEN:
            continue
        if name == "NOP" or (operation in jumps and name not in _LOOP):
            return False
        if name.startswith(("STORE_FAST", "STORE_DEREF")):
            stores = name.count("STORE_")
            if stores > (1 if previous == "FOR_ITER" else unpacked):
                return False
            unpacked -= stores
        elif name == "UNPACK_SEQUENCE" and previous == "FOR_ITER":
            unpacked = instructions[position + 1]
        else:
            unpacked = 0
        previous = name
    return True


def text_of(source: FunctionSource) -> Text:
    """Return the answer to the question `source`."""
    node = source.node
    first = min((node.lineno, *(decorator.lineno for decorator in node.decorator_list)))
    end = node.end_lineno or first
    return end - first + 1, _digest(source.lines[first - 1 : end]), _tree_digest(source)


def present_text(function: FunctionType, expected: Text) -> Text:
    """Return the current text: `expected` itself if it is unchanged or no source is available."""
    if present_lines(function, expected[0]) == expected[1] or not file_lines(function):
        return expected
    return _text(function) or _LOST


#: The answer for a function whose file now contains something else. It equals no function's text.
_LOST: Text = (0, "", "")


#: File → its lines when last read, and digests of ranges by first line and number of lines. Functions that several kernels
#: call are compared for each of them.
_digests: dict[str, tuple[list[str], dict[tuple[int, int], str]]] = {}


def present_lines(function: FunctionType, count: int) -> str:
    """Return a digest of the current `count` lines from the first line of a function on."""
    lines, code = file_lines(function), function.__code__
    known = _digests.get(code.co_filename)
    if known is None or known[0] is not lines:
        known = _digests[code.co_filename] = (lines, {})
    first = code.co_firstlineno
    found = known[1].get((first, count))
    if found is None:
        found = known[1][first, count] = _digest(lines[first - 1 : first - 1 + count])
    return found


def has_text(function: FunctionType) -> bool:
    """Whether the source that the function was loaded from is available."""
    return _text(function) is not None


def _text(function: FunctionType) -> Text | None:
    if not file_lines(function):
        return None
    from samovar.lens.source import function_source, mangle_private_names

    try:
        source = function_source(function)
        mangle_private_names(source, function)
        return text_of(source)
    except SamovarCompilationError:
        return None


def _digest(lines: list[str]) -> str:
    return plain_digest("".join(lines))


def _tree_digest(source: FunctionSource) -> str:
    """Return a digest of a function's statements without its docstring. The signature covers decorators and annotations."""
    import ast

    body = source.node.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
        body = body[1:]
    return plain_digest(tree_text(body))
