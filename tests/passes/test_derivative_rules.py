"""Each row of the table of derivative rules against central differences, in reverse and in forward mode."""

import numpy as np
import pytest

import samovar as sv
from samovar.passes.derivatives.rules import RULES

#: Operation → how a kernel writes it, with x and y between 0.3 and 0.9.
TEXTS = {
    "add": "x + y", "sub": "x - y", "mul": "x * y", "div": "x / y", "floordiv": "x // y + x", "mod": "(3.3 * x) % y",
    "fmod": "sv.math.fmod(3.3 * x, y)", "pow": "x ** y", "neg": "-x", "abs": "abs(x - 0.7)", "min": "sv.min(x, y)",
    "max": "sv.max(x, y)", "select": "sv.select(x > y, x * x, y)", "cast": "sv.cast(sv.cast(x, sv.f32), sv.f64)",
    "rsqrt": "sv.rsqrt(x)", "acosh": "sv.math.acosh(x + 1.2)", "atan2": "sv.atan2(x, y)",
    "hypot": "sv.math.hypot(x, y)", "copysign": "sv.math.copysign(x, y - 0.5)", "fma": "sv.math.fma(x, y, x)",
    "round": "sv.round(3 * x) + x",
    "detach": "(detach(sv.floor(y) + 5) if uses_surrogates() else 5) * x - y",
    "surrogate": "surrogate(x * x, 2 * detach(x) * x) if uses_surrogates() else x * x",
    **{name: f"sv.{name}(x)" for name in "sqrt sin cos tan asin acos atan sinh cosh tanh exp log floor ceil".split()},
    **{name: f"sv.math.{name}(x)" for name in "gamma lgamma".split()},
    **{name: f"sv.math.{name}(x)" for name in "asinh atanh exp2 expm1 log2 log10 log1p cbrt erf erfc trunc".split()},
}  # fmt: skip


def test_every_rule_is_tested():
    assert set(TEXTS) == set(RULES)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A kernel for each operation: out[i] = f(x[i], y[i])."""
    import importlib.util

    lines = ["import samovar as sv", "from samovar.language import detach, surrogate, uses_surrogates"]
    lines += ["A = sv.types.NDArray[sv.f64, 1]"]
    for name, text in TEXTS.items():
        lines += [
            "@sv.kernel", f"def {name}_(a: A, b: A, out: A):", "    for i in a:", "        x, y = a[i], b[i]",
            f"        out[i] = {text}",
        ]  # fmt: skip
    file = tmp_path_factory.mktemp("rules") / "rule_kernels.py"
    file.write_text("\n".join(lines) + "\n")
    spec = importlib.util.spec_from_file_location("rule_kernels", file)
    module = importlib.util.module_from_spec(spec)
    sv.init(default_fp=sv.f64)
    spec.loader.exec_module(module)
    yield module
    sv.reset()


@pytest.mark.parametrize("name", sorted(RULES))
def test_a_rule(name, kernels):
    kernel, count = getattr(kernels, f"{name}_"), 7
    a, b, out = (sv.ndarray(sv.f64, count, needs_grad=True) for _ in range(3))
    numbers = np.random.default_rng(len(name))
    inputs = [numbers.uniform(0.3, 0.9, count) for _ in range(2)]

    def value(*arrays):
        a.copy_from(arrays[0])
        b.copy_from(arrays[1])
        kernel(a, b, out)
        return out.to_numpy().copy()

    step = 3e-3 if name == "cast" else 1e-6
    tolerance = 1e-3 if name == "cast" else 1e-6
    for place, array in enumerate((a, b)):
        moved = [[each + by * step * (at == place) for at, each in enumerate(inputs)] for by in (1, -1)]
        expected = (value(*moved[0]) - value(*moved[1])) / (2 * step)
        value(*inputs)
        sv.ad.clear_all_gradients()
        out.grad.fill(1)
        kernel.grad(a, b, out)
        np.testing.assert_allclose(array.grad.to_numpy(), expected, rtol=tolerance, atol=tolerance)
        value(*inputs)
        tangents = [np.ones(count) * (at == place) for at in range(2)]
        _, found = sv.ad.jvp(lambda *_: (kernel(a, b, out), out)[1], [a, b], tangents)
        np.testing.assert_allclose(found.to_numpy(), expected, rtol=tolerance, atol=tolerance)


def test_gamma_functions_over_their_range():
    sv.init(default_fp=sv.f64)

    @sv.kernel
    def both(x: sv.types.NDArray[sv.f64, 1], y: sv.types.NDArray[sv.f64, 1], z: sv.types.NDArray[sv.f64, 1]):
        for i in x:
            y[i] = sv.math.lgamma(x[i])
            z[i] = sv.math.gamma(x[i])

    # The digamma function: of n it is the harmonic number of n - 1, less Euler's constant; at 1/2 and -3/2 it is known too.
    euler = 0.5772156649015328606
    points = [1.0, 2.0, 5.0, 40.0, 0.5, -1.5, 1e-3]
    half = -euler - 2 * np.log(2)
    known = [
        *(sum(1 / k for k in range(1, int(n))) - euler for n in points[:4]),
        half, half + 2 + 2 / 3, -1000.5755719318103,
    ]  # fmt: skip
    x, y, z = (sv.ndarray(sv.f64, len(points), needs_grad=True) for _ in range(3))
    x.copy_from(np.array(points))
    both(x, y, z)
    y.grad.fill(1)
    both.grad(x, y, z)
    np.testing.assert_allclose(x.grad.to_numpy(), known, rtol=1e-14, atol=1e-14)
    values = z.to_numpy().copy()
    sv.ad.clear_all_gradients()
    z.grad.fill(1)
    both.grad(x, y, z)
    np.testing.assert_allclose(x.grad.to_numpy(), values * known, rtol=1e-13)
    sv.reset()
