"""Writes the figures of a benchmark to out/<name>.json, with the machine and the versions that they belong to."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
from datetime import date
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent.parent / "out"
LIBRARIES = {"Samovar": "samovar", "Numba": "numba", "Quadrants": "quadrants", "Warp": "warp-lang", "Taichi": "taichi"}


def processor() -> str:
    """The processor as Linux names it: "AMD EPYC, family 26, model 2"."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.machine()
    found = dict(re.findall(r"^(model name|cpu family|model)\s*: (.+)$", text, re.MULTILINE))
    return f"{found['model name']}, family {found['cpu family']}, model {found['model']}" if found else platform.machine()


def versions() -> dict[str, str]:
    installed = {}
    for library, distribution in LIBRARIES.items():
        try:
            installed[library] = importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return installed


def write(name: str, figures: dict[str, Any]) -> None:
    about = {
        "date": date.today().isoformat(),
        "machine": processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "versions": versions(),
    }
    OUT.mkdir(exist_ok=True)
    (OUT / f"{name}.json").write_text(json.dumps({**about, **figures}))
