"""What a fingerprint costs, compared with other libraries in one run.

    python benchmarks/fingerprint.py [--rounds 7] [--quick]

The other libraries are not dependencies of Samovar. Those that are not installed are skipped, and the report says so. To
compare all of them, create an environment for the benchmark:

    python3 -m venv .venv-bench
    .venv-bench/bin/python -m pip install . numpy joblib gt4py==1.1.12
    .venv-bench/bin/python benchmarks/fingerprint.py

How it is measured: every round runs each contender once, one after the other, so that a busy machine slows all of them
down alike; ratios are taken within a round, and the median over the rounds is reported with the smallest and the
largest. Garbage collection is off while a clock runs. The tree is what a compiler holds: 20,000 small frozen
dataclasses, of which some are operations, some are constants, references and types, and every one of them but the types
has a location.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import hashlib
import pickle
import statistics
import time
from collections.abc import Callable
from typing import Any

from samovar.fingerprint import stable_fingerprinter


@dataclasses.dataclass(frozen=True)
class Location:
    file: str
    line: int
    column: int


@dataclasses.dataclass(frozen=True)
class Type:
    kind: str
    bits: int


@dataclasses.dataclass(frozen=True)
class Constant:
    value: float
    type: Type
    location: Location


@dataclasses.dataclass(frozen=True)
class Reference:
    name: str
    type: Type
    location: Location


@dataclasses.dataclass(frozen=True)
class Operation:
    name: str
    left: Any
    right: Any
    type: Type
    location: Location


@dataclasses.dataclass(frozen=True)
class Block:
    statements: tuple[Any, ...]
    location: Location


class Name(str):
    """A name as some compilers have them: text that is a type of its own."""


class PlacedName(str):
    """The same with a place in the source."""

    line: int


def make_placed_name(text: str, line: int) -> PlacedName:
    name = PlacedName(text)
    name.line = line
    return name


def make_tree(nodes: int) -> Block:
    """A block of expressions with `nodes` dataclasses in all. Every expression has seven operations and thirty
    dataclasses.
    """
    kinds = [Type("float", 32), Type("float", 64), Type("int", 32)]

    def expression(line: int, column: int, height: int) -> Any:
        location = Location("kernels/model.py", line, column)
        kind = kinds[(line + column) % 3]
        if height == 0 and column % 2:
            return Constant(line * 0.5 + column, kind, location)
        if height == 0:
            return Reference(f"x{line % 50}", kind, location)
        left = expression(line, 2 * column, height - 1)
        right = expression(line, 2 * column + 1, height - 1)
        return Operation(("add", "mul", "sub")[line % 3], left, right, kind, location)

    statements = tuple(expression(line, 1, 3) for line in range(nodes // 30))
    return Block(statements, Location("kernels/model.py", 0, 0))


def seconds(function: Callable[[Any], object], argument: object) -> float:
    gc.collect()
    gc.disable()
    try:
        begin = time.thread_time()
        function(argument)
        return time.thread_time() - begin
    finally:
        gc.enable()


def pickle_and_digest(value: object) -> bytes:
    return hashlib.blake2b(pickle.dumps(value, protocol=5)).digest()


def find_peers() -> dict[str, Callable[[Any], object] | str]:
    """The contenders by name; instead of one that cannot take part, the reason."""
    peers: dict[str, Callable[[Any], object] | str] = {"pickle + blake2b": pickle_and_digest}
    try:
        from gt4py.next.fingerprinting import strict_fingerprinter

        peers["gt4py strict_fingerprinter"] = strict_fingerprinter
    except ImportError as error:
        peers["gt4py strict_fingerprinter"] = str(error)
    try:
        import joblib

        peers["joblib.hash"] = joblib.hash
    except ImportError as error:
        peers["joblib.hash"] = str(error)
    return peers


def spread(values: list[float], unit: str) -> str:
    return f"{statistics.median(values):8.2f} {unit}  ({min(values):.2f} to {max(values):.2f})"


def measure_tree(nodes: int, rounds: int) -> None:
    tree = make_tree(nodes)
    peers = find_peers()
    contenders = {"samovar": stable_fingerprinter, **{name: peer for name, peer in peers.items() if callable(peer)}}
    for function in contenders.values():
        function(tree)
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, function in contenders.items():
            times[name].append(seconds(function, tree))
    print(f"tree of {nodes:,} frozen dataclasses, {rounds} rounds")
    for name, taken in times.items():
        ratios = [other / own for other, own in zip(taken, times["samovar"], strict=True)]
        print(f"  {name:28}{spread([1e3 * value for value in taken], 'ms')}   times samovar: {spread(ratios, 'x')}")
    for name, reason in peers.items():
        if isinstance(reason, str):
            print(f"  {name:28} skipped: {reason}")


def measure_growth(largest: int, rounds: int) -> None:
    print("\nlinear cost: time per dataclass as the tree doubles")
    sizes = [largest]
    while sizes[-1] > 20_000:
        sizes.append(sizes[-1] // 2)
    for nodes in reversed(sizes):
        tree = make_tree(nodes)
        taken = min(seconds(stable_fingerprinter, tree) for _ in range(rounds))
        print(f"  {nodes:10,} nodes {1e3 * taken:10.1f} ms {1e9 * taken / nodes:8.0f} ns each")


def measure_names(nodes: int, rounds: int) -> None:
    place = Location("kernels/model.py", 0, 0)
    kind = Type("float", 32)
    trees = {
        "str": [Reference(f"x{line % 50}", kind, place) for line in range(nodes)],
        "a subclass of str": [Reference(Name(f"x{line % 50}"), kind, place) for line in range(nodes)],
        "one with an attribute": [Reference(make_placed_name(f"x{line % 50}", line), kind, place) for line in range(nodes)],
    }
    for tree in trees.values():
        stable_fingerprinter(tree)
    times: dict[str, list[float]] = {name: [] for name in trees}
    for _ in range(rounds):
        for name, tree in trees.items():
            times[name].append(seconds(stable_fingerprinter, tree))
    print(f"\n{nodes:,} references whose names are")
    for name, taken in times.items():
        ratios = [other / own for other, own in zip(taken, times["str"], strict=True)]
        print(f"  {name:28}{spread([1e3 * value for value in taken], 'ms')}   times str: {spread(ratios, 'x')}")


def measure_depth(levels: int) -> None:
    value: Any = 0
    for line in range(levels):
        value = Operation("neg", value, None, Type("float", 32), Location("a.py", line, 0))
    taken = seconds(stable_fingerprinter, value)
    print(f"\n{levels:,} levels deep: {1e3 * taken:.1f} ms")
    while value != 0:
        # Taken apart from the top, so that the end of the benchmark does not recurse either.
        value = value.left


def measure_array(megabytes: int, rounds: int) -> None:
    try:
        import numpy
    except ImportError as error:
        print(f"\narray of {megabytes} MB: skipped: {error}")
        return
    array = numpy.random.default_rng(1).random(megabytes * 1_000_000 // 8)
    layouts = {
        "contiguous": array,
        "Fortran order": numpy.asfortranarray(array.reshape(2500, -1)),
        "every other": array[::2],
    }
    print(f"\narray of {megabytes} MB against the digest alone (hashlib.blake2b of the same bytes)")
    for name, layout in layouts.items():
        content = layout.tobytes()
        own, digest = [], []
        for _ in range(rounds):
            own.append(seconds(stable_fingerprinter, layout))
            digest.append(seconds(lambda data: hashlib.blake2b(data, digest_size=20).digest(), content))
        speed = [len(content) / 1e6 / value for value in own]
        ratios = [alone / whole for alone, whole in zip(digest, own, strict=True)]
        print(f"  {name:14}{spread(speed, 'MB/s')}   share of the digest's speed: {spread(ratios, 'x')}")


def measure_small(rounds: int) -> None:
    print("\nsmall objects")
    for name, value in {
        "an int": 1,
        "a tuple": ("abc", 3, None),
        "30 dataclasses": make_tree(30).statements[0],
    }.items():
        taken = min(
            seconds(lambda value: [stable_fingerprinter(value) for _ in range(1000)], value) for _ in range(rounds)
        )
        print(f"  {name:14}{1e3 * taken:8.2f} µs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="small sizes and few rounds, to see that it runs")
    options = parser.parse_args()
    rounds = 2 if options.quick else options.rounds
    measure_tree(2_000 if options.quick else 20_000, rounds)
    measure_growth(40_000 if options.quick else 1_000_000, min(rounds, 3))
    measure_names(2_000 if options.quick else 20_000, rounds)
    measure_depth(10_000 if options.quick else 100_000)
    measure_array(4 if options.quick else 100, min(rounds, 5))
    measure_small(rounds)


if __name__ == "__main__":
    main()
