"""Replay: asks recorded questions again for other arguments, possibly in another process.

A cache lookup runs this instead of a compile, so it is short: it reads each object of a path table once and records nothing.
A question that can no longer be answered yields None, which is never a recorded answer. Native code asks the questions that
dominate a warm start; `asking` handles the others and is imported on demand.
"""

from __future__ import annotations

from samovar._native import agreeing_steps, objects_at, set_replay_tables
from samovar.language import Declaration, do_lines_count
from samovar.lens.answers import EnumValue, same_answer
from samovar.lens.path import RELATIONS, Path
from samovar.lens.recognition import (
    BASE_KINDS,
    CARRIED,
    EXACT_KINDS,
    INTRINSICS,
    NATIVE_NAMES,
    learn_intrinsics,
    unloaded_intrinsic,
)
from samovar.lens.serialized import PathTable
from samovar.reflection import ABSENT, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.language import KernelSignature, Options
    from samovar.lens.decision_tree import Step
    from samovar.lens.enum_members import EnumMembers
    from samovar.lens.text import Text
    from samovar.lens.trace import Mismatch, Trace

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
    """One kernel and one set of arguments, read along the paths of a table."""

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
        self.signature = signature
        self.begin(arguments, options)

    def begin(self, arguments: dict[str, Any], options: Options) -> None:
        """Forget what was read, and read other arguments from now on."""
        self.arguments = arguments
        self.options = options
        self._objects: list[Any] = [_UNREAD] * len(self.paths)
        self._enum_members: EnumMembers | None = None
        #: Deep values of mutable objects, by path number. None for a plain call that has to be repeated.
        self.seen: dict[int, tuple[Any, ...] | None] = {}
        self.last: Any = None
        #: By path number: source texts whose lines changed but whose meaning did not.
        self.reread: dict[int, Text] = {}

    @property
    def enum_members(self) -> EnumMembers:
        """The enum members seen so far. Few programs have any, so it is created on demand."""
        if self._enum_members is None:
            from samovar.lens.enum_members import EnumMembers

            self._enum_members = EnumMembers()
        return self._enum_members

    @enum_members.setter
    def enum_members(self, members: EnumMembers) -> None:
        self._enum_members = members

    def agreeing(self, steps: list[Step], native: bool = True) -> int:
        """Return how many leading steps have unchanged answers. `last` is the first changed answer.

        Native code asks what it can. With `native=False` everything is asked in Python, which is the reference.
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

            # The answer is a path in the same table, so its number is known.
            try:
                related = are_related(self, number, question, encoded[2])
            except Exception:  # as in `agrees`
                related = False
            self.last = self.paths.decoded(encoded) if related else None
            return related
        return self.agrees(number, question, self.paths.decoded(encoded))

    def agrees(self, number: int, question: str, expected: Any) -> bool:
        """Whether a question is answered as expected. `last` is the answer."""
        from samovar.lens.asking import answer_to

        try:
            answer = answer_to(self, number, question, expected)
        except Exception:  # whatever user code raises: a compile will report it
            answer = None
        self.last = answer
        return answer is expected or same_answer(answer, expected)

    def locations(self) -> bool:
        """Whether file names and line numbers matter."""
        return do_lines_count(self.options)

    def has_text(self, number: int) -> bool:
        """Whether the source that the function at a path was loaded from is available."""
        from samovar.lens.text import has_text

        function = self.object(number)
        return type(function) is FunctionType and has_text(function)

    # --- reading

    def object(self, number: int) -> Any:
        """Return the object at a path, read once; ABSENT if the path leads nowhere."""
        found = self._objects[number]
        if found is _UNREAD:
            from samovar.lens.asking import read_object

            found = self._objects[number] = read_object(self, number)
        return found

    def objects(self, numbers: tuple[int, ...]) -> list[Any]:
        """Return the objects at several paths."""
        return objects_at(numbers, self.paths.rows, self._objects, self.function, self.arguments, self.object)

    def actual(self, argument: Any) -> Any:
        """Return the object behind an argument of a call or a key: a simple value, an enum value, a path, or a tuple of
        these."""
        if isinstance(argument, Path):
            return self.object_at(argument)
        if isinstance(argument, EnumValue):
            return self.enum_members.behind(argument)
        if isinstance(argument, tuple):
            return tuple(map(self.actual, argument))
        return argument

    # --- for creating guards

    def object_at(self, path: Path) -> Any:
        """Return the object at a path, or ABSENT."""
        return self.object(self.paths.number(path))

    def function_behind(self, path: Path) -> FunctionType:
        """Return the function at a path, which must lead to one."""
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
    """Ask the questions of a trace, in order, for other arguments. Return the first that is answered differently, or None.

    It stops at the first difference: a compile with these arguments might not have asked the questions that follow.
    """
    from samovar.lens.trace import Mismatch

    paths = PathTable([])
    numbers = [paths.number(asked.path) for asked in trace]
    for asked in trace:
        paths.encoded(asked.answer)  # paths that occur only in answers need rows as well
    again = Replay(paths, function, arguments, signature, options)
    for number, asked in zip(numbers, trace, strict=True):
        if not again.agrees(number, asked.question, asked.answer):
            return Mismatch(asked.path, asked.question, asked.answer, again.last)
    return None
