"""A robot arm on a plane in Genesis, on Quadrants and on Samovar: how long it takes to build, how fast it steps.

It needs an environment of its own with Genesis in it, `pip install genesis-world==1.4.5 torch==2.13.0`, and Samovar:

    python benchmarks/genesis_arm.py --python path/to/that/python [--rounds 2]

Each round is a process of its own, in turns. The first one of each begins with an empty cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = 100
TIMED_STEPS = 500


def simulate() -> None:
    """Build the scene and step it, and print times and positions as JSON."""
    begin = time.perf_counter()
    import genesis as gs

    gs.init(backend=gs.cpu, logging_level="error")
    ready = time.perf_counter()
    scene = gs.Scene(show_viewer=False)
    scene.add_entity(gs.morphs.Plane())
    arm = scene.add_entity(gs.morphs.MJCF(file="xml/franka_emika_panda/panda.xml"))
    scene.build()
    built = time.perf_counter()
    scene.step()
    stepped = time.perf_counter()
    for _ in range(STEPS - 1):
        scene.step()
    positions = arm.get_dofs_position().cpu().numpy().tolist()
    rates = []
    for _ in range(5):
        first = time.perf_counter()
        for _ in range(TIMED_STEPS // 5):
            scene.step()
        rates.append(TIMED_STEPS // 5 / (time.perf_counter() - first))
    figures = {"import": ready - begin, "build": built - ready, "first step": stepped - built}
    figures["steps per second"] = max(rates)
    print("\n" + json.dumps({"figures": figures, "positions": positions}))


def run(python: str, runner: list[str], cache: Path) -> dict[str, object]:
    variables = {"XDG_CACHE_HOME": str(cache), "QD_OFFLINE_CACHE_FILE_PATH": str(cache / "quadrants")}
    command = [python, *runner, __file__, "--simulate"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=2, help="the first is cold, the others are warm")
    parser.add_argument("--simulate", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.simulate:
        simulate()
        return
    contenders = {"Quadrants": [], "Samovar": ["-m", "samovar", "run", "--as", "quadrants"]}
    positions = {}
    with tempfile.TemporaryDirectory() as directory:
        for number in range(given.rounds):
            for name, runner in contenders.items():
                found = run(given.python, runner, Path(directory) / name)
                positions[name] = found["positions"]
                figures = ", ".join(f"{what} {value:.2f}" for what, value in found["figures"].items())
                print(f"{name}, {'warm' if number else 'cold'}: {figures}")
    distance = max(abs(a - b) for a, b in zip(*positions.values(), strict=True))
    print(f"largest difference of a position after {STEPS} steps: {distance:.2g}")


if __name__ == "__main__":
    main()
