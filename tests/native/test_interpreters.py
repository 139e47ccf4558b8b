"""Samovar belongs to the main interpreter: any other one is refused, whoever comes first."""

import subprocess
import sys

import pytest

pytest.importorskip("_testcapi")

ELSEWHERE = """
import _testcapi, sys

refused = '''
try:
    import samovar as sv
    sv.ndarray(sv.f32, 4)
except ImportError as error:
    print("refused:", "subinterpreters" in str(error), flush=True)
'''
"""
HERE = "import samovar as sv; print(sv.ndarray(sv.f32, 4).shape, flush=True)\n"
OTHER = "assert _testcapi.run_in_subinterp(refused) == 0\n"


@pytest.mark.parametrize("first", ["main", "other"])
def test_only_the_main_interpreter_is_served(first):
    steps = [HERE, OTHER] if first == "main" else [OTHER, HERE, OTHER]
    done = subprocess.run([sys.executable, "-c", ELSEWHERE + "".join(steps)], capture_output=True, text=True, timeout=60)
    expected = {HERE: "(4,)", OTHER: "refused: True"}
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [expected[step] for step in steps]
