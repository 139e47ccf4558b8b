"""The decision tree of a kernel: what to ask next, given the answers so far, and what was compiled for them.

A compile is a pure function of the answers it gets, so two compiles that got the same answers ask the same next question.
A segment is a run of questions with one known answer each; it ends in a leaf or in a fork, where several answers are known.
All of it is plain data (see `portable`), so that it is kept in a file as it is. A tree only ever gives hints: what is not in
it is compiled.
"""

from __future__ import annotations

from samovar.lens.answers import essence, same_answer
from samovar.lens.path import RELATIONS, STEPS
from samovar.lens.portable import PathTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from samovar.lens.path import Path
    from samovar.lens.portable import Row
    from samovar.lens.replaying import Replay
    from samovar.lens.text import Text
    from samovar.lens.trace import Trace

    #: [steps, (key, sources, age, content) or [number, question, [[answer, segment], …]]]
    Segment = list[Any]
    #: (number of a path, question, encoded answer)
    Step = tuple[int, str, Any]

#: Questions whose answer is a comparison with what is expected.
COMPARED = (*RELATIONS, "source")
#: How many leaves a tree keeps; the oldest goes.
MOST_LEAVES = 512
#: How many steps are looked at for texts.
MOST_STEPS_LOOKED_AT = 20_000
#: How many bytes of what its leaves lead to a tree keeps: all of it is read to find one leaf.
MOST_CONTENT = 1 << 15


class Leaf:
    """What the answers lead to: the key of an artifact, the numbers of the paths that its guards speak of, and its content
    if the tree keeps that as well."""

    __slots__ = ("content", "key", "sources", "steps")

    def __init__(self, key: str, sources: tuple[int, ...], steps: list[Step], content: bytes | None = None) -> None:
        self.key = key
        self.sources = sources
        self.steps = steps
        self.content = content


class Miss:
    """Where a walk ended: the first question whose answer is not known, and what is known there."""

    __slots__ = ("answer", "known", "number", "question")

    def __init__(self, number: int, question: str, answer: Any, known: tuple[Any, ...]) -> None:
        self.number = number
        self.question = question
        self.answer = answer
        self.known = known


class Tree:
    """The questions of one kernel. `root` is None while nothing is known."""

    __slots__ = ("paths", "root")

    def __init__(self, rows: list[Row] | None = None, root: Segment | None = None) -> None:
        self.paths = PathTable([] if rows is None else rows)
        self.root = root

    # --- as data

    def data(self) -> tuple[Any, ...]:
        """The tree as plain data."""
        return (self.paths.rows, self.root)

    @classmethod
    def of(cls, data: tuple[Any, ...]) -> Tree:
        """The tree that plain data stands for."""
        rows, root = data
        return cls(rows, root)

    def check(self) -> None:
        """Raise something if the data is not that of a tree. A walk does not look at all of it, who adds to it does."""
        rows, decoded = self.paths.rows, self.paths.decoded
        for number, (parent, step, _) in enumerate(rows):
            if not -1 <= parent < number or step not in STEPS:
                raise ValueError("a path has no beginning")
            self.paths.path(number)
        for steps, end in self.segments():
            if end.__class__ is tuple:
                key, sources, age, content = end
                if not all(0 <= number < len(rows) for number in sources) or key.__class__ is not str or age < 0:
                    raise ValueError("a leaf leads nowhere")
                if content is not None and content.__class__ is not bytes:
                    raise ValueError("a leaf has something else than bytes")
                asked = steps
            else:
                number, question, branches = end
                asked = [*steps, *((number, question, encoded) for encoded, _ in branches)]
            for number, question, encoded in asked:
                if not 0 <= number < len(rows):
                    raise ValueError("a question is about nothing")
                essence(question.casefold(), decoded(encoded))

    # --- asking

    def walk(self, replay: Replay) -> Leaf | Miss | None:
        """Ask until a leaf, or until an answer that is not known. None if there is nothing to ask."""
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
                # Several texts with the same bytecode are known, and which of them was loaded cannot be told.
                return Miss(number, question, None, tuple(decoded(encoded) for encoded, _ in branches))
            answered = False
            for encoded, below in branches:
                # An answer does not depend on what is expected, unless it is a comparison.
                expected = decoded(encoded)
                if same_answer(replay.last, expected) if answered else replay.agrees(number, question, expected):
                    asked = [*asked, (number, question, encoded)]
                    segment = below
                    break
                answered = question not in COMPARED
            else:
                return Miss(number, question, replay.last, tuple(decoded(encoded) for encoded, _ in branches))

    def trace(self, steps: list[Step], reread: Mapping[int, Any] | None = None) -> Trace:
        """What was asked on the way to a leaf, with the texts that were read again as they are now."""
        from samovar.lens.trace import Trace

        trace, path, decoded = Trace(), self.paths.path, self.paths.decoded
        for number, question, encoded in steps:
            answer = reread.get(number, encoded) if reread and question == "source" else encoded
            trace.record(path(number), question, decoded(answer))
        return trace

    def texts(self) -> dict[Any, list[Text]]:
        """The texts that functions were compiled from, by the answer to what their code is: a hint, as all of it, for who
        would compare a text with the code again. Of a large tree, those that come first."""
        found: dict[Any, list[Text]] = {}
        codes: dict[int, Any] = {}  # by the number of a path, on the way to where a walk is
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
        """Remember what a trace leads to, with its content if there is room. What was known for the same answers is
        replaced."""
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
        # Leaves are numbered in the order they came, which is what lets the oldest go.
        age = 1 + max((end[2] for end in ends), default=0)
        kept = sum(len(end[3] or b"") for end in ends if end[0] != key)
        self._insert(steps, (key, sources, age, content if content and kept + len(content) <= MOST_CONTENT else None))

    def adopt(self, other: Tree, wanted: Callable[[str], object] = bool) -> None:
        """Add what another tree of the same kernel leads to, as far as its keys are wanted."""
        for steps, (key, sources, _, content) in other.leaves():
            if wanted(key):
                self.add(other.trace(steps), key, tuple(map(other.paths.path, sources)), content)

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
                # The same question with another answer: here the segment becomes a fork.
                number, question, answer = own[agreed]
                before = [own[agreed + 1 :], tail]
                segment[:] = [own[:agreed], [number, question, [[answer, before], [rest[0][2], [rest[1:], end]]]]]
                return
            if agreed < len(own) or tail.__class__ is tuple or not rest or tail[:2] != [*rest[0][:2]]:
                # The same answers led to an end or to another question before: what is newer counts.
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
        """Every run of questions once, whatever leads there."""
        pending = [] if self.root is None else [self.root]
        while pending:
            segment = pending.pop()
            yield segment
            if segment[1].__class__ is not tuple:
                pending.extend(below for _, below in segment[1][2])

    def leaves(self) -> Iterator[tuple[list[Step], tuple[Any, ...]]]:
        """Every trace with its end, oldest first."""
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
    """How many steps are the same from the beginning."""
    count = 0
    for one, two in zip(known, steps, strict=False):
        if one[:2] != two[:2] or not _same(one[1], one[2], two[2]):
            break
        count += 1
    return count


def _same(question: str, first: Any, second: Any) -> bool:
    return same_answer(essence(question, first), essence(question, second))
