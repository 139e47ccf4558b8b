"""The decision tree of a kernel: the next question, given the answers so far, and the artifact compiled for them.

A compile is a pure function of the answers it gets, so two compiles with the same answers ask the same next question. A
segment is a run of questions with one known answer each; it ends in a leaf, or in a fork where several answers are known.
The tree is plain data (see `serialized`), so it is stored in a file unchanged. It is only a hint: whatever it lacks is
compiled.
"""

from __future__ import annotations

from samovar.lens.answers import essence, same_answer
from samovar.lens.path import RELATIONS, STEPS
from samovar.lens.serialized import PathTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from samovar.lens.path import Path
    from samovar.lens.replaying import Replay
    from samovar.lens.serialized import Row
    from samovar.lens.text import Text
    from samovar.lens.trace import Trace

    #: [steps, (key, sources, age, content) or [number, question, [[answer, segment], …]]]
    Segment = list[Any]
    #: (number of a path, question, encoded answer)
    Step = tuple[int, str, Any]

#: Questions whose answer compares with the expected one.
COMPARED = (*RELATIONS, "source")
#: Maximum number of leaves of a tree; the oldest are dropped.
MOST_LEAVES = 512
#: How many steps are searched for source texts.
MOST_STEPS_LOOKED_AT = 20_000
#: How many bytes of its leaves' artifacts a tree embeds: looking up one leaf reads all of them.
MOST_CONTENT = 1 << 15


class Leaf:
    """The end of a walk: the key of an artifact, the numbers of the paths that its guards refer to, and the artifact's
    content if the tree embeds it."""

    __slots__ = ("content", "key", "sources", "steps")

    def __init__(self, key: str, sources: tuple[int, ...], steps: list[Step], content: bytes | None = None) -> None:
        self.key = key
        self.sources = sources
        self.steps = steps
        self.content = content


class Miss:
    """Where a walk failed: the first question with an unknown answer, and the answers known there."""

    __slots__ = ("answer", "known", "number", "question")

    def __init__(self, number: int, question: str, answer: Any, known: tuple[Any, ...]) -> None:
        self.number = number
        self.question = question
        self.answer = answer
        self.known = known


class Tree:
    """The questions of one kernel. `root` is None for an empty tree."""

    __slots__ = ("paths", "root")

    def __init__(self, rows: list[Row] | None = None, root: Segment | None = None) -> None:
        self.paths = PathTable([] if rows is None else rows)
        self.root = root

    # --- as data

    def data(self) -> tuple[Any, ...]:
        """Return the tree as plain data."""
        return (self.paths.rows, self.root)

    @classmethod
    def of(cls, data: tuple[Any, ...]) -> Tree:
        """Return the tree that plain data represents."""
        rows, root = data
        return cls(rows, root)

    def check(self) -> None:
        """Raise an exception if the data is not a valid tree. A walk reads only parts of it, but adding to it needs all."""
        rows, decoded = self.paths.rows, self.paths.decoded
        for number, (parent, step, _) in enumerate(rows):
            if not -1 <= parent < number or step not in STEPS:
                raise ValueError("a path has no root")
            self.paths.path(number)
        for steps, end in self.segments():
            if end.__class__ is tuple:
                key, sources, age, content = end
                if not all(0 <= number < len(rows) for number in sources) or key.__class__ is not str or age < 0:
                    raise ValueError("a leaf is malformed")
                if content is not None and content.__class__ is not bytes:
                    raise ValueError("the content of a leaf is not bytes")
                asked = steps
            else:
                number, question, branches = end
                asked = [*steps, *((number, question, encoded) for encoded, _ in branches)]
            for number, question, encoded in asked:
                if not 0 <= number < len(rows):
                    raise ValueError("a question has no path")
                essence(question.casefold(), decoded(encoded))

    # --- asking

    def walk(self, replay: Replay) -> Leaf | Miss | None:
        """Ask questions down to a leaf or to an unknown answer. Return None for an empty tree."""
        segment = self.root
        if segment is None:
            return None
        decoded = self.paths.decoded
        asked: list[Step] = []
        while True:
            steps, end = segment
            agreed = replay.agreeing(steps)
            if agreed < len(steps):
                number, question, encoded = steps[agreed]
                return Miss(number, question, replay.last, (decoded(encoded),))
            asked = steps if not asked else asked + steps
            if end.__class__ is tuple:
                return Leaf(end[0], end[1], asked, end[3])
            number, question, branches = end
            if question == "source" and not replay.has_text(number):
                # Several sources with the same bytecode are known, and it is unknown which one was loaded.
                return Miss(number, question, None, tuple(decoded(encoded) for encoded, _ in branches))
            answered = False
            for encoded, below in branches:
                # An answer does not depend on the expected one, except for comparisons.
                expected = decoded(encoded)
                if same_answer(replay.last, expected) if answered else replay.agrees(number, question, expected):
                    asked = [*asked, (number, question, encoded)]
                    segment = below
                    break
                answered = question not in COMPARED
            else:
                return Miss(number, question, replay.last, tuple(decoded(encoded) for encoded, _ in branches))

    def trace(self, steps: list[Step], reread: Mapping[int, Any] | None = None) -> Trace:
        """Return the trace of a walk to a leaf, with reread sources as they are now."""
        from samovar.lens.trace import Trace

        trace, path, decoded = Trace(), self.paths.path, self.paths.decoded
        for number, question, encoded in steps:
            answer = reread.get(number, encoded) if reread and question == "source" else encoded
            trace.record(path(number), question, decoded(answer))
        return trace

    def texts(self) -> dict[Any, list[Text]]:
        """Return the sources that functions were compiled from, by their code: a hint that saves comparing source and code
        again. Of a large tree, only the first ones."""
        found: dict[Any, list[Text]] = {}
        codes: dict[int, Any] = {}  # by path number, for the current walk
        pending: list[tuple[Step | None, Segment]] = [] if self.root is None else [(None, self.root)]
        left = MOST_STEPS_LOOKED_AT
        while pending and left > 0:
            chosen, (steps, end) = pending.pop()
            left -= len(steps)
            for number, question, encoded in steps if chosen is None else (chosen, *steps):
                if question == "function":
                    codes[number] = self.paths.decoded(encoded)
                elif question == "source" and number in codes:
                    known = found.setdefault(codes[number], [])
                    if encoded not in known:
                        known.append(encoded)
            if end.__class__ is not tuple:
                number, question, branches = end
                pending.extend(((number, question, answer), below) for answer, below in branches)
        return found

    # --- growing

    def add(self, trace: Trace, key: str, paths: tuple[Path, ...], content: bytes | None = None) -> None:
        """Add the artifact of a trace, with its content if it fits. It replaces the artifact known for the same answers."""
        sources = tuple(map(self.paths.number, paths))
        steps = [
            (self.paths.number(asked.path), asked.question, self.paths.encoded(asked.answer)) for asked in trace
        ]
        ends = [end for _, end in self.segments() if end.__class__ is tuple]
        if len(ends) >= MOST_LEAVES:
            leaves = list(self.leaves())
            self.root = None
            for known, end in leaves[-MOST_LEAVES // 2 :]:
                self._insert(known, end)
        # Ages number the leaves in order of insertion, to drop the oldest first.
        age = 1 + max((end[2] for end in ends), default=0)
        kept = sum(len(end[3] or b"") for end in ends if end[0] != key)
        self._insert(steps, (key, sources, age, content if content and kept + len(content) <= MOST_CONTENT else None))

    def adopt(self, other: Tree, wanted: Callable[[str], object] = bool) -> None:
        """Add the leaves of another tree of the same kernel whose keys are wanted."""
        for steps, (key, sources, _, content) in other.leaves():
            if wanted(key):
                self.add(other.trace(steps), key, tuple(map(other.paths.path, sources)), content)

    def embed(self, contents: Mapping[str, bytes]) -> None:
        """Embed the content of some leaves' artifacts, by key, whatever its size."""
        for segment in self.segments():
            end = segment[1]
            if end.__class__ is tuple and end[0] in contents:
                segment[1] = (*end[:3], contents[end[0]])

    def _insert(self, steps: list[Step], end: tuple[Any, ...]) -> None:
        if self.root is None:
            self.root = [steps, end]
            return
        segment, position = self.root, 0
        while True:
            own, tail = segment
            agreed = _agreed(own, steps[position:])
            own[:agreed] = steps[position : position + agreed]
            position += agreed
            rest = steps[position:]
            if agreed < len(own) and rest and own[agreed][:2] == rest[0][:2]:
                # The same question with another answer: the segment forks here.
                number, question, answer = own[agreed]
                before = [own[agreed + 1 :], tail]
                segment[:] = [own[:agreed], [number, question, [[answer, before], [rest[0][2], [rest[1:], end]]]]]
                return
            if agreed < len(own) or tail.__class__ is tuple or not rest or tail[:2] != [*rest[0][:2]]:
                # The same answers led to a leaf or to another question before: the newer one wins.
                segment[:] = [[*own[:agreed], *rest], end]
                return
            for branch in tail[2]:
                if _same(rest[0][1], branch[0], rest[0][2]):
                    branch[0] = rest[0][2]
                    segment, position = branch[1], position + 1
                    break
            else:
                tail[2].append([rest[0][2], [rest[1:], end]])
                return

    # --- listing

    def segments(self) -> Iterator[Segment]:
        """Yield every segment once."""
        pending = [] if self.root is None else [self.root]
        while pending:
            segment = pending.pop()
            yield segment
            if segment[1].__class__ is not tuple:
                pending.extend(below for _, below in segment[1][2])

    def leaves(self) -> Iterator[tuple[list[Step], tuple[Any, ...]]]:
        """Yield every trace with its leaf, oldest first."""
        found: list[tuple[list[Step], tuple[Any, ...]]] = []
        pending: list[tuple[list[Step], Segment]] = [] if self.root is None else [([], self.root)]
        while pending:
            before, segment = pending.pop()
            steps = [*before, *segment[0]]
            end = segment[1]
            if end.__class__ is tuple:
                found.append((steps, end))
            else:
                number, question, branches = end
                pending.extend(([*steps, (number, question, answer)], below) for answer, below in branches)
        found.sort(key=lambda each: each[1][2])
        return iter(found)


def _agreed(known: list[Step], steps: list[Step]) -> int:
    """Return the length of the common prefix."""
    count = 0
    for one, two in zip(known, steps, strict=False):
        if one[:2] != two[:2] or not _same(one[1], one[2], two[2]):
            break
        count += 1
    return count


def _same(question: str, first: Any, second: Any) -> bool:
    return same_answer(essence(question, first), essence(question, second))
