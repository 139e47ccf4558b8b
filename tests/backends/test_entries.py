"""The entry of a kernel: optimized where it computes, as written where it only starts tasks."""

from __future__ import annotations

import re

import numpy as np
import pytest
from build import Builder, kernel
from machine import Machine

from samovar._native import f32, i32
from samovar.ir.structure import Kernel
from samovar.ir.values import Array, Local, LoopVariable, Parameter


def starting(tasks: int) -> Kernel:
    """Tasks that each add the parameter to every element."""
    y, a = Array("y", f32, 1, alone=True), Parameter("a", f32)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.store(y, [i], b.op("add", b.load(y, i), a))

        for _ in range(tasks):
            b.parallel((0, b.shape(y)), body=body)

    return kernel([y, a], build)


def counting() -> Kernel:
    """A serial loop in the entry."""
    y, count = Array("y", i32, 1, alone=True), Local("count", i32)

    def build(b: Builder) -> None:
        b.loop(0, b.shape(y), 1, body=lambda _: b.set(count, b.op("add", b.get(count), 1)) and None)
        b.store(y, [0], b.get(count))

    return kernel([y], build, locals=[count])


def is_optimized(text: str) -> bool:
    group = re.search(r"^define i32 @samovar_entry\(.*\) (#\d)$", text.replace(" {\n", "\n"), re.MULTILINE)
    assert group is not None
    return f"attributes {group[1]} = {{ nounwind noinline optnone " not in text


@pytest.mark.parametrize("tasks", [1, 2, 5])
def test_an_entry_that_only_starts_tasks_is_taken_as_written(tasks: int) -> None:
    machine = Machine(starting(tasks))
    assert not is_optimized(machine.rendered.text)
    y = np.ones(100, np.float32)
    machine(y, 2.0)
    np.testing.assert_array_equal(y, 1 + 2 * tasks)


def test_an_entry_that_computes_is_optimized() -> None:
    assert is_optimized(Machine(counting()).rendered.text)


def test_an_entry_of_many_operations_is_optimized() -> None:
    assert is_optimized(Machine(starting(30)).rendered.text)


@pytest.mark.parametrize("alone", [True, False])
def test_serial_code_hoists_loads_of_arrays_that_do_not_overlap(alone: bool) -> None:
    x, y = Array("x", f32, 1, alone=alone), Array("y", f32, 1, alone=alone)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.store(y, [i], b.op("add", b.load(y, i), b.load(x, 0)))

        b.loop(0, b.shape(y), 1, body=body)

    assert ("!noalias" in Machine(kernel([x, y], build)).rendered.text) is alone
