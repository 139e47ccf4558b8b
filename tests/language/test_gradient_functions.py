"""Derivatives of all functions of `sv.math` and of matrices, against central differences: both modes, f32 and f64."""

import importlib.util
import types

import numpy as np
import pytest

import samovar as sv

#: Functions whose results are integers or types, or that have no arguments.
NOT_REAL = set(
    "e pi inf nan clz ffs fns popcnt isinf isnan ivec2 ivec3 ivec4 uvec2 uvec3 uvec4 eye vec2 vec3 vec4".split()
    + "mat2 mat3 mat4".split()
)
#: x and y are numbers, u, v, w vectors of 3, p, q of 2, r, s of 4, a, b 2x2, c, d 3x3 and f 4x4 matrices.
MATH = {
    "acos": "acos(x)", "acosh": "acosh(1.5 + x)", "asin": "asin(x)", "asinh": "asinh(u)", "atan": "atan(u)",
    "atan2": "atan2(u, v)", "atanh": "atanh(x)", "cbrt": "cbrt(u)", "cconj": "cconj(p)", "cdiv": "cdiv(p, q)",
    "ceil": "ceil(u) * u", "cexp": "cexp(p)", "cinv": "cinv(p)", "clamp": "clamp(u, 0.4, 0.7)", "clog": "clog(p)",
    "cmul": "cmul(p, q)", "copysign": "copysign(u, -v)", "cos": "cos(c)", "cosh": "cosh(u)", "cpow": "cpow(p, 2.5)",
    "cross": "cross(u, v)", "csqrt": "csqrt(p)", "degrees": "degrees(u)", "determinant": "determinant(c)",
    "distance": "distance(u, v)", "dot": "dot(u, v)", "erf": "erf(u)", "erfc": "erfc(u)", "exp": "exp(u)",
    "exp2": "exp2(u)", "expm1": "expm1(u)", "floor": "floor(u) + u", "fma": "fma(u, v, w)", "fmod": "fmod(5 * u, v)",
    "fract": "fract(3 * u)", "gamma": "gamma(u)", "hypot": "hypot(u, v)", "inverse": "inverse(c)", "length": "length(u)",
    "lgamma": "lgamma(u)", "log": "log(u)", "log10": "log10(u)", "log1p": "log1p(u)", "log2": "log2(u)",
    "max": "max(u, v)", "min": "min(u, v)", "mix": "mix(u, v, x)", "mod": "mod(5 * u, v)", "normalize": "normalize(u)",
    "pow": "pow(u, v)", "quat_conjugate": "quat_conjugate(r)", "quat_from_axis_angle": "quat_from_axis_angle(u, x)",
    "quat_mul": "quat_mul(r, s)", "quat_rotate": "quat_rotate(r, u)", "quat_to_matrix": "quat_to_matrix(r)",
    "radians": "radians(u)", "reflect": "reflect(u, v)", "refract": "refract(u, v, 0.3)", "rot_by_axis": "rot_by_axis(u, x)",
    "rot_yaw_pitch_roll": "rot_yaw_pitch_roll(x, y, x * y)", "rotation2d": "rotation2d(x)",
    "rotation3d": "rotation3d(x, y, x * y)", "round": "round(u) + u", "rsqrt": "rsqrt(u)", "scale": "scale(x, y, x * y)",
    "sign": "sign(u) * u", "sin": "sin(u)", "sinh": "sinh(u)", "smoothstep": "smoothstep(0.1, 1.4, u)", "sqrt": "sqrt(u)",
    "step": "step(0.5, u) * u", "tan": "tan(u)", "tanh": "tanh(u)", "translate": "translate(x, y, x * y)",
    "trunc": "trunc(3 * u) * u", "vdir": "vdir(x)",
}  # fmt: skip
MATRICES = {
    "products": "c @ d + c * d + c @ d.transpose()", "matrix by vector": "c @ u", "vector by matrix": "u @ c",
    "inverse 2": "a.inverse()", "inverse 3": "c.inverse()", "inverse 4": "f.inverse()", "determinant 2": "a.determinant()",
    "determinant 3": "c.determinant()", "determinant 4": "f.determinant()", "trace": "(c @ c).trace() * u",
    "norm": "u.norm() * v", "norm of a matrix": "c.norm() * u", "norm with eps": "u.norm(1e-2) * v",
    "norm_inv": "u.norm_inv() * v", "norm_sqr": "u.norm_sqr() * v", "normalized": "u.normalized()",
    "outer_product": "u.outer_product(v)", "cross": "u.cross(v)", "dot": "u.dot(v) * w", "sum": "c.sum() * u",
    "max": "c.max() * u", "min": "c.min() * u", "frobenius_inner": "c.frobenius_inner(d) * u",
    "diag": "sv.Matrix.diag(3, x) @ c", "cast": "sv.cast(c, sv.f64)", "power": "c ** 3", "division": "c / d",
    "solve 2": "sv.solve(a, p)", "solve 3": "sv.solve(c, u)", "polar 2": "sv.polar_decompose(a)[0]",
    "polar, symmetric 2": "sv.polar_decompose(a)[1]", "polar 3": "sv.polar_decompose(c)[0]",
    "polar, symmetric 3": "sv.polar_decompose(c)[1]", "svd, values 2": "sv.svd(a)[1]", "svd, values 3": "sv.svd(c)[1]",
    "svd, left 2": "sv.svd(a)[0] @ sv.svd(a)[0].transpose() * x + sv.svd(a)[0] @ sv.svd(a)[1]",
    "svd, left 3": "sv.svd(c)[0] @ sv.svd(c)[1]", "svd, right 3": "sv.svd(c)[1] @ sv.svd(c)[2].transpose()",
    "svd, product 3": "sv.svd(c)[0] @ sv.svd(c)[2].transpose()", "eig, values": "sv.eig(a + a.transpose())[0]",
    "sym_eig 2": "sv.sym_eig(a + a.transpose())[0]", "sym_eig 3": "sv.sym_eig(c + c.transpose())[0]",
    "sym_eig, vectors 3": "part(sv.sym_eig(c + c.transpose())[1])",
    "sym_eig, vectors 2": "part(sv.sym_eig(a + a.transpose())[1])",
}  # fmt: skip
TEXTS = {**{f"math.{name}": f"sv.math.{text}" for name, text in MATH.items()}, **MATRICES}

HEAD = """import samovar as sv
@sv.func
def part(m):
    # entries of the first eigenvector times each other: its sign does not matter
    return sv.Vector([m[0, 0] * m[0, 0], m[0, 0] * m[1, 0], m[1, 0] * m[1, 0]])
"""
BODY = """@sv.kernel
def {name}(z: sv.types.NDArray[sv.{dtype}, 1], k: sv.types.NDArray[sv.{dtype}, 1], out: sv.types.NDArray[sv.{dtype}, 0]):
    for _ in range(1):
        x, y = z[0], z[1]
        u = sv.Vector([z[2], z[3], z[4]])
        v = sv.Vector([z[5], z[6], z[7]])
        w = sv.Vector([z[8], z[0], z[3]])
        p = sv.Vector([z[1], z[2]])
        q = sv.Vector([z[3], z[5]])
        r = sv.Vector([z[4], z[6], z[8], z[1]])
        s = sv.Vector([z[7], z[0], z[2], z[3]])
        a = sv.Matrix([[1.5 + z[0], z[1]], [z[2], 0.5 + z[3]]])
        b = a
        c = sv.Matrix([[1.7 + z[0], z[1], z[2]], [z[3], 1.1 + z[4], z[5]], [z[6], z[7], 0.2 + z[8]]])
        d = sv.Matrix([[z[4], z[5], z[1]], [z[8], z[0], z[2]], [z[3], z[6], z[7]]])
        f = sv.Matrix([[2 + z[0], z[1], z[2], z[3]], [z[4], 2 + z[5], z[6], z[7]], [z[8], z[0], 3 + z[1], z[2]],
                       [z[5], z[7], z[3], 1.5 + z[4]]])
        {statement}
"""


SUMS = {
    0: "out[None] += k[0] * found",
    1: "for i in sv.static(range(found.n)):\n            out[None] += k[i] * found[i]",
    2: (
        "for i, j in sv.static(sv.ndrange(found.n, found.m)):\n"
        "            out[None] += k[(3 * i + j) % 9] * found[i, j]"
    ),
}


def rank(text: str) -> int:
    """The number of dimensions of a result, as Python computes it."""
    number = dict(zip("xyz", (0.6, 0.4, 0.2), strict=True))
    vectors = {
        name: sv.Vector([0.6, 0.4, 0.3, 0.2][:size])
        for names, size in (("uvw", 3), ("pq", 2), ("rs", 4))
        for name in names
    }
    matrices = {
        name: sv.Matrix([[0.1 + (i == j) + 0.1 * i for j in range(size)] for i in range(size)])
        for names, size in (("ab", 2), ("cd", 3), ("f", 4))
        for name in names
    }
    if text.startswith("part"):
        return 1
    found = eval(text, {"sv": sv, **number, **vectors, **matrices})
    return len(found.shape) if hasattr(found, "shape") else 0


def is_real(name: str) -> bool:
    return name not in NOT_REAL and not isinstance(getattr(sv.math, name), types.ModuleType)


def test_every_function_is_here():
    assert {name for name in sv.math.__all__ if is_real(name)} == set(MATH)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    lines = [HEAD]
    for number, text in enumerate(TEXTS.values()):
        for dtype in ("f32", "f64"):
            statement = f"found = {text.replace('sv.f64', 'sv.' + dtype)}\n        {SUMS[rank(text)]}"
            lines.append(BODY.format(name=f"{dtype}_{number}", dtype=dtype, statement=statement))
    file = tmp_path_factory.mktemp("functions") / "function_kernels.py"
    file.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location("function_kernels", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


INPUT = np.array([0.62, 0.43, 0.71, 0.32, 0.55, 0.87, 0.24, 0.48, 0.66])
WEIGHTS = np.array([1.3, -0.7, 0.4, 0.9, -1.1, 0.6, 0.2, 1.7, -0.3])


def arrays(dtype):
    z, k, out = (sv.ndarray(getattr(sv, dtype), shape, needs_grad=True) for shape in (9, 9, ()))
    z.from_numpy(INPUT.astype(z.to_numpy().dtype))
    k.from_numpy(WEIGHTS.astype(z.to_numpy().dtype))
    return z, k, out


@pytest.mark.parametrize("name", TEXTS)
def test_a_function(name, kernels):
    number = list(TEXTS).index(name)
    options = {dtype: getattr(sv, dtype) for dtype in ("f64", "f32")}
    gradients = {}
    for dtype, default in options.items():
        sv.init(default_fp=default)
        kernel = getattr(kernels, f"{dtype}_{number}")
        z, k, out = arrays(dtype)
        with sv.ad.Tape(out):
            kernel(z, k, out)
        gradients[dtype] = z.grad.to_numpy().astype(float)
        if dtype == "f32":
            continue
        expected = np.zeros(9)
        for place in range(9):
            values = []
            for by in (1e-6, -1e-6):
                moved = INPUT.copy()
                moved[place] += by
                z.from_numpy(moved)
                out.fill(0)
                kernel(z, k, out)
                values.append(out[None])
            expected[place] = (values[0] - values[1]) / 2e-6
        z.from_numpy(INPUT)
        size = max(1, np.abs(expected).max())
        np.testing.assert_allclose(gradients["f64"], expected, rtol=2e-7, atol=2e-8 * size)
        seed = np.linspace(-1, 1, 9)
        out.fill(0)
        with sv.ad.FwdMode(loss=out, param=z, seed=seed):
            kernel(z, k, out)
        np.testing.assert_allclose(out.dual[None], gradients["f64"] @ seed, rtol=1e-10, atol=1e-12 * size)
    np.testing.assert_allclose(gradients["f32"], gradients["f64"], rtol=2e-3, atol=2e-4 * size)
    sv.reset()


def test_kinks():
    """As in Quadrants and Taichi."""
    sv.init(default_fp=sv.f64)
    x, y = (sv.ndarray(sv.f64, count, needs_grad=True) for count in (2, 7))

    @sv.kernel
    def run(x: sv.types.NDArray[sv.f64, 1], y: sv.types.NDArray[sv.f64, 1]):
        for _ in range(1):
            y[0] = sv.max(x[0], x[1])
            y[1] = sv.min(x[0], x[1])
            y[2] = abs(x[0])
            y[3] = sv.math.clamp(x[0], 0.0, 1.0)
            y[4] = sv.math.clamp(x[0], -1.0, 0.0)
            y[5] = sv.select(x[0] >= x[1], x[0], x[1])
            y[6] = x[0] ** 2.0

    run(x, y)
    found = []
    for place in range(7):
        sv.ad.clear_all_gradients()
        y.grad[place] = 1
        run.grad(x, y)
        found.append(x.grad.to_numpy().tolist())
    assert found == [[0, 1], [0, 1], [0, 0], [1, 0], [1, 0], [1, 0], [0, 0]]

    @sv.kernel
    def root(x: sv.types.NDArray[sv.f64, 1], y: sv.types.NDArray[sv.f64, 1]):
        for i in x:
            y[i] = sv.sqrt(x[i])

    sv.ad.clear_all_gradients()
    y.grad.fill(1)
    root.grad(x, y)
    assert x.grad.to_numpy().tolist() == [np.inf, np.inf]
    sv.reset()
