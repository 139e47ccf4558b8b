"""Parameters without annotations: arguments decide the types, and a change of any inferred fact makes another
specialization, between two launches and between two processes."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import samovar as sv

#: A program with one kernel per inferred fact. Each is called with two arguments, between which the fact changes.
PROGRAM = '''
import dataclasses, sys
import numpy as np
import samovar as sv

@sv.func
def square(x):
    return x * x

@sv.func
def cube(x):
    return x * x * x

@dataclasses.dataclass
class One:
    gain: float
    a: np.ndarray

@dataclasses.dataclass
class Other:
    gain: int
    a: np.ndarray

pair, triple = sv.types.struct(x=sv.f32, y=sv.f32), sv.types.struct(x=sv.f64, y=sv.f64)
grid = np.arange(12.0).reshape(3, 4)

KERNELS, CASES = {}, {}

def case(first, second, expected):
    def add(function):
        KERNELS[function.__name__] = sv.kernel(function)
        CASES[function.__name__] = (first, second), expected
    return add

@case(3, 3.5, (6, 7.0))
def an_int_becomes_a_float(x):
    return x + x

@case(True, 5, (3, 15))
def a_bool_becomes_an_int(x):
    return x * 3

@case(np.float32(0.1), 0.1, (float(np.float32(0.1)), 0.1))
def a_numpy_float_becomes_a_float(x):
    return x

@case(np.int8(100), 100, (-56, 200))
def a_numpy_int_becomes_an_int(x):
    return x + x

@case(100, np.uint8(200), (200, 144))
def an_int_becomes_a_numpy_int(x):
    return x + x

@case(np.float64(0.1), np.float32(0.1), (0.1, float(np.float32(0.1))))
def a_wide_number_becomes_a_narrow_one(x):
    return x

@case(1, None, (2, -1))
def a_number_becomes_none(x):
    if sv.static(x is None):
        return -1
    return x + 1

@case(None, grid[0], (-1, 6.0))
def none_becomes_an_array(x):
    total = 0.0
    if sv.static(x is None):
        return -1
    for i in range(x.shape[0]):
        total += x[i]
    return total

@case(np.full(3, 0.1, np.float32), np.full(3, 0.1), (float(np.float32(0.1)), 0.1))
def single_precision_becomes_double(x):
    return x[1] * 1.0

@case(np.full(3, 0.1), np.full(3, 7, np.int32), (0.1, 7))
def an_array_of_floats_becomes_one_of_ints(x):
    return x[1]

@case(grid[0], grid, (6.0, 66.0))
def one_dimension_becomes_two(x):
    total = 0.0
    for i in sv.grouped(x):
        total += x[i]
    return total

@case(grid[1], grid[:, 1], (22.0, 15.0))
def contiguous_becomes_strided(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    return total

@case(square, cube, (9.0, 27.0))
def another_function(f):
    return f(3.0)

@case("sum", "product", (5, 6))
def another_string(mode):
    return 2 + 3 if sv.static(mode == "sum") else 2 * 3

@case((1, 2), (1, 2, 3), (3, 6))
def another_tuple(shape):
    total = 0
    for each in sv.static(shape):
        total += each
    return total

@case((1, 2), (1, 2.5), (3, 3.5))
def an_item_of_another_type(pair):
    return pair[0] + pair[1]

@case(sv.Vector([0.1, 0.2], sv.f32), sv.Vector([0.1, 0.2], sv.f64), (float(np.float32(0.1)), 0.1))
def a_vector_of_another_type(v):
    return v[0]

@case(sv.Vector([1, 2]), sv.Vector([1, 2, 3]), (3, 6))
def a_vector_of_another_length(v):
    return v.sum()

@case(pair(0.1, 1.0), triple(0.1, 1.0), (float(np.float32(0.1)), 0.1))
def another_struct(s):
    return s.x

@case(One(0.5, grid[0]), Other(2, grid[1]), (0.5, 10.0))
def another_class(p):
    return p.gain * p.a[1]

@case(sv.f32, sv.i32, (1.5, 1))
def another_dtype(kind):
    return sv.cast(1.5, kind)

'''

CHILD = (
    PROGRAM
    + '''
for name, (arguments, expected) in CASES.items():
    for position in map(int, sys.argv[1]):
        kernel = KERNELS[name]
        found = kernel(arguments[position])
        fresh = not kernel.cache_observations.cache_loaded
        assert found == expected[position] and type(found) is type(expected[position]), (name, position, found)
        print(name, position, int(fresh))
    assert len(kernel.specializations) == len(set(sys.argv[1])), name
'''
)


def run(directory, positions):
    program = directory / "program.py"
    program.write_text(CHILD)
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(directory / "cache")}
    command = [sys.executable, str(program), positions]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = (line.split() for line in done.stdout.splitlines())
    return {(name, int(position)): int(fresh) for name, position, fresh in rows}


def test_a_changed_fact_is_another_specialization_in_the_next_process(tmp_path):
    assert set(run(tmp_path, "0").values()) == {1}
    second = run(tmp_path, "10")
    assert {fresh for (_, position), fresh in second.items() if position == 0} == {0}  # warm
    assert {fresh for (_, position), fresh in second.items() if position == 1} == {1}
    assert set(run(tmp_path, "0110").values()) == {0}


def test_a_changed_fact_is_another_specialization_at_the_next_launch(tmp_path):
    found = run(tmp_path, "01")
    assert set(found.values()) == {1}


@sv.kernel
def axpy(a, x, y):
    for i in range(x.shape[0]):
        y[i] += a * x[i] * 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_python_float_has_the_precision_of_the_arrays(dtype):
    x, y = np.full(5, 3, dtype), np.zeros(5, dtype)
    axpy(0.1, x, y)
    assert (y == dtype(0.1) * dtype(3) * dtype(0.5)).all()
    assert ("f64" in axpy.inspect("ir")) == (dtype is np.float64)


class Body:
    def __init__(self, dtype):
        self.x = np.full(4, 0.5, dtype)

    @sv.kernel
    def moved(self, by):
        for i in range(self.x.shape[0]):
            self.x[i] += by / 3
        return by / 3


def test_arrays_of_objects_count_as_well():
    body = sv.data_oriented(Body)
    assert body(np.float64).moved(1) == 1 / 3
    assert body(np.float32).moved(1) == np.float32(1) / np.float32(3)


@sv.kernel
def quotient(a, b=3, *, scale=1.0):
    return scale * a / b


def test_other_numbers_of_one_type_compile_nothing():
    before = len(quotient.specializations)
    assert quotient(2**31, 2) == 2.0**30
    assert quotient(2**40, 2) == 2.0**39
    assert len(quotient.specializations) <= before + 1


def test_alone_python_numbers_are_as_wide_as_in_python():
    assert quotient(1) == 1 / 3
    assert quotient(1, b=7.0, scale=np.float32(2)) == pytest.approx(2 / 7)
    assert quotient(2**60, 1) == 2.0**60
    with pytest.raises(OverflowError, match="`a`: 9223372036854775808 does not fit in i64"):
        quotient(2**63)


@sv.kernel(serial=True)
def triangle(x, n):
    total = 0
    for i in range(n):
        total += i * i
    return total + x.shape[0] ** 6


def test_indices_and_lengths_do_not_wrap_at_32_bits():
    n = 70_000
    assert triangle(np.zeros(100), n) == sum(i * i for i in range(n)) + 100**6


@sv.kernel
def shifted(x, by: sv.i32, out: sv.Array[sv.f32, 1]):
    for i in range(x.shape[0]):
        out[i] = x[i] + by


def test_some_parameters_may_have_annotations():
    out = np.zeros(3, np.float32)
    shifted(np.ones(3, np.float32), 2, out)
    assert out.tolist() == [3, 3, 3]
    with pytest.raises(sv.SamovarTypeError, match="argument `by`: expected an integer"):
        shifted(np.ones(3, np.float32), 2.5, out)
    with pytest.raises(sv.SamovarTypeError, match="argument `out`: expected elements of type f32"):
        shifted(np.ones(3, np.float32), 2, np.zeros(3))


@sv.kernel
def narrow(x, out):
    for i in range(x.shape[0]):
        out[i] = x[i] + 1


def test_a_literal_does_not_widen_what_it_is_added_to():
    for dtype in (np.int32, np.uint32, np.int64, np.uint64, np.float32):
        x, out = np.full(3, 5, dtype), np.zeros(3, dtype)
        narrow(x, out)
        assert out.tolist() == [6, 6, 6]
        dtypes = re.findall(r": (\w+) = %\d+ \+ 1", narrow.inspect("ir"))
        assert dtypes == [{"i": "i", "u": "u", "f": "f"}[np.dtype(dtype).kind] + str(8 * np.dtype(dtype).itemsize)]


def test_arrays_of_every_library_are_accepted():
    torch = pytest.importorskip("torch")
    out = torch.zeros(3)
    narrow(torch.ones(3), out)
    assert out.tolist() == [2, 2, 2]
    ours = sv.zeros(3, sv.f32)
    narrow(sv.ones(3, sv.f32), ours)
    assert ours.to_numpy().tolist() == [2, 2, 2]


def test_without_a_compiler_it_is_plain_python():
    sv.init(arch=sv.python)
    try:
        assert quotient(1) == 1 / 3
        x, y = np.ones(3), np.zeros(3)
        axpy(2.0, x, y)
        assert y.tolist() == [1, 1, 1]
    finally:
        sv.reset()


@dataclasses.dataclass
class Weights:
    gain: float
    offset: int


@sv.kernel
def weighted(w, x):
    return w.gain * x + w.offset


def test_numbers_of_a_dataclass_are_read_at_each_launch():
    before = None
    for gain in (0.5, 0.25, 0.125):
        assert weighted(Weights(gain, 3), 2.0) == gain * 2 + 3
        before = before or len(weighted.specializations)
        assert len(weighted.specializations) == before


def test_a_signature_stays_as_written():
    assert str(inspect.signature(quotient)) == "(a, b=3, *, scale=1.0)"


@sv.kernel(serial=True)
def takes_indices_for_elements(a):
    total = 0.0
    for x in a:
        total += x
    return total


@sv.kernel(serial=True)
def counts_and_reads(a):
    total = 0.0
    for _unused in a:
        total += 1
    for i in a:
        total += a[i] * i
    return total


def test_indices_taken_for_elements_are_reported():
    with pytest.warns(sv.SamovarWarning, match=r"`for x in a` gives the indices"):
        takes_indices_for_elements(np.arange(1.0, 4.0))
    assert counts_and_reads(np.arange(1.0, 4.0)) == 3 + 8
