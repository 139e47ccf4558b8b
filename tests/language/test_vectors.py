"""Vectors and matrices as values in kernels: what they are made of, copies and references, indices, and mistakes."""

import dataclasses

import numpy as np
import pytest

import samovar as sv

from .source import define

vec3, mat3 = sv.math.vec3, sv.math.mat3
vec20 = sv.types.vector(20, sv.f32)
V = sv.Vector([1.5, -2.0, 0.25])
W = sv.Vector([3.0, 0.0, -1.0])
LARGE = "sv.Vector([a[i % 3] + i for i in range(20)])"
FUNCS = """
@sv.func
def changed(p):
    p[0] = 9.0
    p *= 2
    return p

@sv.func
def change(p: sv.template(), q):
    p[0] = 9.0
    p *= 2
    return q[1] + q[0]

@sv.func
def put(p: sv.template(), i):
    p[i] += 1.0

@sv.func
def several(p, q):
    return p + q, p.dot(q), (q, p)

@sv.func
def early(p, n):
    if n > 0:
        return p
    return p * 2

@sv.func
def with_default(p, q=vec3(1, 2, 3)):
    return p + q
"""


def defined(body, result="", more=""):
    """A kernel of two vectors and a number with this body."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    text = f"{FUNCS}{more}\n@sv.kernel\ndef k(a: vec3, b: vec3, n: sv.i32){result}:\n{lines}\n"
    return define(text, vec3=vec3, mat3=mat3, np=np)


def plain(value):
    """A result as lists and numbers, with their dtypes."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return (value.dtype.name, value.to_list()) if isinstance(value, sv.Matrix) else value


#: Bodies that mean the same in plain Python.
SAME = {
    "entries and swizzles": "c = a + 0\nc.zx = b.xy\nc.y += 1\nc[0], c[2] = c[2], c[0]\nc.xyz = c.zxy\n"
    "return c, c.xxyy, c.rgb, c.uv",
    "run-time indices": "c = a + 0\nc[n] = b[n] + 1\nc[n + 1] += 2\nreturn c, c[n]",
    "run-time indices of a matrix": "m = sv.Matrix([a, b, a + b])\nm[n, n + 1] = 7.0\nm[n, 0] += 2\nm[n, :] -= 2\n"
    "return m, m[n, 2], m[:, n], m[n]",
    "slices": "c = a + 0\nc[:2] = c[1:]\nc[::2] *= 2\nreturn c, a[::-1], a[1:]",
    "a number everywhere": f"c = {LARGE}\nc[:] = 3.0\nc[1:3] = n\nd = a + 0\nd.xy = 5.0\nd[2:] = 1\nreturn c, d",
    "rows and columns": "m = sv.Matrix([a, b, a + b])\nm[1] = a\nm[:, 0] = b\nm[0] = [1, 2, 3]\nreturn m, m[1:, :2]",
    "makers": "return (sv.Matrix.diag(3, a), sv.Matrix.diag(a), sv.Matrix.diag(2, 1.5), sv.Matrix.diag(dim=2, val=1),"
    " sv.Vector.unit(3, 1), sv.Vector.unit(3, 1, sv.f64), sv.Matrix.identity(sv.i32, 2), sv.Matrix.rows([a, b]),"
    " sv.Matrix.cols([a, b]), sv.Matrix.zero(float, 2, 3), sv.Matrix.one(dt=sv.i8, n=2), vec3.zero(), vec3.one(),"
    " vec3(1), vec3([1, 2, 3]), mat3(a, b, a), sv.Vector([n, 2.5]), sv.Vector([True, False]), sv.Vector([1.7], sv.i32))",
    "methods": "return (a.sum(), a.min(), a.max(), a.any(), b.all(), a.dot(b), a.cross(b),"
    " a.xy.cross(b.xy), a.outer_product(b),"
    " a.norm_sqr(), a.transpose(), a.cast(int), (a > 0).sum(), a.n, a.m, len(a), a.ndim, a.shape)",
    "methods of large ones": f"c = {LARGE}\nreturn c.sum(), c.min(), c.max(), c.any(), c.all(), c.dot(c), c.norm_sqr(),"
    " c.transpose(), c.cast(sv.i8), (c > 3).sum(), c[2:5], c[::-1]",
    "comprehensions": "return sv.Vector([x * 2 for x in a]), sv.Matrix([[a[i] * b[j] for j in range(3)] for i in range(3)])",
    "static loops": "t = 0.0\nfor x in sv.static(a):\n    t += x\nfor i, x in sv.static(enumerate(b)):\n    t += x * i\n"
    "for row in sv.static(sv.Matrix([a, b])):\n    t += row.x\nreturn t",
    "chosen and merged": "c = a if n > 0 else b\nif n > 3:\n    d = c * 2\nelse:\n    d = c + b\nd += 1\nreturn c, d",
    "chosen and merged, large": f"c = {LARGE}\nd = c + 0 if n > 5 else c * 2\n"
    "if n > 0:\n    c = c + 1\n    e = c * 3\nelse:\n"
    "    e = c + 0\ne[n] = 0.0\nreturn c, d, e",
    "carried by a loop": f"c = a + 0\nd = {LARGE}\nsv.loop_config(serialize=True)\n"
    "for i in range(n + 3):\n    c = c * 0.5 + b\n"
    "    c[i % 3] -= 1\n    d = d * 0.5 + 1\n    d[i % 3] -= 1\nwhile c.sum() < 100:\n    c = c + 1.5\nreturn c, d",
    "gathered by a parallel loop": "c = a * 0\nd = sv.Vector.zero(sv.i32, 20)\nfor i in range(100):\n"
    "    c += a * i\n    c[1] += 1.0\n"
    "    c.x -= 2\n    d += i\n    d[i % 20] += 1\nreturn c, d",
    "stored by a parallel loop": "c = a * 0\nd = a * 0\ne = a * 0\nfor i in range(3):\n    c[i] = b[i] * 2\n    d[0] = 1.0\n"
    "    e[i % 2] += 1\nreturn c, d, e",
    "funcs": f"c = {LARGE}\nd = a + 0\nchange(d, b)\nput(d, n)\nchange(c, b)\nput(c, n)\nx, y, z = several(a, b)\n"
    "p, q, r = several(c, c * 2)\n"
    "return c, d, x, y, z[0], z[1], p, q, r[0], early(a, n), early(a, -n), early(c, n), with_default(a),"
    " with_default(a, b)",
    "truth": "return (a > b).any() and (a < b).any(), not (a == b).all(), 0 < a.x < 2, (a > 0) & (b > 0), ~(a > 0)",
    "whole numbers": "i = sv.Vector([1, 2, -3])\n"
    "return i / 2, i // 2, i % 2, i << 1, i >> 1, i.sum(), -i, ~i, i.cast(sv.f64)",
    "narrow types wrap": "c = sv.Vector([100, 100], sv.i8)\nreturn c + c, c.sum(), c * c, c @ c, c.norm_sqr(), c.max()",
}


@pytest.mark.parametrize("name", SAME)
def test_bodies_that_mean_the_same_in_plain_python(name):
    kernel = defined(SAME[name])
    for n in (1, 0):
        assert plain(kernel(V, W, n)) == plain(kernel.__wrapped__(V.copy(), W.copy(), n))


@pytest.mark.parametrize("made", ["a + 0", LARGE])
def test_what_is_assigned_or_given_by_value_is_a_copy(made):
    """Small ones in registers and large ones in memory alike."""
    kernel = defined(
        f"""c = {made}
d = c
t = (c, 1.0)
q = [c, c * 2]
f = q[1]
f[0] = 50.0
s = sv.static(c)
r = changed(c)
x = change(c, c)
c[1] = 100.0
return c[0], d[0], t[0][0], q[0][0], q[1][0], s[0], r[0], x, d[1]"""
    )
    first, second = (1.5, -2.0) if made == "a + 0" else (1.5, -1.0)
    assert kernel(V, W, 1) == (18.0, first, first, first, 2 * first, first, 18.0, first + second, second)


CAPTURED = "G = sv.Vector([1.0 * i for i in range(20)])\n"


def test_captured_vectors_are_there_on_every_path():
    kernel = defined(
        "t = 0.0\nif n > 5:\n    t = G[n]\nfor i in range(n, 3):\n    t += G[i]\nfor i in range(2):\n    t += G[i + 3]\n"
        "c = G\nc[0] = 7.0\nreturn t, c[0], G[0], G.sum()",
        more=CAPTURED,
    )
    assert kernel(V, W, 1) == (10.0, 7.0, 0.0, 190.0)
    assert kernel(V, W, 6) == (13.0, 7.0, 0.0, 190.0)


@dataclasses.dataclass
class Box:
    small: vec3
    large: vec20


@sv.kernel
def boxed(box: Box, n: sv.i32):
    t = 0.0
    if n > 5:
        t += box.large[n]
    for i in range(3):
        t += box.small[i] * box.large[i + 1]
    return t


def test_members_are_read_at_each_launch():
    box = Box(sv.Vector([1.0, 2.0, 3.0]), sv.Vector([1.0 * i for i in range(20)]))
    assert boxed(box, 1) == 14.0
    compiled = sv.compile_count()
    box.small[0] = 11.0
    assert boxed(box, 6) == 30.0
    box.large = sv.Vector.one(sv.f32, 20)
    assert boxed(box, 6) == 17.0
    assert sv.compile_count() == compiled


@sv.kernel
def parameters(small: vec3, large: vec20, matrix: mat3):
    c = large
    c[0] = 5.0
    return small * 2, c, large, matrix @ small


FORMS = [lambda v: v, sv.Matrix.to_list, sv.Matrix.to_numpy, lambda v: v.to_numpy().astype("f8")]


@pytest.mark.parametrize("form", FORMS)
def test_parameters_take_vectors_lists_and_arrays(form):
    large, matrix = sv.Vector([1.0 * i for i in range(20)]), sv.Matrix([V, W, V])
    found = parameters(form(V), form(large), form(matrix))
    assert plain(found[0]) == plain(V * 2)
    assert (found[1][0], found[2].to_list()) == (5.0, large.to_list())
    assert plain(found[3]) == plain(matrix @ V)


@sv.kernel
def by_grouped_index(a: sv.types.NDArray[sv.i32, 2]):
    for I in sv.grouped(sv.ndrange(3, 4)):
        J = I + sv.Vector([1, 0])
        a[J] = I.sum() * 100 + I.max() * 10 + sv.cast(I.cast(float).x, sv.i32) + (I * 2).y


def test_a_grouped_index_is_a_vector():
    a = np.zeros((4, 4), np.int32)
    by_grouped_index(a)
    i, j = np.indices((3, 4))
    assert np.array_equal(a[1:], (i + j) * 100 + np.maximum(i, j) * 10 + i + 2 * j)
    assert not a[0].any()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return a + b.xy", r"shapes do not match: a vector of 3 and a vector of 2[\s\S]*return a \+ b\.xy"),
        ("return sv.Matrix([a, b]) @ b.xy", r"shapes do not match: a matrix of 2×3 @ a vector of 2"),
        ("return a.dot(b.xy)", r"shapes do not match: a vector of 3 and a vector of 2[\s\S]*return a\.dot\(b\.xy\)"),
        ("c = a + 0\nc = b.xy\nreturn c", "a vector of 3 cannot be assigned a vector of 2"),
        ("c = a + 0\nc = 1.0\nc[0] = 2.0\nreturn c", r"a vector of 3 cannot be assigned a number[\s\S]*`c\[:\] = x`"),
        ("return vec3(1, 2)", "has 3 elements, but got 2"),
        ("return sv.Vector(['x'])", "a vector requires numbers"),
        ("return sv.Matrix([[1, 2], [3]])", "different lengths: 2, 1"),
        ("return a[3]", "index 3 is out of bounds: this dimension has 3"),
        ("return a[-1]", r"index -1 is out of bounds: negative indices are not supported in kernels[\s\S]*write 2"),
        ("return a[-2:]", "index -2 is out of bounds"),
        ("return a[1:1]", "this slice is empty"),
        ("return a[0, 0]", "a 1-dimensional value was indexed with 2 indices"),
        ("return a[0.5]", "an index must be an integer"),
        ("return a.length", "its attributes are n, m, shape, dtype, sum"),
        ("return vec3.two()", r"its methods are zero\(\) and one\(\)"),
        ("c = a + 0\nc.xx = b.xy\nreturn c", "names a component twice"),
        ("if a:\n    return 1\nreturn 0", "expected a number, got a vector of 3"),
        ("return sv.Matrix.diag(2, a)", "a diagonal of 2 requires a number or a vector of 2, not a vector of 3"),
        ("return sv.Matrix([a, b]).trace()", "`trace` requires a square matrix"),
    ],
)
def test_mistakes_say_what_is_wrong_and_where(body, words):
    with pytest.raises(sv.SamovarError, match=words):
        defined(body)(V, W, 1)


def test_assigning_another_dtype_warns_of_the_name_once():
    kernel = defined("if n > 0:\n    c = sv.Vector([1, 2, 3])\nelse:\n    c = b\nreturn c")
    with pytest.warns(sv.SamovarWarning, match="`c` is i32 since line .*: assigning f32 loses its fraction") as found:
        kernel(V, W, 1)
    assert len(found) == 1


def test_indices_and_messages_in_debug_mode(debug):
    kernel = defined("c = a + 0\nc[n] = 1.0\nassert c.x > 0, f'{c} {c.y:.1f}'\nreturn c[n]")
    assert kernel(V, W, 2) == 1.0
    with pytest.raises(sv.SamovarRuntimeError, match="index 3 is out of bounds for array 'c'"):
        kernel(V, W, 3)
    with pytest.raises(sv.SamovarAssertionError, match=r"\[-1.5, 1.0, -0.25\] 1.0"):
        kernel(-V, W, 1)
