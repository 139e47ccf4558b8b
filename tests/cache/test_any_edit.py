"""Random texts and random edits: what is found is what a fresh compile would give."""

from __future__ import annotations

import importlib.util
import itertools
import shutil
import tempfile
import textwrap
from pathlib import Path

import pytest
import worlds
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import samovar as sv
from hypothesis_profiles import examples
from samovar.compiler.driver import inspect_kernel
from samovar.errors import SamovarError
from samovar.language.options import Options
from samovar.lens import Lens, replay

# --- equal keys, equal IR: a program is a list of statements, a text takes one form of each

NUMBERS = [["8", "2**3", "4 + 4", "8.0"], ["0.25", "1 / 4", "(0.25)"], ["-1", "(-1)", "1 - 2"], ["16777217", "2**24 + 1"]]
CONDITIONS = [["n > 1", "(n > 1)", "not n <= 1"], ["n", "(n)", "n != 0"]]
#: By kind of statement: its forms. Some have the same bytecode, some the same meaning, some neither.
FORMS = {
    "assign": ["x = {one}", "x = ({one})", "x: sv.f64 = {one}", "x = {one}  # as it is", "x, y = {one}, y"],
    "choose": [
        "x = {one} if {test} else {two}",
        "if {test}: x = {one}\nelse: x = {two}",
        "if {test}:\n    x = {one}\nelse:\n    x = {two}",
    ],
    "loop": [
        "for i in range(4):\n    a[i] += {one}",
        "for i in range(2 + 2):\n    a[i] += {one}",
        "if True:\n    for i in range(4):\n        a[i] += {one}",
        "while True:\n    for i in range(4):\n        a[i] += {one}\n    break",
        "for i in (0, 1, 2, 3):\n    a[i] += {one}",
        "for i in [0, 1, 2, 3]:\n    a[i] += {one}",
    ],
    "nothing": ["pass", "# nothing", "'nothing'", "...", "if False:\n    x = {one}", "assert True"],
    "add": ["x += {one}", "x = x + {one}", "x = (x + {one})"],
    "leave": ["if {test}: return {one}", "if {test}:\n    return {one}", "if {test}: return {one}\nelse: y = {two}"],
    "end": ["return x if {test} else y", "if {test}: return x\nreturn y", "if {test}:\n    return x\nelse:\n    return y"],
}
HEAD = "import samovar as sv\n@sv.kernel\ndef k(a: sv.types.NDArray[sv.f32, 1], n: sv.i32) -> sv.f64:\n"
statement = st.tuples(st.sampled_from([kind for kind in FORMS if kind != "end"]), *[st.integers(0, 3)] * 3)
programs = st.lists(statement, max_size=3)
choices = st.lists(st.integers(0, 11), min_size=1, max_size=9)


def text_of(program, chosen):
    """A text of a program: one form for each of its parts."""
    chosen = itertools.cycle(chosen)

    def some(alternatives):
        return alternatives[next(chosen) % len(alternatives)]

    lines = ["x = 1", "y = 0.5"]
    for kind, one, two, test in (*program, ("end", 0, 0, 0)):
        parts = {"one": some(NUMBERS[one]), "two": some(NUMBERS[two]), "test": some(CONDITIONS[test % 2])}
        lines.append(some(FORMS[kind]).format(**parts))
    return HEAD + textwrap.indent("\n".join(lines), "    ") + "\n"


_counter = itertools.count()


def loaded(folder, text):
    path = folder / f"text{next(_counter)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("text", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.k


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("texts")


@given(programs, choices, choices)
@examples("interpreted")
def test_equal_keys_mean_equal_ir(folder, program, first, second):
    """Where the trace of one text holds on another, the other one compiles to the same."""
    one, two = loaded(folder, text_of(program, first)), loaded(folder, text_of(program, second))
    arguments, options = {"a": sv.ndarray(sv.f32, 8), "n": 3}, Options(log_level="error")
    printed = []
    for kernel in (one, two):
        lens = Lens(kernel.__wrapped__, arguments, kernel.state.signature, options)
        try:
            printed.append((inspect_kernel(lens, "ir"), lens.trace))
        except SamovarError as error:
            printed.append((type(error).__name__, None))
    if printed[0][1] is not None and replay(printed[0][1], two.__wrapped__, arguments, two.state.signature, options) is None:
        assert printed[0][0] == printed[1][0]


# --- random edits


class Edits(RuleBasedStateMachine):
    """A program that is edited and run: the cached result is what a fresh compile gives."""

    def __init__(self):
        super().__init__()
        self.base = Path(tempfile.mkdtemp(prefix="samovar-edits-"))
        self.constants = {"N": "2", "HALF": "0.5", "T": "sv.f32", "TABLE": "(1, 2)"}
        self.func, self.local, self.helper, self.comments, self.lines = "n + N", "x", "n * 2", 0, 0
        self.annotation, self.shadowed = "", False
        self.options = {}

    def teardown(self):
        sv.reset()
        shutil.rmtree(self.base, ignore_errors=True)

    def files(self):
        constants = "".join(f"{name} = {value}\n" for name, value in self.constants.items())
        shadow = "@sv.func\ndef min(a: sv.i32, b: sv.i32):\n    return b\n\n" if self.shadowed else ""
        comment, x = "    # comment\n" * self.comments, self.local
        main = (
            "\n" * self.lines + f"import helpers\n{constants}{shadow}"
            f"@sv.func\ndef f(n: sv.i32):\n{comment}    return {self.func}\n\n"
            f"@sv.kernel\ndef k(n: sv.i32) -> sv.f64:\n    {x}{self.annotation} = 0\n{comment}"
            f"    {x} = f(n) * HALF + helpers.g(n) + min(n, 7)\n"
            f"    for each in static(TABLE):\n        {x} += each\n"
            f"    return {x} + sv.cast(sv.f64(0.1), T)\n\ndef main():\n    return k(3)\n"
        )
        helpers = f"import samovar as sv\n@sv.func\ndef g(n: sv.i32):\n    return {self.helper}\n"
        return {"main.py": main, "helpers.py": helpers}

    @rule(name=st.sampled_from(["N", "HALF", "T", "TABLE"]), value=st.integers(0, 2))
    def change_a_constant(self, name, value):
        values = {
            "N": ("2", "3", "2.0"),
            "HALF": ("0.5", "0.25", "1"),
            "T": ("sv.f32", "sv.f64", "sv.f16"),
            "TABLE": ("(1, 2)", "[1, 2]", "(1, 2, 0.5)"),
        }
        self.constants[name] = values[name][value]

    @rule(body=st.sampled_from(["n + N", "n - N", "n + N if n else 1", "helpers.g(n) + N"]))
    def change_a_func(self, body):
        self.func = body

    @rule(body=st.sampled_from(["n * 2", "n * 3", "(n * 2)", "n * 2.5"]))
    def change_a_func_in_another_file(self, body):
        self.helper = body

    @rule(annotation=st.sampled_from(["", ": sv.f64", ": sv.f32", ": sv.i64"]))
    def change_an_annotation(self, annotation):
        self.annotation = annotation

    @rule(name=st.sampled_from(["x", "y", "total"]), comments=st.integers(0, 2), lines=st.integers(0, 2))
    def rename_comment_and_move(self, name, comments, lines):
        self.local, self.comments, self.lines = name, comments, lines

    @rule()
    def shadow_a_builtin(self):
        self.shadowed = not self.shadowed

    @rule(name=st.sampled_from(["debug", "fast_math", "default_fp"]), on=st.booleans())
    def change_an_option(self, name, on):
        self.options[name] = (sv.f64 if on else sv.f32) if name == "default_fp" else on

    @invariant()
    def the_cached_result_is_that_of_a_fresh_compile(self):
        folder = worlds.write(self.base / "program", self.files())
        found = worlds.run(folder, self.base / "cache", **self.options)["result"]
        assert isinstance(found, float), found
        assert found == worlds.run(folder, self.base / "unused", offline_cache=False, **self.options)["result"]
        again = worlds.run(folder, self.base / "cache", **self.options)
        assert again["result"] == found
        assert again["kernels"] == 0


TestEdits = Edits.TestCase
TestEdits.settings = examples("processes", stateful_step_count=8)


@pytest.mark.stress
@pytest.mark.timeout(3600)
class TestManyEdits(Edits.TestCase):
    settings = examples("processes", stateful_step_count=30)
