"""Functions that kernels know take arguments by name, in kernels and in plain Python, under the same names."""

import pytest

import samovar as sv


@pytest.fixture(params=["cpu", "python"])
def arch(request):
    sv.init(arch=getattr(sv, request.param))
    yield
    sv.reset()


@sv.kernel
def by_name(out: sv.types.NDArray[sv.f64, 1], x: sv.f64, n: sv.i32):
    sv.static_assert(msg="never", cond=True)
    out[0] = sv.math.clamp(x, xmax=2.0, xmin=1.0)
    out[1] = sv.math.mix(x=1.0, y=x, a=0.25)
    out[2] = sv.select(cond=x > 1.0, x2=n, x1=5)
    out[3] = sv.cast(obj=x, dtype=sv.i32)
    out[4] = sv.atan2(x2=2.0, x1=x)
    out[5] = sv.math.smoothstep(edge0=0.0, edge1=8.0, x=x)
    out[6] = sv.math.step(edge=3.0, x=x) + sv.math.sign(x=-x) + sv.math.fract(x=x) + sv.math.radians(x=x)
    out[7] = sv.math.dot(x=sv.Vector([x, 1.0]), y=sv.Vector([2.0, 3.0]))
    out[8] = sv.math.reflect(x=sv.Vector([x, 1.0]), n=sv.Vector([0.0, 1.0]))[1]
    out[9] = sv.raw_div(x2=2, x1=n) + sv.raw_mod(x1=n, x2=4) + sv.bit_shr(x1=n, x2=1)
    out[10] = sv.math.rotation2d(ang=x)[1, 0] + sv.math.vdir(ang=x)[0]
    out[11] = sv.math.determinant(m=sv.math.inverse(mat=sv.Matrix([[2.0, 0.0], [0.0, x]])))
    out[12] = sv.assume_in_range(val=n, base=0, low=0, high=100)
    for I in sv.grouped(x=sv.ndrange(2)):
        out[13] += I[0]


@sv.kernel
def atomics(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    old = sv.atomic_add(y=5, x=a[0])
    sv.atomic_max(a[1], y=7)
    sv.atomic_cas(desired=9, x=a[2], expected=0)
    return old


def expected(x, n):
    plain = sv.math
    mixed = plain.step(edge=3.0, x=x) + plain.sign(x=-x) + plain.fract(x=x) + plain.radians(x=x)
    return [
        plain.clamp(x, xmax=2.0, xmin=1.0),
        plain.mix(x=1.0, y=x, a=0.25),
        sv.select(cond=x > 1.0, x2=n, x1=5),
        sv.cast(obj=x, dtype=sv.i32),
        sv.atan2(x2=2.0, x1=x),
        plain.smoothstep(edge0=0.0, edge1=8.0, x=x),
        mixed,
        2 * x + 3,
        -1.0,
        sv.raw_div(x2=2, x1=n) + sv.raw_mod(x1=n, x2=4) + sv.bit_shr(x1=n, x2=1),
        sv.sin(x) + sv.cos(x),
        1 / (2 * x),
        n,
        1,
    ]


def test_in_kernels_as_in_plain_python(arch):
    out = sv.ndarray(sv.f64, 14)
    by_name(out, 3.5, 11)
    assert out.to_numpy().tolist() == pytest.approx(expected(3.5, 11), rel=1e-6)


def test_atomics(arch):
    a = sv.ndarray(sv.i32, 3)
    assert atomics(a) == 0
    assert a.to_numpy().tolist() == [5, 7, 9]


def test_a_name_that_is_not_there():
    @sv.kernel
    def twice(a: sv.types.NDArray[sv.i32, 1]):
        sv.atomic_add(a[0], x=1)

    @sv.kernel
    def missing(a: sv.types.NDArray[sv.i32, 1]):
        sv.atomic_cas(a[0], expected=1)

    @sv.kernel
    def unknown(x: sv.f32) -> sv.f32:
        return sv.math.clamp(x, low=1.0, high=2.0)

    a = sv.ndarray(sv.i32, 1)
    with pytest.raises(sv.SamovarTypeError, match="`atomic_add` takes an element and a value"):
        twice(a)
    with pytest.raises(sv.SamovarTypeError, match="`atomic_cas` takes an element, the expected and the new value"):
        missing(a)
    with pytest.raises(sv.SamovarTypeError, match="its parameters are x, xmin, xmax"):
        unknown(1.0)


def test_outside_of_kernels_atomics_know_their_parameters():
    with pytest.raises(TypeError, match=r"atomic_add\(x, y\) takes 2 arguments, got 1"):
        sv.atomic_add(x=1)
    with pytest.raises(sv.SamovarRuntimeError, match="inside kernels"):
        sv.atomic_add(y=2, x=1)


def test_static_of_several():
    assert sv.static(1, 2) == [1, 2]


def test_a_func_that_stays_a_function():
    @sv.func(is_real_function=True)
    def square(x: sv.i32) -> sv.i32:
        return x * x

    @sv.kernel
    def run(n: sv.i32) -> sv.i32:
        return square(n) + square(n + 1)

    assert run(3) == 25
    assert square.signature.options["outlined"]
