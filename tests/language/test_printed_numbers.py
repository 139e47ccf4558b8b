"""`printed_numbers="c"`: numbers without a format are printed as C does."""

import pytest

import samovar as sv


@pytest.fixture(autouse=True)
def as_before():
    sv.reset()
    yield
    sv.reset()


@sv.kernel
def shown(n: sv.i32, x: sv.f32, y: sv.f64):
    print(n, x, y, n > 2, 1.5, True, f"{x} {x:.2f} {x!r}", sv.Vector([1.0, x]))


def test_numbers_as_python_and_as_c_write_them(capfd):
    shown(3, 2.5, 1 / 3)
    sv.init(printed_numbers="c")
    shown(3, 2.5, 1 / 3)
    sv.init()
    shown(3, 2.5, 0.5)
    assert capfd.readouterr().out.splitlines() == [
        "3 2.5 0.3333333333333333 True 1.5 True 2.5 2.50 2.5 [1.0, 2.5]",
        "3 2.500000 0.333333333333 1 1.500000 1 2.500000 2.50 2.5 [1.000000, 2.500000]",
        "3 2.5 0.5 True 1.5 True 2.5 2.50 2.5 [1.0, 2.5]",
    ]
