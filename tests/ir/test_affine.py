"""Index analysis: forms hold for every value of their symbols, and equal values are recognized."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hypothesis_profiles import examples
from ir_arithmetic import evaluate, limits
from ir_builder import Builder
from samovar._native import f32, i8, i16, i32, i64, u8
from samovar.ir.affine import Affine
from samovar.ir.values import Array, Constant, LoopVariable, Operation, Parameter, Value

TYPES = (i8, u8, i16)
CODES = "add sub mul min max and or xor mod floordiv shl shr neg abs cast cast select".split()


@st.composite
def expressions(draw: st.DrawFn) -> tuple[Builder, list[Operation]]:
    build = Builder(Parameter("n", i8), Parameter("m", u8))
    values: list[Value] = []
    operations: list[Operation] = []
    with build.parallel((-3, 5), (0, build.cast(build["m"], i8)), type=i8) as variables:
        values += [*variables, build["n"], build["m"], Constant(3, i8)]
        for _ in range(draw(st.integers(1, 12))):
            a = draw(st.sampled_from(values))
            b = draw(st.sampled_from(values))
            code = draw(st.sampled_from(CODES))
            assert a.type is not None
            if draw(st.booleans()):
                low, high = limits(a.type)
                b = Constant(max(low, min(high, draw(st.integers(-9, 130)))), a.type)
            if code == "cast":
                made = build.cast(a, draw(st.sampled_from(TYPES)))
            elif code in ("neg", "abs"):
                made = build.op(code, a)
            else:
                if b.type is not a.type:
                    b = build.cast(b, a.type)
                    operations.append(b)
                if code == "select":
                    condition = build.op("lt", a, b)
                    operations.append(condition)
                    made = build.op("select", condition, a, b, type=a.type)
                else:
                    made = build.op(code, a, b)
            operations.append(made)
            values.append(made)
    return build, operations


def evaluated(made: tuple[Builder, list[Operation]], known: dict[Value, int]) -> dict[Value, int]:
    """The value of every operation, given those of parameters and loop variables."""
    build, operations = made
    values = dict(known)
    for operation in [*build.kernel().body.operations[:-1], *operations]:
        operands = [int(each.value) if isinstance(each, Constant) else values[each] for each in operation.operands]
        values[operation] = int(evaluate(operation.code, operation.type, operands, operation.operands[0].type))
    return values


@examples("values")
@given(expressions(), st.integers(-128, 127), st.integers(1, 127), st.data())
def test_a_form_is_congruent_to_its_value_and_the_value_is_in_range(
    made: tuple[Builder, list[Operation]], n: int, m: int, data: st.DataObject
) -> None:
    build, operations = made
    kernel = build.kernel()
    affine = Affine(kernel.body)
    i, j = kernel.body.operations[-1].variables

    def iteration() -> dict[Value, int]:
        known = {build["n"]: n, build["m"]: m, i: data.draw(st.integers(-3, 4)), j: data.draw(st.integers(0, m - 1))}
        return evaluated(made, known)

    known, elsewhere = iteration(), iteration()
    by_number: dict[object, int] = {}
    for operation in operations:
        form = affine.form(operation)
        total = form.constant + sum(factor * known[symbol.identity] for symbol, factor in form.terms)
        assert (total - known[operation]) % (1 << form.bits) == 0
        assert form.low <= known[operation] <= form.high
        assert by_number.setdefault(affine.number(operation), known[operation]) == known[operation]
        if form.invariant():
            assert known[operation] == elsewhere[operation]


def test_the_range_of_a_quotient_of_an_extent_is_known() -> None:
    build = Builder(Array("a", f32, 1))
    third = build.op("floordiv", build.shape(build["a"]), 3)
    form = Affine(build.body).form(third)
    assert (form.low, form.high) == (0, (2**31 - 1) // 3)


def test_a_baked_shape_is_known() -> None:
    build = Builder(Array("a", f32, 2, extents=(4, 7)))
    extent = build.shape(build["a"], 1)
    form = Affine(build.body).form(build.op("add", extent, 1))
    assert (form.low, form.high) == (8, 8)


def test_a_loaded_index_varies_and_a_parameter_does_not() -> None:
    build = Builder(Array("a", i32, 1), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        loaded = build.load(build["a"], i)
        halved = build.op("floordiv", build["n"], 2)
    affine = Affine(build.body)
    assert not affine.form(loaded).invariant()
    assert affine.form(halved).invariant()


def test_a_downward_loop_has_its_range() -> None:
    build = Builder()
    with build.loop(9, -1, -3) as k:
        inner = build.op("add", k, 0)
    form = Affine(build.body).form(inner)
    assert (form.low, form.high) == (0, 9)


def test_a_very_long_expression_needs_no_deep_stack() -> None:
    build = Builder(Parameter("n", i64))
    value: Value = build["n"]
    for _ in range(50_000):
        value = build.op("floordiv", build.op("add", value, 1), 3)
    assert isinstance(value, Operation)
    assert Affine(build.body).form(value).invariant()


def test_a_variable_of_a_loop_over_nothing_has_some_range() -> None:
    build = Builder()
    with build.loop(5, 2) as k:
        inner = build.op("add", k, 1)
    assert isinstance(k, LoopVariable)
    form = Affine(build.body).form(inner)
    assert form.low <= form.high


def test_what_is_left_of_a_narrow_cast_is_not_taken_for_a_constant() -> None:
    build = Builder(Parameter("n", i32))
    with build.parallel((0, build["n"]), type=i32) as (i,):
        narrow = build.cast(build.cast(i, i8), i32)
        rest = build.op("sub", i, narrow)
        back = build.op("sub", i, rest)
        shifted = build.op("add", rest, build["n"])
    affine = Affine(build.body)
    assert affine.form(rest).terms  # a multiple of 256, and not 0
    assert not affine.form(back).invariant()
    assert not affine.form(shifted).invariant()


def test_what_is_computed_from_invariants_is_one_also_where_bits_are_lost() -> None:
    build = Builder(Parameter("n", i32), Parameter("m", i32))
    with build.parallel((0, 9), type=i32):
        wrapped = build.cast(build.op("add", build["n"], build["m"]), i64)
        total = build.op("add", wrapped, build.cast(build.op("mul", build["n"], 3), i64))
    assert Affine(build.body).form(total).invariant()


def test_a_quotient_and_its_rest_are_the_dividend() -> None:
    build = Builder(Parameter("n", i32))
    with build.parallel((0, 1000), type=i32) as (p,):
        row, column = build.op("floordiv", p, Constant(7, i32)), build.op("mod", p, Constant(7, i32))
        other = build.op("mod", p, Constant(8, i32))
        scaled = build.op("mul", build.op("add", row, Constant(1, i32)), Constant(7, i32))
        again = build.op("add", scaled, build.op("sub", column, Constant(2, i32)))
        wrong = build.op("add", scaled, other)
    affine = Affine(build.kernel().body)
    form = affine.form(again)
    assert [(symbol.identity, factor) for symbol, factor in form.terms] == [(p, 1)]
    assert form.constant == 5
    assert len(affine.form(wrong).terms) == 2


def test_indices_that_wrap_are_as_far_apart_as_their_constants_if_those_are_small() -> None:
    array = Array("a", f32, 1)
    build = Builder(array, Parameter("n", i64))
    narrow = build.cast(build["n"], i32)
    one = build.op("add", narrow, Constant(1, i32))
    same = build.cast(build.op("add", build["n"], Constant(1 + 2**32, i64)), i32)
    with build.parallel((0, 9), type=i64) as (i,):
        exact, wrapped = build.op("add", i, Constant(1, i64)), build.op("sub", build.cast(i, i32), Constant(2**30, i32))
    form = Affine(build.kernel().body).form
    assert form(one).base(array) == form(narrow).base(array)
    assert not form(same).indexes(array), "these are equal"
    assert form(same).base(array) != form(one).base(array)
    assert form(exact).base(array) != form(wrapped).base(array)
