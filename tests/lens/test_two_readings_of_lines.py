"""Lines of functions are read in Python, which is the reference, and in C where a file is plain: both see the file as it is
now, however quickly and quietly it was edited."""

import linecache
import mmap
import os
import sys
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samovar.language.annotations import signature_of
from samovar.language.options import Options
from samovar.lens.path import Path
from samovar.lens.recognition import CARRIED
from samovar.lens.replaying import Replay
from samovar.lens.serialized import PathTable
from samovar.lens.source import function_source
from samovar.lens.text import present_lines, text_of

#: The annotation of a local is not in the bytecode, so that another one is another text of the same code.
TEXT = "def f():\n    x: t{} = 1\n    return x\n"
LONG_AGO = (1_700_000_000, 1_700_000_000)
KERNEL = Path(None, "kernel", "kernel")


class Watched(Replay):
    """Counts the questions that native code has left to Python."""

    __slots__ = ("left",)

    def _agrees_encoded(self, number, question, encoded):
        self.left = getattr(self, "left", 0) + 1
        return super()._agrees_encoded(number, question, encoded)


def function_in(path, name="f"):
    module = types.ModuleType("in_a_file")
    content = path.read_bytes()
    exec(compile(content, str(path), "exec"), vars(module))
    return vars(module)[name]


def asked(function, expected, native=True):
    """Whether the text of a function is as expected, and whether Python was asked."""
    table = PathTable([])
    step = (table.number(KERNEL), "source", table.encoded(expected))
    again = Watched(table, function, {}, signature_of(function, sys._getframe(), {}), Options())
    return again.agreeing([step], native) == 1, getattr(again, "left", 0) > 0


def text_in(function):
    return text_of(function_source(function))


@pytest.mark.parametrize(
    ("content", "is_plain"),
    [
        (b"def f():\n    return 1\n", True),
        (b"\n\ndef f():\n    return 1", True),
        ("def f():\n    return 'ö'\n".encode(), True),
        (b"def f():\n    return 'coding'\n", False),
        (b"def f():\n    x = 1\n    return 'coding'\n", True),
        (b"def f():\r\n    return 1\r\n", False),
        (b"\xef\xbb\xbfdef f():\n    return 1\n", False),
        (b"# coding: latin-1\ndef f():\n    return '\xf6'\n", False),
    ],
)
def test_plain_files_need_no_python(tmp_path, content, is_plain):
    path = tmp_path / "text.py"
    path.write_bytes(content)
    function = function_in(path)
    expected = text_in(function)
    assert asked(function, expected) == (True, not is_plain)
    assert asked(function, expected, native=False) == (True, True)
    other = (expected[0], "0" * 40, "0" * 40)
    assert asked(function, other) == asked(function, other, native=False) == (False, True)


def test_an_edit_that_keeps_size_and_time_is_seen(tmp_path):
    path = tmp_path / "text.py"
    path.write_text(TEXT.format(0))
    os.utime(path, LONG_AGO)
    function = function_in(path)
    expected = text_in(function)
    for number in range(1, 60):  # faster than clocks of file systems tick
        path.write_text(TEXT.format(number % 10))
        os.utime(path, LONG_AGO)
        assert asked(function, expected) == (number % 10 == 0, number % 10 != 0)


@pytest.mark.parametrize("native", [True, False])
def test_an_edit_that_leaves_all_times_as_they_are_is_seen(tmp_path, native):
    """Within a tick of the clock of a file system; here through memory, which is written to the file with no word said."""
    path = tmp_path / "text.py"
    path.write_text(TEXT.format(0))
    function = function_in(path)
    expected = text_in(function)
    with open(path, "r+b") as opened, mmap.mmap(opened.fileno(), 0) as memory:
        place = TEXT.index("{")
        memory[place] = ord("0")  # from here on, writing changes no times
        assert asked(function, expected, native)[0]
        memory[place] = ord("1")
        assert not asked(function, expected, native)[0]


def test_an_edit_elsewhere_in_the_file_is_none(tmp_path):
    path = tmp_path / "text.py"
    path.write_text("def f():\n    return 0\n\nx = 1\n")
    function = function_in(path)
    expected = text_in(function)
    path.write_text("def f():\n    return 0\n\nx = 2222\n")
    assert asked(function, expected) == (True, False)


def test_a_comment_is_read_again_in_python(tmp_path):
    path = tmp_path / "text.py"
    path.write_text("def f():\n    return 0\n")
    function = function_in(path)
    expected = text_in(function)
    path.write_text("def f():\n    return 0  # nothing\n")
    assert asked(function, expected) == (True, True)
    path.write_text("# begun anew\n")
    assert asked(function, expected) == asked(function, expected, native=False) == (False, True)
    path.unlink()
    assert asked(function, expected) == (True, True)  # nothing speaks against the code that is loaded


def test_lines_that_somebody_registered_count(tmp_path):
    path = tmp_path / "text.py"
    path.write_text(TEXT.format(0))
    function = function_in(path)
    expected = text_in(function)
    assert asked(function, expected) == (True, False)
    linecache.cache[str(path)] = (22, None, TEXT.format(5).splitlines(keepends=True), str(path))
    try:
        assert asked(function, expected) == asked(function, expected, native=False) == (False, True)
    finally:
        del linecache.cache[str(path)]
    assert asked(function, expected) == (True, False)


def test_code_that_has_brought_its_text_is_not_looked_up_in_files(tmp_path):
    path = tmp_path / "text.py"
    path.write_text("def f():\n    return 0\n")
    function = function_in(path)
    expected = text_in(function)
    CARRIED.add(id(function.__code__))
    try:
        assert asked(function, expected)[1]
    finally:
        CARRIED.discard(id(function.__code__))
    assert not asked(function, expected)[1]


LINES = st.sampled_from(["def f():", "    return x", "", "# ö", "\t# coding", "y = '\u2028\x0c'", "z = 1\r", "end"])
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@settings(max_examples=200)
@given(st.lists(LINES, max_size=12), ENDS, st.booleans(), st.integers(0, 14), st.integers(-1, 14))
def test_digests_of_lines_are_the_same(tmp_path_factory, lines, end, is_complete, first, count):
    path = tmp_path_factory.getbasetemp() / "drawn.py"
    path.write_bytes((end.join(lines) + (end if is_complete else "")).encode())

    def function():
        pass

    function.__code__ = function.__code__.replace(co_filename=str(path), co_firstlineno=first)
    digest = present_lines(function, count)
    assert asked(function, (count, digest, ""))[0]
    assert asked(function, (count, "0" * 40, ""))[1]  # native code never takes other lines for these
