"""Asking recorded questions again: does a trace hold for other arguments, and if not, which answer differs?"""

from __future__ import annotations

from samovar.lens.answers import same_answer
from samovar.lens.lens import Lens
from samovar.lens.trace import Mismatch, Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FunctionType

    from samovar.annotations import KernelSignature
    from samovar.options import Options


def replay(
    trace: Trace,
    function: FunctionType,
    arguments: Mapping[str, object],
    signature: KernelSignature,
    options: Options,
) -> Mismatch | None:
    """Ask the questions of a trace, in order, on other arguments: None, or the first that is answered differently.

    Nothing is asked after the first difference: a compile on these arguments might not have asked it.
    """
    return replay_through(trace, Lens(function, arguments, signature, options))


def replay_through(trace: Trace, lens: Lens) -> Mismatch | None:
    """The same through a lens that is there already."""
    for asked in trace:
        answer = lens.answer(asked.path, asked.question, asked.answer)
        if not same_answer(asked.answer, answer):
            return Mismatch(asked.path, asked.question, asked.answer, answer)
    return None
