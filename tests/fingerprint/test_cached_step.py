"""`CachedStep`: what is in the key, when a step runs, and that it survives copies, threads and other processes."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy
import pytest
from fingerprint_specimens import Location, Node, Scale, double, lowering, tree

from samovar.fingerprint import (
    CachedStep,
    FileCache,
    make_deconstructor,
    make_fingerprinter,
    metadata,
    stable_fingerprinter,
)


@dataclasses.dataclass
class Recorder:
    """A step that remembers what it was asked; only its name is part of its fingerprint."""

    name: str = "recorder"
    asked: list = dataclasses.field(default_factory=list, metadata=metadata(fingerprint=False))

    def __call__(self, value):
        self.asked.append(value)
        return [self.name, value]


@dataclasses.dataclass
class Calling:
    """A step that calls a function which is no part of its fingerprint, and may hold locks."""

    function: Any = dataclasses.field(metadata=metadata(fingerprint=False))

    def __call__(self, value):
        return self.function(value)


def files(directory: Path) -> FileCache[Any]:
    return FileCache(directory, encode=lambda value: repr(value).encode(), decode=lambda data: eval(data))


def test_second_call_with_an_equal_input_does_not_run_the_step():
    recorder = Recorder()
    step = CachedStep(recorder, key_function=stable_fingerprinter)
    assert step({"a": 1, "b": 2}) == step({"b": 2, "a": 1})
    assert len(recorder.asked) == 1


def test_result_of_none_is_kept():
    asked = []
    step = CachedStep(asked.append, key_function=stable_fingerprinter)
    # The list that the step is bound to changes with every call, and with it nothing but its own content.
    step(1)
    step(1)
    assert asked == [1]


def test_key_holds_version_step_and_input(monkeypatch):
    def key(step, value):
        return CachedStep(step, key_function=stable_fingerprinter).key_of(value)

    base = key(Scale(1.0), 1)
    assert key(Scale(1.0), 1) == base
    assert key(Scale(2.0), 1) != base
    assert key(double, 1) != base
    assert key(Scale(1.0), 2) != base
    monkeypatch.setenv("SAMOVAR_BUILD_CACHE_VERSION_ID", "another")
    assert key(Scale(1.0), 1) != base


def test_only_the_prefixed_variable_is_read(monkeypatch):
    before = CachedStep(double, key_function=stable_fingerprinter).key_of(1)
    monkeypatch.setenv("BUILD_CACHE_VERSION_ID", "stray")
    assert CachedStep(double, key_function=stable_fingerprinter).key_of(1) == before


def test_steps_may_share_one_cache():
    cache = {}
    steps = [CachedStep(Scale(factor), key_function=stable_fingerprinter, cache=cache) for factor in (2.0, 3.0)]
    assert [step(1.0) for step in steps] == [2.0, 3.0]
    assert len(cache) == 2


class Counting:
    reductions: ClassVar[list] = []

    def __reduce__(self):
        self.reductions.append(1)
        return (Counting, ())

    def __call__(self, value):
        return value


def test_fixed_part_of_the_key_is_computed_once_per_instance():
    step = CachedStep(Counting(), key_function=stable_fingerprinter)
    for value in range(5):
        step(value)
    assert len(Counting.reductions) == 1


def test_missing_key_function_is_a_clear_error():
    with pytest.raises(TypeError, match=r"CachedStep needs a key_function.*stable_fingerprinter"):
        CachedStep(double)


def test_step_in_memory_chooses_a_cache_and_keys_that_stay_in_the_process():
    recorder = Recorder()
    step = CachedStep.in_memory(recorder)
    first = step([1, lambda value: value + 1])
    assert step([1, lambda value: value + 1]) is first
    assert step((1, 2)) is step((1, 2))
    assert not step.is_persistent
    assert CachedStep.in_memory(recorder).cache is not step.cache
    assert CachedStep.in_memory(lambda value: value + 1)(1) == 2
    assert CachedStep.in_memory(recorder, key_function=len).key_of([1]) == CachedStep.in_memory(
        recorder, key_function=len
    ).key_of([2])


def test_persistent_step_chooses_files_and_keys_that_every_process_agrees_on(tmp_path):
    recorder = Recorder()
    options = {"encode": lambda value: repr(value).encode(), "decode": lambda data: eval(data)}
    for directory in (tmp_path / "new", str(tmp_path / "new")):
        step = CachedStep.persistent(recorder, directory, **options)
        assert step((1, 2)) == ["recorder", (1, 2)]
        assert step.is_persistent
    assert len(recorder.asked) == 1
    with pytest.raises(TypeError, match="cannot fingerprint the function"):
        step(lambda: 1)
    with pytest.raises(TypeError, match=r"persistent cache.*\.step: cannot fingerprint the function .*<lambda>"):
        CachedStep.persistent(lambda value: value, tmp_path, **options)


def test_persistent_step_keeps_bytes_as_they_are_and_asks_how_to_keep_others(tmp_path):
    assert CachedStep.persistent(bytes.upper, tmp_path)(b"abc") == b"ABC"
    assert CachedStep.persistent(bytes.upper, tmp_path)(b"abc") == b"ABC"
    with pytest.raises(TypeError, match=r"encode has to return bytes, not str.*decode"):
        CachedStep.persistent(str.upper, tmp_path)("abc")


def test_constructors_make_subclasses_with_their_configuration(tmp_path):
    step = Configured.in_memory(double, level=3, key_function=stable_fingerprinter)
    assert type(step) is Configured
    assert step.level == 3
    assert Configured.persistent(bytes.upper, tmp_path, level=2).key_of(b"") != Configured.persistent(
        bytes.upper, tmp_path, level=3
    ).key_of(b"")


def test_lambda_as_a_step_works_in_memory():
    step = CachedStep(lambda value: value + 1, key_function=stable_fingerprinter)
    assert step(1) == 2


def test_key_function_that_returns_no_value_is_a_clear_error():
    step = CachedStep(double, key_function=lambda value: threading.Lock())
    with pytest.raises(TypeError, match="cannot fingerprint an object of type"):
        step(1)


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda step: pickle.loads(pickle.dumps(step))],
    ids=["copy", "deep", "pickle"],
)
def test_copies_keep_working_and_find_the_same_results(duplicate):
    step = CachedStep(Scale(2.0), key_function=stable_fingerprinter)
    step(1.0)
    again = duplicate(step)
    assert again.key_of(1.0) == step.key_of(1.0)
    assert again(1.0) == 2.0
    assert again.cache == step.cache


def test_replaced_step_has_its_own_key():
    step = CachedStep(Scale(2.0), key_function=stable_fingerprinter)
    assert step(1.0) == 2.0
    replaced = dataclasses.replace(step, step=Scale(3.0))
    assert replaced(1.0) == 3.0
    assert replaced.cache is step.cache


@pytest.mark.parametrize(
    "duplicate", [copy.copy, lambda step: pickle.loads(pickle.dumps(step))], ids=["copy", "pickle"]
)
def test_copies_carry_no_stale_fingerprint(duplicate):
    step = CachedStep(Scale(2.0), key_function=stable_fingerprinter)
    step(1.0)
    again = duplicate(step)
    object.__setattr__(again, "step", Scale(5.0))
    assert again(1.0) == 5.0


def test_subclass_with_configuration_counts_with_it():
    keys = {Configured(double, level, key_function=stable_fingerprinter).key_of(1) for level in (1, 2)}
    assert len(keys) == 2


@dataclasses.dataclass(frozen=True, eq=False)
class Configured(CachedStep):
    level: int = 0


def test_failed_computation_is_not_kept():
    outcomes = [ValueError("first"), "second"]

    def unreliable(value):
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    step = CachedStep(unreliable, key_function=str)
    with pytest.raises(ValueError, match="first"):
        step(1)
    assert step(1) == "second"


def run_threads(function, count=8):
    results, errors = [], []

    def run(index):
        try:
            results.append(function(index))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]
    return results


@dataclasses.dataclass
class Slow:
    running: Any = dataclasses.field(default_factory=list, metadata=metadata(fingerprint=False))
    most: Any = dataclasses.field(default_factory=list, metadata=metadata(fingerprint=False))

    def __call__(self, value):
        self.running.append(value)
        time.sleep(0.05)
        self.most.append(self.running.count(value))
        self.running.remove(value)
        return [value]


@pytest.mark.parametrize("persistent", [False, True], ids=["memory", "files"])
def test_threads_that_ask_for_one_key_compute_it_once(persistent, tmp_path):
    slow = Slow()
    step = CachedStep(slow, key_function=stable_fingerprinter, cache=files(tmp_path) if persistent else {})
    results = run_threads(lambda index: step(index % 2))
    assert sorted(results) == [[0]] * 4 + [[1]] * 4
    assert slow.most == [1, 1]


def test_instances_that_share_a_directory_compute_once(tmp_path):
    slow = Slow()
    steps = [CachedStep(slow, key_function=stable_fingerprinter, cache=files(tmp_path)) for _ in range(8)]
    run_threads(lambda index: steps[index](1))
    assert slow.most == [1]


def test_threads_that_wait_for_a_failure_try_for_themselves():
    attempts = []

    def flaky(value):
        attempts.append(value)
        time.sleep(0.02)
        if len(attempts) < 3:
            raise ValueError("not yet")
        return value

    step = CachedStep(flaky, key_function=str)

    def call(index):
        try:
            return step(1)
        except ValueError:
            return None

    results = run_threads(call, 4)
    assert results.count(None) == 2
    assert len(attempts) == 3


def test_step_that_asks_for_its_own_result_is_told_so():
    step = CachedStep(lambda value: step(value), key_function=str)
    with pytest.raises(RuntimeError, match="requested the result that it is computing"):
        step(1)


def test_steps_that_need_each_other_from_two_threads_do_not_wait_for_ever():
    meeting = threading.Barrier(2)
    nested = threading.local()

    def compute(value):
        if getattr(nested, "inside", False):
            return f"inner {value}"
        nested.inside = True
        meeting.wait()
        return step("b" if value == "a" else "a")

    step = CachedStep(Calling(compute), key_function=str)
    assert sorted(run_threads(lambda index: step("ab"[index]), 2)) in (
        ["inner a", "inner a"],
        ["inner b", "inner b"],
        ["inner a", "inner b"],
    )


def test_many_threads_and_keys_at_once(tmp_path):
    step = CachedStep(double, key_function=stable_fingerprinter, cache=files(tmp_path))
    results = run_threads(lambda index: [step(value) for value in range(40)], 6)
    assert results == [[2 * value for value in range(40)]] * 6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_in_the_middle_of_a_computation_does_not_block_the_child():
    started, finish = threading.Event(), threading.Event()

    def wait(value):
        started.set()
        finish.wait(30)
        return value

    step = CachedStep(Calling(wait), key_function=str)
    thread = threading.Thread(target=step, args=(1,))
    thread.start()
    started.wait(30)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            finish.set()
            status = 0 if step(1) == 1 else 1
        finally:
            os._exit(status)
    finish.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_persistent_step_refuses_a_lambda(tmp_path):
    with pytest.raises(TypeError, match=r"persistent cache.*\.step: cannot fingerprint the function .*<lambda>"):
        CachedStep(lambda value: value, key_function=stable_fingerprinter, cache=files(tmp_path))


def test_persistent_step_refuses_a_lambda_in_its_configuration(tmp_path):
    with pytest.raises(TypeError, match=r"\.step\.factor: cannot fingerprint the function .*<lambda>"):
        CachedStep(Scale(lambda: 1), key_function=stable_fingerprinter, cache=files(tmp_path))


def test_persistent_step_refuses_keys_by_identity(tmp_path):
    by_identity = make_fingerprinter(make_deconstructor(arrays="identity"))
    with pytest.raises(ValueError, match="by identity"):
        CachedStep(double, key_function=by_identity, cache=files(tmp_path))
    array = numpy.ones(3)
    assert CachedStep(double, key_function=by_identity)(array) is not array


def test_persistent_step_refuses_keys_that_skip_types(tmp_path):
    for names in (["type"], ["location", "type"]):
        skipping = make_fingerprinter(make_deconstructor(skip={Node: names}))
        with pytest.raises(ValueError, match="skip type"):
            CachedStep(lowering, key_function=skipping, cache=files(tmp_path))


def test_persistent_results_are_found_by_another_instance(tmp_path):
    recorder = Recorder()
    assert CachedStep(recorder, key_function=stable_fingerprinter, cache=files(tmp_path))((1, 2)) == [
        "recorder",
        (1, 2),
    ]
    assert CachedStep(recorder, key_function=stable_fingerprinter, cache=files(tmp_path))((1, 2)) == [
        "recorder",
        (1, 2),
    ]
    assert len(recorder.asked) == 1


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from fingerprint_specimens import Scale
from samovar.fingerprint import CachedStep, FileCache, stable_fingerprinter
cache = FileCache(sys.argv[2], encode=lambda value: repr(value).encode(), decode=float)
step = CachedStep(Scale(float(sys.argv[3])), key_function=stable_fingerprinter, cache=cache)
known = cache.get(step.key_of(1.5), None) is not None
print(known, step(1.5))
"""


def test_persistent_results_are_found_by_another_process(tmp_path):
    def run(factor, seed):
        arguments = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent), str(tmp_path), factor]
        return subprocess.run(
            arguments, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout

    assert run("2", "1") == "False 3.0\n"
    assert run("2", "7") == "True 3.0\n"
    assert run("3", "7") == "False 4.5\n"


def test_moved_source_finds_its_persistent_result_and_an_inferred_type_does_not(tmp_path):
    without_locations = make_fingerprinter(make_deconstructor(skip={Node: ["location"]}))
    step = CachedStep(lowering, key_function=without_locations, cache=files(tmp_path))
    assert step.key_of(tree(line=1)) == step.key_of(tree(line=900, file="elsewhere.py"))
    assert step.key_of(tree(bits=32)) != step.key_of(tree(bits=64))
    untyped = Node(None, Location("a", 1, 1))
    assert step.key_of(untyped) != step.key_of(dataclasses.replace(untyped, type="f32"))
