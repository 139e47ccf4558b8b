"""Line coverage of kernels, for coverage.py: `sv.init(kernel_coverage=True)`.

A kernel compiled for coverage sets a byte for each of its lines. At the end of the process, the lines whose bytes are set
are added to the data of coverage.py in this process, or written to a separate file that `coverage combine` finds.
"""

from __future__ import annotations

import atexit
import os
import sys

from samovar._native import Ndarray, u8
from samovar.errors import warn_once

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    #: (file, line), in the order of the bytes.
    Lines = tuple[tuple[str, int], ...]

_bytes: dict[Lines, Ndarray] = {}
#: The active instance of coverage.py, if any. It has stopped when the process ends.
_measuring: list[object] = []
#: The lines already saved, by file.
_done: dict[str, set[int]] = {}


def probes(lines: Lines) -> Ndarray:
    """The bytes of a kernel with these lines."""
    if not _bytes:
        atexit.register(save)
    if "coverage" in sys.modules:
        running = sys.modules["coverage"].Coverage.current()
        if running is not None and running not in _measuring:
            _measuring.append(running)
    found = _bytes.get(lines)
    if found is None:
        found = _bytes[lines] = Ndarray(u8, len(lines))
    return found


def lines_run() -> dict[str, set[int]]:
    """The lines of kernels and funcs that have run in this process, by file."""
    found: dict[str, set[int]] = {}
    for lines, flags in _bytes.items():
        for (file, line), flag in zip(lines, flags.tolist(), strict=True):
            if flag:
                found.setdefault(os.path.abspath(file), set()).add(line)
    return found


def save() -> None:
    """Save the lines that have run since the last time."""
    new = {file: lines - _done.get(file, set()) for file, lines in lines_run().items()}
    new = {file: lines for file, lines in new.items() if lines}
    if not new:
        return
    try:
        import coverage
    except ImportError:
        warn_once("the line coverage of kernels is lost: coverage.py is not installed\n  help: pip install coverage")
        return
    running: Any = coverage.Coverage.current() or (_measuring[-1] if _measuring else None)
    if running is not None:
        _add(running.get_data(), new, bool(running.get_option("run:branch")))
        running.save()
    else:
        file = os.environ.get("COVERAGE_FILE") or None
        data = coverage.CoverageData(file, suffix=f"kernels.{os.getpid()}")
        _add(data, new, _is_of_branches(coverage, file))
        data.write()
    for file, lines in new.items():
        _done.setdefault(file, set()).update(lines)


def _add(data: Any, found: dict[str, set[int]], branches: bool) -> None:
    """Add lines to data of coverage.py. With branch coverage, a line is an arc to it from an unknown place."""
    measured = data.measured_files()
    if measured:  # coverage.py is restricted to some files
        found = {file: lines for file, lines in found.items() if file in measured}
    if branches:
        data.add_arcs({file: [(-1, line) for line in lines] for file, lines in found.items()})
    else:
        data.add_lines(found)


def _is_of_branches(coverage: Any, file: str | None) -> bool:
    """Whether branches are measured: by the configuration of coverage.py, or by its earlier data."""
    try:
        before = coverage.CoverageData(file)
        before.read()
        return bool(before.has_arcs()) or bool(coverage.Coverage(data_file=None).get_option("run:branch"))
    except coverage.CoverageException as error:  # which coverage.py reports by itself
        warn_once(f"the configuration of coverage.py cannot be read: {error}")
        return False
