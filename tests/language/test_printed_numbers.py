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


@sv.kernel
def formatted(n: sv.i32, x: sv.f32, y: sv.f64, u: sv.u32):
    print(f"{x:.1} {x:10.3} {x:e} {x:+} {x:05.1f}|")
    print(f"{n:.4d} {n:i} {n:.2} {n:5} {n:lld} {n:-6d}|")
    print(f"{y:.1} {y:g} {y:f} {u:u} {u:#x}|")
    print("{:.3} {:.2d} {name:8.2}|".format(20.25, 7, name=x), "%f %g" % (y, y), f"{sv.Vector([x, 1.0]):.1}|")  # noqa: UP031, UP032
    print(f"{n:>5} {x:^8.1f}|")


WRITTEN = [
    "-1.2     -1.250 -1.250000e+00 -1.250000 -01.2|",
    "-0042 -42 -42   -42 -42 -42   |",
    "0.3 0.333333333333 0.333333333333 9 0x9|",
    "20.250 07    -1.25| 0.333333 0.333333 [-1.2, 1.0]|",
    "  -42   -1.2  |",
]


def test_formats_are_those_of_c(capfd, tmp_path):
    for _ in range(2):  # compiled, and from the cache
        sv.init(printed_numbers="c", offline_cache_file_path=tmp_path)
        formatted(-42, -1.25, 1 / 3, 9)
        assert capfd.readouterr().out.splitlines() == WRITTEN
    sv.init(printed_numbers="c", debug=True)
    formatted(-42, -1.25, 1 / 3, 9)
    assert capfd.readouterr().out.splitlines() == WRITTEN


def test_a_format_of_another_type_is_refused():
    @sv.kernel
    def wrong(x: sv.f32):
        print(f"{x:d}")

    @sv.kernel
    def of_python(n: sv.i32):
        print(f"{n:.4d}")

    sv.init(printed_numbers="c")
    with pytest.raises(sv.SamovarTypeError, match="a value of type f32 cannot be formatted with `d`"):
        wrong(1.0)
    sv.init()
    with pytest.raises(sv.SamovarTypeError, match=r"a value of type i32 cannot be formatted with `.4d`"):
        of_python(1)
