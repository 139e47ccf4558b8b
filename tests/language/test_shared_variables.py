"""Parallel loops that change what all iterations share: gathered where the order does not matter, refused elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import samovar as sv

from .source import define

N = 30_000


def values(dtype=np.float32):
    """Whole numbers, whose sums are exact in any order."""
    return np.random.default_rng(5).integers(-50, 50, N).astype(dtype)


#: The statement in the loop, the first value, and the result.
REDUCTIONS = {
    "m = m + x[i]": ("0.0", lambda x: x.sum()),
    "m = x[i] + m": ("0.0", lambda x: x.sum()),
    "m = m - x[i]": ("1.0", lambda x: 1 - x.sum()),
    "m = m + x[i] - 2.0 * x[i]": ("0.0", lambda x: -x.sum()),
    "m = x[i] + (m + 1.0)": ("0.0", lambda x: x.sum() + N),
    "m = m - (x[i] - 1.0)": ("0.0", lambda x: N - x.sum()),
    "m = max(m, x[i])": ("-1e9", lambda x: x.max()),
    "m = min(x[i], m)": ("1e9", lambda x: x.min()),
    "m = max(m, x[i], -x[i])": ("-1e9", lambda x: abs(x).max()),
    "m = m * (1.0 if x[i] > 0.0 else -1.0)": ("1.0", lambda x: (-1.0) ** (x <= 0).sum()),
    "m += x[i]": ("0.0", lambda x: x.sum()),
}


@pytest.mark.parametrize("statement", REDUCTIONS)
@pytest.mark.parametrize("target", ["m", "o[0]", "o[None]"])
def test_an_update_in_any_spelling_is_gathered(statement, target):
    first, expected = REDUCTIONS[statement]
    line = statement.replace("m", target).replace(f"{target}ax", "max").replace(f"{target}in", "min")
    rank = 0 if "None" in target else 1
    before, after = (f"m = {first}", "return m") if target == "m" else (f"{target} = {first}", f"return {target}")
    kernel = define(
        f"@sv.kernel\ndef k(x: sv.types.NDArray[sv.f32, 1], o: sv.types.NDArray[sv.f32, {rank}]) -> sv.f32:\n"
        f"    {before}\n    for i in x:\n        {line}\n    {after}\n"
    )
    x = values()
    assert {kernel(x, sv.ndarray(sv.f32, (2,) * rank)) for _ in range(5)} == {expected(x.astype(np.float64))}
    assert "reserve partials" in kernel.inspect("ir")


# A variable that is too narrow for what is added is warned of.
CONVERTED = [("i32", "i64"), ("i64", "i32"), ("u8", "i32"), ("f32", "f64"), ("f64", "f32")]


@pytest.mark.filterwarnings("ignore:.*(fit|precision):samovar.SamovarWarning")
@pytest.mark.parametrize(("dtype", "other"), CONVERTED)
def test_an_update_in_another_type_is_gathered(dtype, other):
    kernel = define(
        f"@sv.kernel\ndef k(x: sv.types.NDArray[sv.{other}, 1]) -> sv.{dtype}:\n"
        f"    m = sv.{dtype}(0)\n    for i in x:\n        m = m + x[i]\n    return m\n"
    )
    x = values(f"{other[0]}{int(other[1:]) // 8}")
    assert kernel(x) == (x.sum() % 256 if dtype == "u8" else x.sum())
    assert "reserve partials" in kernel.inspect("ir")


@sv.kernel
def by_rows(x: sv.types.NDArray[sv.i32, 2], o: sv.types.NDArray[sv.i32, 1], most: sv.types.NDArray[sv.i32, 2]):
    for i, j in x:
        o[j] = o[j] + x[i, j]
        for k in range(2):
            most[k, j] = max(most[k, j], x[i, j] * (k + 1))


def test_an_element_that_some_iterations_share_is_updated():
    x = values(np.int32).reshape(-1, 6)
    o, most = np.zeros(6, np.int32), np.full((2, 6), -1000, np.int32)
    by_rows(x, o, most)
    assert o.tolist() == x.sum(0).tolist()
    assert most.tolist() == [x.max(0).tolist(), (2 * x).max(0).tolist()]


@sv.func
def add_to(o, k, x):
    o[k] = o[k] + x


@sv.kernel
def in_a_func(x: sv.types.NDArray[sv.f32, 1], o: sv.types.NDArray[sv.f32, 1]):
    for i in x:
        add_to(o, 1, x[i])


def test_an_update_in_a_func_is_gathered():
    x, o = values(), np.zeros(2, np.float32)
    in_a_func(x, o)
    assert o.tolist() == [0, x.sum()]


@sv.kernel
def own_elements(p: sv.types.NDArray[sv.i32, 1], o: sv.types.NDArray[sv.f32, 1]):
    for i in p:
        o[p[i]] = o[p[i]] + 1.0


def test_an_element_that_may_be_the_iterations_own_is_left_alone():
    p, o = np.random.default_rng(1).permutation(N).astype(np.int32), np.zeros(N, np.float32)
    own_elements(p, o)
    assert (o == 1).all()
    assert "atomic" not in own_elements.inspect("ir")


def test_conditions_are_gathered_and_one_value_may_be_written_by_all():
    kernel = define(
        """
@sv.kernel
def k(x: sv.types.NDArray[sv.f32, 1], limit: sv.f32) -> tuple[sv.u1, sv.u1, sv.u1, sv.f32]:
    found = False
    some = False
    every = True
    copy = sv.f32(0)
    for i in x:
        if x[i] > limit:
            found = True
        some = some or x[i] > limit
        every = every and x[i] > -100.0 and x[i] < limit
        copy = limit
    return found, some, every, copy
"""
    )
    x = values()
    assert kernel(x, 48.0) == (True, True, False, 48.0)
    assert kernel(x, 60.0) == (False, False, True, 60.0)


REFUSED = {
    "m = x[i]": "m",
    "m = m * 0.5 + x[i]": "m",
    "m = m + m * x[i]": "m",
    "m = x[i] - m": "m",
    "m = x[i] if x[i] > m else m": "m",
    "if x[i] > m:\n            m = x[i]": "m",
    "m = max(m, x[i] + m)": "m",
    "n = n + x[i]": "n",
    "n = max(n, i64(i))": "n",
    "for n in range(3):\n            n = i": "",
    "m, n = 1.0, i": "n",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_an_assignment_that_depends_on_the_order_is_refused(statement):
    kernel = define(
        "@sv.kernel\ndef k(x: sv.types.NDArray[sv.f32, 1]) -> sv.f32:\n    m = 0.0\n    n = sv.i32(0)\n"
        f"    for i in x:\n        {statement}\n    return m\n",
        i64=sv.i64,
    )
    if not REFUSED[statement]:
        kernel(values())  # the variable of a loop inside is the iteration's own
        return
    with pytest.raises(sv.SamovarSyntaxError) as caught:
        kernel(values())
    message, name = str(caught.value), REFUSED[statement]
    assert f"data race on `{name}`: the iterations of a parallel loop assign it" in message
    assert f"(line {3 if name == 'm' else 4})" in message
    assert f"`{name} = max({name}, x)`" in message


def test_a_serial_loop_assigns_as_it_likes():
    kernel = define(
        "@sv.kernel\ndef k(x: sv.types.NDArray[sv.f32, 1]) -> sv.f32:\n    m = 0.0\n"
        "    sv.loop_config(serialize=True)\n    for i in x:\n        m = m * 0.5 + x[i]\n    return m\n"
    )
    assert kernel(np.array([2, 4], np.float32)) == 5
