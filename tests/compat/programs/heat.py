"""Heat that spreads over a plate, with a fixed border."""

import quadrants as qd

qd.init(arch=qd.cpu)
n = 32
now = qd.field(qd.f32, shape=(n, n))
new = qd.field(qd.f32, shape=(n, n))


@qd.kernel
def start():
    for i, j in now:
        if (i - 10) ** 2 + (j - 20) ** 2 < 36:
            now[i, j] = 1.0


@qd.kernel
def diffuse(rate: qd.f32):
    for i, j in qd.ndrange((1, n - 1), (1, n - 1)):
        around = now[i - 1, j] + now[i + 1, j] + now[i, j - 1] + now[i, j + 1]
        new[i, j] = now[i, j] + rate * (around - 4 * now[i, j])
    for I in qd.grouped(now):
        now[I] = new[I]


start()
for _ in range(50):
    diffuse(0.2)
results = {"temperature": now.to_numpy()}
