"""Funcs that return arrays they were passed, global arrays, and iteration spaces."""

import numpy as np
import pytest

import samovar as sv

Vector = sv.types.NDArray[sv.f32, 1]
table = sv.field(sv.f32, 8)


@pytest.fixture(params=[{}, {"debug": True}, {"arch": "python"}], ids=["plain", "debug", "python"], autouse=True)
def mode(request):
    sv.init(**request.param)
    yield request.param.get("arch")
    sv.reset()


@sv.func
def doubled(x: Vector, y: Vector, n: sv.i32):
    for i in range(n):
        y[i] = 2 * x[i]
    return y


@sv.func
def both(x: Vector, y: Vector, i: sv.i32):
    return y, i + 1, x


@sv.func
def global_table():
    return table


@sv.func
def stencil():
    return sv.ndrange(3, 2)


@sv.func
def rows(n: sv.i32):
    return range(1, n, 2)


def test_the_result_may_be_ignored_or_used():
    @sv.kernel
    def ignored(x: Vector, y: Vector):
        for _ in range(1):
            doubled(x, y, x.shape[0])

    @sv.kernel
    def used(x: Vector, y: Vector, z: Vector):
        for _ in range(1):
            result = doubled(x, y, x.shape[0])
            for i in range(3):
                z[i] = result[i] + 1
            doubled(doubled(x, y, 3), z, 1)

    @sv.kernel
    def at_the_top(x: Vector, y: Vector, z: Vector):
        result = doubled(x, y, 4)
        for i in range(result.shape[0]):
            z[i] = result[i]

    x, y, z = np.arange(4, dtype=np.float32), np.zeros(4, np.float32), np.zeros(4, np.float32)
    ignored(x, y)
    assert y.tolist() == [0, 2, 4, 6]
    x += 1
    used(x, y, z)
    assert z.tolist() == [4, 5, 7, 0]
    at_the_top(x, y, z)
    assert z.tolist() == [2, 4, 6, 8]


def test_arrays_and_numbers_in_a_tuple():
    @sv.kernel
    def run(x: Vector, y: Vector):
        for i in range(3):
            first, after, second = both(x, y, i)
            first[i] = second[after]

    x, y = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    run(x, y)
    assert y.tolist() == [1, 2, 3, 0]


def test_global_arrays():
    @sv.kernel
    def run():
        for i in range(8):
            global_table()[i] = i

    run()
    assert table.to_numpy().tolist() == list(range(8))


def test_iteration_spaces():
    @sv.kernel
    def run(n: sv.i32, x: sv.types.NDArray[sv.i32, 2], y: sv.types.NDArray[sv.i32, 1]):
        for _ in range(1):
            for offset in sv.static(sv.grouped(stencil())):
                x[offset] += 10 * offset[0] + offset[1]
            for i, j in stencil():
                x[i, j] += 100
            for i in rows(n):
                y[i] = i

    x, y = np.zeros((3, 2), np.int32), np.zeros(8, np.int32)
    run(6, x, y)
    assert x.tolist() == [[100, 101], [110, 111], [120, 121]]
    assert y.tolist() == [0, 1, 0, 3, 0, 5, 0, 0]


def test_the_same_array_on_all_paths(mode):
    @sv.func
    def either(x: Vector, y: Vector, i: sv.i32):
        if i > 0:
            return x
        return y

    @sv.func
    def same(x: Vector, i: sv.i32):
        if i > 0:
            x[0] = 1
            return x
        return x

    @sv.kernel
    def choose(x: Vector, y: Vector):
        for i in range(2):
            either(x, y, i)[i] = 1

    @sv.kernel
    def fixed(x: Vector):
        for i in range(2):
            same(x, i)[2] = 5

    @sv.kernel
    def whole(x: Vector):
        return x

    x, y = np.zeros(4, np.float32), np.zeros(4, np.float32)
    fixed(x)
    assert x.tolist() == [1, 0, 5, 0]
    if mode == "python":
        return
    with pytest.raises(sv.SamovarTypeError, match="and the same arrays"):
        choose(x, y)
    with pytest.raises(sv.SamovarTypeError, match="cannot be returned"):
        whole(x)
