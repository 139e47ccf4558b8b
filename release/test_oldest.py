"""Runs the suite on the oldest libraries that pyproject.toml declares, and on each llvmlite since its oldest.

    make test-oldest
    make test-oldest TESTS="tests/native tests/runtime"

The oldest of everything is tried on the oldest Python that is found; each llvmlite on the newest Python that it has a wheel
for.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from interpreters import ROOT, clean_variables, environment, interpreters


def declared(name: str) -> str:
    """The oldest version of a library that is declared."""
    found = re.search(rf'"{name}>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    if found is None:
        sys.exit(f"pyproject.toml declares no oldest {name}")
    return found[1]


def released(python_version: str, name: str, oldest: str) -> list[str]:
    """The versions of a library from one on that a Python can have, oldest first; of each minor version the last."""
    # By our own pip, which is new: that of another interpreter may not know the option.
    asked = [sys.executable, "-m", "pip", "index", "versions", "--json", "--python-version", python_version, name]
    done = subprocess.run(asked, capture_output=True, text=True, check=True)
    versions = json.loads(done.stdout)["versions"]
    least = tuple(map(int, oldest.split(".")))
    last: dict[tuple[int, ...], str] = {}
    for version in versions:  # newest first
        if re.fullmatch(r"[\d.]+", version):
            numbers = tuple(map(int, version.split(".")))
            if numbers[: len(least)] >= least:
                last.setdefault(numbers[:2], version)
    return [last[minor] for minor in sorted(last)]


def tried(python: str, directory: Path, pins: list[str], tests: list[str]) -> tuple[bool, str]:
    """Whether the suite passes with some versions, and its last line, with what failed."""
    made = environment(python, directory, "--upgrade", "pip")
    installed = subprocess.run([made, "-m", "pip", "install", "--quiet", "--editable", f"{ROOT}[dev]", *pins], check=False)
    if installed.returncode:
        return False, "cannot be installed"
    done = subprocess.run(
        [made, "-m", "pytest", "-p", "no:cacheprovider", "-n", "2", *tests],
        cwd=ROOT,
        env=clean_variables(),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    ending = done.stdout.splitlines()[-1] if done.stdout else f"pytest ended with {done.returncode}"
    return not done.returncode, "\n    ".join([ending, *lines])


def main(tests: list[str]) -> int:
    found = interpreters()
    oldest_python, (newest_version, newest_python) = next(iter(found.values())), next(reversed(found.items()))
    oldest = [f"{name}=={declared(name)}" for name in ("llvmlite", "rich", "numpy")]
    worlds = [(oldest_python, oldest)]
    since = released(newest_version, "llvmlite", declared("llvmlite"))
    worlds += [(newest_python, [f"llvmlite=={each}"]) for each in since]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="samovar-oldest-") as name:
        for number, (python, pins) in enumerate(worlds):
            print(f"{Path(python).name}, {', '.join(pins)}", flush=True)
            passed, outcome = tried(python, Path(name) / str(number), pins, tests)
            failed += not passed
            print(f"    {outcome}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
