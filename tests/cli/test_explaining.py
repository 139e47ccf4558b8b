"""`samovar cache explain`: why a kernel was compiled, and what is different about its nearest relative."""

import pytest
from command_line import PROGRAM, data, run_program, samovar_command, succeeds


def test_each_artifact_is_explained_against_its_nearest_relative(store, program):
    first, second, third = data("cache", "explain", "scale", directory=store)
    assert (first["reason"], first["relative"], first["differences"]) == ("it was not compiled before", None, [])
    assert (second["relative"], second["differences"]) == (first["key"], ["parameter `a`: dtype changed from f32 to f64"])
    assert second["reason"] == f"parameter `a`: dtype changed from f32 to f64 (asked at {program}:7)"
    assert (third["relative"], third["differences"]) == (second["key"], ["global FACTOR changed from 3 to 4"])
    assert third["reason"] == f"global FACTOR changed from 3 to 4 (asked at {program}:10)"
    assert {"path": "global FACTOR", "question": "value", "answer": "4"} in third["answers"]


def test_the_same_in_words(store, program):
    text = succeeds("cache", "explain", directory=store)
    assert f"__main__.scale ({program}:7), 3 artifacts" in text
    assert text.count("because it was not compiled before") == 2
    assert "the most similar: global FACTOR changed from 3 to 4" in text


@pytest.mark.parametrize(
    ("edit", "variables", "difference"),
    [
        (("return 2", "return 3"), {}, "the code of two() changed"),
        (("", ""), {"SAMOVAR_DEBUG": "1"}, "option debug changed from False to True"),
        (("", ""), {"SAMOVAR_BUILD_CACHE_VERSION_ID": "next"}, "the version of Samovar changed"),
    ],
)
def test_another_body_and_another_version_are_told_apart(store, tmp_path, edit, variables, difference):
    edited = tmp_path / "program.py"
    edited.write_text(PROGRAM.replace(*edit))
    run_program(edited, store, **variables)
    before, after = data("cache", "explain", "two", directory=store)
    assert after["relative"] == before["key"]
    assert [each.partition(" changed")[0] for each in after["differences"]] == [difference.partition(" changed")[0]]
    assert after["reason"].startswith(difference)


def test_a_name_that_is_not_there_is_a_problem(store):
    done = samovar_command("cache", "explain", "three", directory=store)
    assert done.returncode == 1
    assert "no kernel called three" in done.stderr
