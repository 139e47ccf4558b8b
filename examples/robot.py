"""A program shaped like a robot simulator: one object, 300 arrays in nested dataclasses, 40 kernels, 1,000 steps.

    python examples/robot.py [--steps 1000] [--count 16]

It prints what the first step costs (compiling, or loading from the cache when the program ran before), and what a launch
costs after that.
"""

import argparse
import dataclasses
import time

from robot_kernels import KERNELS, Robot
from robot_state import new_state

import samovar as sv


def checksum(robot: Robot) -> float:
    """The sum of one element of every array: it does not depend on anything but the number of steps."""
    total = 0.0
    for name in vars(robot):
        record = getattr(robot, name)
        if dataclasses.is_dataclass(record):
            total += sum(getattr(record, field.name)[0] for field in dataclasses.fields(record))
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--count", type=int, default=16, help="elements of each array")
    options = parser.parse_args()

    robot = Robot(new_state(options.count), options.count, dt=0.01)
    begin = time.perf_counter()
    robot.step()
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    for _ in range(options.steps - 1):
        robot.step()
    later = time.perf_counter() - begin

    arguments = [len(kernel.inspect("arguments").splitlines()) - 1 for kernel in KERNELS]
    launches = max(1, options.steps - 1) * len(KERNELS)
    print(f"{len(KERNELS)} kernels, which read from {min(arguments)} to {max(arguments)} of 300 arrays")
    compiled = sv.compile_count()
    print(f"first step: {first * 1e3:.1f} ms, {compiled} kernels compiled, {len(KERNELS) - compiled} loaded")
    print(f"launches: {later / launches * 1e6:.2f} µs each, {sum(arguments) / len(KERNELS):.0f} arrays on average")
    print(f"checksum: {checksum(robot):.6f}")


if __name__ == "__main__":
    main()
