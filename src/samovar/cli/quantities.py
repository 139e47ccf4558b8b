"""Sizes, durations and times, as people write and read them."""

from __future__ import annotations

import argparse
import re
import time

_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DURATIONS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def size(text: str) -> int:
    """Parse a size in bytes: 4096, 64K, 1.5M, 1GiB."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 500M or 2G")
    return int(float(match[1]) * _SIZES[match[2]])


def duration(text: str) -> float:
    """Parse a duration in seconds: 90s, 12h, 30d, 2w."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdw])", text.strip().lower())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration such as 12h or 30d")
    return float(match[1]) * _DURATIONS[match[2]]


def shown_size(count: int) -> str:
    """Format bytes with a suitable unit."""
    value, units = float(count), iter(("B", "KiB", "MiB", "GiB"))
    unit = next(units)
    while value >= 1024 and unit != "GiB":
        value, unit = value / 1024, next(units)
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


def shown_seconds(seconds: float) -> str:
    """Format a duration in milliseconds, seconds, minutes or hours."""
    if seconds < 1:
        return f"{seconds * 1e3:.1f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def shown_time(moment: float) -> str:
    """Format a local date and time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def shown_age(moment: float) -> str:
    """Format how long ago something was."""
    seconds = max(0.0, time.time() - moment)
    for unit, length in (("w", 7 * 86400), ("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length:.0f} {unit}"
    return f"{seconds:.0f} s"


def counted(number: int, thing: str) -> str:
    """Format a count: 1 kernel, 2 kernels, 2 entries."""
    if number == 1:
        return f"1 {thing}"
    return f"{number} {thing[:-1]}ies" if thing.endswith("y") else f"{number} {thing}s"
