"""Parts of what `inspect("loops")` shows."""

from __future__ import annotations

import re


def loop_of_vectors(text: str) -> list[str]:
    """The lines in the first loop that was vectorized."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if re.search("[#;] vectorized: ", line)) + 1
    depth = len(lines[start]) - len(lines[start].lstrip())
    inside = lines[start + 1 :]
    end = next((number for number, line in enumerate(inside) if len(line) - len(line.lstrip()) <= depth), len(inside))
    return [line.strip() for line in inside[:end]]
