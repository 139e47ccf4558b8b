"""The code object stands for the text: where two texts have one fingerprint, they compile to one kernel.

Bytecode forgets things that a syntax tree has. Each pair differs in the text only, or in something that Python drops; if the
fingerprints agree, then so must the IR, or both compiles must have asked for the text itself. One alone would not do: what
the other one left in the cache would be found without asking.
"""

import importlib.util
import itertools

import pytest

import samovar as sv
from samovar._native import code_fingerprint
from samovar.compiler.driver import inspect_kernel
from samovar.errors import SamovarError
from samovar.language.options import Options
from samovar.lens import Lens

HEADER = """
import math
import samovar as sv
from samovar import static
N = 3
@sv.kernel
def k(a: sv.types.NDArray[sv.f32, 1], n: sv.i32) -> sv.f32:
"""

GROUPS = {
    "literal powers": ["return n + 2**3", "return n + 8"],
    "large literals": ["return 2**31 + n", "return 2147483648 + n"],
    "literal quotients": ["return n * (1 / 4)", "return n * 0.25"],
    "floor division of literals": ["return n * (7 // 2)", "return n * 3"],
    "signs": ["return n + -1", "return n + (-1)"],
    "parentheses": ["return (n + 1) * 2", "return ((n + 1)) * (2)"],
    "a branch that is never taken": [
        "x = 2\n    return x + n",
        "if False:\n        x = 1.5\n    x = 2\n    return x + n",
        "if 0:\n        x = 1.5\n    x = 2\n    return x + n",
    ],
    "a branch that is always taken": ["x = 2\n    return x + n", "if True:\n        x = 2\n    return x + n"],
    "a loop that never runs": ["x = 2\n    return x + n", "while False:\n        x = 1.5\n    x = 2\n    return x + n"],
    "what follows a return": ["return n + 1", "return n + 1\n    x = 1.5\n    return x"],
    "conditional literals": ["return 1 if True else 2.5", "return 1"],
    "a constant statement": ["return n + 1", "3\n    return n + 1", "'text'\n    return n + 1", "...\n    return n + 1"],
    "pass": ["return n + 1", "pass\n    return n + 1"],
    "tuples as an index": ["return a[n]", "return a[(n)]"],
    "an annotated local": ["x = 0\n    x += n\n    return x", "x: sv.f64 = 0\n    x += n\n    return x"],
    "an annotation without a value": ["x = 0\n    return x + n", "x: sv.f64\n    x = 0\n    return x + n"],
    "assert with a constant": ["return n + 1", "assert True\n    return n + 1"],
    "negated comparisons": ["return a[n] if not (n == 1) else 0.0", "return a[n] if n != 1 else 0.0"],
    "boolean literals": ["return n + (not False)", "return n + True"],
    "string pieces": ["print('a' 'b', n)\n    return n", "print('ab', n)\n    return n"],
    "debug": ["if __debug__:\n        x = 2\n    return x + n", "x = 2\n    return x + n"],
    "a result that is chosen": [
        "return 16777217 if n else 2.5",
        "if n: return 16777217\n    return 2.5",
        "if n:\n        return 16777217\n    else:\n        return 2.5",
    ],
    "a local that is chosen": [
        "x = 1 if n else 2.5\n    return x",
        "if n: x = 1\n    else: x = 2.5\n    return x",
        "if n:\n        x = 1\n        return x\n    x = 2.5\n    return x",
    ],
    "a loop that ends at once": [
        "for i in range(4):\n        a[i] += 1\n    return n",
        "while True:\n        for i in range(4):\n            a[i] += 1\n        break\n    return n",
        "while 1:\n        for i in range(4):\n            a[i] += 1\n        return n",
        "if 1:\n        for i in range(4):\n            a[i] += 1\n        return n",
    ],
    "a list or a tuple": [
        "for i in (1, 2):\n        a[i] = 1\n    return n",
        "for i in [1, 2]:\n        a[i] = 1\n    return n",
    ],
    "an annotated element": ["a[n] = 2\n    return n", "a[n]: sv.i32 = 2\n    return n"],
    "an annotation of nothing": [
        "return a[n]",
        "x: sv.f64\n    return a[n]",
        "a; n\n    return a[n]",
        "a[n]: sv.i32\n    return a[n]",
    ],
    "names that are declared and only read": ["return n + N", "global N\n    return n + N"],
    "an inverted truth": ["return n + ~True", "return n + -2", "return n + ~False", "return n + -1"],
    "repeated tuples": [
        "return n + len((1, 1, 1))",
        "return n + len((1,) * 3)",
        "return n + len(3 * (1,))",
        "return n + len((1,) + (1, 1))",
    ],
    "formatted text": ["return n + len(f'{N!s}x')", "return n + len('%sx' % (N,))"],
    "a loop with an else": [
        "for i in range(4):\n        a[i] += 1\n    a[0] = 2\n    return n",
        "for i in range(4):\n        a[i] += 1\n    else:\n        a[0] = 2\n    return n",
    ],
    "loop forms": [
        "for i in range(4):\n        a[i] += 1\n    return n",
        "for i in range(2 + 2):\n        a[i] += 1\n    return n",
    ],
}


def written(folder, body):
    """The kernel with a body, in a file of its own."""
    folder.mkdir()
    path = folder / "written.py"
    path.write_text(f"{HEADER}    {body}\n")
    spec = importlib.util.spec_from_file_location("written", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.k


def compiled(folder, body):
    kernel = written(folder, body)
    function = kernel.__wrapped__
    lens = Lens(function, {"a": sv.ndarray(sv.f32, 8), "n": 3}, kernel.state.signature, Options(log_level="error"))
    try:
        text = inspect_kernel(lens, "ir")
    except SamovarError:
        text = "refused"
    trees = [asked.answer[2] for asked in lens.trace if asked.question == "source"]
    return code_fingerprint(function.__code__), text, trees


@pytest.mark.parametrize("group", GROUPS)
def test_one_fingerprint_one_kernel(tmp_path, group):
    results = [compiled(tmp_path / str(number), body) for number, body in enumerate(GROUPS[group])]
    for (first, first_ir, first_text), (second, second_ir, second_text) in itertools.combinations(results, 2):
        if first == second:
            assert bool(first_text) == bool(second_text)
            if first_text == second_text:
                assert first_ir == second_ir


#: The same bytecode in some versions of Python, and IR of another shape: what it computes has to be the same.
SHAPES = {
    "the end of a loop": [
        "for i in range(4):\n        a[i] = n\n    return a[3]",
        "for i in range(4):\n        a[i] = n\n        continue\n    return a[3]",
        "for i in range(4):\n        a[i] = n\n        continue\n        a[i] = 2\n    return a[3]",
    ],
    "and": [
        "x = 0\n    if n > 1 and n < 5:\n        x = 1\n    return x",
        "x = 0\n    if n > 1:\n        if n < 5:\n            x = 1\n    return x",
    ],
    "not": [
        "x = 0\n    if not n > 1:\n        x = 1\n    else:\n        x = 2\n    return x",
        "x = 0\n    if n > 1:\n        x = 2\n    else:\n        x = 1\n    return x",
    ],
}


@pytest.mark.parametrize("group", SHAPES)
def test_one_fingerprint_one_meaning(tmp_path, group):
    kernels = [written(tmp_path / str(number), body) for number, body in enumerate(SHAPES[group])]
    a = sv.ndarray(sv.f32, 8)
    assert len({tuple(kernel(a, n) for n in range(-2, 8)) for kernel in kernels}) == 1
