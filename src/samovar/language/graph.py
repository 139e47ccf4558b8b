"""The constructs of kernels declared with `graph=True`, and their meaning in plain Python: blocks run in order.

The compiler recognizes them by identity, as it does the functions of `samovar.language.functions`.
"""

from __future__ import annotations

import sys

from samovar.language.functions import REGISTRY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Construct = TypeVar("_Construct", bound=Callable[..., Any])


def _construct(name: str) -> Callable[[_Construct], _Construct]:
    """Register a construct under its canonical name."""

    def register(construct: _Construct) -> _Construct:
        REGISTRY[name] = construct
        return construct

    return register


@_construct("samovar.graph.do_while")
def do_while(condition: Any, max_iterations: int | None = None) -> bool:
    """The condition of a loop that runs once, and again while a 0-D i32 array is not zero: `while do_while(flag):`.

    In a kernel with `graph=True` the loop is part of the launch. More than `max_iterations` iterations are an error, also
    in plain Python.

    >>> import samovar as sv
    >>> @sv.kernel(graph=True)
    ... def halve(x: sv.types.NDArray[sv.i32, 1], flag: sv.types.NDArray[sv.i32, 0]):
    ...     while sv.graph.do_while(flag):
    ...         for i in x:
    ...             x[i] = x[i] // 2
    ...         for _ in range(1):
    ...             flag[None] = sv.i32(x[0] > 1)
    >>> x, flag = sv.ndarray(sv.i32, 1), sv.ndarray(sv.i32, ())
    >>> x[0] = 100
    >>> halve(x, flag)
    >>> x[0]
    1
    """
    frame = sys._getframe(1)
    # The iteration count is stored where it ends with the call: in the caller's locals, under a name that no program can
    # write. The test at the end of a loop is another instruction than the one at its beginning, on the same line.
    key, names = f"do_while in line {frame.f_lineno}", frame.f_locals
    done = names.get(key)
    if done is not None and not condition[()]:
        names[key] = None
        return False
    if done is not None and max_iterations is not None and done >= max_iterations:
        from samovar.errors import SamovarRuntimeError

        names[key] = None
        raise SamovarRuntimeError(f"a graph loop is not finished after {max_iterations} iterations")
    names[key] = 1 if done is None else done + 1
    return True


class _Block:
    """A block that has no effect in plain Python."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, *error: object) -> None:
        return None


@_construct("samovar.checkpoint")
class checkpoint(_Block):
    """A point in a graph where a launch can stop and a later one resume: `with checkpoint(label, yield_on=flag):`.

    In a kernel with `graph=True, checkpoints=True`: if the flag, a 0-D i32 array, is not zero after the block, the launch
    stops, and `kernel.resume(…, from_checkpoint=label)` continues from the block. The label is an int or a member of an
    `IntEnum`. In plain Python the block simply runs.

    >>> import samovar as sv
    >>> @sv.kernel(graph=True, checkpoints=True)
    ... def fill(x: sv.types.NDArray[sv.i32, 1], n: sv.i32, full: sv.types.NDArray[sv.i32, 0]):
    ...     with sv.checkpoint(1, yield_on=full):
    ...         for _ in range(1):
    ...             full[None] = sv.i32(n > x.shape[0])
    ...     for i in range(n):
    ...         x[i] = i
    >>> full = sv.ndarray(sv.i32, ())
    >>> fill(sv.ndarray(sv.i32, 4), 8, full)
    GraphStatus(yielded=True, checkpoint=1)
    >>> fill.resume(sv.ndarray(sv.i32, 8), 8, full, from_checkpoint=1)
    GraphStatus(yielded=False, checkpoint=None)
    """

    __slots__ = ()

    def __init__(self, cp_id: int, yield_on: Any) -> None:
        pass


@_construct("samovar.graph.parallel_context")
class parallel_context(_Block):
    """Sections that run concurrently: `with parallel_context():` around several `with parallel():`.

    All of them are finished after the block. In plain Python they run one after the other.

    >>> import samovar as sv
    >>> @sv.kernel(graph=True)
    ... def both(x: sv.types.NDArray[sv.i32, 1], y: sv.types.NDArray[sv.i32, 1]):
    ...     with sv.graph.parallel_context():
    ...         with sv.graph.parallel():
    ...             for i in x:
    ...                 x[i] = i
    ...         with sv.graph.parallel():
    ...             for i in y:
    ...                 y[i] = -i
    >>> x, y = sv.ndarray(sv.i32, 4), sv.ndarray(sv.i32, 4)
    >>> both(x, y)
    >>> x[3], y[3]
    (3, -3)
    """

    __slots__ = ()


@_construct("samovar.graph.parallel")
class parallel(_Block):
    """One of the concurrent sections in a `parallel_context`.

    >>> import samovar as sv
    >>> with sv.graph.parallel():
    ...     pass
    """

    __slots__ = ()


graph_do_while, graph_parallel_context, graph_parallel = do_while, parallel_context, parallel


class GraphStatus:
    """The result of a launch with checkpoints: whether it stopped at one, and at which.

    >>> import samovar as sv
    >>> status = sv.GraphStatus(yielded=True, checkpoint=3)
    >>> status.yielded, status.checkpoint
    (True, 3)
    """

    __slots__ = ("checkpoint", "yielded")
    yielded: bool
    checkpoint: Any

    def __init__(self, yielded: bool, checkpoint: int | None = None) -> None:
        object.__setattr__(self, "yielded", yielded)
        object.__setattr__(self, "checkpoint", checkpoint)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a GraphStatus is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a GraphStatus is immutable")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphStatus):
            return NotImplemented
        return self.yielded == other.yielded and self.checkpoint == other.checkpoint

    def __hash__(self) -> int:
        return hash((self.yielded, self.checkpoint))

    def __repr__(self) -> str:
        return f"GraphStatus(yielded={self.yielded!r}, checkpoint={self.checkpoint!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphStatus, (self.yielded, self.checkpoint)
