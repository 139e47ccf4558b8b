"""A forest that burns: states as an enum, and random numbers by a hash."""

import enum

import quadrants as qd

qd.init(arch=qd.cpu)
n = 40
state = qd.field(qd.i8, (n, n))
new = qd.field(qd.i8, (n, n))


class State(enum.IntEnum):
    EMPTY = 0
    TREE = 1
    FIRE = 2


@qd.func
def unit(i, j, t):
    h = qd.cast(i * 374761 + j * 668265 + t * 982451, qd.u32)
    h = (h ^ (h >> 13)) * qd.u32(1274126177)
    return qd.cast((h ^ (h >> 16)) & qd.u32(0xFFFF), qd.f32) / 65536


@qd.kernel
def step(t: qd.i32):
    for i, j in state:
        if state[i, j] == State.FIRE:
            new[i, j] = State.EMPTY
        elif state[i, j] == State.TREE:
            burning = False
            for di, dj in qd.ndrange((-1, 2), (-1, 2)):
                a, b = i + di, j + dj
                if 0 <= a < n and 0 <= b < n and state[a, b] == State.FIRE:
                    burning = True
            new[i, j] = State.FIRE if burning or unit(i, j, t) < 0.002 else State.TREE
        else:
            new[i, j] = State.TREE if unit(i, j, t) < 0.2 else State.EMPTY
    for i, j in state:
        state[i, j] = new[i, j]


for t in range(30):
    step(t)
results = {"state": state.to_numpy()}
