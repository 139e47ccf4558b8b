"""Only what a kernel touches is an argument, through any chain of funcs; the rest may be anything, and costs nothing."""

import dataclasses
import io
import uuid
import warnings

import numpy as np
import pydantic
import pytest

import samovar as sv


def arguments(kernel, *given):
    return [line.split()[0] for line in kernel.inspect("arguments", *given).splitlines()[1:]]


@dataclasses.dataclass
class State:
    a: object
    b: object
    c: object
    k: float = 2.0
    unused: object = None


def state(**members):
    return State(*(np.zeros(4, np.float32) for _ in range(3)), **members)


@sv.func
def ignores(one, two):
    return one[0]


@sv.func
def passes(s):
    return ignores(s.a, s.b) + ignores(two=s.c, one=s.a)


def test_a_member_that_a_callee_receives_but_never_touches_is_not_an_argument():
    @sv.kernel
    def kernel(s: State) -> sv.f32:
        return passes(s)

    assert arguments(kernel, state()) == ["s.a"]
    s = state()
    s.a[0] = 3
    assert kernel(s) == 6


def test_what_is_touched_in_one_call_only_is_an_argument_once():
    @sv.func
    def chosen(s, first: sv.template()):
        if sv.static(first):
            return s.a[0]
        return s.b[0]

    @sv.kernel
    def both(s: State) -> sv.f32:
        return chosen(s, True) + chosen(s, False) * 10.0

    @sv.kernel
    def one(s: State) -> sv.f32:
        return chosen(s, False)

    s = state()
    s.a[0], s.b[0] = 1, 2
    assert both(s) == 21
    assert (arguments(both, s), arguments(one, s)) == (["s.a", "s.b"], ["s.b"])


def test_a_member_in_a_dead_static_branch_is_not_needed():
    @sv.kernel
    def kernel(s: sv.Template) -> sv.f32:
        if sv.static(s.on):
            return s.missing[0] + s.also_missing
        return s.a[0]

    class Holder:
        on = False
        a = np.ones(1, np.float32)

    assert kernel(Holder()) == 1
    assert arguments(kernel, Holder()) == ["s.a"]


def test_the_arguments_are_listed_with_what_they_are_and_what_happens_to_them():
    @sv.kernel
    def kernel(s: State, factor: sv.f64):
        for i in s.a:
            s.b[i] = sv.f32(s.a[i] * s.k * factor)
            s.c[i] += 1.0

    s = state()
    s.a = np.zeros((2, 2), np.float64)
    with pytest.raises(sv.SamovarError):
        kernel.inspect("arguments")
    s.a = np.zeros(4, np.float64)
    kernel(s, 1.0)
    assert kernel.inspect("arguments") == (
        "argument  kind    dtype  axes  use\n"
        "factor    scalar  f64          read\n"
        "s.a       array   f64    1     read\n"
        "s.k       scalar  f32          read\n"
        "s.b       array   f32    1     written\n"
        "s.c       array   f32    1     read, written\n"
    )


def test_a_launch_can_be_looked_at_after_its_arguments_are_gone():
    @dataclasses.dataclass(slots=True)
    class Slots:
        a: object

    @sv.kernel
    def kernel(s: Slots):
        s.a[0] = 1.0

    kernel(Slots(np.zeros(2, np.float32)))
    assert kernel.inspect("arguments").splitlines()[1].split() == ["s.a", "array", "f32", "1", "written"]


class Model(pydantic.BaseModel):
    substeps: int = 3


class Explosive:
    def __getattr__(self, name):
        raise RuntimeError(f"somebody looked at {name}")

    def __eq__(self, other):
        raise RuntimeError("somebody compared")

    __hash__ = None


UNREAD = [
    uuid.uuid4(),
    Model(),
    io.StringIO("text"),
    open,
    Explosive(),
    np.dtype([("a", "i4")]),
    {1: object()},
    {"a set"},
    float("nan"),
    np.zeros(3, complex),
    np.array(["text"]),
    lambda: None,
    type("Local", (), {}),
    ...,
    2**200,
]


@pytest.mark.parametrize("unread", UNREAD, ids=lambda value: type(value).__name__)
def test_unread_members_may_be_anything_and_change_nothing(unread):
    s = state(unused=unread)
    launched(s)
    before = list(launched.specializations)
    for other in UNREAD:
        s.unused = other
        launched(s)
    assert launched.specializations == before
    assert s.a[0] == 2 * (len(UNREAD) + 1)


@sv.kernel
def launched(s: State):
    s.a[0] += s.k


def test_a_torch_module_as_an_unread_member():
    torch = pytest.importorskip("torch")
    s = state(unused=torch.nn.Linear(2, 2))
    launched(s)
    assert s.a[0] == 2


def test_the_number_of_members_held_does_not_matter_to_the_guard_program():
    @sv.kernel
    def kernel(s: sv.Template):
        s.x0[0] += s.x1[0]

    class Holder:
        pass

    sizes = []
    for count in (2, 300):
        holder = Holder()
        for number in range(count):
            setattr(holder, f"x{number}", np.zeros(1, np.float32))
        kernel.forget()
        kernel(holder)
        sizes.append(kernel.specializations[0].keep.guards.registers)
    assert sizes[0] == sizes[1]


def test_only_reading_through_a_model_traces_to_its_number():
    @sv.kernel
    def kernel(s: State) -> sv.i32:
        return sv.static(s.unused.substeps)

    assert kernel(state(unused=Model())) == 3
    assert kernel(state(unused=Model(substeps=7))) == 7


# --- opaque things that are used as values


def trace_of(kernel):
    return kernel.specializations[0].keep.trace


def describe(thing):
    return thing.hex if isinstance(thing, uuid.UUID) else "?"


@pytest.mark.filterwarnings("ignore:.*INVALID_FUNC")
def test_an_opaque_member_that_is_used_as_a_value_is_named_and_guarded():
    @sv.kernel
    def kernel(s: State) -> sv.i32:
        return sv.static(len(describe(s.unused)))

    s = state(unused=uuid.uuid4())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert kernel(s) == 32
        assert kernel(s) == 32
    assert [str(each.message) for each in said if "s.unused of" in str(each.message) and "uuid.UUID" in str(each.message)]
    assert [str(each) for each in map(repr, trace_of(kernel).opaque)] == ["s.unused is a uuid.UUID"]
    s.unused = object()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sv.SamovarWarning)
        assert kernel(s) == 1


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
def test_opaque_members_are_compared_as_python_does():
    @sv.kernel
    def same(one: State, other: State) -> sv.i32:
        result = 0
        if sv.static(one.unused == other.unused):
            result += 1
        if sv.static(one.unused is other.unused):
            result += 2
        return result

    first = uuid.uuid4()
    one, other = state(unused=first), state(unused=uuid.UUID(str(first)))
    assert same(one, other) == 1
    assert same(one, one) == 3
    other.unused = uuid.uuid4()
    assert same(one, other) == 0
    assert {str(each.path) for each in trace_of(same).opaque} == {"one.unused", "other.unused"}


def test_asking_whether_something_is_there_does_not_use_it():
    @sv.kernel
    def kernel(s: State) -> sv.i32:
        if sv.static(s.unused is not None):
            return 1
        return 0

    assert kernel(state(unused=uuid.uuid4())) == 1
    assert trace_of(kernel).opaque == []
    assert kernel(state()) == 0
