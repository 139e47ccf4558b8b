"""Pairs of particles: triangular sums, forces on both partners, histograms of distances, sums with exp."""

import math

import numpy as np
from problems import Array, Problem, filled

import samovar as sv
from throughput_kernels.entry import DOUBLE, Entry, posed, random_floats, side, zeros
from throughput_kernels.numba_names import prange

f32_1, f32_2 = (sv.types.NDArray[sv.f32, n] for n in (1, 2))
f64_2 = sv.types.NDArray[sv.f64, 2]
i32_1 = sv.types.NDArray[sv.i32, 1]
f32 = np.float32


def lattice(shape: tuple[int, ...], seed: int, dtype: str) -> Array:
    """Points near those of a lattice of step 1, shuffled, so that none are very close to each other."""
    points = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1).reshape(-1, len(shape)) + 0.5
    generator = np.random.default_rng(seed)
    points = points + generator.uniform(-0.2, 0.2, points.shape)
    return filled(generator.permutation(points).astype(dtype))


def apart(p: Array) -> tuple[Array, Array]:
    """The vectors from all points to all others, and the squares of their lengths (infinite for a point and itself)."""
    d = p[None, :, :].astype("f8") - p[:, None, :]
    square = (d**2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    return d, square


def pair_energy(scale: float) -> Problem:
    p = lattice((12, 12, side(scale, 8)), 1, "f4")
    n, cutoff = len(p), 9.0
    arrays = {name: filled(p[:, c]) for c, name in enumerate("xyz")} | {"energy": zeros(1)}

    def reference():
        inverse = 1 / apart(p)[1] ** 3
        return {"energy": np.array([np.where(inverse > cutoff**-3, 4 * inverse * (inverse - 1), 0).sum() / 2])}

    return posed("energy of pairs i < j", arrays, "energy", reference, {"n": n, "cutoff": cutoff}, relative=1e-3)


@sv.kernel
def sv_pair_energy(x: f32_1, y: f32_1, z: f32_1, energy: f32_1, cutoff: sv.f32):
    energy[0] = 0.0
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz
            if square < cutoff:
                inverse = 1.0 / (square * square * square)
                energy[0] += 4.0 * inverse * (inverse - 1.0)


def nb_pair_energy(x, y, z, energy, cutoff):
    total = f32(0)
    for i in prange(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz
            if square < cutoff:
                inverse = f32(1) / (square * square * square)
                total += f32(4) * inverse * (inverse - f32(1))
    energy[0] = total


def pair_forces(scale: float) -> Problem:
    p = lattice((8, 8, side(scale, 8)), 2, "f8")
    n, force = len(p), zeros(p.shape, "f8")

    def reference():
        d, square = apart(p)
        inverse = 1 / square
        return {"force": (d * (24 * inverse**4 * (1 - 2 * inverse**3))[:, :, None]).sum(axis=1)}

    return posed("forces of pairs i < j, serial", {"p": p, "force": force}, "force", reference, {"n": n}, **DOUBLE)


@sv.kernel(serial=True)
def sv_pair_forces(p: f64_2, force: f64_2):
    for i in range(p.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
    for i in range(p.shape[0]):
        for j in range(i + 1, p.shape[0]):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            inverse = 1.0 / (dx * dx + dy * dy + dz * dz)
            cube = inverse * inverse * inverse
            factor = 24.0 * cube * inverse * (1.0 - 2.0 * cube)
            force[i, 0] += factor * dx
            force[i, 1] += factor * dy
            force[i, 2] += factor * dz
            force[j, 0] -= factor * dx
            force[j, 1] -= factor * dy
            force[j, 2] -= factor * dz


def nb_pair_forces(p, force):
    for i in range(p.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
    for i in range(p.shape[0]):
        for j in range(i + 1, p.shape[0]):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            inverse = 1.0 / (dx * dx + dy * dy + dz * dz)
            cube = inverse * inverse * inverse
            factor = 24.0 * cube * inverse * (1.0 - 2.0 * cube)
            force[i, 0] += factor * dx
            force[i, 1] += factor * dy
            force[i, 2] += factor * dz
            force[j, 0] -= factor * dx
            force[j, 1] -= factor * dy
            force[j, 2] -= factor * dz


def softened(scale: float) -> Problem:
    p = lattice((8, 8, side(scale, 6)), 3, "f4")
    n, mass, force = len(p), random_floats(0.5, 1, len(p), 4), zeros(p.shape)

    def reference():
        d, square = apart(p)
        return {"force": (d * (mass / (square + 0.01) ** 1.5)[:, :, None]).sum(axis=1)}

    arrays = {"p": p, "mass": mass, "force": force}
    return posed("n-body, loops over x y z", arrays, "force", reference, {"n": n}, absolute=1e-3)


@sv.kernel
def sv_softened(p: f32_2, mass: f32_1, force: f32_2):
    for i in range(p.shape[0]):
        for c in range(3):
            force[i, c] = 0.0
        for j in range(p.shape[0]):
            if i != j:
                square = 0.01
                for c in range(3):
                    square += (p[j, c] - p[i, c]) * (p[j, c] - p[i, c])
                factor = mass[j] / (square * sv.sqrt(square))
                for c in range(3):
                    force[i, c] += factor * (p[j, c] - p[i, c])


def nb_softened(p, mass, force):
    for i in prange(p.shape[0]):
        for c in range(3):
            force[i, c] = 0
        for j in range(p.shape[0]):
            if i != j:
                square = f32(0.01)
                for c in range(3):
                    square += (p[j, c] - p[i, c]) * (p[j, c] - p[i, c])
                factor = mass[j] / (square * np.sqrt(square))
                for c in range(3):
                    force[i, c] += factor * (p[j, c] - p[i, c])


def pair_distances(scale: float) -> Problem:
    p = lattice((8, 8, side(scale, 8)), 5, "f4")
    n, bins = len(p), 64
    counts = zeros(bins, "i4")

    def reference():
        distance = np.sqrt(apart(p)[1])
        return {"counts": np.histogram(distance, bins, (0, 8))[0] // 2}

    scalars = {"n": n, "bins": bins}
    arrays = {"p": p, "counts": counts}
    return posed("histogram of distances", arrays, "counts", reference, scalars, relative=0.02, absolute=2)


@sv.kernel
def sv_pair_distances(p: f32_2, counts: i32_1):
    for b in range(counts.shape[0]):
        counts[b] = 0
    for i in range(p.shape[0]):
        for j in range(i + 1, p.shape[0]):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            distance = sv.sqrt(dx * dx + dy * dy + dz * dz)
            if distance < 8.0:
                counts[sv.i32(8.0 * distance)] += 1


def nb_pair_distances(p, counts):
    total = np.zeros(counts.shape[0], np.int32)
    for i in range(p.shape[0]):
        for j in range(i + 1, p.shape[0]):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            distance = np.sqrt(dx * dx + dy * dy + dz * dz)
            if distance < f32(8):
                total[int(f32(8) * distance)] += 1
    counts[:] = total


def gaussian_sums(scale: float) -> Problem:
    n, samples = max(8, int(scale * 512)), 512
    at, out = random_floats(0, 1, n, 7), zeros(n)
    x, weight = random_floats(0, 1, samples, 8), random_floats(0, 1, samples, 9)
    reference = lambda: {"out": np.exp(-50.0 * (at[:, None] - x) ** 2) @ weight}  # noqa: E731
    arrays = {"at": at, "x": x, "weight": weight, "out": out}
    return posed("density, sums of exp", arrays, "out", reference, {"n": n, "samples": samples})


@sv.kernel
def sv_gaussian_sums(at: f32_1, x: f32_1, weight: f32_1, out: f32_1):
    for i in range(at.shape[0]):
        total = 0.0
        for j in range(x.shape[0]):
            d = at[i] - x[j]
            total += weight[j] * sv.exp(-50.0 * d * d)
        out[i] = total


def nb_gaussian_sums(at, x, weight, out):
    for i in prange(at.shape[0]):
        total = f32(0)
        for j in range(x.shape[0]):
            d = at[i] - x[j]
            total += weight[j] * math.exp(f32(-50) * d * d)
        out[i] = total


ENTRIES = {
    "pair_energy": Entry(
        pair_energy, "x y z energy float:cutoff int:n", "x y z energy cutoff", sv_pair_energy, nb_pair_energy
    ),
    "pair_forces": Entry(pair_forces, "p force int:n", "p force", sv_pair_forces, nb_pair_forces, serial=True),
    "softened": Entry(softened, "p mass force int:n", "p mass force", sv_softened, nb_softened),
    "pair_distances": Entry(pair_distances, "p counts int:n int:bins", "p counts", sv_pair_distances, nb_pair_distances),
    "gaussian_sums": Entry(
        gaussian_sums, "at x weight out int:n int:samples", "at x weight out", sv_gaussian_sums, nb_gaussian_sums
    ),
}
