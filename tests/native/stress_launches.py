"""Launches from many threads while arrays, kernels and specializations come and go; `make stress` and `make tsan` run it.

Checks that every result is right and that memory does not grow.
"""

from __future__ import annotations

import gc
import random
import sys
import threading
from pathlib import Path

import numpy as np
from image_from_c import image_from_c

from samovar._native import Kernel, Ndarray, Specialization, f32, f64, pool_statistics, set_threads

LAUNCHERS, LAUNCHES, ROUNDS = 8, 10_000, 3

SOURCE = """
struct frame { void *context; TYPE *x; TYPE *y; };
static void add(void *pointer, int64_t begin, int64_t end)
{
    struct frame *frame = pointer;
    for (int64_t i = begin; i < end; i++) frame->x[i] += frame->y[i];
    if (begin == 0) { uint64_t value = end; sv_print(frame->context, 0, &value); }
}
int32_t samovar_entry(void *context, int64_t *block)
{
    struct frame frame = {context, (TYPE *)block[0], (TYPE *)block[2]};
    TYPE *scratch = sv_scratch(context, 1000);
    if (!scratch) return 1;
    scratch[0] = 1;
    return sv_run(context, 0, add, &frame, block[1], 1);
}
"""


def add(x, y):
    pass


class Pair:
    """Arrays behind a property, made anew at each reading."""

    def __init__(self, size: int) -> None:
        self.x = Ndarray(f32, size)

    @property
    def y(self) -> np.ndarray:
        return np.ones(self.x.size, np.float32)


def program(dtype) -> list[tuple]:
    array = (dtype, 1, True, *[False] * 8)
    loads = [("parameter", 0, 0), ("parameter", 1, 1), ("tensor", 0, *array, True), ("tensor", 1, *array, False)]
    return [*loads, ("disjoint", (0,), (0, 1), True), ("array", 0, 0, False), ("array", 1, 16, False)]


def method_program() -> list[tuple]:
    array = (f32, 1, True, *[False] * 8)
    loads = [("parameter", 0, 0), ("attribute", 1, 0, "x"), ("attribute", 2, 0, "y")]
    guards = [("tensor", 1, *array, True), ("tensor", 2, *array, False)]
    return [*loads, *guards, ("array", 1, 0, False), ("array", 2, 16, False)]


def specialize(dtype, steps: list[tuple]) -> Specialization:
    image = image_from_c(SOURCE.replace("TYPE", {"f32": "float", "f64": "double"}[dtype.name]))
    return Specialization(image, steps, 3, 32, tasks=[("add", 20.0, 1)], sites=(1,), speak=len)


def resolve(kernel: Kernel, arguments: tuple) -> Specialization:
    dtype = f64 if "64" in str(arguments[0].dtype) else f32
    return specialize(dtype, program(dtype))


shared = Kernel(add, ("x", "y"), {}, resolve)
Pair.add = Kernel(add, ("self",), {}, lambda kernel, arguments: specialize(f32, method_program()))


def launch_many(seed: int, launches: int, wrong: list[str]) -> None:
    dice = random.Random(seed)
    for _ in range(launches):
        size = dice.choice((1, 16, 100, 3000))
        choice = dice.randrange(8)
        if choice < 3:
            x, y = Ndarray(f32, size), np.ones(size, np.float32)
            shared(x, y)
        elif choice < 6:
            x, y = np.zeros(size), np.ones(size)
            shared(y=y, x=x)
        elif choice < 7:
            pair = Pair(size)
            pair.add()
            x = pair.x
        else:
            own = Kernel(add, ("x", "y"), {}, resolve)
            x, y = np.zeros(size, np.float32), Ndarray(f32, size)
            y.fill(1)
            own(x, y)
        if not (np.asarray(x) == 1).all():
            wrong.append(f"{choice} {size}")
        if dice.randrange(500) == 0:
            shared.clear()


def resident() -> int:
    """Kilobytes of memory in use."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    raise LookupError("VmRSS")


def stress(launches: int) -> list[str]:
    wrong: list[str] = []
    per_thread = launches // LAUNCHERS
    threads = [threading.Thread(target=launch_many, args=(seed, per_thread, wrong)) for seed in range(LAUNCHERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    return wrong


def main() -> int:
    set_threads(4)
    sizes = []
    for _ in range(ROUNDS):
        wrong = stress(LAUNCHES)
        if wrong:
            print(f"{len(wrong)} wrong results: {wrong[:10]}")
            return 1
        sizes.append(resident())
    print(f"{ROUNDS} x {LAUNCHES} launches from {LAUNCHERS} threads; resident kB after each round: {sizes}")
    print(pool_statistics())
    return int(sizes[-1] > sizes[-2] + 4096)  # the first round warms caches up


if __name__ == "__main__":
    sys.exit(main())
