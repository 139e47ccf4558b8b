"""Tests of random bits after NIST SP 800-22 (revision 1a): each takes an array of zeros and ones and gives a p-value.

The section of the publication stands at each. Sequences of a million bits are meant, and the parameters are those that it
recommends.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np


def upper_gamma(a: float, x: float) -> float:
    """The regularized incomplete gamma function Q(a, x): a series below a + 1, a continued fraction above."""
    if x <= 0:
        return 1.0
    scale = math.exp(-x + a * math.log(x) - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for n in range(1, 10_000):
            term *= x / (a + n)
            total += term
            if term < total * 1e-16:
                break
        return max(0.0, 1 - total * scale)
    b = x + 1 - a
    c, d = 1e300, 1 / b
    h = d
    for n in range(1, 10_000):
        an = -n * (n - a)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        h *= d * c
        if abs(d * c - 1) < 1e-16:
            break
    return h * scale


def chi_squared(statistic: float, degrees: float) -> float:
    return upper_gamma(degrees / 2, statistic / 2)


def frequency(bits: np.ndarray) -> float:  # 2.1
    return math.erfc(abs(2.0 * bits.sum() - len(bits)) / math.sqrt(2 * len(bits)))


def block_frequency(bits: np.ndarray, block: int = 20_000) -> float:  # 2.2
    blocks = bits[: len(bits) // block * block].reshape(-1, block)
    return chi_squared(4 * block * ((blocks.mean(1) - 0.5) ** 2).sum(), len(blocks))


def runs(bits: np.ndarray) -> float:  # 2.3
    share = bits.mean()
    found = 1 + np.count_nonzero(bits[1:] != bits[:-1])
    expected = 2 * len(bits) * share * (1 - share)
    return math.erfc(abs(found - expected) / (2 * math.sqrt(2 * len(bits)) * share * (1 - share)))


def longest_run(bits: np.ndarray) -> float:  # 2.4, blocks of 10,000
    shares = (0.0882, 0.2092, 0.2483, 0.1933, 0.1208, 0.0675, 0.0727)
    blocks = bits[: len(bits) // 10_000 * 10_000].reshape(-1, 10_000)
    counts = np.zeros(7)
    for block in blocks:
        edges = np.flatnonzero(np.diff(np.concatenate(([0], block, [0]))))
        longest = (edges[1::2] - edges[::2]).max(initial=0)
        counts[min(max(longest, 10), 16) - 10] += 1
    expected = len(blocks) * np.array(shares)
    return chi_squared(((counts - expected) ** 2 / expected).sum(), 6)


def rank(matrix: list[int]) -> int:
    """The rank of a binary matrix whose rows are numbers."""
    rows, found = list(matrix), 0
    for bit in range(32):
        pivot = next((row for row in range(found, 32) if rows[row] >> bit & 1), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for row in range(found + 1, 32):
            if rows[row] >> bit & 1:
                rows[row] ^= rows[found]
        found += 1
    return found


def matrix_rank(bits: np.ndarray) -> float:  # 2.5
    packed = np.packbits(bits[: len(bits) // 1024 * 1024]).view(np.uint32).reshape(-1, 32)[:400]
    ranks = np.array([rank([int(row) for row in matrix]) for matrix in packed])
    counts = np.array([(ranks == 32).sum(), (ranks == 31).sum(), (ranks < 31).sum()])
    expected = len(packed) * np.array([0.2888, 0.5776, 0.1336])
    return chi_squared(((counts - expected) ** 2 / expected).sum(), 2)


def spectrum(bits: np.ndarray) -> float:  # 2.6
    n = len(bits)
    peaks = np.abs(np.fft.rfft(2.0 * bits - 1))[: n // 2]
    below = np.count_nonzero(peaks < math.sqrt(math.log(1 / 0.05) * n))
    return math.erfc(abs(below - 0.95 * n / 2) / math.sqrt(n * 0.95 * 0.05 / 4) / math.sqrt(2))


def _patterns(bits: np.ndarray, length: int) -> np.ndarray:
    """How often each pattern occurs, around the end."""
    if length == 0:
        return np.array([float(len(bits))])
    whole = np.concatenate((bits, bits[: length - 1])).astype(np.int64)
    number = sum(whole[place : place + len(bits)] << (length - 1 - place) for place in range(length))
    return np.bincount(number, minlength=1 << length).astype(float)


def _squares(bits: np.ndarray, length: int) -> float:
    return float(2.0**length / len(bits) * (_patterns(bits, length) ** 2).sum() - len(bits))


def serial_once(bits: np.ndarray, length: int = 12) -> float:  # 2.11, the first of its two values
    return upper_gamma(2.0 ** (length - 2), (_squares(bits, length) - _squares(bits, length - 1)) / 2)


def serial_twice(bits: np.ndarray, length: int = 12) -> float:  # 2.11, the second
    most, middle, least = (_squares(bits, length - less) for less in range(3))
    return upper_gamma(2.0 ** (length - 3), (most - 2 * middle + least) / 2)


def approximate_entropy(bits: np.ndarray, length: int = 10) -> float:  # 2.12
    def phi(m: int) -> float:
        share = _patterns(bits, m) / len(bits)
        share = share[share > 0]
        return float((share * np.log(share)).sum())

    return upper_gamma(2.0 ** (length - 1), len(bits) * (math.log(2) - (phi(length) - phi(length + 1))))


def cumulative_sums(bits: np.ndarray) -> float:  # 2.13, forward
    n = len(bits)
    highest = float(np.abs(np.cumsum(2 * bits.astype(np.int64) - 1)).max())

    def normal(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    root = math.sqrt(n)
    limit = n / highest
    result = 1.0
    for k in range(int((-limit + 1) // 4), int((limit - 1) // 4) + 1):
        result -= normal((4 * k + 1) * highest / root) - normal((4 * k - 1) * highest / root)
    for k in range(int((-limit - 3) // 4), int((limit - 1) // 4) + 1):
        result += normal((4 * k + 3) * highest / root) - normal((4 * k + 1) * highest / root)
    return result


BATTERY: dict[str, Callable[[np.ndarray], float]] = {
    test.__name__: test
    for test in (
        frequency, block_frequency, runs, longest_run, matrix_rank, spectrum, serial_once, serial_twice, approximate_entropy,
        cumulative_sums,
    )
}  # fmt: skip
