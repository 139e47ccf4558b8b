"""Examples that come with Taichi, unchanged, on Taichi and by `samovar run --as taichi`: processor time per frame.

    python benchmarks/taichi_examples.py [--only nbody,mpm88] [--rounds 5] [--quick] [--threads 1,2]

The files are those of the installed package. Each runs in a process of its own, in rounds in which both take turns, with
windows in memory (`TI_GUI_SHOW=0`; Samovar has no others). The first frame, which compiles, does not count; then a fixed
number of frames is timed, the same ones for both. Time is processor time of the whole process, all threads together. What
the window's methods take (`circles`, `set_image`, `show`) is told apart: kernels are the program's, drawing is the
library's. A ratio is Taichi's time over Samovar's in one round; the table has medians of all rounds. The figures go to
out/taichi_examples.json.
"""

import argparse
import functools
import importlib.util
import json
import os
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

OUTPUT = Path(__file__).parent.parent / "out" / "taichi_examples.json"
#: The example's path → how many frames are timed. A frame of sdf_renderer is ten passes.
EXAMPLES = {
    "simulation/vortex_rings": 10,
    "simulation/mandelbrot_zoom": 40,
    "simulation/nbody": 10,
    "simulation/mpm88": 20,
    "simulation/pbf2d": 30,
    "simulation/implicit_mass_spring": 200,
    "rendering/sdf_renderer": 1,
}
WARM_FRAMES = 1
DRAWING = ("circle", "circles", "clear", "get_event", "get_events", "line", "lines", "rect", "set_image", "show")
LAUNCHERS = {"Taichi": [], "Samovar": ["-m", "samovar", "run", "--as", "taichi"]}


def processor_milliseconds() -> float:
    return time.process_time() * 1e3


def play(example: str, frames: int) -> None:
    """Run a file until enough frames were shown. Print the milliseconds of one: of the whole process, and of drawing."""
    import taichi

    drawing, inside, shown, begin = 0.0, False, 0, (0.0, 0.0)

    def timed(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def run(*arguments: Any, **named: Any) -> Any:
            nonlocal drawing, inside
            if inside:
                return method(*arguments, **named)
            inside, entered = True, processor_milliseconds()
            try:
                return method(*arguments, **named)
            finally:
                inside, drawing = False, drawing + processor_milliseconds() - entered

        return run

    def counted(show: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> None:
            nonlocal shown, begin
            show(*arguments, **named)
            shown += 1
            if shown == WARM_FRAMES:
                begin = processor_milliseconds(), drawing
            if shown == WARM_FRAMES + frames:
                now = processor_milliseconds(), drawing
                print(json.dumps([(last - first) / frames for first, last in zip(begin, now, strict=True)]), flush=True)
                os._exit(0)

        return run

    for name in DRAWING:
        setattr(taichi.GUI, name, timed(getattr(taichi.GUI, name)))
    taichi.GUI.show = counted(taichi.GUI.show)
    sys.argv = [example]
    runpy.run_path(example, run_name="__main__")


def milliseconds(library: str, example: Path, frames: int, threads: int | None) -> tuple[float, float]:
    """Those of one frame in a fresh process: of the program without its drawing, and with it."""
    environment = {**os.environ, "TI_GUI_SHOW": "0", "TI_ARCH": "x64", "TI_ENABLE_LOGGING": "0", "SAMOVAR_FRAMES": "1000000"}
    if threads is not None:
        environment |= {"TI_CPU_MAX_NUM_THREADS": str(threads), "SAMOVAR_NUM_THREADS": str(threads)}
    command = [sys.executable, *LAUNCHERS[library], __file__, "--play", str(example), "--frames", str(frames)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode or not done.stdout:
        raise SystemExit(f"{library} does not run {example}:\n{done.stderr[-2000:]}")
    whole, drawing = json.loads(done.stdout.splitlines()[-1])
    return whole - drawing, whole


def compare(example: Path, frames: int, threads: int | None, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """The figures of each round: everybody runs once, first this one and then that one."""
    taken: dict[str, list[tuple[float, float]]] = {library: [] for library in LAUNCHERS}
    for number in range(rounds):
        for library in sorted(LAUNCHERS, reverse=number % 2 == 0):
            taken[library].append(milliseconds(library, example, frames, threads))
    return taken


def row(name: str, threads: int | None, taken: dict[str, list[tuple[float, float]]]) -> list[str]:
    cells = [name, "default" if threads is None else str(threads)]
    for column in (0, 1):
        ours, theirs = ([figures[column] for figures in taken[library]] for library in ("Samovar", "Taichi"))
        ratio = statistics.median(their / our for our, their in zip(ours, theirs, strict=True))
        cells += [f"{statistics.median(ours):.2f}", f"{statistics.median(theirs):.2f}", f"{ratio:.2f}"]
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = {Path(path).name: path for path in EXAMPLES}
    parser.add_argument("--only", default=",".join(names))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--threads", default="1,default", help="numbers of threads; `default` is what each takes by itself")
    parser.add_argument("--play", help=argparse.SUPPRESS)
    parser.add_argument("--frames", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        play(options.play, options.frames)
        return

    from rich.console import Console
    from rich.table import Table

    package = importlib.util.find_spec("taichi")
    if package is None or package.origin is None:
        raise SystemExit("this benchmark needs Taichi: make bench-setup")
    folder = Path(package.origin).parent / "examples"
    columns = ("Samovar, ms", "Taichi, ms", "ratio")
    table = Table("example", "threads", *columns, *(f"{column}, with drawing" for column in columns))
    figures = []
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SAMOVAR_OFFLINE_CACHE_FILE_PATH"] = cache
        for name in options.only.split(","):
            for threads in (None if text == "default" else int(text) for text in options.threads.split(",")):
                path = names[name]
                taken = compare(folder / f"{path}.py", EXAMPLES[path], threads, 1 if options.quick else options.rounds)
                figures.append({"example": name, "threads": threads, "milliseconds": taken})
                table.add_row(*row(name, threads, taken))
    Console().print(table)
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
