"""`sv.graph`: what a launch consists of.

>>> import samovar as sv
>>> @sv.kernel
... def clear(a: sv.types.NDArray[sv.f32, 1]):
...     for i in a:
...         a[i] = 0
>>> clear(sv.ndarray(sv.f32, 4))
>>> len(sv.graph.tasks(clear))
1
"""

from __future__ import annotations

from typing import Any, NamedTuple

from samovar._native import Step, begin_recording, end_recording
from samovar.errors import SamovarTypeError
from samovar.language import do_while, parallel, parallel_context
from samovar.runtime import Kernel

__all__ = ["Task", "do_while", "parallel", "parallel_context", "record", "tasks"]

_SPEAKS, _UNKNOWN, _SECTIONS = 1, 2, 8


class Task(NamedTuple):
    """A parallel loop of a kernel: its name, an estimate of its cost, and whether it prints.

    The estimate is nanoseconds per iteration, None where the body has loops of unknown length.

    >>> import samovar as sv
    >>> sv.graph.Task("relax", 1.5, False).name
    'relax'
    """

    name: str
    nanoseconds: float | None
    prints: bool


def tasks(kernel: Any) -> tuple[Task, ...]:
    """The tasks of a kernel in the order in which a launch runs them, as it was compiled for the last launch.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def double(a: sv.types.NDArray[sv.f32, 1]):
    ...     for i in a:
    ...         a[i] *= 2
    >>> double(sv.ndarray(sv.f32, 4))
    >>> [task.name for task in sv.graph.tasks(double)]
    ['double.task']
    """
    if not isinstance(kernel, Kernel):
        raise SamovarTypeError(f"tasks are those of a kernel, not of {kernel!r}")
    if not kernel.specialisations:
        raise SamovarTypeError(f"{kernel.__qualname__} was not compiled yet: launch it, or use `sv.precompile`")
    return tuple(
        Task(name, None if flags & _UNKNOWN else cost, bool(flags & _SPEAKS))
        for name, cost, flags in kernel.specialisations[0].keep.artifact.tasks
        if not flags & _SECTIONS
    )


class record:
    """Record calls of kernels, to be launched together: `with record() as step:` around them, then `step()`.

    While it records, nothing is launched: each call is compiled, if need be, and kept with its arguments. `step()` launches
    all of them, in one entry; `step.replace(array, other)` puts another array in the place of one. What a call depends on is
    checked in each replay, and looked up anew where it has changed. Kernels that return something are refused.

    >>> import samovar as sv
    >>> @sv.kernel
    ... def add(a: sv.types.NDArray[sv.f32, 1], value: sv.f32):
    ...     for i in a:
    ...         a[i] += value
    >>> a = sv.ndarray(sv.f32, 4)
    >>> with sv.graph.record() as step:
    ...     add(a, 1)
    ...     add(a, 2)
    >>> a[0]
    0.0
    >>> step()
    >>> step()
    >>> a[0]
    6.0
    """

    def __enter__(self) -> Step:
        step = Step()
        begin_recording(step)
        return step

    def __exit__(self, *error: object) -> None:
        end_recording()
