"""Small kernels made at random: what a loop carries (sums, extremes, choices), of every dtype and through every cast, in
every shape of loop. They are for finding texts that LLVM fails in, not for their results.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

FLOATS = ("f16", "f32", "f64")
DTYPES = (*FLOATS, "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64")

HEADING = "import samovar as sv\n\nN = sv.types.NDArray\n\n"

#: An element or a counter on its way to the value that is carried; {x} is the element, {c} the carried dtype, {o} any other.
VALUES = (
    "{x}",
    "-{x}",
    "{x} * {x}",
    "{x} + j",
    "j",
    "j * j",
    "sv.{c}(j)",
    "sv.{c}({x})",
    "sv.{o}({x})",
    "sv.{c}(sv.{o}({x}))",
    "sv.f16({x}) + sv.f32({x})",
    "sv.abs({x})",
    "sv.abs(sv.{c}({x}))",
    "min(max({x}, 0), 3)",
    "min({x}, sv.{c}(5))",
    "sv.select({x} > 1, {x}, 2)",
    "sv.select({x} > j, {x}, sv.{c}(2))",
)
#: One step of what is carried, {v} being the value. Extremes are where LLVM was found wanting, so they come up more often.
STEPS = (
    "m = max(m, {v})",
    "m = min(m, {v})",
    "m = max({v}, m)",
    "m = sv.{c}(min(m, {v}))",
    "m = max(m, sv.abs({v}))",
    "m = min(max(m, {v}), 7)",
    "m = max(m, {v}) + 1",
    "m = sv.select({v} > m, {v}, m)",
    "m = sv.select(m < {v}, m, {v})",
    "m = m + {v}",
    "m = m * {v}",
    "m += sv.{c}({v})",
    "m -= {v}",
)
UPDATES = (
    "sv.atomic_max({p}, {v})",
    "sv.atomic_min({p}, {v})",
    "sv.atomic_mul({p}, {v})",
    "sv.atomic_sub({p}, {v})",
    "{p} += {v}",
)
STARTS = ("sv.{c}(0)", "sv.{c}(a[0])", "sv.{c}(y[0, 0])", "sv.{o}(1)")
#: Loops around {s}, which is the step at the depth of the line; {start} is where the carried value begins.
CARRYING = (
    "for i in a:\n  m = {start}\n  for j in range(y.shape[1]):\n    {s}\n  a[i] = m",
    "for i in a:\n  m = {start}\n  for j in range({few}):\n    {s}\n  a[i] = m",
    "for i in a:\n  m = {start}\n  for j in range(n):\n    {s}\n    a[i] = m",
    "for i in a:\n  m = {start}\n  for j in range(n):\n    {s}\n    a[j] = m",
    "for i in a:\n  m = {start}\n  for j in range(0, n, 3):\n    {s}\n  a[i] = m",
    "for i in a:\n  m = {start}\n  j = 0\n  while j < n:\n    {s}\n    j += 1\n  a[i] = m",
    "for i in a:\n  m = {start}\n  for j in range(y.shape[1]):\n    if y[i, j] > j:\n      {s}\n  a[i] = m",
    "for i in a:\n  m = {start}\n  for j in range(n):\n    if y[i, j] > 3:\n      break\n    {s}\n  a[i] = m",
    "for i in range(1, n):\n  j = i\n  m = {start}\n  {s}\n  a[i] = m",
)
UPDATING = (
    "for j in range(n):\n  i = 0\n  {s0}",
    "for i, j in sv.ndrange((1, n), {few}):\n  {sj}",
    "for i, j in sv.ndrange(n, n):\n  {si}",
    "for j in range(n):\n  i = 0\n  {sy}",
    "for i in a:\n  for j in range(n):\n    {si}",
)


@dataclass(frozen=True)
class RandomKernel:
    """The text of a kernel over `a` (carried, 1), `y` (element, 2) and `n`, and the options it is compiled with."""

    text: str
    carried: str
    element: str
    fast_math: bool
    debug: bool


def random_kernel(random: Random, name: str) -> RandomKernel:
    """One kernel."""
    carried = random.choice((*DTYPES, *FLOATS, *FLOATS, "f16"))
    element = random.choice((*DTYPES, *FLOATS, carried))
    names = {"c": carried, "o": random.choice(DTYPES), "few": random.choice((1, 2, 3, 7, 16, 50))}

    def value() -> str:
        return random.choice(VALUES).format(x=random.choice(("y[i, j]", "y[i, j]", "y[j, i]", "a[j]")), **names)

    if random.random() < 0.7:
        steps = [random.choice(STEPS).format(v=value(), **names) for _ in range(random.choice((1, 1, 1, 2)))]
        body = random.choice(CARRYING).format(s="; ".join(steps), start=random.choice(STARTS).format(**names), **names)
    else:
        update = random.choice(UPDATES)
        places = {"s0": "a[0]", "si": "a[i]", "sj": "a[j]", "sy": "a[sv.i32(y[0, j]) % 4]"}
        filled = {key: update.format(p=place, v=value()) for key, place in places.items()}
        body = random.choice(UPDATING).format(**filled, **names)
    lines = [
        "@sv.kernel",
        f"def {name}(a: N[sv.{carried}, 1], y: N[sv.{element}, 2], n: sv.i32):",
        *("  " + line for line in body.splitlines()),
    ]
    mode = random.choice(("fast", "fast", "exact", "debug"))
    return RandomKernel("\n".join([*lines, "", ""]), carried, element, mode != "exact", mode == "debug")
