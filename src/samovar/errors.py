"""The exceptions and warnings of Samovar, and the text of a compile error: what is wrong, where, and what to do.

This module imports nothing at run time, because `import samovar` loads it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    class SourceText(Protocol):
        """Where a function is written: the interface of `samovar.lens.FunctionSource`."""

        @property
        def file(self) -> str: ...
        @property
        def lines(self) -> Sequence[str]: ...
        @property
        def name(self) -> str: ...

    class CallSite(Protocol):
        """One call of a call chain, innermost first: the interface of `samovar.artifact.sites.Frame`."""

        @property
        def function(self) -> str: ...
        @property
        def file(self) -> str: ...
        @property
        def line(self) -> int: ...


class SamovarError(Exception):
    """Base class of all exceptions that Samovar raises on purpose.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarTypeError, sv.SamovarError)
    True
    """


class SamovarCompilationError(SamovarError):
    """A kernel cannot be compiled. Subclasses correspond to the built-in exceptions of Python.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarSyntaxError, sv.SamovarCompilationError)
    True
    """


class SamovarSyntaxError(SamovarCompilationError, SyntaxError):
    """A kernel uses syntax that is not supported.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarSyntaxError, SyntaxError)
    True
    """

    def __init__(self, *arguments: object) -> None:
        SyntaxError.__init__(self, *arguments)
        import builtins

        # IPython shows a location for each SyntaxError, a wrong one if there is none. Others show the one in the message.
        if hasattr(builtins, "get_ipython"):
            self.filename, self.lineno, self.offset = _place_of(str(self))


class SamovarTypeError(SamovarCompilationError, TypeError):
    """A value in a kernel, an annotation or an argument of a Samovar function has the wrong type.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarTypeError, TypeError)
    True
    """


class SamovarSignatureError(SamovarSyntaxError, SamovarTypeError):
    """A mismatch in number: parameters and annotations, targets and values, loop variables and dimensions.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarSignatureError, (sv.SamovarSyntaxError, sv.SamovarTypeError))
    True
    """


class SamovarAxesError(SamovarTypeError, IndexError, AssertionError):
    """An array or field is indexed with more or fewer indices than it has dimensions.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarAxesError, (sv.SamovarTypeError, IndexError))
    True
    """


class SamovarNameError(SamovarCompilationError, NameError):
    """A kernel uses a name that is not defined, or a variable that may be unassigned.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarNameError, NameError)
    True
    """


class SamovarRuntimeError(SamovarError, RuntimeError):
    """A launch failed, for example by an integer overflow in debug mode or an unknown checkpoint.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarRuntimeError, RuntimeError)
    True
    """


class SamovarRuntimeTypeError(SamovarRuntimeError, SamovarTypeError):
    """A kernel was called with an argument that does not match its annotation. Nothing is compiled or run.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarRuntimeTypeError, (sv.SamovarTypeError, sv.SamovarRuntimeError))
    True
    """


class SamovarCallError(SamovarRuntimeTypeError, SamovarSignatureError):
    """A kernel was called with missing, extra or unknown arguments.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarCallError, (sv.SamovarRuntimeTypeError, sv.SamovarSyntaxError))
    True
    """

    __init__ = SamovarSyntaxError.__init__  # sets the location that tracebacks show


class SamovarFieldError(SamovarRuntimeError, SamovarSyntaxError, ValueError):
    """A field cannot have this shape, order or offset, is already placed, or is used before it is placed.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarFieldError, (sv.SamovarRuntimeError, ValueError))
    True
    """

    __init__ = SamovarSyntaxError.__init__  # sets the location that tracebacks show


class SamovarArrayError(SamovarRuntimeTypeError, ValueError):
    """A kernel was called with an array whose dtype, number of dimensions or elements do not match its annotation.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarArrayError, (sv.SamovarRuntimeTypeError, ValueError))
    True
    """


class SamovarAssertionError(SamovarRuntimeError, AssertionError):
    """An `assert` in a kernel failed, or, where bounds are checked, an index was out of range.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarAssertionError, AssertionError)
    True
    """


class SamovarIndexError(SamovarAssertionError, IndexError):
    """An index is out of bounds: in Python, or in a kernel in debug mode or under `check_out_of_bound`.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarIndexError, (IndexError, AssertionError))
    True
    """


class SamovarOptionError(SamovarError, KeyError):
    """`sv.init` has no option of that name.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarOptionError, KeyError)
    True
    """

    __str__ = Exception.__str__  # a KeyError shows the repr of its key; this is a sentence


class SamovarWarning(UserWarning):
    """Something works, but probably not as intended: a lossy assignment, a kernel that is compiled over and over.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarWarning, UserWarning)
    True
    """


#: The warnings already issued in this process.
_warned: set[object] = set()
#: Cells of a notebook that messages have named → their files.
_cells: dict[str, str] = {}


def is_own_file(file: str) -> bool:
    """Whether a file belongs to this package."""
    return file.startswith(__file__.removesuffix("errors.py"))


def warn_once(
    message: str, place: tuple[str, int] | None = None, about: object = None, warned: set[object] | None = None
) -> None:
    """Issue a warning once: at a line of a file, or else at the line of user code that led here.

    `warned` holds the warnings already issued: by `about`, or by message and location if that is not given.
    """
    about, warned = (message, place) if about is None else about, _warned if warned is None else warned
    if about in warned:
        return
    import warnings

    if place is not None:
        warnings.warn_explicit(message, SamovarWarning, *place)
    else:
        import sys

        frame, level = sys._getframe(1), 2
        while frame is not None and frame.f_globals.get("__name__", "").startswith("samovar."):
            frame, level = frame.f_back, level + 1  # type: ignore[assignment]
        warnings.warn(message, SamovarWarning, stacklevel=level)
    warned.add(about)


def meant(name: str, names: Iterable[str]) -> str | None:
    """The name that was probably meant by an unknown one; None if none is close."""
    from difflib import get_close_matches

    close = get_close_matches(name, [each for each in names if not each.startswith("__")], 1)
    return close[0] if close else None


def not_one_of(where: str, value: object, choices: Iterable[object], others: Iterable[str] = ()) -> str:
    """The message for a value that is not one of the choices, with a suggestion. `others` are words that are accepted as
    well."""
    valid = list(choices)
    shown = ", ".join(repr(choice) if isinstance(choice, (str, int)) else str(choice) for choice in valid)
    close = did_you_mean(value, map(str, valid)) or did_you_mean(value, others)
    return f"{where}: {value!r} is not one of {shown}{close}"


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """The end of a message about an unknown name: a suggestion, or nothing if no name is close."""
    close = meant(name, names) if isinstance(name, str) else None
    return f": did you mean {close!r}?" if close else ""


def at(
    source: SourceText,
    node: object,
    message: str,
    advice: str | None = None,
    chain: Sequence[CallSite] = (),
) -> str:
    """The text of a compile error: the message, the file and line, the source line with carets, the help, the calls.

    `node` is the offending syntax, any object with the location attributes of one, or a line number. `chain` lists the
    calls that led there, innermost first.
    """
    line = node if isinstance(node, int) else int(getattr(node, "lineno", 0))
    out = [message, f"  --> {shown_place(source.file, line)}, in {source.name}"]
    out.extend(_excerpt(source.lines, line, None if isinstance(node, int) else node))
    if advice:
        out.append(f"  help: {advice}")
    out += dict.fromkeys(f"  called from {call.function} at {shown_place(call.file, call.line)}" for call in chain)
    return "\n".join(out)


def shown_place(file: str, line: int) -> str:
    """A location as the user knows it: `file:line`, or `Cell In[2], line 3` in a notebook."""
    import builtins

    shell = getattr(builtins, "get_ipython", None)
    # IPython's name of a cell, from version 8 on.
    name_of = None if shell is None else getattr(getattr(shell(), "compile", None), "format_code_name", None)
    cell = None if name_of is None else name_of(file)
    if cell is None:
        return f"{file}:{line}"
    shown = " ".join(cell)
    _cells[shown] = file
    return f"{shown}, line {line}"


def _excerpt(lines: Sequence[str], line: int, node: object) -> list[str]:
    """The source line with its number, and carets under the node."""
    if not 1 <= line <= len(lines):
        return []
    text = lines[line - 1].rstrip("\r\n")
    number = f"{line:>5} | "
    out = [(number + text.expandtabs(4)).rstrip()]
    begin = getattr(node, "col_offset", None)
    if begin is None:
        return out
    end = getattr(node, "end_col_offset", None)
    stripped = len(text.rstrip())
    first = _column(text, begin)
    last = _column(text, end) if end is not None and getattr(node, "end_lineno", line) == line else stripped
    # Tabs are expanded in the line above, so the carets are placed by its expanded prefix.
    left = len(text[:first].expandtabs(4))
    width = max(1, len(text[:last].expandtabs(4)) - left)
    out.append(" " * (len(number) - 2) + "| " + " " * left + "^" * width)
    return out


def pointed_at(lines: Sequence[str], node: object) -> list[str]:
    """The line of a piece of syntax with carets below it; without a line number, which unrelated edits change."""
    found = _excerpt(lines, int(getattr(node, "lineno", 0)), node)
    return [f"      | {line.partition('| ')[2]}" for line in found] if len(found) > 1 else []


def marked_text(lines: Sequence[str], line: int, begin: int, end: int) -> str:
    """The text between two columns of a line, to its end if the second is -1; empty if the line does not exist."""
    text = lines[line - 1].rstrip("\r\n").encode() if 1 <= line <= len(lines) else b""
    return text[begin : end if end >= 0 else None].decode(errors="ignore")


def _place_of(text: str) -> tuple[str, int, int | None]:
    """The file, line and column that the text of an error names; by default the user's current line."""
    _, arrow, below = text.partition("\n  --> ")
    if arrow:
        place, _, excerpt = below.partition("\n")
        where = place.rpartition(", in ")[0]
        cell, _, line = where.rpartition(", line ")
        file = _cells.get(cell, "")
        if not file:
            file, _, line = where.rpartition(":")
        carets = excerpt.partition("\n")[2].partition("\n")[0].partition("| ")[2]
        if line.isdecimal():
            return file, int(line), carets.find("^") + 1 or None
    import sys

    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("samovar."):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, None


def _column(text: str, offset: int) -> int:
    """The number of characters before a byte offset: the syntax tree counts UTF-8 bytes."""
    return len(text.encode()[:offset].decode(errors="ignore"))
