"""A bottom-up fold over an object graph, without recursion, independent of what is computed.

`deconstruct` takes an object one level apart, `collapse` turns a level whose pieces are results into a result. A shared
object is collapsed once. A cycle becomes a back reference to the open object, by relative depth.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from samovar.fingerprint.deconstruction import Deconstruction, EmptyDeconstruction, OrderInsensitiveDeconstruction
from samovar.fingerprint.paths import labels_of, shorten

__all__ = ["BACK_REFERENCE", "Fold", "catabolize"]

Result = TypeVar("Result")

#: The tag of the terminal state that represents an object which is still open.
BACK_REFERENCE = "back-reference"

#: How often objects inside cycles may be revisited. Every path through a cyclic part is walked, and a dense one has n! of
#: them.
CYCLIC_VISITS_LIMIT = 1_000_000


@dataclass(slots=True)
class _Component:
    """A strongly connected set of objects. While one of them is open, memoized results of the others are invalid."""

    open: int = 0


@dataclass(slots=True)
class _Kept(Generic[Result]):
    """A finished object with its result. Holding the object prevents its address from being reused."""

    subject: object
    result: Result
    component: _Component | None


@dataclass(slots=True)
class _Frame(Generic[Result]):
    subject: object
    level: Deconstruction
    is_object: bool
    #: The smallest depth that anything below refers back to; the frame's own depth if nothing refers further up.
    lowest: int
    #: The number of entangled objects when the frame was opened.
    mark: int
    component: _Component | None
    results: list[Result] = field(default_factory=list)


def catabolize(
    root: object,
    *,
    deconstruct: Callable[[Any], Deconstruction],
    collapse: Callable[[Deconstruction], Result],
    allow_cycles: bool = False,
    memoize: bool = True,
) -> Result:
    """Fold the graph below `root` from the leaves up, and return the result of the root.

    `collapse` gets a level of the same kind as `deconstruct` returned, with results in place of the pieces; those of an
    order-insensitive level are sorted, so results have to be comparable where such levels occur. With `allow_cycles`, an
    object that occurs below itself is collapsed as `EmptyDeconstruction("back-reference", <levels up to it>)`; otherwise it
    raises a `ValueError`.

    A shared object is collapsed once, and held until the end. With `memoize=False` it is taken apart at each occurrence, and
    only open objects are held: for rules whose answer may change on the way, and for graphs that are generated while they
    are walked. The cost then grows with the number of paths instead of objects.

    >>> from samovar.fingerprint import Deconstruction, catabolize
    >>> def children(value):
    ...     return Deconstruction("list", pieces=tuple(value) if isinstance(value, list) else ())
    >>> def depth(level):
    ...     return 1 + max(level.pieces, default=0)
    >>> catabolize([[], [[]]], deconstruct=children, collapse=depth)
    3
    """
    return Fold(deconstruct, collapse, allow_cycles, memoize).run(root)


class Fold(Generic[Result]):
    """One running fold. If it fails, it knows where it was."""

    def __init__(
        self,
        deconstruct: Callable[[Any], Deconstruction],
        collapse: Callable[[Deconstruction], Result],
        allow_cycles: bool,
        memoize: bool,
    ) -> None:
        self.deconstruct = deconstruct
        self.collapse = collapse
        self.allow_cycles = allow_cycles
        self.memoize = memoize
        self.frames: list[_Frame[Result]] = []
        self.root_results: list[Result] = []
        self.kept: dict[int, _Kept[Result]] = {}
        self.open: dict[int, int] = {}
        #: Objects whose result depended on open objects around them, until the outermost object they refer to is finished.
        self.entangled: dict[int, object] = {}
        self.components: dict[int, tuple[object, _Component]] = {}
        self.cyclic_visits = 0

    def run(self, root: object) -> Result:
        """Walk the graph and return the result of its root."""
        self.visit(root)
        while self.frames:
            frame = self.frames[-1]
            done = len(frame.results)
            if done < len(frame.level.pieces):
                self.visit(frame.level.pieces[done])
            else:
                self.finish()
        return self.root_results[0]

    def path(self) -> str:
        """Return the path from the root to the piece that is being visited, as people would write it."""
        return shorten("".join(labels_of(frame.level)[len(frame.results)] for frame in self.frames))

    def visit(self, piece: object) -> None:
        """Give the innermost frame one more result, or open a frame for the piece."""
        # By type: `isinstance` would query the object's `__class__`.
        is_object = not issubclass(type(piece), Deconstruction)
        component = None
        if is_object:
            depth = self.open.get(id(piece))
            if depth is not None:
                self.refer_back(piece, depth)
                return
            kept = self.kept.get(id(piece))
            if kept is not None and (kept.component is None or kept.component.open == 0):
                self.deliver(kept.result)
                return
            if id(piece) in self.components:
                component = self.components[id(piece)][1]
            if component is not None or id(piece) in self.entangled:
                self.count_cyclic_visit(piece)
        level: Deconstruction = self.deconstruct(piece) if is_object else piece  # type: ignore[assignment]
        if not level.pieces:
            result = self.collapse(level)
            if is_object and self.memoize:
                self.kept[id(piece)] = _Kept(piece, result, None)
            self.deliver(result)
            return
        depth = len(self.frames)
        self.frames.append(_Frame(piece, level, is_object, depth, len(self.entangled), component))
        if is_object:
            self.open[id(piece)] = depth
        if component is not None:
            component.open += 1

    def finish(self) -> None:
        """Collapse the innermost frame and memoize its result, unless the result depends on open objects around it."""
        frame = self.frames.pop()
        result = self.collapse(_with_results(frame.level, frame.results))
        if frame.is_object:
            del self.open[id(frame.subject)]
        if frame.component is not None:
            frame.component.open -= 1
        if frame.lowest < len(self.frames):
            outer = self.frames[-1]
            outer.lowest = min(outer.lowest, frame.lowest)
            if frame.is_object:
                self.entangled.setdefault(id(frame.subject), frame.subject)
        elif frame.is_object:
            component = self.close_component(frame)
            if self.memoize:
                self.kept[id(frame.subject)] = _Kept(frame.subject, result, component)
        self.deliver(result)

    def close_component(self, frame: _Frame[Result]) -> _Component | None:
        """Return the component that a finished frame is the root of, if it is part of a cycle."""
        if len(self.entangled) == frame.mark:
            return frame.component
        component = frame.component or _Component()
        self.components.setdefault(id(frame.subject), (frame.subject, component))
        while len(self.entangled) > frame.mark:
            key, member = self.entangled.popitem()
            self.components.setdefault(key, (member, component))
        return component

    def refer_back(self, piece: object, depth: int) -> None:
        if not self.allow_cycles:
            raise ValueError(f"a {type(piece).__name__} contains itself, and cycles are not allowed here")
        self.frames[-1].lowest = min(self.frames[-1].lowest, depth)
        levels_up = len(self.frames) - depth
        self.deliver(self.collapse(EmptyDeconstruction(BACK_REFERENCE, levels_up.to_bytes(8, "little"))))

    def count_cyclic_visit(self, piece: object) -> None:
        self.cyclic_visits += 1
        if self.cyclic_visits > CYCLIC_VISITS_LIMIT:
            raise ValueError(
                f"too many paths through a cyclic part of the graph, which a {type(piece).__name__} belongs to; "
                "exclude the field that closes the cycle with metadata(fingerprint=False)"
            )

    def deliver(self, result: Result) -> None:
        (self.frames[-1].results if self.frames else self.root_results).append(result)


def _with_results(level: Deconstruction, results: list[Any]) -> Deconstruction:
    if isinstance(level, OrderInsensitiveDeconstruction):
        return OrderInsensitiveDeconstruction(level.tag, level.payload, tuple(sorted(results)), level.labels)
    return Deconstruction(level.tag, level.payload, tuple(results), level.labels)
