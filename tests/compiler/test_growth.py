"""What LLVM is given grows with a program, and no faster: lines of kernels of the same kind, some times as large."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import samovar as sv
from samovar.backends.llvm.effort import DEEP_NESTS, PLAIN_LOOPS

HEADING = "import samovar as sv\n\nA = sv.types.NDArray[sv.f32, 1]\n\n"
KERNEL = "@sv.kernel\ndef k(a: A):\n    for i in a:\n        x = a[i]\n"
RESULT = "        a[i] = x\n"
NEST = "        for j in range(i):\n            for l in range(j):\n                x += a[l] * {n}.5\n"


def repeated(line: str) -> Callable[[int], str]:
    return lambda count: KERNEL + "".join(line.format(n=n) for n in range(count)) + RESULT


def static_loops(count: int) -> str:
    loop = f"        for q in sv.static(range({count})):\n            for j in range(q):\n                x += a[j % 100]\n"
    return KERNEL + loop + RESULT


def nest(count: int) -> str:
    loops = [f"{' ' * 4 * (depth + 2)}for j{depth} in range(a.shape[0] - {depth}):\n" for depth in range(count)]
    return KERNEL + "".join(loops) + " " * 4 * (count + 2) + f"x += a[j{count - 1}]\n" + RESULT


def funcs(count: int) -> str:
    body = "".join(f"        s += a[(i + k + {n}) % 100] * {n}.5\n" for n in range(10))
    func = "@sv.func\ndef f{n}(a: A, i: sv.i32):\n    s = {n}.0\n    for k in range(3):\n" + body + "    return s\n\n"
    calls = "".join(f"        x += f{n}(a, i)\n" for n in range(count))
    return "".join(func.format(n=n) for n in range(count)) + KERNEL + calls + RESULT


def members(count: int) -> str:
    fields = "".join(f"    m{n}: A\n" for n in range(count))
    state = f"import dataclasses\n\n@dataclasses.dataclass\nclass State:\n{fields}\n\n"
    lines = "".join(f"        s.m{n}[i] = s.m{(n + 1) % count}[i] + {n}.0\n" for n in range(count))
    new = f"\n\ndef argument(a):\n    return State(*(a.copy() for _ in range({count})))\n"
    return state + "@sv.kernel\ndef k(s: State):\n    for i in range(100):\n" + lines + new


def matrix(count: int) -> str:
    entries = ", ".join("[" + ", ".join(f"a[{row + column}]" for column in range(count)) + "]" for row in range(count))
    return KERNEL + f"        m = sv.Matrix([{entries}])\n        x = (m @ m).trace()\n" + RESULT


def wide_expression(count: int) -> str:
    return KERNEL + "        x = " + " + ".join(f"a[(i + {n}) % 100] * {n}.5" for n in range(count)) + "\n" + RESULT


def inlined(count: int) -> str:
    func = "@sv.func\ndef f(x, y):\n    z = x * y + 0.5\n    if z > 2.0:\n        z = z - x\n    return z * y\n\n"
    return func + repeated("        x = f(x, {n}.5)\n")(count)


#: Kernels by how many of something they have, two such numbers, and how many times as much the second one is.
FAMILIES: dict[str, tuple[Callable[[int], str], int, int, float]] = {
    "statements": (repeated("        a[(i + {n}) % 100] = a[(i * {n}) % 100] + {n}.0\n"), 100, 400, 4),
    "static loops": (static_loops, 200, 800, 4),
    "gathers": (repeated("        for j in range(i):\n            x += a[j % 100] + {n}.0\n"), 60, 240, 4),
    "nests": (repeated(NEST), 10, 40, 4),
    "depth of a nest": (nest, 3, 9, 3),
    "conditions": (repeated("        if x > {n}.5:\n            x = x * a[{n} % 100] + {n}.0\n"), 50, 200, 4),
    "funcs": (funcs, 20, 80, 4),
    "members": (members, 20, 80, 4),
    "matrices": (matrix, 6, 12, 8),
    "wide expressions": (wide_expression, 50, 200, 4),
    "inlined bodies": (inlined, 50, 200, 4),
}  # fmt: skip


@pytest.fixture
def llvm_text(tmp_path: Path) -> Callable[[str], str]:
    def text_of(text: str) -> str:
        name = f"growing_{len(list(tmp_path.iterdir()))}"
        path = tmp_path / f"{name}.py"
        path.write_text(HEADING + text)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
            argument = np.zeros(100, np.float32)
            made = module.argument(argument) if hasattr(module, "argument") else argument
            return str(module.k.inspect("llvm", made))
        finally:
            del sys.modules[name]

    return text_of


@pytest.mark.parametrize("family", FAMILIES)
def test_what_llvm_is_given_grows_in_proportion(family: str, llvm_text: Callable[[str], str]) -> None:
    text, small, large, times = FAMILIES[family]
    lines = [llvm_text(text(size)).count("\n") for size in (small, large)]
    assert lines[1] <= 1.25 * times * lines[0]


def test_loops_in_pieces_of_long_code_share_a_budget(
    monkeypatch: pytest.MonkeyPatch, llvm_text: Callable[[str], str]
) -> None:
    from samovar.passes.loops import plan

    whole = llvm_text(static_loops(300))
    monkeypatch.setattr(plan, "LARGEST_TOTAL", 500)
    plain = llvm_text(static_loops(300))
    assert "x float>" in whole
    assert "x float>" not in plain
    assert plain.count("\n") < 0.6 * whole.count("\n")


def test_llvm_does_not_copy_deep_nests(llvm_text: Callable[[str], str]) -> None:
    assert DEEP_NESTS not in llvm_text(nest(2))
    assert DEEP_NESTS in llvm_text(nest(8))


def test_a_deep_nest_is_written_fewer_times(llvm_text: Callable[[str], str]) -> None:
    shallow, deep = (llvm_text(nest(depth)).count("= fadd ") for depth in (2, 8))
    assert deep < shallow


def test_only_texts_of_plain_loops_say_so(llvm_text: Callable[[str], str]) -> None:
    plain = "@sv.kernel\ndef k(a: A):\n    for i in a:\n        a[i] = a[i] * 2.0 + 1.0\n"
    assert PLAIN_LOOPS in llvm_text(plain)
    assert PLAIN_LOOPS not in llvm_text(plain + "    for i in a:\n        for j in range(i):\n            a[i] += a[j]\n")
    assert PLAIN_LOOPS not in llvm_text(nest(1))


@pytest.mark.parametrize("count", [0, 1, 31, 32, 33, 1000])
def test_plain_loops_touch_every_element(count: int) -> None:
    @sv.kernel
    def scale(a: sv.types.NDArray[sv.f32, 1]) -> None:
        for i in a:
            a[i] = a[i] * 2.0 + 1.0

    a = np.arange(count, dtype=np.float32)
    scale(a)
    np.testing.assert_array_equal(a, np.arange(count, dtype=np.float32) * 2 + 1)
