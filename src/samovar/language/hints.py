"""What programs tell a compiler without changing what they mean, under the names that other libraries have for it.

On a CPU most of it is taken and needs nothing: caches do themselves what a GPU has to be told.
"""

from __future__ import annotations

from contextlib import contextmanager

from samovar.language.functions import REGISTRY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])


def _root(function: _Function) -> _Function:
    """Register a function as one of the root of the package."""
    REGISTRY[f"samovar.{function.__name__}"] = function
    return function


@_root
def block_local(*fields: Any) -> None:
    """A hint to keep fields in fast memory for the loop that follows. The caches of a CPU do so.

    >>> import samovar as sv
    >>> sv.block_local(sv.field(sv.f32, 8))
    """


@_root
def mesh_local(*fields: Any) -> None:
    """The same hint for the attributes of a mesh.

    >>> import samovar as sv
    >>> sv.mesh_local(sv.field(sv.f32, 8))
    """


@_root
def cache_read_only(*fields: Any) -> None:
    """A hint that the loop that follows only reads these fields. It is found out without it.

    >>> import samovar as sv
    >>> sv.cache_read_only(sv.field(sv.f32, 8))
    """


@_root
def no_activate(*nodes: Any) -> None:
    """A hint that no element comes into being in the loop that follows. All of them are there from the beginning.

    >>> import samovar as sv
    >>> sv.no_activate(sv.field(sv.f32, 8))
    """


@_root
def stop_grad(x: Any) -> None:
    """A hint that no derivative goes through a field. There are none in this version.

    >>> import samovar as sv
    >>> sv.stop_grad(sv.field(sv.f32, 8))
    """


@_root
def assume_in_range(val: Any, base: Any, low: Any, high: Any) -> Any:
    """A value that is promised to be from `base + low` to below `base + high`.

    >>> import samovar as sv
    >>> sv.assume_in_range(3, 0, 0, 8)
    3
    """
    return val


@_root
def volatile_load(target: Any) -> Any:
    """What an element of an array has in memory now: it is read each time, for who waits for another thread to change it.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i32, 4)
    >>> sv.volatile_load(a[0])
    0
    """
    return target


@_root
@contextmanager
def stream_parallel() -> Iterator[None]:
    """`with sv.stream_parallel():` allows what is inside to run beside other such blocks. Here they run in order; for
    sections side by side see `sv.graph.parallel`.

    >>> import samovar as sv
    >>> with sv.stream_parallel():
    ...     pass
    """
    yield
