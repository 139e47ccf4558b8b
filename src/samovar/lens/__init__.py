"""The compiler's only eye on the user's world: references, questions, answers, recording, replay.

The frontend records through it, the cache looks up with it, the runtime makes guards of what it recorded. It knows nothing
of the IR.
"""

from samovar.lens.answers import EnumValue, Kind, same_answer, shown
from samovar.lens.lens import Lens, OptionsView
from samovar.lens.path import Path
from samovar.lens.reference import FunctionParameter, FunctionRef, Ref, TensorFacts
from samovar.lens.replay import replay, replay_through
from samovar.lens.trace import Asked, Mismatch, Opaque, Trace

__all__ = [
    "Asked",
    "EnumValue",
    "FunctionParameter",
    "FunctionRef",
    "Kind",
    "Lens",
    "Mismatch",
    "Opaque",
    "OptionsView",
    "Path",
    "Ref",
    "TensorFacts",
    "Trace",
    "replay",
    "replay_through",
    "same_answer",
    "shown",
]
