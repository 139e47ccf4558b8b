"""`inspect("graph")` and `inspect("dot")`: what a launch consists of, drawn."""

import enum
import shutil
import subprocess

import pytest

import samovar as sv

Flag = sv.types.NDArray[sv.i32, 0]
Numbers = sv.types.NDArray[sv.i32, 1]


class Stage(enum.IntEnum):
    GROW = 1


@sv.kernel(graph=True, checkpoints=True)
def solve(x: Numbers, y: Numbers, more: Flag, full: Flag):
    x[0] = 1
    while sv.graph.do_while(more, max_iterations=9):
        with sv.graph.parallel_context():
            with sv.graph.parallel():
                sv.loop_config(name="left")
                for i in x:
                    x[i] += 1
            with sv.graph.parallel():
                sv.loop_config(name="right")
                for i in y:
                    y[i] += 1
        with sv.checkpoint(Stage.GROW, yield_on=full):
            sv.loop_config(name="test")
            for _ in range(1):
                more[None] = 0
    for i in y:
        y[i] += 1


DRAWN = """\
solve
├─ serial code  (line +2)
├─ ↻ repeat while more, 9 times at most  (line +3)
│  ├─ ⇉ in parallel  (line +4)
│  │  ├─ ∥ section  (line +5)
│  │  │  └─ task left  (line +7)
│  │  └─ ∥ section  (line +9)
│  │     └─ task right  (line +11)
│  └─ ⚑ checkpoint Stage.GROW, yields on full  (line +13)
│     └─ task test  (line +15)
└─ task task  (line +17)
"""


def flag():
    return sv.ndarray(sv.i32, ())


def arguments():
    return sv.ndarray(sv.i32, 4), sv.ndarray(sv.i32, 4), flag(), flag()


def expected():
    first = solve.__wrapped__.__code__.co_firstlineno
    text = DRAWN
    for distance in range(20, 0, -1):
        text = text.replace(f"(line +{distance})", f"(line {first + distance})")
    return text


def test_the_drawing_of_a_graph():
    shown = solve.inspect("graph", *arguments())
    assert shown == expected()
    solve(*arguments())
    assert solve.inspect("graph") == shown


def test_the_drawing_for_graphviz():
    text = solve.inspect("dot", *arguments())
    assert text.startswith('digraph "solve" {')
    assert text.count("subgraph") == 5
    assert "style=dashed" in text
    assert 'label="checkpoint Stage.GROW, yields on full' in text
    dot = shutil.which("dot")
    if dot is not None:
        done = subprocess.run([dot, "-Tsvg"], input=text, capture_output=True, text=True, check=True)
        assert "<svg" in done.stdout


def test_a_kernel_that_is_no_graph_is_a_row_of_tasks():
    @sv.kernel
    def plain(x: Numbers):
        for i in x:
            x[i] += 1
        print(x[0])
        for i in x:
            x[i] += 1

    x = sv.ndarray(sv.i32, 2)
    plain(x)
    lines = plain.inspect("graph").splitlines()
    assert [line.split("  (")[0] for line in lines] == ["plain", "├─ task task", "├─ serial code", "└─ task task_1"]
    with pytest.raises(sv.SamovarTypeError, match="is not one of 'arguments'"):
        plain.inspect("svg")
