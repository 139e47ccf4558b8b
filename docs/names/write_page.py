"""Writes `docs/names.md`: every public name of Quadrants and its counterpart. Run `python docs/names/write_page.py`

`tests/api/test_names_page.py` fails if the page is outdated, or if a name is neither available nor explained.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from remarks import ABSENT, DIFFERENT, SAME_CLASS  # noqa: E402

import samovar as sv  # noqa: E402
from samovar.language import DEFAULTS  # noqa: E402
from samovar.runtime import RENAMED, WITHOUT_MEANING  # noqa: E402

HEADING = """# Names of Quadrants

Every public name of Quadrants 1.3.3, listed by a script, and its counterpart under `sv.`. Names that are in no table below
have the same meaning. `samovar run --as quadrants program.py` (also `-m module`) runs a program unchanged, and so does
`samovar.compat.install("quadrants")`; with `import samovar.compat.quadrants as qd`, that line is the only change. In this
mode errors have the names of Quadrants, `qd.lang` has what programs use, and `QD_*` variables are read (`QD_DUMP_IR=1`
writes to `debug_dump_path`, by default `/tmp/ir`; `QD_KERNEL_COVERAGE=1` sets `kernel_coverage`). The same holds for Taichi
(`samovar.compat.taichi`, `--as taichi`, `TI_*`). Its windows (`ti.GUI`, `ti.ui`) are [pages](pictures.md#windows) in a
browser or a notebook. Without a display they render off-screen and close after `SAMOVAR_FRAMES` frames (default 50).

`docs/names/write_page.py` generates this page from `docs/names/quadrants.txt`.

## Compatibility behavior

In compatibility mode (`--as`, `samovar.compat.install`) the following options are set; elsewhere you can set them yourself:

- `shared_variables="serial"`: a parallel loop that assigns a variable shared by its iterations (`if a[i] > 3: found = i`)
  becomes serial, with a warning. Otherwise it is an error.
- `printed_numbers="c"`: `print` in kernels formats floats as C does, `2.500000`, and formats are those of C: `{x:.1}` is
  `%.1f`, `{i:.4d}` is `%.4d`.
- `float_bounds="truncate"`: a float as a bound of `range` is truncated, with a warning. Otherwise, with a step, and in
  `ndrange`, it is an error.
- `wide_arguments="wrap"`: an integer argument that does not fit its type wraps, with a warning, and so does a constant
  that a kernel stores, `u[i] = -1`. An argument of more than 64 bits, or below zero for an unsigned type, raises
  `OverflowError` in any mode.
- `literal_locals="first"`: a local that starts with a literal keeps the type of that literal, with a warning if something
  is lost. Otherwise it has the widest type assigned to it.
- `vector_truth="entries"`: `and`, `or` and `not` of vectors and matrices are element-wise, and a comparison of vectors in
  plain Python is always true, `assert v == [1, 2]`, as there. Otherwise they are errors.
- `nested_structs="first"`: a number for a member that is a struct sets the first member of that struct, `Outer(1)`.
  Otherwise it is an error.
- `flush_denormals=True`: kernels flush denormal floats to zero. Otherwise they keep their value.
- `field_margin=4096`: in front of each field, and after it, are 4096 unused bytes. In Quadrants fields are adjacent, so a
  write slightly beyond the shape hits another field or unused memory; with a margin it does no harm. Otherwise it
  corrupts memory. Debug mode (`sv.init(debug=True)`) reports it.
- `lost_gradients="zero"`: no derivative goes through an array without a gradient, with a warning where a kernel writes and
  reads one. Otherwise it is an error if the derivative would be wrong.
- `overwritten_values="last"`: `kernel.grad` without a tape uses what arrays hold when it is called, with a warning if the
  kernel may overwrite what it has read. Otherwise that is an error. Tapes keep what is overwritten in either case.
- `rounded_halves="away"`: `round` in kernels takes halves away from zero, as C does, except those of constants. Otherwise
  they go to the even neighbor, as in Python.
- `missing_returns="zero"`: a `real_func` that ends without a `return` on some paths returns 0 there. Otherwise it is an
  error.
"""


def place(path: str) -> object:
    """The object of Samovar at a path, or None."""
    found: object = sv
    for part in path.replace("()", "").split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def key_of(line: str) -> tuple[str, str]:
    """The path of a name in Quadrants, and the one under which it is explained here."""
    where, name = line.split()
    written = name if where == "." else f"{where}.{name}"
    where = SAME_CLASS.get(where, where)
    return written, name if where == "." else f"{where}.{name}"


def remark(table: dict[str, str], written: str, path: str) -> str | None:
    """The remark on a name or on its module."""
    whole = path.rpartition(".")[0] + ".*"
    return table.get(written) or table.get(path) or (table.get(whole) if "." in path else None)


def states() -> dict[str, tuple[str, str]]:
    """Every name → "same", "different", "absent" or "unknown", with the remark."""
    found = {}
    for line in (HERE / "quadrants.txt").read_text().splitlines():
        written, path = key_of(line)
        different, absent = remark(DIFFERENT, written, path), remark(ABSENT, written, path)
        if different is not None:
            found[written] = ("different", different)
        elif place(path) is not None:
            found[written] = ("same", "")
        else:
            found[written] = ("absent", absent) if absent is not None else ("unknown", "")
    return found


def table(rows: list[tuple[str, str]]) -> list[str]:
    """Rows with the same text in one."""
    grouped: dict[str, list[str]] = {}
    for name, text in rows:
        grouped.setdefault(text, []).append(f"`{name}`")
    return [f"| {', '.join(names)} | {text} |" for text, names in grouped.items()]


def page() -> str:
    """The text of the page."""
    found = states()
    by_state: dict[str, list[tuple[str, str]]] = {"same": [], "different": [], "absent": []}
    for name, (state, text) in found.items():
        by_state[state].append((name, text))
    counts = ", ".join(f"{len(rows)} {state}" for state, rows in by_state.items())
    lines = [HEADING, f"## All names: {counts}", "", "### Different", ""]
    lines += ["| name | difference |", "|---|---|"]
    lines += table(by_state["different"])
    lines += ["", "### Not available", "", "| name | reason |", "|---|---|", *table(by_state["absent"])]
    lines += ["", "### The same", "", ", ".join(f"`{name}`" for name, _ in by_state["same"]) + "."]
    lines += ["", "## Options", "", "`sv.init` accepts every option of Quadrants and Taichi by keyword, three of them also"]
    lines += ["by position. Unknown options raise `KeyError`. These are Samovar's own:", ""]
    lines += [", ".join(f"`{name}`" for name in DEFAULTS) + ".", "", "| theirs | here |", "|---|---|"]
    lines += [f"| `{theirs}` | `{ours}` |" for theirs, ours in RENAMED.items()]
    lines += ["| `make_cpu_multithreading_loop=False` | `num_threads=1` |"]
    lines += ["| `enable_fallback=False` | an unavailable `arch` is an error |", ""]
    lines += ["Accepted without effect, and reported once at log level `info`:", "", "| option | reason |", "|---|---|"]
    lines += table(list(WITHOUT_MEANING.items()))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (HERE.parent / "names.md").write_text(page())
