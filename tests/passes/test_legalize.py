"""Operations written in simple ones: they mean what they meant, and none is left that a backend would have to compose."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from ir_arithmetic import Number, evaluate, limits
from ir_builder import Builder
from ir_interpreter import Interpreter, same
from passes.programs import arguments, kernels
from samovar._native import DType, f16, f32, f64, i8, i16, i32, i64, u1, u8, u32, u64
from samovar.ir import Atomic, Constant, Kernel, Parameter, Region, Value, callees, verify, walk, walk_kernel
from samovar.ir.values import Array
from samovar.passes.legalize import legalize

INTEGERS = [i8, i16, i32, i64, u8, u32, u64, u1]
FLOATS = [f16, f32, f64]
#: What no backend sees; `pow` stays on floats, where it is a function of the C library.
WRITTEN = {"floordiv", "mod", "shl", "shr", "ffs", "isinf"}
OF_INTEGERS = {1: "neg abs not popcnt clz ffs isnan isinf".split(), 2: "floordiv mod pow shl shr".split()}
OF_FLOATS = {1: "isnan isinf floor sqrt neg abs".split(), 2: "floordiv mod fmod copysign".split()}


def samples(type: DType) -> list[Number]:
    if type is u1:
        return [False, True]
    if type.kind == "float":
        facts = np.finfo(type.typestr)
        some = [0.0, 0.5, 1.0, 2.5, 3.0, 7.25, 255.5, float(facts.max), float(facts.tiny), math.inf]
        return [*some, *(-each for each in some), math.nan]
    least, greatest = limits(type)
    return sorted({least, least + 1, greatest, *(each for each in (-8, -7, -2, -1, 0, 1, 2, 3, 7, 8, 9) if least <= each)})


def result_type(code: str, type: DType) -> DType:
    return u1 if code in ("isnan", "isinf") else type


def program(code: str, type: DType, operands: list[Value], parameters: list[Parameter], result: DType) -> Kernel:
    build = Builder(*parameters, returns=[result])
    build.give(build.op(code, *operands, type=result))
    kernel = build.kernel()
    legalize(kernel, fast_math=False)
    verify(kernel)
    assert not {operation.code for operation in walk_kernel(kernel)} & WRITTEN
    return kernel


def equal(a: Number, b: Number) -> bool:
    return (a == b and math.copysign(1, a) == math.copysign(1, b)) or (a != a and b != b)


CASES = [
    *((code, type) for type in INTEGERS for codes in OF_INTEGERS.values() for code in codes),
    *((code, type) for type in FLOATS for codes in OF_FLOATS.values() for code in codes),
]


@pytest.mark.parametrize(("code", "type"), CASES, ids=lambda value: getattr(value, "name", value))
def test_an_operation_means_what_it_meant(code: str, type: DType) -> None:
    count = 2 if code in OF_INTEGERS[2] + OF_FLOATS[2] else 1
    parameters = [Parameter(name, type) for name in "ab"[:count]]
    result = result_type(code, type)
    kernel = program(code, type, [*parameters], parameters, result)
    for point in itertools.product(samples(type), repeat=count):
        (found,) = Interpreter(kernel, dict(zip("ab", point, strict=False))).run()
        assert equal(found, evaluate(code, result, point, type)), point


@pytest.mark.parametrize("type", [i8, i64, u8, u64], ids=lambda type: type.name)
@pytest.mark.parametrize("code", OF_INTEGERS[2])
def test_a_constant_operand_needs_no_guard(code: str, type: DType) -> None:
    a = Parameter("a", type)
    for b in [*samples(type), type.bits - 1, type.bits]:
        kernel = program(code, type, [a, Constant(b, type)], [a], type)
        codes = [operation.code for operation in walk(kernel.body)]
        assert codes.count("select") <= (1 if code == "mod" else 0) + (code == "pow") * 3
        for value in samples(type):
            (found,) = Interpreter(kernel, {"a": value}).run()
            assert found == evaluate(code, type, (value, b)), (value, b)


@pytest.mark.parametrize("source", FLOATS, ids=lambda type: type.name)
@pytest.mark.parametrize("target", [*INTEGERS, *FLOATS], ids=lambda type: type.name)
def test_floats_are_moved_into_the_range_of_what_they_become(source: DType, target: DType) -> None:
    x = Parameter("x", source)
    kernel = program("cast", source, [x], [x], target)
    edges = [] if target.kind == "float" else [float(edge + offset) for edge in limits(target) for offset in (-1, 0, 1)]
    for value in [*samples(source), *(evaluate("cast", source, (edge,), f64) for edge in edges)]:
        (found,) = Interpreter(kernel, {"x": value}).run()
        assert equal(found, evaluate("cast", target, (value,), source)), value


@pytest.mark.parametrize("source", INTEGERS, ids=lambda type: type.name)
def test_integers_reach_f16_without_being_rounded_twice(source: DType) -> None:
    x = Parameter("x", source)
    kernel = program("cast", source, [x], [x], f16)
    for value in samples(source):
        (found,) = Interpreter(kernel, {"x": value}).run()
        assert found == evaluate("cast", f16, (value,), source)


@pytest.mark.parametrize(("mark", "steps"), [("fits", 1), ("index", 3), (None, 8)])
def test_marks_spare_what_is_not_needed(mark: str | None, steps: int) -> None:
    x = Parameter("x", f32)
    build = Builder(x, returns=[i32])
    build.give(build.op("cast", x, type=i32, payload=mark))
    kernel = build.kernel()
    legalize(kernel, fast_math=True)
    assert len(kernel.body.operations) - 1 <= steps + (2 if mark is None else 0)
    assert Interpreter(kernel, {"x": -3.75}).run() == (-3,)


def test_functions_of_halves_are_computed_in_wider_floats() -> None:
    x = Parameter("x", f16)
    for code, wide in (("sin", f32), ("sqrt", f32), ("fma", f64)):
        kernel = program(code, f16, [x] * (3 if code == "fma" else 1), [x], f16)
        (operation,) = [each for each in walk_kernel(kernel) if each.code == code]
        assert operation.type is wide
    kernel = program("add", f16, [x, x], [x], f16)
    assert [each.type for each in kernel.body.operations if each.code == "add"] == [f16]


def test_an_integer_power_is_a_call_of_one_function() -> None:
    a, b = Parameter("a", i32), Parameter("b", i32)
    build = Builder(a, b, returns=[i32, i32])
    build.give(build.op("pow", a, b), build.op("pow", b, a))
    kernel = build.kernel()
    legalize(kernel, fast_math=False)
    verify(kernel)
    assert [function.name for function in kernel.functions] == ["power.i32"]
    assert Interpreter(kernel, {"a": -3, "b": 5}).run() == (-243, 0)


def counting(code: str, action: str, type: DType) -> Builder:
    build = Builder(Array("a", type, 1))
    with build.parallel(3):
        build.atomic(action, build["a"], [0], build.constant(2, type)).code = code
    return build


@pytest.mark.parametrize("action", ["floordiv", "mod", "pow", "shl", "shr"])
@pytest.mark.parametrize("type", [i32, u8, f16, f64], ids=lambda type: type.name)
def test_an_atomic_step_is_one_step_by_a_function(action: str, type: DType) -> None:
    if type.kind == "float" and action.startswith("sh"):
        return
    kernel = counting("atomic", action, type).kernel()
    legalize(kernel, fast_math=False)
    verify(kernel)
    (atomic,) = [each for each in walk(kernel.body) if each.code == "atomic"]
    assert isinstance(atomic.payload, Atomic)
    assert (atomic.payload.step is None) == (action == "pow" and type is f64)
    assert set(callees(kernel.body)) <= set(kernel.functions)
    expected = 7 if type.kind != "float" else 7.5
    elements = np.array([expected], type.typestr)
    for _ in range(3):
        expected = evaluate(action, type, (expected, evaluate("cast", type, (2,), i32)))
    Interpreter(kernel, {"a": elements}, seed=3).run()
    assert elements[0] == expected


def test_a_plain_update_is_a_load_and_a_store() -> None:
    kernel = counting("update", "floordiv", i32).kernel()
    legalize(kernel, fast_math=False)
    verify(kernel)
    codes = [operation.code for operation in walk(kernel.body)]
    assert "update" not in codes
    assert (codes.count("load"), codes.count("store")) == (1, 1)
    assert [each.code for each in walk(program_of_update("add").body) if each.code == "update"] == ["update"]


def program_of_update(action: str) -> Kernel:
    kernel = counting("update", action, i32).kernel()
    legalize(kernel, fast_math=False)
    return kernel


def test_the_condition_of_a_loop_is_replaced_where_it_is_used() -> None:
    n = Parameter("n", i32)
    build = Builder(n, returns=[i32])
    left = build.local("left", i32)
    build.set(left, n)
    head, body = Region(), Region()
    with build.inside(head):
        condition = build.cast(build.op("mod", build.get(left), 7), u1)
    with build.inside(body):
        build.set(left, build.op("sub", build.get(left), 1))
    build.loop_while(head, condition, body)
    build.give(build.get(left))
    kernel = build.kernel()
    legalize(kernel, fast_math=False)
    verify(kernel)
    assert Interpreter(kernel, {"n": 20}).run() == (14,)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(kernels())
def test_programs_mean_what_they_meant(kernel: Kernel) -> None:
    expected, given_arguments = arguments(1), arguments(1)
    results = Interpreter(kernel, expected).run()
    legalize(kernel, fast_math=True)
    verify(kernel)
    assert not {operation.code for operation in walk_kernel(kernel)} & WRITTEN
    assert Interpreter(kernel, given_arguments).run() == results
    for name in ("source", "own", "bins", "more"):
        assert same(expected[name], given_arguments[name]), name


