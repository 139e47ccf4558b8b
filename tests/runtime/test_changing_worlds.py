"""Everything a kernel captures may change between two launches, in any order: the next launch sees it."""

import enum
import random
import types
import warnings

import numpy as np
import pydantic
import pytest

import samovar as sv


class Mode(enum.Enum):
    PLUS = 1
    MINUS = 2


class Settings(pydantic.BaseModel):
    substeps: int = 2
    name: str = "s"


@sv.func
def once(x: sv.i64) -> sv.i64:
    return x + offset


@sv.func
def twice(x: sv.i64, step: sv.i64 = 3) -> sv.i64:
    return x + 2 * offset + step


offset = 1
chosen = once
table = [1, 2]
pair = (3, 4)
names = {"a": 5, "b": 6}
mode = Mode.PLUS
world = types.SimpleNamespace(settings=Settings(), flag=True, maybe=None, buffer=np.arange(4))


@sv.kernel
def launched(x: sv.i64) -> sv.i64:
    total = sv.cast(chosen(x), sv.i64)
    for k in sv.static(range(len(table))):
        total += table[k] * (k + 1)
    for key in sv.static(names):
        total = total * 2 + names[key]
    if sv.static(mode is Mode.PLUS):
        total += pair[0]
    else:
        total -= pair[1]
    if sv.static(world.flag):
        total += sv.static(world.settings.substeps)
    if sv.static(world.maybe is not None):
        total += world.maybe[0]
    return total + world.buffer[1]


def expected(x):
    total = chosen(x)
    for k in range(len(table)):
        total += table[k] * (k + 1)
    for key in names:
        total = total * 2 + names[key]
    total = total + pair[0] if mode is Mode.PLUS else total - pair[1]
    total += world.settings.substeps if world.flag else 0
    total += int(world.maybe[0]) if world.maybe is not None else 0
    return total + int(world.buffer[1])


def change(generator):
    global offset, chosen, table, pair, names, mode
    what = generator.randrange(12)
    if what == 0:
        offset = generator.randrange(2)
    elif what == 1:
        chosen = generator.choice([once, twice])
    elif what == 2:
        table[generator.randrange(len(table))] = generator.randrange(2)
    elif what == 3:
        table = generator.choice([[1], [1, 2]])
    elif what == 4:
        pair = (generator.randrange(2), 4)
    elif what == 5:
        names = dict(generator.sample(sorted(names.items()), len(names)))
    elif what == 6:
        mode = generator.choice(list(Mode))
    elif what == 7:
        world.settings.substeps = generator.randrange(2)
    elif what == 8:
        world.flag = generator.choice([True, False])
    elif what == 9:
        world.maybe = generator.choice([None, np.array([generator.randrange(9)])])
    elif what == 10:
        world.buffer = generator.choice([np.arange(4) * 2, np.arange(8)[::2], np.arange(4, dtype=np.int8)])
    else:
        twice.__wrapped__.__defaults__ = (generator.randrange(2),)


@pytest.mark.parametrize("seed", range(3))
def test_the_next_launch_sees_every_change(seed):
    generator = random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sv.SamovarWarning)
        for _ in range(60):
            change(generator)
            assert launched(7) == expected(7)


def test_memory_that_changes_needs_no_new_code():
    world.buffer = np.arange(4)
    launched(7)
    before = len(launched.specializations)
    for number in range(5):
        world.buffer = np.full(4, number)
        assert launched(7) == expected(7)
    assert len(launched.specializations) == before


def test_reading_through_a_model_is_traced_to_its_number():
    @sv.kernel
    def steps() -> sv.i32:
        return sv.static(world.settings.substeps)

    world.settings = Settings(substeps=4, name="one")
    assert steps() == 4
    images = {id(each.image) for each in steps.specializations}
    world.settings = Settings(substeps=4, name="two")
    assert steps() == 4
    assert {id(each.image) for each in steps.specializations} == images
    world.settings.substeps = 5
    assert steps() == 5
