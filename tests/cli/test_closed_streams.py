"""Every command with standard streams that are closed, or lead to a full disk: a sentence, and no traceback."""

import os
import shlex
import subprocess
import sys

import pytest
from command_line import environment

from samovar.cli.command_line import _parser


def leaves(parser, way=()):
    if not parser.commands:
        yield way
    for name, below in parser.commands.items():
        yield from leaves(below, (*way, name))


COMMANDS = sorted(leaves(_parser()))
ARGUMENTS = {
    ("cache", "export"): ["{folder}/bundle"],
    ("cache", "import"): ["--yes", "{folder}/bundle"],
    ("cache", "clear"): ["--yes"],
    ("warm",): ["{program}"],
    ("run",): ["{program}"],
    ("profile",): ["{program}"],
    ("completion",): ["bash"],
    ("cache", "keygen"): ["{folder}/key"],
    ("new",): ["{folder}/first"],
    **{("cache", each): ["--remote", "{folder}/tier"] for each in ("gc", "pull", "push", "sign", "sync")},
}
#: They print nothing here, end before they do (there is no key to sign with), or what they print is that of a program.
SILENT = {
    *(("cache", each) for each in ("gc", "import", "pull", "push", "sign", "sync", "trust")),
    *((each,) for each in ("profile", "run", "view", "warm")),
}


def run(command, streams, store, tmp_path, program):
    given = [each.format(folder=tmp_path, program=program) for each in ARGUMENTS.get(command, [])]
    line = " ".join([shlex.quote(sys.executable), "-m", "samovar", *command, *given, streams])
    return subprocess.run(line, shell=True, env=environment(store), capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "program.py"
    path.write_text("print('said')\n")
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_closed_output_is_no_traceback(command, store, tmp_path, small):
    done = run(command, ">&-", store, tmp_path, small)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if command not in SILENT:
        assert done.returncode == 1
        assert "standard output is closed" in done.stderr
    if command == ("run",):
        assert (done.returncode, done.stderr) == (0, "")  # as `python program.py >&-`


@pytest.mark.parametrize(
    "line",
    ["cache list", "cache stats --json", "cache list --json", "doctor --json", "completion bash", "--help", "--version"],
)
def test_a_full_disk_is_no_traceback(line, filled, tmp_path):
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    done = run(tuple(line.split()), "> /dev/full", filled, tmp_path, "")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if not line.startswith("--"):  # of these two, argparse passes over what cannot be written
        assert done.returncode == 1
        assert "No space left" in done.stderr


@pytest.mark.parametrize("streams", ["2>&-", "<&-", "<&- >&- 2>&-", "2>&- | head -c 0"])
def test_other_streams_may_be_closed(streams, filled, tmp_path):
    for command in (("cache", "list"), ("cache", "verify")):
        done = run(command, streams, filled, tmp_path, "")
        assert "Traceback" not in done.stdout + done.stderr


def test_a_file_that_a_command_opens_does_not_become_its_output(filled, tmp_path):
    done = run(("cache", "export"), ">&- <&- 2>&-", filled, tmp_path, "")
    assert done.returncode == 1
    assert (tmp_path / "bundle").read_bytes().startswith(b"samovar bundle")


def test_what_would_steer_a_terminal_or_has_no_character_is_written_out(store, capsys):
    from command_line import entries

    from samovar._native import decode_plain, encode_plain
    from samovar.cache.entry import unwrapped, wrapped
    from samovar.cli import main

    for path in entries(store, "kernels"):
        content, record = unwrapped("kernels", path.name, path.read_bytes())
        named = ("evil\x1b[2J\ud800\u202e", *decode_plain(record)[1:])
        path.write_bytes(wrapped("kernels", path.name, (content, encode_plain(named))))
    for command in ("list", "explain", "verify"):
        assert main(["cache", command, "--directory", str(store)]) in (0, 1)
        said = capsys.readouterr()
        assert "\x1b" not in said.out + said.err
        assert command == "verify" or r"evil\x1b[2J" in said.out
    done = subprocess.run(
        [sys.executable, "-m", "samovar", "cache", "list"],
        env=environment(store, PYTHONIOENCODING="ascii"),
        capture_output=True,
    )
    assert (done.returncode, done.stderr) == (0, b"")
