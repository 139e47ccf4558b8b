"""What a program has imported, and when, changes neither a result nor a key."""

import pytest
import worlds

from samovar.frontend.mathematics import host_function
from samovar.language.operations import OPERATIONS

#: Functions of samovar.math whose folded result and run-time result (f32) differ, and one for each number of arguments.
PROGRAM = """
@sv.kernel
def k() -> tuple[sv.f32, sv.f32, sv.f32, sv.f32]:
    return (
        sv.math.exp2(25.0) + 1.0 - sv.math.exp2(25.0),
        math.exp2(25.0) + 1.0 - math.exp2(25.0) if static(hasattr(math, "exp2")) else 1.0,
        sv.math.hypot(2.0**25, 0.0) + 1.0 - 2.0**25,
        sv.math.fma(2.0, 2.0**24, 1.0) - 2.0**25,
    )

def main():
    return k()
"""
PRELUDES = {
    "nothing": "",
    "samovar.math": "import samovar.math",
    "the compiler": "import samovar.compiler.driver",
    "numpy": "import numpy",
    "math with a function of another": "import math; math.gcd = len; math.hypotenuse = math.hypot",
}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("imports")
    worlds.write(folder / "program", {"main.py": PROGRAM})
    return folder


@pytest.mark.parametrize("prelude", PRELUDES)
def test_the_order_of_imports_does_not_matter(world, prelude):
    for cache in ("shared", prelude.replace(" ", "-")):
        found = worlds.run_elsewhere({"it": (world / "program", world / cache)}, prelude=PRELUDES[prelude])["it"]
        assert found["result"] == [1.0, 1.0, 1.0, 1.0]


def test_kernels_are_shared_between_programs_that_import_in_another_order(world):
    compiled = [
        worlds.run_elsewhere({"it": (world / "program", world / "one")}, prelude=prelude)["it"]["kernels"]
        for prelude in PRELUDES.values()
    ]
    assert compiled == [1, 0, 0, 0, 0]


@pytest.mark.parametrize("code", [row.name for row in OPERATIONS.values() if row.spellings])
def test_every_function_that_is_folded_has_one_for_it(code):
    assert host_function(code).__name__ == code


def test_functions_of_math_are_known_by_their_own_names(tmp_path):
    text = "@sv.kernel\ndef k() -> sv.f64:\n    return math.cos(0.0) + len((1, 2))\ndef main():\n    return k()\n"
    prelude = "import math; math.sin = math.cos; math.extent = len"
    folder = worlds.write(tmp_path / "program", {"main.py": text})
    found = worlds.run_elsewhere({"it": (folder, tmp_path / "cache")}, prelude=prelude)
    assert found["it"]["result"] == 3.0
