"""What programs of the peers write beside the usual: each as a kernel, with its result."""

# ruff: noqa: UP031, UP032

import re
import subprocess
import sys
import warnings

import numpy as np
import pytest

import samovar as sv


def zeros(shape, dtype=np.float32):
    return np.zeros(shape, dtype)


# --- annotations


def test_annotations_without_a_call():
    @sv.func
    def shifted(a: sv.template, by: sv.i32):
        a = a + by

    @sv.kernel
    def k(x: sv.types.ndarray[sv.i32, 1], y: sv.types.ndarray, n: sv.template):
        for i in range(n):
            value = i
            shifted(value, 10)
            x[i] = y[i] = value

    x, y = zeros(3, np.int32), zeros(3)
    k(x, y, 3)
    assert x.tolist() == y.tolist() == [10, 11, 12]


def test_arrays_of_elements_of_any_length():
    @sv.kernel
    def k(a: sv.types.ndarray(element_dim=1), b: sv.types.ndarray(element_shape=(2, 2)), c: sv.types.ndarray(sv.f32, 1, 1)):
        for i in range(a.shape[0]):
            a[i] = b[i] @ a[i]
            c[i] += 1

    a, b, c = np.ones((3, 2), np.float32), np.full((3, 2, 2), 2, np.float32), sv.Vector.ndarray(4, sv.f32, 3)
    k(a, b, c)
    assert a.tolist() == [[4, 4]] * 3
    assert c.to_numpy().tolist() == [[1] * 4] * 3
    with pytest.raises(TypeError, match=r"`b`: expected elements of shape \(2, 2\), got an array of shape \(3, 2, 3\)"):
        k(a, np.ones((3, 2, 3), np.float32), c)
    with pytest.raises(TypeError, match="argument `a`: expected an array with elements of shape"):
        k(np.ones((), np.float32), b, c)
    with pytest.raises(sv.SamovarTypeError, match="element_dim must be"):
        sv.types.ndarray(element_dim=3)
    with pytest.raises(sv.SamovarTypeError, match="does not match element_shape"):
        sv.types.ndarray(element_dim=1, element_shape=(2, 2))


def test_types_of_vectors_without_a_dtype():
    vec3 = sv.types.vector(3)

    @sv.func
    def total(a: vec3, b: sv.types.vector(3)) -> vec3:
        return a + b

    @sv.kernel
    def k(p: vec3) -> sv.types.vector(3, sv.f64):
        return total(p, vec3(1, 2, 3)) + vec3.zero()

    assert k([1, 2, 3]).to_list() == [2, 4, 6]
    assert k([0.5, 2, 3]).to_list() == [1.5, 4, 6]
    assert k(np.array([0.5, 2, 3])).to_list() == [1.5, 4, 6]
    assert (vec3(1, 2, 3).dtype, vec3(1, 2, 3.5).dtype) == (sv.i32, sv.f32)
    assert str(vec3) == "vector(3)"


def test_a_parameter_without_a_gradient_takes_arrays_that_have_one():
    @sv.kernel
    def k(x: sv.types.ndarray(sv.f32, 1, needs_grad=False)):
        for i in x:
            x[i] = i

    a = sv.ndarray(sv.f32, 3, needs_grad=True)
    k(a)
    assert a.to_numpy().tolist() == [0, 1, 2]


def test_none_for_an_array():
    @sv.kernel
    def k(x: sv.types.NDArray[sv.f32, 1], y: sv.types.NDArray[sv.f32, 1]):
        for i in x:
            x[i] += 1
            if sv.static(y is not None):
                x[i] += y[i]

    x = zeros(2)
    k(x, None)
    k(x, np.full(2, 10, np.float32))
    k(x, None)
    assert x.tolist() == [13, 13]
    with pytest.raises(TypeError, match="None, passed for the array `x`"):
        k(None, x)


def test_layouts_of_tensors():
    @sv.kernel
    def k(a: sv.Tensor):
        for i, j in a:
            a[i, j] = 10 * i + j

    a = sv.tensor(sv.f32, (2, 3), layout=(1, 0))
    k(a)
    shared = a.to_numpy(copy=False)
    assert shared.strides == (4, 8)
    assert shared.tolist() == [[0, 1, 2], [10, 11, 12]]
    assert isinstance(sv.tensor(sv.f32, (2, 3), layout=(0, 1)), sv.Ndarray)
    assert sv.Vector.tensor(3, sv.f32, (2,)).element_shape == (3,)
    assert isinstance(sv.Matrix.tensor(2, 2, sv.f32, 4, backend=sv.Backend.FIELD), sv.Field)
    with pytest.raises(ValueError, match="layout must be a permutation of the 2 dimensions"):
        sv.tensor(sv.f32, (2, 3), layout=(1, 1))
    with pytest.raises(ValueError, match="contradict each other"):
        sv.tensor(sv.f32, (2, 3), order="ij", layout=(1, 0))


# --- loops


def test_axes_that_are_none():
    @sv.kernel
    def k(x: sv.types.NDArray[sv.i32, 2]):
        for i, j in sv.ndrange(2, 3, axes=None):
            x[i, j] = 10 * i + j

    x = zeros((2, 3), np.int32)
    k(x)
    assert x.tolist() == [[0, 1, 2], [10, 11, 12]]


LARGEST = 3


def test_a_loop_with_a_break_under_a_constant_condition_is_serial():
    @sv.kernel
    def k(x: sv.types.NDArray[sv.i32, 1]):
        if sv.static(True):
            for i in range(3):
                if i == 2:
                    break
                x[i] = 1
        if LARGEST > 2:
            for i in range(LARGEST):
                if x[i] == 0:
                    break
                x[i + 1] += x[i]
        for _ in sv.static(range(2)):
            for i in range(3):
                if i == 1:
                    break
                x[i] += 10

    x = zeros(4, np.int32)
    k(x)
    assert x.tolist() == [21, 2, 2, 2]


def test_a_name_of_an_unrolled_loop_is_free_for_a_run_time_loop():
    @sv.kernel
    def k(x: sv.types.NDArray[sv.i32, 1]):
        for i, n in sv.static(((0, 5), (1, 6))):
            x[i] = n
        for j in range(2):
            i = j + 2
            x[i] = 10 * i
        count = 0
        while count < 2:
            n = count
            x[count] += n
            count += 1
        for m in sv.static(()):
            x[0] = m

    x = zeros(4, np.int32)
    k(x)
    assert x.tolist() == [5, 7, 20, 30]

    @sv.kernel
    def reads_before(x: sv.types.NDArray[sv.i32, 1]):
        for i in sv.static(range(2)):
            x[i] = i
        for j in range(2):
            x[j] = i
            i = j

    with pytest.raises(sv.SamovarError, match="`i` may be unassigned here: it is only assigned in an unrolled loop"):
        reads_before(x)


# --- values


def test_dicts_with_keys_that_are_known():
    @sv.func
    def scaled(table, by):
        return table["a"] * by

    @sv.kernel
    def k(x: sv.types.NDArray[sv.f32, 1]):
        base = {"a": 1, "b": 2.5}
        for i in range(3):
            mixed = {"a": i, (1, 2): 2.5 * i, **base}
            squares = {n: n * i for n in range(3) if n != 1}
            x[i] = mixed["a"] + mixed[1, 2] + squares[2] + scaled({"a": i + 0.5}, 2) + len(squares)
            x[i] += base.get("c", 100)
            if sv.static("b" in base and "c" not in base):
                x[i] += 1000
        for key, value in sv.static({0: 5, 2: 6}.items()):
            x[key] += value
        for key in sv.static({0: 5, 2: 6}):
            x[key] += sum(base.values()) + len(base.keys())

    x = zeros(3)
    k(x)
    assert x.tolist() == [1114.5, 1110.5, 1128.5]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x = {'a': 1}['b']", "this dict has no key 'b'"),
        ("x = {'a': 1}\n    x['a'] = 2", "an element of a dict cannot be assigned"),
        ("x = {n: 1}", "the key of a dict must be known at compile time"),
        ("x = {'a': 1}.pop('a')", "its methods are get, items, keys, values"),
        ("print('%d %d' % n)", "this text requires at least 2 values, got 1"),
        ("print('%d' % (n, n))", "2 values are given, but the text has places for 1"),
        ("print('%q' % n)", "`%q` is not a valid format"),
        ("print('{} {}'.format(n))", "this text requires at least 2 values"),
        ("print('{a}'.format(n))", "this text requires a value for `a`"),
        ("print('{.x}'.format(n))", "selects a part of a value"),
        ("print('{:{}}'.format(n, 3))", "a format inside a format"),
        ("x = '{}'.format(n)", "only text in `print` and `assert`"),
        ("print('{:d}'.format(n + 0.5))", "a value of type f32 cannot be formatted with `d`"),
    ],
)
def test_messages(body, message, tmp_path):
    (tmp_path / "program.py").write_text(f"import samovar as sv\n@sv.kernel\ndef k(n: sv.i32):\n    {body}\n")
    namespace = {}
    exec(compile((tmp_path / "program.py").read_text(), str(tmp_path / "program.py"), "exec"), namespace)
    with pytest.raises(sv.SamovarError, match=re.escape(message)):
        namespace["k"](3)


def test_format_and_percent(capfd):
    @sv.kernel
    def shown(x: sv.types.NDArray[sv.f32, 1], n: sv.i32):
        print("{} and {:.2f} {a} {{}}".format(n, x[0], a=7))
        print("{1} {0} {1!r:>4}|".format(n, x[0]))
        print("x %d y %5.2f %s %% %-4d|%04d %+d %x" % (n, x[0], "s", n, n, n, 255))
        print("%d" % 2.7, "%i" % (x[0] + 1.9), "%s" % x[0], "%4s|%-4s|" % (n, n))
        print("%(a)d %(b).1f" % {"a": n, "b": x[0]}, n % 3)
        print("{}".format("a{}".format(3)) + "b" * 2)

    shown(np.array([1.5], np.float32), 7)
    x = 1.5
    assert capfd.readouterr().out.splitlines() == [
        f"7 and {x:.2f} 7 {{}}",
        f"{x} 7 {x!r:>4}|",
        "x %d y %5.2f %s %% %-4d|%04d %+d %x" % (7, x, "s", 7, 7, 7, 255),
        "2 3 1.5    7|7   |",
        "7 1.5 1",
        "a3bb",
    ]


def test_format_and_percent_in_assertions():
    @sv.kernel
    def with_format(x: sv.types.NDArray[sv.f32, 1]):
        for i in x:
            assert x[i] == i, "element {} is {:.3f}".format(i, x[i])

    @sv.kernel
    def with_percent(x: sv.types.NDArray[sv.f32, 1]):
        for i in x:
            assert x[i] == i, "element %d is %.3f" % (i, x[i])

    sv.init(debug=True)
    try:
        for kernel in (with_format, with_percent):
            with pytest.raises(AssertionError, match=r"element 0 is 1\.500"):
                kernel(np.array([1.5], np.float32))
    finally:
        sv.init()


COUNT = np.array(2)
SCALE, OFFSET = np.float32(2.5), np.int64(3)


def test_arrays_of_one_number_and_scalars_of_numpy_are_numbers():
    @sv.kernel
    def k(x: sv.types.NDArray[sv.f32, 1], n: sv.i32, f: sv.f32, t: sv.template()) -> sv.f32:
        for i in range(COUNT):
            x[i] = sv.f32(n + f + SCALE * OFFSET - (-t))
            if COUNT > 1 and t:
                x[i] += sv.max(COUNT, 1) * sv.Vector([COUNT, 1]).sum()
        return COUNT

    x = zeros(3)
    assert k(x, np.array(4), np.array(0.5), np.array(1.5)) == 2
    assert x.tolist() == [19.5, 19.5, 0]
    COUNT[...] = 1  # it is read at each launch
    assert k(x, np.int8(4), np.float64(0.5), np.float32(1.5)) == 1
    COUNT[...] = 2
    assert x.tolist() == [13.5, 19.5, 0]
    with pytest.raises(TypeError, match=r"argument `n`: expected an integer \(i32\), got an array of f64"):
        k(x, np.array(0.5), 1, 1)
    with pytest.raises(TypeError, match=r"argument `n`: expected a number \(i32\), got an array"):
        k(x, np.array([3]), 1, 1)


def test_vectors_are_filled():
    @sv.func
    def cleared(v: sv.template()):
        v.fill(0)

    @sv.kernel
    def k(a: sv.types.NDArray[sv.types.vector(3, sv.f32), 1], total: sv.types.NDArray[sv.f32, 1]):
        for i in a:
            a[i].fill(i + 1)
            v = sv.Vector([1.0, 2.0, 3.0])
            v.fill(2)
            w = sv.Matrix([[1.0, 2.0], [3.0, 4.0]])
            cleared(w)
            total[i] = v.sum() + w.sum()
        total.fill(total[0] + 1)

    a, total = sv.Vector.ndarray(3, sv.f32, 2), zeros(2)
    k(a, total)
    assert a.to_numpy().tolist() == [[1] * 3, [2] * 3]
    assert total.tolist() == [7, 7]


def test_a_condition_chooses_between_tuples():
    @sv.kernel
    def k(table: sv.types.NDArray[sv.i32, 2], x: sv.types.NDArray[sv.f32, 1]):
        for i, j in table:
            x[table[(i, j) if i > j else (j, i)]] += 1
            a, (b, v) = (i, (2.5, sv.Vector([1, 2]))) if i > 0 else (j, (1, sv.Vector([3, 4.5])))
            x[4] += a + b + v.sum()

    table, x = np.arange(4, dtype=np.int32).reshape(2, 2), zeros(5)
    k(table, x)
    assert x.tolist() == [1, 0, 2, 1, 31]

    @sv.kernel
    def uneven(x: sv.types.NDArray[sv.f32, 1]):
        x[0] = ((1, 2) if x[0] > 0 else (1, 2, 3))[0]

    with pytest.raises(TypeError, match="cannot choose between a tuple of 2 and a tuple of 3"):
        uneven(x)


def test_a_ufunc_runs_at_compile_time():
    @sv.kernel
    def k() -> sv.f32:
        return sv.static(float(np.nextafter(np.float32(3), np.float32(0))))

    assert k() == np.nextafter(np.float32(3), np.float32(0))


# --- plain functions


def doubled(x, plus: "no annotation of ours" = 1):  # noqa: F722
    if x > 1:
        return 2 * x + plus
    return x


class Shifter:
    def __init__(self, by):
        self.by = by

    def shifted(self, x):
        return x + self.by

    @staticmethod
    def tripled(x):
        return 3 * x

    @classmethod
    def negated(cls, x):
        return -x


shifter = Shifter(10)


def test_plain_functions_are_compiled_with_a_warning():
    @sv.kernel
    def k(x: sv.types.NDArray[sv.f32, 1]):
        for i in x:
            x[i] = doubled(i) + 100 * shifter.shifted(i) + Shifter.tripled(i) + shifter.negated(1) + doubled(1, plus=5)

    x = zeros(3)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        k(x)
        k(x)
    names = sorted(str(each.message).split("`")[1] for each in given)
    assert names == ["Shifter.tripled", "doubled", "shifter.negated", "shifter.shifted"]
    assert x.tolist() == [1000, 1104, 1211]
    shifter.by = 20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        k(x)
        shifter.by = 10
        assert x.tolist() == [2000, 2104, 2211]


def test_a_plain_method_of_an_object_with_kernels():
    @sv.data_oriented
    class Solver:
        def __init__(self, factor):
            self.factor = factor

        def scaled(self, x):
            return self.factor * x

        @sv.kernel
        def k(self, x: sv.types.NDArray[sv.f32, 1]):
            for i in x:
                x[i] = self.scaled(i)

    x, y = zeros(3), zeros(3)
    solver = Solver(2)
    with pytest.warns(sv.SamovarWarning, match=r"`self\.scaled` is a plain Python function"):
        solver.k(x)
    solver.factor = 3
    solver.k(y)
    assert (x.tolist(), y.tolist()) == ([0, 2, 4], [0, 3, 6])


PROGRAM = """
import warnings
import numpy as np
import samovar as sv
from helper import plain

@sv.kernel(fastcache=True)
def k(x: sv.types.NDArray[sv.f32, 1]):
    for i in x:
        x[i] = plain(i)

x = np.zeros(3, np.float32)
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    k(x)
print(x.tolist())
assert len(given) == 1
def plain(i):
    return -i
k(x)
print(x.tolist())
"""


def test_an_edited_plain_function_is_compiled_again(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    seen = []
    for body in ("i + 1", "i + 1", "i + 2"):
        (tmp_path / "helper.py").write_text(f"def plain(i, unused=None):\n    return {body}\n")
        command = [sys.executable, "-B", "program.py"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        seen.append(done.stdout.splitlines())
    assert seen == [["[1.0, 2.0, 3.0]", "[0.0, -1.0, -2.0]"]] * 2 + [["[2.0, 3.0, 4.0]", "[0.0, -1.0, -2.0]"]]


def test_defaults_of_funcs_are_no_captured_values():
    @sv.func
    def added(x, y=None, z=2.0):
        return x + z if sv.static(y is None) else x

    @sv.kernel(fastcache=True)
    def k() -> sv.f32:
        return added(1)

    assert k() == 3


def test_a_quotient_in_an_element_that_is_an_integer():
    @sv.kernel
    def k(a: sv.types.NDArray[sv.i32, 1]):
        for i in a:
            a[i] /= 2

    a = np.array([9, 7, -3], np.int32)
    with pytest.warns(sv.SamovarWarning, match="`a.i.` is i32: storing f32 loses its fraction"):
        k(a)
    assert a.tolist() == [4, 3, -1]


def test_wrong_numbers_of_indices_and_entries_on_the_host():
    with pytest.raises(sv.SamovarAxesError, match="1 index for an array of rank 2"):
        sv.ndarray(sv.i32, (2, 2))[1]

    @sv.kernel
    def k(v: sv.types.vector(2, sv.i32)) -> sv.i32:
        return v.sum()

    with pytest.raises(sv.SamovarRuntimeTypeError, match=r"`v\[0\]` must be an integer"):
        k([1.5, 2])


@pytest.mark.parametrize("arch", [sv.cpu, sv.python])
def test_the_shape_of_elements_is_an_attribute_that_can_be_called(arch):
    sv.init(arch=arch)

    @sv.kernel
    def k(a: sv.types.ndarray(dtype=sv.math.vec2, ndim=1), b: sv.template(), out: sv.types.NDArray[sv.i32, 1]):
        if sv.static(a.element_shape() == [2]):
            out[0] = 1
        if sv.static(a.element_shape() == (2,)):
            out[1] = 1
        if sv.static(a.element_shape == (2,)):
            out[2] = 1
        if sv.static(a.element_shape() != [3]):
            out[3] = 1
        if sv.static(b.element_shape() == [3, 2]):
            out[4] = a.element_shape()[0]

    out = zeros(5, np.int32)
    k(zeros((4, 2)), sv.Matrix.field(3, 2, sv.f32, 4), out)
    assert out.tolist() == [1, 1, 1, 1, 2]
