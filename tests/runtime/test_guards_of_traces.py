"""Guards: native code asks at each launch what the compile asked. Where guards hold, the trace holds."""

import enum
import math
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv
from samovar import _native
from samovar.backends.images.image import ImageParts
from samovar.language.annotations import signature_of
from samovar.language.options import Options
from samovar.lens import Kind, Lens, replay
from samovar.runtime.guards import make_guards
from samovar.runtime.loaded_kernel import OperandResolver

RETURN_ZERO = b"\x31\xc0\xc3"


class Missed(Exception):
    pass


def specialized(lens, names, image):
    guards = make_guards(lens.trace.facts(), lens, names, [])
    objects = list(map(lens.object_at, guards.paths))
    resolve = OperandResolver(objects, lens.actual, lambda number: lens.seen[guards.paths[number]])
    return _native.Specialization(image, guards.instructions, guards.registers, 0, objects=objects, resolve=resolve)


def guarded(function, ask, **arguments):
    """A native kernel that does nothing, under the guards of what `ask` asks a lens."""
    signature = signature_of(function, None, {})
    lens = Lens(function, arguments, signature, Options())
    ask(lens)
    names = tuple(parameter.name for parameter in signature.parameters)
    parts = ImageParts(RETURN_ZERO, (), (("samovar_entry", 0, len(RETURN_ZERO)),))
    image = _native.Image.from_flat(parts.flat())

    def resolve(kernel, given):
        raise Missed

    kernel = _native.Kernel(function, names, {}, resolve)
    kernel.insert(specialized(lens, names, image))

    def holds(*given):
        try:
            kernel(*given)
        except Missed:
            return False
        return True

    def same_answers(*given):
        return replay(lens.trace, function, dict(zip(names, given, strict=True)), signature, Options()) is None

    return holds, same_answers


def template(x: sv.Template):
    pass


class Color(enum.Enum):
    RED = 1
    GREEN = 2


def value(ref):
    ref.kind()
    ref.value()


CASES = [
    (value, 1, [2, 1.0, True, "1", None]),
    (value, 0.0, [-0.0, 0, False]),
    (value, "a", ["b", None]),
    (value, None, [0, False]),
    (value, sv.f32, [sv.f64]),
    (value, Color.RED, [Color.GREEN, 1]),
    (value, np.float32(0.5), [0.5, np.float64(0.5), np.float32(0.25)]),
    (lambda r: r.kind(), (1, 2), [[1, 2], None]),
    (lambda r: r.kind(), None, [1, object()]),
    (lambda r: r.kind(), 3, [3.0, None]),
    (lambda r: (r.kind(), r.length()), [1, 2], [[1], [1, 2, 3], (1, 2)]),
    (lambda r: (r.kind(), r.keys()), {"a": 1, "b": 2}, [{"b": 2, "a": 1}, {"a": 1}, {}]),
    (lambda r: (r.kind(), value(r.item(1))), [1, 2], [[1, 3], [1]]),
    (lambda r: (r.kind(), value(r.item("a"))), {"a": 1}, [{"a": 2}, {}]),
    (lambda r: value(r.attribute("n")), types.SimpleNamespace(n=1), [types.SimpleNamespace(n=2), types.SimpleNamespace()]),
    (lambda r: r.attribute("n").kind(), types.SimpleNamespace(), [types.SimpleNamespace(n=1)]),
    (lambda r: (r.kind(), r.tensor()), np.zeros(3), [np.zeros(3, "f4"), np.zeros((3, 1)), np.zeros(6)[::2], None, [0.0]]),
    (lambda r: (r.kind(), r.tensor(), r.readonly()), np.zeros(3), [np.frombuffer(b"12345678")]),
    (lambda r: (r.kind(), r.tensor(), r.extent(1)), np.zeros((2, 3)), [np.zeros((2, length)) for length in (1, 4, 9)]),
    (lambda r: (r.kind(), r.tensor(), r.extent(1)), np.zeros((2, 9)), [np.zeros((9, 8)), np.zeros((9, 2))]),
    (
        lambda r: (r.kind(), r.tensor(), r.extent(2), r.extent(1)),
        sv.ndarray(sv.f32, (5, 2, 3)),
        [sv.ndarray(sv.f32, (5, 3, 3))],
    ),
    (lambda r: (r.kind(), r.intrinsic()), min, [max, None]),
    (lambda r: r.kind(), math, [np]),
    (lambda r: (r.kind(), r.annotation()), sv.types.NDArray[sv.f32, 1], [sv.types.NDArray[sv.f32, 2]]),
    (lambda r: r.opaque(), types.SimpleNamespace(), [types.SimpleNamespace()]),
]


@pytest.mark.parametrize(("ask", "old", "others"), CASES)
def test_guards_hold_for_the_object_and_miss_others(ask, old, others):
    holds, _ = guarded(template, lambda lens: ask(lens.parameter("x")), x=old)
    assert holds(old)
    for other in others:
        assert not holds(other), other


def test_a_method_that_is_bound_anew_each_time_does_not_miss():
    names = ["a"]
    holds, _ = guarded(template, lambda lens: lens.parameter("x").attribute("index").call(("a",), {}), x=names)
    assert holds(names)


def test_a_call_of_which_all_is_known_is_not_made_at_launch():
    def make(n):
        return [n, 2, 3]

    holds, _ = guarded(template, lambda lens: value(lens.parameter("x").call((1,), {}).item(0)), x=make)
    assert holds(make)
    make.__defaults__ = (2,)
    assert not holds(make)


def test_a_call_that_changes_something_is_made_at_launch_and_what_is_below_it_is_asked():
    count = 0

    def make():
        nonlocal count
        count += 1
        return [1 + count // 4, 2, 3]

    holds, _ = guarded(template, lambda lens: value(lens.parameter("x").call((), {}).item(0)), x=make)
    assert count == 1
    assert [holds(make) for _ in range(3)] == [True, True, False]
    assert count == 4


def test_what_a_call_raises_at_launch_is_a_miss_unless_it_is_about_the_process():
    class Reader:
        error = None

        def read(self):
            if self.error is not None:
                raise self.error
            return 1

    reader = Reader()
    holds, _ = guarded(template, lambda lens: value(lens.parameter("x").attribute("read").call((), {})), x=reader)
    assert holds(reader)
    reader.error = ValueError("now")
    assert not holds(reader)
    for error in (KeyboardInterrupt, MemoryError, RecursionError):
        reader.error = error
        with pytest.raises(error):
            holds(reader)


constant = 1


def test_a_global_is_read_at_each_launch():
    global constant
    constant = 1

    def reader():
        return constant

    holds, _ = guarded(reader, lambda lens: value(lens.kernel.resolve("constant")))
    assert holds()
    constant = 2
    assert not holds()
    del constant
    assert not holds()
    constant = 1
    assert holds()


def test_a_builtin_that_is_shadowed_is_a_miss():
    def reader():
        return len([])

    holds, _ = guarded(reader, lambda lens: lens.kernel.resolve("len").intrinsic())
    assert holds()
    globals()["len"] = max
    try:
        assert not holds()
    finally:
        del globals()["len"]


def test_a_name_that_was_not_defined_and_is_now_is_a_miss():
    def reader():
        return appearing  # noqa: F821

    holds, _ = guarded(reader, lambda lens: lens.kernel.resolve("appearing"))
    assert holds()
    globals()["appearing"] = 1
    try:
        assert not holds()
    finally:
        del globals()["appearing"]


def test_a_cell_is_read_at_each_launch():
    captured = 1

    def reader():
        return captured

    holds, _ = guarded(reader, lambda lens: value(lens.kernel.resolve("captured")))
    assert holds()
    captured = 2
    assert not holds()


@sv.func
def helper(x: sv.i32, y: sv.i32 = 1, *, z: sv.i32 = 2) -> sv.i32:
    return x + y + z + constant


def use_helper():
    return helper(1)


def ask_helper(lens):
    function = lens.kernel.resolve("helper").function()
    value(function.resolve("constant"))
    for parameter in function.parameters[1:]:
        value(parameter.default)


def test_a_func_is_guarded_with_its_code_its_globals_and_its_defaults():
    global constant
    constant = 1
    wrapped = helper.__wrapped__
    holds, _ = guarded(use_helper, ask_helper)
    assert holds()
    constant = 3
    assert not holds()
    constant = 1
    wrapped.__defaults__ = (5,)
    assert not holds()
    wrapped.__defaults__ = (1,)
    wrapped.__kwdefaults__ = {"z": 5}
    assert not holds()
    wrapped.__kwdefaults__ = {"z": 2}
    assert holds()
    code = wrapped.__code__
    wrapped.__code__ = code.replace(co_name="other")
    assert not holds()
    wrapped.__code__ = code
    assert holds()


def test_another_func_under_the_same_name_is_a_miss():
    global helper
    original = helper
    holds, _ = guarded(use_helper, ask_helper)
    helper = sv.func(original.__wrapped__)
    try:
        assert not holds()
    finally:
        helper = original


def test_the_kernel_itself_is_guarded_by_its_code():
    def reader():
        return 1

    holds, _ = guarded(reader, lambda lens: None)
    assert holds()
    reader.__code__ = (lambda: 2).__code__
    assert not holds()


def test_names_of_other_modules_are_read_at_each_launch():
    module = types.ModuleType("settings")
    module.n = 1

    def reader():
        return module.n

    holds, _ = guarded(reader, lambda lens: value(lens.kernel.resolve("module").attribute("n")))
    assert holds()
    module.n = 2
    assert not holds()


def test_names_of_samovar_are_not_read_at_each_launch():
    def reader():
        return sv.math.clamp

    def ask(lens):
        module = lens.kernel.resolve("sv").attribute("math")
        module.kind()
        module.attribute("clamp").intrinsic()

    signature = signature_of(reader, None, {})
    lens = Lens(reader, {}, signature, Options())
    ask(lens)
    guards = make_guards(lens.trace.facts(), lens, (), [])
    assert [instruction[0] for instruction in guards.instructions] == ["constant", "same_function", "global", "is"]


def test_a_tuple_of_constants_is_one_comparison():
    table = tuple(range(100))

    def ask(lens):
        ref = lens.parameter("x")
        ref.kind()
        for position in range(ref.length()):
            value(ref.item(position))

    holds, _ = guarded(template, ask, x=table)
    assert holds(tuple(range(100)))
    assert not holds((*range(99), 100))


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.0, -0.0, 1.0, math.nan, "a", "b"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.sampled_from(["k", "l", 1]), inner, max_size=2),
    ),
    max_leaves=5,
)


def ask_everything(ref):
    kind = ref.kind()
    if kind is Kind.SEQUENCE:
        for position in range(ref.length()):
            ask_everything(ref.item(position))
    elif kind is Kind.MAPPING:
        keys = ref.keys()
        for key in keys:
            ask_everything(ref.item(key))
    else:
        ref.value()


@given(values, values)
def test_where_guards_hold_the_trace_holds(old, new):
    holds, same_answers = guarded(template, lambda lens: ask_everything(lens.parameter("x")), x=old)
    assert holds(old)
    assert not holds(new) or same_answers(new)
