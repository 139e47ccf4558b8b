"""Two substances that react and spread, in one field of vectors with a time axis."""

import quadrants as qd

qd.init(arch=qd.cpu)
n = 40
uv = qd.Vector.field(2, float, shape=(2, n, n))


@qd.kernel
def start():
    for i, j in qd.ndrange(n, n):
        uv[0, i, j] = [1.0, 0.0]
        if qd.abs(i - n // 2) < 4 and qd.abs(j - n // 2) < 5:
            uv[0, i, j] = [0.5, 0.25]


@qd.kernel
def react(phase: int):
    for i, j in qd.ndrange(n, n):
        center = uv[phase, i, j]
        near = uv[phase, (i + 1) % n, j] + uv[phase, (i - 1 + n) % n, j]
        near += uv[phase, i, (j + 1) % n] + uv[phase, i, (j - 1 + n) % n]
        lap = near - 4 * center
        rate = center.x * center.y**2
        change = qd.Vector([0.16 * lap[0] - rate + 0.06 * (1 - center[0]), 0.08 * lap[1] + rate - 0.122 * center[1]])
        uv[1 - phase, i, j] = center + change


start()
for step in range(60):
    react(step % 2)
results = {"uv": uv.to_numpy()[0]}
