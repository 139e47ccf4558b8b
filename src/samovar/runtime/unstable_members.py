"""Members that differ each time they are read: no specialization would ever match them.

Only computed members can be like that: a property, or the result of `__getattr__`. These are read again after a compile,
and no others.
"""

from __future__ import annotations

from types import FunctionType, GetSetDescriptorType, MemberDescriptorType

from samovar.errors import SamovarRuntimeError
from samovar.language import Declaration
from samovar.lens import PathTable, Replay, same_answer, shown
from samovar.reflection import ABSENT, derives, own

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.language import Options
    from samovar.lens import Asked, Lens, Path
    from samovar.runtime.kernel import Kernel

#: The class attributes of members that are not computed.
_STORED = (FunctionType, GetSetDescriptorType, MemberDescriptorType, Declaration)
#: Questions whose answers are equal only for the same object.
_ABOUT_IDENTITY = ("opaque", "whole")


def refuse_unstable_members(kernel: Kernel, lens: Lens, arguments: dict[str, Any], options: Options) -> None:
    """Raise an error if something that the kernel was specialized on differs each time it is read.

    A single change is not an error: the launch detects it.
    """
    computed = [asked for asked in lens.trace if _is_computed(lens, asked.path)]
    if not computed:
        return
    paths = PathTable([])
    numbers = [paths.number(asked.path) for asked in computed]
    for asked in computed:
        paths.encoded(asked.answer)
    looks = [Replay(paths, kernel.__wrapped__, arguments, kernel.state.signature, options) for _ in range(2)]
    for look in looks:
        look.enum_members = lens.enum_members  # whose order here differs from that of the compile
    for number, asked in zip(numbers, computed, strict=True):
        seen = [lens.object_at(asked.path) if asked.question in _ABOUT_IDENTITY else asked.answer]
        for look in looks:
            seen.append(_seen(look, number, asked))
            if _same(asked, seen[-1], seen[-2]):
                break
        else:
            how = "a new object" if asked.question in _ABOUT_IDENTITY else ", ".join(map(shown, seen))
            raise SamovarRuntimeError(
                f"{kernel.__qualname__}: {asked.path} differs each time it is read, so no specialization can match: {how}\n"
                "  help: store it in an attribute that does not change, or pass it as an argument with a dtype"
            )


def _seen(look: Replay, number: int, asked: Asked) -> Any:
    if asked.question in _ABOUT_IDENTITY:
        return look.object(number)
    look.agrees(number, asked.question, asked.answer)
    return look.last


def _same(asked: Asked, one: Any, other: Any) -> bool:
    return one is other or (asked.question not in _ABOUT_IDENTITY and same_answer(one, other))


def _is_computed(lens: Lens, path: Path) -> bool:
    """Whether a path leads through a computed attribute, and through no call."""
    if path.below_call():
        return False
    while path.parent is not None:
        if path.step == "attribute" and _computes(lens.object_at(path.parent), path.key):
            return True
        path = path.parent
    return False


def _computes(owner: Any, name: str) -> bool:
    defined = own(type(owner), name)
    if defined is ABSENT:
        return name not in getattr(owner, "__dict__", (name,))
    if own(type(defined), "__get__") is ABSENT or any(derives(type(defined), each) for each in _STORED):
        return False
    return own(type(defined), "__set__") is not ABSENT or name not in getattr(owner, "__dict__", ())
