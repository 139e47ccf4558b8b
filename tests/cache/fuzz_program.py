"""Launches kernels again and again on a cache whose entries are forged: python fuzz_program.py FOLDER SEED TIMES.

Prints how many launches there were and how many compiled something, and ends with an error as soon as one raises, gives
another number, takes long, or takes much memory.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from forging import Forger

import samovar as sv

FACTOR = 3
MOST_SECONDS, MOST_BYTES = 20.0, 400 << 20


class Options:
    def __init__(self) -> None:
        self.scale = 2.5
        self.offsets = (1, 2, 4)
        self.name = "options"


GIVEN = Options()


@sv.func
def scaled(x):
    return x * GIVEN.scale + FACTOR


def kernels():
    """New ones each time, as a new process would have them."""

    @sv.kernel
    def one(a: sv.types.NDArray[sv.f32, 1], n: sv.i32) -> sv.i32:
        x = n * 5
        for i in a:
            a[i] = x
        return x + 1

    @sv.kernel
    def two(a: sv.types.ndarray(), b: sv.types.ndarray(), n: sv.i32) -> sv.f64:
        total = 0.0
        for i in a:
            a[i] = scaled(b[i]) + n + GIVEN.offsets[1]
        for i in a:
            total += a[i]
        return total

    @sv.kernel
    def three(a: sv.types.ndarray(), flag: sv.Template) -> tuple[sv.i32, sv.f32]:
        for i, j in a:
            if sv.static(flag):
                a[i, j] = i - j
            else:
                a[i, j] = i + j
        return 7, 0.5

    return one, two, three


def launch() -> None:
    """All kernels, for arguments of several kinds; every number is looked at."""
    one, two, three = kernels()
    a = np.zeros(9, np.float32)
    assert one(a, 2) == 11
    assert (a == 10).all()
    for dtype in (np.float32, np.float64, np.int64):
        a, b = np.zeros(40, dtype), np.arange(40).astype(dtype)
        total = two(a, b, 3)
        expected = (b.astype(np.float64) * 2.5 + 3 + 3 + 2).astype(dtype)
        assert (a == expected).all(), (a, expected)
        assert abs(total - expected.sum()) < 1e-3
    for flag in (True, False):
        a = np.zeros((3, 4), np.int32)
        assert three(a, flag) == (7, 0.5)
        assert (a == np.add.outer(np.arange(3), np.arange(4) * (-1 if flag else 1))).all()


def start(cache: Path) -> None:
    sv.init(offline_cache_file_path=str(cache), log_level="error")


def run(cache: Path, seed: int, times: int, counts: dict[str, int]) -> None:
    start(cache)
    launch()
    start(cache)
    launch()
    kinds = ("trees", "kernels", "code", "names")
    names = {path: path.read_bytes() for kind in kinds for path in cache.glob(f"v*/{kind}/*")}
    before = sv.compile_count()
    start(cache)
    launch()
    assert sv.compile_count() == before, "a warm launch compiles nothing"
    forger = Forger([(path.parent.name, path.name, content) for path, content in names.items()], seed)
    paths = list(names)
    for number in range(times):
        chosen = forger.random.sample(paths, forger.random.choice([1, 1, 1, 2, 4]))
        forged = {path: forger.forged(path.parent.name, path.name, names[path]) for path in chosen}
        for path, content in names.items():
            now = forged.get(path, content)
            if not path.exists() or path.read_bytes() != now:
                path.write_bytes(now)
                path.chmod(0o600)
        begun, compiled = time.perf_counter(), sv.compile_count()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            start(cache)
            launch()
        except BaseException:
            print("seed", seed, "number", number, [str(path) for path in chosen], file=sys.stderr)
            kept = cache.parent / "forged"
            kept.mkdir(exist_ok=True)
            for path, content in forged.items():
                (kept / f"{path.parent.name}-{path.name}").write_bytes(content)
            raise
        assert time.perf_counter() - begun < MOST_SECONDS, (seed, number)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < MOST_BYTES >> 10, (seed, number)
        counts["compiled"] += sv.compile_count() > compiled
        counts["launched"] += 1


if __name__ == "__main__":
    warnings.simplefilter("error")
    found = {"compiled": 0, "launched": 0}
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), found)
    print(found["launched"], found["compiled"])
