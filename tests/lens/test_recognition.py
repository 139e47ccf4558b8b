"""What is recognized at sight is what the questions find out."""

import subprocess
import sys

import pytest

import samovar as sv
from samovar.lens import Kind, kind
from samovar.lens.questions import intrinsic
from samovar.lens.recognition import EXACT_KINDS, unloaded_intrinsic


@pytest.mark.parametrize("module", [sv, sv.math, sv.types, sv.graph, sv.simt])
def test_an_intrinsic_that_is_not_loaded_is_what_it_is_when_it_is_loaded(module):
    names = [*dir(module), "Matrix", "abs", "sin", "vec2", "missing"]
    named = {name: unloaded_intrinsic(module.__name__, name) for name in names}
    for name, canonical in named.items():
        if canonical is not None:
            assert intrinsic(getattr(module, name)) == canonical
    known = [name for name, canonical in named.items() if canonical is not None]
    assert len(known) > 50 or module not in (sv, sv.math)


def test_what_is_asked_about_is_not_loaded_by_who_finds_the_kernel_in_the_cache(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nimport samovar as sv\n"
        "@sv.kernel\n"
        "def f(a: sv.types.NDArray[sv.f32, 1]):\n"
        "    for i in a:\n"
        "        m = sv.Matrix.identity(sv.f32, 2)\n"
        "        a[i] = sv.sin(a[i]) + m[0, 1] + sv.math.mix(a[i], 1.0, 0.5)\n"
        f"sv.init(offline_cache_file_path={str(tmp_path / 'cache')!r})\n"
        "f(sv.ndarray(sv.f32, 4))\n"
        "print(sv.compile_count(), 'samovar.language.functions' in sys.modules, *vars(sv), *vars(sv.math))\n"
    )
    said = [
        subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(2)
    ]
    assert said[0][:2] == ["1", "True"]
    assert said[1][:2] == ["0", "False"]
    assert not {"Matrix", "sin", "mix"} & {*said[1]}


def test_classes_are_of_their_kinds():
    for cls, found in EXACT_KINDS:
        if cls in (int, float, bool, str, tuple, list, dict):
            assert kind(cls()) is found
    assert kind(sv.ndarray(sv.f32, 2)) is Kind.TENSOR
