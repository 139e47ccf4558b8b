"""Draws the plots of README and site from the figures of the benchmarks, and writes docs/results.md.

    make bench plots

Reads out/launch.json, out/launch_compound.json, out/startup.json and out/throughput.json, which have to come from one
machine and one day. Writes docs/images/plots/<name>-light.svg and <name>-dark.svg. Needs matplotlib, which is in the
environment of the benchmarks.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PLOTS = ROOT / "docs" / "images" / "plots"
PAGE = ROOT / "docs" / "results.md"
LIBRARIES = ("Samovar", "Numba", "Warp", "Quadrants", "Taichi")
COLORS = {"Samovar": "#e64a19", "Numba": "#4c8dd6", "Warp": "#5fa35f", "Quadrants": "#9a7fd1", "Taichi": "#a0a0a0"}
THEMES = {"light": "#303030", "dark": "#d8d8d8"}
SHARED = ("date", "machine", "cores", "python", "versions")


@dataclass(frozen=True)
class Plot:
    """One plot: a row per case, a bar per library."""

    name: str
    title: str
    unit: str
    rows: dict[str, dict[str, float]]
    written: Callable[[float], str]
    #: Where bars begin: None for the left edge of the axis.
    base: float | None = None


def read(name: str) -> Any:
    path = ROOT / "out" / f"{name}.json"
    if not path.is_file():
        sys.exit(f"out/{name}.json is missing: run make bench")
    return json.loads(path.read_text())


def duration(seconds: float) -> str:
    scaled, unit = next(
        (seconds * factor, unit)
        for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs"))
        if seconds * factor >= 1 or factor == 1e6
    )
    return f"{scaled:.3g} {unit}" if scaled < 100 else f"{scaled:.0f} {unit}"


def shortest(cases: dict[str, dict[str, list[float]]], named: dict[str, str]) -> dict[str, dict[str, float]]:
    """Case → library → the shortest of all rounds, for the cases that have a name. Other programs only add to a time."""
    own = {"Samovar, NumPy arrays": "Samovar"}
    return {
        title: {own.get(library, library): min(taken) for library, taken in cases[case].items() if "own" not in library}
        for case, title in named.items()
    }


def launch_plot(launch: Any, compound: Any) -> Plot:
    rows = shortest(
        launch["seconds"], {"1 array": "1 array", "by keyword": "array and scalar by keyword", "10 arrays": "10 arrays"}
    )
    rows |= shortest(compound["seconds"], {"dataclass, 100 arrays": "a dataclass of 100 arrays"})
    return Plot(
        "launch",
        "Overhead of one kernel launch",
        "time per call, 16 elements, best of all rounds; less is better",
        rows,
        duration,
    )


def startup_plot(startup: Any) -> Plot:
    """CPU time, with that of compile workers: other programs on the machine do not change it much."""
    kernels = str(startup["kernels"])
    cold = {name: statistics.median(run[1] for run in each["cold"]) for name, each in startup["seconds"].items()}
    rows = {
        "import": {name: statistics.median(pair[1] for pair in each["import"]) for name, each in startup["seconds"].items()},
        f"{kernels} kernels, cold": cold,
        f"{kernels} kernels, cold, sv.precompile": {"Samovar": cold["Samovar, precompile"]},
        f"{kernels} kernels, from the cache": {name: each["processor"] for name, each in startup["warm"][kernels].items()},
    }
    unit = "CPU time of the whole process (import: the difference); less is better"
    return Plot("startup", "Startup", unit, rows, duration)


def throughput_plot(throughput: Any) -> Plot:
    rows = {}
    for kernel, seconds in throughput["seconds"].items():
        c = seconds["C"]
        rows[kernel.replace("_", " ")] = {
            name: statistics.median(a / b for a, b in zip(c, taken, strict=True))
            for name, taken in seconds.items()
            if name != "C"
        }
    threads = "one thread" if throughput["threads"] == 1 else f"{throughput['threads']} threads"
    clock = "processor" if throughput["clock"] == "cpu" else "wall"
    unit = f"speed relative to C (gcc -O3 -march=native -ffast-math), {threads}, {clock} time; more is better"
    return Plot("throughput", "Speed of loops", unit, rows, lambda ratio: f"{ratio:.2f}", base=1.0)


def draw(plot: Plot, theme: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    ink = THEMES[theme]
    settings = {
        "svg.fonttype": "none", "svg.hashsalt": "samovar",
        "font.size": 11, "text.color": ink, "axes.labelcolor": ink, "xtick.color": ink, "ytick.color": ink,
    }  # fmt: skip
    with pyplot.rc_context(settings):
        present = [name for name in LIBRARIES if any(name in row for row in plot.rows.values())]
        height = 0.8 / len(present)
        figure, axes = pyplot.subplots(figsize=(7.2, 0.7 + len(plot.rows) * (0.16 * len(present) + 0.14)))
        for number, library in enumerate(present):
            shown = [(at, row[library]) for at, row in enumerate(plot.rows.values()) if library in row]
            places = [at - 0.4 + (number + 0.5) * height for at, _ in shown]
            values = [value for _, value in shown]
            widths = values if plot.base is None else [value - plot.base for value in values]
            axes.barh(places, widths, height * 0.9, left=plot.base, color=COLORS[library], label=library)
            for place, value in zip(places, values, strict=True):
                below = plot.base is not None and value < plot.base
                axes.annotate(
                    plot.written(value), (value, place), (-3 if below else 3, 0), textcoords="offset points",
                    ha="right" if below else "left", va="center", fontsize=8,
                    fontweight="bold" if library == "Samovar" else "normal",
                )  # fmt: skip
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        axes.set_xlim(low / (1.9 if plot.base else 1), high * 2)
        axes.set_yticks(range(len(plot.rows)), list(plot.rows))
        axes.set_ylim(len(plot.rows) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_formatter(lambda value, _: plot.written(value) if plot.base is None else f"{value:g}×")
        axes.set_xlabel(plot.unit, fontsize=9)
        axes.set_title(plot.title, loc="left", fontweight="bold", pad=24)
        axes.legend(
            loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=len(present), frameon=False, fontsize=9, handlelength=1
        )
        axes.grid(axis="x", color=ink, alpha=0.15)
        axes.set_axisbelow(True)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
        axes.spines["bottom"].set_color(ink)
        if plot.base is not None:
            axes.axvline(plot.base, color=ink, linewidth=1)
        PLOTS.mkdir(parents=True, exist_ok=True)
        figure.savefig(PLOTS / f"{plot.name}-{theme}.svg", transparent=True, bbox_inches="tight", metadata={"Date": None})
        pyplot.close(figure)


def table(plot: Plot) -> list[str]:
    present = [name for name in LIBRARIES if any(name in row for row in plot.rows.values())]
    return [
        f"| | {' | '.join(present)} |",
        f"|---|{'---:|' * len(present)}",
        *(
            f"| {case} | {' | '.join(plot.written(row[name]) if name in row else '–' for name in present)} |"
            for case, row in plot.rows.items()
        ),
    ]


def page(plots: list[Plot], about: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lines = [
        "# Benchmark results",
        "",
        "<!-- Written by tools/documentation/plots.py. -->",
        "",
        f"Machine: {about['machine']}, {about['cores']} virtual cores, Linux. Python {about['python']}. {about['date']}.",
        f"Versions: {versions}.",
        f"Load average while measuring: up to {about['load']:.1f}.",
        "",
        "All figures were taken on this machine on one day by the scripts of `make bench`; `make plots` draws them. Launch",
        "times are the best of all rounds; startup and loops are CPU time, which other programs change little.",
        "[Method](benchmarks.md) has the details, and [performance](performance.md) has 190 loops. Compare ratios: absolute",
        "times differ between machines.",
        "",
    ]
    for plot in plots:
        alternative = f"{plot.title}: {plot.unit}"
        lines += [f"## {plot.title}", ""]
        lines += [f"![{alternative}](images/plots/{plot.name}-{theme}.svg#only-{theme})" for theme in THEMES]
        lines += ["", *table(plot), ""]
    return "\n".join(lines)


def main() -> None:
    launch, compound, startup, throughput = map(read, ("launch", "launch_compound", "startup", "throughput"))
    about = {key: launch[key] for key in SHARED}
    for each in (compound, startup, throughput):
        if {key: each[key] for key in SHARED} != about:
            sys.exit("the figures in out/ come from different days, machines or versions: run make bench again")
    about["load"] = max(each["load"] for each in (launch, compound, startup, throughput))
    plots = [launch_plot(launch, compound), startup_plot(startup), throughput_plot(throughput)]
    for plot in plots:
        for theme in THEMES:
            draw(plot, theme)
    PAGE.write_text(page(plots, about))


if __name__ == "__main__":
    main()
