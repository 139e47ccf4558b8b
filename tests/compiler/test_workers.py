"""Compile workers: the same code as in this process, for one text, for many, and from many threads."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest
from failing_texts import HOPELESS, TARGET, long, ordinary

from backends.optimize import assembly, optimize
from samovar.compiler import process, workers
from samovar.compiler.batches import made_all
from samovar.compiler.fallback import Job, Made, made
from samovar.errors import SamovarCompilationError


@pytest.fixture(autouse=True)
def _fresh_workers() -> Iterator[None]:
    workers.stop()
    yield
    workers.stop()


def job(number: int) -> Job:
    return Job(f"kernel_{number}", ordinary(number), TARGET)


def expected(number: int) -> Made:
    return Made(optimize(ordinary(number), TARGET))


def all_made(jobs: list[Job]) -> list[Made]:
    found: dict[int, Made] = {}
    made_all(enumerate(jobs), found.__setitem__)
    return [found[number] for number in range(len(jobs))]


def test_a_worker_makes_the_same_object() -> None:
    assert made(job(5)) == expected(5)


def test_a_worker_writes_assembly() -> None:
    assert made(Job("kernel", ordinary(5), TARGET, "assembly")).code.decode() == assembly(ordinary(5), TARGET)


def test_one_worker_does_all_that_comes_one_after_the_other() -> None:
    for number in range(4):
        made(job(number))
    assert len(workers.state.workers.all) == 1


def test_a_worker_that_has_done_much_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MOST_JOBS", 3)
    idle = [made(job(number)) and {each.process for each in workers.state.workers.idle} for number in range(4)]
    assert idle[0] == idle[1] != idle[3]
    assert [len(each) for each in idle] == [1, 1, 0, 1]


def test_the_worker_that_was_started_ahead_is_the_one_that_is_used() -> None:
    process.begin()
    process.begin()
    (early,) = process._early
    made(job(1))
    assert workers.state.workers.all == [early]


def test_many_texts_come_back_each_under_its_number() -> None:
    assert all_made([job(number) for number in range(40)]) == [expected(number) for number in range(40)]


def test_a_batch_has_as_many_workers_as_there_are_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.state.workers, "limit", 3)
    assert len(all_made([job(number) for number in range(12)])) == 12
    assert len(workers.state.workers.all) == 3


def test_a_batch_begins_while_texts_are_still_being_prepared() -> None:
    arrived: list[int] = []

    def jobs() -> Iterator[tuple[int, Job]]:
        number = 0
        while not arrived:
            yield number, job(number)
            number += 1
            time.sleep(0.01)

    made_all(jobs(), lambda number, _: arrived.append(number))
    assert sorted(arrived) == list(range(len(arrived)))


def test_large_texts_and_small_ones_go_together() -> None:
    texts = [long(300) if number % 3 == 0 else ordinary(number) for number in range(6)]
    assert len(texts[0]) > process.FITS_IN_SOCKET
    found = all_made([Job("kernel", text, TARGET) for text in texts])
    assert [each.code for each in found] == [optimize(text, TARGET) for text in texts]


def test_a_text_that_needs_another_one_while_a_batch_is_prepared() -> None:
    def jobs() -> Iterator[tuple[int, Job]]:
        for number in range(6):
            assert made(job(100 + number)) == expected(100 + number)
            yield number, job(number)

    found: dict[int, Made] = {}
    made_all(jobs(), found.__setitem__)
    assert found == {number: expected(number) for number in range(6)}
    assert len(workers.state.workers.all) <= workers.state.workers.limit


def test_what_goes_wrong_in_the_preparation_ends_the_batch_and_nothing_else() -> None:
    def jobs() -> Iterator[tuple[int, Job]]:
        yield 0, job(0)
        yield 1, Job("kernel", long(60), TARGET)
        raise ValueError("not this one")

    with pytest.raises(ValueError, match="not this one"):
        made_all(jobs(), lambda number, found: None)
    assert made(job(7)) == expected(7)


def test_threads_compile_at_the_same_time() -> None:
    results: dict[int, Made] = {}

    def compile(number: int) -> None:
        results[number] = made(job(number))

    threads = [threading.Thread(target=compile, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {number: expected(number) for number in range(12)}
    assert len(workers.state.workers.all) <= workers.state.workers.limit


def test_threads_with_batches_share_the_workers() -> None:
    results: dict[int, list[Made]] = {}

    def compile(thread: int) -> None:
        results[thread] = all_made([job(10 * thread + number) for number in range(8)])

    threads = [threading.Thread(target=compile, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {thread: [expected(10 * thread + number) for number in range(8)] for thread in range(4)}
    assert len(workers.state.workers.all) <= workers.state.workers.limit


def test_a_text_that_llvm_refuses_is_an_error_and_the_worker_lives_on() -> None:
    made(job(1))
    (worker,) = workers.state.workers.all
    with pytest.raises(SamovarCompilationError, match=r"wrong: LLVM rejects .*parsing error"):
        made(Job("wrong", "define nonsense", TARGET))
    assert made(job(2)) == expected(2)
    assert workers.state.workers.all == [worker]
    with pytest.raises(SamovarCompilationError, match=r"wrong: LLVM rejects .*parsing error"):
        all_made([job(1), Job("wrong", "define nonsense", TARGET)])


def kill_workers() -> None:
    for worker in workers.state.workers.all:
        assert worker.process is not None
        os.kill(worker.process, signal.SIGKILL)


def test_a_worker_that_was_killed_between_two_jobs_is_replaced() -> None:
    made(job(1))
    (first,) = workers.state.workers.all
    kill_workers()
    assert made(job(2)) == expected(2)
    (second,) = workers.state.workers.all
    assert second is not first


def test_a_batch_does_without_workers_that_were_killed() -> None:
    all_made([job(number) for number in range(6)])
    kill_workers()
    assert all_made([job(number) for number in range(12)]) == [expected(number) for number in range(12)]


def test_a_worker_that_is_killed_in_the_middle_of_a_job_is_replaced() -> None:
    made(job(1))
    (worker,) = workers.state.workers.all
    assert worker.process is not None
    killer = threading.Timer(0.1, os.kill, (worker.process, signal.SIGKILL))
    killer.start()
    text = long(200)
    assert made(Job("kernel", text, TARGET)) == Made(optimize(text, TARGET))
    assert workers.state.workers.all != [worker]


def test_a_worker_that_ends_before_its_first_job_is_replaced() -> None:
    process.begin()
    (worker,) = process._early
    worker._socket.shutdown(1)  # the end of its input
    assert made(job(1)) == expected(1)


def test_a_job_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    made(job(1))
    (worker,) = workers.state.workers.all
    assert worker.process is not None
    os.kill(worker.process, signal.SIGSTOP)
    monkeypatch.setattr("samovar.compiler.fallback.SECONDS", 1.0)
    found = made(job(2))
    assert found.effort == "without vectors"
    assert "it took too long" in found.warning
    assert workers.state.workers.all != [worker]
    deadline = time.monotonic() + 20
    while os.path.exists(f"/proc/{worker.process}") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{worker.process}")


def test_stopped_workers_start_again_when_they_are_needed() -> None:
    made(job(1))
    workers.stop()
    assert workers.state.workers.all == []
    assert made(job(2)) == expected(2)


def test_a_hopeless_text_among_many_is_the_only_one_that_fails() -> None:
    arrived: dict[int, Made] = {}
    jobs = [*map(job, range(5)), Job("hopeless", HOPELESS, TARGET)]
    with pytest.raises(SamovarCompilationError, match="hopeless: LLVM fails in this kernel"):
        made_all(enumerate(jobs), arrived.__setitem__)
    assert all_made(jobs[:5]) == [expected(number) for number in range(5)]
