"""What the bytecode of a function does not tell: its text, as a question of its own.

Python drops things on the way to bytecode that have a meaning in a kernel: the annotation of a local, or whether a value was
chosen by a conditional expression or by an `if`. A function whose bytecode can come from several texts is compared by its
text as well: by its lines, which is quick, and where those differ (a comment, another indentation) by its syntax tree.

Where there is no text at all, nothing can speak against the code that is loaded. A text that is not of the loaded function
(it was edited after the import) is no answer: which text was loaded is not known any more.
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

#: Jumps that only a loop makes.
_LOOP = ("FOR_ITER", "JUMP_BACKWARD", "JUMP_ABSOLUTE")
#: What is between two instructions and does nothing.
_BETWEEN = ("CACHE", "EXTENDED_ARG")


def told_by_code(code: CodeType) -> bool:
    """Can the bytecode come from one text only, as far as a kernel is concerned?

    It can where it is a sequence of expressions and loops: no condition, no assignment to a local (other than the target of
    a loop, which has no annotation), and no place where a statement was that left nothing behind.
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
    """The answer to the question `source`."""
    node = source.node
    first = min((node.lineno, *(decorator.lineno for decorator in node.decorator_list)))
    end = node.end_lineno or first
    return end - first + 1, _digest(source.lines[first - 1 : end]), _tree_digest(source)


def present_text(function: FunctionType, expected: Text) -> Text:
    """The text as it is now: the very object that is expected if nothing speaks against it."""
    if present_lines(function, expected[0]) == expected[1] or not file_lines(function):
        return expected
    return _text(function) or _LOST


#: Of a function whose file holds something else by now. It is the text of no function.
_LOST: Text = (0, "", "")


#: File → its lines when it was last looked at, and the digests of parts of them by first line and number of lines: what
#: several kernels call is looked at for each of them.
_digests: dict[str, tuple[list[str], dict[tuple[int, int], str]]] = {}


def present_lines(function: FunctionType, count: int) -> str:
    """A digest of so many lines from the first one of a function on, as they are now."""
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
    """Is there a text that the function was loaded from?"""
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
    """A digest of the statements of a function, without its docstring. Decorators and annotations are in the signature."""
    import ast

    body = source.node.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str):
        body = body[1:]
    return plain_digest(tree_text(body))
