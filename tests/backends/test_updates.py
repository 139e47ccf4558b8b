"""Read-modify-write: atomic and plain, over every dtype; races for real."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from build import Builder, kernel
from machine import Machine
from test_operations import FLOAT_RULES, FLOATS, INTEGERS, NUMPY, dtype_of, wrap

from ir_arithmetic import evaluate
from samovar._native import i32
from samovar.ir.values import Array, Local, LoopVariable, Parameter

INTEGER_CODES = ["add", "sub", "mul", "min", "max", "and", "or", "xor", "floordiv", "mod", "pow", "shl", "shr"]
FLOAT_CODES = ["add", "sub", "mul", "div", "min", "max", "floordiv", "mod", "pow"]


def changing(name: str, word: str, code: str) -> Machine:
    target, old, value = Array("t", dtype_of(name), 1), Array("old", dtype_of(name), 1), Array("v", dtype_of(name), 1)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.store(old, [i], b.change(word, code, target, [i], b.load(value, i)))

        b.parallel((0, b.shape(target)), body=body)

    return Machine(kernel([target, old, value], build))


@pytest.mark.parametrize("word", ["atomic", "update"])
@pytest.mark.parametrize("name", [*INTEGERS, "u1"])
def test_integers(word: str, name: str) -> None:
    before, values = ([0, 1, 1, 0], [1, 1, 0, 0]) if name == "u1" else ([7, 100, 3, 0, 1], [2, 3, 7, 5, 0])
    for code in INTEGER_CODES:
        target = np.array(before, NUMPY[name])
        old = np.zeros_like(target)
        changing(name, word, code)(target, old, np.array(values, NUMPY[name]))
        points = zip(before, values, strict=True)
        assert target.tolist() == [evaluate(code, dtype_of(name), point) for point in points], code
        assert old.tolist() == before, code


@pytest.mark.parametrize("word", ["atomic", "update"])
@pytest.mark.parametrize("name", FLOATS)
def test_floats(word: str, name: str) -> None:
    before, values = (
        np.array([7.5, 2.0, -3.0, 0.5, np.nan], NUMPY[name]),
        np.array([2.0, 3.0, 0.5, -1.5, 1.0], NUMPY[name]),
    )
    for code in FLOAT_CODES:
        target, old = before.copy(), np.zeros_like(before)
        changing(name, word, code)(target, old, values)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(target, FLOAT_RULES[code](before, values), rtol=1e-3 if name == "f16" else 1e-6)
        np.testing.assert_array_equal(old, before)


@pytest.mark.parametrize("word", ["atomic", "update"])
@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "u1"])
def test_exchange_and_compare_and_swap(word: str, name: str) -> None:
    dtype = dtype_of(name)
    target, expected, new = Array("t", dtype, 1), Parameter("e", dtype), Parameter("n", dtype)

    def build(b: Builder) -> None:
        b.give(b.change(word, "cas", target, [0], expected, new), b.change(word, "exchange", target, [1], new))

    machine = Machine(kernel([target, expected, new], build, [dtype, dtype]))
    values = np.array([1, 0], NUMPY[name])
    assert machine(values, 0, 0) == (1, 0)
    assert values.tolist() == [1, 0]
    assert machine(values, 1, 0) == (1, 0)
    assert values.tolist() == [0, 0]


@pytest.mark.parametrize("case", ["i32 add", "f32 add", "f16 add", "u8 add", "f64 max", "u16 xor", "i64 mul"])
def test_no_update_is_lost_between_threads(case: str) -> None:
    name, code = case.split()
    target, n = Array("t", dtype_of(name), 1), Parameter("n", i32)
    one = Parameter("one", dtype_of(name))

    def build(b: Builder) -> None:
        b.parallel((0, n), body=lambda i: discard(b.change("atomic", code, target, [0], one)))

    machine = Machine(kernel([target, n, one], build), pieces=1)
    count, threads = 500, 4
    factor: Any = 3 if code == "mul" else 1
    values = np.array([1 if code == "mul" else 0], NUMPY[name])
    workers = [threading.Thread(target=machine, args=(values, count, factor)) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    rule = {"add": count * threads, "max": 1, "xor": 0, "mul": pow(3, count * threads)}[code]
    expected = rule if name in FLOATS else wrap(rule, name)
    assert values[0] == expected


def discard(_: object) -> None:
    """Nothing."""


def test_a_shared_local_is_updated_atomically_and_an_own_one_plainly() -> None:
    n, shared, own = Parameter("n", i32), Local("shared", i32), Local("own", i32)
    shared.shared = True

    def build(b: Builder) -> None:
        b.set(shared, 5)
        b.set(own, 1)
        b.change("atomic", "add", own, [], b.op("add", n, 0))
        b.parallel((0, n), body=lambda i: discard(b.change("atomic", "add", shared, [], i)))
        b.give(b.get(shared), b.get(own))

    machine = Machine(kernel([n], build, [i32, i32], [shared, own]))
    assert machine(10) == (5 + 45, 11)
    assert machine.rendered.text.count("atomicrmw") == 1
