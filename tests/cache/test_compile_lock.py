"""Taking turns to compile: one at a time, for the same key, and nobody waits for himself."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from samovar.cache import CompileLock, compile_lock

KEY, OTHER_KEY = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits in vain says so soon: a thread that waits for itself would take minutes otherwise."""
    monkeypatch.setattr(compile_lock, "PATIENCE_SECONDS", 20.0)


def in_a_thread(work: object) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_nobody_waits_for_himself(tmp_path: Path) -> None:
    with CompileLock(str(tmp_path), KEY) as outer, CompileLock(str(tmp_path), KEY) as inner:
        assert not outer.waited
        assert not inner.waited


def test_what_was_taken_twice_is_held_until_the_first_is_given_back(tmp_path: Path) -> None:
    order: list[str] = []

    def other() -> None:
        with CompileLock(str(tmp_path), KEY) as turn:
            order.append("other")
            assert turn.waited

    with CompileLock(str(tmp_path), KEY):
        with CompileLock(str(tmp_path), KEY):
            pass
        thread = in_a_thread(other)
        time.sleep(0.2)
        order.append("first")
    thread.join(60)
    assert order == ["first", "other"]


def test_another_thread_waits_for_the_same_key(tmp_path: Path) -> None:
    taken, given_back = threading.Event(), threading.Event()
    waited: list[bool] = []

    def holding() -> None:
        with CompileLock(str(tmp_path), KEY):
            taken.set()
            given_back.wait(60)

    def waiting() -> None:
        with CompileLock(str(tmp_path), KEY) as turn:
            waited.append(turn.waited)

    first = in_a_thread(holding)
    assert taken.wait(60)
    second = in_a_thread(waiting)
    time.sleep(0.2)
    assert waited == []
    given_back.set()
    first.join(60)
    second.join(60)
    assert waited == [True]


def test_another_key_is_not_waited_for(tmp_path: Path) -> None:
    taken, given_back = threading.Event(), threading.Event()

    def holding() -> None:
        with CompileLock(str(tmp_path), OTHER_KEY):
            taken.set()
            given_back.wait(60)

    thread = in_a_thread(holding)
    assert taken.wait(60)
    with CompileLock(str(tmp_path), KEY) as turn:
        assert not turn.waited
    given_back.set()
    thread.join(60)


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_another_process_waits(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.read(reading, 1)
            with CompileLock(str(tmp_path), KEY) as turn:
                os._exit(turn.waited)
        finally:
            os._exit(2)
    with CompileLock(str(tmp_path), KEY):
        os.write(writing, b"x")
        time.sleep(0.5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    os.close(reading)
    os.close(writing)


def test_who_lost_patience_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_lock, "PATIENCE_SECONDS", 0.1)
    taken, given_back = threading.Event(), threading.Event()

    def holding() -> None:
        with CompileLock(str(tmp_path), KEY):
            taken.set()
            given_back.wait(60)

    thread = in_a_thread(holding)
    assert taken.wait(60)
    with CompileLock(str(tmp_path), KEY) as turn:
        assert turn.waited
        assert not given_back.is_set()
    given_back.set()
    thread.join(60)


def test_an_error_inside_gives_the_turn_back(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), CompileLock(str(tmp_path), KEY):
        raise ZeroDivisionError
    with CompileLock(str(tmp_path), KEY) as turn:
        assert not turn.waited


def test_where_there_can_be_no_directory_nobody_waits(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with CompileLock(str(tmp_path / "file" / "absent"), KEY), CompileLock(str(tmp_path / "file" / "absent"), KEY) as turn:
        assert not turn.waited


def test_a_directory_that_is_not_there_yet_is_made(tmp_path: Path) -> None:
    waited: list[bool] = []

    def other() -> None:
        with CompileLock(str(tmp_path / "a" / "b"), KEY) as turn:
            waited.append(turn.waited)

    with CompileLock(str(tmp_path / "a" / "b"), KEY):
        thread = in_a_thread(other)
        time.sleep(0.2)
    thread.join(60)
    assert waited == [True]
    assert all((tmp_path / folder).stat().st_mode & 0o777 == 0o700 for folder in ("a", "a/b"))


def test_a_child_does_not_wait_for_its_parent(tmp_path: Path) -> None:
    with CompileLock(str(tmp_path), KEY):
        child = os.fork()
        if child == 0:
            with CompileLock(str(tmp_path), KEY) as turn:
                os._exit(turn.waited)
        assert os.waitpid(child, 0)[1] == 0
