"""A pool allocator built on views: one array holds the particles of many emitters.

The pool is first-fit and merges adjacent gaps. Emitters appear, grow and disappear. Kernels take views as arguments: a
different part of the pool is a different offset and size, and never a new compile.
"""

import bisect

import numpy as np

import samovar as sv

CAPACITY = 8192
STEPS = 200
DT = 0.02


class Pool:
    """Allocates parts of one array. Callers free what they allocate."""

    def __init__(self, dtype: object, capacity: int) -> None:
        self.array = sv.ndarray(dtype, capacity)
        self.gaps = [(0, capacity)]  # (begin, end), in order

    def take(self, size: int) -> sv.BufferView:
        for place, (begin, end) in enumerate(self.gaps):
            if end - begin >= size:
                self.gaps[place : place + 1] = [(begin + size, end)] if end - begin > size else []
                return self.array[begin : begin + size]
        raise MemoryError(f"no gap of {size} elements: {self.free} are free in {len(self.gaps)} gaps")

    def give_back(self, view: sv.BufferView) -> None:
        begin, end = view.offset, view.offset + view.size
        place = bisect.bisect(self.gaps, (begin, end))
        if place < len(self.gaps) and self.gaps[place][0] == end:
            end = self.gaps.pop(place)[1]
        if place > 0 and self.gaps[place - 1][1] == begin:
            place -= 1
            begin = self.gaps.pop(place)[0]
        self.gaps.insert(place, (begin, end))

    @property
    def free(self) -> int:
        return sum(end - begin for begin, end in self.gaps)


@sv.kernel
def emit(position: sv.BufferView[sv.math.vec2], velocity: sv.BufferView[sv.math.vec2], angle: sv.f32) -> None:
    for i in position:
        spread = angle + (i / position.size - 0.5) * 0.6
        position[i] = sv.math.vec2(0.0, 0.0)
        velocity[i] = 3.0 * sv.math.vec2(sv.cos(spread), sv.sin(spread))


@sv.kernel
def move(position: sv.BufferView[sv.math.vec2], velocity: sv.BufferView[sv.math.vec2], dt: sv.f32) -> None:
    for i in position:
        velocity[i].y -= 9.81 * dt
        position[i] += velocity[i] * dt


@sv.kernel
def copy(source: sv.BufferView, target: sv.BufferView) -> None:
    for i in source:
        target[i] = source[i]


@sv.kernel
def highest(position: sv.BufferView[sv.math.vec2]) -> sv.f32:
    top = -1e9
    for i in position:
        sv.atomic_max(top, position[i].y)
    return top


def grown(pool: Pool, view: sv.BufferView, size: int) -> sv.BufferView:
    """Reallocate: a longer part with the old elements first. The old part is freed."""
    longer = pool.take(size)
    copy(view, longer)
    pool.give_back(view)
    return longer


def main() -> None:
    random = np.random.default_rng(4)
    positions, velocities = Pool(sv.math.vec2, CAPACITY), Pool(sv.math.vec2, CAPACITY)
    emitters: list[tuple[sv.BufferView, sv.BufferView]] = []
    top, largest = -1e9, 0
    for step in range(STEPS):
        if step % 5 == 0 and positions.free > CAPACITY // 2:
            size = int(random.integers(16, 400))
            emitters.append((positions.take(size), velocities.take(size)))
            emit(*emitters[-1], 1.2 + 0.7 * random.random())
        if step % 20 == 19:  # one emitter grows, one disappears
            x, v = emitters.pop(0)
            more = x.size + 32
            longer = grown(positions, x, more), grown(velocities, v, more)
            emit(longer[0][x.size :], longer[1][x.size :], 1.5)
            emitters.append(longer)
            for pool, view in zip((positions, velocities), emitters.pop(0), strict=True):
                pool.give_back(view)
        for x, v in emitters:
            move(x, v, DT)
            top = max(top, highest(x))
        largest = max(largest, CAPACITY - positions.free)

    compiled = sv.compile_count()
    print(f"{STEPS} steps, at most {largest} of {CAPACITY} particles, highest at {top:.2f}, {compiled} compiles")
    for pool, views in ((positions, [x for x, _ in emitters]), (velocities, [v for _, v in emitters])):
        for view in views:
            pool.give_back(view)
        assert pool.gaps == [(0, CAPACITY)]
    assert 0.3 < top < 0.5


if __name__ == "__main__":
    main()
