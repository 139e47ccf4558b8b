"""The warm half of `startup.py`: programs whose kernels are in the cache already, in fresh processes."""

import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cold_program import expected_checksum, program
from rich.table import Table

#: What a process does, one after the other.
PARTS = ("interpreter", "import", "definitions", "first call", "other calls", "end")


class WarmProgram:
    """A program that was run once, so that everything it compiles is kept; `run` starts an interpreter on it."""

    def __init__(self, library: str, kernels: int, home: str, run: Callable[[list[str], str], Any]) -> None:
        self.library = library
        self.kernels = kernels
        self.home = home
        self._run = run
        # A module of its own, as programs have them: its bytecode is kept, that of a script is not.
        (Path(home) / "kernels.py").write_text(program(library, kernels))
        self.script = Path(home) / "script.py"
        self.script.write_text("import kernels\n")
        self.once()

    def once(self) -> dict[str, float]:
        """The seconds of each part, and of the whole process."""
        bare = self._run(["-c", "pass"], self.home).wall
        run = self._run([str(self.script)], self.home)
        whole, printed = run.wall, run.printed
        lines = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line}
        checksum, expected = float(lines["measured"][1]), expected_checksum(self.kernels)
        if abs(checksum - expected) > 1e-5 * abs(expected):
            raise SystemExit(f"{self.library}, warm: the checksum is {checksum}, expected {expected}")
        imported, defined, first, end = map(float, lines["marks"])
        return {
            "whole": whole,
            "interpreter": bare,
            "import": imported,
            "definitions": defined - imported,
            "first call": first - defined,
            "other calls": end - first,
            "end": max(0.0, whole - bare - end),
            "calls": end - defined,
            "processor": run.processor,
        }


def medians(rows: list[dict[str, float]]) -> dict[str, float]:
    """The median of each part."""
    return {part: statistics.median(row[part] for row in rows) for part in rows[0]}


def table_of(results: dict[str, dict[str, float]], kernels: int) -> Table:
    """One row per library: the whole process, its ratio to Samovar's, the first calls, and where the time goes."""
    table = Table(title=f"{kernels} kernels warm, in milliseconds")
    for heading in ("library", "whole process", "over Samovar", "all first calls", *PARTS):
        table.add_column(heading, justify="right")
    own = results["Samovar"]["whole"]
    for library, parts in results.items():
        cells = [f"{parts[part] * 1e3:.1f}" for part in ("whole", "calls", *PARTS)]
        table.add_row(library, cells[0], f"{parts['whole'] / own:.1f}", *cells[1:])
    return table
