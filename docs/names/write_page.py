"""Writes `docs/names.md`: every public name of Quadrants, and what became of it. `python docs/names/write_page.py`

`tests/api/test_names_page.py` fails if the page is another one, or if a name is neither here nor among the absences.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from remarks import ABSENT, DIFFERENT, SAME_CLASS  # noqa: E402

import samovar as sv  # noqa: E402
from samovar.language import DEFAULTS  # noqa: E402
from samovar.runtime import RENAMED, WITHOUT_MEANING  # noqa: E402

HEADING = """# Names of Quadrants, and what became of them

Everything public of Quadrants 1.3.3, listed by a program, as it is here under `sv.`. Names that stand in no table below mean
the same. Programs need no change where `samovar run --as quadrants program.py` runs them (and `-m module`), or after
`samovar.compat.install("quadrants")`; with `import samovar.compat.quadrants as qd`, that line is the whole change. There
errors are called as in Quadrants, `qd.lang` has what programs reach for, and `QD_*` variables are read
(`QD_DUMP_IR=1` writes to `debug_dump_path`, else to `/tmp/ir`; `QD_KERNEL_COVERAGE=1` is `kernel_coverage`). The same goes
for Taichi (`samovar.compat.taichi`, `--as taichi`, `TI_*`), whose windows (`ti.GUI`, `ti.ui`) are drawn in memory: pictures
are written where a program asks for a file, nobody presses keys, and a window closes after `SAMOVAR_FRAMES` frames, else 50.

This page is written by `docs/names/write_page.py` from `docs/names/quadrants.txt`.

## Two habits of programs

- Writes slightly beyond the shape of a field work in Quadrants where a field is padded to a power of two. Here a field has
  exactly its elements: such a write changes something else. Debug mode (`sv.init(debug=True)`) reports it.
- Numbers too small for a float of full precision (denormals) are flushed to zero there under `fast_math`. Here they keep
  their value; `sv.init(flush_denormals=True)` flushes them.

More are met where a program is run under the name of a peer, and can be had by `sv.init` elsewhere:

- A parallel loop may assign a variable of the kernel that its iterations share (`if a[i] > 3: found = i`). Here that is an
  error; with `shared_variables="serial"` the loop is serial, with a warning.
- `print` in kernels writes floats as C does, `2.500000`: `printed_numbers="c"`.
- A float as a bound of `range` in a kernel loses its fraction, with a warning: `float_bounds="truncate"`. Elsewhere, with a
  step and in `ndrange`, it is an error.
- An integer argument that does not fit into the type of its parameter keeps the bits that fit, with a warning:
  `wide_arguments="wrap"`. One of more than 64 bits, or below zero for an unsigned type, is an `OverflowError`, as it is
  elsewhere.
- A local that begins with a literal keeps the type of that literal, and what is lost in it is warned of:
  `literal_locals="first"`. Elsewhere it has the widest type that is assigned to it.
"""


def place(path: str) -> object:
    """What Samovar has at a path, None if there is nothing."""
    found: object = sv
    for part in path.replace("()", "").split("."):
        found = getattr(found, part, None)
        if found is None:
            return None
    return found


def key_of(line: str) -> tuple[str, str]:
    """The path of a name as it is written in Quadrants, and as it is explained here."""
    where, name = line.split()
    written = name if where == "." else f"{where}.{name}"
    where = SAME_CLASS.get(where, where)
    return written, name if where == "." else f"{where}.{name}"


def remark(table: dict[str, str], written: str, path: str) -> str | None:
    """What a table says of a name, itself or with the others of its module."""
    whole = path.rpartition(".")[0] + ".*"
    return table.get(written) or table.get(path) or (table.get(whole) if "." in path else None)


def states() -> dict[str, tuple[str, str]]:
    """Every name → "same", "different" or "absent", and why. One that nothing is known of is "unknown"."""
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
    lines = [HEADING, f"## All names: {counts}", "", "### Different, and why", ""]
    lines += ["| name | what is different |", "|---|---|"]
    lines += table(by_state["different"])
    lines += ["", "### Absent, and why", "", "| name | why |", "|---|---|", *table(by_state["absent"])]
    lines += ["", "### The same", "", ", ".join(f"`{name}`" for name, _ in by_state["same"]) + "."]
    lines += ["", "## Options", "", "`sv.init` takes every option of Quadrants and Taichi, by keyword, three of them also"]
    lines += ["by position. An option that nobody has is a `KeyError`. These are Samovar's own:", ""]
    lines += [", ".join(f"`{name}`" for name in DEFAULTS) + ".", "", "| theirs | here |", "|---|---|"]
    lines += [f"| `{theirs}` | `{ours}` |" for theirs, ours in RENAMED.items()]
    lines += ["| `make_cpu_multithreading_loop=False` | `num_threads=1` |"]
    lines += ["| `enable_fallback=False` | an `arch` that is not here is an error |", ""]
    lines += ["Accepted, without a meaning here, and named once at log level `info`:", "", "| option | why |", "|---|---|"]
    lines += table(list(WITHOUT_MEANING.items()))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (HERE.parent / "names.md").write_text(page())
