"""Guard programs: each instruction, what holds, what misses, what raises."""

from __future__ import annotations

import contextlib
import gc
import struct
import types
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from image_from_c import EMPTY

from samovar._native import (
    Image,
    Kernel,
    Ndarray,
    Specialization,
    disjoint,
    encode_program,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
    same_value,
    u1,
    u8,
    u64,
)
from samovar.ir.layout import array_slots

IMAGE = Image.from_flat(EMPTY)


class Miss(Exception):
    pass


def guarded(program, registers, parameters=1, block=0, results=None) -> Kernel:
    """A kernel with one specialization; a miss raises Miss."""

    def resolve(kernel, arguments):
        raise Miss

    kernel = Kernel(lambda: None, tuple(f"p{i}" for i in range(parameters)), {}, resolve)
    kernel.insert(Specialization(IMAGE, program, registers, block, results=results))
    return kernel


def holds(program, registers, *arguments, block=0) -> bool:
    try:
        guarded(program, registers, len(arguments), block)(*arguments)
    except Miss:
        return False
    return True


ARGUMENT = ("parameter", 0, 0)


class Thing:
    pass


def thing(**attributes) -> Thing:
    result = Thing()
    vars(result).update(attributes)
    return result


# --- loads


def test_attributes_are_read_along_a_path():
    program = [ARGUMENT, ("attribute", 1, 0, "a"), ("attribute", 2, 1, "b"), ("value", 2, 7)]
    assert holds(program, 3, thing(a=thing(b=7)))
    assert not holds(program, 3, thing(a=thing(b=8)))
    assert not holds(program, 3, thing(a=thing()))
    assert not holds(program, 3, thing())


def test_a_property_is_called_once():
    calls = []

    class Counted:
        @property
        def x(self):
            calls.append(1)
            return np.zeros(3, np.float32)

    program = [ARGUMENT, ("attribute", 1, 0, "x"), tensor(1, written=True), ("array", 1, 0, False)]
    assert holds(program, 2, Counted(), block=16)
    assert calls == [1]


@pytest.mark.parametrize("error", [ValueError, KeyError, KeyboardInterrupt])
def test_an_exception_in_a_property_reaches_the_caller(error):
    class Broken:
        @property
        def x(self):
            raise error("broken")

    for instruction in [("attribute", 1, 0, "x"), ("absent_attribute", 0, "x")]:
        with pytest.raises(error, match="broken"):
            holds([ARGUMENT, instruction], 2, Broken())


def test_an_attribute_error_in_a_property_is_a_miss():
    class Absent:
        @property
        def x(self):
            raise AttributeError

    assert not holds([ARGUMENT, ("attribute", 1, 0, "x")], 2, Absent())
    assert holds([ARGUMENT, ("absent_attribute", 0, "x")], 2, Absent())


def test_items_of_lists_tuples_dicts_and_others():
    program = [ARGUMENT, ("item", 1, 0, 1), ("value", 1, "b")]
    for container in (["a", "b"], ("a", "b"), {1: "b"}, types.MappingProxyType({1: "b"})):
        assert holds(program, 2, container)
    for container in (["a"], ("a",), {2: "b"}, {}, ["a", "c"], types.MappingProxyType({})):
        assert not holds(program, 2, container)
    with pytest.raises(TypeError):
        holds(program, 2, 5)


def test_a_key_that_cannot_be_compared_reaches_the_caller():
    class Key:
        def __hash__(self):
            return hash("k")

        def __eq__(self, other):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        holds([ARGUMENT, ("item", 1, 0, "k")], 2, {Key(): 1})


def test_a_cell_is_read_at_each_launch():
    cell = types.CellType(1)
    kernel = guarded([("cell", 0, cell), ("value", 0, 1)], 1, 0)
    kernel()
    cell.cell_contents = 2
    with pytest.raises(Miss):
        kernel()
    del cell.cell_contents
    with pytest.raises(Miss):
        kernel()


def test_globals_and_builtins_are_told_apart():
    namespace: dict[str, object] = {}
    builtins = {"min": min}
    program = [("builtin", 0, namespace, builtins, "min"), ("is", 0, min)]
    kernel = guarded(program, 1, 0)
    kernel()
    namespace["min"] = max
    with pytest.raises(Miss):
        kernel()
    assert holds([("global", 0, namespace, "min"), ("is", 0, max)], 1)
    assert not holds([("global", 0, namespace, "max")], 1)
    assert holds([("absent_global", namespace, "max")], 0)
    assert not holds([("absent_global", namespace, "min")], 0)
    assert not holds([("builtin", 0, namespace, builtins, "max")], 1)


def test_a_constant_is_what_it_was_given_as():
    array = Ndarray(f32, 3)
    program = [("constant", 0, array), tensor(written=True), ("array", 0, 0, False), ("is", 0, array)]
    assert holds(program, 1, block=16)


def test_the_function_under_a_wrapper_is_found():
    def plain(a, b=3):
        pass

    wrapper = Kernel(plain, ("a", "b"), {}, print)
    code = [ARGUMENT, ("function", 1, 0), ("same_function", 1, plain, plain.__code__)]
    assert holds(code, 2, wrapper)
    assert holds(code, 2, thing(__wrapped__=plain))
    assert not holds(code, 2, thing(__wrapped__=5))
    assert holds(code, 2, plain)  # which is itself
    assert not holds(code, 2, print)
    assert not holds(code, 2, 5)


def test_a_function_is_told_from_another_one_with_the_same_code():
    def make(n):
        return lambda: n

    function, other = make(1), make(1)
    program = [ARGUMENT, ("same_function", 0, function, function.__code__)]
    assert holds(program, 1, function)
    assert not holds(program, 1, other)
    assert not holds(program, 1, 5)
    function.__code__ = function.__code__.replace(co_name="other")
    assert not holds(program, 1, function)
    with pytest.raises(ValueError, match="expected a function"):
        Specialization(IMAGE, [ARGUMENT, ("same_function", 0, 5, function.__code__)], 1, 0)


def test_contents_are_compared():
    program = [ARGUMENT, ("contents", 0, ("values", (1, 2)))]
    assert holds(program, 1, [1, 2])
    assert not holds(program, 1, [1, 3])
    with pytest.raises(ValueError, match="invalid description"):
        holds([ARGUMENT, ("contents", 0, 5)], 1, [1, 2])


# --- guards on values


def test_identity_and_exact_type():
    marker = object()
    assert holds([ARGUMENT, ("is", 0, marker)], 1, marker)
    assert not holds([ARGUMENT, ("is", 0, marker)], 1, object())
    assert holds([ARGUMENT, ("type", 0, int)], 1, 5)
    assert not holds([ARGUMENT, ("type", 0, int)], 1, True)


SAME = [1, 1.0, True, 0, False, 0.0, -0.0, float("nan"), "a", "", b"a", None, 1j, -0.0j]
SAME += [(), (1,), (1.0,), (0.0,), (-0.0,), (1, (2,))]
SAME += [np.float32(0), np.float32(-0.0), np.float32(1), np.int32(1), np.float64(1), np.float32("nan"), f32, f64, 10**30]


@pytest.mark.parametrize("expected", range(len(SAME)))
def test_values_are_the_same_only_with_their_type_and_bits(expected):
    for actual, value in enumerate(SAME):
        if type(value) is float:
            [value] = struct.unpack("d", struct.pack("d", value))
        assert holds([ARGUMENT, ("value", 0, SAME[expected])], 1, value) == (expected == actual), value


def test_equal_values_need_not_be_the_same_object():
    for make in (lambda: int("12345678901234567890"), lambda: "".join(["a", "b"]), lambda: (int("1" * 20), float("nan"))):
        assert make() is not make()
        assert holds([ARGUMENT, ("value", 0, make())], 1, make())
    assert holds([ARGUMENT, ("value", 0, np.float32("nan"))], 1, np.float32("nan"))


@given(st.recursive(st.integers() | st.floats() | st.text() | st.booleans(), lambda inner: st.tuples(inner, inner)))
def test_any_value_is_the_same_as_its_copy(value):
    def copy(item):
        if isinstance(item, tuple):
            return tuple(copy(part) for part in item)
        return struct.unpack("d", struct.pack("d", item))[0] if isinstance(item, float) else item

    assert holds([ARGUMENT, ("value", 0, value)], 1, copy(value))


def test_an_exception_in_a_comparison_reaches_the_caller():
    class Incomparable:
        def __eq__(self, other):
            raise ZeroDivisionError

        __hash__ = None

    with pytest.raises(ZeroDivisionError):
        holds([ARGUMENT, ("value", 0, Incomparable())], 1, Incomparable())


def nested(depth):
    result = (1.5,)
    for _ in range(depth):
        result = (result,)
    return result


def test_tuples_that_are_nested_too_deeply_are_a_recursion_error():
    assert same_value(nested(100), nested(100))
    with pytest.raises(RecursionError):
        same_value(nested(200_000), nested(200_000))
    with pytest.raises(RecursionError):
        holds([ARGUMENT, ("value", 0, nested(200_000))], 1, nested(200_000))


def test_length():
    assert holds([ARGUMENT, ("length", 0, 2)], 1, [1, 2])
    assert holds([ARGUMENT, ("length", 0, 2)], 1, {1: 1, 2: 2})
    assert not holds([ARGUMENT, ("length", 0, 2)], 1, [1])
    assert not holds([ARGUMENT, ("length", 0, 2)], 1, 5)


# --- arrays


def tensor(register=0, dtype=f32, ndim=1, contiguous=True, wide=False, needs_grad=False, baked=False, written=False):
    return ("tensor", register, dtype, ndim, contiguous, wide, needs_grad, baked, False, False, False, False, False, written)


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("array", "facts", "expected"),
    [
        (Ndarray(f32, 3), {}, True),
        (Ndarray(f32, 3), {"written": True}, True),
        (Ndarray(f32, 3), {"dtype": f64}, False),
        (Ndarray(f32, 3), {"dtype": i32}, False),
        (Ndarray(f32, 3), {"ndim": 2}, False),
        (Ndarray(f32, ()), {"ndim": 0}, True),
        (Ndarray(f32, (2, 3)), {"ndim": 2}, True),
        (Ndarray(f32, 3), {"contiguous": False}, False),
        (Ndarray(f32, 3), {"wide": True}, False),
        (Ndarray(f32, 3), {"needs_grad": True}, False),
        (Ndarray(f32, 3, needs_grad=True), {"needs_grad": True}, True),
        (Ndarray(f32, 3, needs_grad=True), {}, False),
        (np.zeros(3, np.float32), {}, True),
        (np.zeros(3, np.float32), {"written": True}, True),
        (np.zeros(3, np.float32), {"dtype": f64}, False),
        (np.zeros(3, np.float32), {"contiguous": False}, False),
        (np.zeros(6, np.float32)[::2], {"contiguous": False}, True),
        (np.zeros(6, np.float32)[::2], {}, False),
        (np.zeros((3, 4), np.float16).T, {"dtype": f16, "ndim": 2, "contiguous": False}, True),
        (read_only(np.zeros(3, np.float32)), {}, True),
        (read_only(np.zeros(3, np.float32)), {"written": True}, False),
        (np.zeros(3, np.dtype(">f4")), {}, False),
        (np.zeros(3, np.complex64), {}, False),
        (np.zeros(13, np.uint8)[1:].view(np.float32), {}, False),  # misaligned
        (3.0, {}, False),
        (None, {}, False),
        ([1.0], {}, False),
        ("abc", {}, False),
    ],
)
def test_the_facts_of_an_array_must_be_exactly_these(array, facts, expected):
    assert holds([ARGUMENT, tensor(**facts)], 1, array) == expected


EXTENTS = [0, 1, 2, 3, 8, 9, 200]


@pytest.mark.parametrize("make", [lambda shape: Ndarray(f32, shape), lambda shape: np.zeros(shape, np.float32)])
@pytest.mark.parametrize("actual", EXTENTS)
@pytest.mark.parametrize("answered", [0, 2, 3, 8])
def test_an_extent_is_what_was_answered_or_none_that_is_known(make, actual, answered):
    expected = actual == answered if answered else not 2 <= actual <= 8
    program = [ARGUMENT, tensor(ndim=2), ("extent", 0, 1, answered)]
    assert holds(program, 1, make((5, actual))) == expected
    assert holds([ARGUMENT, tensor(ndim=2), ("extent", 0, 0, answered)], 1, make((actual, 5))) == expected


def test_extents_of_several_axes_are_compared():
    program = [ARGUMENT, tensor(ndim=3), ("extent", 0, 2, 3), ("extent", 0, 1, 4)]
    assert holds(program, 1, Ndarray(f32, (7, 4, 3)))
    assert not holds(program, 1, Ndarray(f32, (7, 3, 3)))
    assert not holds(program, 1, Ndarray(f32, (7, 4, 4)))


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ([ARGUMENT, ("extent", 0, 0, 3)], "no tensor guard covers the register"),
        ([ARGUMENT, tensor(ndim=1), ("extent", 0, 1, 3)], "no such axis"),
        ([ARGUMENT, tensor(ndim=1), ("extent", 0, 0, -3)], "a number is negative"),
    ],
)
def test_an_extent_that_cannot_be_asked_is_refused(program, why):
    with pytest.raises(ValueError, match=why):
        guarded(program, 1)


def filled(array, strided) -> tuple[int, ...]:
    """The slots that an array fills."""
    facts = {"dtype": f32, "ndim": array.ndim, "contiguous": not strided}
    slots = array_slots(array.ndim, strided).total
    program = [ARGUMENT, tensor(**facts), ("array", 0, 8, strided)]
    results = ("tuple", tuple(("scalar", i64, 8 + 8 * i) for i in range(slots)))
    return guarded(program, 1, 1, 8 + 8 * slots, results)(array)


def test_an_array_fills_its_slots():
    contiguous = np.zeros((2, 3, 4), np.float32)
    assert filled(contiguous, False) == (contiguous.ctypes.data, 2, 3, 4)
    assert filled(contiguous.transpose(2, 0, 1), True) == (contiguous.ctypes.data, 4, 2, 3, 1, 12, 4)
    reverse = contiguous[:, ::-1, 1:3]
    assert filled(reverse, True) == (reverse.ctypes.data, 2, 3, 2, 12, -4, 1)
    ours = Ndarray(f32, (5, 6))
    assert filled(ours, False)[1:] == (5, 6)


def test_the_array_in_a_register_is_kept_until_the_launch_ends():
    released = []

    class Owner:
        @property
        def x(self):
            array = np.zeros(3, np.float32)
            weakref.finalize(array, released.append, "freed")
            return array

        @property
        def y(self):
            gc.collect()
            return list(released)

    program = [ARGUMENT, ("attribute", 1, 0, "x"), tensor(1), ("attribute", 2, 0, "y"), ("value", 2, [])]
    program += [("array", 1, 0, False)]
    guarded(program, 3, 1, 16)(Owner())
    assert released == ["freed"]


def overlapping(*arrays, written=1):
    program = []
    for i, array in enumerate(arrays):
        facts = {"dtype": f32, "ndim": array.ndim, "written": i < written}
        facts["contiguous"] = not isinstance(array, np.ndarray) or array.flags.c_contiguous
        program += [("parameter", i, i), tensor(i, **facts)]
    check = ("disjoint", tuple(range(written)), tuple(range(len(arrays))), True)
    natively = not holds([*program, check], len(arrays), *arrays)
    assert holds([*program, (*check[:3], False)], len(arrays), *arrays) == natively
    assert disjoint(tuple(arrays[:written]), tuple(arrays[written:])) != natively
    return natively


def test_overlap_of_arrays():
    a, b = np.zeros(10, np.float32), np.zeros(10, np.float32)
    ours, other = Ndarray(f32, 10), Ndarray(f32, 10)
    assert not overlapping(a, b)
    assert overlapping(a, a)
    assert not overlapping(a, b, b)
    assert overlapping(b, a, b)
    assert overlapping(a, b, b, written=2)
    assert overlapping(a[:6], a[5:])
    assert not overlapping(a[:5], a[5:])
    assert overlapping(a[::-1], a[9:])
    assert not overlapping(a[4::-1], a[5:])
    assert not overlapping(a[:0], a)
    assert not overlapping(a, a[3:3])
    assert not overlapping(ours, other, a)
    assert overlapping(ours, ours)
    assert overlapping(np.asarray(ours), ours)


def test_a_written_array_that_overlaps_itself():
    a = np.zeros(12, np.float32)
    repeated = np.lib.stride_tricks.as_strided(a, (3, 4), (0, 4))
    windows = np.lib.stride_tricks.as_strided(a, (3, 4), (8, 4))
    assert overlapping(repeated)
    assert overlapping(windows)
    assert not overlapping(a.reshape(3, 4).T)
    assert not overlapping(a.reshape(3, 4)[::-1, ::2])
    assert not overlapping(np.zeros(9, np.float32), repeated)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 30), st.booleans()), min_size=1, max_size=30))
def test_overlap_agrees_with_the_elements(spans):
    memory = np.zeros(500, np.float32)
    spans.sort(key=lambda span: not span[2])
    written = sum(span[2] for span in spans)
    arrays = [memory[begin : begin + size] for begin, size, _ in spans]
    seen = [set(range(begin, begin + size)) for begin, size, _ in spans]
    expected = any(seen[i] & seen[k] for i in range(written) for k in range(len(spans)) if i != k)
    assert overlapping(*arrays, written=written) == expected


@given(st.lists(st.permutations(range(5)), min_size=2, max_size=6), st.integers(0, 4))
def test_overlap_is_seen_whatever_the_order_of_earlier_launches(orders, shared):
    memory = np.zeros((5, 8), np.float32)
    program = []
    for i in range(5):
        program += [("parameter", i, i), tensor(i, written=i < 2)]
    kernel = guarded([*program, ("disjoint", (0, 1), (0, 1, 2, 3, 4), True)], 5, 5)
    for order in orders:
        arrays = [memory[row] for row in order]
        kernel(*arrays)
        repeated = [*arrays[:4], arrays[shared]]
        if shared < 2:
            with pytest.raises(Miss):
                kernel(*repeated)
        else:
            kernel(*repeated)


# --- scalars


def scalar(dtype, value):
    return guarded([ARGUMENT, ("scalar", 0, dtype, 0, "x")], 1, 1, 8, ("scalar", dtype, 0))(value)


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        (i32, 5, 5),
        (i32, True, 1),
        (i32, np.int64(-7), -7),
        (i8, -128, -128),
        (u64, 2**64 - 1, 2**64 - 1),
        (f64, 2, 2.0),
        (f64, 0.1, 0.1),
        (f32, 0.1, float(np.float32(0.1))),
        (f16, 0.1, float(np.float16(0.1))),
        (f32, np.float32(1.5), 1.5),
        (f32, np.float16(1.5), 1.5),
        (f64, np.int8(3), 3.0),
        (u1, True, True),
        (u1, 2, True),
        (u1, 0.0, False),
    ],
)
def test_scalars_are_stored(dtype, value, stored):
    assert scalar(dtype, value) == stored


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        *[(i32, 1.0), (i32, "1"), (i32, None), (i32, np.zeros(1, int)), (i32, np.array(0.5))],
        *[(f32, "1"), (f32, 1j), (f32, None), (f32, [1.0]), (f32, Ndarray(f32, ())), (f64, np.zeros(1)), (u1, "x")],
    ],
)
def test_what_is_not_a_number_is_a_miss(dtype, value):
    with pytest.raises(Miss):
        scalar(dtype, value)


def test_an_array_without_axes_is_its_number():
    assert scalar(i32, np.array(5)) == scalar(i32, 5)
    assert scalar(f64, np.array(0.5)) == scalar(f64, 0.5)


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        (i8, 128, "argument `x`: 128 does not fit in i8"),
        (u8, -1, "argument `x`: -1 does not fit in u8"),
        (u64, 2**64, f"argument `x`: {2**64} does not fit in u64"),
        (i64, 10**30, f"argument `x`: {10**30} does not fit in i64"),
        (f64, 10**400, "argument `x`: int too large to convert to float"),
    ],
)
def test_a_scalar_out_of_range_raises(dtype, value, message):
    with pytest.raises(OverflowError, match=message):
        scalar(dtype, value)


def test_an_overflow_only_counts_if_the_guards_hold():
    program = [ARGUMENT, ("scalar", 0, i8, 0, "x"), ("value", 0, 5)]
    with pytest.raises(Miss):
        guarded(program, 1, 1, 8)(300)


def test_an_exception_in_index_reaches_the_caller():
    class Broken:
        def __index__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scalar(i32, Broken())


# --- reentrancy


def test_guards_may_launch_the_same_kernel():
    depth = []

    class Nested:
        @property
        def x(self):
            if len(depth) < 20:
                depth.append(1)
                kernel(self)
            return 1

    kernel = guarded([ARGUMENT, ("attribute", 1, 0, "x"), ("value", 1, 1)], 2)
    kernel(Nested())
    assert len(depth) == 20


def test_guards_may_change_the_list_of_specializations():
    others = [Specialization(IMAGE, [ARGUMENT, ("value", 0, i)], 1, 0) for i in range(5)]

    class Changes:
        @property
        def x(self):
            kernel.clear()
            for other in others:
                kernel.insert(other)
            return 2

    kernel = guarded([ARGUMENT, ("attribute", 1, 0, "x"), ("value", 1, 1)], 2)
    with pytest.raises(Miss):
        kernel(Changes())
    assert kernel.specializations == others[::-1]


# --- malformed programs


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ([("nothing",)], "nothing: no such instruction"),
        ([("parameter", 0)], "wrong number of operands"),
        ([("parameter", 2, 0)], "no such register"),
        ([("parameter", 0, 0), ("parameter", 0, 1)], "already assigned"),
        ([("value", 0, 1)], "not assigned yet"),
        ([("parameter", 0, -1)], "a number is negative"),
        ([ARGUMENT, ("array", 0, 0, False)], "no tensor guard covers the register"),
        ([ARGUMENT, tensor(), tensor()], "covers the register already"),
        ([ARGUMENT, tensor(), ("array", 0, 8, False)], "slots lie outside the argument block"),
        ([ARGUMENT, tensor(), ("array", 0, 0, True)], "slots lie outside the argument block"),
        ([ARGUMENT, ("scalar", 0, f32, 16, "x")], "slots lie outside the argument block"),
        ([ARGUMENT, ("scalar", 0, f32, 4, "x")], "slots lie outside the argument block"),
        ([ARGUMENT, ("disjoint", (0,), (0,), True)], "no tensor guard covers the register"),
        ([ARGUMENT, ("disjoint", 0, (0,), True)], "two tuples of registers"),
        ([ARGUMENT, tensor(ndim=17)], "too many dimensions"),
        ([ARGUMENT, ("tensor", 0, "f33", 1, True, *[False] * 9)], "no such dtype"),
    ],
)
def test_a_malformed_program_is_refused(program, message):
    with pytest.raises(ValueError, match=message):
        Specialization(IMAGE, program, 2, 16)


@pytest.mark.parametrize(
    "instruction",
    [
        5,
        (),
        (5,),
        ("cell", 1, 5),
        ("global", 1, 5, "a"),
        ("global", 1, {}, 5),
        ("type", 0, 5),
        ("same_function", 0, print, 5),
        ("tensor", 0, 32, 1, True, *[False] * 9),
        ("attribute", 1, 0, 5),
        ("scalar", 0, int, 0, "x"),
    ],
)
def test_operands_of_the_wrong_type_are_refused(instruction):
    with pytest.raises(TypeError):
        Specialization(IMAGE, [ARGUMENT, instruction], 2, 16)


def test_a_specialization_for_more_parameters_than_the_kernel_has_is_a_miss():
    assert not holds([("parameter", 0, 3)], 1, 1, 2)


def test_programs_are_collected_with_their_cycles():
    keeper = thing()
    keeper.specialization = Specialization(IMAGE, [("constant", 0, keeper)], 1, 0, keep=keeper)
    gone = weakref.ref(keeper)
    del keeper
    gc.collect()
    assert gone() is None


def test_an_encoded_program_is_the_same_program():
    program = [("parameter", 0, 0), ("type", 0, (..., "the type", int))]
    kernel = Kernel(lambda a: None, ("a",), {}, lambda kernel, arguments: pytest.fail("a miss"))
    with pytest.raises(ValueError, match="cannot contain a type"):
        encode_program(program)
    encoded = encode_program([("parameter", 0, 0), ("type", 0, (..., "the type"))])
    kernel.insert(Specialization(IMAGE, encoded, 1, 0, resolve=lambda operand: int))
    assert kernel(5) is None


def test_an_exception_while_operands_are_put_in_is_passed_on():
    def resolve(operand):
        raise LookupError(operand[1])

    with pytest.raises(LookupError, match="missing"):
        Specialization(IMAGE, encode_program([("constant", 0, (..., "missing"))]), 1, 0, resolve=resolve)


def test_a_program_that_is_changed_while_it_is_read():
    class Index:
        def __init__(self, number):
            self.number = number

        def __index__(self):
            program.clear()
            return self.number

    program = [("parameter", Index(0), 0), ("parameter", 1, 1), ("is", 1, object())]
    assert len(Specialization(IMAGE, program, 2, 0).operands) == 1
    assert program == []
    program = [("parameter", Index(0), Index(0)), ("length", Index(0), Index(3))]
    assert encode_program(program) == encode_program([("parameter", 0, 0), ("length", 0, 3)])
    program = [("constant", 0, (..., "first")), ("constant", 1, (..., "second"))]
    Specialization(IMAGE, program, 2, 0, resolve=lambda operand: program.clear())
    assert program == []


def every_form():
    """A program with every instruction, and the objects that it speaks of."""
    def function():
        return cell

    cell = 1
    objects = [function, function.__closure__[0], thing()]
    program = [
        ("parameter", 0, 0),
        ("parameter", 1, 1),
        ("cell", 2, (..., "object", 1)),
        ("global", 3, (..., "globals", 0), "name"),
        ("builtin", 4, (..., "globals", 0), (..., "builtins", 0), "range"),
        ("attribute", 5, 0, "näme"),
        ("inherited", 6, 0, 5, "method"),
        ("item", 7, 5, ("a", 1, None)),
        ("item", 8, 5, "text"),
        ("constant", 9, (..., "object", 2)),
        ("function", 10, 9),
        ("is", 9, (..., "object", 0)),
        ("type", 9, (..., "type", 2)),
        ("value", 9, 2.5),
        ("method", 9, "method", (..., "object", 2)),
        ("absent_attribute", 9, "gone"),
        ("absent_global", (..., "globals", 0), "gone"),
        ("length", 9, 2**40),
        ("keys", 9, ("a", "b")),
        ("same_function", 9, (..., "object", 0), (..., "code", 0)),
        ("stable", 0, True),
        ("tensor", 1, "f32", 2, True, *[False] * 8, True),
        ("disjoint", (1,), (1,), True),
        ("array", 1, 0, True),
        ("scalar", 5, "f64", 48, "five"),
    ]
    return program, objects


def test_bytes_are_compiled_to_the_same_program_as_tuples():
    program, objects = every_form()
    one = Specialization(IMAGE, program, 11, 64, objects=objects)
    two = Specialization(IMAGE, encode_program(program), 11, 64, objects=objects)
    assert one.operands == two.operands
    assert len(one.operands) > 20


@given(st.data())
def test_no_bytes_do_any_harm(data):
    """Checksums keep such bytes away; should they ever come, they are refused, or they are a program."""
    program, objects = every_form()
    code = bytearray(encode_program(program))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(code) - 1))
        if data.draw(st.booleans()):
            code[place] = data.draw(st.integers(0, 255))
        else:
            del code[place : place + data.draw(st.integers(1, 9))]
    with contextlib.suppress(ValueError, TypeError, IndexError, OverflowError, RecursionError):
        made = Specialization(IMAGE, bytes(code), 11, 64, objects=objects, resolve=lambda operand: operand)
        kernel = Kernel(lambda a, b: None, ("a", "b"), {}, lambda kernel, arguments: pytest.fail("a miss"))
        kernel.insert(made)
        with contextlib.suppress(pytest.fail.Exception, AttributeError):
            kernel(thing(), Ndarray(f32, (2, 2)))


@pytest.mark.parametrize(
    "program",
    [[("no such", 1)], [("length", 0)], [5], [("parameter", -1, 0)], [("tensor", 0, "f99", 0, *[False] * 10)]],
)
def test_what_is_no_program_has_no_bytes(program):
    with pytest.raises((ValueError, TypeError), match="guard program"):
        encode_program(program)


@pytest.mark.parametrize(
    "damage", [lambda code: code[:-1], lambda code: code + b"\1", lambda code: b"\xff" * 8, lambda code: code[4:]]
)
def test_a_damaged_encoded_program_is_refused(damage):
    encoded = encode_program([("parameter", 0, 0), ("length", 0, 3)])
    with pytest.raises(ValueError, match=r"guard program|plain data"):
        Specialization(IMAGE, damage(encoded), 1, 0)


@pytest.mark.parametrize("kernel_first", [True, False])
def test_a_kernel_that_is_launched_while_it_is_collected(kernel_first):
    """A finalizer that the collector's clearing sets off launches a kernel whose guards are gone: they hold for nothing."""
    reached = []

    def scene():
        def finish(self, box):
            try:
                reached.append(box.kernel(1))
            except (Miss, ReferenceError) as error:
                reached.append(type(error))

        def resolve(kernel, arguments):
            raise Miss

        def make_kernel():
            return Kernel(lambda p0: None, ("p0",), {}, resolve)

        box = thing()
        # Nothing that the collector would look at, so that its finalizer comes late.
        text = type("Text", (str,), {"__slots__": (), "__del__": lambda self, box=box: finish(self, box)})("a")
        kernel = make_kernel() if kernel_first else None
        made = Specialization(IMAGE, [ARGUMENT, ("type", 0, str), ("value", 0, text)], 1, 0)
        box.kernel = kernel or make_kernel()
        box.kernel.insert(made)
        box.kernel.box = box

    gc.collect()
    scene()
    gc.collect()
    assert len(reached) == 1
    assert reached[0] in (Miss, ReferenceError)
