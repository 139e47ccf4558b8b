"""Integers and bits: hashes, generators, counting, codes."""

import numpy as np
from problems import Problem

import samovar as sv
from throughput_kernels.entry import Entry, posed, random_integers, zeros
from throughput_kernels.numba_names import prange

u32_1 = sv.types.NDArray[sv.u32, 1]
u64_1 = sv.types.NDArray[sv.u64, 1]
i32_1 = sv.types.NDArray[sv.i32, 1]
u32 = np.uint32


def xorshift(scale: float) -> Problem:
    n, rounds = int(scale * (1 << 15)), 50
    seeds, out = random_integers(1, 2**32, n, 1, "u4"), zeros(n, "u4")

    def reference():
        state = seeds.copy()
        for _ in range(rounds):
            state ^= state << u32(13)
            state ^= state >> u32(17)
            state ^= state << u32(5)
        return {"out": state}

    arrays = {"seeds": seeds, "out": out}
    return posed("xorshift, 50 rounds", arrays, "out", reference, {"n": n, "rounds": rounds}, relative=0, absolute=0)


@sv.kernel
def sv_xorshift(seeds: u32_1, out: u32_1, rounds: sv.i32):
    for i in range(seeds.shape[0]):
        state = seeds[i]
        for _ in range(rounds):
            state ^= state << 13
            state ^= state >> 17
            state ^= state << 5
        out[i] = state


def nb_xorshift(seeds, out, rounds):
    for i in prange(seeds.shape[0]):
        state = seeds[i]
        for _ in range(rounds):
            state ^= u32(state << u32(13))
            state ^= u32(state >> u32(17))
            state ^= u32(state << u32(5))
        out[i] = state


def mix(scale: float) -> Problem:
    n = int(scale * (1 << 18))
    x, out = random_integers(0, 2**32, n, 2, "u4"), zeros(n, "u4")

    def reference():
        h = x.copy()
        h ^= h >> u32(16)
        h *= u32(0x85EBCA6B)
        h ^= h >> u32(13)
        h *= u32(0xC2B2AE35)
        return {"out": h ^ (h >> u32(16))}

    return posed("hash of integers", {"x": x, "out": out}, "out", reference, {"n": n}, relative=0, absolute=0)


@sv.kernel
def sv_mix(x: u32_1, out: u32_1):
    for i in range(x.shape[0]):
        h = x[i]
        h ^= h >> 16
        h *= sv.u32(0x85EBCA6B)
        h ^= h >> 13
        h *= sv.u32(0xC2B2AE35)
        out[i] = h ^ (h >> 16)


def nb_mix(x, out):
    for i in prange(x.shape[0]):
        h = x[i]
        h ^= h >> u32(16)
        h = u32(h * u32(0x85EBCA6B))
        h ^= h >> u32(13)
        h = u32(h * u32(0xC2B2AE35))
        out[i] = h ^ (h >> u32(16))


def population(scale: float) -> Problem:
    n = int(scale * (1 << 17))
    x, y, out = random_integers(0, 2**63, n, 3, "u8"), random_integers(0, 2**63, n, 4, "u8"), zeros(1, "i4")

    def reference():
        return {"out": np.array([np.unpackbits((x ^ y).view("u1")).sum()])}

    return posed("bits that differ", {"x": x, "y": y, "out": out}, "out", reference, {"n": n}, relative=0, absolute=0)


@sv.kernel
def sv_population(x: u64_1, y: u64_1, out: i32_1):
    out[0] = 0
    for i in range(x.shape[0]):
        out[0] += sv.i32(sv.math.popcnt(x[i] ^ y[i]))


def nb_population(x, y, out):
    result = np.int32(0)
    for i in prange(x.shape[0]):
        v = x[i] ^ y[i]
        v = v - ((v >> np.uint64(1)) & np.uint64(0x5555555555555555))
        v = (v & np.uint64(0x3333333333333333)) + ((v >> np.uint64(2)) & np.uint64(0x3333333333333333))
        v = (v + (v >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        result += np.int32((v * np.uint64(0x0101010101010101)) >> np.uint64(56))
    out[0] = result


def morton(scale: float) -> Problem:
    n = int(scale * (1 << 18))
    x, y, out = random_integers(0, 1 << 16, n, 5, "u4"), random_integers(0, 1 << 16, n, 6, "u4"), zeros(n, "u4")

    def reference():
        code = np.zeros(n, "u8")
        for bit in range(16):
            code |= ((x.astype("u8") >> np.uint64(bit)) & np.uint64(1)) << np.uint64(2 * bit)
            code |= ((y.astype("u8") >> np.uint64(bit)) & np.uint64(1)) << np.uint64(2 * bit + 1)
        return {"out": code}

    return posed("Morton codes", {"x": x, "y": y, "out": out}, "out", reference, {"n": n}, relative=0, absolute=0)


@sv.func
def spread(v: sv.u32) -> sv.u32:
    v = (v | (v << 8)) & sv.u32(0x00FF00FF)
    v = (v | (v << 4)) & sv.u32(0x0F0F0F0F)
    v = (v | (v << 2)) & sv.u32(0x33333333)
    return (v | (v << 1)) & sv.u32(0x55555555)


@sv.kernel
def sv_morton(x: u32_1, y: u32_1, out: u32_1):
    for i in range(x.shape[0]):
        out[i] = spread(x[i]) | (spread(y[i]) << 1)


def nb_morton(x, y, out):
    for i in prange(x.shape[0]):
        a, b = x[i], y[i]
        a = u32((a | (a << u32(8))) & u32(0x00FF00FF))
        a = u32((a | (a << u32(4))) & u32(0x0F0F0F0F))
        a = u32((a | (a << u32(2))) & u32(0x33333333))
        a = u32((a | (a << u32(1))) & u32(0x55555555))
        b = u32((b | (b << u32(8))) & u32(0x00FF00FF))
        b = u32((b | (b << u32(4))) & u32(0x0F0F0F0F))
        b = u32((b | (b << u32(2))) & u32(0x33333333))
        b = u32((b | (b << u32(1))) & u32(0x55555555))
        out[i] = a | (b << u32(1))


def collatz(scale: float) -> Problem:
    n = int(scale * (1 << 14))
    start, out = random_integers(1, 100000, n, 7), zeros(n, "i4")

    def reference():
        value, steps = start.astype("i8"), np.zeros(n, int)
        while (value > 1).any():
            going = value > 1
            steps += going
            value = np.where(going, np.where(value % 2 == 1, 3 * value + 1, value // 2), value)
        return {"out": steps}

    return posed("Collatz", {"start": start, "out": out}, "out", reference, {"n": n}, relative=0, absolute=0)


@sv.kernel
def sv_collatz(start: i32_1, out: i32_1):
    for i in range(start.shape[0]):
        value, steps = sv.u32(start[i]), 0
        while value > 1:
            if value & 1 == 1:
                value = 3 * value + 1
            else:
                value >>= 1
            steps += 1
        out[i] = steps


def nb_collatz(start, out):
    for i in prange(start.shape[0]):
        value, steps = u32(start[i]), np.int32(0)
        while value > u32(1):
            if value & u32(1) == u32(1):
                value = u32(u32(3) * value + u32(1))
            else:
                value = u32(value >> u32(1))
            steps += np.int32(1)
        out[i] = steps


ENTRIES = {
    "xorshift": Entry(xorshift, "seeds out int:n int:rounds", "seeds out rounds", sv_xorshift, nb_xorshift),
    "mix": Entry(mix, "x out int:n", "x out", sv_mix, nb_mix),
    "population": Entry(population, "x y out int:n", "x y out", sv_population, nb_population),
    "morton": Entry(morton, "x y out int:n", "x y out", sv_morton, nb_morton),
    "collatz": Entry(collatz, "start out int:n", "start out", sv_collatz, nb_collatz),
}
