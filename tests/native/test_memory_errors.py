"""Without memory: whatever allocation fails, there is a MemoryError and nothing worse, and the next attempt succeeds."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytest.importorskip("_testcapi")

#: Lets one allocation fail after the other, alone and with all that follow, until an operation goes through.
DRIVER = """
import gc
import _testcapi

def succeeds(operation, *which):
    result = None
    _testcapi.set_nomemory(*which)
    try:
        result = operation()
        return True
    except MemoryError:
        return False
    finally:
        _testcapi.remove_mem_hooks()
        del result

def exhaust(operation):
    operation(), operation()
    gc.disable()
    for alone in (True, False):
        number, successes = 1, 0  # of attempts in a row: a failure may be made up for
        while successes < 40:
            successes = successes + 1 if succeeds(operation, number, number + 1 if alone else 0) else 0
            number += 1
    gc.enable()
    operation()
    print("survived")
"""

PRELUDE = """
import copy
import numpy as np
import samovar as sv
from samovar import _native
from samovar._native import Kernel, Image, Ndarray, Path, Specialization, f32, f64, i32
from image_from_c import EMPTY

IMAGE = Image.from_flat(EMPTY)

def function(a, b=2, *, c=3):
    pass

class Thing:
    def __init__(self):
        self.x, self.n = Ndarray(f32, (2, 3)), 1.5

class Slots:
    __slots__ = ("x", "n")

PROGRAM = [
    ("parameter", 0, 0),
    ("attribute", 1, 0, "x"),
    ("attribute", 2, 0, "n"),
    ("type", 0, Thing),
    ("tensor", 1, f32, 2, True, *[False] * 8, True),
    ("disjoint", (1,), (1,), True),
    ("array", 1, 0, True),
    ("scalar", 2, f64, 40, "n"),
    ("stable", 0, True),
    ("absent_attribute", 0, "other"),
]

def specialization(program=PROGRAM):
    parts = {"results": ("tuple", (("scalar", f64, 40), None)), "tasks": [("t", 1.5, 0)], "sites": [1, 2], "keep": object()}
    return Specialization(IMAGE, program, 3, 64, **parts)

def guarded(program, registers, names=("a",), block=64):
    made = Specialization(IMAGE, program, registers, block)
    kernel = Kernel(function, names, {}, lambda kernel, arguments: made)
    kernel.insert(made)
    return kernel
"""

OPERATIONS = {
    "a kernel": "lambda: Kernel(function, ('a', 'b', 'c'), {'b': 2, 'c': 3}, print)",
    "a kernel with many parameters": """
        names = tuple(f"p{number}" for number in range(40))
        operation = lambda: Kernel(function, names, dict.fromkeys(names, 1), print)
    """,
    "a kernel with attributes": """
        function.note = {"a": 1}
        operation = lambda: repr(Kernel(function, ('a', 'b', 'c'), {'b': 2, 'c': 3}, print))
    """,
    "a specialization": "lambda: specialization()",
    "a specialization of bytes": """
        encoded = _native.encode_program([each for each in PROGRAM if each[0] != "type"])
        operation = lambda: specialization(encoded).operands
    """,
    "a program in bytes": "lambda: _native.encode_program([each for each in PROGRAM if each[0] != 'type'])",
    "a launch": """
        made, thing = specialization(), Thing()
        def operation():
            kernel = Kernel(function, ("a",), {}, lambda kernel, arguments: made)
            return kernel(thing)
    """,
    "a launch by keyword": """
        kernel = guarded([("parameter", 0, 0), ("parameter", 1, 1)], 2, ("a", "b"))
        operation = lambda: kernel(b=1, a=2)
    """,
    "a launch with the wrong arguments": """
        kernel = guarded([("parameter", 0, 0)], 1)
        def operation():
            try:
                kernel(1, 2, 3)
            except TypeError:
                pass
            try:
                kernel(other=3)
            except TypeError:
                pass
    """,
    "a launch of many registers and arrays": """
        arrays = [np.zeros(3, np.float32) for _ in range(300)]
        program = [step for n in range(300) for step in (
            ("item", n + 1, 0, n), ("tensor", n + 1, f32, 1, True, *[False] * 8, True), ("array", n + 1, 16 * n, False))]
        every = tuple(range(1, 301))
        kernel = guarded([("parameter", 0, 0), *program, ("disjoint", every, every, True)], 301, block=16 * 300)
        operation = lambda: kernel(arrays)
    """,
    "a launch with a value, keys and a length": """
        program = [("parameter", 0, 0), ("keys", 0, ("a", "b")), ("length", 0, 2), ("item", 1, 0, "a")]
        kernel = guarded([*program, ("value", 1, (1, 2.5, "x"))], 2)
        operation = lambda: kernel({"a": (1, 2.5, "".join("x")), "b": 3})
    """,
    "an inherited attribute and a method": """
        class Base:
            def method(self): pass
        class Derived(Base):
            def method(self): pass
        class Hook(Derived):
            def __getattribute__(self, name): return object.__getattribute__(self, name)
        program = [("parameter", 0, 0), ("constant", 1, Derived), ("inherited", 2, 0, 1, "method")]
        kernel = guarded([*program, ("method", 0, "method", Derived.__dict__["method"])], 3)
        def operation():
            kernel(Derived())
            kernel(Hook())
    """,
    "an array": "lambda: Ndarray(f32, (2, 3, 4, 5, 6), needs_grad=True)",
    "an array from a list as shape": "lambda: Ndarray(f32, [10] * 3)",
    "copies of an array": "lambda array=Ndarray(f32, 3, needs_grad=True): (copy.copy(array), copy.deepcopy(array))",
    "the text of an array": "lambda array=Ndarray(f32, (2, 3)): repr(array)",
    "a view through DLPack": "lambda array=Ndarray(f32, (2, 3)): sv.from_dlpack(array)",
    "a shared array of NumPy": "lambda array=np.zeros((2, 3)): _native.as_ndarray(array, copy=False)",
    "the description of an array": "lambda array=np.zeros((2, 3)): _native.describe_tensor(array)",
    "paths": "lambda: [Path(Path(None, 'parameter', 'a'), 'item', n) for n in range(3)]",
    "plain data": "lambda: _native.decode_plain(_native.encode_plain((1, 'zwei', [3.5, (None, b'x')], 2**80, 'z' * 500)))",
    "a digest": "lambda: _native.plain_digest((1, 'zwei', frozenset({1, 2, 3}), 2**80, 1j))",
    "the digest of code": "lambda: _native.code_fingerprint(function.__code__, True)",
    "whether arrays overlap": "lambda arrays=(np.zeros(3), np.zeros(3)): _native.disjoint(arrays, arrays)",
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_without_memory(name, tmp_path):
    text = dedent(OPERATIONS[name]).strip()
    if "operation" not in text:
        text = f"operation = {text}"
    program = tmp_path / "program.py"
    program.write_text(f"{PRELUDE}\n{DRIVER}\n{text}\nexhaust(operation)\n")
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": ":".join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "survived"
