"""Particles put into cells, and the neighbors of each counted through the cells."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
n, cells, room = 200, 10, 32
pos = qd.Vector.field(2, dtype=qd.f32)
neighbors = qd.field(qd.i32)
qd.root.dense(qd.i, n).place(pos, neighbors)
fill = qd.field(qd.i32)
members = qd.field(qd.i32)
block = qd.root.dense(qd.ij, (cells, cells))
block.place(fill)
block.dense(qd.k, room).place(members)


@qd.func
def cell_of(p):
    return qd.math.clamp(qd.cast(qd.floor(p * cells), qd.i32), 0, cells - 1)


@qd.kernel
def sort_in():
    for I in qd.grouped(fill):
        fill[I] = 0
    for p in pos:
        c = cell_of(pos[p])
        place = qd.atomic_add(fill[c], 1)
        members[c, place] = p


@qd.kernel
def find(radius: qd.f32):
    for p in pos:
        c, count = cell_of(pos[p]), 0
        for offset in qd.static(qd.grouped(qd.ndrange((-1, 2), (-1, 2)))):
            other = c + offset
            if 0 <= other[0] < cells and 0 <= other[1] < cells:
                for k in range(fill[other]):
                    q = members[other, k]
                    if q != p and (pos[q] - pos[p]).norm() < radius:
                        count += 1
        neighbors[p] = count


pos.from_numpy(np.random.default_rng(15).random((n, 2)).astype(np.float32))
sort_in()
find(0.09)
results = {"neighbors": neighbors.to_numpy(), "fill": fill.to_numpy()}
