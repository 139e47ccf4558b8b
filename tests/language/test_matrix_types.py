"""The types of vectors and matrices: values of their own, what they make, and what they annotate."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import samovar as sv
from samovar.language import Options, specification
from samovar.values import annotation_of_key

vec2, vec3, vec4 = sv.math.vec2, sv.math.vec3, sv.math.vec4


def test_a_type_is_equal_by_content():
    one, other = sv.types.vector(3, sv.f32), sv.types.vector(3, sv.f32)
    assert one == other
    assert hash(one) == hash(other)
    assert one != sv.types.vector(3, sv.f64)
    assert one != sv.types.vector(4, sv.f32)
    assert one != sv.types.matrix(3, 1, sv.f32)
    assert sv.types.vector(3, float) != one
    assert pickle.loads(pickle.dumps(one)) == one
    assert annotation_of_key(one.key()) == one
    assert repr(one) == "sv.types.vector(3, f32)"
    assert str(sv.types.matrix(2, 3, int)) == "matrix(2, 3, int)"
    with pytest.raises(AttributeError, match="immutable"):
        one.shape = (2,)


def test_what_a_type_knows():
    m = sv.types.matrix(2, 3, sv.i64)
    assert (m.n, m.m, m.shape, m.ndim, m.dtype, m.default) == (2, 3, (2, 3), 2, sv.i64, None)
    assert (vec3.n, vec3.m, vec3.shape, vec3.ndim, vec3.dtype, vec3.default) == (3, 1, (3,), 1, None, "default_fp")
    assert vec3.resolved(Options(default_fp=sv.f64)) is sv.f64
    assert sv.math.uvec2.resolved(Options()) is sv.u32
    assert sv.math.uvec2.resolved(Options(default_ip=sv.i64)) is sv.u64
    assert sv.math.ivec4.default == "default_ip"
    assert sv.math.mat3.shape == (3, 3)
    assert sv.types.vector(2, bool).dtype is sv.u1


def test_it_annotates():
    assert specification(vec3) is vec3

    @sv.func
    def f(a: vec3, b: sv.types.matrix(2, 2, sv.f64)) -> vec3:
        return a

    assert [each.annotation for each in f.signature.parameters] == [vec3, sv.types.matrix(2, 2, sv.f64)]
    assert f.signature.returns == vec3
    assert specification(tuple[vec3, sv.f32]) is not None
    assert (vec3 | None) is not None


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: vec3(1, 2, 3), [1, 2, 3]),
        (lambda: vec3(2), [2, 2, 2]),
        (lambda: vec3([1, 2, 3]), [1, 2, 3]),
        (lambda: vec3(np.arange(3)), [0, 1, 2]),
        (lambda: vec3(sv.Vector([1, 2, 3])), [1, 2, 3]),
        (lambda: vec3(vec2(1, 2), 3), [1, 2, 3]),
        (lambda: vec4(1, vec2(2, 3), 4), [1, 2, 3, 4]),
        (lambda: vec4(vec2(1), vec2(2)), [1, 1, 2, 2]),
        (lambda: vec4([vec2(1), 2, 3]), [1, 1, 2, 3]),
        (lambda: sv.math.ivec2(1.7, -1.7), [1, -1]),
        (lambda: sv.math.uvec2(-1, 0), [2**32 - 1, 0]),
        (lambda: vec2.zero(), [0, 0]),
        (lambda: vec2.one(), [1, 1]),
        (lambda: sv.math.mat2([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (lambda: sv.math.mat2(1, 2, 3, 4), [[1, 2], [3, 4]]),
        (lambda: sv.math.mat2([1, 2, 3, 4]), [[1, 2], [3, 4]]),
        (lambda: sv.math.mat2(vec4(1, 2, 3, 4)), [[1, 2], [3, 4]]),
        (lambda: sv.math.mat2(vec2(1, 2), vec2(3, 4)), [[1, 2], [3, 4]]),
        (lambda: sv.math.mat2(vec2(1, 2), [3, 4]), [[1, 2], [3, 4]]),
        (lambda: sv.math.mat2(np.eye(2)), [[1, 0], [0, 1]]),
        (lambda: sv.math.mat2(5), [[5, 5], [5, 5]]),
        (lambda: sv.types.matrix(1, 2, sv.f32)([[1, 2]]), [[1, 2]]),
        (lambda: sv.types.vector(1, sv.f32)([1]), [1]),
    ],
)
def test_a_call_makes_a_value(make, expected):
    assert make().to_list() == expected


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: vec3(), r"vector\(3, float\) has 3 elements, but got nothing"),
        (lambda: vec3(1, 2), "a number, a number"),
        (lambda: vec3([1]), "a number"),
        (lambda: vec3(vec2(1), vec2(2)), "2, 2"),
        (lambda: vec4(np.eye(2)), "2×2"),
        (lambda: sv.types.matrix(2, 3, sv.f32)([[1, 2], [3, 4], [5, 6]]), "2, 2, 2"),
        (lambda: sv.types.matrix(2, 3, sv.f32)(np.zeros((3, 2))), "3×2"),
        (lambda: vec3("abc"), "str"),
        (lambda: sv.types.vector(0, sv.f32), "a positive integer"),
        (lambda: sv.types.vector(2.0, sv.f32), "a positive integer"),
        (lambda: sv.types.matrix(2, True, sv.f32), "a positive integer"),
        (lambda: sv.types.vector(2, "f32"), "dtype"),
        (lambda: sv.types.vector(2, [1]), "dtype"),
    ],
)
def test_what_makes_no_value_says_why(make, words):
    with pytest.raises(sv.SamovarTypeError, match=words):
        make()


def test_a_process_without_vectors_does_not_load_them():
    program = """
import sys
import samovar as sv
sv.types.NDArray, sv.math.clamp, sv.sin, sv.select, sv.static
assert not [name for name in sys.modules if "matri" in name or "linear_algebra" in name or "geometry" in name]
sv.math.vec3
assert "samovar.values.matrices" not in sys.modules
assert sv.sin(sv.math.vec3(0)).sum() == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_types_are_made_in_kernels():
    @sv.kernel
    def total() -> sv.f32:
        a = sv.types.vector(4, sv.f32)(2.0)
        b = sv.types.matrix(n=2, m=2, dtype=sv.i32)([[1, 2], [3, 4]])
        return a.sum() + b.sum()

    assert total() == 18


def test_a_func_that_promises_a_number_gives_back_its_vector():
    @sv.func
    def pair(x) -> sv.f32:
        return sv.Vector([x, 2 * x])

    @sv.kernel
    def total(x: sv.f32) -> sv.f32:
        return pair(x).sum()

    with pytest.warns(sv.SamovarWarning, match="f32, but a vector of 2 is returned: the annotation is ignored"):
        assert total(1.5) == 4.5

    @sv.kernel
    def wrong(x: sv.f32) -> sv.f32:
        return pair(x)

    with pytest.raises(sv.SamovarTypeError, match="the return annotation is f32, but a vector of 2 is returned"):
        wrong(1.5)


def test_unsigned_vectors_follow_the_default_integer():
    @sv.kernel
    def kept(x: sv.i64, v: sv.math.uvec2, a: sv.types.NDArray[sv.math.uvec3, 1]) -> sv.u64:
        return sv.math.uvec2(x)[0] + v[1] + a[0][2]

    sv.init(default_ip=sv.i64)
    a = sv.math.uvec3.ndarray(1)
    a[0] = [0, 0, 2**42]
    assert kept(2**40, sv.math.uvec2(0, 2**41), a) == 2**40 + 2**41 + 2**42
    sv.init()
    a = sv.math.uvec3.ndarray(1)
    assert kept(2**32 + 1, sv.math.uvec2(0, 2), a) == 3
