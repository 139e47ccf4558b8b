"""`samovar cache list` and `stats`, and how every command fails."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import WARM, contents, data, entries, environment, run_program, samovar_command, succeeds

import samovar
from samovar.cli.quantities import counted, duration, shown_seconds, shown_size, size


def test_list_shows_every_kernel_with_its_place_and_cost(store, program):
    rows = data("cache", "list", directory=store)
    assert [row["name"] for row in rows] == ["__main__.scale"] * 3 + ["__main__.two"]
    assert {(row["file"], row["line"]) for row in rows} == {(str(program), 7), (str(program), 12)}
    assert all(row["usable"] and row["size"] > 500 and row["seconds"] > 0 and len(row["key"]) == 40 for row in rows)
    text = succeeds("cache", "list", directory=store)
    assert text.count("__main__.scale") == 3
    assert f"{program}:12" in text
    assert all(row["key"][:10] in text for row in rows)
    assert "4 artifacts of 2 kernels" in text


@pytest.mark.parametrize(("pattern", "number"), [("two", 1), ("__main__.scale", 3), ("sc*", 3), ("__main__.*", 4)])
def test_list_takes_names_and_patterns(store, pattern, number):
    assert len(data("cache", "list", pattern, directory=store)) == number


@pytest.mark.parametrize("command", ["list", "explain"])
def test_a_name_that_no_kernel_has_is_a_problem(store, command):
    done = samovar_command("cache", command, "cale", "nosuch*", directory=store)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"samovar: no kernel called cale or nosuch* in {store}")
    assert list(data("cache", command, "cale", directory=store, code=1)) == ["error"]


def test_looking_changes_nothing(store):
    old = 1_000_000_000
    for path in store.rglob("*"):
        os.utime(path, (old, old))
    before = contents(store)
    for command in (["list"], ["stats"], ["explain"], ["verify"]):
        succeeds("cache", *command, directory=store)
    assert contents(store) == before
    assert all(path.stat().st_mtime == old for path in store.rglob("*") if path.is_file())


def test_a_store_that_is_not_there_is_empty_and_stays_away(tmp_path):
    missing = tmp_path / "missing"
    assert data("cache", "list", directory=missing) == []
    assert "no kernels" in succeeds("cache", "list", directory=missing)
    assert "no kernels" in succeeds("cache", "explain", directory=missing)
    assert data("cache", "stats", directory=missing)["hit_rate"] is None
    assert data("cache", "verify", directory=missing)["damaged"] == 0
    assert data("cache", "prune", "--other-versions", directory=missing)["removed"] == 0
    assert data("cache", "clear", directory=missing)["removed"] == 0
    assert not missing.exists()


def test_a_directory_can_be_named(store, tmp_path):
    assert len(data("cache", "list", "--directory", store, directory=tmp_path / "other")) == 4
    assert data("cache", "list", "--directory", tmp_path / "other", directory=store) == []


def test_stats_count_entries_loads_and_what_was_saved(store, program):
    before = data("cache", "stats", directory=store)
    assert before["entries"]["kernels"]["count"] == 4
    assert before["entries"]["trees"]["count"] == before["entries"]["names"]["count"] == 2
    assert before["size"] == sum(each["size"] for each in before["entries"].values())
    assert (before["loads"], before["compiles"], before["hit_rate"]) == (0, 4, 0.0)
    assert run_program(program, store) == WARM
    after = data("cache", "stats", directory=store)
    assert (after["loads"], after["compiles"], after["hit_rate"]) == (4, 4, 0.5)
    assert after["seconds_saved"] > 0
    assert "loaded 4 of 8 kernels (50.0%)" in succeeds("cache", "stats", directory=store)


def test_entries_of_another_version_are_listed_as_such(store, program):
    run_program(program, store, SAMOVAR_BUILD_CACHE_VERSION_ID="other")
    rows = data("cache", "list", directory=store)
    assert sorted(row["usable"] for row in rows) == [False] * 4 + [True] * 4
    assert succeeds("cache", "list", directory=store).count("other version or machine") == 4


def test_a_damaged_entry_is_passed_over(store):
    entries(store, "kernels")[0].write_bytes(b"rubbish")
    assert len(data("cache", "list", directory=store)) == 3


@pytest.mark.parametrize(
    "arguments",
    [[], ["cache"], ["cache", "boil"], ["cache", "prune", "--older-than", "soon"], ["cache", "prune", "--max-size", "big"]],
)
def test_wrong_usage_ends_with_two(store, arguments):
    done = samovar_command(*arguments, directory=store)
    assert done.returncode == 2
    assert "usage:" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_directory_that_others_can_write_to_is_refused(store):
    store.chmod(0o777)
    done = samovar_command("cache", "list", directory=store)
    assert (done.returncode, done.stdout) == (1, "")
    assert "others can write to it" in done.stderr
    assert "Traceback" not in done.stderr
    assert "others can write to it" in data("cache", "list", directory=store, code=1)["error"]


def test_a_file_in_the_place_of_the_store_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    done = samovar_command("cache", "list", directory=file)
    assert done.returncode == 1
    assert "is not a directory" in done.stderr


def test_a_wrong_option_in_the_environment_is_said(store):
    done = samovar_command("cache", "stats", directory=store, variables={"SAMOVAR_OFFLINE_CACHE_MAX_SIZE": "huge"})
    assert done.returncode == 1
    assert "SAMOVAR_OFFLINE_CACHE_MAX_SIZE" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error(store):
    command = f"{shlex.quote(sys.executable)} -m samovar cache list | true"
    done = subprocess.run(["sh", "-c", command], env=environment(store), capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_console_script_is_the_same_command():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    module, name = re.search(r'\[project\.scripts\]\nsamovar = "([\w.]+):(\w+)"', text).groups()
    command = f"import sys; from {module} import {name}; sys.exit({name}())"
    done = subprocess.run(
        [sys.executable, "-c", command, "--version"], env=environment("unused"), capture_output=True, text=True, check=True
    )
    assert done.stdout == f"samovar {samovar.__version__}\n"


def test_sizes_and_durations():
    assert [size(text) for text in ("17", "2K", "1.5M", "1GiB", "3 MB")] == [17, 2048, 3 << 19, 1 << 30, 3 << 20]
    assert [duration(text) for text in ("90s", "2m", "1.5h", "30d", "1w")] == [90, 120, 5400, 30 * 86400, 7 * 86400]
    assert [shown_size(n) for n in (1023, 1024, 5 << 20, 3 << 40)] == ["1023 B", "1.0 KiB", "5.0 MiB", "3072.0 GiB"]
    assert [shown_seconds(s) for s in (0.0105, 3.0, 600.0, 9000.0)] == ["10.5 ms", "3.0 s", "10.0 min", "2.5 h"]
    assert [counted(1, "entry"), counted(2, "entry"), counted(0, "kernel")] == ["1 entry", "2 entries", "0 kernels"]
