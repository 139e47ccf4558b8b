"""Small arrays of NumPy that a kernel captures are computed with at compile time where all of their elements are asked for,
and what they hold is compared before each launch and in each process."""

import os
import subprocess
import sys

import numpy as np
import pytest

import samovar as sv

out = sv.field(sv.i64, 16)
cube = np.array([3, 4, 3])
table = np.arange(6).reshape(2, 3)
large = np.arange(1000)
weights = np.array([0.5, 1.5], np.float32)
several = (np.array([1, 2]), np.array([3]))


@pytest.fixture(autouse=True)
def _as_before():
    before = cube.copy()
    out.fill(0)
    yield
    cube[:] = before


def found(kernel, count=1, *arguments):
    out.fill(0)
    kernel(*arguments)
    return out.to_numpy()[:count].tolist()


@sv.kernel
def cells():
    for _ in sv.grouped(sv.ndrange(*(cube - 1))):
        out[0] += 1


@sv.kernel
def unpacked():
    for _i, _j, _k in sv.ndrange(*cube):
        out[0] += 1


@sv.kernel
def looped():
    for x in sv.static(cube):
        out[x] += 1


@sv.kernel
def asked():
    out[0] = sv.static(cube[0])
    out[1] = sv.static(cube.sum())
    out[2] = sv.static(len(cube))
    out[3] = sv.static(cube[-1])
    out[4] = sv.static(int((cube > 3).any()))
    out[5] = sv.static(cube[1:].max())
    out[6] = sv.static(cube @ cube)
    out[7] = sv.static(-cube)[1]
    out[8] = sv.static(cube.shape[0])


@sv.kernel
def as_vectors():
    v, m = sv.Vector(cube), sv.Matrix(table)
    out[0], out[1], out[2] = v.x, v.sum(), m[1, 2]
    a, b = table
    out[3] = (a + b).sum()
    p, q, r = cube
    out[4] = p * 100 + q * 10 + r


@sv.kernel
def indexed():
    y = 2 * cube + 1
    for i in range(3):
        out[i] = y[i]


def test_what_is_computed_with_at_compile_time():
    assert found(cells) == [12]
    assert found(unpacked) == [36]
    assert found(looped, 5) == [0, 0, 0, 2, 1]
    assert found(asked, 9) == [3, 10, 3, 3, 1, 4, 34, -4, 3]
    assert found(as_vectors, 5) == [3, 10, 5, 15, 343]
    assert found(indexed, 3) == [7, 9, 7]


def test_what_changes_between_launches_is_seen():
    assert found(cells) == [12]
    cube[0] = 5
    assert found(cells) == [24]
    assert found(unpacked) == [60]
    assert found(asked, 2) == [5, 12]
    assert found(looped, 6) == [0, 0, 0, 1, 1, 1]
    assert found(as_vectors, 2) == [5, 12]
    assert found(indexed, 3) == [11, 9, 7]
    cube[0] = 3
    compiled = sv.compile_count()
    assert found(cells) == [12]
    assert sv.compile_count() == compiled


def test_an_array_in_the_place_of_another_one_is_seen():
    global cube
    before = cube
    try:
        assert found(cells) == [12]
        cube = np.array([2, 2, 2])
        assert found(cells) == [1]
        cube = np.array([4, 4], np.int16)
        assert found(cells) == [9]
    finally:
        cube = before


def test_members_cells_and_items():
    @sv.data_oriented
    class Grid:
        def __init__(self):
            self.shape = np.array([2, 3])

        @sv.kernel
        def count(self):
            for _i, _j in sv.ndrange(*(self.shape + 1)):
                out[0] += 1

    grid = Grid()
    assert found(grid.count) == [12]
    grid.shape[0] = 5
    assert found(grid.count) == [24]

    inner = np.array([2, 2])

    @sv.kernel
    def of_cell():
        for _i, _j in sv.ndrange(*(inner * 2)):
            out[0] += 1

    assert found(of_cell) == [16]

    @sv.kernel
    def of_items():
        for each in sv.static(several):
            out[0] += sv.static(each.sum())

    assert found(of_items) == [6]


def test_floats_and_arrays_of_no_axis():
    @sv.kernel
    def of_floats() -> sv.f32:
        return sv.static((weights * 2).sum()) + sv.static(weights[1])

    assert of_floats() == 5.5


@sv.func
def first(a: sv.template()):
    return sv.static(a[0])


@sv.kernel
def given_to_a_func():
    out[0] = first(sv.static(cube))
    out[1] = first(sv.static(cube * 2))


def test_a_func_is_given_one():
    assert found(given_to_a_func, 2) == [3, 6]


def test_elements_that_are_read_one_by_one_are_read_at_run_time():
    @sv.kernel
    def changes():
        for i in range(3):
            cube[i] += 1
        p, q, r = cube
        out[0] = p * 100 + q * 10 + r
        out[1] = sv.Vector(cube).sum()

    assert found(changes, 2) == [454, 13]
    compiled = sv.compile_count()
    assert found(changes, 2) == [565, 16]
    assert sv.compile_count() == compiled


def test_a_kernel_that_writes_it_cannot_compute_with_it():
    @sv.kernel
    def changes():
        for i in range(3):
            cube[i] += 1
        for _i, _j, _k in sv.ndrange(*(cube - 1)):
            out[0] += 1

    with pytest.raises(sv.SamovarTypeError, match="the kernel writes to `cube`, but computes with all of it"):
        changes()


def test_arguments_and_large_arrays_are_known_at_run_time_only():
    @sv.kernel
    def of_argument(a: sv.types.NDArray[sv.i64, 1]):
        for _ in sv.grouped(sv.ndrange(*(a - 1))):
            out[0] += 1

    @sv.kernel
    def of_large():
        for _ in sv.grouped(sv.ndrange(*(large - 1))):
            out[0] += 1

    with pytest.raises(sv.SamovarTypeError, match="the length of an array expression is only known at run time"):
        of_argument(cube)
    with pytest.raises(sv.SamovarTypeError, match="the length of an array expression is only known at run time"):
        of_large()


PROGRAM = """
import sys
import numpy as np
import samovar as sv

shape = np.array(list(map(int, sys.argv[1].split(","))), sys.argv[2])
out = sv.field(sv.i32, 2)

@sv.kernel
def count():
    for _ in sv.grouped(sv.ndrange(*(shape - 1))):
        out[0] += 1
    out[1] = sv.static(shape.sum())

count()
print(out[0], out[1], sv.compile_count())
"""


def test_what_changes_between_processes_is_seen(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def run(*arguments):
        environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")}
        done = subprocess.run([sys.executable, str(program), *arguments], env=environment, capture_output=True, text=True)
        return done.stdout.split() or done.stderr

    assert run("3,4,3", "i8") == ["12", "10", "1"]
    assert run("3,4,3", "i8") == ["12", "10", "0"]
    assert run("5,4,3", "i8") == ["24", "12", "1"]
    assert run("5,4", "i8") == ["12", "9", "1"]
    assert run("5,4", "i4") == ["12", "9", "1"]
    assert run("3,4,3", "i8") == ["12", "10", "0"]
