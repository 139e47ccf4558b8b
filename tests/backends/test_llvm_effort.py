"""The forms in which LLVM makes code: one is as good as the other, and none needs anything that images do not have."""

from __future__ import annotations

import numpy as np
import pytest
from build import Builder, kernel
from machine import LaunchFailed, Machine

from samovar._native import f32, f64, i32
from samovar.artifact.sites import Frame, Site
from samovar.backends.llvm.effort import EFFORTS, FULL
from samovar.ir.structure import Kernel, Reduction
from samovar.ir.values import Array, Local, LoopVariable, Operation
from samovar.language.options import Options


def everything() -> Kernel:
    """Vectors, calls of libm, a sum, an extreme that a loop carries, atomics, a choice, and a check that may fail."""
    x, y = Array("x", f32, 2, alone=True), Array("y", f32, 1, alone=True)
    total, counts = Array("total", f64, 1, alone=True), Array("counts", i32, 1, alone=True)
    most = Local("most", f32)
    reduction = Reduction("add", f64, total, (Builder().value(0),))
    site = Site("bounds", ("x is too large",), (), (Frame("kernel", "test.py", 1),))

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.set(most, b.load(x, i, 0))
            b.loop(1, b.shape(x, 1), 1, body=lambda k: b.set(most, b.op("max", b.get(most), b.load(x, i, k))) and None)
            found = b.get(most)
            b.void("check", b.op("lt", found, 1e6), payload=site)
            wave = b.op("sin", found)
            b.store(y, [i], b.op("select", b.op("gt", wave, 0.0), wave, found, type=f32))
            b.append(Operation("accumulate", None, (b.cast(found, f64),), reduction))
            b.change("atomic", "add", counts, [b.op("mod", i, 3)], b.value(1))

        b.parallel((0, b.shape(x)), body=body, locals=[most]).reductions.append(reduction)

    return kernel([x, y, total, counts], build)


@pytest.mark.parametrize("fast_math", [True, False])
@pytest.mark.parametrize("form", EFFORTS)
def test_every_form_computes_the_same(form: str, fast_math: bool) -> None:
    machine = Machine(everything(), Options(fast_math=fast_math), form=form)
    x = np.random.default_rng(5).normal(size=(50, 37)).astype(np.float32)
    y, total, counts = np.zeros(50, np.float32), np.zeros(1), np.zeros(3, np.int32)
    machine(x, y, total, counts)
    most = x.max(axis=1)
    wave = np.sin(most.astype(np.float64))
    np.testing.assert_allclose(y, np.where(wave > 0, wave, most), rtol=1e-6)
    np.testing.assert_allclose(total, [most.sum(dtype=np.float64)], rtol=1e-6)
    assert counts.tolist() == [17, 17, 16]
    x[7, 7] = 1e7
    with pytest.raises(LaunchFailed):
        machine(x, y, total, counts)


def test_the_simpler_the_form_the_more_code_is_left_as_it_is() -> None:
    x = Array("x", f32, 1, alone=True)

    def build(b: Builder) -> None:
        b.parallel((0, b.shape(x)), body=lambda i: b.store(x, [i], b.op("mul", b.load(x, i), 2.0)) and None)

    sizes = {form: len(Machine(kernel([x], build), form=form).parts.code) for form in EFFORTS}
    assert sizes[FULL] > sizes["without vectors"]
    assert sizes["without optimizations"] != sizes["with few optimizations"]
