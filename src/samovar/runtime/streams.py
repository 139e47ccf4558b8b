"""Streams and events: the order of launches. On the CPU a launch is complete when it returns, so all are in order."""

from __future__ import annotations

from time import perf_counter

from samovar.errors import SamovarRuntimeError


class Event:
    """A point in time between launches, for streams to wait on.

    >>> import samovar as sv
    >>> event = sv.create_event()
    >>> event.record()
    >>> event.wait()
    """

    handle = 0

    def __init__(self) -> None:
        self.time: float | None = None

    def record(self, qd_stream: Stream | None = None) -> None:
        """Record the current time."""
        self.time = perf_counter()

    def wait(self, qd_stream: Stream | None = None) -> None:
        """Make a stream wait for the event. No effect: it has passed."""

    def synchronize(self) -> None:
        """Wait for the event. No effect: it has passed."""

    def elapsed_time(self, later: Event) -> float:
        """The milliseconds from this event to a later one."""
        if self.time is None or later.time is None:
            raise SamovarRuntimeError("an event has no time before it is recorded: call record() first")
        return (later.time - self.time) * 1e3

    def destroy(self) -> None:
        """No effect."""

    def __enter__(self) -> Event:
        return self

    def __exit__(self, *error: object) -> None:
        self.destroy()


class Stream:
    """An ordered sequence of launches: `kernel(…, qd_stream=stream)`.

    >>> import samovar as sv
    >>> with sv.create_stream() as stream:
    ...     stream.synchronize()
    """

    handle = 0

    def synchronize(self) -> None:
        """Wait for its launches. No effect: they are complete."""

    def destroy(self) -> None:
        """No effect."""

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        self.destroy()


def create_stream() -> Stream:
    """Create a stream, see `sv.Stream`.

    >>> import samovar as sv
    >>> isinstance(sv.create_stream(), sv.Stream)
    True
    """
    return Stream()


def create_event() -> Event:
    """Create an event, see `sv.Event`.

    >>> import samovar as sv
    >>> isinstance(sv.create_event(), sv.Event)
    True
    """
    return Event()
