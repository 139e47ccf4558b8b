"""Programs of one kernel whose world changes: between two launches of a process, and between two processes.

A change is the text of a module with a kernel `k`, what is executed in it, and what `call` gives before and after. In
another process, the change is made before the first launch.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import worlds

import samovar as sv


@dataclass(frozen=True)
class Change:
    """What is there, what changes, and the results around it; `call` is what is evaluated. What is not stored, because a
    plain function gets an object of which nothing is known, is compiled in each process."""

    text: str
    change: str
    before: object
    after: object
    call: str = "k()"
    stored: bool = True


def loaded(folder: Path, text: str) -> Any:
    """A module from a file."""
    worlds.write(folder, {"changing.py": worlds.HEADER + text})
    spec = importlib.util.spec_from_file_location("changing", folder / "changing.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_in_one_process(folder: Path, change: Change) -> None:
    """The change is seen by the next launch; launches around it, between which nothing changes, look nothing up."""
    sv.init(offline_cache_file_path=folder / "cache", log_level="error")
    module = loaded(folder, change.text)
    observed = module.k.cache_observations
    path = folder / "change.py"
    path.write_text(change.change)
    for step, expected in ((None, change.before), (compile(change.change, str(path), "exec"), change.after)):
        if step is not None:
            exec(step, vars(module))
        assert eval(change.call, vars(module)) == expected
        lookups = observed.lookups
        assert eval(change.call, vars(module)) == expected
        assert observed.lookups == lookups, "nothing has changed, and the guards do not hold"


def check_between_processes(folder: Path, changes: dict[str, Change]) -> None:
    """Four processes, unchanged and changed by turns: each has its own result, and the last two compile nothing."""
    places = {name: (folder / str(number), folder / f"cache{number}") for number, name in enumerate(changes)}
    for run in range(4):
        for name, change in changes.items():
            end = f"\ndef main():\n    return {change.call}\n"
            text = change.text + (f"\n{change.change}\n" if run % 2 else "") + end
            worlds.write(places[name][0], {"main.py": text})
        found = worlds.run_elsewhere(places)
        for name, change in changes.items():
            expected = change.after if run % 2 else change.before
            assert found[name]["result"] == expected, (name, run, found[name])
            if run >= 2 and change.stored:
                assert found[name]["kernels"] == 0, (name, run)
