"""`samovar new` makes a program that runs and a test that passes."""

import subprocess
import sys

import pytest

from samovar.cli import main


def test_a_new_program_runs_and_its_test_passes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "hot-plate"]) == 0
    assert "created hot-plate/hot_plate.py and hot-plate/test_hot_plate.py" in capsys.readouterr().out
    ran = subprocess.run([sys.executable, "hot-plate/hot_plate.py"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("mean temperature: 0.")
    tested = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "hot-plate"]
    assert "2 passed" in subprocess.run(tested, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("3d", "cannot be the name of a program"),
        ("class", "cannot be the name of a program"),
        ("json", "there is a module json already"),
        ("here", "here exists already"),
    ],
)
def test_names_that_do_not_work_are_told(tmp_path, monkeypatch, capsys, name, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    assert main(["new", name]) == 2
    assert says in capsys.readouterr().err
    assert [each.name for each in tmp_path.iterdir()] == ["here"]
