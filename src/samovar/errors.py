"""The exceptions and warnings of Samovar, and the text of a compile error: what was wrong, where, and what to do.

Nothing is imported here at run time: the module is on the way of `import samovar`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Protocol

    class SourceText(Protocol):
        """Where a function was written: what `samovar.lens.FunctionSource` offers."""

        @property
        def file(self) -> str: ...
        @property
        def lines(self) -> Sequence[str]: ...
        @property
        def name(self) -> str: ...

    class CallSite(Protocol):
        """One entry of a call chain, innermost first: what `samovar.artifact.sites.Frame` offers."""

        @property
        def function(self) -> str: ...
        @property
        def file(self) -> str: ...
        @property
        def line(self) -> int: ...


class SamovarError(Exception):
    """The base of everything that Samovar raises on purpose.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarTypeError, sv.SamovarError)
    True
    """


class SamovarCompilationError(SamovarError):
    """A kernel cannot be compiled. What is wrong with it has a class of its own where there is a word for it in Python.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarSyntaxError, sv.SamovarCompilationError)
    True
    """


class SamovarSyntaxError(SamovarCompilationError, SyntaxError):
    """A kernel is written in a way that the language does not have.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarSyntaxError, SyntaxError)
    True
    """

    def __init__(self, *arguments: object) -> None:
        SyntaxError.__init__(self, *arguments)
        import builtins

        # IPython shows a place for each SyntaxError, a wrong one where it has none. Others show those in the message.
        if hasattr(builtins, "get_ipython"):
            self.filename, self.lineno, self.offset = _place_of(str(self))


class SamovarTypeError(SamovarCompilationError, TypeError):
    """A value in a kernel or an annotation has the wrong type, or a function of ours got something that it cannot take.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarTypeError, TypeError)
    True
    """


class SamovarSignatureError(SamovarSyntaxError, SamovarTypeError):
    """What is written does not fit what it is given: parameters and their annotations, names for values, axes of a loop.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarSignatureError, (sv.SamovarSyntaxError, sv.SamovarTypeError))
    True
    """


class SamovarAxesError(SamovarTypeError, IndexError):
    """An array or field is given more or fewer indices than it has axes.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarAxesError, (sv.SamovarTypeError, IndexError))
    True
    """


class SamovarNameError(SamovarCompilationError, NameError):
    """A kernel uses a name that nothing has, or that may not have a value yet.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarNameError, NameError)
    True
    """


class SamovarRuntimeError(SamovarError, RuntimeError):
    """A launch failed: an integer overflow in debug mode, a checkpoint that is not there.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarRuntimeError, RuntimeError)
    True
    """


class SamovarRuntimeTypeError(SamovarRuntimeError, SamovarTypeError):
    """A kernel was called with an argument that does not fit its annotation: nothing is compiled for it, and nothing runs.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarRuntimeTypeError, (sv.SamovarTypeError, sv.SamovarRuntimeError))
    True
    """


class SamovarCallError(SamovarRuntimeTypeError, SamovarSignatureError):
    """A kernel was called with too few arguments, too many, or ones that it does not know.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarCallError, (sv.SamovarRuntimeTypeError, sv.SamovarSyntaxError))
    True
    """

    __init__ = SamovarSyntaxError.__init__  # tracebacks show what it keeps


class SamovarFieldError(SamovarRuntimeError, SamovarSyntaxError, ValueError):
    """A field cannot have this shape, order or offset, or has a place already.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarFieldError, (sv.SamovarRuntimeError, ValueError))
    True
    """

    __init__ = SamovarSyntaxError.__init__  # tracebacks show what it keeps


class SamovarArrayError(SamovarRuntimeTypeError, ValueError):
    """The same for an array whose dtype, number of axes or elements do not fit.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarArrayError, (sv.SamovarRuntimeTypeError, ValueError))
    True
    """


class SamovarAssertionError(SamovarRuntimeError, AssertionError):
    """An `assert` inside a kernel did not hold, or, where the kernel was compiled to look, an index was out of range.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarAssertionError, AssertionError)
    True
    """


class SamovarIndexError(SamovarAssertionError, IndexError):
    """An index is out of bounds, in debug mode or under `check_out_of_bound`.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarIndexError, (IndexError, AssertionError))
    True
    """


class SamovarOptionError(SamovarError, KeyError):
    """`sv.init` has no option of this name.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarOptionError, KeyError)
    True
    """

    __str__ = Exception.__str__  # a key that is missing shows as its repr; this is a sentence


class SamovarWarning(UserWarning):
    """Something works, but not as well as it could: a lossy assignment, a kernel that is compiled again and again.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarWarning, UserWarning)
    True
    """


#: What users were warned of in this process.
_told: set[object] = set()


def is_own_file(file: str) -> bool:
    """Is a file one of this package?"""
    return file.startswith(__file__.removesuffix("errors.py"))


def warn_once(
    message: str, place: tuple[str, int] | None = None, about: object = None, told: set[object] | None = None
) -> None:
    """Warn, unless that was done before: about a line of a file, or else about the line of the user's that has led here.

    What was done before is in `told`, by `about`, or by message and place where that is not given.
    """
    about, told = (message, place) if about is None else about, _told if told is None else told
    if about in told:
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
    told.add(about)


def meant(name: str, names: Iterable[str]) -> str | None:
    """Which of the names was probably meant by one that there is not; None where none is close."""
    from difflib import get_close_matches

    close = get_close_matches(name, [each for each in names if not each.startswith("__")], 1)
    return close[0] if close else None


def not_one_of(where: str, value: object, choices: Iterable[object], others: Iterable[str] = ()) -> str:
    """What to say of a value that is none of the choices: which they are, and which was probably meant. `others` are words
    that are accepted as well."""
    valid = list(choices)
    shown = ", ".join(repr(choice) if isinstance(choice, (str, int)) else str(choice) for choice in valid)
    close = did_you_mean(value, map(str, valid)) or did_you_mean(value, others)
    return f"{where}: {value!r} is not one of {shown}{close}"


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """The end of a message about a name that there is not: a question, or nothing where none is close."""
    close = meant(name, names) if isinstance(name, str) else None
    return f": did you mean {close!r}?" if close else ""


def at(
    source: SourceText,
    node: object,
    message: str,
    advice: str | None = None,
    chain: Sequence[CallSite] = (),
) -> str:
    """The text of a compile error: the message, the file and line, the source line with a caret span, the advice, the calls.

    `node` is the syntax at fault, what has the attributes of its place, or a line number. `chain` lists the calls that led
    there, innermost first.
    """
    line = node if isinstance(node, int) else int(getattr(node, "lineno", 0))
    out = [message, f"  --> {source.file}:{line}, in {source.name}"]
    out.extend(_excerpt(source.lines, line, None if isinstance(node, int) else node))
    if advice:
        out.append(f"  help: {advice}")
    for call in chain:
        out.append(f"  called from {call.function} at {call.file}:{call.line}")
    return "\n".join(out)


def _excerpt(lines: Sequence[str], line: int, node: object) -> list[str]:
    """The line with its number, and below it carets under the node."""
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
    # Tabs are widened in the line above, so the carets are placed by its widened prefix.
    left = len(text[:first].expandtabs(4))
    width = max(1, len(text[:last].expandtabs(4)) - left)
    out.append(" " * (len(number) - 2) + "| " + " " * left + "^" * width)
    return out


def pointed_at(lines: Sequence[str], node: object) -> list[str]:
    """The line of some syntax and carets below it, without its number, which an edit elsewhere changes."""
    found = _excerpt(lines, int(getattr(node, "lineno", 0)), node)
    return [f"      | {line.partition('| ')[2]}" for line in found] if len(found) > 1 else []


def marked_text(lines: Sequence[str], line: int, begin: int, end: int) -> str:
    """What is between two columns of a line, or from one to its end where the other is -1; nothing if it is not there."""
    text = lines[line - 1].rstrip("\r\n").encode() if 1 <= line <= len(lines) else b""
    return text[begin : end if end >= 0 else None].decode(errors="ignore")


def _place_of(text: str) -> tuple[str, int, int | None]:
    """The file, line and column that the text of an error names; else where the user's program is."""
    _, arrow, below = text.partition("\n  --> ")
    if arrow:
        place, _, excerpt = below.partition("\n")
        file, _, line = place.rpartition(", in ")[0].rpartition(":")
        carets = excerpt.partition("\n")[2].partition("\n")[0].partition("| ")[2]
        if line.isdecimal():
            return file, int(line), carets.find("^") + 1 or None
    import sys

    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("samovar."):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, None


def _column(text: str, offset: int) -> int:
    """Characters before a byte offset: the syntax tree counts UTF-8 bytes."""
    return len(text.encode()[:offset].decode(errors="ignore"))
