"""What a task is handed: its bounds, arrays and numbers, by how many there are and of which kinds."""

import importlib.util

import numpy as np
import pytest

import samovar as sv

#: More arrays than there are registers for arguments.
MOST_ARRAYS = 9
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]


def kernel_from(tmp_path, parameters, begin, expression):
    """A kernel that writes an expression of `i` to the array `out`."""
    path = tmp_path / "task.py"
    declared = "".join(f", {name}: {annotation}" for name, annotation in parameters.items())
    path.write_text(
        "import samovar as sv\n\n@sv.kernel\n"
        f"def k(out: sv.types.NDArray[sv.f64, 1]{declared}):\n"
        f"    for i in range({begin}, out.shape[0]):\n        out[i] = {expression}\n"
    )
    spec = importlib.util.spec_from_file_location("task", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.k


@pytest.mark.parametrize("count", range(MOST_ARRAYS + 1))
@pytest.mark.parametrize("begin", [0, 3])
def test_any_number_of_arrays(tmp_path, count, begin):
    names = [f"a{number}" for number in range(count)]
    kinds = ["f64", "f32", "i32"]
    parameters = {name: f"sv.types.NDArray[sv.{kinds[k % 3]}, 1]" for k, name in enumerate(names)}
    terms = [f"{k + 1} * {name}[i]" for k, name in enumerate(names)]
    kernel = kernel_from(tmp_path, parameters, begin, " + ".join(["7.5", *terms]))
    for size in (0, 1, begin, begin + 1, 37, 100_003):
        random = np.random.default_rng(size)
        types = [np.float64, np.float32, np.int32]
        arrays = [random.integers(-50, 50, size).astype(types[k % 3]) for k in range(count)]
        out, expected = np.zeros(size), np.zeros(size)
        kernel(out, *arrays)
        expected[begin:] = 7.5 + sum((k + 1) * array[begin:].astype(np.float64) for k, array in enumerate(arrays))
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("name", INTEGERS)
def test_every_integer(tmp_path, name):
    kernel = kernel_from(tmp_path, {"n": f"sv.{name}", "m": "sv.i32"}, 1, "sv.cast(n, sv.f64) - m")
    info = np.iinfo({"i": "int", "u": "uint"}[name[0]] + name[1:])
    for value in (0, 1, int(info.min), int(info.max), 100):
        out = np.zeros(1000)
        kernel(out, value, -7)
        np.testing.assert_array_equal(out[1:], float(value) + 7.0)
        assert out[0] == 0


def test_floats_and_truth_values(tmp_path):
    kernel = kernel_from(tmp_path, {"x": "sv.f32", "yes": "sv.u1", "n": "sv.i32"}, 0, "(x if yes else -x) + n")
    for yes in (True, False):
        out = np.zeros(500)
        kernel(out, 2.5, yes, 4)
        np.testing.assert_array_equal(out, 6.5 if yes else 1.5)


def test_several_tasks_in_one_kernel():
    @sv.kernel
    def k(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f64, 1], n: sv.i32):
        for i in range(2, a.shape[0]):
            a[i] = n
        for i in b:
            b[i] = b[i] + 1
        for i in range(a.shape[0] - 1):
            a[i] += 1

    a, b = np.zeros(300, np.float32), np.arange(500.0)
    k(a, b, -4)
    expected = np.where(np.arange(300) < 2, 0, -4) + (np.arange(300) < 299)
    np.testing.assert_array_equal(a, expected)
    np.testing.assert_array_equal(b, np.arange(500.0) + 1)
