"""The tables of all questions, and how names resolve in Python functions.

Both recording (`reference`) and replay (`asking`) use them, so that both see the same.
"""

from __future__ import annotations

from samovar._native import plain_digest
from samovar.lens import questions
from samovar.lens.answers import Kind
from samovar.lens.path import RELATIONS
from samovar.lens.recognition import code_answer
from samovar.lens.tensor_facts import EXACT_EXTENT_QUESTIONS, EXTENT_QUESTIONS
from samovar.reflection import ABSENT, FunctionType, MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CellType
    from typing import Any

    from samovar.language import KernelSignature
    from samovar.lens.enum_members import EnumMembers

def _compound() -> Any:
    """The module `compound`, imported on first use."""
    from samovar.lens import compound

    return compound


#: Questions about one object: name → function of the object.
QUESTIONS_ABOUT_OBJECTS: dict[str, Callable[[Any], Any]] = {
    "kind": questions.kind,
    "tensor": questions.tensor,
    "readonly": questions.readonly,
    "layout": questions.layout,
    "scalar type": lambda value: questions.scalar_type(value).__name__,
    "number type": questions.number_type,
    "intrinsic": questions.intrinsic,
    "length": questions.length,
    "list": questions.is_list,
    "immutable": questions.is_immutable,
    "annotation": lambda value: questions.annotation(value).key(),
    "opaque": questions.type_name,
    "whole": questions.type_name,
    "class": lambda value: _compound().description(type(value)),
    "method": lambda value: is_bound_method(value),
    "bases": lambda value: _compound().names_of_bases(type(value)),
    **{
        question: lambda value, axis=axis: questions.extent(value, axis)  # type: ignore[misc]
        for axis, question in enumerate(EXTENT_QUESTIONS)
    },
    **{
        question: lambda value, axis=axis: questions.shape(value)[axis]  # type: ignore[misc]
        for axis, question in enumerate(EXACT_EXTENT_QUESTIONS)
    },
}

#: Questions about an object that may be, or may hold, enum members: name → function of the object and the members.
QUESTIONS_ABOUT_VALUES: dict[str, Callable[[Any, EnumMembers], Any]] = {
    "value": questions.value,
    "keys": questions.keys,
    "call": questions.call_result,
}

#: Questions about attributes: name → function of the owner, the attribute's name, and its value.
QUESTIONS_ABOUT_MEMBERS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "constant": lambda owner, name, value: _compound().is_constant(type(owner), name),
    "bound": lambda owner, name, value: type(value) is MethodType and value.__self__ is owner,
}


def wrapped_function(value: Any) -> Any:
    """Return the Python function that a func wraps, or a plain function itself; otherwise ABSENT."""
    if questions.kind(value) is Kind.FUNC:
        return value.__wrapped__
    return value if type(value) is FunctionType else ABSENT


def is_bound_method(value: Any) -> bool:
    """Whether it is a bound method implemented in Python."""
    return type(value) is MethodType


def builtins_of(function: FunctionType) -> dict[str, Any]:
    """Return the builtins that a function sees."""
    # Type checkers disagree on whether functions have this attribute.
    found: dict[str, Any] = getattr(function, "__builtins__")  # noqa: B009
    return found


def share_namespace(first: FunctionType, second: FunctionType) -> bool:
    """Whether two functions see the same global names."""
    return first.__globals__ is second.__globals__ and builtins_of(first) is builtins_of(second)


def cell_of(function: FunctionType, name: str) -> CellType | None:
    """Return the cell of a free variable."""
    free, closure = function.__code__.co_freevars, function.__closure__
    return closure[free.index(name)] if closure is not None and name in free else None


def default_values(function: FunctionType) -> dict[str, Any]:
    """Return the default values of a function's parameters by name."""
    code, defaults = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    return {**dict(zip(names, defaults, strict=True)), **(function.__kwdefaults__ or {})}


def look_up(function: FunctionType, step: str, name: str) -> Any:
    """Resolve a name of a function by one kind of step; ABSENT if it does not exist."""
    if step == "cell":
        cell = cell_of(function, name)
        try:
            return ABSENT if cell is None else cell.cell_contents
        except ValueError:  # not assigned yet
            return ABSENT
    if step == "default":
        return default_values(function).get(name, ABSENT)
    if step == "builtin":
        return ABSENT if name in function.__globals__ else builtins_of(function).get(name, ABSENT)
    if step == "global":
        return function.__globals__.get(name, ABSENT)
    return function.__globals__.get(name, builtins_of(function).get(name, ABSENT))


def _signature_digest(function: FunctionType, signature: KernelSignature | None, locations: bool) -> str:
    names = tuple(default_values(function)) if function.__defaults__ or function.__kwdefaults__ else ()
    if signature is None:
        return plain_digest((None, names))
    found = signature.digests.get(names)
    if found is None:
        found = signature.digests[names] = plain_digest((signature.key(), names))
    return found


#: Questions about functions: name → function of the function, its signature, and whether line numbers matter.
QUESTIONS_ABOUT_FUNCTIONS: dict[str, Callable[[FunctionType, KernelSignature | None, bool], Any]] = {
    "function": lambda function, signature, locations: code_answer(function, locations),
    "signature": _signature_digest,
}

#: Questions about a path or about several objects. Recording and replay each implement them.
QUESTIONS_ABOUT_PATHS = (*RELATIONS, "source", "values", "option", "disjoint")
#: All questions.
QUESTIONS = frozenset(
    (
        *QUESTIONS_ABOUT_OBJECTS,
        *QUESTIONS_ABOUT_VALUES,
        *QUESTIONS_ABOUT_MEMBERS,
        *QUESTIONS_ABOUT_FUNCTIONS,
        *QUESTIONS_ABOUT_PATHS,
    )
)
