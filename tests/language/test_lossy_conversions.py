"""Implicit conversions: one rule for variables, elements, members, arguments and results, which warns of losses once."""

# ruff: noqa: E501
from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

import samovar as sv

from .source import define

HEADER = """
Pair = sv.types.struct(x=sv.f32, n=sv.i32, v=sv.math.vec3)
Bytes = sv.types.vector(3, sv.u8)

@sv.func
def takes(n: sv.i32):
    return n

@sv.func
def gives(x) -> sv.i32:
    return x

@sv.func
def takes_vector(v: sv.math.vec3):
    return v[0]

@sv.kernel
def k(f: sv.types.NDArray[sv.f32, 1], d: sv.types.NDArray[sv.f64, 1], i8: sv.types.NDArray[sv.i8, 1],
      u8: sv.types.NDArray[sv.u8, 1], i: sv.types.NDArray[sv.i32, 1], l: sv.types.NDArray[sv.i64, 1],
      h: sv.types.NDArray[sv.f16, 1], v: sv.types.NDArray[sv.math.vec3, 1], b: sv.types.NDArray[sv.u1, 1]):
    for j in range(2):
"""

#: What is written in the loop, and what the warning says.
LOSSY = {
    "an element": ("f[j] = d[j]", "`f[j]` is f32: storing f64 may lose precision"),
    "an element, from a float": ("i[j] = f[j] / 2", "`i[j]` is i32: storing f32 loses its fraction"),
    "an element, from more bits": ("i[j] = l[j]", "`i[j]` is i32: storing i64 may not fit"),
    "a byte": ("u8[j] = i[j]", "`u8[j]` is u8: storing i32 may not fit"),
    "a known fraction": ("i[j] = 2.5", "`i[j]` is i32: storing 2.5 loses its fraction"),
    "an update": ("f[j] += d[j]", r"`f[j]` is f32: `+=` of f64 may lose precision"),
    "an update of an integer": ("i[j] *= f[j]", "the right side of `*=` becomes i32 first, and f32 loses its fraction"),
    "a quotient": ("i[j] /= 2", "`i[j]` is i32: storing f32 loses its fraction"),
    "an atomic": ("sv.atomic_max(f[0], d[j])", "`f[0]` is f32: `atomic_max` of f64 may lose precision"),
    "a fill": ("i.fill(f[0])", "`i` is i32: filling it with f32 loses its fraction"),
    "a variable": ("x = sv.f32(1)\n        x = d[j]", "`x` is f32 since line 22: assigning f64 may lose precision"),
    "a variable that is added to": ("x = sv.f32(1)\n        x += d[j]", "`x` is f32 since line 22: assigning f64"),
    "an annotated variable": ("x: sv.i32 = 1\n        x = f[j]", "`x` is i32 since line 22: assigning f32 loses its fraction"),
    "an argument": ("x = takes(f[j])", "`n` of `takes` is i32: passing f32 loses its fraction"),
    "a result": ("x = gives(f[j] / 2)", "the result of `gives` is i32: returning f32 loses its fraction"),
    "a vector as an argument": ("x = takes_vector(sv.Vector([d[j], 1.0, 2.0]))", "`v` of `takes_vector` is f32: passing f64"),
    "a member": ("p = Pair(n=f[j])", "`n` of Pair is i32: storing f32 loses its fraction".replace("Pair", "struct")),
    "a vector as a member": ("p = Pair(v=d[j])", "`v` of struct is f32: storing f64 may lose precision"),
    "a member that is assigned": ("p = Pair()\n        p.x = d[j]", "is f32 since line 22: assigning f64 may lose precision"),
    "a vector as an element": ("v[j] = sv.Vector([d[j], d[j], d[j]])", "`v[j]` is f32: storing f64 may lose precision"),
    "an entry of an element": ("v[j][1] = d[j]", "`v[j][1]` is f32: storing f64 may lose precision"),
    "a number everywhere": ("w = sv.Vector([1, 2])\n        w[:] = f[j]", "is i32"),
    "half precision": ("h[j] = f[j] * 2.0", "`h[j]` is f16: storing f32 may lose precision"),
}  # fmt: skip

#: Where nothing is said.
FINE = {
    "a cast": "f[j] = sv.f32(d[j])\n        i[j] = int(f[j])\n        u8[j] = sv.cast(i[j], sv.u8)\n        i[j] = sv.i32(l[j])",
    "a vector of a type": "w = sv.math.vec3(d[j], 1.0, 2.0)\n        c = Bytes(i[j], 2, 3)",
    "a vector with a dtype": "w = sv.Vector([d[j], 1.0], sv.f32)",
    "a declaration": "x: sv.i32 = f[j]\n        y: sv.f32 = d[j]",
    "wider": "d[j] = f[j]\n        l[j] = i[j]\n        d[j] = i[j]\n        f[j] = l[j]\n        f[j] = h[j]",
    "whole numbers": "i[j] = 2.0\n        i[j] = sv.floor(f[j])\n        i[j] = round(f[j]) + 1.0\n        i[j] = f[j] // 2.0",
    "literals widen nothing": "u8[j] = u8[j] + 1\n        h[j] = h[j] * 2.0 + 0.5\n        u8[j] += 1\n        i8[j] = -i8[j] * 2",
    "what fits": "u8[j] = i[j] % 256\n        u8[j] = min(max(i[j], 0), 255)\n        u8[j] = i[j] & 255\n        i8[j] = l[j] % 100",
    "a truth": "b[j] = i[j]\n        b[j] = f[j] > 0",
    "a choice": "u8[j] = 1 if i[j] > 3 else 200",
    "a comparison": "u8[j] = i[j] > 3",
}  # fmt: skip


def arguments():
    dtypes = (np.float32, np.float64, np.int8, np.uint8, np.int32, np.int64, np.float16)
    return [*(np.ones(2, dtype) for dtype in dtypes), np.ones((2, 3), np.float32), np.ones(2, np.bool_)]


@pytest.mark.parametrize("name", LOSSY)
def test_what_may_lose_something_warns_once_at_its_line(name):
    body, message = LOSSY[name]
    kernel = define(HEADER + f"        {body}\n")
    with pytest.warns(sv.SamovarWarning) as caught:
        kernel(*arguments())
    kernel(*arguments())  # which warns of nothing, or it would fail
    assert len(caught) == 1
    assert message in str(caught[0].message)
    assert "\n  help: " in str(caught[0].message)
    assert "^\n" in str(caught[0].message)
    assert caught[0].lineno == (11 if name == "a result" else 22 + body.count("\n"))


@pytest.mark.parametrize("name", FINE)
def test_nothing_is_said_of_what_loses_nothing_or_is_asked_for(name):
    define(HEADER + f"        {FINE[name]}\n")(*arguments())


@pytest.mark.parametrize(
    ("result", "value", "word"),
    [
        ("sv.i32", "n / 2", "fraction"),
        ("sv.f32", "d[0]", "precision"),
        ("sv.i8", "n", "fit"),
        ("tuple[sv.i32, sv.f64]", "(n / 2, d[0])", "fraction"),
        ("sv.math.vec3", "sv.Vector([d[0], d[1], 1.0])", "precision"),
        ("sv.types.vector(40, sv.f32)", "sv.Vector([d[0] for _ in range(40)])", "precision"),
    ],
)
def test_results_of_kernels_are_no_different(result, value, word):
    kernel = define(f"@sv.kernel\ndef k(n: sv.i32, d: sv.types.NDArray[sv.f64, 1]) -> {result}:\n    return {value}\n")
    with pytest.warns(sv.SamovarWarning, match=f"the result of `k` is .*: returning .*{word}") as caught:
        kernel(5, np.ones(2))
    assert [each.lineno for each in caught] == [3]


# --- locals that begin with a plain number

LOCALS = {
    "s = 0.0\n    for i in d:\n        s += d[i]": (0.1 + 0.1, "f64"),
    "s = 0.0\n    for i in d:\n        s = s + d[i]": (0.1 + 0.1, "f64"),
    "s = 0\n    for i in d:\n        s += d[i]": (0.1 + 0.1, "f64"),
    "s = 0\n    for i in l:\n        s += l[i]": (2**41, "i64"),
    "s = -1e300\n    for i in d:\n        s = max(s, d[i])": (0.1, "f64"),
    "s = 0\n    for j in range(4):\n        s += 0.5": (2.0, "f32"),
    "s = 1\n    if n > 1:\n        s = n / 4": (0.5, "f32"),
    "if n > 1:\n        s = 0\n    else:\n        s = d[0]": (0.0, "f64"),
    "t = 0\n    s = 0\n    while t < 3:\n        t += 0.5\n        s = t": (3.0, "f32"),
    "s = 0.0\n    t = 0.0\n    while s < 0.05:\n        s = t\n        t = d[0]": (0.1, "f64"),
    "s = 0.0\n    add(s, d[0])": (0.1, "f64"),
    "s = gathered(d) + gathered(f)": (0.1 + 0.1 + 2.0, "f64"),
    "s = 3\n    s = sv.floor(f[0])": (1, "i32"),
    "s = 7\n    s = s + n": (9, "i32"),
}


def local(body):
    return define(
        "@sv.func\ndef add(s: sv.template(), x):\n    s += x\n\n"
        "@sv.func\ndef gathered(a):\n    s = 0\n    for i in range(a.shape[0]):\n        s += a[i]\n    return s\n\n"
        "@sv.kernel\ndef k(n: sv.i32, f: sv.types.NDArray[sv.f32, 1], d: sv.types.NDArray[sv.f64, 1],"
        f" l: sv.types.NDArray[sv.i64, 1]):\n    {body}\n"
        "    return s\n"
    )


@pytest.mark.parametrize("body", LOCALS)
def test_a_local_takes_the_widest_type_that_is_assigned(body):
    expected, dtype = LOCALS[body]
    kernel = local(body)
    given = 2, np.ones(2, np.float32), np.full(2, 0.1), np.full(2, 2**40)
    result = kernel(*given)
    assert result == pytest.approx(expected, rel=1e-15 if dtype == "f64" else 1e-7)
    assert isinstance(result, int if dtype[0] == "i" else float)
    assert f") -> {dtype}\n" in kernel.inspect("ir", *given)


def test_each_specialization_of_a_func_has_its_own_types():
    kernel = local("s = gathered(d) + gathered(f) + gathered(l)")
    given = 2, np.ones(2, np.float32), np.full(2, 0.1), np.full(2, 2**40)
    assert kernel(*given) == 2**41 + 2 + 0.2


def test_an_annotation_or_a_dtype_decides():
    for first in ("s: sv.f32 = 0", "s = sv.f32(0)"):
        with pytest.warns(sv.SamovarWarning, match="`s` is f32"):
            local(f"{first}\n    for i in d:\n        s += d[i]")(2, *(np.ones(2, t) for t in "fdl"))


def test_a_mistake_is_told_with_the_types_that_locals_have_in_the_end():
    kernel = local("s = 0\n    for j in range(3):\n        f[s] = 1.0\n        s += 0.5")
    with pytest.raises(sv.SamovarTypeError, match="an index must be an integer, got f32"):
        kernel(2, *(np.ones(2, t) for t in "fdl"))


def test_under_the_names_of_peers_the_first_value_decides(tmp_path):
    (tmp_path / "program.py").write_text(
        "import quadrants as qd\nqd.init()\nd = qd.field(qd.f64, 3)\nd.fill(0.1)\n"
        "@qd.kernel\ndef total() -> qd.f64:\n    s = 0.0\n    for i in d:\n        s += d[i]\n    return s\n"
        "print(total() == 0.1 + 0.1 + 0.1)\n"
    )
    command = [sys.executable, "-m", "samovar", "run", "--as", "quadrants", tmp_path / "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert "`s` is f32 since line 7: `+=` of f64 may lose precision" in done.stderr


PROGRAM = """
import sys
import numpy as np
import samovar as sv
sv.init(literal_locals=sys.argv[1])

@sv.kernel
def total(a: sv.types.NDArray[sv.f64, 1]) -> sv.f64:
    s = 0.0
    for i in a:
        s += a[i]
    return s

print(total(np.full(3, 0.1)) > 0.3000000001, sv.compile_count())
"""


def test_the_option_is_part_of_the_key_and_the_warning_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE_FILE_PATH", str(tmp_path / "cache"))
    (tmp_path / "program.py").write_text(PROGRAM)
    found = []
    for word in ("widest", "first", "widest", "first"):
        done = subprocess.run(
            [sys.executable, tmp_path / "program.py", word], capture_output=True, text=True, check=True
        )
        found.append((done.stdout.split(), "may lose precision" in done.stderr))
    assert found == [
        (["False", "1"], False),
        (["True", "1"], True),
        (["False", "0"], False),
        (["True", "0"], True),
    ]


def test_warnings_can_be_left_out():
    sv.init(log_level="error")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        define(HEADER + "        f[j] = d[j]\n")(*arguments())
    sv.reset()


GATHERED = """
@sv.kernel
def k(x: sv.types.NDArray[sv.{}, 1]) -> sv.{}:
    m = 1
    for i in x:
        {}
    return m
"""


@pytest.mark.parametrize("dtype", ["f32", "f64", "i64"])
@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        ("m = max(m, x[i])", 7), ("m = min(x[i], m)", 1), ("m = m + x[i]", 15), ("m = m * x[i]", 70),
        ("m = max(m, x[i], 3)", 7),
    ],
)  # fmt: skip
def test_gathered_locals_that_begin_with_an_integer_take_the_wider_type(step: str, wanted: int, dtype: str) -> None:
    kernel = define(GATHERED.format(dtype, dtype, step))
    assert kernel(np.array([2, 5, 7], dtype.replace("f", "float").replace("i", "int"))) == wanted
