"""Masked arrays of NumPy are refused, wherever a kernel finds one: their mask would be ignored."""

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

import samovar as sv


def masked():
    return np.ma.array([1, 2, 3], mask=[0, 1, 0], dtype=np.float32)


@dataclasses.dataclass
class State:
    x: sv.types.NDArray[sv.f32, 1]


@sv.data_oriented
class Solver:
    def __init__(self):
        self.x = masked()
        self.y = np.zeros(3, np.float32)

    @sv.kernel
    def run(self):
        for i in self.x:
            self.x[i] = 1

    @sv.kernel
    def run_without_it(self):
        for i in self.y:
            self.y[i] = 1


@sv.kernel
def on_array(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] = 1


@sv.kernel
def on_template(a: sv.Template):
    for i in a:
        a[i] = 1


@sv.kernel
def on_field(state: State):
    for i in state.x:
        state.x[i] = 1


@sv.kernel
def on_number(n: sv.f32) -> sv.f32:
    return n


captured = masked()


@sv.kernel
def on_captured():
    for i in captured:
        captured[i] = 1


LAUNCHES = {
    "argument `a`": lambda: on_array(masked()),
    "a: ": lambda: on_template(masked()),
    "state.x: ": lambda: on_field(State(masked())),
    "self.x: ": lambda: Solver().run(),
    "global captured: ": lambda: on_captured(),
}


@pytest.mark.parametrize("where", LAUNCHES)
def test_a_masked_array_is_refused_with_advice(where):
    with pytest.raises(sv.SamovarTypeError, match="kernels ignore masks") as caught:
        LAUNCHES[where]()
    assert where in str(caught.value)
    assert "pass a.filled(value), or a.data" in str(caught.value)


def test_the_argument_is_named_also_where_code_is_there_already():
    on_number(1.0)
    with pytest.raises(sv.SamovarTypeError, match=r"on_number\(\): argument `n`: a kernel cannot use this MaskedArray"):
        on_number(masked())


def test_what_is_advised_works():
    on_array(masked().filled(0))
    array = masked()
    on_array(array.data)
    assert array.data.tolist() == [1, 1, 1]


def test_a_masked_array_that_is_not_read_does_no_harm():
    solver = Solver()
    solver.run_without_it()
    assert solver.y.tolist() == [1, 1, 1]


def test_it_is_no_array_for_from_numpy():
    with pytest.raises(TypeError, match="kernels ignore masks"):
        sv.from_numpy(masked())


def test_code_that_another_process_compiled_for_plain_arrays_is_not_used_for_masked_ones(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\nimport numpy as np\nimport samovar as sv\n"
        f"sv.init(offline_cache_file_path={str(tmp_path / 'cache')!r})\n"
        "@sv.kernel\ndef k(a: sv.Template):\n    for i in a:\n        a[i] = 1\n"
        "a = np.zeros(3, np.float32)\n"
        "try:\n    k(np.ma.array(a) if len(sys.argv) > 1 else a)\nexcept sv.SamovarTypeError as error:\n    print(error)\n"
    )
    for arguments, expected in (((), ""), (("masked",), "a: a kernel cannot use this MaskedArray")):
        done = subprocess.run([sys.executable, str(program), *arguments], capture_output=True, text=True, check=True)
        assert done.stdout.startswith(expected)
        assert bool(done.stdout) == bool(expected)


def test_a_launch_for_plain_arrays_is_none_for_masked_ones():
    on_array(np.zeros(3, np.float32))
    with pytest.raises(sv.SamovarTypeError, match="kernels ignore masks"):
        on_array(masked())
    with pytest.raises(TypeError, match="kernels ignore masks"):
        sv.ndarray(sv.f32, 3).copy_from(masked())


def test_an_array_of_the_users_with_that_name_is_taken():
    class MaskedArray(np.ndarray):
        pass

    array = np.zeros(3, np.float32).view(MaskedArray)
    on_array(array)
    assert array.tolist() == [1, 1, 1]
