"""Random guard programs do natively what a model in Python says: as tuples, with objects by number, and through bytes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from guard_programs import FORMS, Inventing, Miss, Model, Plain, Written, programs, things, values
from hypothesis import given
from hypothesis import strategies as st
from image_from_c import EMPTY

from hypothesis_profiles import examples
from samovar._native import DType, Image, Kernel, Specialization, encode_program

IMAGE = Image.from_flat(EMPTY)


def missed(kernel: Any, arguments: Any) -> Any:
    raise Miss


def modeled(written: Written, arguments: tuple[Any, ...]) -> tuple[str, dict[int, tuple[DType, Any]]]:
    """What happens (the name of an exception, or nothing), and what is in the block."""
    model = Model(arguments)
    try:
        model.run(written.literal())
    except Exception as error:
        return type(error).__name__, {}
    return "", model.slots


def specializations(written: Written) -> list[tuple[Any, dict[str, Any]]]:
    """A program in all of its forms, with what a specialization needs besides."""
    by_number = {"objects": list(written.objects)}
    encoded = encode_program(written.instructions)
    return [(written.literal(), {}), (written.instructions, by_number), (encoded, by_number)]


def launched(kernel: Kernel, arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "", kernel(*arguments)
    except Exception as error:
        return type(error).__name__, None


def agree(written: Written, launches: list[tuple[Any, ...]]) -> None:
    """Launch one kernel after the other: what one launch learns is there in the next one."""
    layout = modeled(written, written.example)[1]
    results = [(dtype, offset) for offset, (dtype, _) in sorted(layout.items())]
    for program, more in specializations(written):
        names = tuple(f"p{number}" for number in range(len(written.example)))
        kernel = Kernel(lambda: None, names, {}, missed)
        form = ("tuple", tuple(("scalar", dtype.name, offset) for dtype, offset in results))
        kernel.insert(Specialization(IMAGE, program, written.registers, written.block, form, **more))
        for arguments in launches:
            outcome, slots = modeled(written, arguments)
            found, block = launched(kernel, arguments)
            assert found == outcome
            if outcome == "" and results:
                assert repr(block) == repr(tuple(slots[offset][1] for _, offset in results))


@examples("interpreted")
@given(programs(), st.data())
def test_a_program_does_what_the_model_says(written: Written, data: st.DataObject) -> None:
    example = written.example
    launches = [example, example, example]
    for _ in range(data.draw(st.integers(0, 3))):
        place = data.draw(st.integers(0, len(example) - 1))
        other = data.draw(st.one_of(things, st.sampled_from(example)))
        launches += [(*example[:place], other, *example[place + 1 :]), example]
    agree(written, launches)


@examples("interpreted")
@given(programs(stable=False), st.data())
def test_a_program_sees_what_changes_between_launches(written: Written, data: st.DataObject) -> None:
    changing = [thing for thing in (*written.example, *written.objects) if type(thing) in (Plain, list, dict)]
    names = tuple(f"p{number}" for number in range(len(written.example)))
    kernels = []
    for program, more in specializations(written):
        kernels.append(Kernel(lambda: None, names, {}, missed))
        kernels[-1].insert(Specialization(IMAGE, program, written.registers, written.block, **more))
    for _ in range(4):
        outcome, _ = modeled(written, written.example)
        assert [launched(kernel, written.example)[0] for kernel in kernels] == [outcome] * len(kernels)
        if not changing:
            return
        change(data.draw(st.sampled_from(changing)), data)


def change(thing: Any, data: st.DataObject) -> None:
    value = data.draw(values)
    if type(thing) is list:
        if thing and data.draw(st.booleans()):
            thing.pop()
        else:
            thing.append(value)
        return
    names = thing if type(thing) is dict else vars(thing)
    if names and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(sorted(names, key=repr)))
        if data.draw(st.booleans()):
            del names[key]
        else:
            names[key] = value
    else:
        names[data.draw(st.sampled_from(["a", "b", "number"]))] = value


def test_a_dict_that_invents_items_is_not_given_the_occasion() -> None:
    written = Written((Inventing(),), [("parameter", 0, 0), ("item", 1, 0, "a")], registers=2)
    assert modeled(written, written.example) == ("Miss", {})
    agree(written, [written.example, (Inventing(a=1),), written.example])


def test_every_instruction_has_a_model() -> None:
    """The table of native code is as long as that of the model: the number of an instruction is a byte of a program."""
    known = 0
    while True:
        with pytest.raises((ValueError, TypeError)) as refusal:
            Specialization(IMAGE, bytes([1, known]), 0, 0)
        if re.search("no such instruction", str(refusal.value)):
            break
        known += 1
    assert known == len(FORMS)
    assert all(hasattr(Model, f"run_{name}") for name in FORMS)


def test_the_programs_are_worth_running() -> None:
    """Of programs at random most hold, and most instructions occur in one that does."""
    held: set[str] = set()
    outcomes: dict[str, int] = {}

    @given(programs())
    def look(written: Written) -> None:
        outcome, _ = modeled(written, written.example)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        if outcome == "":
            held.update(instruction[0] for instruction in written.instructions)

    look()
    assert 2 * outcomes[""] > sum(outcomes.values())
    assert len(set(FORMS) - held) < len(FORMS) // 3
