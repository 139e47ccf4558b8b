"""The example runs, and its second run finds what the first has left."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "fingerprint_pipeline.py"


def test_example_renders_once_and_says_what_changed(tmp_path):
    def run():
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        return subprocess.run(
            [sys.executable, EXAMPLE], check=True, capture_output=True, text=True, env=environment
        ).stdout

    first, second = run(), run()
    assert first.count(", rendered") == 3
    assert first.count("from the cache") == 1
    assert "differs from the previous one at .factors[1].terms[1].value: 1.0 → 2.0" in first
    assert "same value as the previous one" in first
    assert second.count("from the cache") == 4
