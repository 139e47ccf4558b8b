"""Ownership: which atomics become plain, and that none does that two iterations could meet at."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from hypothesis_profiles import examples
from ir_arithmetic import evaluate, limits
from ir_builder import Builder
from samovar._native import DType, f32, i8, i16, i32, i64, u8, u32
from samovar.ir import Facts
from samovar.ir.structure import Kernel
from samovar.ir.traversal import indices, walk, walk_kernel
from samovar.ir.values import Array, Constant, LoopVariable, Operation, Parameter, Value
from samovar.passes.ownership import demote_owned, demote_serial


def array(ndim: int = 1, alone: bool = True, name: str = "a", wide: bool = False, dtype: DType = f32) -> Array:
    return Array(name, dtype, ndim, alone=alone, wide=wide)


def writes(kernel: Kernel) -> list[str]:
    demote_owned(Facts.of(kernel))
    return [operation.code for operation in walk_kernel(kernel) if operation.code in ("atomic", "update")]


def test_an_element_of_the_iteration_is_plain() -> None:
    build = Builder(array(), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [i], 1.0)
    assert writes(build.kernel()) == ["update"]


def test_an_array_that_may_overlap_stays_atomic() -> None:
    build = Builder(array(alone=False), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [i], 1.0)
    assert writes(build.kernel()) == ["atomic"]


def test_an_offset_and_an_invariant_term_do_not_matter() -> None:
    build = Builder(array(), Parameter("n", i32), Parameter("m", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [build.op("add", build.op("sub", build["m"], i), 7)], 1.0)
    assert writes(build.kernel()) == ["update"]


def test_equal_invariant_terms_computed_twice_are_the_same() -> None:
    build = Builder(array(), Parameter("n", i32), Parameter("m", i32))
    with build.parallel(build["n"]) as (i,):
        for _ in range(2):
            build.atomic("add", build["a"], [build.op("add", i, build.op("floordiv", build["m"], 2))], 1.0)
    assert writes(build.kernel()) == ["update", "update"]


def test_neighbors_stay_atomic() -> None:
    build = Builder(array(), Parameter("n", i32))
    with build.parallel((1, build["n"])) as (i,):
        build.atomic("add", build["a"], [i], 1.0)
        build.atomic("add", build["a"], [build.op("sub", i, 1)], 1.0)
    assert writes(build.kernel()) == ["atomic", "atomic"]


def test_a_store_elsewhere_keeps_it_atomic_but_a_load_does_not() -> None:
    for plain, expected in (("load", "update"), ("store", "atomic")):
        build = Builder(array(), Parameter("n", i32))
        with build.parallel((1, build["n"])) as (i,):
            build.atomic("add", build["a"], [i], 1.0)
            before = build.op("sub", i, 1)
            if plain == "load":
                build.load(build["a"], before)
            else:
                build.store(build["a"], [before], 0.0)
        assert writes(build.kernel()) == [expected]


def test_an_axis_over_a_serial_loop_is_free() -> None:
    build = Builder(array(2), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,), build.loop(0, build["n"]) as k:
        build.atomic("add", build["a"], [i, k], 1.0)
        build.atomic("add", build["a"], [i, build.op("mul", k, k)], 1.0)
    assert writes(build.kernel()) == ["update", "update"]


def test_every_variable_must_be_determined() -> None:
    build = Builder(array(2), Parameter("n", i32))
    with build.parallel(build["n"], build["n"], build["n"]) as (i, j, _):
        build.atomic("add", build["a"], [i, j], 1.0)
    assert writes(build.kernel()) == ["atomic"]


def test_a_variable_found_in_one_axis_helps_in_another() -> None:
    build = Builder(array(2), Parameter("n", i32))
    with build.parallel(build["n"], build["n"]) as (i, j):
        build.atomic("add", build["a"], [build.op("add", i, j), i], 1.0)
    assert writes(build.kernel()) == ["update"]


def test_a_diagonal_of_two_variables_stays_atomic() -> None:
    build = Builder(array(1), Parameter("n", i32))
    with build.parallel(build["n"], build["n"]) as (i, j):
        build.atomic("add", build["a"], [build.op("add", i, j)], 1.0)
    assert writes(build.kernel()) == ["atomic"]


def test_pairs_are_told_apart_by_parity() -> None:
    build = Builder(array(), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        even = build.op("mul", i, 2)
        build.atomic("add", build["a"], [even], 1.0)
        build.atomic("add", build["a"], [build.op("add", even, 1)], 1.0)
    assert writes(build.kernel()) == ["update", "update"]


def test_an_even_stride_may_wrap_onto_itself() -> None:
    # 4 * 0 and 4 * 2^30 are equal in 32 bits.
    build = Builder(array(), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [build.op("mul", i, 4)], 1.0)
    assert writes(build.kernel()) == ["atomic"]


def test_a_stride_is_fine_where_the_bounds_exclude_wrapping() -> None:
    build = Builder(array())
    third = build.op("floordiv", build.shape(build["a"]), 3)
    with build.parallel(third) as (i,):
        for component in range(3):
            build.atomic("add", build["a"], [build.op("add", build.op("mul", i, 3), component)], 1.0)
    assert writes(build.kernel()) == ["update"] * 3


def test_rows_of_known_length_are_told_apart() -> None:
    build = Builder(array())
    with build.parallel(100, 8) as (i, j):
        build.atomic("add", build["a"], [build.op("add", build.op("mul", i, 8), j)], 1.0)
    assert writes(build.kernel()) == ["update"]
    build = Builder(array())
    with build.parallel(100, 9) as (i, j):
        build.atomic("add", build["a"], [build.op("add", build.op("mul", i, 8), j)], 1.0)
    assert writes(build.kernel()) == ["atomic"]


def test_a_serial_loop_may_walk_within_the_stride() -> None:
    for length, expected in ((3, "update"), (4, "atomic")):
        build = Builder(array())
        with build.parallel(1000) as (i,), build.loop(0, length) as k:
            build.atomic("add", build["a"], [build.op("add", build.op("mul", i, 3), k)], 1.0)
        assert writes(build.kernel()) == [expected]


def test_a_wide_variable_in_a_narrow_index_stays_atomic() -> None:
    build = Builder(array(), Parameter("n", i64))
    with build.parallel(build["n"], type=i64) as (i,):
        build.atomic("add", build["a"], [build.cast(i, i32)], 1.0)
    assert writes(build.kernel()) == ["atomic"]


def test_a_widened_index_is_owned() -> None:
    build = Builder(array(wide=True), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [build.op("add", build.cast(build.op("add", i, 1), i64), 5)], 1.0)
    assert writes(build.kernel()) == ["update"]


def test_unsigned_indices_are_owned_too() -> None:
    build = Builder(array(), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [build.op("sub", build.cast(i, u32), 1)], 1.0)
    assert writes(build.kernel()) == ["update"]


def test_constant_axes_keep_writes_apart() -> None:
    build = Builder(array(2), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [0, i], 1.0)
        build.atomic("add", build["a"], [1, build.op("add", i, 1)], 1.0)
    assert writes(build.kernel()) == ["update", "update"]
    build = Builder(array(2), Parameter("n", i32), Parameter("m", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [0, i], 1.0)
        build.atomic("add", build["a"], [build["m"], build.op("add", i, 1)], 1.0)
    assert writes(build.kernel()) == ["atomic", "atomic"]


def test_a_loaded_index_stays_atomic() -> None:
    build = Builder(array(), array(name="where", dtype=i32), Parameter("n", i32))
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["a"], [build.load(build["where"], i)], 1.0)
    assert writes(build.kernel()) == ["atomic"]


def test_a_single_iteration_owns_everything() -> None:
    build = Builder(array(), array(name="where", dtype=i32))
    with build.parallel(1) as (i,):
        build.atomic("add", build["a"], [build.load(build["where"], i)], 1.0)
    assert writes(build.kernel()) == ["update"]


def test_a_call_that_writes_the_array_keeps_it_atomic() -> None:
    inner = Builder(array(), Parameter("at", i32), name="f")
    inner.store(inner["a"], [inner["at"]], 0.0)
    function = inner.function()
    build = Builder(array(name="b"), array(name="c"), Parameter("n", i32))
    build.functions.append(function)
    with build.parallel(build["n"]) as (i,):
        build.atomic("add", build["b"], [i], 1.0)
        build.atomic("add", build["c"], [i], 1.0)
        build.call(function, build["b"], build.constant(0, i32))
    assert writes(build.kernel()) == ["atomic", "update"]


def test_serial_code_and_functions_that_only_it_calls_are_plain() -> None:
    functions = []
    for name in ("serial", "shared"):
        inner = Builder(array(), name=name)
        inner.atomic("add", inner["a"], [0], 1.0)
        functions.append(inner.function())
    build = Builder(array(name="b", alone=False))
    build.functions.extend(functions)
    build.atomic("add", build["b"], [3], 1.0)
    for function in functions:
        build.call(function, build["b"])
    with build.parallel(4):
        build.call(functions[1], build["b"])
    kernel = build.kernel()
    demote_serial(kernel)
    codes = [operation.code for operation in walk_kernel(kernel) if operation.code in ("atomic", "update")]
    assert codes == ["update", "atomic", "update"]


# No false claims: brute force over all iterations, in types so narrow that everything wraps.

SMALL = (i8, u8, i16)


@st.composite
def index_expression(draw: st.DrawFn, build: Builder, leaves: list[Value]) -> Value:
    value = draw(st.sampled_from(leaves))
    for _ in range(draw(st.integers(0, 5))):
        assert value.type is not None
        low, high = limits(value.type)
        number = draw(st.one_of(st.integers(-4, 9), st.integers(-128, 255)))
        number = max(low, min(high, number))
        code = draw(st.sampled_from("add sub mul mul neg shl cast add_leaf sub_leaf floordiv mod min max and".split()))
        if code == "cast":
            value = build.cast(value, draw(st.sampled_from(SMALL)))
        elif code == "neg":
            value = build.op("neg", value)
        elif code == "shl":
            value = build.op("shl", value, number % value.type.bits)
        elif code.endswith("_leaf"):
            other = draw(st.sampled_from(leaves))
            if draw(st.booleans()):
                other = build.op("mul", other, max(limits(other.type)[0], number % 7))
            value = build.op(code[:3], value, build.cast(other, value.type))
        else:
            value = build.op(code, value, number)
    return value


def interpret(value: Value, known: dict[Value, int]) -> int:
    if isinstance(value, Constant):
        return int(value.value)
    if isinstance(value, Operation):
        operands = [interpret(each, known) for each in value.operands]
        return int(evaluate(value.code, value.type, operands, value.operands[0].type))
    return known[value]


@st.composite
def strided(draw: st.DrawFn, build: Builder, variables: Sequence[Value], free: Value, writes: int) -> list[Value]:
    """One index of several writes: the same sum of multiples, each time with another constant."""
    type = draw(st.sampled_from(SMALL))
    factors = [draw(st.sampled_from([0, 1, 1, -1, 2, 3, 4, 8, 64, 128])) for _ in variables]
    extra = draw(st.sampled_from([None, None, None, free, build["n"]]))
    result: list[Value] = []
    for _ in range(writes):
        index: Value = Constant(draw(st.sampled_from([0, 0, 0, 1, 2, 3, 64])), type)
        for variable, factor in zip(variables, factors, strict=True):
            if factor:
                scaled = build.op("mul", build.cast(variable, type), factor if limits(type)[1] >= factor else -factor)
                index = build.op("add", scaled, index)
        if extra is not None:
            index = build.op("add", index, build.cast(extra, type))
        result.append(build.cast(index, draw(st.sampled_from(SMALL))) if draw(st.booleans()) else index)
    return result


@st.composite
def writing_task(draw: st.DrawFn) -> tuple[Kernel, list[LoopVariable], list[range]]:
    ndim = draw(st.integers(1, 2))
    build = Builder(array(ndim, dtype=i32), Parameter("n", i8))
    count = draw(st.integers(1, 2))
    begins = st.sampled_from([0, 0, 0, -3, -128])
    ends = st.sampled_from([2, 3, 4, 5, 8, 64, 127] if count == 1 else [1, 2, 3, 4, 8, 9])
    ranges = [range(draw(begins), draw(ends)) for _ in range(count)]
    if count == 2:
        ranges = [range(max(each.start, -3), each.stop) for each in ranges]
    writes = draw(st.integers(1, 3))
    bounds = [(each.start, each.stop) for each in ranges]
    with build.parallel(*bounds, type=i8) as variables, build.loop(0, 3, type=i8) as k:
        leaves: list[Value] = [*variables, *variables, build["n"], k, Constant(3, i8)]
        axes: list[list[Value]] = []
        for _ in range(ndim):
            if draw(st.integers(0, 3)):
                axes.append(draw(strided(build, variables, k, writes)))
            else:
                axes.append([draw(index_expression(build, leaves)) for _ in range(writes)])
        for places in zip(*axes, strict=True):
            build.atomic("add", build["a"], places, 1)
    return build.kernel(), list(variables), ranges


@examples("interpreted")
@given(writing_task(), st.integers(-128, 127))
def test_no_element_of_an_update_is_written_by_two_iterations(
    task: tuple[Kernel, list[LoopVariable], list[range]], parameter: int
) -> None:
    kernel, variables, ranges = task
    demote_owned(Facts.of(kernel))
    operations = [operation for operation in walk(kernel.body) if operation.code in ("atomic", "update")]
    if all(operation.code == "atomic" for operation in operations):
        return
    loop = next(operation for operation in walk(kernel.body) if operation.code == "for")
    written: dict[tuple[int, ...], tuple[tuple[int, ...], bool]] = {}
    for point in itertools.product(*ranges):
        for inner in range(3):
            known: dict[Value, int] = dict(zip(variables, point, strict=True))
            known |= {kernel.parameters[1]: parameter, loop.variable: inner}
            for operation in operations:
                element = tuple(interpret(index, known) for index in indices(operation))
                owner, plain = written.setdefault(element, (point, operation.code == "update"))
                assert owner == point or not (plain or operation.code == "update")
