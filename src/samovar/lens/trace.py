"""The trace: every question a compile asked, with its answer, in order. It is the cache key and the source of the guards.

Answers are plain data: None, bool, int, float, str, bytes, a dtype, an `EnumValue`, a `Kind`, or tuples of these.
"""

from __future__ import annotations

from samovar.lens.answers import Kind, same_answer, shown
from samovar.lens.path import Path
from samovar.lens.tensor_facts import EXACT_EXTENT_QUESTIONS, EXTENT_QUESTIONS, TensorFacts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class Asked:
    """One question about one path, with its answer."""

    __slots__ = ("answer", "path", "question")

    def __init__(self, path: Path, question: str, answer: Any) -> None:
        self.path = path
        self.question = question
        self.answer = answer

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Asked)
            and self.path == other.path
            and self.question == other.question
            and same_answer(self.answer, other.answer)
        )

    def __hash__(self) -> int:
        return hash((self.path, self.question))

    def __repr__(self) -> str:
        return f"{self.path}: {self.question} = {shown(self.answer)}"


class Opaque:
    """An object of no supported kind that was used as a value: its path and type."""

    __slots__ = ("path", "type_name")

    def __init__(self, path: Path, type_name: str) -> None:
        self.path = path
        self.type_name = type_name

    def __repr__(self) -> str:
        return f"{self.path} is a {self.type_name}"


class Trace:
    """The questions in order, without duplicates. `opaque` lists what prevents the compile from being cached."""

    __slots__ = ("_answers", "_asked", "_positions", "in_static", "opaque", "static_depth", "where")

    def __init__(self) -> None:
        self._asked: list[Asked] = []
        self._answers: dict[tuple[Path, str], Any] = {}
        self._positions: dict[tuple[Path, str], tuple[str, int]] = {}
        self.opaque: list[Opaque] = []
        #: The current position in the user's source, if tracked: for explanations, not part of the key.
        self.where: Callable[[], tuple[str, int]] | None = None
        #: The nesting depth of `static(…)`, and the paths first asked about inside one: not part of the key either.
        self.static_depth = 0
        self.in_static: set[Path] = set()

    def record(self, path: Path, question: str, answer: Any) -> None:
        """Add a question, unless it was asked before."""
        key = (path, question)
        if key not in self._answers:
            self._answers[key] = answer
            self._asked.append(Asked(path, question, answer))
            if self.static_depth:
                self.in_static.add(path)
            if self.where is not None:
                self._positions[key] = self.where()

    def position(self, path: Path, question: str) -> tuple[str, int] | None:
        """Return the file and line where a question came up."""
        return self._positions.get((path, question))

    def note_opaque(self, path: Path, type_name: str) -> None:
        """Record an opaque object, for the message about it."""
        self.opaque.append(Opaque(path, type_name))

    def answer(self, path: Path, question: str, default: Any = None) -> Any:
        """Return the recorded answer, or the default if the question was not asked."""
        return self._answers.get((path, question), default)

    def facts(self) -> dict[Path, dict[str, Any]]:
        """Path → question → answer, in the order in which paths came up."""
        facts: dict[Path, dict[str, Any]] = {}
        for asked in self._asked:
            facts.setdefault(asked.path, {})[asked.question] = asked.answer
        return facts

    def __contains__(self, key: tuple[Path, str]) -> bool:
        return key in self._answers

    def __iter__(self) -> Iterator[Asked]:
        return iter(self._asked)

    def __len__(self) -> int:
        return len(self._asked)

    def __getitem__(self, index: int) -> Asked:
        return self._asked[index]

    def __repr__(self) -> str:
        return "\n".join(map(repr, self._asked))


class Mismatch:
    """The first question whose answer has changed."""

    __slots__ = ("new", "old", "path", "question")

    def __init__(self, path: Path, question: str, old: Any, new: Any) -> None:
        self.path = path
        self.question = question
        self.old = old
        self.new = new

    def __str__(self) -> str:
        path, question = self.path, self.question
        what = f"parameter `{path}`" if path.step == "parameter" else str(path)
        if question == "disjoint":
            written, everything = path.key
            names = ", ".join(map(str, written)), ", ".join(map(str, everything))
            return f"written {names[0]} now overlaps {'none' if self.new else 'one'} of {names[1]}"
        if question == "tensor" and isinstance(self.old, tuple) and isinstance(self.new, tuple):
            return f"{what}: {TensorFacts(*self.old).changes(TensorFacts(*self.new))}"
        if question in EXTENT_QUESTIONS or question in EXACT_EXTENT_QUESTIONS:
            dimension = int(question.rpartition(" ")[2])
            extents = [str(extent or "one that code is not specialized on") for extent in (self.old, self.new)]
            return f"{what}: the extent of dimension {dimension} changed from {extents[0]} to {extents[1]}"
        if question in ("function", "source"):
            what = str(path.parent if path.step == "function" and path.parent is not None else path)
            return f"{what} is no longer a function" if self.new is None else f"the code of {what}() changed"
        if question == "signature":
            return f"the annotations or options of {what} changed"
        if question in ("same", "same cell"):
            return f"{what} is no longer the same as {self.old}"
        if question == "namespace":
            return f"{what} is now in another module than {self.old}"
        if question == "kind" and self.new is Kind.ABSENT:
            return f"{what} no longer exists"
        if question == "values":
            return f"the elements of {what} changed"
        if question == "immutable":
            return f"{what} is {'now' if self.new else 'no longer'} a tuple of constants"
        word = {"option": "", "value": "", "call": ""}.get(question, f": {question}")
        return f"{what}{word} changed from {shown(self.old)} to {shown(self.new)}"

    def __repr__(self) -> str:
        return f"<Mismatch {self}>"
