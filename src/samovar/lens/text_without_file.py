"""Source that is not in a file: passed to `exec` or `python -c`, or typed at a prompt.

Python does not keep it. When a function is decorated, the caller that runs the text may still hold it: such strings are
remembered, and examined only if the function has to be compiled. A string is the source of the function if Python compiles
it to the same code. If several are and differ in meaning (see `text`), none is used: samovar does not guess.
"""

from __future__ import annotations

import os
import sys

from samovar._native import held_input
from samovar.lens.recognition import CARRIED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType

#: How many functions are remembered; the oldest are dropped.
MOST_FUNCTIONS = 1024
#: In bytes; a larger file is unlikely to be a program.
LARGEST_FILE = 4 << 20
#: How many lines of the prompt's history are searched for the start of a function.
MOST_TYPED = 200

#: By the identity of the code, which the table keeps alive: candidate texts, and the lines once found. Equal code objects
#: may have different sources.
_texts: dict[int, tuple[CodeType, tuple[str, ...]]] = {}
_lines: dict[int, list[str]] = {}


def remember_texts(code: CodeType, frame: FrameType | None) -> None:
    """Remember candidate source texts of a function that is being decorated in a frame."""
    held = _held_texts(frame)
    texts = [text for text in held if f"def {code.co_name}" in text]
    if not texts:
        texts = [text for text in _texts_of_files(held) if f"def {code.co_name}" in text]
    if not texts and code.co_filename == "<stdin>":
        texts = _redirected_text() or _piped_texts(code)
    if not texts and code.co_filename != "<stdin>":
        return
    _evict_oldest()
    _texts[id(code)] = (code, tuple(texts))


def carry_text(code: CodeType, text: str) -> None:
    """Remember the source of a function that comes from another process, whose files may not exist here."""
    if text:
        _evict_oldest()
        _texts[id(code)] = (code, (text,))
        CARRIED.add(id(code))


def _evict_oldest() -> None:
    if len(_texts) >= MOST_FUNCTIONS:
        oldest = next(iter(_texts))
        _lines.pop(oldest, None)
        CARRIED.discard(oldest)
        del _texts[oldest]


def _held_texts(frame: FrameType | None) -> list[str]:
    caller = None if frame is None else frame.f_back
    held: list[object] = []
    if caller is not None:
        for value in (*caller.f_locals.values(), *caller.f_code.co_consts):
            # A path or an open file: `exec(path.read_text())` does not keep the text.
            name = getattr(value, "name", None) if hasattr(value, "read") else None
            is_path = type(value).__module__.startswith("pathlib")
            held.append(str(value) if is_path else name if isinstance(name, str) else value)
    arguments = getattr(sys, "orig_argv", [])
    if "-c" in arguments:
        held += arguments[arguments.index("-c") + 1 :][:1]
    return [text for text in held if type(text) is str]


def _texts_of_files(names: list[str]) -> list[str]:
    """Return the contents of files that strings name: `exec(open(name).read())` does not keep the text, the file does."""
    texts = []
    for name in names:
        if len(name) < 4096 and "\n" not in name and "\0" not in name and os.path.isfile(name):
            try:
                with open(name, encoding="utf-8") as file:
                    texts.append(file.read(LARGEST_FILE))
            except (OSError, UnicodeDecodeError):
                continue
    return texts


def _redirected_text() -> list[str]:
    """Return the program on standard input if that is a file: `python - < file`."""
    try:
        size = os.fstat(0).st_size
        return [os.pread(0, min(size, LARGEST_FILE), 0).decode()] if os.path.isfile("/dev/fd/0") else []
    except (OSError, UnicodeDecodeError):
        return []


def _piped_texts(code: CodeType) -> list[str]:
    """Return candidates for a program that came through a pipe: `python - <<EOF`. The C library holds the last block that
    was read: all of a short program, or the functions at the end of a longer one."""
    # The buffer may contain garbage after the text: cut it off.
    held = held_input().decode(errors="replace")
    end = next((index for index, each in enumerate(held) if not (each.isprintable() or each.isspace())), len(held))
    *lines, _ = held[:end].partition("\ufffd")[0].split("\n")
    found = ["".join(f"{line}\n" for line in lines)]
    for index, line in enumerate(lines):
        if line.startswith(f"def {code.co_name}"):
            while index and lines[index - 1].startswith("@"):
                index -= 1
            found.append("\n" * (code.co_firstlineno - 1) + "".join(f"{each}\n" for each in _block(lines[index:])))
    return found


def lines_without_file(code: CodeType) -> list[str]:
    """Return the lines that the code was compiled from; empty if unknown or ambiguous."""
    known = _texts.get(id(code))
    if known is None:
        return []
    if id(code) not in _lines:
        from samovar.lens.source import own_text

        texts = (*known[1], *(_typed_texts() if code.co_filename == "<stdin>" else ()))
        making = [text.splitlines(keepends=True) for text in dict.fromkeys(texts) if _makes(text, code)]
        certain = len({own_text(lines, code) for lines in making}) == 1
        _lines[id(code)] = making[0] if certain else []
    return _lines[id(code)]


def _typed_texts() -> list[str]:
    """Return the end of the prompt's history, once from each line that may start a function."""
    readline = sys.modules.get("readline")
    if readline is None:
        return []
    last = readline.get_current_history_length()
    lines = [readline.get_history_item(number) or "" for number in range(max(1, last - MOST_TYPED), last + 1)]
    starts = [index for index, line in enumerate(lines) if line.startswith(("@", "def "))]
    return ["".join(f"{line}\n" for line in _block(lines[start:])) for start in reversed(starts)]


def _block(lines: list[str]) -> list[str]:
    """Return the lines of the first statement: up to the next unindented line that starts another."""
    end = 1
    decorated = lines[0].startswith("@")
    while end < len(lines) and (decorated or not lines[end] or lines[end][0] in " \t#)"):
        decorated = decorated and not lines[end].startswith("def ")
        end += 1
    return lines[:end]


def _makes(text: str, code: CodeType) -> bool:
    """Whether a text compiles to the code, including the positions of its instructions."""
    from samovar.lens.source import codes_in

    made = codes_in(text, code).get((code.co_name, code.co_firstlineno))
    return made is not None and made.co_code == code.co_code and made == code and made.co_linetable == code.co_linetable
