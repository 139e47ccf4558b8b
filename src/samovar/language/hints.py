"""Hints to the compiler that do not change results, under the names that other frameworks use.

On a CPU most of them have no effect: caches do by themselves what a GPU needs hints for.
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
    """Register a function as a name of `sv`."""
    REGISTRY[f"samovar.{function.__name__}"] = function
    return function


@_root
def block_local(*fields: Any) -> None:
    """A hint to keep fields in fast memory for the next loop. No effect: CPU caches do that.

    >>> import samovar as sv
    >>> sv.block_local(sv.field(sv.f32, 8))
    """


@_root
def mesh_local(*fields: Any) -> None:
    """A hint to keep mesh attributes in fast memory. No effect: CPU caches do that.

    >>> import samovar as sv
    >>> sv.mesh_local(sv.field(sv.f32, 8))
    """


@_root
def cache_read_only(*fields: Any) -> None:
    """A hint that the next loop only reads these fields. No effect: the compiler detects it.

    >>> import samovar as sv
    >>> sv.cache_read_only(sv.field(sv.f32, 8))
    """


@_root
def no_activate(*nodes: Any) -> None:
    """In a kernel: its writes to these sparse fields activate no cells. The cells must be active then, which makes writes
    faster; in debug mode that is checked. No effect outside kernels.

    >>> import samovar as sv
    >>> sv.no_activate(sv.field(sv.f32, 8))
    """


@_root
def stop_grad(x: Any) -> None:
    """In a kernel: no derivative flows through reads of a field or array. No effect outside kernels.

    >>> import samovar as sv
    >>> sv.stop_grad(sv.field(sv.f32, 8))
    """


@_root
def assume_in_range(val: Any, base: Any, low: Any, high: Any) -> Any:
    """A value, with the promise that it is in [base + low, base + high).

    >>> import samovar as sv
    >>> sv.assume_in_range(3, 0, 0, 8)
    3
    """
    return val


@_root
def volatile_load(target: Any) -> Any:
    """Read an array element from memory each time, for code that waits for another thread to change it.

    >>> import samovar as sv
    >>> a = sv.ndarray(sv.i32, 4)
    >>> sv.volatile_load(a[0])
    0
    """
    return target


@_root
@contextmanager
def stream_parallel() -> Iterator[None]:
    """`with sv.stream_parallel():` allows its block to run concurrently with other such blocks. Here they run in order; for
    concurrent sections see `sv.graph.parallel`.

    >>> import samovar as sv
    >>> with sv.stream_parallel():
    ...     pass
    """
    yield
