"""All example files that come with Taichi, unchanged, by `samovar run --as taichi`: which end, and what they compute.

    python benchmarks/taichi_programs.py [--only nbody,mpm88] [--compare] [--timeout 300]

Without `--compare`, each file runs as it is, in an empty directory, with windows in memory that close after some frames
(`SAMOVAR_FRAMES`). The table says which files end, in how many seconds of processor time, or the reason.

With `--compare`, each file runs on Taichi and on Samovar with windows that draw nothing, on both (those of Taichi need a
graphics card). What the program shows in its last frame (arguments of `set_image`, `circles`, …), or prints if it has no
window, is compared to a tolerance, unless it calls `ti.random`; and processor time per frame, after the first two. NumPy's
random numbers have a fixed seed. The figures go to out/taichi_programs.json.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import resource
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar

OUTPUT = Path(__file__).parent.parent / "out" / "taichi_programs.json"
FRAMES = 6
WARM_FRAMES = 2
TOLERANCE = 2e-3
#: Names of arguments that widgets give back.
WIDGETS = ("slider_float", "slider_int", "checkbox", "color_edit_3")
NUMBER = re.compile(r"-?\d+\.?\d*(?:[eE][-+]?\d+)?")


class Window:
    """Takes everything that is drawn, and keeps digests of arrays. The last frame ends the process."""

    shown: ClassVar[dict[str, list[float]]] = {}
    frames = 0
    begin = 0.0

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.running, self.event, self.res = True, None, (512, 512)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def take(*arguments: Any, **named: Any) -> Any:
            if name in WIDGETS:
                return arguments[1] if len(arguments) > 1 else named.get("old_value")
            if name in ("get_event", "is_pressed", "button"):
                return False
            if name == "get_events":
                return []
            if name in ("get_cursor_pos", "get_window_shape"):
                return (0.5, 0.5) if name == "get_cursor_pos" else self.res
            for place, each in enumerate([*arguments, *named.values()]):
                self.note(f"{name} {place}", each)
            return Window()

        return take

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def __call__(self, *arguments: Any, **named: Any) -> Window:
        return self

    def note(self, name: str, given: Any) -> None:
        """Keep a digest of an array."""
        import numpy as np

        if hasattr(given, "to_numpy"):
            given = given.to_numpy()
        if isinstance(given, np.ndarray) and given.dtype.kind in "iuf" and given.size:
            numbers = given.astype(np.float64).ravel()
            Window.shown[name] = [float(numbers.mean()), float(np.abs(numbers).mean()), float(numbers.std())]

    def show(self, *arguments: Any, **named: Any) -> None:
        """Count a frame."""
        Window.frames += 1
        now = time.process_time()
        if Window.frames == WARM_FRAMES:
            Window.begin = now
        if Window.frames == FRAMES:
            seconds = (now - Window.begin) / (FRAMES - WARM_FRAMES)
            print("\n" + json.dumps({"seconds": seconds, "shown": Window.shown}), flush=True)
            os._exit(0)


def play(path: str) -> None:
    """Run a file with windows that draw nothing."""
    import random

    import numpy as np
    import taichi

    np.random.seed(1)
    random.seed(1)
    if importlib.util.find_spec("matplotlib"):
        import matplotlib.pyplot as plt

        plt.show = plt.pause = lambda *arguments, **named: None
    taichi.GUI = Window
    for name in ("Window", "Camera", "Scene", "make_camera"):
        setattr(taichi.ui, name, Window)
    sys.argv = [path]
    runpy.run_path(path, run_name="__main__")


def run(command: list[str], timeout: float) -> dict[str, Any]:
    """Run a program in an empty directory: its exit status, output and processor time."""
    environment = {"TI_GUI_SHOW": "0", "MPLBACKEND": "Agg", "SAMOVAR_FRAMES": "3", "TI_ARCH": "x64", "TI_LOG_LEVEL": "error"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as place:
        try:
            done = subprocess.run(
                [sys.executable, *command], env={**os.environ, **environment}, cwd=place, capture_output=True, text=True,
                stdin=subprocess.DEVNULL, timeout=timeout, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"error": f"still running after {timeout:.0f} s"}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found: dict[str, Any] = {"processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}
    found["output"] = done.stdout
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()] or [f"status {done.returncode}"]
        found["error"] = next((line for line in reversed(lines) if re.match(r"[\w.]*(Error|Exception)\b", line)), lines[-1])
    return found


def played(found: dict[str, Any]) -> dict[str, Any]:
    """What a program showed, or the numbers that it printed."""
    if "error" in found:
        return found
    last = found["output"].splitlines()[-1:] or [""]
    if last[0].startswith('{"seconds"'):
        return {**json.loads(last[0]), "output": ""}
    lines = [line for line in found["output"].splitlines() if not line.startswith("[Taichi]")]
    return {"shown": {"printed": [float(each) for each in NUMBER.findall("\n".join(lines))]}}


def same(theirs: dict[str, Any], ours: dict[str, Any]) -> bool:
    """Whether two runs showed the same."""
    if theirs["shown"].keys() != ours["shown"].keys():
        return False
    for name, expected in theirs["shown"].items():
        found = ours["shown"][name]
        if len(expected) != len(found):
            return False
        size = max((abs(each) for each in expected), default=0.0)
        if any(abs(a - b) > TOLERANCE * (size + 1e-9) for a, b in zip(expected, found, strict=True)):
            return False
    return True


def compare(path: Path, timeout: float) -> str:
    """A line about what a program computes on both."""
    command = [__file__, "--play", str(path)]
    theirs = played(run(command, timeout))
    ours = played(run(["-m", "samovar", "run", "--as", "taichi", *command], timeout))
    if "error" in theirs or "error" in ours:
        return f"Taichi: {theirs.get('error', 'ran')}; Samovar: {ours.get('error', 'ran')}"
    is_random = re.search(r"\b(ti|tm)\.(random|randn|rand)\b", path.read_text()) is not None
    verdict = "random" if is_random else "equal" if same(theirs, ours) else f"DIFFERENT {theirs['shown']} {ours['shown']}"
    if "seconds" in theirs and "seconds" in ours:
        one, other = theirs["seconds"] * 1e3, ours["seconds"] * 1e3
        verdict += f", {one:.2f} → {other:.2f} ms per frame ({one / max(other, 1e-6):.2f}×)"
    return verdict


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of files, or parts of their paths")
    parser.add_argument("--compare", action="store_true", help="on Taichi as well")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--play", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.play:
        play(given.play)
        return
    package = importlib.util.find_spec("taichi")
    if package is None or package.origin is None:
        raise SystemExit("this benchmark needs Taichi: make bench-setup")
    folder = Path(package.origin).parent / "examples"
    paths = sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py")
    wanted = [each for each in given.only.split(",") if each]
    chosen = [path for path in paths if not wanted or any(each in str(path.relative_to(folder)) for each in wanted)]
    lines: dict[str, str] = {}
    for path in chosen:
        if given.compare:
            line = compare(path, given.timeout)
        else:
            found = run(["-m", "samovar", "run", "--as", "taichi", str(path)], given.timeout)
            line = found.get("error") or f"runs, {found['processor']:.1f} s of processor time"
        lines[str(path.relative_to(folder))] = line
        print(f"{path.relative_to(folder)}: {line}", flush=True)
    ending = ("runs", "equal", "random", "DIFFERENT")
    count = sum(line.startswith(ending) or "Samovar: ran" in line for line in lines.values())
    print(f"{count} of {len(lines)} run to their end")
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
