"""Calls in loops are replaced by what they call where the loop may become one of vectors, and else stay calls."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

import samovar as sv
from passes.loops.rewriting import AVX2
from samovar.frontend import lower
from samovar.ir import SCALAR, Array, Kernel, Machine, callees, tasks, verify
from samovar.language import Options
from samovar.lens import Lens
from samovar.passes.loops import inline_calls

#: The module, whose budgets are changed; in the package, its name is that of the pass.
calls = import_module("samovar.passes.loops.inline_calls")

Integers = sv.types.NDArray[sv.i32, 1]


@sv.func
def straight(x):
    return x * 3 + 1


@sv.func
def halved(x):
    while x > 9:
        x //= 2
    return x


@sv.func
def within(x):
    return halved(x) + 1


@sv.func
def to_a_power(x):
    y = 0
    if x > 2:
        y = x ** (x & 3)
    return y


def calling(func: Any, *, twice: bool = False) -> Any:
    if twice:

        @sv.kernel
        def two(a: Integers):
            for i in a:
                a[i] = func(a[i]) + func(a[i] + 1)

        return two

    @sv.kernel
    def one(a: Integers):
        for i in a:
            a[i] = func(a[i])

    return one


@sv.kernel
def after_a_sum(a: Integers):
    t = 0
    for i in a:
        t += a[i]
    sv.loop_config(serialize=True)
    for i in range(a.shape[0]):
        a[i] = t + halved(a[i])


@sv.kernel
def a_sum(a: Integers) -> sv.i32:
    t = 0
    for i in a:
        t += halved(a[i])
    return t


def rewritten(kernel: Any, machine: Machine = AVX2) -> Kernel:
    lens = Lens(kernel.__wrapped__, {"a": np.zeros(9, np.int32)}, kernel.state.signature, Options())
    made = lower(lens).kernel
    for each in made.parameters:
        each.alone = isinstance(each, Array)
    inline_calls(made, machine)
    verify(made)
    return made


def left(kernel: Kernel) -> int:
    return len([*callees(kernel.body)])


@pytest.mark.parametrize(
    ("kernel", "wanted"),
    [(calling(straight), 1), (calling(halved), 0), (calling(within), 0), (calling(to_a_power), 1), (after_a_sum, 1),
     (a_sum, 0)],
    ids=("straight", "loop", "in a func", "power", "shared local", "sum"),
)  # fmt: skip
def test_calls_that_are_left(kernel: Any, wanted: int) -> None:
    assert left(rewritten(kernel)) == wanted


def test_without_vectors_calls_stay() -> None:
    assert left(rewritten(calling(halved), SCALAR)) == 1


@pytest.mark.parametrize(("growth", "wanted"), [(1, 2), (1000, 0)])
def test_copies_have_a_budget(growth: int, wanted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LARGEST_GROWTH", growth)
    assert left(rewritten(calling(halved, twice=True))) == wanted


def test_a_long_body_keeps_its_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "LARGEST", 10)
    assert left(rewritten(calling(halved, twice=True))) == 2


def test_each_copy_has_locals_of_its_own() -> None:
    (task,) = tasks(rewritten(calling(halved, twice=True)))
    assert len({*task.locals}) == len(task.locals) >= 2
