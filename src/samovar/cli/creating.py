"""`samovar new`: a directory with a first program and its test."""

from __future__ import annotations

import argparse
import keyword
import os
from importlib.util import find_spec
from typing import Any

from samovar.cli.failure import USAGE, Failure
from samovar.cli.output import Output
from samovar.system import write_file

_PROGRAM = '''"""{title}: heat spreads in a plate that is hot on one side."""

import samovar as sv

A = sv.types.NDArray[sv.f32, 2]


@sv.kernel
def spread(now: A, then: A):
    for y, x in sv.ndrange((1, now.shape[0] - 1), (1, now.shape[1] - 1)):  # runs in parallel
        then[y, x] = 0.25 * (now[y - 1, x] + now[y + 1, x] + now[y, x - 1] + now[y, x + 1])


def plate(height: int, width: int) -> sv.Ndarray:
    """A cold plate with a hot left edge."""
    made = sv.zeros((height, width))
    for y in range(height):
        made[y, 0] = 1.0
    return made


def simulate(height: int, width: int, steps: int) -> sv.Ndarray:
    """The plate after an even number of steps."""
    now, then = plate(height, width), plate(height, width)
    for _ in range(steps // 2):
        spread(now, then)
        spread(then, now)
    return now


if __name__ == "__main__":
    heat = simulate(256, 256, 2000)
    print(f"mean temperature: {{heat.mean():.4f}}")
'''
_TEST = '''"""The kernel computes what plain Python computes."""

import random

import samovar as sv
from {module} import plate, simulate, spread


def test_a_step_is_the_mean_of_the_neighbors():
    now, then = sv.zeros((5, 6)), sv.zeros((5, 6))
    for y in range(5):
        for x in range(6):
            now[y, x] = random.random()
    spread(now, then)
    for y in range(1, 4):
        for x in range(1, 5):
            mean = (now[y - 1, x] + now[y + 1, x] + now[y, x - 1] + now[y, x + 1]) / 4
            assert abs(then[y, x] - mean) < 1e-6


def test_heat_comes_from_the_left():
    heat = simulate(16, 16, 100)
    assert heat[8, 0] == plate(16, 16)[8, 0] == 1.0
    assert heat[8, 1] > heat[8, 4] > heat[8, 8] > 0
'''


def add_commands(commands: Any) -> None:
    """Add the command to the parser."""
    new = commands.add_parser("new", help="create a directory with a first program and its test")
    new.add_argument("name", help="the name of the directory and of the program in it")
    new.set_defaults(run=_new, json=False)


def _new(given: argparse.Namespace, output: Output) -> int:
    directory: str = given.name.rstrip("/")
    module = os.path.basename(directory).replace("-", "_")
    if not module.isidentifier() or keyword.iskeyword(module):
        raise Failure(
            f"{given.name!r} cannot be the name of a program\n  help: use letters, digits and _, as in heat_plate", USAGE
        )
    if find_spec(module) is not None:
        raise Failure(
            f"there is a module {module} already, which the program would hide\n  help: choose another name", USAGE
        )
    if os.path.lexists(directory):
        raise Failure(f"{directory} exists already\n  help: choose another name", USAGE)
    os.makedirs(directory)
    program, test = os.path.join(directory, f"{module}.py"), os.path.join(directory, f"test_{module}.py")
    write_file(program, _PROGRAM.format(title=module.replace("_", " ").capitalize()).encode())
    write_file(test, _TEST.format(module=module).encode())
    output.say(f"created {program} and {test}")
    output.say(f"  run it:   python {program}")
    output.say(f"  test it:  python -m pytest {directory}")
    output.say(f"  look in:  samovar view {program}")
    return 0
