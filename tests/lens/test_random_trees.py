"""Random trees, random kernels, random changes between launches and processes: always what plain Python gives."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import tree_programs
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import samovar as sv
from hypothesis_profiles import examples

NUMBERS = st.one_of(
    st.integers(-1000, 1000), st.integers(-4000, 4000).map(lambda number: number / 4), st.booleans()
).map(lambda value: ["number", value])
DTYPES = ("float32", "float64", "int32", "int64", "int8")
ARRAYS = st.tuples(st.just("array"), st.sampled_from(DTYPES), st.integers(1, 9), st.integers(0, 50), st.booleans()).map(list)
ENUMS = st.sampled_from([["enum", "A"], ["enum", "B"]])
OPTIONAL = st.one_of(st.just(["none"]), ARRAYS)
UNREADABLE = st.sampled_from([["opaque"], ["root"]])

#: What a leaf may become, by what the kernel takes it for.
STRATEGIES = {"number": NUMBERS, "array": ARRAYS, "enum": ENUMS, "optional": OPTIONAL}


@st.composite
def trees(draw, depth=3):
    members = []
    for number in range(draw(st.integers(1, 4))):
        deeper = depth > 0 and draw(st.integers(0, 3)) == 0
        child = draw(trees(depth - 1)) if deeper else draw(st.one_of(NUMBERS, ARRAYS, ENUMS, OPTIONAL, UNREADABLE))
        members.append([f"m{number}", draw(st.booleans()), child])
    return ["node", draw(st.sampled_from(sorted(tree_programs.FORMS))), members]


def kinds_of(tree):
    """Readable leaves, with what a kernel takes them for; some of them through a cycle."""
    found = {}
    for path, leaf in tree_programs.leaves(tree):
        if leaf[0] in ("number", "array", "enum", "none"):
            found[path] = "optional" if leaf[0] == "none" else leaf[0]
    cycles = [path for path, leaf in tree_programs.leaves(tree) if leaf[0] == "root"]
    around = {cycle + path: kind for cycle in cycles[:2] for path, kind in list(found.items())[:2]}
    return found, around


@st.composite
def programs(draw):
    tree = draw(trees())
    direct, around = kinds_of(tree)
    readable = {**direct, **around}
    chosen = draw(st.lists(st.sampled_from(sorted(readable)), unique=True, max_size=6)) if readable else []
    ways = {"number": ("direct", "func"), "enum": ("direct", "func"), "array": ("direct", "func", "write")}
    reads = [
        [list(path), readable[path], draw(st.sampled_from(ways.get(readable[path], ("direct", "write"))))] for path in chosen
    ]
    places = sorted(direct)
    inner = [path for path, _ in itertools.islice(tree_programs.nodes(tree), 1, None)]
    rounds = []
    for _ in range(draw(st.integers(1, 4))):
        changes = []
        for path in draw(st.lists(st.sampled_from(places), unique=True, max_size=3)) if places else ():
            changes.append([list(path), draw(STRATEGIES[direct[path]])])
        if inner and draw(st.booleans()):
            changes.append([list(draw(st.sampled_from(inner))), "copy"])
        rounds.append(changes)
    return {"tree": tree, "reads": reads, "rounds": rounds}


COUNTER = itertools.count()


@examples("compiled", suppress_health_check=list(HealthCheck))
@given(programs())
def test_every_launch_does_what_plain_python_does(program):
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore", sv.SamovarWarning)
        text = tree_programs.text_of(program["tree"], program["reads"])
        module = tree_programs.load(text, Path(directory) / f"random_tree_{next(COUNTER)}.py")
        try:
            root = tree_programs.build(module, program["tree"])
            tree_programs.check(module, root, program["reads"])
            for changes in program["rounds"]:
                tree_programs.change(module, root, program["tree"], changes)
                tree_programs.check(module, root, program["reads"])
        finally:
            del sys.modules[module.__name__]


def run(program, directory):
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(directory / "cache"), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, tree_programs.__file__, str(directory / "random_tree.py")],
        env=environment, input=json.dumps(program), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@examples("processes", suppress_health_check=list(HealthCheck))
@given(programs(), st.data())
def test_every_process_does_what_plain_python_does(program, data):
    """The first process compiles, the second finds it all, the third begins with a changed tree."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        first = run(program, folder)
        assert run(program, folder) == {"compiled": 0, "loaded": first["compiled"]}
        order = data.draw(st.permutations(range(len(program["rounds"]))))
        run({**program, "rounds": [program["rounds"][number] for number in order]}, folder)
