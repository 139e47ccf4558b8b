"""Connected parts of a graph: labels that spread along edges until nothing changes."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n, m = 100, 90


@qd.kernel
def spread(edges: qd.types.ndarray(qd.i32, 2), label: qd.types.ndarray(qd.i32, 1)) -> qd.i32:
    changed = 0
    for e in range(edges.shape[0]):
        a, b = edges[e, 0], edges[e, 1]
        least = qd.min(label[a], label[b])
        if qd.atomic_min(label[a], least) > least:
            changed += 1
        if qd.atomic_min(label[b], least) > least:
            changed += 1
    return changed


@qd.kernel
def count(label: qd.types.ndarray(qd.i32, 1)) -> qd.i32:
    total = 0
    for i in label:
        total += label[i] == i
    return total


edges = np.random.default_rng(21).integers(0, n, (m, 2)).astype(np.int32)
label = np.arange(n, dtype=np.int32)
while spread(edges, label) > 0:
    pass
results = {"label": label, "parts": np.array(count(label))}
