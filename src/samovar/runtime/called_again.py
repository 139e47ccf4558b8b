"""Plain functions in `static` that are called before each launch, because what they read cannot be compared: what users are
told of those that take long. Native code (`_native/calls.c`) times them, and comes here."""

from __future__ import annotations

from samovar.runtime.configuration import warn_once


def warn_of_slow_call(call: str, nanoseconds: int) -> None:
    """Say once what a call costs, and how to do without it."""
    warn_once(
        f"`{call}` inside `sv.static(...)` is called before each launch, and takes {nanoseconds / 1000:.0f} us\n"
        "  help: what it reads cannot be compared, so it may give something else each time. Call it once, before the launch:"
        " keep the result in an attribute or a global that the kernel reads, or pass it as an `sv.Template`"
    )
