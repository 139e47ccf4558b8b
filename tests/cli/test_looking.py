"""`samovar doctor`, `profile` and `completion`, lists on narrow terminals, and what was probably meant."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
from command_line import at_a_terminal, data, environment, samovar_command, succeeds

from samovar.cli import main


def test_the_doctor_knows_the_installation_and_tries_the_compiler(tmp_path):
    found = data("doctor", directory=tmp_path / "store")
    assert found["problems"] == []
    assert found["python"]["executable"] == sys.executable
    assert found["numpy"].count(".") == 2
    assert found["llvmlite"]
    assert found["processor"]["vector_bits"] in (128, 256, 512)
    assert found["threads"]["threads"] >= 1
    assert found["threads"]["why"]
    assert found["cache"] == {
        "directory": str(tmp_path / "store"),
        "on": True,
        "limit": 1 << 30,
        "writable": True,
        "entries": 0,
        "size": 0,
    }
    assert found["self-test"]["passed"] is True
    assert not (tmp_path / "store").exists()


def test_the_doctor_names_what_is_wrong(tmp_path):
    place = tmp_path / "file"
    place.write_text("")
    variables = {
        "SAMOVAR_NUM_THREADS": "1",
        "SAMOVAR_NUM_TREADS": "2",
        "SAMOVAR_CACHE_DIR": "x",
        "SAMOVAR_ZZZ": "3",
        "PYTHONWARNINGS": "ignore",
    }
    done = samovar_command("doctor", directory=place, variables=variables)
    assert done.returncode == 1
    assert f"problem: {place} cannot be used as a cache: {place} is not a directory" in done.stdout
    assert "SAMOVAR_NUM_TREADS is set, but Samovar reads no such variable: did you mean SAMOVAR_NUM_THREADS?" in done.stdout
    unknown = "is set, but Samovar reads no such variable"
    assert f"SAMOVAR_CACHE_DIR {unknown}: did you mean SAMOVAR_OFFLINE_CACHE_FILE_PATH?" in done.stdout
    assert f"SAMOVAR_ZZZ {unknown}\n" in done.stdout
    assert re.search(r"^threads +1: set by SAMOVAR_NUM_THREADS=1$", done.stdout, re.MULTILINE)


PROGRAM = """
import sys
import samovar as sv

@sv.kernel
def fill(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] = 1

a = sv.ndarray(sv.f32, 8)
for _ in range(3):
    fill(a)
print("done", *sys.argv[1:])
sys.exit(5)
"""


def test_a_program_is_profiled_and_keeps_its_output_and_its_end(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    arguments = ("profile", "--json", "--output", "found.json", "--trace", "trace.json", "program.py", "--json", "x")
    done = samovar_command(*arguments, directory=tmp_path / "store", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (5, "done --json x\n", "")
    (kernel,) = json.loads((tmp_path / "found.json").read_text())["kernels"]
    assert (kernel["name"], kernel["launches"], kernel["compiles"]) == ("__main__.fill", 3, 1)
    assert [task["runs"] for task in kernel["tasks"]] == [3]
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {"compile fill", "fill", "fill.task"} <= {event["name"] for event in events}
    again = samovar_command("profile", "program.py", directory=tmp_path / "store", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (5, "done\n")
    assert "__main__.fill" in again.stderr
    missing = samovar_command("profile", "nothing.py", directory=tmp_path)
    assert (missing.returncode, missing.stderr) == (2, "samovar: no such program: nothing.py\n")


def test_a_profile_is_readable_at_80_columns(tmp_path, monkeypatch):
    name = "a_kernel_with_a_name_that_has_no_room_in_such_a_table"
    (tmp_path / "program.py").write_text(PROGRAM.replace("fill", name))
    monkeypatch.setenv("COLUMNS", "80")
    _, text = at_a_terminal("profile", str(tmp_path / "program.py"), directory=tmp_path / "store", columns=80)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in text.splitlines()]
    (row,) = [number for number, line in enumerate(lines) if line.startswith(" a_kernel")]
    assert "kernel and task" in lines[row - 2]
    assert re.match(r" a_kernel_\w+… +\d+ ", lines[row])
    assert re.match(r"   task +\d+ ", lines[row + 1])
    assert max(map(len, lines[row - 2 :])) <= 80


def test_a_list_is_readable_at_80_columns(store, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, text = at_a_terminal("cache", "list", directory=store, columns=80)
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in text.splitlines()]
    assert code == 0
    assert max(map(len, lines)) <= 80
    rows = [line for line in lines if "program.py:" in line]
    assert len(rows) == 4, text
    for row in rows:
        # Each in one line: name, file and line, size, age, time, key.
        assert re.fullmatch(r"\w+ +program\.py:\d+ +[\d.]+ \w+ +\d+ \w+ +[\d.]+ m?s +[0-9a-f]{10}", row.strip())


def test_an_export_shows_how_far_it_is_at_a_terminal_only(store, tmp_path):
    code, shown = at_a_terminal("cache", "export", tmp_path / "bundle", directory=store)
    assert code == 0
    assert "exporting kernels" in shown
    assert "exporting" not in succeeds("cache", "export", tmp_path / "other", directory=store)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["dcotor"], "unknown command 'dcotor': did you mean doctor?"),
        (["cache", "lits"], "unknown command 'lits': did you mean list?"),
        (["cache", "zzz"], "unknown command 'zzz': choose from list, stats"),
        (["cache", "list", "--jsno"], "unknown option --jsno: did you mean --json?"),
        (["cache", "prune", "--oldr-than=3d"], "unknown option --oldr-than: did you mean --older-than?"),
        (["completion", "tcsh"], "unknown shell 'tcsh': choose from bash, zsh, fish"),
        (["cache", "stats", "surplus"], "unexpected argument surplus"),
    ],
)
def test_a_mistake_names_what_was_probably_meant(capsys, given, message):
    with pytest.raises(SystemExit) as stop:
        main(given)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes_commands_options_and_names_of_shells(tmp_path):
    asked = [["samovar", ""], ["samovar", "cache", "l"], ["samovar", "cache", "prune", "--ol"]]
    asked += [["samovar", "completion", ""], ["samovar", "warm", ""], ["samovar", "--"]]
    script = succeeds("completion", "bash", directory=tmp_path)
    for words in asked:
        quoted = " ".join(f"'{word}'" for word in words)
        script += f"\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _samovar; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    first, *others = done.stdout.splitlines()
    assert {"cache", "warm", "profile", "doctor", "completion"} <= set(first.split())
    assert others == ["list", "--older-than", "bash zsh fish", "", "--help --version"]
    assert done.stderr == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_are_given_the_same_words(tmp_path, capsys, shell):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("doctor", "older-than", "export"):
        assert word in script
    program = shutil.which(shell)
    if program is not None:
        (tmp_path / "script").write_text(script)
        subprocess.run([program, "-n", str(tmp_path / "script")], env=environment(tmp_path), check=True)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh_completes_files_where_there_is_nothing_else(tmp_path):
    script = "compdef() { }\ncompadd() { shift; print -r -- $@ }\n_files() { print files }\n"
    script += succeeds("completion", "zsh", directory=tmp_path)
    for words in (["samovar", "cache", "l"], ["samovar", "warm", ""], ["samovar", "cache", "prune", "--ol"]):
        quoted = " ".join(f"'{word}'" for word in words)
        script += f"\nwords=({quoted}); CURRENT={len(words)}; _samovar"
    done = subprocess.run(["zsh", "-f", "-c", script], capture_output=True, text=True, check=True)
    commands, files, options = done.stdout.splitlines()
    assert "list" in commands.split()
    assert "--json" not in commands
    assert files == "files"
    assert "--older-than" in options.split()
    assert done.stderr == ""


def test_names_that_are_not_there_suggest_one_that_is():
    import samovar as sv

    for name, meant in (("kernle", "kernel"), ("ndarry", "ndarray"), ("lingalg", "linalg")):
        with pytest.raises(AttributeError, match=f"module 'samovar' has no attribute '{name}': did you mean '{meant}'?"):
            getattr(sv, name)
    assert not hasattr(sv, "__wrapped__")


def test_variables_that_nobody_reads_are_warned_about(tmp_path):
    program = "import samovar as sv; sv.init(); sv.init()"
    variables = {"SAMOVAR_OFLINE_CACHE": "0", "SAMOVAR_LOG": "cache,compilation,things"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path, **variables), capture_output=True, text=True, check=True
    )
    # From 3.13 on, Python shows the line of a program under `-c` as well.
    lines = [line.partition("SamovarWarning: ")[2] for line in done.stderr.splitlines() if "SamovarWarning: " in line]
    assert lines == [
        "SAMOVAR_OFLINE_CACHE is set, but Samovar reads no such variable: did you mean SAMOVAR_OFFLINE_CACHE?",
        "SAMOVAR_LOG: 'compilation' is not one of 'cache', 'compile': did you mean 'compile'?",
        "SAMOVAR_LOG: 'things' is not one of 'cache', 'compile'",
    ]
    quiet = environment(tmp_path, SAMOVAR_LOG="cache,compile", SAMOVAR_PERF_MAP="0", SAMOVAR_DEBUG="1")
    done = subprocess.run([sys.executable, "-c", program], env=quiet, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert os.environ.get("SAMOVAR_LOG") is None
