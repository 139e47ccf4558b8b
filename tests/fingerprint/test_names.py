"""Names that lead back: the rule for objects that are known by theirs, and what the started program is called."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import types

import pytest

from samovar.fingerprint import (
    Deconstruction,
    by_verified_name,
    lenient_fingerprinter,
    make_deconstructor,
    make_fingerprinter,
    stable_fingerprinter,
)


class Operator:
    """An object that stands for a definition, as decorators leave them."""

    def __init__(self, function, noise=None):
        self.function, self.noise = function, noise
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__


def operator(function):
    return Operator(function)


@operator
def gradient(field):
    return field


@operator
def divergence(field):
    return field


class Unit:
    def __init__(self, symbol):
        self.symbol = symbol


METER, SECOND = Unit("METER"), Unit("SECOND")


@pytest.fixture(params=[False, True], ids=["strict", "lenient"])
def fingerprinter(request):
    rules = {
        Operator: by_verified_name,
        Unit: lambda unit: by_verified_name(unit, module=__name__, name=unit.symbol),
    }
    return make_fingerprinter(make_deconstructor(rules, lenient=request.param))


def agreed(value, fingerprinter):
    digest = fingerprinter(value)
    assert digest == fingerprinter.reference(value)
    return digest


def test_object_counts_by_the_name_that_it_claims(fingerprinter, monkeypatch):
    before = agreed([gradient, divergence], fingerprinter)
    assert agreed(gradient, fingerprinter) != agreed(divergence, fingerprinter)
    monkeypatch.setattr(gradient, "noise", object())
    assert agreed([gradient, divergence], fingerprinter) == before


def test_object_counts_by_the_name_that_the_rule_gives(fingerprinter):
    assert agreed(METER, fingerprinter) != agreed(SECOND, fingerprinter)
    assert agreed({"unit": METER}, fingerprinter) == agreed({"unit": METER}, fingerprinter)


def test_name_that_does_not_lead_back_is_refused_with_the_path(fingerprinter):
    for fingerprint in (fingerprinter, fingerprinter.reference):
        with pytest.raises(TypeError, match=rf"^\['f'\]: .*Unit by the name {__name__}.METER: .*another object"):
            fingerprint({"f": Unit("METER")})
        with pytest.raises(TypeError, match=rf"^\[1\]: .* by the name {__name__}.FATHOM: {__name__}.FATHOM does not exist"):
            fingerprint([METER, Unit("FATHOM")])
        with pytest.raises(TypeError, match="gradient is another object"):
            fingerprint(Operator(gradient.function))


def test_object_without_a_name_is_told_what_to_do():
    fingerprinter = make_fingerprinter(make_deconstructor({Unit: by_verified_name}))
    with pytest.raises(TypeError, match=r"^\[0\]: .*it has no __qualname__; give module and name to by_verified_name"):
        fingerprinter([METER])


def test_name_can_be_a_part_of_what_counts():
    rule = lambda value: Deconstruction("versioned", b"2", (by_verified_name(value),))  # noqa: E731
    versioned = make_fingerprinter(make_deconstructor({Operator: rule}))
    plain = make_fingerprinter(make_deconstructor({Operator: by_verified_name}))
    assert agreed(gradient, versioned) != agreed(gradient, plain)


def test_path_classes_have_one_name_in_all_versions_of_python():
    level = make_deconstructor()(pathlib.PurePosixPath)
    assert b"_local" not in level.payload


PROGRAM = """
import json, multiprocessing, sys
from samovar.fingerprint import lenient_fingerprinter, stable_fingerprinter

class Thing:
    pass

def function():
    class Local:
        pass
    return Local

def digests(_=None):
    return [stable_fingerprinter(Thing), stable_fingerprinter(Thing()), stable_fingerprinter(function),
            stable_fingerprinter(sys.modules[__name__]), lenient_fingerprinter(function())]

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(json.dumps([digests(), pool.map(digests, [0])[0]]))
"""


def start(*arguments, directory):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], check=True, capture_output=True, text=True, cwd=directory
    )
    own, spawned = json.loads(done.stdout)
    assert own == spawned
    return own


def test_what_two_programs_define_under_one_name_is_not_the_same(tmp_path):
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(PROGRAM)
    one, two = (start(tmp_path / name, directory=tmp_path) for name in ("one.py", "two.py"))
    assert not set(one) & set(two)
    assert start("one.py", directory=tmp_path) == one


def test_program_counts_as_the_module_that_it_was_found_as(tmp_path):
    (tmp_path / "one.py").write_text(PROGRAM)
    as_module = start("-m", "one", directory=tmp_path)
    script = "import one, json; print(json.dumps([one.digests()] * 2))"
    assert start("-c", script, directory=tmp_path) == as_module


def test_module_that_only_poses_as_the_program_is_not_it():
    poser = types.ModuleType("__main__")
    with pytest.raises(TypeError, match="module '__main__'"):
        stable_fingerprinter(poser)
    assert lenient_fingerprinter(poser) != lenient_fingerprinter(sys.modules["__main__"])
