"""A samovar boils: steam as a fluid on a grid, with a dozen kernels and thirty launches per step.

    python examples/steam.py [--steps 600] [--height 400] [--output out/steam.png]

It writes a picture and prints what importing, compiling and launching cost.
"""

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

before_import = time.perf_counter()
import samovar as sv  # noqa: E402  (the import is timed)

IMPORT_SECONDS = time.perf_counter() - before_import

import steam_kernels as kernels  # noqa: E402
from png import write_png  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import track  # noqa: E402
from rich.table import Table  # noqa: E402
from rich.text import Text  # noqa: E402

SWEEPS = 24
DETAIL = 2
PREVIEW_COLUMNS = 72


@dataclass
class Meter:
    """Counts and times the launches of each kernel. The first launch, which compiles, is kept separately."""

    first: dict[str, float] = field(default_factory=dict)
    later: dict[str, list[float]] = field(default_factory=dict)

    def launch(self, kernel: Any, *arguments: Any) -> None:
        begin = time.perf_counter()
        kernel(*arguments)
        taken = time.perf_counter() - begin
        name = kernel.__name__
        if name in self.first:
            self.later[name].append(taken)
        else:
            self.first[name] = taken
            self.later[name] = []


class Steam:
    """The state of the fluid, and one time step."""

    def __init__(self, height: int, width: int, meter: Meter) -> None:
        def grid() -> Any:
            return sv.ndarray(sv.f32, (height, width))

        self.u, self.v, self.steam = grid(), grid(), grid()
        self.new_u, self.new_v, self.new_steam = grid(), grid(), grid()
        self.pressure, self.other = grid(), grid()
        self.divergence, self.curl, self.space = grid(), grid(), grid()
        self.meter = meter
        meter.launch(kernels.place_samovar, self.space)

    def step(self, moment: int) -> None:
        launch = self.meter.launch
        launch(kernels.boil, self.u, self.v, self.steam, float(moment))
        launch(kernels.curl_of, self.u, self.v, self.curl)
        launch(kernels.swirl_and_rise, self.u, self.v, self.steam, self.curl, self.space, 0.12, 0.014)
        launch(kernels.divergence_of, self.u, self.v, self.divergence)
        for _ in range(SWEEPS):
            launch(kernels.relax, self.pressure, self.other, self.divergence, self.space)
            self.pressure, self.other = self.other, self.pressure
        launch(kernels.project, self.u, self.v, self.pressure, self.space)
        launch(
            kernels.advect, self.u, self.v, self.steam, self.space,
            self.new_u, self.new_v, self.new_steam, 0.999, 0.993,
        )  # fmt: skip
        self.u, self.new_u = self.new_u, self.u
        self.v, self.new_v = self.new_v, self.v
        self.steam, self.new_steam = self.new_steam, self.steam


def launch_seconds(count: int = 20_000) -> float:
    """The time of one launch over 16 elements, after compiling."""
    few = sv.ndarray(sv.f32, 16)
    kernels.touch(few)
    begin = time.perf_counter()
    for _ in range(count):
        kernels.touch(few)
    return (time.perf_counter() - begin) / count


def preview(pixels: bytes, width: int, height: int) -> Text:
    """The picture for the terminal; each character shows two pixels."""
    columns = PREVIEW_COLUMNS
    rows = columns * height // width // 2 * 2
    text = Text()

    def color(row: int, column: int) -> str:
        at = 3 * ((row * height // rows) * width + column * width // columns)
        return f"rgb({pixels[at]},{pixels[at + 1]},{pixels[at + 2]})"

    for row in range(0, rows, 2):
        for column in range(columns):
            text.append("▀", style=f"{color(row, column)} on {color(row + 1, column)}")
        text.append("\n")
    return text


def report(meter: Meter, seconds: float, steps: int) -> Table:
    launches = sum(len(times) + 1 for times in meter.later.values())
    table = Table(title=f"{steps} steps, {launches} launches in {seconds:.1f} s")
    for heading in ("kernel", "first launch", "launches", "each later launch"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    table.add_row("import samovar", f"{IMPORT_SECONDS * 1e3:.1f} ms", "", "")
    for name, first in meter.first.items():
        times = meter.later[name]
        each = f"{sum(times) / len(times) * 1e6:.1f} µs" if times else "–"
        table.add_row(name, f"{first * 1e3:.1f} ms", f"{len(times) + 1}", each)
    table.add_row("launch overhead (16 elements)", "", "", f"{launch_seconds() * 1e6:.2f} µs")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--height", type=int, default=400, help="grid height in cells; the picture has twice as many pixels")
    parser.add_argument("--output", type=Path, default=Path("out/steam.png"))
    options = parser.parse_args()
    height, width = options.height, options.height * 3 // 4
    console = Console()
    meter = Meter()

    begin = time.perf_counter()
    steam = Steam(height, width, meter)
    for moment in track(range(options.steps), description="boiling", console=console):
        steam.step(moment)
    picture = sv.ndarray(sv.u8, (DETAIL * height, DETAIL * width, 3))
    meter.launch(kernels.paint, picture, steam.steam, DETAIL)
    seconds = time.perf_counter() - begin

    pixels = bytes(memoryview(picture).cast("B"))
    write_png(options.output, pixels, DETAIL * width, DETAIL * height)
    if console.is_terminal:
        console.print(preview(pixels, DETAIL * width, DETAIL * height))
    console.print(report(meter, seconds, options.steps))
    console.print(f"Wrote {options.output}")


if __name__ == "__main__":
    main()
