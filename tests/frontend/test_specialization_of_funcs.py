"""A func is compiled apart for arguments that mean different things, however alike they look: which struct, which boundary,
which layout, which compile-time value."""

import numpy as np
import pytest

import samovar as sv

Numbers = sv.types.NDArray[sv.f32, 1]


@sv.dataclass
class Added:
    x: sv.f32
    y: sv.f32

    @sv.func
    def joined(self):
        return self.x + self.y


@sv.dataclass
class Multiplied:
    x: sv.f32
    y: sv.f32

    @sv.func
    def joined(self):
        return self.x * self.y


@sv.func
def of_element(s: sv.template(), i):
    return s[i].joined()


@sv.func
def of_value(s):
    return s.joined()


@sv.func
def of_reference(s: sv.template()):
    return s.joined()


def structs(make):
    a, b = make(Added), make(Multiplied)
    a[0], b[0] = Added(3.0, 4.0), Multiplied(3.0, 4.0)
    return a, b


@sv.kernel
def of_two_structs(a: sv.template(), b: sv.template(), out: Numbers):
    for i in range(1):
        out[0] = of_element(a, i)
        out[1] = of_element(b, i)
        out[2] = of_value(a[i])
        out[3] = of_value(b[i])
        out[4] = of_reference(a[i])
        out[5] = of_reference(b[i])
        c, d = a[i], b[i]
        out[6] = of_value(c)
        out[7] = of_value(d)


MAKERS = {
    "arrays": lambda struct: struct.ndarray(2),
    "arrays apart": lambda struct: struct.ndarray(2, layout="soa"),
    "fields": lambda struct: struct.field(shape=2),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_two_structs_with_the_same_members(kind):
    out = np.zeros(8, np.float32)
    of_two_structs(*structs(MAKERS[kind]), out)
    assert out.tolist() == [7.0, 12.0] * 4


@sv.kernel
def of_annotated(a: sv.types.NDArray[Added, 1], b: sv.types.NDArray[Multiplied, 1], out: Numbers):
    for i in range(1):
        out[0] = of_element(a, i)
        out[1] = of_element(b, i)


def test_arrays_whose_annotations_say_the_struct():
    out = np.zeros(2, np.float32)
    of_annotated(*structs(MAKERS["arrays"]), out)
    assert out.tolist() == [7.0, 12.0]


def made(adds):
    """Structs that differ in nothing but what their method does, their name neither."""
    if adds:

        @sv.dataclass
        class Same:
            x: sv.f32

            @sv.func
            def joined(self):
                return self.x + 1
    else:

        @sv.dataclass
        class Same:
            x: sv.f32

            @sv.func
            def joined(self):
                return self.x - 1

    return Same


First, Second = made(True), made(False)


@sv.kernel
def of_one_name(a: sv.template(), b: sv.template(), out: Numbers):
    for i in range(1):
        out[0] = of_element(a, i)
        out[1] = of_element(b, i)
        out[2] = of_value(First(5.0))
        out[3] = of_value(Second(5.0))


def test_two_structs_of_one_name():
    out = np.zeros(4, np.float32)
    of_one_name(First.ndarray(1), Second.ndarray(1), out)
    assert out.tolist() == [1.0, -1.0, 6.0, 4.0]


Near = sv.types.struct(x=sv.f32, y=sv.f32)
Far = sv.types.struct(y=sv.f32, x=sv.f32)


@sv.func
def first(s):
    return s.x


@sv.kernel
def of_order(out: Numbers):
    for _ in range(1):
        out[0] = first(Near(x=1.0, y=2.0))
        out[1] = first(Far(x=3.0, y=4.0))


def test_structs_whose_members_stand_in_another_order():
    out = np.zeros(2, np.float32)
    of_order(out)
    assert out.tolist() == [1.0, 3.0]


@sv.func
def beyond(a: sv.template()):
    return a[100]


@sv.kernel
def of_boundaries(
    a: sv.types.ndarray(sv.f32, 1, boundary="clamp"), b: sv.types.ndarray(sv.f32, 1), n: sv.i32, out: Numbers
):
    for _ in range(1):
        out[0] = beyond(b)
        out[1] = beyond(a)


def test_an_array_that_is_clamped_and_one_that_is_not():
    a, b, out = np.arange(4, dtype=np.float32), np.arange(101, dtype=np.float32), np.zeros(2, np.float32)
    of_boundaries(a, b, 0, out)
    assert out.tolist() == [100.0, 3.0]


@sv.func
def at(a: sv.template(), i, j):
    return a[i, j]


@sv.kernel
def of_layouts(a: sv.template(), b: sv.template(), c: sv.template(), d: sv.template(), out: Numbers):
    for _ in range(1):
        out[0] = at(a, 1, 2)
        out[1] = at(b, 1, 2)
        out[2] = at(c, 1, 2)
        out[3] = at(d, 1, 2)


def test_arrays_and_fields_that_lie_in_memory_in_other_ways():
    values = np.arange(12, dtype=np.float32).reshape(3, 4)
    plain, turned = sv.field(sv.f32, (3, 4)), sv.field(sv.f32, (3, 4), order="ji")
    shifted = sv.field(sv.f32, (3, 4), offset=(1, 2))
    for each in (plain, turned, shifted):
        each.from_numpy(values)
    out = np.zeros(4, np.float32)
    of_layouts(plain, turned, shifted, values, out)
    assert out.tolist() == [6.0, 6.0, 0.0, 6.0]
    of_layouts(values, values.T.copy().T, values[:, ::-1], plain, out)
    assert out.tolist() == [6.0, 6.0, 5.0, 6.0]


@sv.func
def kind_of(x: sv.template()):
    return sv.static(describe(x))


def describe(x):
    return {
        "1": 1, "2": 2, "True": 3, "1.0": 4, "-0.0": 5, "0.0": 6, "(1, 2)": 7, "[1, 2]": 8, "'a'": 9, "'b'": 10, "None": 11,
        "f32": 12, "i32": 13,
    }[str(x) if isinstance(x, type(sv.f32)) else repr(x)]  # fmt: skip


@sv.func
def entry(table: sv.template()):
    return table["a"]


@sv.kernel
def of_values(out: sv.types.NDArray[sv.i32, 1]):
    for _ in range(1):
        out[0] = kind_of(1)
        out[1] = kind_of(2)
        out[2] = kind_of(True)
        out[3] = kind_of(1.0)
        out[4] = kind_of(-0.0)
        out[5] = kind_of(0.0)
        out[6] = kind_of((1, 2))
        out[7] = kind_of([1, 2])
        out[8] = kind_of("a")
        out[9] = kind_of("b")
        out[10] = kind_of(None)
        out[11] = kind_of(sv.f32)
        out[12] = kind_of(sv.i32)
        out[13] = entry({"a": 14})
        out[14] = entry({"a": 15})


def test_compile_time_values_that_are_alike():
    out = np.zeros(15, np.int32)
    of_values(out)
    assert out.tolist() == list(range(1, 16))


@sv.func
def applied(f: sv.template(), x):
    return f(x)


@sv.func
def once(x):
    return x


@sv.func
def twice(x):
    return 2 * x


@sv.kernel
def of_functions(out: Numbers):
    for _ in range(1):
        out[0] = applied(once, 1.5)
        out[1] = applied(twice, 1.5)
        out[2] = applied(sv.floor, 1.5)
        out[3] = applied(sv.ceil, 1.5)
        out[4] = applied(sv.math.vec2, 1.5).sum()
        out[5] = applied(sv.math.vec3, 1.5).sum()


def test_functions_and_types_that_are_passed():
    out = np.zeros(6, np.float32)
    of_functions(out)
    assert out.tolist() == [1.5, 3.0, 1.0, 2.0, 3.0, 4.5]


@sv.func
def power_sum(n: sv.template(), x):
    total = x
    if sv.static(n > 1):
        total += x * power_sum(n - 1, x)
    return total


@sv.func
def visit(n: sv.template(), out: sv.template()):
    out[n] += 1
    for side in sv.static((1, 2)):
        if sv.static(2 * n + side < 7):
            visit(2 * n + side, out)


@sv.kernel
def recursive(out: Numbers, x: sv.f32) -> sv.f32:
    visit(0, out)
    return power_sum(4, x)


@pytest.mark.parametrize("debug", [False, True])
def test_recursion_that_ends_at_compile_time(debug):
    sv.init(debug=debug)
    out = np.zeros(8, np.float32)
    assert recursive(out, 2.0) == 30
    assert out.tolist() == [1, 1, 1, 1, 1, 1, 1, 0]
    sv.reset()


@sv.func
def counts_up(n: sv.template()):
    return counts_up(n + 1)


@sv.kernel
def endless() -> sv.i32:
    return counts_up(0)


def test_recursion_that_does_not_end():
    with pytest.raises(sv.SamovarCompilationError, match="endless → counts_up → counts_up"):
        endless()
