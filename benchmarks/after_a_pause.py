"""Do the workers of the pool take part at once after a pause, in which they fell asleep? Runs of launches, after a pause of
0.2 s and without one, in turns.

A run is a stream of launches, or one long launch with many tasks. `wall` is the median of what a run takes, `share` the
processor time over that (the number of threads that were at work), `alone` how many runs had less than 1.3 of them. On a
machine where others compute too, compare the rows of one table, and tables of several invocations.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import threads

import samovar as sv

Numbers = sv.types.NDArray[sv.f32, 1]


@sv.kernel
def work(x: Numbers, rounds: sv.i32):
    for i in x:
        v = x[i]
        for _ in range(rounds):
            v = v * 0.999 + 0.001
        x[i] = v


@sv.kernel(graph=True)
def steps(x: Numbers, rounds: sv.i32, left: sv.types.NDArray[sv.i32, 0]):
    while sv.graph.do_while(left):
        for i in x:
            v = x[i]
            for _ in range(rounds):
                v = v * 0.999 + 0.001
            x[i] = v
        left[None] -= 1


def launches(x: sv.Ndarray) -> None:
    """200 launches of about 150 µs."""
    for _ in range(200):
        work(x, 120)


def one_launch(x: sv.Ndarray) -> None:
    """The same in one launch."""
    left = sv.ndarray(sv.i32, ())
    left.fill(200)
    steps(x, 120, left)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--size", type=int, default=600_000)
    options = parser.parse_args()
    x = sv.ndarray(sv.f32, options.size)
    kinds: dict[str, Callable[[sv.Ndarray], None]] = {"launches": launches, "one launch": one_launch}
    print(f"{threads.THREADS} threads")
    print(f"{'run':12} {'pause':>6} {'wall ms':>9} {'share':>6} {'alone':>8}")
    for name, run in kinds.items():
        run(x)
        taken: dict[float, list[tuple[float, float]]] = {0.0: [], 0.2: []}
        for _ in range(options.runs):
            for pause, found in taken.items():
                time.sleep(pause)
                if not pause:
                    run(x)
                begin, used = time.perf_counter(), time.process_time()
                run(x)
                wall = time.perf_counter() - begin
                found.append((wall, (time.process_time() - used) / wall))
        for pause, found in taken.items():
            wall, share = (statistics.median(column) for column in zip(*found, strict=True))
            alone = sum(each < 1.3 for _, each in found)
            print(f"{name:12} {pause:6.1f} {wall * 1e3:9.2f} {share:6.2f} {alone:4} of {len(found)}")


if __name__ == "__main__":
    main()
