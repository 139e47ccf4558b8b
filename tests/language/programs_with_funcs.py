"""Programs made at random: a kernel whose iterations loop and call funcs, which loop, branch, and return in the middle."""

from __future__ import annotations

from random import Random

HEAD = ["import samovar as sv", "F = sv.types.NDArray[sv.f32, 1]"]


def program(seed: int) -> str:
    """A module with a kernel `k(x, y, n)`."""
    made = _Program(Random(seed))
    lines = [*HEAD, *made.functions(), "@sv.kernel", "def k(x: F, y: F, n: sv.i32):", "    for i in range(x.shape[0]):"]
    lines += ["        u, v, w = x[i], y[i], 0.25", "        for step in range(n):"]
    lines += made.block(["u", "v", "w"], 1, 3, True, False)
    lines += [f"            u = {made.call(['u', 'v', 'w'])} * 0.5", "        x[i], y[i] = u, v + w"]
    return "\n".join(lines) + "\n"


class _Program:
    def __init__(self, random: Random) -> None:
        self.random = random
        #: Name and number of parameters of what can be called.
        self.known: list[tuple[str, int]] = []

    def functions(self) -> list[str]:
        lines = []
        for number in range(self.random.randint(1, 3)):
            count = self.random.randint(1, 3)
            parameters = [f"a{place}" for place in range(count)]
            lines += ["@sv.func", f"def f{number}({', '.join(parameters)}, n=3):", "    s, t = a0 * 1.0, 0.5 * a0"]
            lines += self.block(["s", "t"], 0, 1, False, True)
            lines.append(f"    return {self.expression(['s', 't', *parameters])}")
            self.known.append((f"f{number}", count))
        return lines

    def block(self, names: list[str], depth: int, indent: int, in_loop: bool, in_function: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(names, depth, indent, in_loop, in_function)
        return lines

    def statement(self, names: list[str], depth: int, indent: int, in_loop: bool, in_function: bool) -> list[str]:
        kind, name, space = self.random.random(), self.random.choice(names), "    " * indent
        if kind < 0.15 and self.known:
            return [f"{space}{name} = {self.call(names)}"]
        if kind < 0.25:
            return [f"{space}{name} {self.random.choice(['+=', '-=', '*='])} {self.expression(names)} * 0.25"]
        if kind < 0.42 and depth < 2:
            lines = [f"{space}if {self.condition(names)}:", *self.block(names, depth + 1, indent + 1, in_loop, in_function)]
            if self.random.random() < 0.5:
                lines += [f"{space}else:", *self.block(names, depth + 1, indent + 1, in_loop, in_function)]
            return lines
        if kind < 0.57 and depth < 2:
            head = f"{space}for k{depth} in range({self.random.choice(['n', 'n', '5', '40'])}):"
            return [head, *self.block(names, depth + 1, indent + 1, True, in_function)]
        if kind < 0.64 and in_loop:
            return [f"{space}if {self.condition(names)}:", f"{space}    {self.random.choice(['break', 'continue'])}"]
        if kind < 0.7 and in_function:
            return [f"{space}if {self.condition(names)}:", f"{space}    return {self.expression(names)}"]
        return [f"{space}{name} = {self.expression(names)}"]

    def call(self, names: list[str]) -> str:
        name, count = self.random.choice(self.known)
        return f"{name}({', '.join(self.expression(names, 2) for _ in range(count))})"

    def condition(self, names: list[str]) -> str:
        left, right = self.random.choice(names), self.random.choice([*names, "0.3"])
        return f"{left} {self.random.choice(['<', '>', '<=', '!='])} {right}"

    def expression(self, names: list[str], depth: int = 0) -> str:
        if depth > 2 or self.random.random() < 0.3:
            return self.random.choice([*names, f"{self.random.uniform(-2, 2):.2f}"])
        left, right = self.expression(names, depth + 1), self.expression(names, depth + 1)
        kind = self.random.random()
        if kind < 0.6:
            return f"({left} {self.random.choice('+-*')} {right})"
        if kind < 0.75:
            return f"sv.{self.random.choice(['min', 'max'])}({left}, {right})"
        if kind < 0.85:
            return f"sv.sqrt(abs({left}))"
        return f"({left} if {self.condition(names)} else {right})"
