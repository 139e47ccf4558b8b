"""Scenes of Genesis, one or more per solver, on Quadrants and on Samovar: do they agree, how fast do they build and step?

It needs an environment of its own with Genesis in it, `pip install genesis-world==1.4.5 torch==2.13.0`, and Samovar:

    python benchmarks/genesis_scenes.py --python path/to/that/python [--only boxes,sand] [--rounds 2] [--cache directory]

Each run is a process of its own; Quadrants and Samovar take turns. In a new cache directory the first round is cold and the
others are warm. Positions are compared after some steps; with floats of 32 bits, scenes with contacts are chaotic, and
`--precision 64` postpones that. Times of steps are processor time of all threads. The figures go to out/genesis_scenes.json.
"""

from __future__ import annotations

import argparse
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

OUTPUT = Path(__file__).parent.parent / "out" / "genesis_scenes.json"
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


def simulate(name: str, precision: str) -> None:
    """Build a scene and step it, and print times and states as JSON."""
    begin = time.perf_counter()
    import genesis as gs

    gs.init(backend=gs.cpu, logging_level="error", precision=precision, seed=1)
    ready = time.perf_counter()
    made, control, entities = SCENES[name](gs)
    figures = {"import": ready - begin, "build": time.perf_counter() - ready}
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
    taken = []
    for _ in range(TIMES):
        first = time.process_time()
        for _ in range(STEPS_PER_TIME):
            step += 1
            control(step)
            made.step()
        taken.append((time.process_time() - first) / STEPS_PER_TIME)
    figures["step"] = statistics.median(taken)
    figures["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print("\n" + json.dumps({"figures": figures, "states": states}), flush=True)
    os._exit(0)


def run(given: argparse.Namespace, contender: str, name: str, cache: Path) -> dict[str, Any]:
    """Run a scene in a process of its own."""
    own = cache / contender.lower()
    variables = {"XDG_CACHE_HOME": str(own), "QD_OFFLINE_CACHE_FILE_PATH": str(own / "quadrants"), "QD_OFFLINE_CACHE": "1"}
    precision = "64" if name in DOUBLES else given.precision
    command = [given.python, *CONTENDERS[contender], __file__, "--simulate", name, "--precision", precision]
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **variables}, check=False, timeout=given.timeout
        )
    except subprocess.TimeoutExpired:
        return {"error": f"still running after {given.timeout} s"}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        (cache / f"{contender}-{name}.txt").write_text(done.stdout + done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.strip()] or [f"exit status {done.returncode}"]
        return {"error": next((line.strip() for line in reversed(lines) if "Error" in line), lines[-1].strip())}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    found["figures"]["processor"] = after.ru_utime + after.ru_stime - begin.ru_utime - begin.ru_stime
    return found


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


def report(name: str, rounds: dict[str, list[dict[str, Any]]], precision: str) -> str:
    """A line of the table."""
    wrong = [f"{who}: {each['error']}" for who, several in rounds.items() for each in several if "error" in each]
    if wrong:
        return f"{name:26} {'; '.join(dict.fromkeys(wrong))}"
    theirs, ours = ([each["figures"] for each in rounds[who]] for who in CONTENDERS)
    until, worst = agreement(rounds["Quadrants"][-1]["states"], rounds["Samovar"][-1]["states"], TOLERANCE[precision])
    cells = [f"{name:26} agrees to step {until:2d} (last {worst:.1e})"]
    for what in ("processor", "build", "step", "memory"):
        for place, when in ((0, "first"), (-1, "last")):
            if place == 0 and what in ("step", "memory"):
                continue
            unit, scale = ("ms", 1e3) if what == "step" else ("MB", 1) if what == "memory" else ("s", 1)
            one, other = theirs[place][what] * scale, ours[place][what] * scale
            label = what if what in ("step", "memory") else f"{what} ({when})"
            cells.append(f"{label} {one:.4g} → {other:.4g} {unit} ({one / other:.2f}×)")
    return ", ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--only", default=",".join(SCENES))
    parser.add_argument("--rounds", type=int, default=2, help="the first is cold if the cache directory is new")
    parser.add_argument("--precision", choices=TOLERANCE, default="32")
    parser.add_argument("--cache", help="a directory for caches that are kept")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for one run")
    parser.add_argument("--contenders", default=",".join(CONTENDERS))
    parser.add_argument("--simulate", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.simulate:
        simulate(given.simulate, given.precision)
        return
    with tempfile.TemporaryDirectory() as directory:
        cache = Path(given.cache or directory)
        cache.mkdir(exist_ok=True, parents=True)
        figures = {}
        for name in given.only.split(","):
            rounds: dict[str, list[dict[str, Any]]] = {who: [] for who in given.contenders.split(",")}
            for number in range(given.rounds):
                for who in sorted(rounds, reverse=number % 2 == 1):
                    if not any("error" in each for each in rounds[who]):
                        rounds[who].append(run(given, who, name, cache))
            figures[name] = rounds
            if len(rounds) == len(CONTENDERS):
                print(report(name, rounds, given.precision), flush=True)
            else:
                found = [each.get("figures", each.get("error")) for several in rounds.values() for each in several]
                print(name, found, flush=True)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
