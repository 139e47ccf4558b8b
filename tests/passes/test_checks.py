"""Checks: exact for every index type, silent where nothing is wrong, with a site that names the place."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_arithmetic import evaluate, limits
from ir_builder import Builder
from ir_interpreter import Failed, Interpreter, message
from samovar._native import DType, i8, i16, i32, i64, u8, u16, u32, u64
from samovar.artifact.sites import Frame, Site
from samovar.ir.structure import Kernel
from samovar.ir.traversal import walk_kernel
from samovar.ir.values import Array, Parameter
from samovar.language.options import Options
from samovar.passes import run
from samovar.passes.checks import check_arithmetic, check_bounds, clamp

INDEX_TYPES = (i8, i16, i32, i64, u8, u16, u32, u64)


def near_the_edges(type: DType) -> st.SearchStrategy[int]:
    low, high = limits(type)
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0, 4, 5]), st.integers(max(low, -2), min(high, 6)))


def reading(type: DType, wide: bool = False, boundary: str = "unsafe") -> Kernel:
    build = Builder(Array("a", i32, 1, wide=wide, boundary=boundary), Parameter("at", type), returns=[i32])
    build.give(build.load(build["a"], build["at"]))
    return build.kernel()


@given(st.sampled_from(INDEX_TYPES), st.booleans(), st.data())
def test_an_index_is_refused_exactly_where_it_is_out_of_bounds(type: DType, wide: bool, data: st.DataObject) -> None:
    kernel = reading(type, wide)
    check_bounds(kernel)
    index = data.draw(near_the_edges(type))
    elements = np.arange(5, dtype=np.int32)
    interpreter = Interpreter(kernel, {"a": elements, "at": index})
    if 0 <= index < 5:
        assert interpreter.run() == (index,)
    else:
        with pytest.raises(Failed) as caught:
            interpreter.run()
        assert str(caught.value) == f"index {index} is out of bounds for array 'a' of shape (5,)"


@given(st.sampled_from(INDEX_TYPES), st.booleans(), st.data())
def test_a_clamped_index_is_moved_to_the_nearest_edge(type: DType, wide: bool, data: st.DataObject) -> None:
    kernel = reading(type, wide, "clamp")
    clamp(kernel)
    index = data.draw(near_the_edges(type))
    elements = np.arange(5, dtype=np.int32)
    assert Interpreter(kernel, {"a": elements, "at": index}).run() == (min(max(index, 0), 4),)


def test_a_clamped_index_of_an_empty_array_is_refused_in_debug_mode() -> None:
    kernel = reading(i32, boundary="clamp")
    run(kernel, Options(debug=True))
    with pytest.raises(Failed, match=r"shape \(0,\)"):
        Interpreter(kernel, {"a": np.zeros(0, np.int32), "at": 3}).run()


def test_every_kind_of_access_is_checked_before_memory_is_touched() -> None:
    for kind in ("load", "store", "atomic"):
        build = Builder(Array("a", i32, 2), Parameter("at", i32))
        place = [0, build["at"]]
        if kind == "load":
            build.load(build["a"], *place)
        elif kind == "store":
            build.store(build["a"], place, 1)
        else:
            build.atomic("add", build["a"], place, 1)
        kernel = build.kernel()
        check_bounds(kernel)
        with pytest.raises(Failed, match=r"^index \(0, 3\) is out of bounds for array 'a' of shape \(2, 3\)$"):
            Interpreter(kernel, {"a": np.zeros((2, 3), np.int32), "at": 3}).run()


def test_an_array_without_axes_needs_no_check() -> None:
    build = Builder(Array("a", i32, 0))
    build.atomic("add", build["a"], [], 1)
    kernel = build.kernel()
    check_bounds(kernel)
    assert [operation.code for operation in kernel.body.operations] == ["atomic"]


def test_a_site_names_function_file_line_and_callers() -> None:
    inner = Builder(Array("a", i32, 1), name="f")
    inner.line = 12
    inner.load(inner["a"], 7)
    function = inner.function()
    function.frames = (Frame("k", "kernels.py", 3),)
    build = Builder(Array("b", i32, 1))
    build.functions.append(function)
    build.call(function, build["b"])
    build.line = 30
    build.load(build["b"], 8)
    kernel = build.kernel()
    check_bounds(kernel)
    sites = [operation.payload for operation in walk_kernel(kernel) if operation.code == "check"]
    assert [site.frames for site in sites] == [
        (Frame("f", "functions.py", 12), Frame("k", "kernels.py", 3)),
        (Frame("k", "kernels.py", 30),),
    ]


def arithmetic(code: str, type: DType, constant: int | None = None) -> Kernel:
    build = Builder(Parameter("x", type), Parameter("y", type), returns=[type])
    operands = [build["x"]] if code in ("neg", "abs") else [build["x"], build["y"] if constant is None else constant]
    build.give(build.op(code, *operands))
    kernel = build.kernel()
    check_arithmetic(kernel)
    return kernel


EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "neg": lambda x, y: -x,
    "abs": lambda x, y: abs(x),
    "floordiv": lambda x, y: x // y,
}


@given(st.sampled_from(sorted(EXACT)), st.sampled_from(INDEX_TYPES), st.data())
def test_overflow_is_reported_exactly_where_a_result_does_not_fit(
    code: str, type: DType, data: st.DataObject
) -> None:
    x, y = data.draw(near_the_edges(type)), data.draw(near_the_edges(type))
    kernel = arithmetic(code, type)
    kind = None
    if code == "floordiv" and y == 0:
        kind = "division"
    elif (type.kind == "int" or code != "neg") and not limits(type)[0] <= EXACT[code](x, y) <= limits(type)[1]:
        kind = "overflow"
    interpreter = Interpreter(kernel, {"x": x, "y": y})
    if kind is None:
        operands = (x,) if code in ("neg", "abs") else (x, y)
        assert interpreter.run() == (evaluate(code, type, operands),)
    else:
        with pytest.raises(Failed) as caught:
            interpreter.run()
        assert caught.value.site.kind == kind
        assert str(x) in str(caught.value)


@given(st.sampled_from(["shl", "shr"]), st.sampled_from(INDEX_TYPES), st.data())
def test_a_shift_is_reported_exactly_where_the_amount_is_not_below_the_width_or_bits_are_lost(
    code: str, type: DType, data: st.DataObject
) -> None:
    x, y = data.draw(near_the_edges(type)), data.draw(st.one_of(near_the_edges(type), st.integers(0, 64)))
    y = min(y, limits(type)[1])
    interpreter = Interpreter(arithmetic(code, type), {"x": x, "y": y})
    kind = "shift" if not 0 <= y < type.bits else None
    if kind is None and code == "shl" and not limits(type)[0] <= x << y <= limits(type)[1]:
        kind = "overflow"
    if kind is None:
        assert interpreter.run() == (evaluate(code, type, (x, y)),)
    else:
        with pytest.raises(Failed) as caught:
            interpreter.run()
        assert caught.value.site.kind == kind


@given(st.integers(-3, 3), st.integers(-3, 3))
def test_a_negative_exponent_of_an_integer_is_reported(x: int, y: int) -> None:
    interpreter = Interpreter(arithmetic("pow", i32), {"x": x, "y": y})
    if y >= 0:
        assert interpreter.run() == (x**y,)
    else:
        with pytest.raises(Failed, match="negative power"):
            interpreter.run()


def test_constants_that_cannot_fail_are_not_checked() -> None:
    for code, constant in (("floordiv", 3), ("mod", -1), ("shr", 31), ("shr", 0), ("pow", 2)):
        kernel = arithmetic(code, i32, constant)
        assert [operation.code for operation in kernel.body.operations] == [code, "return"]


def test_what_no_user_wrote_is_not_checked() -> None:
    build = Builder(Parameter("x", i32), returns=[i32])
    build.line = 0
    operation = build.op("add", build["x"], 1)
    build.give(operation)
    check_arithmetic(build.kernel())
    assert operation.payload is None


def test_an_atomic_division_by_zero_is_reported() -> None:
    build = Builder(Array("a", i32, 1), Parameter("x", i32))
    build.atomic("floordiv", build["a"], [0], build["x"])
    kernel = build.kernel()
    check_arithmetic(kernel)
    with pytest.raises(Failed, match="//= 0: division by zero"):
        Interpreter(kernel, {"a": np.ones(1, np.int32), "x": 0}).run()


def test_messages_are_in_one_piece() -> None:
    kernel = arithmetic("neg", i32)
    site = kernel.body.operations[0].payload
    assert isinstance(site, Site)
    assert message(site, (-(2**31),)) == "--2147483648 does not fit in i32"


def test_an_unused_overflow_is_still_reported() -> None:
    build = Builder(Parameter("x", i32))
    build.op("add", build["x"], 1)
    kernel = build.kernel()
    run(kernel, Options(debug=True))
    with pytest.raises(Failed, match=r"2147483647 \+ 1 does not fit in i32"):
        Interpreter(kernel, {"x": 2**31 - 1}).run()


def test_nothing_is_added_when_checks_are_off() -> None:
    kernel = reading(i32)
    run(kernel, Options())
    assert [operation.code for operation in walk_kernel(kernel)] == ["load", "return"]
