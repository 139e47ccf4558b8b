"""Scenes of Genesis, one or more per solver, on Quadrants and on Samovar: do they agree, how fast do they build and step?

It needs an environment of its own with Genesis in it, `pip install genesis-world==1.4.5 torch==2.13.0`, and Samovar:

    python benchmarks/genesis_scenes.py --python path/to/that/python [--only boxes,sand] [--rounds 2] [--cache directory]

Each run is a process of its own; Quadrants and Samovar take turns. In a new cache directory the first round of a scene is
cold, except for kernels that it shares with scenes before it, and the others are warm. Positions are compared after some
steps; with floats of 32 bits, scenes with contacts are chaotic, and `--precision 64` postpones that. Times of steps and
builds are processor time of all threads and of the processes that compile. Results are kept in the cache directory: a run
that was measured is not repeated, and `--kept` prints what there is.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import genesis_rigid_scenes  # noqa: F401
import genesis_soft_scenes  # noqa: F401
from genesis_scene_table import DOUBLES, SCENES, Entity

#: PR_SET_CHILD_SUBREAPER of prctl: processes whose parent has ended become children of this one, which counts their time.
ADOPT_ORPHANS = 36
CONTENDERS = {"Quadrants": [], "Samovar": ["-m", "samovar", "run", "--as", "quadrants"]}
#: After which steps states are compared.
COMPARED = (1, 3, 10, 30)
#: What states may differ by, relative to their largest value, to count as equal.
TOLERANCE = {"32": 1e-4, "64": 1e-8}
STEPS_PER_TIME, TIMES = 10, 5


def values(entity: Entity) -> Any:
    """The state of an entity, as an array."""
    import numpy as np

    if hasattr(entity, "value"):
        found = entity.value
    elif hasattr(entity, "get_dofs_position"):
        found = entity.get_dofs_position()
    elif hasattr(entity, "read"):
        found = entity.read()
    elif hasattr(entity, "get_particles_pos"):
        found = entity.get_particles_pos()
    else:
        found = entity.get_state().pos
    if isinstance(found, tuple):
        return np.concatenate([np.asarray(each.cpu(), np.float64).ravel() for each in found])
    found = found.detach().cpu().numpy() if hasattr(found, "detach") else found
    return np.asarray(found, np.float64).ravel()


def processor_time() -> float:
    """Processor time of this process and of those that compile for it: its children and those that the benchmark adopts."""
    spent = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) in (os.getpid(), os.getppid()):
            spent += sum(map(int, fields[11:15]))
    return spent / os.sysconf("SC_CLK_TCK")


def simulate(name: str, precision: str) -> None:
    """Build a scene and step it, and print times and states as JSON."""
    begin = time.perf_counter()
    import genesis as gs

    gs.init(backend=gs.cpu, logging_level="error", precision=precision, seed=1)
    ready = time.perf_counter()
    figures = {"import": ready - begin, "import, processor": processor_time()}
    made, control, entities = SCENES[name](gs)
    figures["build"] = time.perf_counter() - ready
    figures["build, processor"] = processor_time() - figures["import, processor"]
    states = {}
    begin = time.perf_counter()
    for step in range(1, max(COMPARED) + 1):
        control(step)
        made.step()
        if step == 1:
            figures["first step"] = time.perf_counter() - begin
        if step in COMPARED:
            found = [values(entity) for entity in entities]
            states[step] = [[*each[:: max(1, len(each) // 60)].tolist(), float(each.sum())] for each in found]
    taken, passed = [], []
    for _ in range(TIMES):
        first, start = time.process_time(), time.perf_counter()
        for _ in range(STEPS_PER_TIME):
            step += 1
            control(step)
            made.step()
        taken.append((time.process_time() - first) / STEPS_PER_TIME)
        passed.append((time.perf_counter() - start) / STEPS_PER_TIME)
    figures["step"], figures["step, wall"] = statistics.median(taken), min(passed)
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("\n" + json.dumps({"figures": figures, "states": states}), flush=True)
    gs.destroy()  # Quadrants writes its cache here
    os._exit(0)


def run(given: argparse.Namespace, contender: str, name: str, number: int, cache: Path) -> dict[str, Any] | None:
    """Run a scene in a process of its own, unless the result of this round is kept. None: it is to be, and is not."""
    precision = "64" if name in DOUBLES else given.precision
    kept = cache / f"{contender}-{name}-{precision}-{number}.json"
    if kept.exists() and contender not in given.again.split(","):
        return json.loads(kept.read_text())
    if given.kept:
        return None
    own = cache / contender.lower()
    variables = {"XDG_CACHE_HOME": str(own), "QD_OFFLINE_CACHE_FILE_PATH": str(own / "quadrants"), "QD_OFFLINE_CACHE": "1"}
    command = [given.python, *CONTENDERS[contender], __file__, "--simulate", name, "--precision", precision]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **variables}, check=False, timeout=given.timeout
        )
    except subprocess.TimeoutExpired:
        found = {"error": f"still running after {given.timeout:.0f} s"}
    else:
        found = result(done)
        if "error" in found:
            (cache / f"{contender}-{name}.txt").write_text(done.stdout + done.stderr)
    wait_for_orphans()
    kept.write_text(json.dumps(found))
    return found


def result(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What a run has printed, or why it has failed."""
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit status {done.returncode}"]
    return {"error": next((line.strip() for line in reversed(lines) if "Error" in line), lines[-1].strip())}


def wait_for_orphans() -> None:
    """Wait for the compile workers of a run, which end after it."""
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return


def agreement(theirs: dict[str, Any], ours: dict[str, Any], tolerance: float) -> tuple[int, float]:
    """Until which compared step two runs agree, and the largest difference after the last one, relative to the largest."""
    until, worst, agrees = 0, 0.0, True
    for step in theirs:
        worst = 0.0
        for one, other in zip(theirs[step], ours[step], strict=True):
            size = max(map(abs, one[:-1]), default=0.0) or 1.0
            differences = [abs(a - b) for a, b in zip(one[:-1], other[:-1], strict=True)]
            worst = max(worst, max(differences, default=0.0) / size)
        agrees = agrees and worst <= tolerance
        until = int(step) if agrees else until
    return until, worst


def ratio(theirs: dict[str, Any], ours: dict[str, Any], what: str) -> str:
    """A cell of the table: a figure of Quadrants and of Samovar, and how many times as much the first is."""
    one, other = theirs["figures"][what], ours["figures"][what]
    if what == "step":
        one, other = one * 1e3, other * 1e3
    return f"{one:.4g} → {other:.4g} ({one / other:.2g}×)"


#: The columns of the table: what they show, of the first or the last round.
COLUMNS = {
    "build, first run, s": ("build, processor", 0),
    "build, later run, s": ("build, processor", 1),
    "step, ms": ("step", -1),
    "peak memory, MB": ("memory", -1),
}


def row(name: str, rounds: dict[str, list[dict[str, Any]]], precision: str) -> list[str]:
    """A row of the table."""
    wrong = [f"{who}: {each['error']}" for who, several in rounds.items() for each in several if "error" in each]
    if wrong:
        return [name, "; ".join(dict.fromkeys(wrong)).replace("|", "/"), *["–"] * len(COLUMNS)]
    missing = [who for who in CONTENDERS if not rounds.get(who)]
    if missing:
        return [name, f"not measured on {' and '.join(missing)}", *["–"] * len(COLUMNS)]
    theirs, ours = (rounds[who] for who in CONTENDERS)
    until, worst = agreement(theirs[0]["states"], ours[0]["states"], TOLERANCE[precision])
    cells = [name, f"to step {until}, last {worst:.0e}"]
    for what, number in COLUMNS.values():
        cells.append(ratio(theirs[number], ours[number], what) if number < min(len(theirs), len(ours)) else "–")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default=",".join(SCENES))
    parser.add_argument("--rounds", type=int, default=2, help="the first is cold if the cache directory is new")
    parser.add_argument("--precision", choices=TOLERANCE, default="32")
    parser.add_argument("--cache", help="a directory for caches and results that are kept")
    parser.add_argument("--kept", action="store_true", help="print the results that are kept, and run nothing")
    parser.add_argument("--again", default="", help="contenders that are run even if a result is kept")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for one run")
    parser.add_argument("--contenders", default=",".join(CONTENDERS))
    parser.add_argument("--simulate", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.simulate:
        simulate(given.simulate, given.precision)
        return
    ctypes.CDLL(None).prctl(ADOPT_ORPHANS, 1)
    print("| scene | agrees | " + " | ".join(COLUMNS) + " |\n|---|---|" + "---:|" * len(COLUMNS), flush=True)
    with tempfile.TemporaryDirectory() as directory:
        cache = Path(given.cache or directory).resolve()
        cache.mkdir(exist_ok=True, parents=True)
        for name in given.only.split(","):
            rounds: dict[str, list[dict[str, Any]]] = {who: [] for who in given.contenders.split(",")}
            for number in range(given.rounds):
                for who in sorted(rounds, reverse=number % 2 == 1):
                    if len(rounds[who]) == number and not any("error" in each for each in rounds[who]):
                        found = run(given, who, name, number, cache)
                        rounds[who] += [] if found is None else [found]
            print("| " + " | ".join(row(name, rounds, given.precision)) + " |", flush=True)


if __name__ == "__main__":
    main()
