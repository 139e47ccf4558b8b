"""Colliding discs, solved in one launch: a graph finds contacts and pushes discs apart.

When the contact buffer is full, the graph yields at a checkpoint, the program grows the buffer, and the graph resumes.

    python examples/contacts.py [rounds]
"""

import enum
import sys

import numpy as np

import samovar as sv


class Stage(enum.IntEnum):
    FIND = 1


@sv.data_oriented
class Contacts:
    """Discs of one radius in a box. `capacity` is the initial size of the contact buffer, which is too small on purpose."""

    def __init__(self, count: int, radius: float, capacity: int = 16) -> None:
        self.position = sv.from_numpy(np.random.default_rng(1).uniform(0.3, 0.7, (count, 2)).astype(np.float32))
        self.push = sv.ndarray(sv.f32, (count, 2))
        self.radius = radius
        self.found = sv.ndarray(sv.i32, ())
        self.full = sv.ndarray(sv.i32, ())
        self.moving = sv.ndarray(sv.i32, ())
        self.deepest = sv.ndarray(sv.f32, ())
        self.rounds = sv.ndarray(sv.i32, ())
        self.reserve(capacity)

    def reserve(self, capacity: int) -> None:
        self.pairs = sv.ndarray(sv.i32, (capacity, 2))

    @sv.kernel(graph=True, checkpoints=True)
    def relax(self, most: sv.i32) -> None:
        n = self.position.shape[0]
        reach = 4 * self.radius * self.radius
        for _ in range(1):
            self.rounds[None] = 0
        while sv.graph.do_while(self.moving):
            with sv.checkpoint(Stage.FIND, yield_on=self.full):
                for _ in range(1):
                    self.found[None] = 0
                for i in range(n):
                    for j in range(i + 1, n):
                        x = self.position[j, 0] - self.position[i, 0]
                        y = self.position[j, 1] - self.position[i, 1]
                        if x * x + y * y < reach:
                            place = sv.atomic_add(self.found[None], 1)
                            if place < self.pairs.shape[0]:
                                self.pairs[place, 0] = i
                                self.pairs[place, 1] = j
                for _ in range(1):
                    self.full[None] = sv.i32(self.found[None] > self.pairs.shape[0])
            with sv.graph.parallel_context():
                with sv.graph.parallel():
                    for i, k in self.push:
                        self.push[i, k] = 0
                with sv.graph.parallel():
                    for _ in range(1):
                        self.deepest[None] = 0
            for c in range(self.found[None]):
                i = self.pairs[c, 0]
                j = self.pairs[c, 1]
                x = self.position[j, 0] - self.position[i, 0]
                y = self.position[j, 1] - self.position[i, 1]
                distance = sv.sqrt(x * x + y * y) + 1e-9
                depth = 2 * self.radius - distance
                sv.atomic_max(self.deepest[None], depth)
                share = 0.25 * depth / distance
                self.push[i, 0] -= share * x
                self.push[i, 1] -= share * y
                self.push[j, 0] += share * x
                self.push[j, 1] += share * y
            for i, k in self.position:
                self.position[i, k] = sv.min(sv.max(self.position[i, k] + self.push[i, k], 0.0), 1.0)
            for _ in range(1):
                self.rounds[None] += 1
                self.moving[None] = sv.i32(self.deepest[None] > 0.001 * self.radius and self.rounds[None] < most)


def settle(contacts: Contacts, most: int) -> int:
    """Push until nothing overlaps. Return how often the buffers grew."""
    grown = 0
    status = contacts.relax(most)
    while status.yielded:
        capacity = contacts.pairs.shape[0]
        print(f"{status.checkpoint.name}: {contacts.found[()]} contacts found, capacity {capacity}")
        contacts.reserve(2 * max(capacity, int(contacts.found[()])))
        contacts.full.fill(0)
        status = contacts.relax.resume(most, from_checkpoint=status.checkpoint)
        grown += 1
    return grown


def main(most: int = 400) -> None:
    contacts = Contacts(200, 0.02)
    grown = settle(contacts, most)
    print(f"{contacts.rounds[()]} rounds, {contacts.found[()]} contacts, overlap {contacts.deepest[()]:.5f}")
    print(f"buffers grown: {grown}")
    print(contacts.relax.inspect("graph", most))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
