"""Asking recorded questions again, on other arguments, possibly in another process.

This is what a lookup does instead of a compile, so it is short: objects are read along the rows of a table of paths, each
once, and nothing is recorded. What cannot be answered any more is answered with None, which no compile was told. Native code
asks the questions that a warm start is full of; the others are asked by `asking`, which is loaded when there is one.
"""

from __future__ import annotations

from samovar._native import agreeing_steps, set_replay_tables
from samovar.language import Declaration, do_lines_count
from samovar.lens.answers import EnumValue, same_answer
from samovar.lens.path import RELATIONS, Path
from samovar.lens.portable import PathTable
from samovar.lens.recognition import (
    BASE_KINDS,
    CARRIED,
    EXACT_KINDS,
    INTRINSICS,
    NATIVE_NAMES,
    learn_intrinsics,
    unloaded_intrinsic,
)
from samovar.reflection import ABSENT, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.language import KernelSignature, Options
    from samovar.lens.enum_members import EnumMembers
    from samovar.lens.text import Text
    from samovar.lens.trace import Mismatch, Trace
    from samovar.lens.tree import Step

_UNREAD: Any = object()
set_replay_tables(
    tuple((cls, kind.name) for cls, kind in EXACT_KINDS),
    BASE_KINDS,
    INTRINSICS,
    NATIVE_NAMES,
    learn_intrinsics,
    unloaded_intrinsic,
    CARRIED,
    Declaration,
    ABSENT,
    _UNREAD,
)


class Replay:
    """One kernel and one set of arguments, seen along the paths of a table."""

    __slots__ = (
        "_enum_members", "_objects", "arguments", "function", "last", "options", "paths", "reread", "seen", "signature",
    )  # fmt: skip

    def __init__(
        self,
        paths: PathTable,
        function: FunctionType,
        arguments: dict[str, Any],
        signature: KernelSignature,
        options: Options,
    ) -> None:
        learn_intrinsics()
        self.paths = paths
        self.function = function
        self.arguments = arguments
        self.signature = signature
        self.options = options
        self._objects: list[Any] = [_UNREAD] * len(paths)
        self._enum_members: EnumMembers | None = None
        #: What was seen of things that can change while they stay the same object, by the number of the path. None of a
        #: plain call that has to be made again.
        self.seen: dict[int, tuple[Any, ...] | None] = {}
        self.last: Any = None
        #: By number: texts that have other lines than expected, and the same meaning.
        self.reread: dict[int, Text] = {}

    @property
    def enum_members(self) -> EnumMembers:
        """The members of enums that have come up; few programs have any."""
        if self._enum_members is None:
            from samovar.lens.enum_members import EnumMembers

            self._enum_members = EnumMembers()
        return self._enum_members

    @enum_members.setter
    def enum_members(self, members: EnumMembers) -> None:
        self._enum_members = members

    def agreeing(self, steps: list[Step], native: bool = True) -> int:
        """How many steps, from the beginning, are answered as they were. `last` is the first other answer.

        Native code asks what it can by itself; with `native=False` everything is asked in Python, which is the reference.
        """
        if not native:
            return next((place for place, step in enumerate(steps) if not self._agrees_encoded(*step)), len(steps))
        return agreeing_steps(
            steps,
            self.paths.rows,
            self._objects,
            self.function,
            self.signature,
            self.arguments,
            self.options.__dict__,
            self.locations(),
            self.object,
            self._agrees_encoded,
        )

    def _agrees_encoded(self, number: int, question: str, encoded: Any) -> bool:
        if question in RELATIONS:
            from samovar.lens.asking import are_related

            # The answer is a path of the same table: its number is known.
            try:
                related = are_related(self, number, question, encoded[2])
            except Exception:  # as below
                related = False
            self.last = self.paths.decoded(encoded) if related else None
            return related
        return self.agrees(number, question, self.paths.decoded(encoded))

    def agrees(self, number: int, question: str, expected: Any) -> bool:
        """Is a question answered as expected? `last` is the answer."""
        from samovar.lens.asking import answer_to

        try:
            answer = answer_to(self, number, question, expected)
        except Exception:  # whatever the user's code raises: a compile will say what and where
            answer = None
        self.last = answer
        return answer is expected or same_answer(answer, expected)

    def locations(self) -> bool:
        """Do files and line numbers count?"""
        return do_lines_count(self.options)

    def has_text(self, number: int) -> bool:
        """Is there a text that the function at a path was loaded from?"""
        from samovar.lens.text import has_text

        function = self.object(number)
        return type(function) is FunctionType and has_text(function)

    # --- reading

    def object(self, number: int) -> Any:
        """What a path leads to, read once; ABSENT where it leads nowhere."""
        found = self._objects[number]
        if found is _UNREAD:
            from samovar.lens.asking import read_object

            found = self._objects[number] = read_object(self, number)
        return found

    def objects(self, numbers: tuple[int, ...]) -> list[Any]:
        """What some paths lead to."""
        return [found if (found := self._objects[number]) is not _UNREAD else self.object(number) for number in numbers]

    def actual(self, argument: Any) -> Any:
        """The object behind an argument of a call or a key: a simple value, an enum value, a path, or a tuple of them."""
        if isinstance(argument, Path):
            return self.object_at(argument)
        if isinstance(argument, EnumValue):
            return self.enum_members.behind(argument)
        if isinstance(argument, tuple):
            return tuple(map(self.actual, argument))
        return argument

    # --- for who makes guards

    def object_at(self, path: Path) -> Any:
        """The object at a path; ABSENT where it leads nowhere."""
        return self.object(self.paths.number(path))

    def function_behind(self, path: Path) -> FunctionType:
        """The function at a path that a trace has a function at."""
        function = self.object_at(path)
        assert type(function) is FunctionType
        return function


def replay(
    trace: Trace,
    function: FunctionType,
    arguments: dict[str, Any],
    signature: KernelSignature,
    options: Options,
) -> Mismatch | None:
    """Ask the questions of a trace, in order, on other arguments: None, or the first that is answered differently.

    Nothing is asked after the first difference: a compile on these arguments might not have asked it.
    """
    from samovar.lens.trace import Mismatch

    paths = PathTable([])
    numbers = [paths.number(asked.path) for asked in trace]
    for asked in trace:
        paths.encoded(asked.answer)  # a path that is only an answer has a row as well
    again = Replay(paths, function, arguments, signature, options)
    for number, asked in zip(numbers, trace, strict=True):
        if not again.agrees(number, asked.question, asked.answer):
            return Mismatch(asked.path, asked.question, asked.answer, again.last)
    return None
