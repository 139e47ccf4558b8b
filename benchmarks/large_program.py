"""A program of the size of a real simulator, generated: 26 kernels, 246 arrays in nested frozen dataclasses, 285 funcs.

Funcs are called up to 14 deep. The largest kernel reaches 196 of them, which have about 94,000 syntax nodes; the largest
func has about 7,000. There are about 8,000 places with a call. Small helpers are called from hundreds of places, as `dot`
and `cross` are; everything else from one or two. The text is the same for every library that has the decorators and types
of this family: `{library}` is what is imported.
"""

from __future__ import annotations

import ast
from random import Random

KERNELS, GROUPS, ARRAYS = 26, 6, 41
HELPERS, LEVELS = 40, 13
FUNCS = 285
LARGEST_REACH = 196
ELEMENTS = 16

HEADING = """
import dataclasses
import {library} as sv

Vector = sv.types.NDArray[sv.f32, 1]
"""

#: Bodies of small helpers, by number of arguments.
HELPER_BODIES = (
    ("a, b, c", "a * b + c * {c}"),
    ("a, b, c, d", "a * c + b * d - {c}"),
    ("a, b", "(a - b) * (a + b) * {c}"),
    ("a, b, c", "sv.max(a, b) - sv.min(b, c) * {c}"),
    ("a, b, c, d", "a * d - b * c + {c}"),
)


class _Program:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.helpers = [len(HELPER_BODIES[number % len(HELPER_BODIES)][0].split(",")) for number in range(HELPERS)]

    def member(self) -> str:
        return f"state.group{self.random.randrange(GROUPS)}.member{self.random.randrange(ARRAYS)}"

    def operand(self, locals: int) -> str:
        kind = self.random.random()
        if kind < 0.75 and locals:
            return f"v{self.random.randrange(locals)}"
        if kind < 0.85:
            return f"{self.member()}[i]"
        return self.random.choice(["x", f"{self.random.randrange(1, 90) / 8}", f"{self.member()}[(i + 1) % {ELEMENTS}]"])

    def helper_call(self, locals: int) -> str:
        number = self.random.randrange(HELPERS)
        return f"helper{number}({', '.join(self.operand(locals) for _ in range(self.helpers[number]))})"

    def helper(self, number: int) -> None:
        parameters, body = HELPER_BODIES[number % len(HELPER_BODIES)]
        typed = ", ".join(f"{name.strip()}: sv.f32" for name in parameters.split(","))
        self.lines += ["", "@sv.func", f"def helper{number}({typed}):", f"    return {body.format(c=number + 0.5)}", ""]

    def func(self, name: str, called: list[str], statements: int) -> None:
        self.lines += ["", "@sv.func", f"def {name}(state: State, i: sv.i32, x: sv.f32):"]
        locals = 0
        calls = {self.random.randrange(max(1, statements)): each for each in called}
        for number in range(statements):
            if number in calls:
                self.lines.append(f"    v{locals} = {calls.pop(number)}(state, i, {self.operand(locals)})")
                locals += 1
            kind = self.random.random()
            if kind < 0.66:
                calls_here = [self.helper_call(locals) for _ in range(5)]
                self.lines.append(f"    v{locals} = {' + '.join(calls_here)}")
                locals += 1
            elif kind < 0.72:
                self.lines.append(f"    {self.member()}[i] = {self.operand(locals)} * 0.5 + {self.helper_call(locals)}")
            elif kind < 0.84 and locals:
                left, right, changed = self.operand(locals), self.operand(locals), self.random.randrange(locals)
                self.lines += [f"    if {left} > {right}:", f"        v{changed} = {right} - {self.operand(locals)}"]
            elif kind < 0.92 and locals:
                self.lines.append(f"    for k in range({self.random.randrange(2, 9)}):")
                self.lines.append(f"        v{self.random.randrange(locals)} += {self.member()}[(i + k) % {ELEMENTS}] * x")
            else:
                left, right, subtracted = (self.operand(locals) for _ in range(3))
                self.lines.append(f"    v{locals} = {left} * {right} - {subtracted}")
                locals += 1
        for each in calls.values():
            self.lines.append(f"    v{locals} = {each}(state, i, x)")
            locals += 1
        self.lines += [f"    return {' + '.join(f'v{number}' for number in range(max(0, locals - 3), locals)) or 'x'}", ""]

    def write(self, library: str) -> None:
        self.lines += HEADING.format(library=library).splitlines()
        for group in range(GROUPS):
            fields = [f"    member{number}: Vector" for number in range(ARRAYS)]
            self.lines += ["", "@dataclasses.dataclass(frozen=True)", f"class Group{group}:", *fields, ""]
        fields = [f"    group{group}: Group{group}" for group in range(GROUPS)]
        self.lines += ["", "@dataclasses.dataclass(frozen=True)", "class State:", *fields, ""]
        for number in range(HELPERS):
            self.helper(number)
        rest = FUNCS - HELPERS
        width = rest // LEVELS
        levels = [[f"func{level}_{number}" for number in range(width)] for level in range(LEVELS)]
        levels[-1] += [f"func{LEVELS - 1}_{width + number}" for number in range(rest - width * LEVELS)]
        for level, names in enumerate(levels):
            for number, name in enumerate(names):
                below = levels[level - 1] if level else []
                called = [below[number % len(below)]] if below else []
                if below and self.random.random() < 0.15:
                    called.append(self.random.choice(below))
                largest = level == 4 and number == 0
                self.func(name, called, 105 if largest else self.random.randrange(3, 13))
        self.kernels(levels)

    def kernels(self, levels: list[list[str]]) -> None:
        top = levels[-1]
        # One chain of calls goes down all levels; the first kernel takes as many chains as reach 196 funcs.
        chains = (LARGEST_REACH - HELPERS) // LEVELS - 1
        reached = [top[:chains]]
        for _ in range(1, KERNELS):
            level = levels[self.random.randrange(2, LEVELS)]
            reached.append(self.random.sample(level, self.random.randrange(1, 4)))
        for number, funcs in enumerate(reached):
            self.lines += ["", "@sv.kernel", f"def kernel{number}(state: State, n: sv.i32, x: sv.f32):"]
            self.lines.append("    for i in range(n):")
            target = f"state.group{number % GROUPS}.member{number % ARRAYS}"
            self.lines.append(f"        {target}[i] = ({' + '.join(f'{each}(state, i, x)' for each in funcs)}) * 0.001")
        self.lines += ["", f"KERNELS = [{', '.join(f'kernel{number}' for number in range(KERNELS))}]", "", ""]
        self.lines += [
            "def new_state():",
            "    groups = []",
            f"    for number, kind in enumerate([{', '.join(f'Group{group}' for group in range(GROUPS))}]):",
            "        arrays = []",
            f"        for position in range({ARRAYS}):",
            f"            array = sv.ndarray(sv.f32, ({ELEMENTS},))",
            "            array.fill(0.01 * (number + 1) + 0.003 * position)",
            "            arrays.append(array)",
            "        groups.append(kind(*arrays))",
            "    return State(*groups)",
        ]


def large_program(library: str = "samovar", seed: int = 7) -> str:
    """The text of the program."""
    program = _Program(seed)
    program.write(library)
    return "\n".join(program.lines) + "\n"


def described(text: str) -> dict[str, int]:
    """What is in it: funcs, call sites, depth of calls, and of the largest kernel how many funcs and nodes it reaches."""
    functions = {each.name: each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}
    nodes = {name: sum(1 for _ in ast.walk(each)) for name, each in functions.items()}
    called = {
        name: [
            each.func.id
            for each in ast.walk(function)
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id in functions
        ]
        for name, function in functions.items()
    }
    depth: dict[str, int] = {}
    inlined: dict[str, int] = {}
    for name in functions:  # callees first
        depth[name] = 1 + max((depth[each] for each in called[name]), default=0)
        inlined[name] = nodes[name] + sum(inlined[each] for each in called[name])
    reached = {"kernel0"}
    pending = ["kernel0"]
    while pending:
        for each in called[pending.pop()]:
            if each not in reached:
                reached.add(each)
                pending.append(each)
    return {
        "funcs": sum(name.startswith(("helper", "func")) for name in functions),
        "call sites": sum(map(len, called.values())),
        "depth": max(depth.values()) - 1,
        "funcs of the largest kernel": len(reached) - 1,
        "nodes of the largest kernel": sum(nodes[name] for name in reached),
        "nodes if all were inlined": inlined["kernel0"],
        "nodes of the largest func": max(nodes.values()),
    }


if __name__ == "__main__":
    for name, count in described(large_program()).items():
        print(f"{count:8d}  {name}")
