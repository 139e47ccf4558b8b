"""Asking recorded questions again, on other arguments, possibly in another process.

This is what a lookup does instead of a compile, so it is short: objects are read along the rows of a table of paths, each
once, and nothing is recorded. What cannot be answered any more is answered with None, which no compile was told.
"""

from __future__ import annotations

from samovar._native import agreeing_steps, set_replay_tables
from samovar.language import Declaration, do_lines_count
from samovar.lens import functions, questions, text
from samovar.lens.answers import EnumValue, Kind, same_answer
from samovar.lens.path import STEPS, Path, compared_paths
from samovar.lens.portable import MARKS, PathTable
from samovar.reflection import ABSENT, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CellType
    from typing import Any

    from samovar.language import KernelSignature, Options
    from samovar.lens.enum_members import EnumMembers
    from samovar.lens.trace import Mismatch, Trace
    from samovar.lens.tree import Step

_UNREAD: Any = object()
set_replay_tables(
    {"questions": functions.QUESTIONS, "steps": STEPS, "kinds": Kind.members, "marks": MARKS},
    tuple((cls, kind.name) for cls, kind in questions.EXACT_KINDS),
    questions.learn_intrinsics(),
    Declaration,
    ABSENT,
    _UNREAD,
)


class Replay:
    """One kernel and one set of arguments, seen along the paths of a table."""

    __slots__ = (
        "_arguments", "_enum_members", "_objects", "_options", "_signature", "function", "last", "paths", "reread", "seen",
    )  # fmt: skip

    def __init__(
        self,
        paths: PathTable,
        function: FunctionType,
        arguments: dict[str, Any],
        signature: KernelSignature,
        options: Options,
    ) -> None:
        questions.learn_intrinsics()
        self.paths = paths
        self.function = function
        self._arguments = arguments
        self._signature = signature
        self._options = options
        self._objects: list[Any] = [_UNREAD] * len(paths)
        self._enum_members: EnumMembers | None = None
        #: What was seen of things that can change while they stay the same object, by the number of the path.
        self.seen: dict[int, tuple[Any, ...]] = {}
        self.last: Any = None
        #: By number: texts that have other lines than expected, and the same meaning.
        self.reread: dict[int, text.Text] = {}

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

        Native code asks what it can by itself; with `native=False` everything is asked here, which is the reference.
        """
        if not native:
            return next((place for place, step in enumerate(steps) if not self._agrees_encoded(*step)), len(steps))
        return agreeing_steps(
            steps,
            self.paths.rows,
            self._objects,
            self.function,
            self._signature,
            self._arguments,
            self._options.__dict__,
            self.locations(),
            self.object,
            self._agrees_encoded,
        )

    def _agrees_encoded(self, number: int, question: str, encoded: Any) -> bool:
        if question in functions.RELATIONS:
            # The answer is a path of the same table: its number is known.
            try:
                related = self._related(number, question, encoded[2])
            except Exception:  # as below
                related = False
            self.last = self.paths.decoded(encoded) if related else None
            return related
        return self.agrees(number, question, self.paths.decoded(encoded))

    def agrees(self, number: int, question: str, expected: Any) -> bool:
        """Is a question answered as expected? `last` is the answer."""
        try:
            answer = self._answer(number, question, expected)
        except Exception:  # whatever the user's code raises: a compile will say what and where
            answer = None
        self.last = answer
        return answer is expected or same_answer(answer, expected)

    def _answer(self, number: int, question: str, expected: Any) -> Any:
        if question == "source":
            function = self.object(number)
            return None if function is ABSENT else self._text(number, function, expected)
        about_function = functions.QUESTIONS_ABOUT_FUNCTIONS.get(question)
        if about_function is not None:
            function = self.object(number)
            return None if function is ABSENT else about_function(function, self._signature_of(number), self.locations())
        ask = functions.QUESTIONS_ABOUT_OBJECTS.get(question)
        if ask is not None:
            return ask(self.object(number))
        about_value = functions.QUESTIONS_ABOUT_VALUES.get(question)
        if about_value is not None:
            return about_value(self.object(number), self.enum_members)
        if question == "values":
            return self._values(number)
        parent, step, key = self.paths.rows[number]
        about_member = functions.QUESTIONS_ABOUT_MEMBERS.get(question)
        if about_member is not None:
            return about_member(self.object(parent), key, self.object(number))
        if step == "options":
            return getattr(self._options, key)
        if step == "overlap":
            return self._disjoint(self.paths.path(number))
        if question not in functions.RELATIONS:
            raise ValueError(f"there is no question {question!r}")
        return expected if self._related(number, question, self.paths.number(expected)) else None

    def _values(self, number: int) -> str:
        from samovar.lens.long_sequences import Elements

        found = Elements(self.object(number), self.enum_members)
        self.seen[number] = (found.contents,)
        return found.digest

    def locations(self) -> bool:
        """Do files and line numbers count?"""
        return do_lines_count(self._options)

    def _text(self, number: int, function: FunctionType, expected: text.Text) -> text.Text:
        now = text.present_text(function, expected)
        if now is expected or now[2] != expected[2]:
            return now
        self.reread[number] = now
        return expected

    def has_text(self, number: int) -> bool:
        """Is there a text that the function at a path was loaded from?"""
        function = self.object(number)
        return type(function) is FunctionType and text.has_text(function)

    def _signature_of(self, number: int) -> KernelSignature | None:
        parent = self.paths.rows[number][0]
        if parent < 0:
            return self._signature
        owner = self.object(parent)
        return owner.signature if isinstance(owner, Declaration) else None

    def _related(self, number: int, question: str, known: int) -> bool:
        if question == "same cell":
            cell = self._cell(number)
            return cell is not None and cell is self._cell(known)
        one, two = self.object(number), self.object(known)
        if type(one) is not FunctionType or type(two) is not FunctionType:
            return False
        return one is two if question == "same" else functions.share_namespace(one, two)

    def _cell(self, number: int) -> CellType | None:
        parent, _, name = self.paths.rows[number]
        function = self.object(parent)
        return functions.cell_of(function, name) if type(function) is FunctionType else None

    def _disjoint(self, path: Path) -> bool:
        written, everything = path.key
        others = tuple(self.object_at(each) for each in everything if each not in written)
        return questions.disjoint(tuple(map(self.object_at, written)), others)

    # --- reading

    def object(self, number: int) -> Any:
        """What a path leads to, read once; ABSENT where it leads nowhere."""
        found = self._objects[number]
        if found is _UNREAD:
            parent, step, key = self.paths.rows[number]
            found = self._called(number, parent) if step == "call" else _READERS[step](self, parent, key)
            self._objects[number] = found
        return found

    def objects(self, numbers: tuple[int, ...]) -> list[Any]:
        """What some paths lead to."""
        return [found if (found := self._objects[number]) is not _UNREAD else self.object(number) for number in numbers]

    def _named(self, step: str, parent: int, name: str) -> Any:
        function = self.object(parent)
        return functions.look_up(function, step, name) if type(function) is FunctionType else ABSENT

    def _called(self, number: int, parent: int) -> Any:
        function = self.object(parent)
        if function is ABSENT:
            return ABSENT
        from samovar.lens.contents import watched_call

        path = self.paths.path(number)
        _, arguments, keywords = path.key
        named = {name: self.actual(value) for name, value in keywords}
        compared = list(map(self.object_at, compared_paths(path)))
        result, self.seen[number] = watched_call(compared, lambda: function(*map(self.actual, arguments), **named))
        return result

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


_READERS: dict[str, Callable[[Replay, int, Any], Any]] = {
    "parameter": lambda replay, _, key: replay._arguments.get(key, ABSENT),
    "kernel": lambda replay, _, key: replay.function,
    "operator": lambda replay, _, key: questions.operator_named(key),
    "options": lambda replay, _, key: ABSENT,
    "overlap": lambda replay, _, key: ABSENT,
    "attribute": lambda replay, parent, key: questions.read_attribute(replay.object(parent), key),
    "item": lambda replay, parent, key: questions.read_item(
        replay.object(parent), replay.actual(replay.paths.decoded(key))
    ),
    "super": lambda replay, parent, key: questions.read_inherited(
        replay.object(parent), replay.actual(replay.paths.decoded(key))
    ),
    "function": lambda replay, parent, _: functions.function_under(replay.object(parent)),
    **{
        step: lambda replay, parent, key, step=step: replay._named(step, parent, key)  # type: ignore[misc]
        for step in ("cell", "global", "builtin", "undefined", "default")
    },
}


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
