"""An elementary cellular automaton, one row for each generation."""

import quadrants as qd

qd.init(arch=qd.cpu)
width, height, rule = 101, 60, 30
cells = qd.field(qd.u8, shape=(height, width))


@qd.kernel
def first():
    cells[0, width // 2] = 1


@qd.kernel
def next_row(row: qd.i32):
    for i in range(width):
        left = cells[row - 1, (i + width - 1) % width]
        right = cells[row - 1, (i + 1) % width]
        pattern = qd.cast(left, qd.i32) * 4 + qd.cast(cells[row - 1, i], qd.i32) * 2 + qd.cast(right, qd.i32)
        cells[row, i] = qd.cast((rule >> pattern) & 1, qd.u8)


first()
for row in range(1, height):
    next_row(row)
results = {"cells": cells.to_numpy()}
