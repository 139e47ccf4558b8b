"""Every function of `sv.math` in a kernel, of f16, f32 and f64: what it gives in plain Python, as exact as a dtype is."""

from __future__ import annotations

import importlib
import math

import numpy as np
import pytest

import samovar as sv

#: By name: expressions of numbers s, t, u from 0.1 to 0.9, vectors a, b, c, d, quaternions p, q, matrices m, n; and the
#: shape of each.
ELEMENTWISE = (
    "asin acos atan asinh atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 floor fract gamma lgamma log log10 log1p"
    " log2 radians round rsqrt sign sin sinh sqrt tan tanh trunc"
)
OF_TWO = "atan2 copysign fmod hypot max min mod pow step"
EXPRESSIONS: dict[str, list[tuple[str, tuple[int, ...]]]] = {
    **{name: [(f"M.{name}(s)", ()), (f"M.{name}(a)", (3,))] for name in ELEMENTWISE.split()},
    **{name: [(f"M.{name}(s, t)", ()), (f"M.{name}(a, b)", (3,))] for name in OF_TWO.split()},
    "acosh": [("M.acosh(1 + s)", ()), ("M.acosh(1 + a)", (3,))],
    "fma": [("M.fma(s, t, u)", ())],
    "clamp": [("M.clamp(s, 0.3, 0.6)", ()), ("M.clamp(a, 0.3, b)", (3,))],
    "mix": [("M.mix(s, t, u)", ()), ("M.mix(a, b, s)", (3,))],
    "smoothstep": [("M.smoothstep(0.0, 1.0, s)", ()), ("M.smoothstep(0.0, 1.0, a)", (3,))],
    "isnan": [("1 if M.isnan(s) else 0", ())],
    "isinf": [("1 if M.isinf(s) else 0", ())],
    "dot": [("M.dot(a, b)", ())],
    "cross": [("M.cross(a, b)", (3,))],
    "length": [("M.length(a)", ())],
    "distance": [("M.distance(a, b)", ())],
    "normalize": [("M.normalize(a)", (3,))],
    "reflect": [("M.reflect(a, M.normalize(b))", (3,))],
    "refract": [("M.refract(M.normalize(a), M.normalize(b), s)", (3,))],
    "vdir": [("M.vdir(s)", (2,))],
    "eye": [("M.eye(3) * s", (3, 3))],
    "determinant": [("M.determinant(m)", ()), ("M.determinant(n)", ())],
    "inverse": [("M.inverse(m)", (2, 2)), ("M.inverse(n)", (3, 3))],
    "rotation2d": [("M.rotation2d(s)", (2, 2))],
    "rotation3d": [("M.rotation3d(s, t, u)", (4, 4))],
    "rot_by_axis": [("M.rot_by_axis(a, s)", (4, 4))],
    "rot_yaw_pitch_roll": [("M.rot_yaw_pitch_roll(s, t, u)", (4, 4))],
    "translate": [("M.translate(s, t, u)", (4, 4))],
    "scale": [("M.scale(s, t, u)", (4, 4))],
    "quat_mul": [("M.quat_mul(p, q)", (4,))],
    "quat_conjugate": [("M.quat_conjugate(p)", (4,))],
    "quat_rotate": [("M.quat_rotate(p, a)", (3,))],
    "quat_from_axis_angle": [("M.quat_from_axis_angle(a, s)", (4,))],
    "quat_to_matrix": [("M.quat_to_matrix(p)", (3, 3))],
    **{name: [(f"M.{name}(c)", (2,))] for name in "cconj cexp cinv clog".split()},
    **{name: [(f"M.{name}(c, d)", (2,))] for name in "cdiv cmul".split()},
    "cpow": [("M.cpow(c, s)", (2,))],
    "csqrt": [("M.csqrt(c)", (2,))],
}
#: Of integers, which have no accuracy.
INTEGERS = {"clz": "M.clz(k)", "ffs": "M.ffs(k)", "fns": "M.fns(k, 0, 1)", "popcnt": "M.popcnt(k)"}

HEADER = """import samovar as sv
M = sv.math
def work(x, out):
    for i in range(x.shape[0]):
        s, t, u = dtype(x[i, 0]), dtype(x[i, 1]), dtype(x[i, 2])
        a, b = sv.Vector([s, t, u], dtype), sv.Vector([u, s, t + s], dtype)
        c, d = sv.Vector([s, -t], dtype), sv.Vector([t, u], dtype)
        p, q = sv.Vector([s, t, u, s], dtype).normalized(), sv.Vector([t, -u, s, t], dtype).normalized()
        m, n = sv.Matrix([[1 + s, t], [u, 2]], dtype), sv.Matrix([[1 + s, t, u], [t, 2, s], [-u, s, 2]], dtype)
"""


def made_module(folder, dtype):
    """A module whose function `work` is plain Python, and can become a kernel."""
    lines, column = [HEADER.replace("dtype", f"sv.{dtype.name}")], 0
    for number, (expression, shape) in enumerate(each for found in EXPRESSIONS.values() for each in found):
        lines.append(f"        r{number} = {expression}\n")
        for place in np.ndindex(*shape):
            entry = f"[{', '.join(map(str, place))}]" if place else ""
            lines.append(f"        out[i, {column}] = sv.cast(r{number}{entry}, sv.{dtype.name})\n")
            column += 1
    (folder / f"math_of_{dtype.name}.py").write_text("".join(lines))
    return importlib.import_module(f"math_of_{dtype.name}"), column


@pytest.mark.parametrize("dtype", [sv.f16, sv.f32, sv.f64], ids=lambda dtype: dtype.name)
def test_functions_of_floats(tmp_path, monkeypatch, dtype):
    monkeypatch.syspath_prepend(tmp_path)
    module, columns = made_module(tmp_path, dtype)
    x = np.random.default_rng(5).uniform(0.1, 0.9, (40, 3)).astype(dtype.typestr)
    here, there = np.zeros((40, columns), dtype.typestr), np.zeros((40, columns), dtype.typestr)
    sv.init(default_fp=sv.f64 if dtype is sv.f64 else sv.f32)
    module.work(x, here)
    Array = sv.types.NDArray[dtype, 2]
    module.work.__annotations__ = {"x": Array, "out": Array}
    sv.kernel(module.work)(x, there)
    sv.reset()
    assert np.isfinite(here).all()
    assert (here != 0).any(axis=0).sum() > columns * 0.8
    wide, found = here.astype(np.float64), there.astype(np.float64)
    places = np.abs(wide - found) / (np.finfo(dtype.typestr).eps * np.maximum(np.abs(wide), 1))
    names = [text for parts in EXPRESSIONS.values() for text, shape in parts for _ in range(math.prod(shape))]
    worst = int(places.max(axis=0).argmax())
    assert places.max() <= 16, f"{names[worst]} is {places.max():.1f} places off"


@sv.kernel
def of_integers(k: sv.i32) -> tuple[sv.i32, sv.i32, sv.i32, sv.i32]:
    return sv.math.clz(k), sv.math.ffs(k), sv.math.fns(k, 0, 1), sv.math.popcnt(k)


@pytest.mark.parametrize("k", [1, 2, 3, 12, 255, 2**30, 2**31 - 1, -1, -(2**31)])
def test_functions_of_integers(k):
    expected = tuple(eval(text, {"M": sv.math, "k": sv.i32(k)}) for text in INTEGERS.values())
    assert of_integers(k) == expected
    bits = f"{k & 0xFFFFFFFF:032b}"
    assert expected[0] == len(bits) - len(bits.lstrip("0"))
    assert expected[3] == bits.count("1")


def test_no_function_is_forgotten():
    functions = {name for name in sv.math.__all__ if type(getattr(sv.math, name)).__name__ not in ("float", "MatrixType")}
    assert functions == {*EXPRESSIONS, *INTEGERS}
