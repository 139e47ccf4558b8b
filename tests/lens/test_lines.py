"""The lines of a file are those that it has now, however quickly and quietly it was edited."""

import linecache
import os
import zipfile

import pytest

from samovar.lens.lines import file_lines, named_lines

LONG_AGO = (1_700_000_000, 1_700_000_000)


def test_an_edit_that_keeps_size_and_time_is_seen(tmp_path):
    path = tmp_path / "text.py"
    for number in range(60):  # faster than clocks of file systems tick
        path.write_text(f"x = {number % 10}\n")
        os.utime(path, LONG_AGO)
        assert named_lines(str(path)) == [f"x = {number % 10}\n"]


def test_lines_that_are_equal_are_the_same_list(tmp_path):
    path = tmp_path / "text.py"
    path.write_text("x = 1\n")
    first = named_lines(str(path))
    path.write_text("x = 1\n")
    assert named_lines(str(path)) is first


def test_a_file_of_long_ago_is_read_once(tmp_path, monkeypatch):
    path = tmp_path / "text.py"
    path.write_text("x = 1\n")
    monkeypatch.setattr("samovar.lens.lines.time_ns", lambda: os.stat(path).st_ctime_ns + 3_000_000_000)
    first = named_lines(str(path))
    monkeypatch.setattr("builtins.open", None)
    assert named_lines(str(path)) is first


def test_what_linecache_believes_does_not_count(tmp_path):
    path = tmp_path / "text.py"
    path.write_text("x = 1\n")
    os.utime(path, LONG_AGO)
    assert linecache.getlines(str(path)) == ["x = 1\n"]
    path.write_text("x = 2\n")
    os.utime(path, LONG_AGO)
    assert named_lines(str(path)) == ["x = 2\n"]


def test_lines_that_somebody_registered_count(tmp_path):
    path = tmp_path / "cell.py"
    path.write_text("x = 1\n")
    linecache.cache[str(path)] = (6, None, ["x = 3\n"], str(path))
    assert named_lines(str(path)) == ["x = 3\n"]
    del linecache.cache[str(path)]
    assert named_lines(str(path)) == ["x = 1\n"]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"x = 1", ["x = 1\n"]),
        (b"x = 1\r\ny = 2\r", ["x = 1\n", "y = 2\n"]),
        (b"", []),
        (b"\xef\xbb\xbfx = 1\n", ["x = 1\n"]),
        ("x = 'ö'\n".encode(), ["x = 'ö'\n"]),
        (b"# coding: latin-1\nx = '\xc3\xb6'\n", ["# coding: latin-1\n", "x = '\u00c3\u00b6'\n"]),
        (b"\n# coding: latin-1\nx = '\xf6'\n", ["\n", "# coding: latin-1\n", "x = 'ö'\n"]),
        (b"x = 'coding: \xff'\n", []),
        (b"\xff\n", []),
    ],
)  # fmt: skip
def test_lines_are_read_as_python_reads_them(tmp_path, content, lines):
    path = tmp_path / "text.py"
    path.write_bytes(content)
    assert named_lines(str(path)) == lines


def test_there_are_no_lines_of_what_is_not_there(tmp_path):
    assert named_lines(str(tmp_path / "missing.py")) == []
    assert named_lines(str(tmp_path)) == []


def test_the_loader_of_a_module_is_asked_for_what_is_in_no_file(tmp_path, monkeypatch):
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("in_an_archive.py", "def f():\n    return 1\n")
    monkeypatch.syspath_prepend(str(archive))
    import in_an_archive

    assert file_lines(in_an_archive.f) == ["def f():\n", "    return 1\n"]
