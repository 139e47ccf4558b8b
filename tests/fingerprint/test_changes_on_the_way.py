"""Objects that change while they are walked, threads, and memory that runs out: an error or a fingerprint, never harm."""

from __future__ import annotations

import dataclasses
import gc
import sys
import threading

import pytest

from samovar import _native
from samovar.fingerprint import (
    Deconstruction,
    EmptyDeconstruction,
    OrderInsensitiveDeconstruction,
    lenient_fingerprinter,
    make_deconstructor,
    make_fingerprinter,
    stable_fingerprinter,
    vocabulary,
)


class Name(str):
    pass


class Placed(str):
    __slots__ = ("line",)


class Plain:
    pass


@dataclasses.dataclass
class Record:
    value: object = None


class Inheriting(Record):
    pass


class Trigger:
    """Does something when it is taken apart."""

    def __init__(self, action):
        self.action = action

    def __reduce__(self):
        self.action()
        gc.collect()
        return (list, ())


def test_container_may_lose_what_is_being_walked():
    values = [1, [2]]
    values[1:1] = [Trigger(values.clear), Name("a"), [Plain()] * 3]
    table = {}
    table.update(first=Trigger(table.clear), second=[3] * 100)
    names = {Name("x"), Name("y")}
    for value in (values, table, [Trigger(names.clear), names]):
        assert len(stable_fingerprinter(value)) == 40


def test_instance_may_lose_its_attributes_and_its_class():
    class Other:
        pass

    class Victim:
        pass

    victim, same_class = Victim(), Victim()

    def change():
        vars(victim).clear()
        victim.__class__ = Other

    victim.first, victim.second = Trigger(change), ["kept until the end"]
    expected = lenient_fingerprinter([Victim(), Other()])
    assert len(lenient_fingerprinter([victim, victim, same_class, Other()])) == 40
    # What was learned of the classes meanwhile is not wrong.
    assert lenient_fingerprinter([Victim(), Other()]) == expected == lenient_fingerprinter.reference([Victim(), Other()])


def test_class_that_loses_a_slot_is_an_error():
    class Slotted(str):
        __slots__ = ("first", "second")

    def forget():
        if hasattr(Slotted, "second"):
            del Slotted.second

    value = Slotted("a")
    value.first, value.second = Trigger(forget), 1
    with pytest.raises(RuntimeError, match="lost its slot second"):
        lenient_fingerprinter([value, Slotted("b")])


def test_rule_may_use_the_fingerprinter_that_it_belongs_to():
    digests = []

    def rule(value):
        digests.append(fingerprinter([Name("inner"), Plain(), value.imag]))
        return deconstructor(digests[-1])

    deconstructor = make_deconstructor()
    fingerprinter = make_fingerprinter(make_deconstructor({complex: rule}))
    value = [Name("outer"), 1j, Plain(), 2j, Name("outer"), Plain()]
    assert fingerprinter(value) == fingerprinter.reference(value)
    assert len(set(digests)) == 2


def run_together(*functions):
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(function,)) for function in functions]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]


def make_objects():
    objects = []
    for number in range(50):
        value = Plain()
        value.name, value.numbers, value.table = Name(f"x{number}"), [1, 2, 3], {"a": number}
        value.name.place = [number]
        objects.append(value)
    return objects


def test_threads_that_share_a_fingerprinter_do_not_disturb_each_other():
    objects = make_objects()
    fingerprinter = make_fingerprinter(make_deconstructor({complex: lambda value: deconstructor(value)}))
    deconstructor = make_deconstructor()
    expected = stable_fingerprinter(objects)

    def work():
        for _ in range(40):
            assert fingerprinter(objects) == expected

    run_together(*[work] * 6)


def test_objects_may_change_in_another_thread():
    objects = make_objects()
    done = threading.Event()

    def change():
        number = 0
        while not done.is_set():
            number += 1
            value = objects[number % len(objects)]
            vars(value)[f"more{number % 30}"] = number
            if number % 7 == 0:
                for name in [name for name in list(vars(value)) if name.startswith("more")]:
                    vars(value).pop(name, None)
            value.numbers.append(number)
            del value.numbers[2:]
            value.table[number % 100] = value.numbers

    def read():
        try:
            for _ in range(60):
                assert len(stable_fingerprinter(objects)) == 40
        finally:
            done.set()

    run_together(change, read, read)


def native_plans():
    """Plans that no Python code is run for: the interpreter itself does not survive all failures."""
    state = (vocabulary.WALK_STATE, (), (), True)
    shapes = {Plain: ((1, 0), b"p" * 20), Name: ((0,), b"n" * 20), Inheriting: ((1,), b"i" * 20)}
    levels = {cls: EmptyDeconstruction("class", cls.__name__.encode()) for cls in (Plain, Name, Placed, Record, Inheriting)}
    answers = {
        **vocabulary.BUILTIN_WALKS,
        type: levels.__getitem__,
        EmptyDeconstruction: vocabulary.WALK_LEVEL,
        Record: (vocabulary.WALK_FIELDS, ("value",), b"r" * 20),
        Plain: (*state, shapes.get, None, None),
        Inheriting: (vocabulary.WALK_STATE, ("value",), (), True, shapes.get, None, None),
        Name: (vocabulary.WALK_EXTENDED, vocabulary.BUILTIN_WALKS[str], (*state, shapes.get, None, None), None),
        Placed: (
            vocabulary.WALK_EXTENDED,
            vocabulary.BUILTIN_WALKS[str],
            (vocabulary.WALK_STATE, (), ("line",), False, {Placed: ((0,), b"l" * 20)}.get, None, None),
            None,
        ),
    }
    return _native.FingerprintPlans(
        answers.__getitem__, True, Deconstruction, EmptyDeconstruction, OrderInsensitiveDeconstruction
    )


@pytest.mark.parametrize("memoize", [True, False], ids=["memo", "no memo"])
def test_every_allocation_may_fail(memoize):
    testcapi = pytest.importorskip("_testcapi")
    plain, name, placed, inheriting = Plain(), Name("q"), Placed("k"), Inheriting(3)
    plain.first, plain.second, name.pair, placed.line, inheriting.more = name, [name], (1, 2), 1, 4
    value = [plain, {"a": {1, 2}, "é": b"x"}, placed, inheriting, Record(10**40), [[[[name]]]] * 3, 2.5, 1j, None]
    # Deep and wide enough for every stack and table to grow.
    for index in range(100):
        value = [value, (index, [index], {index})]
    expected = _native.fingerprint_fold(value, native_plans(), memoize)
    gc.collect()
    failures = 0
    for attempt in range(1, 400):
        plans = native_plans()
        testcapi.set_nomemory(attempt, attempt + 1)
        try:
            digest = _native.fingerprint_fold(value, plans, memoize)
        except MemoryError:
            failures += 1
            continue
        finally:
            testcapi.remove_mem_hooks()
        assert digest == expected
    # How many allocations there are is up to the free lists of the interpreter.
    assert failures > 50
