"""Graphs from the cache: loops, checkpoints and labels in a process that compiles nothing."""

import json
import os
import subprocess
import sys
from textwrap import dedent

import pytest

PROGRAM = """
    import dataclasses, enum, json, sys
    import samovar as sv

    Flag, Numbers = sv.types.NDArray[sv.i32, 0], sv.types.NDArray[sv.i32, 1]

    class Stage(enum.IntEnum):
        FIRST = 1
        SECOND = 2

    def flag(value=0):
        made = sv.ndarray(sv.i32, ())
        made.fill(value)
        return made

    @dataclasses.dataclass
    class Inner:
        x: Numbers
        more: Flag
        stop: Flag

    @dataclasses.dataclass
    class Outer:
        inner: Inner

    @sv.kernel(graph=True, checkpoints=True)
    def by_parameter(x: Numbers, more: Flag, stop: Flag):
        n = x.shape[0]
        for i in range(n):
            x[i] += 100
        while sv.graph.do_while(more, max_iterations=50):
            for i in range(n):
                x[i] += 1
            with sv.checkpoint(Stage.FIRST, yield_on=stop):
                for _ in range(1):
                    more[None] = sv.i32(x[0] % 10 != 0)
        with sv.checkpoint(7, yield_on=stop):
            for i in range(n):
                x[i] += 1000

    @sv.kernel(graph=True, checkpoints=True)
    def by_dataclass(state: Outer, guarded: sv.Template):
        while sv.graph.do_while(state.inner.more):
            for i in state.inner.x:
                state.inner.x[i] += 1
            if sv.static(guarded):
                with sv.checkpoint(Stage.SECOND, yield_on=state.inner.stop):
                    for _ in range(1):
                        state.inner.more[None] = sv.i32(state.inner.x[0] < 5)

    class Part:
        pass

    @sv.data_oriented
    class Solver:
        def __init__(self):
            self.part = Part()
            self.part.x = sv.ndarray(sv.i32, 3)
            self.part.flags = [flag(), flag(1)]

        @sv.kernel(graph=True, checkpoints=True)
        def step(self):
            for i in self.part.x:
                self.part.x[i] += 1
            with sv.checkpoint(Stage.FIRST, yield_on=self.part.flags[1]):
                while sv.graph.do_while(self.part.flags[0]):
                    for i in self.part.x:
                        self.part.x[i] += 10

    def shown(status):
        return [status.yielded, status.checkpoint, type(status.checkpoint).__name__]

    seen = []
    x = sv.ndarray(sv.i32, 4)
    # The first launch of the process begins at a checkpoint.
    seen.append([shown(by_parameter.resume(x, flag(), flag(1), from_checkpoint=7)), x[3]])
    seen.append([shown(by_parameter(x, flag(), flag(1))), x[3]])
    seen.append([shown(by_parameter.resume(x, flag(), flag(), from_checkpoint=Stage.FIRST)), x[3]])
    state = Outer(Inner(sv.ndarray(sv.i32, 2), flag(), flag(1)))
    seen.append([shown(by_dataclass(state, True)), state.inner.x[1]])
    state.inner.more.fill(0)
    seen.append([shown(by_dataclass(state, False)), state.inner.x[1]])
    seen.append([shown(by_dataclass.resume(state, True, from_checkpoint=Stage.SECOND)), state.inner.x[1]])
    solver = Solver()
    seen.append([shown(solver.step()), solver.part.x[2]])
    solver.part.x = sv.ndarray(sv.i32, 5)
    seen.append([shown(solver.step.resume(from_checkpoint=1)), solver.part.x[4]])
    try:
        by_parameter.resume(x, flag(), flag(), from_checkpoint=9)
    except sv.SamovarError as error:
        seen.append(str(error))
    print(json.dumps({"seen": seen, "compiled": sv.compile_count()}))
"""


@pytest.fixture
def run(tmp_path):
    """Run the program in a new process, after an edit."""

    def edited(*edit):
        program = tmp_path / "program.py"
        text = dedent(PROGRAM)
        for old, new in edit:
            assert old in text
            text = text.replace(old, new)
        program.write_text(text)
        environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")}
        command = [sys.executable, str(program)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return edited


EXPECTED = [
    [[True, 7, "int"], 1000],
    [[True, 1, "Stage"], 1101],
    [[False, None, "NoneType"], 2110],
    [[True, 2, "Stage"], 1],
    [[False, None, "NoneType"], 2],
    [[True, 2, "Stage"], 2],
    [[True, 1, "Stage"], 11],
    [[True, 1, "Stage"], 10],
    "the kernel has no checkpoint 9\n  help: its checkpoints are Stage.FIRST, 7",
]


def test_a_warm_process_does_the_same(run):
    cold = run()
    assert cold["seen"][:3] == EXPECTED[:3]
    assert cold["seen"][3:] == EXPECTED[3:]
    assert cold["compiled"] == 4
    warm = run()
    assert warm["seen"] == cold["seen"]
    assert warm["compiled"] == 0
    # A label of another value is another program; one of another name too.
    revalued = run(("FIRST = 1", "FIRST = 5"), ("from_checkpoint=1)", "from_checkpoint=5)"))
    assert revalued["seen"][1] == [[True, 5, "Stage"], 1101]
    assert revalued["compiled"] == 2
    renamed = run(("Stage", "Phase"))
    assert renamed["seen"][1] == [[True, 1, "Phase"], 1101]
    assert run()["compiled"] == 0


LABELS = """
    import dataclasses, enum, json
    import samovar as sv

    Flag, Numbers = sv.types.NDArray[sv.i32, 0], sv.types.NDArray[sv.i32, 1]

    class Stage(enum.IntEnum):
        LOAD = 1
        SOLVE = 2

    STAGES = (Stage.LOAD, Stage.SOLVE)
    MANY = (Stage.LOAD,) * 70 + (Stage.SOLVE,)
    TABLE = {Stage.SOLVE: 1.0, Stage.LOAD: 2.0}
    NAMES = {"solve": Stage.SOLVE}

    def chosen(number):
        return Stage(number)

    @dataclasses.dataclass(frozen=True)
    class Plan:
        stage: Stage

    @sv.func
    def section(x, flag, stage: sv.template()):
        with sv.checkpoint(stage, yield_on=flag):
            for i in range(4):
                x[i] += 1

    @sv.kernel(graph=True, checkpoints=True)
    def by_parameter(x: Numbers, flag: Flag, stage: sv.Template):
        section(x, flag, stage)

    @sv.kernel(graph=True, checkpoints=True)
    def by_default(x: Numbers, flag: Flag, stage: sv.Template = Stage.SOLVE):
        section(x, flag, stage)

    @sv.kernel(graph=True, checkpoints=True)
    def by_member(x: Numbers, flag: Flag, plan: sv.Template):
        section(x, flag, plan.stage)

    @sv.kernel(graph=True, checkpoints=True)
    def by_item(x: Numbers, flag: Flag):
        section(x, flag, STAGES[1])

    @sv.kernel(graph=True, checkpoints=True)
    def by_item_of_many(x: Numbers, flag: Flag):
        section(x, flag, MANY[70])

    @sv.kernel(graph=True, checkpoints=True)
    def by_loop(x: Numbers, flag: Flag):
        for stage in sv.static(reversed(STAGES)):
            section(x, flag, stage)

    @sv.kernel(graph=True, checkpoints=True)
    def by_key(x: Numbers, flag: Flag):
        for stage in sv.static(TABLE):
            section(x, flag, stage)

    @sv.kernel(graph=True, checkpoints=True)
    def by_value(x: Numbers, flag: Flag):
        section(x, flag, NAMES["solve"])

    @sv.kernel(graph=True, checkpoints=True)
    def by_call(x: Numbers, flag: Flag):
        section(x, flag, sv.static(chosen(2)))

    x, flag = sv.ndarray(sv.i32, 4), sv.ndarray(sv.i32, ())
    flag.fill(1)
    labels = {each.__name__: each(x, flag).checkpoint for each in
              (by_default, by_item, by_item_of_many, by_loop, by_key, by_value, by_call)}
    labels["by_parameter"] = by_parameter(x, flag, Stage.SOLVE).checkpoint
    labels["by_member"] = by_member(x, flag, Plan(Stage.SOLVE)).checkpoint
    assert by_parameter(x, flag, Stage.LOAD).checkpoint is Stage.LOAD
    assert by_parameter(x, flag, 2).checkpoint == 2 and type(by_parameter(x, flag, 2).checkpoint) is int
    assert by_loop.resume(x, flag, from_checkpoint=Stage.LOAD).checkpoint is Stage.LOAD
    print(json.dumps({"seen": {name: repr(label) for name, label in labels.items()}, "compiled": sv.compile_count()}))
"""


def test_the_member_comes_back_however_the_label_was_reached(tmp_path):
    program = tmp_path / "labels.py"
    program.write_text(dedent(LABELS))
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")}
    for compiled in (11, 0):
        done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert set(found["seen"].values()) == {"<Stage.SOLVE: 2>"}, found
        assert found["compiled"] == compiled
