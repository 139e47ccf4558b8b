"""Random graphs (loops, checkpoints, sections, parallel, serial and bare steps), with random yields and resumes, against an
interpreter of the same graph in plain Python: the arrays are equal after every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

import samovar as sv
from hypothesis_profiles import examples

from .source import define

SIZE, LOOPS, STOPS = 5, 3, 3
MODULUS = 997


@dataclass(frozen=True)
class Step:
    """x[i] = (x[i] * 3 + i + by + t) % MODULUS for all i, or for i = 0 as a bare statement."""

    kind: str  # parallel, serial, bare
    by: int


@dataclass(frozen=True)
class Local:
    """t = t + x.shape[0] + by: a bare statement that writes no array."""

    by: int


@dataclass(frozen=True)
class Loop:
    times: int
    body: tuple[Any, ...]


@dataclass(frozen=True)
class Stop:
    body: tuple[Step, ...]


@dataclass(frozen=True)
class Sides:
    left: tuple[Step, ...]
    right: tuple[Step, ...]


tasks = st.builds(Step, st.sampled_from(["parallel", "serial"]), st.integers(0, 50))
steps = st.builds(Step, st.sampled_from(["parallel", "serial", "bare"]), st.integers(0, 50))
few = st.lists(tasks, min_size=1, max_size=2).map(tuple)
leaves = st.one_of(
    steps, steps, st.builds(Local, st.integers(0, 5)), st.builds(Stop, few), st.builds(Stop, few), st.builds(Sides, few, few)
)
graphs = st.recursive(
    leaves,
    lambda inner: st.builds(Loop, st.integers(1, 3), st.lists(inner, min_size=1, max_size=3).map(tuple)),
    max_leaves=7,
)


class Text:
    """The kernel of a graph. Loops and checkpoints are numbered in the order of the text."""

    def __init__(self, nodes: tuple[Any, ...]) -> None:
        self.lines = [
            "@sv.kernel(graph=True, checkpoints=True)",
            "def graph(x: Numbers, z: Numbers, counts: Numbers, more: sv.Template, stops: sv.Template):",
            "    t = 0",
        ]
        self.loops = self.stops = 0
        self.sequence(nodes, 1)

    def write(self, depth: int, *lines: str) -> None:
        self.lines += ["    " * depth + line for line in lines]

    def sequence(self, nodes: tuple[Any, ...], depth: int, array: str = "x") -> None:
        for node in nodes:
            getattr(self, type(node).__name__.lower())(node, depth, array)

    def step(self, node: Step, depth: int, array: str) -> None:
        if node.kind == "bare":
            self.write(depth, f"{array}[0] = ({array}[0] * 3 + {node.by} + t) % {MODULUS}")
            return
        if node.kind == "serial":
            self.write(depth, "sv.loop_config(serialize=True)")
        self.write(depth, f"for i in {array}:", f"    {array}[i] = ({array}[i] * 3 + i + {node.by} + t) % {MODULUS}")

    def local(self, node: Local, depth: int, array: str) -> None:
        self.write(depth, f"t = t + x.shape[0] + {node.by}")

    def loop(self, node: Loop, depth: int, array: str) -> None:
        number, self.loops = self.loops % LOOPS, self.loops + 1
        place = self.loops - 1
        self.write(depth, f"while sv.graph.do_while(more[{number}], max_iterations=100):")
        self.sequence(node.body, depth + 1)
        self.write(
            depth + 1,
            "for _ in range(1):",
            f"    counts[{place}] += 1",
            f"    more[{number}][None] = sv.i32(counts[{place}] % {node.times} != 0)",
        )

    def stop(self, node: Stop, depth: int, array: str) -> None:
        self.stops += 1
        self.write(depth, f"with sv.checkpoint({self.stops * 10}, yield_on=stops[{self.stops % STOPS}]):")
        self.sequence(node.body, depth + 1)

    def sides(self, node: Sides, depth: int, array: str) -> None:
        self.write(depth, "with sv.graph.parallel_context():")
        for part, own in ((node.left, "x"), (node.right, "z")):
            self.write(depth + 1, "with sv.graph.parallel():")
            self.sequence(part, depth + 2, own)


class Yielded(Exception):
    pass


class Interpreter:
    """The same graph in plain Python, on lists."""

    def __init__(self, state: dict[str, list[int]], start: int) -> None:
        self.state = state
        self.start = start
        self.live = start == 0
        self.loops = self.stops = self.t = 0

    def run(self, nodes: tuple[Any, ...]) -> int:
        try:
            self.sequence(nodes)
        except Yielded as end:
            return int(end.args[0])
        return 0

    def sequence(self, nodes: tuple[Any, ...], array: str = "x") -> None:
        for node in nodes:
            getattr(self, type(node).__name__.lower())(node, array)

    def step(self, node: Step, array: str) -> None:
        values = self.state[array]
        for i in range(1 if node.kind == "bare" else len(values)) if self.live else ():
            values[i] = (values[i] * 3 + i + node.by + self.t) % MODULUS

    def local(self, node: Local, array: str) -> None:
        self.t += len(self.state["x"]) + node.by

    def loop(self, node: Loop, array: str) -> None:
        place, number = self.loops, self.loops % LOOPS
        loops, stops = self.loops + 1, self.stops
        while True:
            self.loops, self.stops = loops, stops
            self.sequence(node.body)
            if not self.live:
                return
            self.state["counts"][place] += 1
            self.state["more"][number] = int(self.state["counts"][place] % node.times != 0)
            if not self.state["more"][number]:
                return

    def stop(self, node: Stop, array: str) -> None:
        self.stops += 1
        self.live = self.live or self.start == self.stops * 10
        self.sequence(node.body)
        if self.live and self.state["stops"][self.stops % STOPS]:
            raise Yielded(self.stops * 10)

    def sides(self, node: Sides, array: str) -> None:
        self.sequence(node.left, "x")
        self.sequence(node.right, "z")


class Graphs(RuleBasedStateMachine):
    @initialize(nodes=st.lists(graphs, min_size=1, max_size=4).map(tuple))
    def begin(self, nodes: tuple[Any, ...]) -> None:
        self.nodes = nodes
        text = Text(nodes)
        self.labels = [10 * number for number in range(1, text.stops + 1)]
        self.kernel = define("\n".join(text.lines) + "\n", "graph", Numbers=sv.types.NDArray[sv.i32, 1])
        self.arrays = {name: np.zeros(SIZE, np.int32) for name in ("x", "z")}
        self.arrays["counts"] = np.zeros(32, np.int32)
        self.flags = {name: tuple(np.zeros((), np.int32) for _ in range(3)) for name in ("more", "stops")}
        self.yielded = 0

    def launch(self, start: int) -> None:
        state = {name: array.tolist() for name, array in self.arrays.items()}
        state |= {name: [int(flag) for flag in flags] for name, flags in self.flags.items()}
        expected = Interpreter(state, start).run(self.nodes)
        arguments = (*self.arrays.values(), self.flags["more"], self.flags["stops"])
        if start:
            status = self.kernel.resume(*arguments, from_checkpoint=start)
        else:
            status = self.kernel(*arguments)
        assert status == (sv.GraphStatus(True, expected) if expected else sv.GraphStatus(False))
        for name, array in self.arrays.items():
            assert array.tolist() == state[name], name
        assert [int(flag) for flag in self.flags["more"]] == state["more"]
        self.yielded = expected

    @rule()
    def whole(self) -> None:
        self.launch(0)

    @precondition(lambda self: self.labels)
    @rule(data=st.data())
    def anywhere(self, data: st.DataObject) -> None:
        self.launch(data.draw(st.sampled_from(self.labels)))

    @precondition(lambda self: self.yielded)
    @rule(grown=st.booleans())
    def where_it_yielded(self, grown: bool) -> None:
        for flag in self.flags["stops"]:
            flag[()] = 0
        if grown:
            self.arrays["x"] = np.concatenate([self.arrays["x"], np.ones(2, np.int32)])
        self.launch(self.yielded)

    @rule(number=st.integers(0, STOPS - 1), value=st.sampled_from([0, 1, 7]))
    def stop_there(self, number: int, value: int) -> None:
        self.flags["stops"][number][()] = value


TestGraphs = Graphs.TestCase
TestGraphs.settings = examples("compiled", stateful_step_count=8)
