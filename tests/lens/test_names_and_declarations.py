"""Names, enums and attributes mean in kernels what they mean in Python, and declarations are kept."""

import dataclasses
import enum
import typing
import uuid

import numpy as np
import pytest

import samovar as sv


@sv.data_oriented
class _Base:
    def __init__(self):
        self.out = np.zeros(2, np.float32)
        self.__x = 5
        self.__array = np.full(2, 7, np.float32)

    @sv.func
    def __helper(self, i):
        return self.__x + self.__array[i]

    @sv.kernel
    def run(self, __n: sv.i32):
        for i in self.out:
            __local = self.__helper(i)
            self.out[i] = __local + self.__x + __n


class Derived(_Base):
    def __init__(self):
        super().__init__()
        self.__x = 50

    @sv.func
    def __helper(self, i):
        return 1000

    @sv.kernel
    def run_derived(self):
        for i in self.out:
            self.out[i] = self.__helper(i) + self.__x


def test_private_names_are_those_of_the_class_that_they_are_written_in():
    for cls in (_Base, Derived):
        one = cls()
        one.run(100)
        assert one.out[1] == 117
    one.run_derived()
    assert one.out[1] == 1050


class Walls:
    class Mode(enum.Enum):
        A = 1


class Floors:
    class Mode(enum.Enum):
        A = 10


@sv.func
def value_of(mode: sv.template()):
    return mode.value


def test_members_of_two_enums_of_one_name_do_not_share_a_func():
    @sv.kernel
    def run(one: sv.Template, other: sv.Template) -> sv.i32:
        return value_of(one) * 100 + value_of(other)

    assert run(Walls.Mode.A, Floors.Mode.A) == 110
    assert run(Floors.Mode.A, Walls.Mode.A) == 1001


class Varying:
    pass


def test_an_attribute_that_comes_and_goes_on_one_object_is_asked_for_at_each_launch():
    @sv.kernel
    def run(one: sv.Template) -> sv.f32:
        scale = sv.static(getattr(one, "scale", 1))
        if sv.static(hasattr(one, "extra")):
            return one.extra[0] * scale
        return -1.0 * scale

    one = Varying()
    assert run(one) == -1
    one.extra = np.full(1, 5, np.float32)
    assert run(one) == 5
    one.scale = 3
    assert run(one) == 15
    del one.extra
    assert run(one) == -3
    assert run.specializations[0].keep.trace.opaque == []


@dataclasses.dataclass
class Optional:
    x: sv.types.NDArray[sv.f32, 1]
    y: sv.types.NDArray[sv.f32, 1] | None = None


def test_an_array_or_None_with_a_bar():
    assert sv.types.NDArray[sv.f32, 1] | None == typing.Optional[sv.types.NDArray[sv.f32, 1]]  # noqa: UP045

    @sv.kernel
    def run(one: Optional) -> sv.f32:
        if sv.static(one.y is not None):
            return one.y[0]
        return one.x[0]

    assert run(Optional(np.full(1, 2, np.float32))) == 2
    assert run(Optional(np.full(1, 2, np.float32), np.full(1, 3, np.float32))) == 3
    with pytest.raises(sv.SamovarTypeError, match=r"`one.y` must have dtype f32"):
        run(Optional(np.full(1, 2, np.float32), np.full(1, 3)))


@dataclasses.dataclass
class Declared:
    x: sv.types.ndarray(dtype=sv.f32, ndim=1, boundary="clamp") | None
    n: typing.Optional[sv.i64] = None  # noqa: UP045


def test_what_is_declared_under_Optional_holds():
    @sv.kernel
    def run(one: Declared) -> sv.i64:
        return one.n + int(one.x[100])

    assert run(Declared(np.arange(200, dtype=np.float32)[:3], 2**40)) == 2**40 + 2


def in_a_function():
    element = sv.f64

    @dataclasses.dataclass
    class Forgotten:
        x: "sv.types.ndarray(dtype=element, ndim=1, boundary='clamp')"
        n: "element" = 3
        baked: "element" = dataclasses.field(default=4, metadata={sv.FIELD_METADATA_CACHE_VALUE: True})
        known: "sv.i64" = 5
        other: "Unknown" = None  # noqa: F821

    return Forgotten


def test_a_declaration_that_names_a_local_of_a_function_is_warned_about_where_it_would_count():
    Forgotten = in_a_function()

    @sv.kernel
    def run(one: Forgotten) -> sv.f64:
        return one.x[0] + one.n

    @sv.kernel
    def run_with_the_rest(one: Forgotten) -> sv.i64:
        return one.known + one.baked + (1 if sv.static(one.other is None) else 0)

    one = Forgotten(np.full(2, 0.5, np.float32))
    with pytest.warns(sv.SamovarWarning, match="which is ignored") as caught:
        assert run(one) == 3.5
    messages = [str(each.message) for each in caught]
    assert len(messages) == 2
    text = "sv.types.ndarray(dtype=element, ndim=1, boundary='clamp')"
    assert messages[0].startswith(f"`one.x` is declared as `{text}` in its class, which")
    assert messages[1].startswith("`one.n` is declared as `element` in its class")
    assert "help: define the names it uses in the module" in messages[0]
    assert run_with_the_rest(one) == 10


@dataclasses.dataclass
class Numbers:
    n: int = 3


@sv.func
def increment(x: sv.template()):
    x += 1


def test_a_func_cannot_change_a_member():
    @sv.kernel
    def run(numbers: Numbers) -> sv.i32:
        increment(numbers.n)
        return numbers.n

    with pytest.raises(sv.SamovarSyntaxError, match=r"the member `numbers.n` cannot be assigned"):
        run(Numbers())

    @sv.kernel
    def run_on_a_copy(numbers: Numbers) -> sv.i32:
        copy = numbers.n
        increment(copy)
        return copy * 10 + numbers.n

    assert run_on_a_copy(Numbers()) == 43


KEY = uuid.UUID(int=5)


@pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")
@pytest.mark.parametrize("value", [None, 5, "x", KEY, uuid.UUID(int=5), uuid.UUID(int=6), Walls.Mode.A])
def test_an_object_and_a_simple_value_are_compared_as_python_does(value):
    @sv.kernel
    def run(one: sv.Template) -> sv.i32:
        return sv.static(one.value == KEY) + 2 * sv.static(KEY != one.value)  # noqa: SIM300

    one = Varying()
    one.value = value
    assert run(one) == (value == KEY) + 2 * (value != KEY)


def test_a_tuple_is_not_None():
    @sv.kernel
    def run(one: sv.Template) -> sv.i32:
        return sv.static(one.value == None) + 2 * sv.static(one.value != None)  # noqa: E711

    one = Varying()
    one.value = (1, 2)
    assert run(one) == 2


def test_a_builtin_inside_static_does_what_it_does_in_python():
    @sv.kernel
    def run(one: sv.Template) -> sv.i32:
        return sv.static(isinstance(one.value, int))

    one = Varying()
    for value in (3, 3.5, True, 2):
        one.value = value
        assert run(one) == isinstance(value, int)
