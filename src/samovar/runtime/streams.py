"""Streams and events: the order of launches. On the CPU a launch is over when it returns, so all of them are in order."""

from __future__ import annotations

from time import perf_counter

from samovar.errors import SamovarRuntimeError


class Event:
    """A moment between launches, which streams wait for.

    >>> import samovar as sv
    >>> event = sv.create_event()
    >>> event.record()
    >>> event.wait()
    """

    handle = 0

    def __init__(self) -> None:
        self.time: float | None = None

    def record(self, qd_stream: Stream | None = None) -> None:
        """The moment is now."""
        self.time = perf_counter()

    def wait(self, qd_stream: Stream | None = None) -> None:
        """Have a stream wait for the moment: it is over."""

    def synchronize(self) -> None:
        """Wait for the moment: it is over."""

    def elapsed_time(self, later: Event) -> float:
        """Milliseconds from this moment to another."""
        if self.time is None or later.time is None:
            raise SamovarRuntimeError("an event has a time when it was recorded")
        return (later.time - self.time) * 1e3

    def destroy(self) -> None:
        """Nothing is left of it anyway."""

    def __enter__(self) -> Event:
        return self

    def __exit__(self, *error: object) -> None:
        self.destroy()


class Stream:
    """Launches that are in order among themselves: `kernel(…, qd_stream=stream)`.

    >>> import samovar as sv
    >>> with sv.create_stream() as stream:
    ...     stream.synchronize()
    """

    handle = 0

    def synchronize(self) -> None:
        """Wait for its launches: they are over."""

    def destroy(self) -> None:
        """Nothing is left of it anyway."""

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self.destroy()


def create_stream() -> Stream:
    """A stream. See `sv.Stream`.

    >>> import samovar as sv
    >>> isinstance(sv.create_stream(), sv.Stream)
    True
    """
    return Stream()


def create_event() -> Event:
    """An event. See `sv.Event`.

    >>> import samovar as sv
    >>> isinstance(sv.create_event(), sv.Event)
    True
    """
    return Event()
