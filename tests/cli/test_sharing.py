"""`samovar cache push`, `pull`, `sync`, `gc`, `keygen`, `sign` and `trust`, and `samovar warm --push`."""

import json
import os

import pytest
from command_line import COLD, WARM, run_program, samovar_command

pytest.importorskip("cryptography")


@pytest.fixture
def place(tmp_path):
    return tmp_path


@pytest.fixture
def machine(tmp_path):
    """A function that runs a command on a machine, with the tier of all and the key of the publisher."""
    variables = {"XDG_CONFIG_HOME": str(tmp_path / "configuration"), "SAMOVAR_CACHE_REMOTE": str(tmp_path / "tier")}
    made = samovar_command("cache", "keygen", tmp_path / "key", "--json", directory=tmp_path / "none", variables=variables)
    key = json.loads(made.stdout)["public"]
    publisher = {**variables, "SAMOVAR_CACHE_SIGNING_KEY": str(tmp_path / "key")}

    def run(*arguments, directory, publishes=False, code=0, **others):
        given = {**(publisher if publishes else variables), **others}
        done = samovar_command(*arguments, directory=directory, variables=given)
        assert done.returncode == code
        return json.loads(done.stdout) if "--json" in arguments else done.stdout + done.stderr

    run.key, run.variables = key, variables
    return run


def test_push_pull_and_a_second_machine_that_compiles_nothing(store, program, machine, tmp_path):
    [pushed] = machine("cache", "push", "--program", "p", "--json", directory=store, publishes=True)
    assert (pushed["new"], pushed["known"]) == (4, 0)
    [again] = machine("cache", "push", "--program", "p", "--json", directory=store, publishes=True)
    assert (again["new"], again["known"], again["sent"]) == (0, 4, 0)
    fresh = tmp_path / "fresh"
    [ignored] = machine("cache", "pull", "--json", directory=fresh)
    assert (ignored["new"], ignored["ignored"]) == (0, 4)
    machine("cache", "trust", machine.key, "--comment", "ci", directory=fresh)
    [pulled] = machine("cache", "pull", "--json", directory=fresh)
    assert (pulled["program"], pulled["new"], pulled["ignored"]) == ("p", 4, 0)
    assert "4 already present" in machine("cache", "pull", directory=fresh)
    assert run_program(program, fresh) == WARM
    assert machine("cache", "verify", "--json", directory=fresh)["findings"] == []


def test_names_select_what_is_pushed(store, machine):
    [pushed] = machine("cache", "push", "two", "--program", "p", "--json", directory=store, publishes=True)
    assert pushed["new"] == 1


def test_stats_show_figures_and_for_which_targets_a_program_is_warm(store, program, machine, tmp_path):
    machine("cache", "push", "--program", "p", directory=store, publishes=True)
    fresh = tmp_path / "fresh"
    trusting = {**machine.variables, "SAMOVAR_CACHE_TRUST": machine.key, "SAMOVAR_CACHE_PROGRAM": "p"}
    assert run_program(program, fresh, **trusting) == WARM
    found = machine("cache", "stats", "--json", directory=fresh, SAMOVAR_CACHE_TRUST=machine.key)
    [sums] = found["tiers"]
    assert (sums["hits"], sums["misses"], sums["rejected"], sums["requests"]) == (2, 0, 0, 3)
    assert sums["received"] > 1000
    [row] = found["programs"]
    assert (row["program"], list(row["targets"].values()), row["ignored"]) == ("p", [4], 0)
    text = machine("cache", "stats", directory=fresh, SAMOVAR_CACHE_TRUST=machine.key)
    assert "warm for" in text
    assert "(4 artifacts)" in text


def test_stats_say_that_a_tier_is_unreachable(store, machine):
    found = machine("cache", "stats", "--json", directory=store, SAMOVAR_CACHE_REMOTE="http://127.0.0.1:9/")
    assert len(found["unreachable"]) == 1


def test_warm_push_publishes_under_the_name_of_the_script(program, machine, tmp_path):
    machine("warm", "--push", program, directory=tmp_path / "ci", publishes=True)
    fresh = tmp_path / "fresh"
    assert run_program(program, fresh, **machine.variables, SAMOVAR_CACHE_TRUST=machine.key) == WARM


def test_sync_does_both(store, program, machine, tmp_path):
    machine("cache", "push", "scale", "--program", "p", directory=store, publishes=True)
    other = tmp_path / "other"
    assert run_program(program, other) == COLD
    done = machine("cache", "sync", "--program", "p", directory=other, publishes=True)
    assert "3 already present" in done
    assert "1 artifact published" in done


def test_gc_and_sign(store, program, machine, tmp_path):
    machine("cache", "push", "--program", "p", directory=store, publishes=True)
    other = machine("cache", "keygen", tmp_path / "other", "--json", directory=store)["public"]
    machine("cache", "trust", machine.key, directory=store)
    [signed] = machine("cache", "sign", "--json", directory=store, SAMOVAR_CACHE_SIGNING_KEY=str(tmp_path / "other"))
    assert signed["signed"] == 4
    machine("cache", "trust", machine.key, "--revoke", directory=store)
    assert run_program(program, tmp_path / "fresh", **machine.variables, SAMOVAR_CACHE_TRUST=other,
                       SAMOVAR_CACHE_PROGRAM="p") == WARM  # fmt: skip
    listed = machine("cache", "trust", "--json", directory=store)
    assert listed["revoked"] == [machine.key]
    [collected] = machine("cache", "gc", "--older-than", "1w", "--json", directory=store, SAMOVAR_CACHE_TRUST=other)
    assert (collected["entries"], collected["files"]) == (0, 0)
    [collected] = machine("cache", "gc", "--unknown", "--json", directory=store)
    assert collected["entries"] == 4


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (("push",), "samovar cache keygen", 2),
        (("push", "--program", "p"), "needs a private key", 2),
        (("trust", "ssh-rsa"), "is not a public key", 1),
        (("sync", "--json"), "use pull and push", 2),
    ],
)
def test_what_cannot_work_says_why(store, machine, arguments, words, code):
    assert words in str(machine("cache", *arguments, directory=store, code=code))


def test_without_a_tier_the_commands_say_how_to_name_one(store, machine):
    assert "--remote" in machine("cache", "pull", directory=store, code=2, SAMOVAR_CACHE_REMOTE="")


def test_the_private_key_is_private(tmp_path, machine):
    assert os.stat(tmp_path / "key").st_mode & 0o777 == 0o600
