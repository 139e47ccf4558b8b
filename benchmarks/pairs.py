"""Timing of contenders in interleaved rounds: ratios of each round, a median and its interval.

A round runs every contender once, in an order that is shuffled anew, so that drift of the machine falls on all of
them alike and the ratio of two contenders is always taken within one round.
"""

import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

Run = Callable[[], None]
Timed = Callable[[int], float]  # runs something so many times and says how many seconds that took

# After a run, OpenMP workers spin for some milliseconds on the core that the next contender needs.
PAUSE_SECONDS = 0.010
SAMPLE_SECONDS = 0.015
RESAMPLES = 2000


@dataclass(frozen=True)
class Ratio:
    """The median of the ratios of all rounds and its 95 % bootstrap interval."""

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} [{self.low:.2f}, {self.high:.2f}]"


def loop(run: Run, clock: Callable[[], float] = time.perf_counter) -> Timed:
    """The runs of a call without arguments: one untimed to warm the caches, then as many timed as are asked for."""

    def timed(count: int) -> float:
        run()
        begin = clock()
        for _ in range(count):
            run()
        return clock() - begin

    return timed


def repetitions(timed: Timed, sample_seconds: float) -> int:
    """How many runs fill one sample; the first run, which may compile, does not count."""
    timed(1)
    count = 1
    while True:
        taken = timed(count)
        if taken >= sample_seconds / 4:
            return max(1, round(count * sample_seconds / taken))
        count *= 4


def interleave(
    contenders: dict[str, Timed],
    rounds: int,
    pause_seconds: float = PAUSE_SECONDS,
    sample_seconds: float = SAMPLE_SECONDS,
) -> dict[str, list[float]]:
    """Seconds per run of each contender in each round."""
    order = list(contenders)
    counts = {name: repetitions(timed, sample_seconds) for name, timed in contenders.items()}
    taken: dict[str, list[float]] = {name: [] for name in order}
    shuffle = random.Random(0).shuffle
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            time.sleep(pause_seconds)
            taken[name].append(contenders[name](counts[name]) / counts[name])
    return taken


def ratio(numerator: list[float], denominator: list[float]) -> Ratio:
    """The ratio of two contenders, round by round."""
    ratios = [above / below for above, below in zip(numerator, denominator, strict=True)]
    pick = random.Random(0)
    medians = sorted(statistics.median(pick.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return Ratio(statistics.median(ratios), medians[RESAMPLES // 40], medians[-1 - RESAMPLES // 40])
