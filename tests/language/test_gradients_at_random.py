"""Reverse mode against forward mode on programs made at random: ⟨J v, w⟩ = ⟨v, Jᵀ w⟩, and the arrays stay as they were.

Without fast_math, both modes compute the same values bit by bit. So their derivatives are those of one point, and differ by
rounding, however chaotic a program is. With it, programs with large derivatives would give two of them.
"""

import importlib.util
import random

import numpy as np
import pytest
from tests.language.gradient_programs import ARRAYS, SIZE, program

import samovar as sv


@pytest.fixture(autouse=True)
def exact():
    sv.init(default_fp=sv.f64, fast_math=False)
    yield
    sv.reset()


class Program:
    """A program made at random, and where it is differentiated."""

    def __init__(self, seed, folder, real="f64"):
        file = folder / f"gradient_program_{seed}.py"
        file.write_text(program(seed, real))
        spec = importlib.util.spec_from_file_location(file.stem, file)
        self.module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        self.arrays = [eval(name, vars(self.module)) for name in ARRAYS]
        numbers = np.random.default_rng(seed)
        self.start, self.v, self.w = (
            [numbers.uniform(-1, 1, each.to_numpy().shape).astype(real.replace("f", "float")) for each in self.arrays]
            for _ in range(3)
        )
        self.integers = [numbers.integers(0, most, SIZE, np.int32) for most in (SIZE, 5)]

    def put(self, values, arrays=None):
        for array, value in zip(arrays or self.arrays, values, strict=True):
            array.from_numpy(value)

    def begin(self, values):
        """Before a run."""
        self.put(values)
        self.put(self.integers, [self.module.order, self.module.length])

    def reverse(self):
        """⟨v, Jᵀ w⟩ by a tape."""
        self.begin(self.start)
        with sv.ad.Tape() as tape:
            self.module.run()
        after = [each.to_numpy().copy() for each in self.arrays]
        self.put(self.w, [each.grad for each in self.arrays])
        tape.backward()
        assert all(np.array_equal(each.to_numpy(), old, True) for each, old in zip(self.arrays, after, strict=True))
        found = [each.grad.to_numpy().astype(float) for each in self.arrays]
        return sum(float(np.sum(each * v)) for each, v in zip(found, self.v, strict=True))

    def forward(self):
        """⟨J v, w⟩ by forward mode, and how large the terms of this sum are."""
        self.begin(self.start)
        _, tangents = sv.ad.jvp(lambda *_: (self.module.run(), self.arrays)[1], self.arrays, self.v)
        terms = [each.to_numpy().astype(float) * w for each, w in zip(tangents, self.w, strict=True)]
        return sum(float(np.sum(each)) for each in terms), sum(float(np.abs(each).sum()) for each in terms)

    def value(self, by):
        """⟨w, f(x + by · v)⟩."""
        self.begin([x + by * v for x, v in zip(self.start, self.v, strict=True)])
        self.module.run()
        return sum(float(np.sum(each.to_numpy() * w)) for each, w in zip(self.arrays, self.w, strict=True))


def require_agreement(made, tolerance):
    forward, size = made.forward()
    reverse = made.reverse()
    assert not np.isfinite(forward) or abs(forward - reverse) <= tolerance * (1e-3 + size), (forward, reverse, size)
    return forward


def require_differences(made, forward):
    """Differences agree with the derivative, unless those to both sides, or of two steps, differ: there is a kink."""
    here, step = made.value(0), 1e-6
    rising, falling = (made.value(step) - here) / step, (here - made.value(-step)) / step
    fine, coarse = (rising + falling) / 2, (made.value(2 * step) - made.value(-2 * step)) / (4 * step)
    scale = 1 + abs(fine)
    if abs(coarse - fine) < 1e-7 * scale and abs(rising - falling) < 1e-3 * scale:
        assert abs(forward - fine) < 1e-5 * scale, (forward, fine, coarse)
        return 1
    return 0


@pytest.mark.parametrize("seed", range(8))
def test_both_modes_and_differences_agree_on_programs_at_random(seed, tmp_path):
    made = Program(seed, tmp_path)
    require_differences(made, require_agreement(made, 1e-10))


def test_both_modes_agree_in_single_precision(tmp_path):
    sv.init(fast_math=False)
    require_agreement(Program(3, tmp_path, "f32"), 1e-4)


@pytest.mark.stress
@pytest.mark.timeout(0)
def test_both_modes_agree_on_many_programs(tmp_path):
    smooth = refused = 0
    for seed in random.Random(1).sample(range(10**6), 3000):
        try:
            made = Program(seed, tmp_path)
            smooth += require_differences(made, require_agreement(made, 1e-9))
        except BaseException as error:
            if isinstance(error, sv.SamovarCompilationError) and "iterations share what `min` updates here" in str(error):
                refused += 1  # as the guide says
                continue
            error.add_note(f"seed {seed}")
            raise
    assert smooth > 1500
    assert refused < 60
