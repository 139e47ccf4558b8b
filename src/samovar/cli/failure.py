"""A failure that is expected: it is said, without a traceback."""

from __future__ import annotations

PROBLEM = 1
USAGE = 2


class Failure(Exception):
    """Why a command cannot go on, and the exit code."""

    def __init__(self, message: str, code: int = PROBLEM) -> None:
        super().__init__(message)
        self.code = code
