"""Runs the programs beside it on Quadrants and on Samovar, and compares what they compute.

    python tests/compat/compare.py --peer path/to/python          both of them, side by side; that Python has Quadrants
    python tests/compat/compare.py --peer path/to/python --record the results of Quadrants, kept for the test suite

Integers have to be equal. Of floats, sums and a few elements are compared, to a tolerance. What is kept of an array is a few
numbers, so that the file stays small.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORDED = HERE / "recorded.json"
#: Of the sum of absolute values: what the order of additions, and functions that are exact to other digits, may change.
TOLERANCE = 2e-4
SAMPLES = 6


def programs() -> list[Path]:
    """All programs, in the order of their names."""
    return sorted((HERE / "programs").glob("*.py"))


def digest(array: Any) -> dict[str, Any]:
    """What is kept of an array."""
    import numpy as np

    values = np.ascontiguousarray(array)
    found: dict[str, Any] = {"shape": list(values.shape)}
    if values.dtype.kind in "iub":
        return {**found, "crc32": zlib.crc32(values.astype(np.int64).tobytes())}
    flat = values.astype(np.float64).ravel()
    places = np.linspace(0, flat.size - 1, min(SAMPLES, flat.size)).astype(int)
    weights = np.cos(np.arange(flat.size))
    sums = [flat.sum(), np.abs(flat).sum(), (flat * weights).sum()]
    found["sums"] = [float(f"{each:.8g}") for each in sums]
    return {**found, "samples": [float(f"{each:.7g}") for each in flat[places]]}


def differences(expected: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """What two digests do not agree in."""
    if expected.keys() != found.keys() or expected["shape"] != found["shape"] or expected.get("crc32") != found.get("crc32"):
        return [f"{expected} became {found}"]
    if "sums" not in expected:
        return []
    size = expected["sums"][1]
    count = 1
    for extent in expected["shape"]:
        count *= extent
    pairs = [("sum", e, f, size) for e, f in zip(expected["sums"], found["sums"], strict=True)]
    mean = size / max(count, 1)
    pairs += [("element", e, f, abs(e) + mean) for e, f in zip(expected["samples"], found["samples"], strict=True)]
    return [f"{what} {e} became {f}" for what, e, f, scale in pairs if not abs(e - f) <= TOLERANCE * scale + 1e-12]


def run(paths: list[str]) -> None:
    """Run programs in this process, and print the digests of their results as JSON."""
    found: dict[str, Any] = {}
    for path in paths:
        begin = time.perf_counter()
        try:
            results = runpy.run_path(path, run_name="__main__")["results"]
            digests = {name: digest(array) for name, array in results.items()}
            found[Path(path).stem] = {"results": digests, "seconds": time.perf_counter() - begin}
        except Exception as error:
            found[Path(path).stem] = {"error": f"{type(error).__name__}: {error}"}
    print("\n" + json.dumps(found))


def results_of(command: list[str], paths: list[Path], **variables: str) -> dict[str, Any]:
    """The results of programs in a process of their own."""
    command = [*command, str(HERE / "compare.py"), "--run", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def samovar_command() -> list[str]:
    """How programs of the peer are run on Samovar."""
    return [sys.executable, "-m", "samovar", "run", "--as", "quadrants"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", nargs="+", metavar="PROGRAM", help="run programs here, and print digests")
    parser.add_argument("--peer", default=sys.executable, help="the Python that has Quadrants")
    parser.add_argument("--record", action="store_true", help="keep the results of Quadrants")
    parser.add_argument("--only", nargs="+", default=[], help="names of programs")
    given = parser.parse_args()
    if given.run:
        run(given.run)
        return
    chosen = [path for path in programs() if not given.only or path.stem in given.only]
    expected = results_of([given.peer], chosen)
    failed = {name: each["error"] for name, each in expected.items() if "error" in each}
    if given.record:
        if failed:
            raise SystemExit("\n".join(f"{name}: {error}" for name, error in failed.items()))
        lines = [f"{json.dumps(name)}: {json.dumps(each['results'])}" for name, each in sorted(expected.items())]
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return
    found = results_of(samovar_command(), chosen)
    equal = 0
    for path in chosen:
        name = path.stem
        ours, theirs = found[name], expected[name]
        if "error" in ours or "error" in theirs:
            print(f"{name}: Quadrants {theirs.get('error', 'ran')}; Samovar {ours.get('error', 'ran')}")
            continue
        pairs = [(key, theirs["results"][key], ours["results"][key]) for key in theirs["results"]]
        wrong = [f"{key}: {each}" for key, its, own in pairs for each in differences(its, own)]
        equal += not wrong
        took = f"Quadrants {theirs['seconds']:.2f} s, Samovar {ours['seconds']:.2f} s"
        print(f"{name}: {'; '.join(wrong) or 'equal'} ({took})")
    print(f"{equal} of {len(chosen)} programs agree")


if __name__ == "__main__":
    main()
