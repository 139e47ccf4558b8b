"""Fields in blocks, of another order and with an offset: what is stored where does not matter for results."""

import quadrants as qd

qd.init(arch=qd.cpu)
n = 16
blocked = qd.field(qd.f32)
qd.root.dense(qd.ij, n // 4).dense(qd.ij, 4).place(blocked)
columns = qd.field(qd.f32, shape=(n, n), order="ji")
shifted = qd.field(qd.f32, shape=(n, n), offset=(-8, -8))


@qd.kernel
def compute():
    for i, j in blocked:
        blocked[i, j] = i * 100 + j
    for i, j in columns:
        columns[i, j] = blocked[j, i] * 0.5
    for i, j in shifted:
        shifted[i, j] = columns[i + 8, j + 8] + i - j


compute()
results = {"blocked": blocked.to_numpy(), "columns": columns.to_numpy(), "shifted": shifted.to_numpy()}
