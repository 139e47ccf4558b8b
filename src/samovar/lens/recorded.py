"""The questions of one compile by number: rows of a table of paths, with answers as plain data.

This is the form in which a decision tree keeps them, and in which guards are made of them. A trace, which has paths and
answers as objects, is made only for who wants to show it.
"""

from __future__ import annotations

from samovar.lens.portable import PathTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from samovar.lens.path import Path
    from samovar.lens.trace import Trace
    from samovar.lens.tree import Step


class Recorded:
    """Steps of (number of a path, question, encoded answer), and the paths of the arguments by number."""

    __slots__ = ("_trace", "paths", "sources", "steps")

    def __init__(self, paths: PathTable, steps: list[Step], sources: tuple[int, ...], trace: Trace | None = None) -> None:
        self.paths = paths
        self.steps = steps
        self.sources = sources
        self._trace = trace

    @classmethod
    def of(cls, trace: Trace, sources: Iterable[Path]) -> Recorded:
        """The questions of a trace, and where the arguments are read from."""
        paths = PathTable([])
        steps = [(paths.number(asked.path), asked.question, paths.encoded(asked.answer)) for asked in trace]
        return cls(paths, steps, tuple(map(paths.number, sources)), trace)

    @property
    def trace(self) -> Trace:
        """The same as objects."""
        if self._trace is None:
            from samovar.lens.trace import Trace

            self._trace = Trace()
            for number, question, encoded in self.steps:
                self._trace.record(self.paths.path(number), question, self.paths.decoded(encoded))
        return self._trace
