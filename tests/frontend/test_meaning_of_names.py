"""What a name means is what it stands for, under whatever name: intrinsics have aliases, and users take their names."""

import numpy as np
import pytest
from test_errors import failure

import samovar as sv
from samovar import atomic_add as gather
from samovar import func as part
from samovar import grouped as together
from samovar import kernel as launchable
from samovar import loop_config as configure
from samovar import ndrange as box
from samovar import static as s

S = sv.static
look = getattr
has = hasattr
numbers = range
show = print
smallest = min
integer = int


class Box:
    size = 3


@launchable
def aliases(a: sv.types.NDArray[sv.i32, 1], out: sv.types.NDArray[sv.i32, 2]) -> sv.i32:
    total = 0
    for k in s(numbers(2)):  # unrolled
        total += a[k]
    for _ in S([1, 2]):
        total += 100
    if s(has(Box, "size") and not has(Box, "length")):
        total += s(look(Box, "size"))
    for i, j in box(2, 2):
        out[i, j] = 10 * i + j
    for I in together(out):
        out[I] += 1
    sum_of_all = 0
    for i in numbers(4):
        gather(sum_of_all, smallest(a[i], integer(7.5)))
    return total * 1000 + sum_of_all


def test_intrinsics_may_have_other_names():
    out = np.zeros((2, 2), np.int32)
    assert aliases(np.array([1, 2, 9, 4], np.int32), out) == 206 * 1000 + 1 + 2 + 7 + 4
    assert out.tolist() == [[1, 2], [11, 12]]


@sv.kernel
def configured(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    last = 0
    configure(serialize=True)
    for i in a:
        last = a[i]
    return last


def test_a_configured_loop_is_serial_under_another_name():
    assert configured(np.arange(5, dtype=np.int32)) == 4


@sv.kernel
def shown():
    show("seven", 7)


def test_a_print_under_another_name(capfd):
    shown()
    sv.sync()
    assert capfd.readouterr().out == "seven 7\n"


chosen = min


@sv.kernel
def by_what_it_is_now(a: sv.i32, b: sv.i32) -> sv.i32:
    return chosen(a, b)


def test_an_alias_that_means_something_else_is_seen_at_the_next_launch(monkeypatch):
    assert by_what_it_is_now(3, 5) == 3
    monkeypatch.setitem(globals(), "chosen", max)
    assert by_what_it_is_now(3, 5) == 5


sizes = getattr


@sv.kernel
def read_by_name() -> sv.i32:
    return sv.static(sizes(Box, "size"))


def test_getattr_under_another_name_asks_again(monkeypatch):
    assert read_by_name() == 3
    monkeypatch.setattr(Box, "size", 4)
    assert read_by_name() == 4


@part
def range(n):
    """Not the one of Python."""
    return n + 1000


@part
def sqrt(x: sv.template()):
    """Changes what it gets, as no square root does."""
    x += 5


@part
def min(x, y):
    return x * 10 + y


@sv.kernel
def names_of_ours(n: sv.i32) -> sv.i32:
    x = n
    sqrt(x)
    return range(n) + min(x, 2)


def test_funcs_may_have_the_names_of_intrinsics():
    assert names_of_ours(3) == 1003 + 82


@sv.kernel
def locals_with_names_of_intrinsics(a: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    static = 3.0
    print = static * 2.0
    len = a.shape[0]
    for range in a:
        a[range] += print
    super = (static, print)
    return super[1] + len


def test_locals_may_have_the_names_of_intrinsics():
    a = np.zeros(4, np.float32)
    assert locals_with_names_of_intrinsics(a) == 10
    assert a.tolist() == [6, 6, 6, 6]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    static = 3\n    for i in static(range(3)):\n        pass\n", "a number cannot be called"),
        ("    for static in sv.static(range(3)):\n        static(1)\n", "the compile-time value 0 cannot be called"),
        ("    super = 3\n    super().run()\n", "a number cannot be called"),
    ],
)
def test_a_local_is_no_intrinsic_because_of_its_name(body, words):
    assert words in failure(f"@sv.kernel\ndef k():\n{body}", sv.SamovarTypeError, static=sv.static)


def test_a_parameter_is_no_intrinsic_because_of_its_name():
    text = "@sv.kernel\ndef k(range: sv.i32):\n    for i in range(3):\n        pass\n"
    assert "a number cannot be called" in failure(text, sv.SamovarTypeError, 1)


@part
def add_to(target: sv.template(), x):
    gather(target, x)


@part
def pass_on(target: sv.template(), x):
    add_to(target, x)


@part
def changes_its_copy(x):
    add_to(x, 1)
    return x


@sv.kernel
def by_reference(n: sv.i32) -> sv.i32:
    x = n
    pass_on(x, 2)
    y = changes_its_copy(x)
    return x * 100 + y


def test_a_name_is_a_variable_where_a_func_changes_it():
    assert by_reference(1) == 304


class Calls:
    count = 0


def counted():
    Calls.count += 1
    return 7


@sv.kernel
def begins_again(n: sv.i32) -> sv.i32:
    seven = sv.static(counted())
    sv.static_print("looking at", seven)
    x = n
    pass_on(x, seven)
    return x


def test_what_is_done_at_compile_time_is_done_once(capsys):
    """A value that turns out to be a variable begins staging again: nobody sees that."""
    assert begins_again(1) == 8
    assert Calls.count == 1
    assert capsys.readouterr().out == "looking at 7\n"


@sv.data_oriented
class Base:
    def __init__(self):
        self.factor = 3

    @sv.func
    def scaled(self, x):
        return x * self.factor


@sv.data_oriented
class Derived(Base):
    @sv.func
    def scaled(self, x):
        return super().scaled(x) + 1

    @sv.kernel
    def run(self, x: sv.i32) -> sv.i32:
        return self.scaled(x)


def test_super_is_the_one_of_python():
    assert Derived().run(5) == 16
