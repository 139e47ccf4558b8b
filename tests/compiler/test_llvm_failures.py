"""LLVM may fail: the process goes on, the kernel is compiled in a simpler form, and what happened is told."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from failing_texts import HOPELESS, INVALID, NOT_AS_VECTORS, OTHER_TARGET, TARGET, ordinary

from backends.optimize import optimize
from samovar.backends.llvm.effort import EFFORTS, FULL
from samovar.compiler import workers
from samovar.compiler.batches import made_all
from samovar.compiler.fallback import InternalError, Job, Made, made
from samovar.compiler.reports import write_report
from samovar.errors import SamovarCompilationError


@pytest.fixture(autouse=True)
def _fresh_workers() -> Iterator[None]:
    workers.stop()
    yield
    workers.stop()


def not_as_vectors() -> Made:
    found = made(Job("maximum", NOT_AS_VECTORS, OTHER_TARGET))
    if found.effort == FULL:
        pytest.skip("this LLVM does not fail in it")
    return found


def report_in(message: str) -> str:
    found = re.search(r"/\S+\.ll", message)
    assert found is not None
    return Path(found[0]).read_text()


def test_the_process_survives_an_assertion_and_gets_a_simpler_form() -> None:
    found = not_as_vectors()
    assert found.effort == "without vectors"
    assert found.code == optimize(NOT_AS_VECTORS, OTHER_TARGET, "without vectors")


def test_the_user_is_told_which_kernel_it_was_and_why() -> None:
    warning = not_as_vectors().warning
    assert warning.startswith("maximum: LLVM failed (")
    assert ".cpp:" in warning
    assert "compiled without vectors" in warning
    assert "please report it" in warning


def test_the_report_has_what_one_needs_to_see_it_again() -> None:
    found = not_as_vectors()
    report = report_in(found.warning)
    assert report.endswith(NOT_AS_VECTORS)
    assert optimize(report, OTHER_TARGET, "without vectors") == found.code
    comments = [line for line in report.splitlines() if line.startswith(";")]
    assert any("kernel maximum" in line for line in comments)
    assert any("skylake-avx512" in line for line in comments)
    assert any("Assertion" in line for line in comments)
    assert any("Fatal Python error: Aborted" in line for line in comments)


def test_the_worker_is_fine_afterwards() -> None:
    not_as_vectors()
    assert made(Job("kernel", ordinary(3), TARGET)) == Made(optimize(ordinary(3), TARGET))


def test_a_text_without_hope_is_an_error_that_names_the_kernel_and_the_report() -> None:
    with pytest.raises(SamovarCompilationError) as caught:
        made(Job("hopeless", HOPELESS, TARGET))
    message = str(caught.value)
    assert message.startswith("hopeless: LLVM fails in this kernel (error:")
    assert "nowhere" in message
    report = report_in(message)
    assert report.endswith(HOPELESS)
    for form in EFFORTS:
        assert f"; compiling {form}: error:" in report


def test_a_crash_on_an_invalid_text_is_not_blamed_on_llvm() -> None:
    with pytest.raises(InternalError, match=r"sum: LLVM rejects .*does not dominate(?s:.*)this is a bug in Samovar"):
        made(Job("sum", INVALID, TARGET))
    failed: list[int] = []
    jobs = [Job("kernel", ordinary(0), TARGET), Job("sum", INVALID, TARGET)]
    made_all(enumerate(jobs), lambda *found: None, failed=lambda number, error: failed.append(number))
    assert failed == [1]


def test_of_many_texts_those_that_fail_are_made_in_a_simpler_form() -> None:
    found: dict[int, Made] = {}
    jobs = [Job(f"kernel_{number}", ordinary(number), TARGET) for number in range(6)]
    jobs.insert(3, Job("maximum", NOT_AS_VECTORS, OTHER_TARGET))
    made_all(enumerate(jobs), found.__setitem__)
    if found[3].effort == FULL:
        pytest.skip("this LLVM does not fail in it")
    assert found[3].effort == "without vectors"
    assert [each.effort for number, each in sorted(found.items()) if number != 3] == [FULL] * 6


def test_reports_of_one_text_share_a_file_and_others_have_their_own() -> None:
    first = write_report("kernel", ordinary(1), TARGET, ["it failed"])
    assert write_report("kernel", ordinary(1), TARGET, ["it failed again"]) == first
    assert write_report("kernel", ordinary(2), TARGET, ["it failed"]) != first
    assert "it failed again" not in Path(first).read_text()


def test_a_report_follows_no_link_that_others_have_left(tmp_path: Path) -> None:
    first = Path(write_report("kernel", ordinary(1), TARGET, []))
    first.unlink()
    victim = tmp_path / "victim"
    first.symlink_to(victim)
    assert "could not be written" in write_report("kernel", ordinary(1), TARGET, [])
    assert not victim.exists()


def test_a_report_that_cannot_be_written_is_no_other_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere/at/all")
    with pytest.raises(SamovarCompilationError, match=r"(?s)hopeless: LLVM fails .*could not be written"):
        made(Job("hopeless", HOPELESS, TARGET))


# A kernel that takes LLVM a while, and a thread that ends each worker which is at it, so many times.
PROGRAM = """
import os, sys, threading, time, warnings
import numpy as np
import samovar as sv
from samovar.compiler import workers

kills = int(sys.argv[1])
sv.init(offline_cache_file_path=sys.argv[2])

@sv.kernel
def long(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        for k in sv.static(range(300)):
            a[i] = a[i] * 1.5 + k
            if a[i] > 1e6:
                a[i] = 1.0

def kill():
    left, killed = kills, set()
    while left:
        for worker in [*workers.state.workers.all]:
            if worker.process is not None and worker.process not in killed:
                os.kill(worker.process, 9)
                killed.add(worker.process)
                left -= 1
        time.sleep(0.002)

threading.Thread(target=kill, daemon=True).start()
a = np.ones(8, np.float32)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    try:
        long(a)
        long(a)
    except sv.SamovarCompilationError as error:
        print("error", str(error).splitlines()[0])
        print(str(error).split()[-1])
        sys.exit()
for each in said:
    print("warning", str(each.message).splitlines()[0], each.filename)
print(a.tolist())
print(long.cache_observations.cache_stored, "llvmlite" in sys.modules)
"""


def run(kills: int, directory: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(kills), str(directory)], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_launch_survives_whatever_ends_the_workers(tmp_path: Path) -> None:
    values, stored = run(2, tmp_path)
    assert stored == "True False"
    (warning, *rest) = run(3, tmp_path / "other")
    assert "LLVM failed (its process was killed from outside), so it was compiled without vectors" in warning
    assert warning.startswith("warning long: ")
    # What runs slower than it could is not kept: the next process tries again.
    assert rest == [values, "False False"]
    assert run(0, tmp_path / "other") == [values, "True False"]


def test_a_launch_that_cannot_be_compiled_is_an_error_and_the_process_goes_on(tmp_path: Path) -> None:
    error, path = run(100, tmp_path)
    assert error.startswith("error long: LLVM fails in this kernel (its process was killed from outside)")
    assert "define " in Path(path).read_text()
    Path(path).unlink()
