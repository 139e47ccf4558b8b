"""The accuracy of every math function against mpmath: writes docs/accuracy.md.

    python benchmarks/accuracy.py [--functions sin,exp] [--output docs/accuracy.md]

Each function is called in a loop over an array (which LLVM vectorises) and as a scalar kernel (which it does not), with
`fast_math` off and on, in f16, f32 and f64. The table has the larger error of the two ways.
"""

import argparse
import importlib.util
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
from math_functions import FUNCTIONS, MathFunction
from rich.console import Console
from rich.progress import track
from ulp import Measure, measure

import samovar as sv

DOCUMENT = Path(__file__).parent.parent / "docs" / "accuracy.md"
FORMATS = {"f16": np.dtype(np.float16), "f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
MODES = (False, True)
SCALAR_POINTS = 20_000

HEADER = """# Accuracy of the math functions

Made by `python benchmarks/accuracy.py`; do not edit by hand. The figures are the largest errors found, in units in the
last place (ULP) of the result's format: 0.5 is correct rounding, 0 an exact result. Each function was called in a loop
over an array (vectorised) and on single scalars, and the larger error counts. f16 is tried on all its numbers, f32 and
f64 on a million spread over all magnitudes and over the interval where the function is busiest; the worst points are
judged by mpmath. Results that are not normal numbers are compared separately, below the table.

`fast_math=True`, the default, allows contraction, reassociation and approximate functions. Single
functions keep NaN and infinity; expressions that are rewritten (`x + y - x`, `x / y / x`, powers of n + 1/2 such as
`x ** -1.5`) may lose them at infinity and at 0. The sign of a zero is not promised.
"""


def kernel_text(functions: list[MathFunction]) -> str:
    """A module with two kernels per function and format: over arrays, and of scalars."""
    parts = ["import samovar as sv\n"]
    for place, function in enumerate(functions):
        names = "xyz"[: function.arity]
        for format_ in FORMATS:
            array, scalar = f"sv.types.NDArray[sv.{format_}, 1]", f"sv.{format_}"
            arrays = ", ".join(f"{name}s: {array}" for name in names)
            loads = "".join(f"        {name} = {name}s[i]\n" for name in names)
            scalars = ", ".join(f"{name}: {scalar}" for name in names)
            parts.append(
                f"@sv.kernel\ndef array_{place}_{format_}({arrays}, out: {array}):\n"
                f"    for i in range(out.shape[0]):\n{loads}        out[i] = {function.expression}\n"
            )
            parts.append(
                f"@sv.kernel\ndef scalar_{place}_{format_}({scalars}) -> {scalar}:\n    return {function.expression}\n"
            )
    return "\n".join(parts)


def load(text: str, directory: str) -> ModuleType:
    path = Path(directory) / "accuracy_kernels.py"
    path.write_text(text)
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def measured(module: ModuleType, place: int, function: MathFunction, format_: str, fast: bool) -> Iterator[Measure]:
    """The measures of the two ways to call."""
    dtype = FORMATS[format_]
    arguments = function.sample(dtype, np.random.default_rng(1))
    out = np.zeros_like(arguments[0])
    getattr(module, f"array_{place}_{format_}")(*arguments, out)
    yield measure(out, arguments, function.wider, function.exact, function.signed_zero and not fast)
    step = max(1, len(out) // SCALAR_POINTS)
    few = tuple(argument[::step].copy() for argument in arguments)
    kernel = getattr(module, f"scalar_{place}_{format_}")
    single = np.array([kernel(*point) for point in zip(*(part.tolist() for part in few), strict=True)], dtype=dtype)
    yield measure(single, few, function.wider, function.exact, function.signed_zero and not fast)


def cell(error: float) -> str:
    return f"{error:.2f}" if error < 1000 else f"{error:.1e}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", default="", help="comma-separated; all if not given")
    parser.add_argument("--output", type=Path, default=DOCUMENT)
    options = parser.parse_args()
    wanted = options.functions.split(",") if options.functions else [function.name for function in FUNCTIONS]
    functions = [function for function in FUNCTIONS if function.name in wanted]

    errors: dict[tuple[str, str, bool], float] = {}
    worst_points: list[str] = []
    specials: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        text = kernel_text(functions)
        for fast in MODES:
            sv.init(fast_math=fast)
            module = load(text, directory)
            for place, function in enumerate(track(functions, description=f"fast_math={fast}")):
                for format_ in FORMATS:
                    both = list(measured(module, place, function, format_, fast))
                    worst = max(both, key=lambda one: one.ulp)
                    errors[function.name, format_, fast] = worst.ulp
                    setting = f"`{function.name}`, {format_}, fast_math {'on' if fast else 'off'}"
                    if worst.ulp > 4:
                        point = ", ".join(f"{value!r}" for value in worst.where)
                        worst_points.append(f"- {setting}: {cell(worst.ulp)} ULP at ({point})")
                    for line in sorted({line for one in both for line in one.specials}):
                        specials.append(f"- {setting}: {line}")

    heads = [f"{format_} {'fast' if fast else 'strict'}" for format_ in FORMATS for fast in MODES]
    rows = [f"| function | range | {' | '.join(heads)} |", "|---|---|" + "---:|" * len(heads)]
    for function in functions:
        cells = [cell(errors[function.name, format_, fast]) for format_ in FORMATS for fast in MODES]
        rows.append(f"| {function.name} | {function.range} | {' | '.join(cells)} |")
    libc = " ".join(platform.libc_ver())
    sections = [
        HEADER,
        f"Measured with {libc} on {platform.machine()}, Python {platform.python_version()}.\n",
        "\n".join(rows) + "\n",
        "## Errors above 4 ULP\n\n" + ("\n".join(worst_points) or "None.") + "\n",
        "## Special values that differ from IEEE 754\n\n" + ("\n".join(specials) or "None.") + "\n",
    ]
    options.output.write_text("\n".join(sections))
    Console().print(f"wrote {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
