"""Forged entries: what is in files of the cache, changed at random, with its checksums made right again.

A forger changes data in its structure (numbers, lengths, types, nesting; items are dropped, repeated, exchanged) or its
bytes, at one of three depths: the entry, whose checksum is made right; what is sealed in it, whose own checksum stays wrong;
or that with a right seal as well. At the last depth, code and what is as good as code is left alone: who can write that can
write anything.
"""

from __future__ import annotations

from random import Random
from typing import Any

from samovar._native import checksum, encode_plain
from samovar.cache.entry import MAGIC, opened, sealed, unsealed, wrapped

OTHERS = [
    None, 0, 1, -1, 7, 255, 10**6, 2**31 - 1, 2**31, 2**63 - 1, -(2**63), 10**40, 0.5, float("nan"), float("inf"), 1e300,
    "", "kind", "a" * 300, "f32", "\ud800", b"", b"\0" * 64, (), [], (1, 2), [[], []], ..., ("a", "b", "c"), True, False, 1j,
    (..., "path", 0), (..., "path", 10**9), (..., "kind", "NO"), (..., "dtype", "Ndarray"), (..., "enum"), ((),) * 50,
]  # fmt: skip
#: Fields of an artifact that say how code is called: they are part of it.
CODE = frozenset(
    "image program fills results block_size registers tasks sites sections slow_serial".split()
)  # fmt: skip


def mutated(data: Any, random: Random, pool: list[Any]) -> Any:
    """The data with one part of it changed, somewhere. `pool` has parts of other entries."""
    if isinstance(data, (list, tuple)) and data and random.random() < 0.85:
        parts = list(data)
        position = random.randrange(len(parts))
        parts[position] = mutated(parts[position], random, pool)
        return type(data)(parts)
    choice = random.random()
    if isinstance(data, bool) or data is None:
        return random.choice(OTHERS)
    if isinstance(data, int) and choice < 0.7:
        bit = 1 << random.randrange(70)
        return random.choice([data + 1, data - 1, -data, data * 2, data ^ bit, 0, random.getrandbits(20)])
    if isinstance(data, float) and choice < 0.5:
        return random.choice([-data, data * 2, float("nan"), 0.0])
    if isinstance(data, (str, bytes)) and data and choice < 0.6:
        place = random.randrange(len(data))
        return random.choice([data[:place], data[place:], data + data, data[:place] + data[place + 1 :]])
    if isinstance(data, (list, tuple)):
        if data and choice < 0.6:
            one, two = random.randrange(len(data)), random.randrange(len(data))
            parts = list(data)
            parts[one], parts[two] = parts[two], parts[one]
            kind = type(data)
            changed = [
                data[:-1], data[1:], data + data[-1:], data[::-1], kind(parts), data * 3,
                (list if kind is tuple else tuple)(data), kind([data]), data[:one] + data[one + 1 :],
            ]  # fmt: skip
            return random.choice(changed)
        if choice < 0.75:
            return random.choice([list, tuple])(data)
    return random.choice(pool) if pool and choice > 0.85 else random.choice(OTHERS)


def with_other_bytes(content: bytes, random: Random) -> bytes:
    """Some bytes changed, removed or added, or a run of them copied to elsewhere."""
    found = bytearray(content)
    for _ in range(random.choice([1, 1, 1, 2, 5])):
        place = random.randrange(len(found) or 1)
        what = random.randrange(5)
        if what == 0 and found:
            found[place] = random.randrange(256)
        elif what == 1:
            del found[place : place + random.choice([1, 1, 4, 30])]
        elif what == 2:
            found[place:place] = random.randbytes(random.choice([1, 2, 8]))
        elif what == 3 and found:
            found[place] ^= 1 << random.randrange(8)
        else:
            begin = random.randrange(len(found) or 1)
            piece = found[begin : begin + random.randrange(40)]
            found[place : place + len(piece)] = piece
    return bytes(found)


def parts_of(data: Any) -> list[Any]:
    """Everything in some data, for others to be exchanged with."""
    found = [data]
    for part in found:
        if isinstance(part, (list, tuple)):
            found.extend(part)
    return found


class Forger:
    """Makes other entries of those that it is given: (kind, key, content of the file)."""

    def __init__(self, entries: list[tuple[str, str, bytes]], seed: int) -> None:
        self.random = Random(seed)
        self.entries = entries
        self.data = {(kind, key): opened(content)[2] for kind, key, content in entries}
        self.pool = [part for data in self.data.values() for part in parts_of(data)]

    def forged(self, kind: str, key: str, content: bytes) -> bytes:
        """Another content for an entry, with a right checksum."""
        random, data = self.random, self.data[kind, key]
        choice = random.random()
        if choice < 0.2:
            start = len(MAGIC) + 16
            body = with_other_bytes(content[start:], random)
            return content[: len(MAGIC)] + checksum(body, 0) + body
        if choice < 0.3:
            same = [each for each in self.entries if each[0] == kind and each[1] != key]
            if same:  # the data of another entry, under this key
                return wrapped(kind, key, self.data[kind, random.choice(same)[1]])
        try:
            if choice < 0.6 and kind in ("trees", "kernels", "code"):
                return wrapped(kind, key, self.with_other_parts(kind, data))
            return wrapped(kind, key, mutated(data, random, self.pool))
        except ValueError:  # too deep for a file
            return content

    def with_other_parts(self, kind: str, data: Any) -> Any:
        """What is sealed is changed, and sealed again or not."""
        if kind == "kernels":
            if self.random.random() < 0.2:
                return (data[0], with_other_bytes(data[1], self.random))
            return (self.other_artifact(data[0]), data[1])
        if kind == "code":
            key, image = unsealed(data[1], "(SY)")
            if self.random.random() < 0.5:
                return (data[0], with_other_bytes(data[1], self.random))
            return (data[0], sealed((mutated(key, self.random, self.pool), image)))
        rows, root = data
        return (rows, self.other_leaves(root))

    def other_leaves(self, segment: Any) -> Any:
        steps, end = segment
        if isinstance(end, tuple):
            content = end[3] if end[3] is None else self.other_artifact(end[3])
            return [steps, (*end[:3], content)]
        number, question, branches = end
        return [steps, [number, question, [[answer, self.other_leaves(below)] for answer, below in branches]]]

    def other_artifact(self, content: bytes) -> bytes:
        choice = self.random.random()
        if choice < 0.3:
            return with_other_bytes(content, self.random)
        fields, seconds = unsealed(content, "({(S*)}F)")
        if choice < 0.5:  # any field, but the seal stays as it was
            return content[:16] + encode_plain(mutated((fields, seconds), self.random, self.pool))
        name = self.random.choice([name for name, _ in fields if name not in CODE])
        changed = [(each, mutated(value, self.random, self.pool) if each == name else value) for each, value in fields]
        if choice < 0.6:
            changed = [pair for pair in changed if pair[0] != name]
        return sealed((tuple(changed), seconds if choice < 0.9 else mutated(seconds, self.random, self.pool)))
