"""The calls with compound arguments that `launch.py` times: arrays in a dataclass, and in a `data_oriented` object.

Kernels are compiled from text, so a program is written for each case and loaded: the same text for Samovar and Quadrants,
which have one language. Every call adds one to each element of `a`; the other arrays hold zeros.
"""

import sys
import tempfile
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
from launch_calls import Cases, Statement

DATACLASS = "dataclass, {} arrays"
ORIENTED = "data_oriented, {} arrays"
STABLE = "data_oriented, 100 arrays, stable_members"
HELD = "data_oriented, 1000 held, 5 read"
COUNTS = (1, 10, 100, 1000)
SIZE = 16

PROGRAM = """\
import dataclasses

import {library} as ti

vector = ti.types.ndarray(dtype=ti.f32, ndim=1)


@dataclasses.dataclass
class State:
{fields}


@ti.kernel
def step(state: State):
    for i in range(16):
        total = 1.0
{typed_sum}
        state.x0[i] = state.x0[i] + total


@ti.data_oriented{options}
class Holder:
    def __init__(self, arrays):
        for number, array in enumerate(arrays):
            setattr(self, f"x{{number}}", array)

    @ti.kernel
    def step(self):
        for i in range(16):
            total = 1.0
{own_sum}
            self.x0[i] = self.x0[i] + total
"""


def program(library: str, held: int, read: int, stable: bool) -> str:
    """The text of a program over so many arrays, of which the kernels read some."""
    return PROGRAM.format(
        library=library,
        fields="\n".join(f"    x{number}: vector" for number in range(held)),
        typed_sum="\n".join(f"        total += state.x{number}[i]" for number in range(1, read)),
        own_sum="\n".join(f"            total += self.x{number}[i]" for number in range(1, read)),
        options="(stable_members=True)" if stable else "",
    )


def load(folder: Path, library: str, held: int, read: int, stable: bool) -> Any:
    """The module of a program."""
    name = f"compound_{library}_{held}_{read}_{stable}"
    path = folder / f"{name}.py"
    path.write_text(program(library, held, read, stable))
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def cases(library: str, make: Callable[[], Any]) -> Cases:
    """The statements of a library; `make` gives an array of zeros."""
    folder = Path(tempfile.mkdtemp(prefix="launch-compound-"))
    found: Cases = {}

    def add(case: str, kind: str, held: int, read: int, stable: bool = False) -> None:
        module = load(folder, library, held, read, stable)
        arrays = [make() for _ in range(held)]
        if kind == "dataclass":
            found[case] = Statement("step(state)", {"step": module.step, "state": module.State(*arrays), "a": arrays[0]})
        else:
            found[case] = Statement("holder.step()", {"holder": module.Holder(arrays), "a": arrays[0]})

    for count in COUNTS:
        add(DATACLASS.format(count), "dataclass", count, count)
        add(ORIENTED.format(count), "data_oriented", count, count)
        if library == "samovar" and count == 100:
            add(STABLE, "data_oriented", count, count, stable=True)
    add(ORIENTED.format(5), "data_oriented", 5, 5)
    add(HELD, "data_oriented", 1000, 5)
    return found


def samovar_cases() -> Cases:
    import samovar as sv

    return cases("samovar", lambda: sv.ndarray(sv.f32, SIZE))


def samovar_numpy_cases() -> Cases:
    return cases("samovar", lambda: np.zeros(SIZE, np.float32))


def quadrants_cases() -> Cases:
    import quadrants as qd

    qd.init(arch=qd.cpu, offline_cache=False, log_level=qd.ERROR)
    return cases("quadrants", lambda: qd.ndarray(qd.f32, (SIZE,)))


#: By the names that `launch_calls.LIBRARIES` has for them.
LIBRARIES: dict[str, Callable[[], Cases]] = {
    "Samovar, own arrays": samovar_cases,
    "Samovar, NumPy arrays": samovar_numpy_cases,
    "Quadrants": quadrants_cases,
}
ORDER = [
    *(form.format(count) for form in (DATACLASS, ORIENTED) for count in COUNTS),
    STABLE,
    ORIENTED.format(5),
    HELD,
]
