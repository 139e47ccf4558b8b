"""The functions of `_logging` in Quadrants and Taichi, one per level. Programs call and replace them."""

from __future__ import annotations

import sys

import samovar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LEVELS = ("trace", "debug", "info", "warn", "error", "critical")


def log_function(level: str) -> Callable[..., None]:
    """Return a function that logs at a level and formats its arguments like `str.format`."""

    def say(message: str, *arguments: Any, **keywords: Any) -> None:
        if samovar.is_logging_effective(level):
            text = message.format(*arguments, **keywords) if arguments or keywords else message
            print(f"samovar: {level}: {text}", file=sys.stderr)

    return say


NAMES: dict[str, Any] = {
    **{level: log_function(level) for level in LEVELS},
    "_get_logging": log_function,
    "supported_log_levels": list(LEVELS),
}
