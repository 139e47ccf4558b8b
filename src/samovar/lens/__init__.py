"""The compiler's only eye on the user's world: references, questions, answers, recording, replay.

The frontend records through it, the cache looks up with it, the runtime makes guards of what it recorded. It knows nothing
of the IR. The names are loaded when they are used: a process that compiles nothing replays, and needs little of this.
"""

from __future__ import annotations

from samovar.lens.answers import EnumValue, Kind, same_answer, shown
from samovar.lens.path import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.lens.lens import Lens, OptionsView
    from samovar.lens.reference import FunctionParameter, FunctionRef, Ref, TensorFacts
    from samovar.lens.replaying import Replay, replay
    from samovar.lens.trace import Asked, Mismatch, Opaque, Trace
    from samovar.lens.tree import Leaf, Tree

__all__ = [
    "Asked",
    "EnumValue",
    "FunctionParameter",
    "FunctionRef",
    "Kind",
    "Leaf",
    "Lens",
    "Mismatch",
    "Opaque",
    "OptionsView",
    "Path",
    "Ref",
    "Replay",
    "TensorFacts",
    "Trace",
    "Tree",
    "replay",
    "same_answer",
    "shown",
]

_HOMES = {
    "lens": "Lens OptionsView",
    "reference": "FunctionParameter FunctionRef Ref TensorFacts",
    "replaying": "Replay replay",
    "trace": "Asked Mismatch Opaque Trace",
    "tree": "Leaf Tree",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = __import__(f"{__name__}.{home}", fromlist=[name])
    return getattr(module, name)
