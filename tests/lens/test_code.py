"""The fingerprint of code: what changes it, and what does not."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar._native import code_fingerprint


def code(text, name="f"):
    space = {}
    exec(compile(text, "<case>", "exec"), space)
    return space[name].__code__


def fingerprint(text, locations=False):
    return code_fingerprint(code(text), locations)


SAME = {
    "a comment": ("def f(x):\n    return x + 1\n", "def f(x):\n    # why\n    return x + 1\n"),
    "its place": ("def f(x):\n    return x + 1\n", "\n\n\ndef f(x): return x + 1\n"),
    "the docstring": ('def f(x):\n    "one"\n    return x\n', 'def f(x):\n    "two"\n    return x\n'),
    "a folded expression": ("def f():\n    return 2**31\n", "def f():\n    return 2147483648\n"),
    "the order of a set": ("def f(x):\n    return x in {1, 'a', 2.5}\n", "def f(x):\n    return x in {2.5, 'a', 1}\n"),
}

DIFFERENT = {
    "a constant": ("def f():\n    return 1\n", "def f():\n    return 2\n"),
    "the type of a constant": ("def f():\n    return 1\n", "def f():\n    return 1.0\n"),
    "bool and int": ("def f():\n    return (True, 0)\n", "def f():\n    return (1, 0)\n"),
    "the sign of zero": ("def f():\n    return 0.0\n", "def f():\n    return -0.0\n"),
    "one and one": ("def f():\n    return (1, 1.0)\n", "def f():\n    return (1.0, 1)\n"),
    "a name": ("def f():\n    return a\n", "def f():\n    return b\n"),
    "an attribute": ("def f(x):\n    return x.a\n", "def f(x):\n    return x.b\n"),
    "an operator": ("def f(x):\n    return x + x\n", "def f(x):\n    return x - x\n"),
    "a parameter": ("def f(x):\n    return 1\n", "def f(y):\n    return 1\n"),
    "keyword only": ("def f(x, y):\n    return 1\n", "def f(x, *, y):\n    return 1\n"),
    "a docstring that is used": (
        'def f():\n    "one"\n    print("one")\n',
        'def f():\n    "two"\n    print("two")\n',
    ),
    "the constant of an inner function": (
        "def f():\n    return [1 for _ in ()], (lambda: 1)\n",
        "def f():\n    return [1 for _ in ()], (lambda: 2)\n",
    ),
    "a free variable": (
        "def f():\n    return x\n",
        "def g(x):\n    def f():\n        return x\n    return f\nf = g(1)\n",
    ),
}


@pytest.mark.parametrize("case", SAME)
def test_it_does_not_depend_on(case):
    first, second = SAME[case]
    assert fingerprint(first) == fingerprint(second)


@pytest.mark.parametrize("case", DIFFERENT)
def test_it_depends_on(case):
    first, second = DIFFERENT[case]
    assert fingerprint(first) != fingerprint(second)


def test_with_locations_the_place_counts():
    first, second = SAME["a comment"]
    assert fingerprint(first, True) != fingerprint(second, True)


def test_running_does_not_change_it():
    function = {}
    exec("def f(x):\n    t = 0\n    for i in range(x):\n        t += i\n    return t\n", function)
    before = code_fingerprint(function["f"].__code__)
    for _ in range(200):
        function["f"](100)
    assert code_fingerprint(function["f"].__code__) == before


def test_it_is_the_same_in_every_process():
    text = "def f(x):\n    'doc'\n    return x in {1, 'a', (2.5, None)}, {'k': b'v'}, 10**30, ..., 1j\n"
    program = (
        "from samovar._native import code_fingerprint\n"
        f"s = {{}}\nexec(compile({text!r}, '<case>', 'exec'), s)\nprint(code_fingerprint(s['f'].__code__))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1


simple = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=5))
constants = st.recursive(simple, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5)


def same(first, second):
    """Equal in type and bits, all the way down."""
    if type(first) is not type(second):
        return False
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return first.hex() == second.hex() if isinstance(first, float) else first == second


@given(constants, constants)
def test_two_constants_have_one_fingerprint_only_if_they_are_the_same(first, second):
    one = code("def f():\n    return 0\n").replace(co_consts=(None, first))
    two = one.replace(co_consts=(None, second))
    assert (code_fingerprint(one) == code_fingerprint(two)) == same(first, second)
