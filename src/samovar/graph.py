"""`sv.graph`: the parallel loops of a kernel, and recorded sequences of launches.

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


def __dir__() -> list[str]:
    return __all__


class Task(NamedTuple):
    """A parallel loop of a kernel: its name, an estimate of its cost, and whether it prints.

    The estimate is in nanoseconds per iteration; None if the body has loops of unknown length.

    >>> import samovar as sv
    >>> sv.graph.Task("relax", 1.5, False).name
    'relax'
    """

    name: str
    nanoseconds: float | None
    prints: bool


def tasks(kernel: Any) -> tuple[Task, ...]:
    """The parallel loops of a kernel in execution order, as compiled for the last launch.

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
        raise SamovarTypeError(f"sv.graph.tasks expects a kernel, not {kernel!r}")
    if not kernel.specializations:
        raise SamovarTypeError(f"{kernel.__qualname__} is not compiled yet: launch it, or use `sv.precompile`")
    return tuple(
        Task(name, None if flags & _UNKNOWN else cost, bool(flags & _SPEAKS))
        for name, cost, flags in kernel.specializations[0].keep.artifact.tasks
        if not flags & _SECTIONS
    )


class record:
    """Record kernel calls and launch them together: `with record() as step:` around the calls, then `step()`.

    While recording, nothing is launched: each call is compiled if necessary and stored with its arguments. `step()`
    launches all of them in one call; `step.replace(array, other)` substitutes another array. Each replay checks what a call
    depends on, and looks it up again if it has changed. Kernels that return a value cannot be recorded.

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
