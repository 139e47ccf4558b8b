"""Objects that cannot become images are loaded by llvmlite: the same code, launched in the same way."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from build import Builder, kernel
from machine import rendered
from test_linking import ENTRY, LLVM, PIC, compiled

from backends.optimize import optimize
from samovar._native import Image, Kernel, Specialization, f32, f64, i64
from samovar.backends.images.elf import ObjectError
from samovar.backends.images.linker import link
from samovar.backends.llvm.object_loader import load_object
from samovar.backends.llvm.target import host_target
from samovar.ir.layout import layout_of
from samovar.ir.traversal import outlined
from samovar.ir.values import Array, LoopVariable
from samovar.language.options import Options


def launcher(image: Image) -> Any:
    """A kernel of one number, whose code leaves a double behind it."""
    program = [("parameter", 0, 0), ("scalar", 0, i64, 0, "number")]
    specialization = Specialization(image, program, 1, 16, results=("scalar", f64, 8))
    return Kernel(lambda number: None, ("number",), {}, lambda kernel, arguments: specialization)


def test_a_compiled_kernel_is_launched() -> None:
    """With vector math, memory of the runtime and a parallel task."""
    x = Array("x", f32, 1, alone=True)

    def build(b: Builder) -> None:
        def body(i: LoopVariable) -> None:
            b.store(x, [i], b.op("sin", b.load(x, i)))

        b.parallel((0, b.shape(x)), body=body, name="sines")

    sines = kernel([x], build)
    image = load_object(optimize(rendered(sines, Options(fast_math=True)).text, host_target()))
    layout = layout_of(sines)
    program = [("parameter", 0, 0), ("tensor", 0, f32, 1, True, *[False] * 8, True)]
    program += [("array", 0, layout.parameters[x], False)]
    tasks = [(task.name, task.cost, 0) for task in outlined(sines)]
    specialization = Specialization(image, program, 1, layout.size, tasks=tasks)
    values = np.linspace(-3, 3, 1000, dtype=np.float32)
    expected = np.sin(values)
    Kernel(lambda x: None, ("x",), {}, lambda kernel, arguments: specialization)(values)
    np.testing.assert_allclose(values, expected, atol=1e-6)


def test_code_with_data_of_its_own_is_launched(tmp_path: Path) -> None:
    source = """
    double exp2(double);
    static double sum, factor[2] = {1, 2};
    ENTRY { sum += factor[b->number & 1]; b->result = exp2(sum); return 0; }
    """
    data = compiled(tmp_path, ENTRY + source, *PIC)
    with pytest.raises(ObjectError, match="is writable"):
        link(data)
    call = launcher(load_object(data))
    assert [call(1), call(0), call(1)] == [4.0, 8.0, 32.0]
    assert launcher(load_object(data))(1) == 4.0, "each has its own data"


def test_both_loaders_give_the_same() -> None:
    data = optimize(LLVM, host_target())
    ours, theirs = launcher(Image.from_flat(link(data).flat())), launcher(load_object(data))
    assert [ours(number) for number in range(9)] == [theirs(number) for number in range(9)]
    assert theirs(7) == math.sin(7) + 1.5**7


def test_a_symbol_of_nobody_is_an_error_not_the_end(tmp_path: Path) -> None:
    data = compiled(tmp_path, "int nobody(int); int samovar_entry(int i) { return nobody(i) + 1; }", *PIC)
    with pytest.raises(ObjectError, match="it uses nobody, which kernels cannot use"):
        load_object(data)


@pytest.mark.parametrize("data", [b"", b"nothing", b"\x7fELF" + bytes(100)])
def test_what_is_no_object_is_an_error(data: bytes) -> None:
    with pytest.raises(ObjectError, match="LLVM cannot load the object"):
        load_object(data)


def test_the_code_stays_as_long_as_the_image(tmp_path: Path) -> None:
    data = compiled(tmp_path, ENTRY + "ENTRY { b->result = b->number + 0.5; return 0; }", *PIC)
    call = launcher(load_object(data))
    gc.collect()
    assert call(3) == 3.5
    gone = weakref.ref(call)
    del call
    gc.collect()
    assert gone() is None
    assert launcher(load_object(data))(4) == 4.5


def test_it_makes_nothing_writable_and_executable() -> None:
    """Importing llvmlite does: ctypes makes closures of its callbacks."""
    script = """
from pathlib import Path
from test_linking import LLVM
from samovar.backends.llvm.object_loader import load_object
from samovar.backends.llvm.target import host_target
from backends.optimize import optimize
mappings = lambda kind: {line for line in Path("/proc/self/maps").read_text().splitlines() if line.split()[1] == kind}
data = optimize(LLVM, host_target())
before = mappings("rwxp")
code = mappings("r-xp")
image = load_object(data)
print(len(mappings("rwxp") - before), len(mappings("r-xp") - code) > 0)
"""
    command = [sys.executable, "-c", script]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=True)
    assert done.stdout == "0 True\n"
