"""Primes, by a func that tests and a sieve that marks."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n = 2000
composite = qd.field(qd.i32, n)


@qd.func
def is_prime(k: int):
    result = k > 1
    for d in range(2, int(k**0.5) + 1):
        if k % d == 0:
            result = False
            break
    return result


@qd.kernel
def count_primes(limit: int) -> int:
    total = 0
    for k in range(limit):
        if is_prime(k):
            total += 1
    return total


@qd.kernel
def mark(step: int):
    for k in range(2, n // step):
        composite[k * step] = 1


for step in range(2, 45):
    if composite[step] == 0:
        mark(step)
results = {"count": np.array(count_primes(n)), "composite": composite.to_numpy()}
