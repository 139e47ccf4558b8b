"""The specimens under one name for all processes, and processes to ask."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# The time of one example says more about the machine than about the code.
hypothesis.settings.register_profile("fingerprint", deadline=None)
hypothesis.settings.load_profile("fingerprint")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


class OtherProcess:
    """A fresh interpreter with its own hash seed that fingerprints what it is sent."""

    def __init__(self, hash_seed: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "other_process.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
        )

    def fingerprint(self, value: Any) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump(value, self._process.stdin)
        self._process.stdin.flush()
        return self._process.stdout.readline().decode().strip()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@pytest.fixture(scope="session")
def other_processes() -> Iterator[list[OtherProcess]]:
    processes = [OtherProcess("1"), OtherProcess("4242")]
    yield processes
    for process in processes:
        process.close()
