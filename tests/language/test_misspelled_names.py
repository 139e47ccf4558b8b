"""Members, entries and attributes that are not there: which ones there are, and which was probably meant."""

import random
import re

import numpy as np
import pytest

import samovar as sv

from .source import define

P = sv.types.struct(pos=sv.math.vec3, velocity=sv.math.vec3)


@sv.dataclass
class Particle:
    position: sv.math.vec3
    mass: sv.f32


particles, numbers, rng = P.field(shape=4), sv.field(sv.f32, 4), np.random.default_rng()


class Settings:
    scale = 1.0


# ruff: noqa: E501
CASES = [
    ("p[i].velocty = sv.math.vec3(1)", "a struct has no member `velocty`: did you mean 'velocity'?", "its members are pos, velocity"),
    ("p[i].velocty += 1", "a struct has no member `velocty`: did you mean 'velocity'?", "its members are pos, velocity"),
    ("sv.atomic_add(p[i].velocty, 1)", "has no member `velocty`: did you mean 'velocity'?", "its members are pos, velocity"),
    ("y = p[i].velocty", "`p[i]` is a struct and has no attribute `velocty`: did you mean 'velocity'?", "its members are pos"),
    ("q = Particle(mass=1.0); q.mas = 3", "the struct `Particle` has no member `mas`: did you mean 'mass'?", "position, mass"),
    ("q = Particle(mas=1.0)", "Particle has no member `mas`: did you mean 'mass'?", "its members are position, mass"),
    ("p[i].pos.w = 1", "a vector of 3 has no member `w`", "its components are x, y, z (or r, g, b)"),
    ("y = p[i].pos.w", "a vector of 3 and has no attribute `w`", "its components are x, y, z (or r, g, b)"),
    ("v = sv.math.vec2(1); v.xz = sv.math.vec2(3)", "a vector of 2 has no member `xz`", "its components are x, y (or r, g)"),
    ("v = sv.Vector([1, 2, 3, 4, 5]); v.x = 3; v.w = 3; v.e = 3", "a vector of 5 has no member `e`", "`v[i]`"),
    ("m = sv.math.mat2(1); m.x = 3", "a matrix of 2×2 has no member `x`", "`m[i, j]`"),
    ("v = sv.math.vec3(1); y = v.nrom()", "has no attribute `nrom`: did you mean 'norm'?", "its attributes are n, m, shape"),
    ("s.scale = 3", "`scale` of the Python object `s` cannot be assigned in a kernel", "assign to an element"),
    ("f.shape = 3", "`shape` of the array `f` cannot be assigned in a kernel", "`f[i] = x`"),
    ("f[i].x = 3", "`x` of a number cannot be assigned in a kernel", "assign to an element"),
    ("p.pos = 3", "`pos` of the array `p` of struct", "`p[i].pos = x`"),
    ("y = p.velocty", "the array `p` of struct has no attribute `velocty` in a kernel: did you mean 'velocity'?", "its members"),
    ("y = f.shpae", "an array has no attribute `shpae` in a kernel: did you mean 'shape'?", "its attributes are shape, dtype"),
    ("y = np.random.random(3)", "`np.random.random` is a Python random-number function", "`sv.random()`"),
    ("y = np.random.rand(3)", "`np.random.rand` is a Python random-number function", "`sv.random()`"),
    ("y = np.random.randint(3, size=2)", "`np.random.randint` is a Python random-number function", "`sv.randint(low, high)`"),
    ("y = np.random.normal(0, 1, 3)", "`np.random.normal` is a Python random-number function", "`mean + deviation * sv.randn()`"),
    ("np.random.shuffle(f)", "`np.random.shuffle` is a Python random-number function", "`sv.random()`, `sv.randn()` or `sv.randint(...)`"),
    ("y = rng.uniform()", "`rng.uniform` is a Python random-number function", "`low + (high - low) * sv.random()`"),
    ("y = rng.integers(3)", "`rng.integers` is a Python random-number function", "`sv.randint(low, high)`"),
]


@pytest.mark.parametrize(("line", "says", "advice"), CASES, ids=[case[0] for case in CASES])
def test_what_is_not_there_is_named_with_what_is(line, says, advice):
    names = {"p": particles, "f": numbers, "rng": rng, "random": random, "np": np, "s": Settings(), "Particle": Particle}
    k = define(f"@sv.kernel\ndef k():\n    for i in range(1):\n        {line}\n", **names)
    with pytest.raises(sv.SamovarError, match=re.escape(says)) as caught:
        k()
    message = str(caught.value)
    assert advice in message.partition("help: ")[2]
    assert "global " not in message.partition("\n")[0]
    assert ":4, in k\n" in message
