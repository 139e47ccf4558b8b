"""A program with the structure of a robot simulator: 300 arrays in nested dataclasses, 40 kernels, 1,000 steps.

    python examples/robot.py [--steps 1000] [--count 16]

It prints the cost of the first step (compiling, or loading from the cache on later runs), the cost of a launch after that,
and the arguments of one kernel.
"""

import argparse
import dataclasses
import time

from robot_kernels import Robot
from robot_state import new_state

import samovar as sv


def checksum(robot: Robot) -> float:
    """The sum of one element of every array."""
    parts = [value for value in vars(robot).values() if dataclasses.is_dataclass(value)]
    return float(sum(getattr(part, field.name)[0] for part in parts for field in dataclasses.fields(part)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--count", type=int, default=16, help="elements of each array")
    options = parser.parse_args()

    robot = Robot(new_state(options.count), options.count, dt=0.01)
    begin = time.perf_counter()
    robot.step()
    first = time.perf_counter() - begin
    compiled = sv.compile_count()
    begin = time.perf_counter()
    for _ in range(1, options.steps):
        robot.step()
    later = time.perf_counter() - begin

    print(f"first step: {first * 1e3:.1f} ms, {compiled} of 40 kernels compiled")
    if options.steps > 1:
        print(f"each later launch: {later / (options.steps - 1) / 40 * 1e6:.2f} µs")
    print(f"checksum after {options.steps} steps: {checksum(robot):.4f}")
    print("arguments of couple_links, out of 300 arrays:")
    print(Robot.couple_links.inspect("arguments"))


if __name__ == "__main__":
    main()
