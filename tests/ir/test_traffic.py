"""How many bytes an iteration moves, as an artifact keeps it for profiles."""

import numpy as np
import pytest

import samovar as sv


@sv.kernel
def axpy(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1], k: sv.f32):
    for i in a:
        a[i] = a[i] + k * b[i]


@sv.kernel
def stencil(a: sv.types.NDArray[sv.f64, 2], b: sv.types.NDArray[sv.f64, 2]):
    for i, j in sv.ndrange((1, a.shape[0] - 1), (1, a.shape[1] - 1)):
        b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


@sv.kernel
def broadcast(a: sv.types.NDArray[sv.f64, 2], row: sv.types.NDArray[sv.f64, 2]):
    for i, j in a:
        a[i, j] = row[0, j]


@sv.kernel
def lengths(v: sv.types.NDArray[sv.types.vector(3, sv.f32), 1], out: sv.types.NDArray[sv.f32, 1]):
    for i in out:
        out[i] = v[i][0] * v[i][2]


@sv.kernel
def total(a: sv.types.NDArray[sv.i16, 1]) -> sv.i32:
    s = 0
    for i in a:
        s += a[i]
    return s


@sv.kernel
def gather(a: sv.types.NDArray[sv.f64, 1], b: sv.types.NDArray[sv.i32, 1]):
    for i in b:
        a[i] = a[b[i]]


@sv.kernel
def chooses(a: sv.types.NDArray[sv.f64, 1], b: sv.types.NDArray[sv.f64, 1]):
    for i in a:
        if a[i] > 0:
            b[i] = 1


@sv.kernel
def counts(a: sv.types.NDArray[sv.i32, 1], h: sv.types.NDArray[sv.i32, 1]):
    for i in a:
        h[a[i]] += 1


def floats(*shape):
    return np.zeros(shape or 8, np.float64)


@pytest.mark.parametrize(
    ("kernel", "arguments", "moved"),
    [
        (axpy, (np.zeros(8, np.float32), np.zeros(8, np.float32), 2.0), 12),
        (stencil, (floats(4, 4), floats(4, 4)), 16),
        (broadcast, (floats(4, 4), floats(1, 4)), 8),
        (lengths, (np.zeros((8, 3), np.float32), np.zeros(8, np.float32)), 12),
        (total, (np.zeros(8, np.int16),), 2),
        (gather, (floats(), np.zeros(8, np.int32)), None),
        (chooses, (floats(), floats()), None),
        (counts, (np.zeros(8, np.int32), np.zeros(8, np.int32)), None),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_bytes_are_those_of_elements_that_belong_to_the_iteration(kernel, arguments, moved):
    kernel(*arguments)
    sections = kernel.specializations[0].keep.artifact.sections
    assert sections.get("bytes") == (None if moved is None else (moved,))
