"""A store that a program has filled, for every test a copy of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import COLD, PROGRAM, run_program


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="session")
def filled(tmp_path_factory, program) -> Path:
    directory = tmp_path_factory.mktemp("filled") / "store"
    assert run_program(program, directory) == COLD
    return directory


@pytest.fixture
def store(filled, tmp_path) -> Path:
    return Path(shutil.copytree(filled, tmp_path / "store"))
