"""A member that differs each time it is read is an error that names it; one that changes now and then is none."""

import functools
import itertools
from types import SimpleNamespace

import pytest

import samovar as sv

counter = itertools.count()


@sv.data_oriented
class Restless:
    def __init__(self):
        self.values = itertools.cycle((1, 2.5))
        self.inner = SimpleNamespace(owner=self)

    @property
    def n(self):
        return next(counter)

    @property
    def in_turns(self):
        return next(self.values)

    @property
    def new(self):
        return SimpleNamespace(n=next(counter))

    @property
    def thing(self):
        return object()

    def __getattr__(self, name):
        if name == "invented":
            return next(counter)
        raise AttributeError(name)

    @sv.kernel
    def counts(self) -> sv.i32:
        return self.n

    @sv.kernel
    def takes_turns(self) -> sv.f32:
        return self.in_turns

    @sv.kernel
    def below(self) -> sv.i32:
        return self.inner.owner.new.n

    @sv.kernel
    def invents(self) -> sv.i32:
        return self.invented

    @sv.kernel
    def compares(self) -> sv.i32:
        return sv.static(self.thing == 3)


CASES = {
    "counts": "self.n",
    "takes_turns": "self.in_turns",
    "below": "self.inner.owner.new.n",
    "invents": "self.invented",
    "compares": "self.thing",
}


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_member_that_never_settles_is_named(name):
    with pytest.raises(sv.SamovarRuntimeError, match="differs each time it is read") as caught:
        getattr(Restless(), name)()
    message = str(caught.value)
    assert message.startswith(f"Restless.{name}: {CASES[name]} differs each time")
    assert "help: store it in an attribute that does not change" in message


def test_the_values_are_shown():
    with pytest.raises(sv.SamovarRuntimeError, match=r"2\.5, 1, 2\.5|1, 2\.5, 1"):
        Restless().takes_turns()


@sv.data_oriented
class Calm:
    def __init__(self):
        self.reads = 0
        self.until = 0

    @property
    def n(self):
        self.reads += 1
        return min(self.reads, self.until)

    @functools.cached_property
    def kept(self):
        return next(counter)

    @sv.kernel
    def run(self) -> sv.i32:
        return self.n

    @sv.kernel
    def run_kept(self) -> sv.i32:
        return self.kept


def test_a_change_while_a_kernel_is_compiled_is_no_error():
    calm = Calm()
    calm.until = 2
    assert calm.run() == 2


def test_what_is_computed_once_is_no_error():
    calm = Calm()
    assert calm.run_kept() == calm.kept
