"""`samovar view`: what a report contains, and what the page is served."""

import json
import subprocess
import sys

import pytest

from samovar.cli import main
from samovar.cli.viewing import read_report, serve
from ui.browserless import answer

PROGRAM = """
import samovar as sv

@sv.func
def double(x):
    return x - 7.5

@sv.kernel
def wave(a: sv.types.NDArray[sv.f32, 1], n: sv.i32):
    for i in range(n):
        a[i] = double(
            sv.sin(a[i]))
    for i in range(n):
        a[i] += 1

@sv.kernel
def never(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] = 0

def gone():
    wave_of = sv.ones(8)
    also(wave_of)

@sv.kernel
def also(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] = 3

x = sv.ones(100)
for _ in range(5):
    wave(x, 100)
gone()
raise SystemExit(3)
"""


@pytest.fixture(scope="module")
def report_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("view")
    (folder / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "samovar", "view", "--output", "report.json", "program.py"]
    assert subprocess.run(command, cwd=folder).returncode == 3
    return folder / "report.json"


@pytest.fixture
def report(report_file):
    return read_report(report_file)


@pytest.fixture
def server(report):
    made = serve(report)
    yield made
    made.close()


def test_a_report_has_the_launched_kernels(report):
    assert sorted(each["name"] for each in report["kernels"]) == ["__main__.also", "__main__.wave"]
    launches = {each["name"]: each["launches"] for each in report["profile"]["kernels"]}
    assert launches == {"__main__.wave": 5, "__main__.also": 1}
    assert {each["name"] for each in report["trace"]["traceEvents"] if each.get("cat") == "task"} >= {
        "wave.task",
        "wave.task_1",
    }


def kernel_of(report, name):
    return next(each for each in report["kernels"] if each["name"] == f"__main__.{name}")


def test_a_kernel_has_all_its_stages(report):
    wave = kernel_of(report, "wave")
    stages = wave["stages"]
    assert wave["source"].splitlines()[1].startswith("def wave(")
    assert "kernel wave(" in stages["loops"]
    assert "define" in stages["llvm"]
    assert ".text" in stages["asm"]
    assert "task" in stages["graph"]
    for stage in ("staged", "loops", "ir", "llvm", "asm"):
        assert len(stages[f"{stage} lines"]) == len(stages[stage].splitlines())


def test_lines_are_linked_also_through_funcs(report):
    stages, first = kernel_of(report, "wave")["stages"], kernel_of(report, "wave")["line"]
    loops = dict(zip(stages["loops"].splitlines(), stages["loops lines"], strict=True))
    sine = next(line for text, line in loops.items() if "sin(" in text)
    assert sine - first in (3, 4)
    inlined = [line for text, line in zip(stages["ir"].splitlines(), stages["ir lines"], strict=True) if "7.5" in text]
    assert inlined, "the func is inlined"
    assert {line - first for line in inlined} <= {3, 4}
    assert stages["tasks"][0]["line"] == first + 2
    assert set(stages["tasks"][0]["lines"]) <= set(range(first + 2, first + 5))
    assert stages["tasks"][1]["line"] == first + 5


def test_passes_say_what_they_changed(report):
    changes = {each["name"]: each["change"] for each in kernel_of(report, "wave")["stages"]["passes"]}
    assert "+    task task" in changes["outline"]
    assert changes["narrow_integers"] == ""


def test_facts_and_reasons_are_told(report):
    facts = {(each["path"], each["question"]) for each in kernel_of(report, "wave")["facts"]}
    assert ("a", "tensor") in facts
    assert "__main__.wave" in {each["name"] for each in report["cache"]["entries"]}
    assert all(each["reason"] for each in report["cache"]["entries"])


def test_a_kernel_whose_arguments_are_gone_is_shown(report):
    assert "problem" not in kernel_of(report, "also")
    assert "kernel also(" in kernel_of(report, "also")["stages"]["ir"]


def test_details_are_served_one_by_one(server, report):
    status, headers, text = answer(server.address, "index.json")
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert "stages" not in text
    assert json.loads(answer(server.address, "kernel/1.json")[2]) == report["kernels"][1]
    assert json.loads(answer(server.address, "trace.json")[2]) == report["trace"]
    for wrong in ("kernel/2.json", "kernel/-1.json", "kernel/x.json", "other.json", "../index.json"):
        assert answer(server.address, wrong)[0] == 404
    assert answer(server.address)[2].startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[", "is not a report: "),
        ("[]", "is not a report\n  help: samovar view --output"),
        ('{"kernels": [], "format": 99}', "was written by another version"),
        ("[" * 100_000, "is not a report: "),
    ],
)
def test_other_files_are_refused(tmp_path, capsys, text, says):
    (tmp_path / "report.json").write_text(text)
    assert main(["view", str(tmp_path / "report.json")]) == 2
    assert says in capsys.readouterr().err


def test_a_report_of_nonsense_is_served_as_it_is():
    server = serve({"kernels": [3, {"name": "</script>@NONCE@"}], "profile": "x"})
    try:
        assert json.loads(answer(server.address, "kernel/0.json")[2]) == {}
        assert json.loads(answer(server.address, "kernel/1.json")[2]) == {"name": "</script>@NONCE@"}
    finally:
        server.close()
