"""`inspect("loops")`: the loop nest as it was planned, and what was decided about each loop."""

import re

import numpy as np
import pytest

import samovar as sv

f32_1 = sv.types.NDArray[sv.f32, 1]


@sv.kernel
def clamped(a: f32_1, b: f32_1):
    n = a.shape[0]
    for i in range(n):
        b[i] = a[max(i - 1, 0)] + a[min(i + 1, n - 1)]


@sv.kernel
def newton(a: f32_1, b: f32_1):
    for i in a:
        x = a[i]
        while abs(x * x - a[i]) > 1e-6 * a[i]:
            x = 0.5 * (x + a[i] / x)
        b[i] = x


@sv.kernel
def picked(a: f32_1, b: f32_1, at: sv.types.NDArray[sv.i32, 1]):
    for i in b:
        x = a[at[i]]
        for _ in range(9):
            x = sv.sqrt(x + 1.0)
            if x > 1.5:
                x = sv.sqrt(x) / (x + 1.0)
        b[i] = x


@sv.kernel
def total(a: f32_1) -> sv.f32:
    result = 0.0
    for i in a:
        result += a[i]
    return result


@sv.kernel
def scattered(a: f32_1, b: f32_1, at: sv.types.NDArray[sv.i32, 1]):
    for i in at:
        if at[i] > 0:
            b[at[i]] = a[at[i]] + 1.0


@sv.kernel
def recurrence(a: f32_1):
    mean = a[0]
    sv.loop_config(serialize=True)
    for i in a:
        mean = 0.9 * mean + 0.1 * a[i]
        a[i] = mean


@sv.kernel
def strides(a: f32_1, n: sv.i32):
    for _ in range(1):
        for i in range(0, n, n // 9):
            a[i] = a[i] + 1.0
        for i in range(n):
            a[i] = a[i] * 2.0
            if a[i] > 9.0:
                break
        for i in range(n):
            a[a.shape[0] - 1 - i // 2] = 1.0 / (a[i] + 1.0)


@sv.kernel
def unrolled(a: f32_1):
    for i in a:
        x = a[i]
        for k in range(3):
            x = x + k / (x + 2.0)
        a[i] = x


@pytest.fixture(autouse=True)
def options():
    yield
    sv.reset()


LINE = np.ones(99, np.float32)


def notes(kernel, *arguments) -> list[str]:
    """What was decided, with numbers left out."""
    lines = kernel.inspect("loops", *arguments).splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.lstrip().startswith("#"):
            assert following.lstrip().startswith(("for ", "while"))
    loops = [line.strip()[2:] for line in lines if line.lstrip().startswith("#")]
    return [re.sub(r"\d+(\.\d+)?", "N", note) for note in loops]


def test_a_stencil_is_peeled_and_left_to_the_backend():
    assert notes(clamped, LINE, LINE.copy()) == [
        "peeled: the iterations between the ends; "
        "left to the backend to vectorize: no branches, loops or reductions inside",
        "peeled: both ends",
        "peeled: the iterations at an end, as they are",
    ]


def test_a_loop_that_lanes_leave_one_by_one():
    vectorized, inside, *left_over = notes(newton, LINE, LINE.copy())
    assert vectorized == "vectorized: N lanes, price N of scalar"
    assert inside == "in N lanes: masked, until all lanes have left"
    assert inside in left_over
    assert set(left_over) <= {inside, "remainder: N lanes"}


def test_the_number_of_lanes_and_the_price_are_those_of_the_code():
    text = newton.inspect("loops", LINE, LINE.copy())
    width, price = re.search(r"# vectorized: (\d+) lanes, price (\S+) of scalar", text).groups()
    assert f"by {width}:i64" in text
    assert f"u1x{width}" in text
    assert 0 < float(price) < 1


def test_gathers_are_counted():
    assert "vectorized: N lanes, N gather, price N of scalar" in notes(
        picked, LINE, LINE.copy(), np.zeros(99, np.int32)
    )


def test_a_sum_names_what_it_gathers():
    assert notes(total, LINE)[:3] == [
        "parallel: groups of iterations, each with partial results of its own",
        "vectorized: N lanes, add reduction of result, price N of scalar",
        "remainder: N lanes",
    ]


def test_what_is_not_vectorized_says_why():
    assert notes(scattered, LINE, LINE.copy(), np.zeros(99, np.int32)) == [
        "not vectorized: N lanes, N gather, N scatter, price N of scalar"
    ]
    assert notes(recurrence, LINE) == [
        "strip-mined: a safepoint after each strip",
        "scalar: mean is carried from one iteration to the next",
    ]
    found = notes(strides, LINE, 99)
    assert "scalar: the step is not a constant" in found
    assert "scalar: the loop ends early" in found
    assert "scalar: iterations may touch the same elements of a" in found
    sv.init(without="unrolling")
    assert "left to the backend to unroll: N iterations" in notes(unrolled, LINE)


def test_notes_are_in_this_view_alone():
    assert "#" not in newton.inspect("ir", LINE, LINE.copy())


def test_without_vectors_nothing_is_decided():
    sv.init(without="vectors")
    assert notes(newton, LINE, LINE.copy()) == []
    assert "while" in newton.inspect("loops", LINE, LINE.copy())


def test_what_was_launched_last():
    newton(LINE, LINE.copy())
    assert newton.inspect("loops") == newton.inspect("loops", LINE, LINE.copy())
