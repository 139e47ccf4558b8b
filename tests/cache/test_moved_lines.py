"""Lines are part of a kernel where messages name them, and only there: a comment above it is compiled for in debug mode."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import json, sys
import samovar as sv
sv.init(offline_cache_file_path=sys.argv[1], **json.loads(sys.argv[2]))

@sv.func
def checked(n: sv.i32) -> sv.i32:
    assert n != 3, "three"
    return n

@sv.kernel
def k(n: sv.i32) -> sv.i32:
    return checked(n) + 1

try:
    said = str(k(3))
except sv.SamovarAssertionError as error:
    said = str(error)
print(json.dumps([said, k.cache_observations.compiles]))
"""


def run(path: Path, store: Path, **options: bool) -> tuple[str, int]:
    command = [sys.executable, str(path), str(store), json.dumps(options)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said, compiles = json.loads(done.stdout)
    return said, compiles


def test_a_message_names_the_line_where_it_is_now(tmp_path: Path) -> None:
    program, store = tmp_path / "program.py", tmp_path / "store"
    program.write_text(PROGRAM)
    before, _ = run(program, store, debug=True)
    assert "program.py:7" in before
    assert run(program, store, debug=True) == (before, 0)
    program.write_text("# a comment\n\n" + PROGRAM)
    after, _ = run(program, store, debug=True)
    assert "program.py:9" in after
    assert "program.py:7" not in after


@pytest.mark.parametrize("added", ["# a comment\n\n", "\n" * 40])
def test_lines_that_nobody_is_told_of_do_not_count(tmp_path: Path, added: str) -> None:
    program, store = tmp_path / "program.py", tmp_path / "store"
    program.write_text(PROGRAM)
    assert run(program, store) == ("4", 1)
    program.write_text(added + PROGRAM)
    assert run(program, store) == ("4", 0)
