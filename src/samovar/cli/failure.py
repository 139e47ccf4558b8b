"""An expected failure, reported without a traceback."""

from __future__ import annotations

PROBLEM = 1
USAGE = 2


class Failure(Exception):
    """Why a command failed, and the exit code."""

    def __init__(self, message: str, code: int = PROBLEM) -> None:
        super().__init__(message)
        self.code = code
