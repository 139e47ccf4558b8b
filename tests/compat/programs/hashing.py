"""Random numbers from hashes of integers: unsigned arithmetic that wraps, shifts and bit casts."""

import quadrants as qd

qd.init(arch=qd.cpu)
n = 500
bits = qd.field(qd.u32, n)
unit = qd.field(qd.f32, n)
signs = qd.field(qd.i32, n)


@qd.func
def wang(x: qd.u32) -> qd.u32:
    x = (x ^ qd.u32(61)) ^ (x >> 16)
    x *= qd.u32(9)
    x = x ^ (x >> 4)
    x *= qd.u32(0x27D4EB2D)
    return x ^ (x >> 15)


@qd.kernel
def fill():
    for i in bits:
        h = wang(qd.cast(i, qd.u32))
        bits[i] = h
        unit[i] = qd.cast(h >> 8, qd.f32) / 16777216.0
        signs[i] = qd.bit_cast(unit[i] - 0.5, qd.i32) >> 31


fill()
results = {"bits": bits.to_numpy(), "unit": unit.to_numpy(), "signs": signs.to_numpy()}
