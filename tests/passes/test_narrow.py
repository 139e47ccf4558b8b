"""Integers that are computed in 16 bits: with the same results, wherever ranges show that they can be, and only there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hypothesis_profiles import examples
from ir_arithmetic import evaluate, limits
from ir_builder import Builder
from samovar._native import i8, i16, i32, u1, u8, u16, u32
from samovar.ir import verify
from samovar.ir.traversal import tasks, walk
from samovar.ir.values import Array, Constant, Operation, Value
from samovar.passes.narrow import narrow_integers

SHORT = (u8, i8, u16, i16)
CODES = "add sub mul and or xor min max floordiv mod".split()
COMPARISONS = "lt le gt ge eq ne".split()
CONSTANTS = (0, 1, 2, 3, 8, 25, 66, 128, 255, 256, 4224, 32767, 32768, 65535, 70000, -1, -38, -128, -32768)


@st.composite
def programs(draw: st.DrawFn) -> Builder:
    """A task that loads short integers, computes with them in 32 bits, and stores short ones."""
    arrays = [Array(f"a{place}", draw(st.sampled_from(SHORT)), 1, alone=True) for place in range(3)]
    wide = draw(st.sampled_from((i32, i32, u32)))
    build = Builder(*arrays, *(Array(f"o{place}", dtype, 1, alone=True) for place, dtype in enumerate(SHORT)))
    with build.parallel(10) as (i,):
        values: list[Value] = [build.cast(build.load(array, i), wide) for array in arrays]
        for _ in range(draw(st.integers(1, 10))):
            first = draw(st.sampled_from(values))
            second = draw(st.one_of(st.sampled_from(values), st.sampled_from(CONSTANTS)))
            if not isinstance(second, Value):
                second = Constant(second if wide is i32 else second % (1 << 32), wide)
            kind = draw(st.sampled_from(("binary", "binary", "shift", "unary", "choice")))
            if kind == "binary":
                values.append(build.op(draw(st.sampled_from(CODES)), first, second))
            elif kind == "shift":
                constants = st.sampled_from((0, 1, 4, 8, 15, 16, 31, 40)).map(lambda count: Constant(count, wide))
                count = draw(st.one_of(constants, st.sampled_from(values)))
                values.append(build.op(draw(st.sampled_from(("shl", "shr"))), first, count))
            elif kind == "unary":
                values.append(build.op(draw(st.sampled_from(("neg", "abs", "not"))), first))
            else:
                condition = build.op(draw(st.sampled_from(COMPARISONS)), first, second)
                values.append(build.op("select", condition, draw(st.sampled_from(values)), first, type=wide))
        for place, dtype in enumerate(SHORT):
            if draw(st.booleans()):
                build.store(build[f"o{place}"], [i], build.cast(draw(st.sampled_from(values[-3:])), dtype))
    return build


def run(build: Builder, loaded: dict[Array, int]) -> list[int]:
    """What one iteration stores."""
    (task,) = tasks(build.kernel())
    known: dict[Value, int] = {}
    stored = []
    for operation in walk(task.body):
        if operation.code == "load":
            known[operation] = loaded[operation.payload]
            continue
        operands = [each.value if isinstance(each, Constant) else known.get(each, 0) for each in operation.operands]
        if operation.code == "store":
            stored.append(operands[-1])
        else:
            assert operation.type is not None
            known[operation] = evaluate(operation.code, operation.type, operands, operation.operands[-1].type)
    return stored


@examples("interpreted")
@given(programs(), st.data())
def test_what_is_stored_is_the_same(build: Builder, data: st.DataObject) -> None:
    inputs = []
    for _ in range(4):
        arrays = [each for each in build.parameters if isinstance(each, Array)]
        numbers = (st.one_of(st.sampled_from(limits(each.dtype)), st.integers(*limits(each.dtype))) for each in arrays)
        inputs.append({each: data.draw(number) for each, number in zip(arrays, numbers, strict=True)})
    before = [run(build, loaded) for loaded in inputs]
    narrow_integers(build.kernel())
    verify(build.kernel())
    assert [run(build, loaded) for loaded in inputs] == before


def widths(build: Builder) -> set[int]:
    """The bits of the integers that a task computes with, beside casts."""
    (task,) = tasks(build.kernel())
    operations = [each for each in walk(task.body) if each.code not in ("cast", "load", "store")]
    return {each.type.bits for each in operations if each.type is not None and each.type is not u1}


def weighted(constant: int, result: str = "shr") -> Builder:
    """A byte times a constant, shifted by 8, as a byte."""
    build = Builder(Array("a", u8, 1, alone=True), Array("o", u8, 1, alone=True))
    with build.parallel(10) as (i,):
        product = build.op("mul", build.cast(build.load(build["a"], i), i32), constant)
        build.store(build["o"], [i], build.cast(build.op(result, product, 8), u8))
    return build


def test_what_fits_is_computed_in_16_bits() -> None:
    for constant, expected in ((257, {16}), (258, {32}), (-128, {16}), (-129, {32})):
        build = weighted(constant)
        narrow_integers(build.kernel())
        assert widths(build) == expected


def test_counts_of_shifts_may_vary() -> None:
    build = Builder(Array("a", u8, 1, alone=True), Array("o", u8, 1, alone=True))
    with build.parallel(10) as (i,):
        shifted = build.op("shr", Constant(110, i32), build.cast(build.load(build["a"], i), i32))
        build.store(build["o"], [i], build.cast(build.op("and", shifted, 1), u8))
    narrow_integers(build.kernel())
    assert widths(build) == {16}


def test_serial_code_is_narrowed_too() -> None:
    build = Builder(Array("a", u8, 1, alone=True), Array("o", u8, 1, alone=True))
    with build.loop(0, 10) as i:
        product = build.op("mul", build.cast(build.load(build["a"], i), i32), 7)
        build.store(build["o"], [i], build.cast(build.op("shr", product, 8), u8))
    narrow_integers(build.kernel())
    computed = [each.type for each in walk(build.kernel().body) if each.code in ("mul", "shr")]
    assert computed == [u16, u16]


def test_what_is_taken_modulo_need_not_fit() -> None:
    build = weighted(100_000, "add")
    narrow_integers(build.kernel())
    assert widths(build) == {16}


def test_what_is_used_elsewhere_is_computed_once() -> None:
    build = Builder(Array("a", u8, 1, alone=True), Array("o", u8, 1, alone=True), Array("w", i32, 1, alone=True))
    with build.parallel(10) as (i,):
        total = build.op("add", build.cast(build.load(build["a"], i), i32), 3)
        build.store(build["o"], [i], build.cast(build.op("min", total, 255), u8))
        build.store(build["w"], [i], total)
    narrow_integers(build.kernel())
    assert widths(build) == {32}


def test_two_results_share_what_they_are_computed_from() -> None:
    build = Builder(Array("a", u8, 1, alone=True), Array("o", u8, 1, alone=True), Array("p", i16, 1, alone=True))
    with build.parallel(10) as (i,):
        total = build.op("add", build.cast(build.load(build["a"], i), i32), 3)
        build.store(build["o"], [i], build.cast(build.op("min", total, 255), u8))
        build.store(build["p"], [i], build.cast(build.op("sub", total, 400), i16))
    narrow_integers(build.kernel())
    (task,) = tasks(build.kernel())
    assert widths(build) == {16}
    assert [each.code for each in walk(task.body)].count("add") == 1


def test_casts_without_arithmetic_stay() -> None:
    build = Builder(Array("a", u8, 1, alone=True), Array("o", i8, 1, alone=True))
    with build.parallel(10) as (i,):
        wide = build.cast(build.load(build["a"], i), i32)
        build.store(build["o"], [i], build.cast(wide, i8))
    narrow_integers(build.kernel())
    (task,) = tasks(build.kernel())
    assert any(isinstance(each, Operation) and each.type is i32 for each in walk(task.body))


def test_a_difference_that_wraps_below_zero_is_a_large_number() -> None:
    build = Builder(Array("a", u8, 1, alone=True), Array("b", u8, 1, alone=True), Array("o", u8, 1, alone=True))
    with build.parallel(10) as (i,):
        first, second = (build.cast(build.load(build[name], i), u32) for name in "ab")
        least = build.op("min", build.op("sub", first, second), Constant(5, u32))
        build.store(build["o"], [i], build.cast(least, u8))
    loaded = {build["a"]: 3, build["b"]: 4}
    assert run(build, loaded) == [5]
    narrow_integers(build.kernel())
    assert run(build, loaded) == [5]
