"""Sparse fields against Taichi and Quadrants: the same program in each, in turns, in processes of their own.

    python benchmarks/sparse.py [--rounds 5] [--programs mpm life lists poisson] [--libraries samovar taichi quadrants]

Times are milliseconds per step, of the processor (all threads) and elapsed: the minimum over rounds of the medians of steps.
Each round runs every library once. A checksum shows that all compute the same.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time

PROGRAMS = ("mpm", "life", "lists", "poisson")
LIBRARIES = ("samovar", "taichi", "quadrants")


def mpm(ti):
    """A block of particles on a grid of pointers, which is cleared in each step."""
    import numpy as np

    n_grid, n = 1024, 50_000
    dx, dt, volume, mass, stiffness = 1 / n_grid, 2e-5, (0.5 / n_grid) ** 2, (0.5 / n_grid) ** 2, 400.0
    x, v = ti.Vector.field(2, ti.f32, n), ti.Vector.field(2, ti.f32, n)
    C, J = ti.Matrix.field(2, 2, ti.f32, n), ti.field(ti.f32, n)
    grid_v, grid_m = ti.Vector.field(2, ti.f32), ti.field(ti.f32)
    block = ti.root.pointer(ti.ij, n_grid // 16)
    block.dense(ti.ij, 16).place(grid_m, grid_v)

    @ti.kernel
    def to_grid():
        for p in x:
            base = int(x[p] / dx - 0.5)
            fx = x[p] / dx - ti.cast(base, ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            stress = -dt * 4 * stiffness * volume * (J[p] - 1) / dx**2
            affine = ti.Matrix([[stress, 0], [0, stress]]) + mass * C[p]
            for i, j in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([i, j])
                weight = w[i].x * w[j].y
                grid_v[base + offset] += weight * (mass * v[p] + affine @ ((offset.cast(float) - fx) * dx))
                grid_m[base + offset] += weight * mass

    @ti.kernel
    def move_grid():
        for i, j in grid_m:
            if grid_m[i, j] > 0:
                grid_v[i, j] /= grid_m[i, j]
                grid_v[i, j].y -= dt * 9.8
                if j < 3 and grid_v[i, j].y < 0:
                    grid_v[i, j].y = 0

    @ti.kernel
    def to_particles():
        for p in x:
            base = int(x[p] / dx - 0.5)
            fx = x[p] / dx - ti.cast(base, ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            new_v, new_C = ti.Vector.zero(ti.f32, 2), ti.Matrix.zero(ti.f32, 2, 2)
            for i, j in ti.static(ti.ndrange(3, 3)):
                offset = ti.Vector([i, j])
                weight = w[i].x * w[j].y
                g_v = grid_v[base + offset]
                new_v += weight * g_v
                new_C += 4 * weight * g_v.outer_product((offset.cast(float) - fx) * dx) / dx**2
            v[p] = new_v
            x[p] += dt * v[p]
            J[p] *= 1 + dt * new_C.trace()
            C[p] = new_C

    x.from_numpy((np.random.default_rng(1).random((n, 2)) * 0.1 + 0.3).astype(np.float32))
    J.fill(1)

    def step():
        block.deactivate_all()
        to_grid()
        move_grid()
        to_particles()

    return step, lambda: float(x.to_numpy().mean())


def life(ti):
    """The game of life on a bitmask in pointers: live cells are the active ones of the field."""
    import numpy as np

    n = 2048
    count, alive = ti.field(ti.i32), ti.field(ti.i32)
    outer = ti.root.pointer(ti.ij, n // 32)
    outer.dense(ti.ij, 32).place(count, alive)
    start = ti.field(ti.i32, (200, 200))

    @ti.kernel
    def begin():
        for i, j in start:
            if start[i, j]:
                alive[i + 900, j + 900] = 1

    @ti.kernel
    def neighbors():
        for i, j in alive:
            if alive[i, j]:
                for a, b in ti.static(ti.ndrange(3, 3)):
                    if ti.static(a != 1 or b != 1):
                        count[i + a - 1, j + b - 1] += 1

    @ti.kernel
    def update():
        for i, j in alive:
            alive[i, j] = ti.cast(count[i, j] == 3 or (count[i, j] == 2 and alive[i, j] == 1), ti.i32)
            count[i, j] = 0

    start.from_numpy((np.random.default_rng(1).random((200, 200)) < 0.3).astype(np.int32))
    begin()

    def step():
        neighbors()
        update()

    @ti.kernel
    def living() -> ti.i32:
        total = 0
        for i, j in alive:
            total += alive[i, j]
        return total

    return step, lambda: float(living())


def lists(ti):
    """Points are sorted into lists, one per cell, and each reads the lists around it."""
    import numpy as np

    n, cells, most = 40_000, 64, 128
    point, near = ti.Vector.field(2, ti.f32, n), ti.field(ti.i32, n)
    member = ti.field(ti.i32)
    bins = ti.root.dense(ti.ij, cells).dynamic(ti.k, most, chunk_size=32)
    bins.place(member)

    @ti.kernel
    def sort():
        for p in point:
            at = int(point[p] * cells)
            ti.append(bins, [at.x, at.y], p)

    @ti.kernel
    def search():
        for p in point:
            at = int(point[p] * cells)
            found = 0
            for i in range(ti.max(at.x - 1, 0), ti.min(at.x + 2, cells)):
                for j in range(ti.max(at.y - 1, 0), ti.min(at.y + 2, cells)):
                    for k in range(ti.length(bins, [i, j])):
                        if (point[p] - point[member[i, j, k]]).norm() < 0.01:
                            found += 1
            near[p] = found

    point.from_numpy(np.random.default_rng(1).random((n, 2)).astype(np.float32))

    def step():
        bins.deactivate_all()
        sort()
        search()

    return step, lambda: float(near.to_numpy().sum())


def poisson(ti):
    """Relaxation with a coarse correction on a disk of blocks: a multigrid cycle of two levels."""
    n, sweeps = 1024, 4
    fields = []
    for size in (n, n // 2):
        u, f, r = ti.field(ti.f32), ti.field(ti.f32), ti.field(ti.f32)
        block = ti.root.pointer(ti.ij, size // 16)
        block.dense(ti.ij, 16).place(u, f, r)
        fields.append((u, f, r))
    (u, f, r), (cu, cf, _) = fields

    @ti.kernel
    def begin():
        for i, j in ti.ndrange(n, n):
            if (i - n / 2) ** 2 + (j - n / 2) ** 2 < (n / 4) ** 2:
                f[i, j] = 1.0
                cf[i // 2, j // 2] = 1.0

    @ti.kernel
    def relax(u: ti.template(), f: ti.template(), color: ti.i32):
        for i, j in f:
            if (i + j) % 2 == color:
                u[i, j] = 0.25 * (f[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])

    @ti.kernel
    def residual():
        for i, j in f:
            r[i, j] = f[i, j] - (4 * u[i, j] - u[i - 1, j] - u[i + 1, j] - u[i, j - 1] - u[i, j + 1])

    @ti.kernel
    def restrict():
        for i, j in cf:
            cf[i, j] = r[2 * i, 2 * j] + r[2 * i + 1, 2 * j] + r[2 * i, 2 * j + 1] + r[2 * i + 1, 2 * j + 1]
            cu[i, j] = 0

    @ti.kernel
    def prolong():
        for i, j in f:
            u[i, j] += cu[i // 2, j // 2]

    begin()

    def step():
        for color in range(2 * sweeps):
            relax(u, f, color % 2)
        residual()
        restrict()
        for color in range(2 * sweeps):
            relax(cu, cf, color % 2)
        prolong()

    @ti.kernel
    def total() -> ti.f32:
        found = 0.0
        for i, j in f:
            found += r[i, j] * r[i, j]
        return found

    return step, total


def measure(library: str, program: str, steps: int) -> dict[str, float]:
    ti = importlib.import_module(library)
    if library != "samovar":
        ti.init(arch=ti.cpu, log_level=ti.ERROR)
    step, checksum = globals()[program](ti)
    wait = getattr(ti, "sync", lambda: None)
    for _ in range(3):
        step()
    wait()
    elapsed, busy = [], []
    for _ in range(steps):
        begin, used = time.perf_counter(), time.process_time()
        step()
        wait()
        elapsed.append(time.perf_counter() - begin)
        busy.append(time.process_time() - used)
    return {"elapsed": 1e3 * statistics.median(elapsed), "busy": 1e3 * statistics.median(busy), "checksum": checksum()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--programs", nargs="+", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--libraries", nargs="+", default=LIBRARIES)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print("\n" + json.dumps(measure(*given.one, given.steps)))
        return
    print(f"{'program':10}{'library':12}{'busy ms':>10}{'elapsed ms':>12}{'checksum':>16}   ratio of busy to samovar's")
    for program in given.programs:
        found: dict[str, list[dict[str, float]]] = {library: [] for library in given.libraries}
        for _ in range(given.rounds):
            for library in given.libraries:
                command = [sys.executable, __file__, "--one", library, program, "--steps", str(given.steps)]
                done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
                if done.returncode:
                    sys.exit(f"{library} {program} failed:\n{done.stderr[-2000:]}")
                found[library].append(json.loads(done.stdout.strip().splitlines()[-1]))
        best = {library: min(each["busy"] for each in rows) for library, rows in found.items()}
        for library, rows in found.items():
            elapsed, checksum = min(each["elapsed"] for each in rows), rows[0]["checksum"]
            ratio = best[library] / best[given.libraries[0]]
            print(f"{program:10}{library:12}{best[library]:10.3f}{elapsed:12.3f}{checksum:16.6g}   {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
