"""Functions that are values, and change between launches and between processes."""

import pytest
from changes import Change, check_between_processes, check_in_one_process

KERNEL = "@sv.kernel\ndef k(x: sv.i32) -> sv.i32:\n    return {}\n"
PLAIN = "def f(x): return x + 1\ndef g(x): return x + 2\n"

CHANGES = {
    "another lambda": Change("f = lambda x: x + 1\n" + KERNEL.format("f(x)"), "f = lambda x: x + 2", 5, 6, "k(4)"),
    "a lambda of the same line": Change(
        "f, g = (lambda x: x + 1), (lambda x: x if x > 100 else 7)\n" + KERNEL.format("f(x)"), "f = g", 5, 7, "k(4)"
    ),
    "what a lambda reads": Change("N = 1\nf = lambda x: x + N\n" + KERNEL.format("f(x)"), "N = 2", 5, 6, "k(4)"),
    "what a lambda holds": Change(
        "def make(n): return lambda x: x + n\nf = make(1)\n" + KERNEL.format("f(x)"), "f = make(2)", 5, 6, "k(4)"
    ),
    "the default of a lambda": Change(
        "f = lambda x, n=1: x + n\n" + KERNEL.format("f(x)"), "f.__defaults__ = (2,)", 5, 6, "k(4)"
    ),
    "another operator": Change(
        "import operator\nf = operator.add\n" + KERNEL.format("f(x, 3)"), "f = operator.mul", 7, 12, "k(4)"
    ),
    "an operator that becomes a function": Change(
        "import operator\nf = operator.add\n" + KERNEL.format("f(x, 3)"), "f = lambda x, y: x - y", 7, 1, "k(4)"
    ),
    "a function that is declared": Change(PLAIN + KERNEL.format("sv.func(f)(x)"), "f = g", 5, 6, "k(4)"),
    "what a declared function reads": Change(
        "N = 1\ndef f(x): return x + N\n" + KERNEL.format("sv.func(f)(x)"), "N = 2", 5, 6, "k(4)"
    ),
    "the annotation of a declared function": Change(
        "def f(x: sv.i32): return x\ndef g(x: sv.f64): return x\n" + KERNEL.format("int(sv.func(f)(x / 8) * 10)"),
        "f = g", 0, 5, "k(4)",
    ),
    "an object with items": Change(
        "class Table:\n    def __init__(self, n): self.n = n\n    def __getitem__(self, i): return self.n + i\n"
        "t = Table(1)\n" + KERNEL.format("x + static(t[2])"),
        "t.n = 5", 7, 11, "k(4)", stored=False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.filterwarnings("ignore:.*compiled like a func")
def test_the_next_launch_sees_a_change(tmp_path, name):
    check_in_one_process(tmp_path, CHANGES[name])


def test_other_processes_see_a_change(tmp_path):
    check_between_processes(tmp_path, CHANGES)
