"""Ufuncs made by `@sv.vectorize` beside Numba's and NumPy's own functions, on 20 functions, in processor time.

    NUMBA_NUM_THREADS=1 python benchmarks/ufuncs.py [--elements 100000] [--rounds 15] [--only hypot,clip]

One thread each; Numba's ufuncs are serial. Results are compared by numpy.testing before anything is timed: over
contiguous arrays, over broadcast shapes and over strided ones. Times are minima, in nanoseconds for each element, of calls
with `out=`; the last column is a call with two elements, in microseconds.
"""

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import samovar as sv

FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "add": (lambda x, y: x + y, np.add),
    "multiply": (lambda x, y: x * y, np.multiply),
    "divide": (lambda x, y: x / y, np.divide),
    "hypot": (lambda x, y: math.sqrt(x * x + y * y), np.hypot),
    "maximum": (lambda x, y: max(x, y), np.maximum),
    "minimum": (lambda x, y: min(x, y), np.minimum),
    "power": (lambda x, y: x**y, np.power),
    "arctan2": (lambda x, y: math.atan2(x, y), np.arctan2),
    "copysign": (lambda x, y: math.copysign(x, y), np.copysign),
    "logaddexp": (lambda x, y: max(x, y) + math.log1p(math.exp(-abs(x - y))), np.logaddexp),
    "sqrt": (lambda x: math.sqrt(x), np.sqrt),
    "exp": (lambda x: math.exp(x), np.exp),
    "log": (lambda x: math.log(x), np.log),
    "sin": (lambda x: math.sin(x), np.sin),
    "tanh": (lambda x: math.tanh(x), np.tanh),
    "floor": (lambda x: math.floor(x) * 1.0, np.floor),
    "square": (lambda x: x * x, np.square),
    "reciprocal": (lambda x: 1.0 / x, np.reciprocal),
    "relu": (lambda x: x if x > 1.0 else 0.0, lambda x, out=None: np.multiply(x, x > 1.0, out=out)),
    "logistic": (lambda x: 1.0 / (1.0 + math.exp(-x)), lambda x, out=None: np.divide(1.0, 1.0 + np.exp(-x), out=out)),
}


def operands(count: int, elements: int) -> list[list[np.ndarray]]:
    """Operands that are contiguous, broadcast and strided."""
    rng = np.random.default_rng(1)
    side = math.isqrt(elements)
    square = [rng.uniform(0.5, 2.0, (side, side)) for _ in range(count)]
    flat = [rng.uniform(0.5, 2.0, elements) for _ in range(count)]
    broadcast = [square[0], *(rng.uniform(0.5, 2.0, shape) for shape in [(side,)] * (count - 1))]
    return [flat, broadcast, [square[0].T, *(each[::-1] for each in square[1:])]]


def fastest(call: Callable[[], Any], rounds: int, repeats: int = 1) -> float:
    """The least processor time of a call, in seconds."""
    best = math.inf
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(repeats):
            call()
        best = min(best, (time.process_time() - begin) / repeats)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only")
    options = parser.parse_args()
    import numba

    sv.init(num_threads=1)
    arms = ("Samovar", "Numba", "NumPy")
    table = Table("function", *(f"{arm}, ns" for arm in arms), "over Numba", *(f"{arm}, µs" for arm in arms))
    for name in options.only.split(",") if options.only else FUNCTIONS:
        function, of_numpy = FUNCTIONS[name]
        calls = (sv.vectorize(function), numba.vectorize(function), of_numpy)
        count = function.__code__.co_argcount
        for given in operands(count, options.elements):
            expected = of_numpy(*given)
            for call in calls[:2]:
                np.testing.assert_allclose(call(*given), expected, rtol=1e-12)
        given, small = operands(count, options.elements)[0], operands(count, 2)[0]
        out, short = np.empty(options.elements), np.empty(2)
        each = [1e9 * fastest(partial(call, *given, out=out), options.rounds) / options.elements for call in calls]
        one = [1e6 * fastest(partial(call, *small, out=short), options.rounds, 500) for call in calls]
        numbers = (*(f"{x:.2f}" for x in each), f"{each[1] / each[0]:.2f}", *(f"{x:.2f}" for x in one))
        table.add_row(name, *numbers)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
