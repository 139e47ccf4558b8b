"""Each row of a table sorted by one thread, with a while loop inside of a func."""

import numpy as np
import quadrants as qd

qd.init(arch=qd.cpu)
rows, columns = 20, 15
table = qd.field(qd.f32, (rows, columns))


@qd.func
def sort_row(row: qd.i32):
    for i in range(1, columns):
        value = table[row, i]
        j = i - 1
        while j >= 0 and table[row, j] > value:
            table[row, j + 1] = table[row, j]
            j -= 1
        table[row, j + 1] = value


@qd.kernel
def sort_all():
    for row in range(rows):
        sort_row(row)


@qd.kernel
def median(row: qd.i32) -> qd.f32:
    return table[row, columns // 2]


table.from_numpy(np.random.default_rng(6).random((rows, columns)).astype(np.float32))
sort_all()
results = {"table": table.to_numpy(), "medians": np.array([median(row) for row in range(rows)])}
