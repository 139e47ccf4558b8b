"""How the time to compile grows with a program: curves, and a program of the size of a real one.

    python benchmarks/compile_time.py [--quick] [--curves "statements;funcs"] [--peer quadrants] [--no-program]
        [--kernel 17]

Curves: one kernel after the other in one process without a cache, each larger than the one before. Seconds are those of the
first launch; Python's share (frontend, passes, text) stands beside that of LLVM and the linker, as the driver measures them.
"per" is microseconds per item: it stays the same where the time is linear. Of matrices, whose product has the cube of
their size in operations, it is per operation.

Program: benchmarks/large_program.py, each step in a process of its own. Cold with an empty cache; warm with a full one; then
with one constant of a leaf func of the largest kernel edited, launching that kernel; then with a comment more. `--peer` runs
the same text with another library of the family, cold, and gives its time over ours; `--kernel` launches one
kernel alone (0 is the largest), where all of them would take the other library too long.

Wall time is what counts; processor time (with that of worker processes) tells on a busy machine what an idle one would need.
The figures go to out/compile_time.json.
"""

import argparse
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from large_program import described, large_program  # isort: skip
from startup import adopt_orphans, processor_seconds  # isort: skip

OUTPUT = Path(__file__).parent.parent / "out" / "compile_time.json"
HEADING = "import samovar as sv\n\nA = sv.types.NDArray[sv.f32, 1]\n\n"
KERNEL = "@sv.kernel\ndef k(a: A):\n    for i in a:\n"


def statements(count: int) -> str:
    lines = [f"        a[(i + {j}) % 100] = a[(i * {j}) % 100] + {j}.0\n" for j in range(count)]
    return KERNEL + "".join(lines)


def arithmetic(count: int) -> str:
    lines = [f"        {'xyz'[j % 3]} = {'yzx'[j % 3]} * x + {j}.5\n" for j in range(count)]
    return KERNEL + "        x = a[i]\n        y = x\n        z = x\n" + "".join(lines) + "        a[i] = x + y + z\n"


def static_iterations(count: int) -> str:
    loop = f"        for q in sv.static(range({count})):\n            for j in range(q):\n                x += a[j % 100]\n"
    return KERNEL + "        x = 0.0\n" + loop + "        a[i] = x\n"


def template_depth(count: int) -> str:
    funcs = ["@sv.func\ndef f0(x: sv.template()):\n    return x * 0.5\n"]
    for d in range(1, count + 1):
        funcs.append(f"@sv.func\ndef f{d}(x: sv.template()):\n    return f{d - 1}(x) + f{d - 1}(x)\n")
    return "\n".join(funcs) + KERNEL + f"        x = a[i]\n        x += 1.0\n        a[i] = f{count}(x)\n"


def funcs(count: int) -> str:
    parts = []
    for j in range(count):
        body = "".join(f"        s += a[(i + k + {n}) % 100] * {j}.{n}\n" for n in range(20))
        parts.append(f"@sv.func\ndef f{j}(a: A, i: sv.i32):\n    s = 0.0\n    for k in range(3):\n{body}    return s\n")
    return "\n".join(parts) + KERNEL + "".join(f"        a[i] += f{j}(a, i)\n" for j in range(count))


def tasks(count: int) -> str:
    loops = [f"    for i in a:\n        a[i] = a[i] * {j}.5 + 1.0\n" for j in range(count)]
    return "@sv.kernel\ndef k(a: A):\n" + "".join(loops)


def arguments(count: int) -> str:
    fields = "".join(f"    m{j}: A\n" for j in range(count))
    state = f"import dataclasses\n\n@dataclasses.dataclass\nclass State:\n{fields}\n\n"
    lines = "".join(f"        s.m{j}[i] = s.m{(j + 1) % count}[i] + {j}.0\n" for j in range(count))
    new = f"\n\ndef argument(a):\n    return State(*(a.copy() for _ in range({count})))\n"
    return state + "@sv.kernel\ndef k(s: State):\n    for i in range(100):\n" + lines + new


def matrix_size(count: int) -> str:
    entries = ", ".join(
        "[" + ", ".join(f"a[(i + {row * count + column}) % 100]" for column in range(count)) + "]" for row in range(count)
    )
    return KERNEL + f"        m = sv.Matrix([{entries}])\n        a[i] = (m @ m).trace()\n"


def nest_depth(count: int) -> str:
    loops = [f"{' ' * 4 * (d + 2)}for j{d} in range(a.shape[0] - {98 + d % 2}):\n" for d in range(count)]
    deepest = " " * 4 * (count + 2)
    body = f"{deepest}x += a[{' + '.join(f'j{d}' for d in range(count))}]\n"
    return KERNEL + "        x = 0.0\n" + "".join(loops) + body + "        a[i] = x\n"


def nests(count: int) -> str:
    nest = (
        "        for j in range(a.shape[0] - {n}):\n"
        "            for l in range(j):\n"
        "                x += a[l] * a[j] + {n}.0\n"
    )
    return KERNEL + "        x = 0.0\n" + "".join(nest.format(n=n) for n in range(count)) + "        a[i] = x\n"


def serial_loops(count: int) -> str:
    loop = (
        "    sv.loop_config(serialize=True)\n"
        "    for i in range(a.shape[0] - {n}):\n"
        "        a[i] = a[i] * {n}.5 + a[i + {n}]\n"
    )
    return "@sv.kernel\ndef k(a: A):\n" + "".join(loop.format(n=n) for n in range(count))


def conditions(count: int) -> str:
    lines = [f"        if x > {j}.5:\n            x = x * a[{j} % 100] + {j}.0\n" for j in range(count)]
    return KERNEL + "        x = a[i]\n" + "".join(lines) + "        a[i] = x\n"


def expression_width(count: int) -> str:
    terms = [f"a[(i + {j}) % 100] * {j}.5" for j in range(count)]
    return KERNEL + "        a[i] = (\n            " + "\n            + ".join(terms) + "\n        )\n"


def inlined_bodies(count: int) -> str:
    func = "@sv.func\ndef f(x, y):\n    z = x * y + 0.5\n    if z > 2.0:\n        z = z - x\n    return z * y\n\n"
    calls = "".join(f"        x = f(x, {j}.5)\n" for j in range(count))
    return func + KERNEL + "        x = a[i]\n" + calls + "        a[i] = x\n"


CURVES: dict[str, tuple[Callable[[int], str], list[int]]] = {
    "statements": (statements, [250, 500, 1000, 2000, 4000]),
    "arithmetic statements": (arithmetic, [500, 1000, 2000, 4000]),
    "static iterations": (static_iterations, [50, 100, 200, 400, 800]),
    "template depth": (template_depth, [5, 10, 14, 20]),
    "funcs": (funcs, [10, 40, 160]),
    "tasks": (tasks, [10, 40, 160]),
    "arguments": (arguments, [10, 40, 160, 320]),
    "nest depth": (nest_depth, [2, 4, 8, 12]),
    "nests": (nests, [5, 20, 80]),
    "serial loops": (serial_loops, [10, 40, 160]),
    "conditions": (conditions, [50, 100, 400, 1600]),
    "expression width": (expression_width, [50, 200, 800]),
    "inlined bodies": (inlined_bodies, [50, 200, 800]),
    "matrix size": (matrix_size, [2, 3, 4, 6, 8, 12]),
}

RATIOS = (("launches", "wall time"), ("processor", "processor time"))

STEPS = re.compile(r"frontend ([\d.]+)  passes ([\d.]+)  render ([\d.]+)  \w+ and link ([\d.]+)")


def module_of(text: str, folder: Path, name: str) -> Any:
    import importlib.util

    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def curve(name: str, quick: bool) -> list[dict[str, float]]:
    """In this process: sizes with seconds, and the shares of Python and LLVM."""
    import numpy as np

    import samovar as sv

    os.environ["SAMOVAR_LOG"] = "compile"
    sv.init(offline_cache=False)
    text, sizes = CURVES[name]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in [3, *(sizes[:-1] if quick else sizes)]:
            module = module_of(HEADING + text(size), Path(folder), f"curve_{size}")
            argument = np.zeros(100, np.float32)
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                begin = time.perf_counter()
                module.k(module.argument(argument) if hasattr(module, "argument") else argument)
                seconds = time.perf_counter() - begin
            laps = [float(lap) / 1000 for lap in STEPS.findall(said.getvalue())[-1]]
            rows.append({"size": size, "seconds": seconds, "python": sum(laps[:3]), "llvm": laps[3]})
    return rows[1:]


RUN = """
import json, sys, time
sys.path.insert(0, sys.argv[1])
begin = time.perf_counter()
import {library} as sv
sv.init({options})
import large
kernels = large.KERNELS if sys.argv[2] == "all" else [large.KERNELS[int(sys.argv[2])]]
state = large.new_state()
first = time.perf_counter()
for kernel in kernels:
    kernel(state, 16, 0.5)
end = time.perf_counter()
counts = [sv.compile_count(), sv.compile_count("llvm")] if {counts} else [0, 0]
print(json.dumps({{"launches": end - first, "process": end - begin, "kernels": counts[0], "llvm": counts[1]}}))
"""


def run(folder: Path, which: str, library: str = "samovar") -> dict[str, float]:
    """One process over the program in a folder."""
    ours = library == "samovar"
    options = f"offline_cache_file_path={str(folder / 'cache')!r}" if ours else "arch=sv.cpu, offline_cache=False"
    text = RUN.format(library=library, options=options, counts=ours)
    before = processor_seconds()
    said = subprocess.run(
        [sys.executable, "-c", text, str(folder), which], check=True, capture_output=True, text=True
    ).stdout.splitlines()[-1]
    result: dict[str, float] = json.loads(said)
    result["processor"] = processor_seconds() - before
    return result


def program(peer: str, kernels: str) -> dict[str, dict[str, float]]:
    """The steps of the generated program, with all of its kernels or with one."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = large_program()
        path = folder / "large.py"
        path.write_text(text)
        found["cold"] = run(folder, kernels)
        found["warm"] = run(folder, kernels)
        # A leaf of the largest kernel: the first func at the bottom of its first chain.
        marked = re.sub(r"(def func0_1\(.*\):\n)", r"\1    x = x * 1.0625\n", text)
        path.write_text(marked)
        found["an edited leaf func, largest kernel"] = run(folder, "0")
        path.write_text(re.sub(r"(def func0_1\(.*\):\n)", r"\1    # a comment\n", marked))
        found["an edited comment, largest kernel"] = run(folder, "0")
        if peer:
            path.write_text(large_program(peer))
            found[f"cold, {peer}"] = run(folder, kernels, peer)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--curves", default=";".join(CURVES))
    parser.add_argument("--peer", default="")
    parser.add_argument("--no-program", action="store_true")
    parser.add_argument("--kernel", default="all")
    parser.add_argument("--curve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.curve:
        print(json.dumps(curve(options.curve, options.quick)))
        return
    adopt_orphans()
    console = Console()
    curves = {}
    for name in filter(None, options.curves.split(";")):
        arguments = [sys.executable, __file__, "--curve", name, *(["--quick"] if options.quick else [])]
        rows = curves[name] = json.loads(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)
        table = Table(name, "seconds", "Python", "LLVM", "µs per", title=f"{name}")
        for row in rows:
            per = row["seconds"] / row["size"] ** (3 if name == "matrix size" else 1) * 1e6
            table.add_row(str(row["size"]), *(f"{row[key]:.2f}" for key in ("seconds", "python", "llvm")), f"{per:.0f}")
        console.print(table)
    steps = {}
    if not options.no_program:
        console.print(", ".join(f"{count} {name}" for name, count in described(large_program()).items()))
        steps = program(options.peer, options.kernel)
        table = Table("generated program", "launches, s", "process, s", "processor, s", "kernels compiled", "LLVM runs")
        for name, row in steps.items():
            figures = [f"{row[key]:.3f}" for key in ("launches", "process", "processor")]
            table.add_row(name, *figures, f"{row['kernels']:.0f}", f"{row['llvm']:.0f}")
        console.print(table)
        if options.peer:
            cold, theirs = steps["cold"], steps[f"cold, {options.peer}"]
            ratios = [f"{theirs[key] / cold[key]:.1f} times our {name}" for key, name in RATIOS]
            console.print(f"{options.peer} takes {', '.join(ratios)}")
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps({"curves": curves, "program": steps}, indent=1))


if __name__ == "__main__":
    main()
