"""Reuse of loads and sinking of stores: elements are touched once, in lanes without a mask, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ir_builder import Builder
from ir_interpreter import Interpreter
from samovar._native import f32, i32
from samovar.ir.structure import If, Kernel
from samovar.ir.traversal import walk_kernel
from samovar.ir.values import Array, Parameter
from samovar.ir.verifier import verify
from samovar.passes.loops.forward_elements import forward_elements
from samovar.passes.loops.sink import sink_stores

Program = Callable[[Builder], None]


def built(write: Program, alone: bool = True) -> Kernel:
    build = Builder(
        Array("a", f32, 1, alone=alone), Array("b", f32, 1, alone=alone), Parameter("n", i32), Parameter("m", i32)
    )
    write(build)
    kernel = build.kernel()
    verify(kernel)
    return kernel


def rewritten(write: Program, alone: bool = True) -> Kernel:
    kernel = built(write, alone)
    forward_elements(kernel)
    sink_stores(kernel)
    verify(kernel)
    return kernel


def count(kernel: Kernel, code: str) -> int:
    return sum(operation.code == code for operation in walk_kernel(kernel))


def results(kernel: Kernel, n: int, m: int) -> list[list[float]]:
    a, b = np.arange(1, 9, dtype=np.float32), np.zeros(8, np.float32)
    Interpreter(kernel, {"a": a, "b": b, "n": np.int32(n), "m": np.int32(m)}).run()
    return [a.tolist(), b.tolist()]


def again(build: Builder) -> None:
    """One element in a condition and under it."""
    x = build.load(build["a"], build["n"])
    with build.when(build.op("gt", x, 2.0)):
        build.store(build["b"], [0], build.load(build["a"], build["n"]))


def both_sides(build: Builder) -> None:
    with build.when(build.op("gt", build["n"], 2)) as otherwise:
        build.store(build["b"], [build["m"]], build.op("add", build.load(build["a"], build["m"]), 1.0))
    with build.inside(otherwise):
        build.store(build["b"], [build["m"]], build.load(build["a"], build["m"]))


def and_after(build: Builder) -> None:
    """One side, and what follows."""
    v = build.local("v", f32)
    build.set(v, 0.0)
    with build.when(build.op("gt", build["n"], 2)):
        build.set(v, build.load(build["a"], build["m"]))
    build.store(build["b"], [0], build.op("add", build.get(v), build.load(build["a"], build["m"])))


def in_a_loop(build: Builder) -> None:
    with build.loop(0, 3) as k:
        x = build.load(build["a"], k)
        with build.when(build.op("gt", x, 1.0)):
            build.store(build["b"], [k], build.op("mul", x, build.load(build["a"], k)))


def written_between(build: Builder) -> None:
    x = build.load(build["a"], build["n"])
    build.store(build["a"], [build["m"]], 7.0)
    build.store(build["b"], [0], build.op("add", x, build.load(build["a"], build["n"])))


def written_on_one_side(build: Builder) -> None:
    x = build.load(build["a"], build["n"])
    with build.when(build.op("gt", build["m"], 2)):
        build.store(build["a"], [build["m"]], 7.0)
    build.store(build["b"], [0], build.op("add", x, build.load(build["a"], build["n"])))


def written_by_the_loop(build: Builder) -> None:
    with build.loop(0, 3) as k:
        x = build.load(build["a"], build["n"])
        build.store(build["a"], [k], 7.0)
        build.store(build["b"], [k], x)


def one_side_only(build: Builder) -> None:
    """The other side may not be allowed to touch the element."""
    with build.when(build.op("lt", build["n"], 8)):
        build.store(build["b"], [0], build.load(build["a"], build["n"]))


def left_before(build: Builder) -> None:
    """What follows is not reached by all."""
    with build.loop(0, 12) as k:
        with build.when(build.op("ge", k, 8)):
            build.void("break")
        with build.when(build.op("gt", k, build["n"])):
            build.store(build["b"], [0], build.load(build["a"], k))
        build.store(build["b"], [1], build.load(build["a"], k))


def waited_for(build: Builder) -> None:
    """Somebody else may write what a loop of unknown length looks at."""
    x = build.load(build["a"], 0)
    build.store(build["b"], [1], x)
    build.during(
        lambda: build.op("lt", build.load(build["a"], 0), 5.0),
        lambda: build.change("update", "add", build["a"], [0], 1.0),
    )


def stored_elsewhere(build: Builder) -> None:
    with build.when(build.op("gt", build["n"], 2)) as otherwise:
        build.store(build["b"], [build["m"]], 1.0)
    with build.inside(otherwise):
        build.store(build["b"], [build["n"]], 2.0)


def seen_after(build: Builder) -> None:
    """A load after the store sees it."""
    with build.when(build.op("gt", build["n"], 2)) as otherwise:
        build.store(build["b"], [build["m"]], 1.0)
        build.store(build["a"], [0], build.load(build["b"], build["n"]))
    with build.inside(otherwise):
        build.store(build["b"], [build["m"]], 2.0)


def stored_twice(build: Builder) -> None:
    with build.when(build.op("gt", build["n"], 2)) as otherwise:
        build.store(build["b"], [build["m"]], 1.0)
        build.store(build["b"], [build["n"]], 3.0)
    with build.inside(otherwise):
        build.store(build["b"], [build["m"]], 2.0)


REWRITTEN = [(again, 1, 1), (both_sides, 1, 1), (and_after, 1, 1), (in_a_loop, 1, 1)]
LEFT = [
    (written_between, 2, 2), (written_on_one_side, 2, 2), (written_by_the_loop, 1, 2), (one_side_only, 1, 1),
    (left_before, 1, 2), (waited_for, 2, 1), (stored_elsewhere, 0, 2), (seen_after, 1, 3), (stored_twice, 0, 3),
]  # fmt: skip


@pytest.mark.parametrize(("write", "loads", "stores"), REWRITTEN + LEFT)
def test_elements_are_touched_once(write: Program, loads: int, stores: int) -> None:
    kernel = rewritten(write)
    assert (count(kernel, "load"), count(kernel, "store")) == (loads, stores)


@pytest.mark.parametrize("write", [write for write, _, _ in REWRITTEN + LEFT])
@pytest.mark.parametrize(("n", "m"), [(0, 0), (3, 3), (2, 5), (6, 1)])
def test_and_do_what_they_did(write: Program, n: int, m: int) -> None:
    assert results(rewritten(write), n, m) == results(built(write), n, m)


def test_arrays_that_may_overlap_are_written_together() -> None:
    def write(build: Builder) -> None:
        x = build.load(build["a"], build["n"])
        build.store(build["b"], [0], 1.0)
        build.store(build["b"], [1], build.op("add", x, build.load(build["a"], build["n"])))

    assert count(rewritten(write), "load") == 1
    assert count(rewritten(write, alone=False), "load") == 2
    assert count(rewritten(both_sides, alone=False), "store") == 2


def test_what_both_sides_need_is_loaded_before() -> None:
    first = rewritten(both_sides).body.operations
    assert first[-1].code == "store"
    assert [each.code for each in first if each.code in ("load", "if")] == ["load", "if"]
    assert not any(each.code == "load" for branch in first if isinstance(branch, If) for each in branch.then.operations)
