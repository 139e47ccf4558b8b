"""The Python implementation of replay: every question and every step of a path. It is the reference for native code.

Native code falls back to it for what it does not implement, and where an answer differs from the expected one.
"""

from __future__ import annotations

from samovar._native import check_replay_words
from samovar.language import Declaration
from samovar.lens import question_tables, questions
from samovar.lens.answers import Kind
from samovar.lens.path import RELATIONS, STEPS, Path, compared_paths
from samovar.lens.serialized import TAGS
from samovar.reflection import ABSENT, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CellType
    from typing import Any

    from samovar.language import KernelSignature
    from samovar.lens.replaying import Replay
    from samovar.lens.text import Text

check_replay_words({"questions": question_tables.QUESTIONS, "steps": STEPS, "kinds": Kind.members, "marks": TAGS})


def answer_to(replay: Replay, number: int, question: str, expected: Any) -> Any:
    """Return the current answer to a question about a path; if it is unchanged, preferably the expected object itself."""
    if question == "source":
        function = replay.object(number)
        return None if function is ABSENT else _text(replay, number, function, expected)
    about_function = question_tables.QUESTIONS_ABOUT_FUNCTIONS.get(question)
    if about_function is not None:
        function = replay.object(number)
        signature = _signature_of(replay, number)
        return None if function is ABSENT else about_function(function, signature, replay.locations())
    ask = question_tables.QUESTIONS_ABOUT_OBJECTS.get(question)
    if ask is not None:
        return ask(replay.object(number))
    about_value = question_tables.QUESTIONS_ABOUT_VALUES.get(question)
    if about_value is not None:
        return about_value(replay.object(number), replay.enum_members)
    if question == "values":
        return _values(replay, number)
    parent, step, key = replay.paths.rows[number]
    about_member = question_tables.QUESTIONS_ABOUT_MEMBERS.get(question)
    if about_member is not None:
        return about_member(replay.object(parent), key, replay.object(number))
    if step == "options":
        return getattr(replay.options, key)
    if step == "overlap":
        return _disjoint(replay, replay.paths.path(number))
    if question not in RELATIONS:
        raise ValueError(f"unknown question {question!r}")
    return expected if are_related(replay, number, question, replay.paths.number(expected)) else None


def are_related(replay: Replay, number: int, question: str, known: int) -> bool:
    """Whether the objects at two paths are related by `question`, one of `RELATIONS`."""
    if question == "same cell":
        cell = _cell(replay, number)
        return cell is not None and cell is _cell(replay, known)
    one, two = replay.object(number), replay.object(known)
    if type(one) is not FunctionType or type(two) is not FunctionType:
        return False
    return one is two if question == "same" else question_tables.share_namespace(one, two)


def _values(replay: Replay, number: int) -> str:
    from samovar.lens.long_sequences import Elements

    found = Elements(replay.object(number), replay.enum_members)
    replay.seen[number] = (found.contents,)
    return found.digest


def _text(replay: Replay, number: int, function: FunctionType, expected: Text) -> Text:
    from samovar.lens.text import present_text

    now = present_text(function, expected)
    if now is expected or now[2] != expected[2]:
        return now
    replay.reread[number] = now
    return expected


def _signature_of(replay: Replay, number: int) -> KernelSignature | None:
    parent = replay.paths.rows[number][0]
    if parent < 0:
        return replay.signature
    owner = replay.object(parent)
    return owner.signature if isinstance(owner, Declaration) else None


def _cell(replay: Replay, number: int) -> CellType | None:
    parent, _, name = replay.paths.rows[number]
    function = replay.object(parent)
    return question_tables.cell_of(function, name) if type(function) is FunctionType else None


def _disjoint(replay: Replay, path: Path) -> bool:
    written, everything = path.key
    others = tuple(replay.object_at(each) for each in everything if each not in written)
    return questions.disjoint(tuple(map(replay.object_at, written)), others)


# --- reading


def read_object(replay: Replay, number: int) -> Any:
    """Return the object at a path, or ABSENT."""
    parent, step, key = replay.paths.rows[number]
    return _called(replay, number, parent) if step == "call" else _READERS[step](replay, parent, key)


def _named(replay: Replay, step: str, parent: int, name: str) -> Any:
    function = replay.object(parent)
    return question_tables.look_up(function, step, name) if type(function) is FunctionType else ABSENT


def _called(replay: Replay, number: int, parent: int) -> Any:
    function = replay.object(parent)
    if function is ABSENT:
        return ABSENT
    from samovar.lens.deep_values import watched_call

    path = replay.paths.path(number)
    _, arguments, keywords = path.key
    named = {name: replay.actual(value) for name, value in keywords}
    compared = (function, *map(replay.object_at, compared_paths(path)[1:]))
    result, replay.seen[number] = watched_call(compared, tuple(map(replay.actual, arguments)), named)
    return result


def _parameter(replay: Replay, _: int, name: str) -> Any:
    return replay.arguments.get(name, ABSENT)


def _kernel(replay: Replay, _: int, name: str) -> Any:
    return replay.function


def _item(replay: Replay, parent: int, key: Any) -> Any:
    return questions.read_item(replay.object(parent), replay.actual(replay.paths.decoded(key)))


def _inherited(replay: Replay, parent: int, key: Any) -> Any:
    return questions.read_inherited(replay.object(parent), replay.actual(replay.paths.decoded(key)))


_READERS: dict[str, Callable[[Replay, int, Any], Any]] = {
    "parameter": _parameter,
    "kernel": _kernel,
    "operator": lambda replay, _, key: questions.operator_named(key),
    "options": lambda replay, _, key: ABSENT,
    "overlap": lambda replay, _, key: ABSENT,
    "attribute": lambda replay, parent, key: questions.read_attribute(replay.object(parent), key),
    "item": _item,
    "super": _inherited,
    "function": lambda replay, parent, _: question_tables.wrapped_function(replay.object(parent)),
    **{
        step: lambda replay, parent, key, step=step: _named(replay, step, parent, key)  # type: ignore[misc]
        for step in ("cell", "global", "builtin", "undefined", "default")
    },
}
