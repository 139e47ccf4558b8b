"""Plain functions in `static` that are called before each launch, because what they read cannot be compared: the warning
about slow ones. Native code (`_native/guards/plain_calls.c`) times them, and calls this module."""

from __future__ import annotations

from samovar.runtime.configuration import warn_once


def warn_of_slow_call(call: str, nanoseconds: int) -> None:
    """Warn once about the cost of a call, and how to avoid it."""
    warn_once(
        f"`{call}` inside `sv.static(...)` is called before each launch, which takes {nanoseconds / 1000:.0f} us\n"
        "  help: what it reads cannot be compared, so its result may change. Call it once, before the launch:"
        " store the result in an attribute or a global that the kernel reads, or pass it as an `sv.Template`"
    )
