"""Kernels at random, for many processors: LLVM fails in none of them.

What LLVM makes of a loop depends on the processor it is for, and so does what it fails in: nothing of what is compiled here
is run.
"""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from kernels_at_random import HEADING, RandomKernel, random_kernel

import samovar as sv
from samovar.backends.llvm.effort import FULL
from samovar.backends.llvm.target import Target, host_target
from samovar.compiler.batches import made_all
from samovar.compiler.fallback import Job, Made

_SHORT, _LONG = "+avx2,+fma,+f16c", "+avx2,+fma,+f16c,+avx512f,+avx512dq"
#: Processors of each kind, with the features that our own choices go by; LLVM knows the rest by their names.
PROCESSORS = {
    "x86-64": "",
    "x86-64-v2": "",
    "ivybridge": "+avx,+f16c",
    "haswell": _SHORT,
    "alderlake": _SHORT,
    "znver2": _SHORT,
    "znver4": _LONG,
    "znver5": _LONG,
    "skylake-avx512": _LONG,
    "sapphirerapids": _LONG + ",+avx512fp16",
}


def target(processor: str) -> Target:
    host = host_target()
    return Target(host.triple, processor, PROCESSORS[processor], host.vector_math)


def texts(kernels: list[RandomKernel], path: Path) -> Iterator[tuple[RandomKernel, str]]:
    """The LLVM text of each; a kernel that the language refuses is left out."""
    path.write_text(HEADING + "\n".join(kernel.text for kernel in kernels))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for fast_math, debug in ((True, False), (False, False), (True, True)):
        sv.init(fast_math=fast_math, debug=debug)
        for number, kernel in enumerate(kernels):
            if (kernel.fast_math, kernel.debug) != (fast_math, debug):
                continue
            a, y = sv.ndarray(getattr(sv, kernel.carried), 4), sv.ndarray(getattr(sv, kernel.element), (4, 50))
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    text = getattr(module, f"kernel_{number}").inspect("llvm", a, y, 3)
                except sv.SamovarError:
                    continue
            yield kernel, text


def failures(kernels: list[RandomKernel], processors: list[str], path: Path) -> tuple[int, list[str]]:
    """How many texts were compiled, and what LLVM fails in: the kernel and what LLVM says."""
    compiled: list[tuple[RandomKernel, str]] = []
    failed: list[str] = []

    def jobs() -> Iterator[tuple[int, Job]]:
        for kernel, text in texts(kernels, path):
            for processor in processors:
                compiled.append((kernel, processor))
                yield len(compiled) - 1, Job("kernel", text, target(processor))

    def arrived(number: int, found: Made) -> None:
        if found.effort != FULL:
            kernel, processor = compiled[number]
            failed.append(f"{processor}, {kernel}\n{found.warning}")

    try:
        made_all(jobs(), arrived)
    finally:
        sv.reset()
    return len(compiled), failed


def some_kernels(seed: int, count: int) -> list[RandomKernel]:
    random = Random(seed)
    return [random_kernel(random, f"kernel_{number}") for number in range(count)]


#: Running extremes that LLVM has failed in: each on some processors, none on all of them.
KNOWN = (
    ("f16", "f32", "for i in a:\n    m = a[i]\n    for j in range(n):\n      m = min(m, sv.f16(y[i, j]))\n    a[i] = m"),
    ("f16", "f32", "for i in a:\n    m = sv.f16(0)\n    for j in range(n):\n      m = max(m, j)\n    a[i] = m"),
    ("f16", "f32", "for i, j in sv.ndrange((1, 5), 1):\n    sv.atomic_max(a[j], sv.f32(i))"),
    ("f64", "u16", "for i in a:\n    m = a[i]\n    for j in range(n):\n      m = max(m, sv.i64(j))\n    a[i] = m"),
    ("f32", "i8", "for i, j in sv.ndrange((1, n), 1):\n    sv.atomic_max(a[j], i * i)"),
)


@pytest.mark.parametrize("fast_math", [True, False])
def test_llvm_survives_what_it_has_failed_in(fast_math: bool, tmp_path: Path) -> None:
    kernels = [
        RandomKernel(
            f"@sv.kernel\ndef kernel_{number}(a: N[sv.{carried}, 1], y: N[sv.{element}, 2], n: sv.i32):\n  {body}\n",
            carried,
            element,
            fast_math,
            debug=False,
        )
        for number, (carried, element, body) in enumerate(KNOWN)
    ]
    assert failures(kernels, list(PROCESSORS), tmp_path / "known.py") == (len(KNOWN) * len(PROCESSORS), [])


def test_llvm_survives_some_kernels(tmp_path: Path) -> None:
    compiled, failed = failures(some_kernels(1, 8), ["x86-64", "haswell", "skylake-avx512"], tmp_path / "some.py")
    assert failed == []
    assert compiled > 12


@pytest.mark.stress
@pytest.mark.timeout(7200)
def test_llvm_survives_many_kernels(tmp_path: Path) -> None:
    seed = int(os.environ.get("SAMOVAR_RANDOM_KERNELS", Random().randrange(1 << 30)))
    print(f"SAMOVAR_RANDOM_KERNELS={seed}")
    for part in range(20):
        _, failed = failures(some_kernels(seed + part, 100), list(PROCESSORS), tmp_path / f"many_{part}.py")
        assert failed == [], seed + part
