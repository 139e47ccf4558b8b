"""The kernel as a callable: binding, results, and which specialization runs."""

from __future__ import annotations

import numpy as np
import pytest
from image_from_c import EMPTY, image_from_c

from samovar._native import Kernel, Ndarray, Specialization, f32, f64, i8, i32

# block: a, b, c as i32 slots; the result is 10000 a + 100 b + c
DIGITS = """
int32_t samovar_entry(void *context, int64_t *block)
{
    block[3] = 10000 * (int32_t)block[0] + 100 * (int32_t)block[1] + (int32_t)block[2];
    return 0;
}
"""


def digits(a, b, c=3):
    """Three numbers in one."""


def scalar_program(names: str, dtype=i32) -> list[tuple]:
    loads = [("parameter", i, i) for i in range(len(names))]
    return loads + [("scalar", i, dtype, 8 * i, name) for i, name in enumerate(names)]


def digits_specialization() -> Specialization:
    return Specialization(image_from_c(DIGITS), scalar_program("abc"), 3, 32, results=("scalar", i32, 24))


def digits_kernel() -> Kernel:
    return Kernel(digits, ("a", "b", "c"), {"c": 3}, lambda kernel, arguments: digits_specialization())


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((1, 2), {}), ((1, 2, 3), {}), ((1,), {"b": 2}), ((), {"b": 2, "a": 1}), ((1,), {"c": 3, "b": 2})],
)
def test_arguments_bind_by_position_keyword_and_default(args, kwargs):
    assert digits_kernel()(*args, **kwargs) == 10203


def test_keywords_that_are_not_interned_bind_too():
    parameters = ("a", "bb", "c")
    kernel = Kernel(digits, parameters, {"c": 3}, lambda kernel, arguments: digits_specialization())
    keyword = "".join(["b", "b"])
    assert keyword is not parameters[1]
    assert kernel(1, **{keyword: 2}) == 10203


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((1,), {}, r"digits\(\) missing 1 required argument: 'b'"),
        ((), {}, r"digits\(\) missing 2 required arguments: 'a', 'b'"),
        ((1, 2, 3, 4), {}, r"digits\(\) takes 3 arguments but 4 were given"),
        ((1, 2), {"z": 1}, r"digits\(\) got an unexpected keyword argument 'z'"),
        ((1, 2), {"b": 1}, r"digits\(\) got multiple values for argument 'b'"),
    ],
)
def test_wrong_arguments_are_named(args, kwargs, message):
    with pytest.raises(TypeError, match=message):
        digits_kernel()(*args, **kwargs)


def test_many_parameters_bind():
    names = tuple(f"p{i}" for i in range(100))
    source = """
    int32_t samovar_entry(void *context, int64_t *block)
    {
        for (int i = 0; i < 100; i++) block[100] += block[i] * i;
        return 0;
    }
    """
    program = [("parameter", i, i) for i in range(100)] + [("scalar", i, i32, 8 * i, names[i]) for i in range(100)]
    specialization = Specialization(image_from_c(source), program, 100, 808, results=("scalar", i32, 800))
    kernel = Kernel(digits, names, {}, lambda kernel, arguments: specialization)
    assert kernel(**{name: i for i, name in enumerate(names)}) == sum(i * i for i in range(100))
    assert kernel(*range(100)) == sum(i * i for i in range(100))


def test_a_scalar_out_of_range_is_an_overflow_error_with_its_name():
    image = image_from_c("int32_t samovar_entry(void *context, void *block) { return 0; }")
    specialization = Specialization(image, [("parameter", 0, 0), ("scalar", 0, i8, 0, "a")], 1, 8)
    kernel = Kernel(digits, ("a",), {}, lambda kernel, arguments: specialization)
    with pytest.raises(OverflowError, match="argument `a`: 300 does not fit in i8"):
        kernel(300)


def test_no_result_is_none_and_several_are_a_tuple():
    source = """
    int32_t samovar_entry(void *context, int64_t *block) { ((float *)block)[0] = 1.5f; block[1] = -7; return 0; }
    """
    image = image_from_c(source)

    def launch(**options):
        specialization = Specialization(image, [], 0, 16, **options)
        return Kernel(digits, (), {}, lambda kernel, arguments: specialization)()

    assert launch() is None
    assert launch(results=("scalar", f32, 0)) == 1.5
    assert launch(results=("tuple", (("scalar", f32, 0),))) == (1.5,)
    assert launch(results=("tuple", (("scalar", f32, 0), ("scalar", i32, 8)))) == (1.5, -7)


def test_results_are_a_tree():
    source = "int32_t samovar_entry(void *context, int64_t *block) { block[0] = 3; block[1] = -7; return 0; }"
    first, second = ("scalar", "i32", 0), ("scalar", "i64", 8)
    tree = ("tuple", (("tuple", (second, ("tuple", ()), None)), first, ("tuple", (first, second))))
    specialization = Specialization(image_from_c(source), [], 0, 16, results=tree)
    kernel = Kernel(digits, (), {}, lambda kernel, arguments: specialization)
    assert kernel() == ((-7, (), None), 3, (3, -7))


def test_structs_among_results_are_made_by_who_knows_them():
    source = "int32_t samovar_entry(void *context, int64_t *block) { block[0] = 3; block[1] = -7; return 0; }"
    first, second = ("scalar", "i32", 0), ("scalar", "i64", 8)
    inner = ("struct", lambda members: {"inner": members}, (second,))
    tree = ("struct", list, (first, inner, ("tuple", (second,))))
    specialization = Specialization(image_from_c(source), [], 0, 16, results=tree)
    kernel = Kernel(digits, (), {}, lambda kernel, arguments: specialization)
    del tree, inner
    assert kernel() == [3, {"inner": (-7,)}, (-7,)]
    failing = Specialization(image_from_c(source), [], 0, 16, results=("struct", lambda members: 1 / 0, (first,)))
    with pytest.raises(ZeroDivisionError):
        Kernel(digits, (), {}, lambda kernel, arguments: failing)()


ADD = """
struct frame { float *x; float *y; int64_t stride; };
static void work(void *pointer, int64_t begin, int64_t end)
{
    struct frame *frame = pointer;
    for (int64_t i = begin; i < end; i++) frame->x[i] += frame->y[i];
}
int32_t samovar_entry(void *context, int64_t *block)
{
    struct frame frame = {(float *)block[0], (float *)block[2]};
    return sv_run(context, 0, work, &frame, block[1], 1);
}
"""


def add_kernel() -> Kernel:
    def resolve(kernel, arguments):
        program = [
            ("parameter", 0, 0),
            ("tensor", 0, f32, 1, True, *[False] * 8, True),
            ("parameter", 1, 1),
            ("tensor", 1, f32, 1, True, *[False] * 9),
            ("array", 0, 0, False),
            ("array", 1, 16, False),
        ]
        return Specialization(image_from_c(ADD), program, 2, 32, tasks=[("work", 0.5, 0)])

    return Kernel(digits, ("x", "y"), {}, resolve)


def test_arrays_reach_the_code():
    x, y = Ndarray(f32, 5), np.arange(5, dtype=np.float32)
    kernel = add_kernel()
    kernel(x, y)
    kernel(x, y)
    assert [x[i] for i in range(5)] == [0, 2, 4, 6, 8]
    assert len(kernel.specializations) == 1


def test_a_second_miss_names_the_kernel():
    kernel = add_kernel()
    with pytest.raises(RuntimeError, match="digits: the guards of a new specialization do not hold"):
        kernel(Ndarray(f64, 5), Ndarray(f32, 5))


def test_an_exception_of_resolve_reaches_the_caller():
    def resolve(kernel, arguments):
        raise LookupError(arguments)

    with pytest.raises(LookupError) as caught:
        Kernel(digits, ("a", "b"), {"b": 7}, resolve)(1)
    assert caught.value.args == ((1, 7),)


def test_the_specialization_that_matched_moves_to_the_front():
    image = image_from_c("int32_t samovar_entry(void *context, void *block) { return 0; }")
    made = []

    def resolve(kernel, arguments):
        made.append(Specialization(image, [("parameter", 0, 0), ("type", 0, type(arguments[0]))], 1, 0))
        return made[-1]

    kernel = Kernel(digits, ("a",), {}, resolve)
    for value in (1, 1.0, "1", 1, 1.0, "1"):
        kernel(value)
    assert len(made) == 3
    assert kernel.specializations == [made[2], made[1], made[0]]
    kernel(1)
    assert kernel.specializations == [made[0], made[2], made[1]]
    kernel.remove(made[2])
    assert kernel.specializations == [made[0], made[1]]
    kernel.clear()
    assert kernel.specializations == []


def test_what_was_made_before_the_kernel_was_cleared_is_made_again():
    from samovar._native import Image, Kernel, Specialization

    image = Image.from_flat(EMPTY)
    made = []

    def resolve(kernel, arguments):
        made.append(Specialization(image, [], 0, 0))
        if len(made) == 1:
            kernel.clear()
            kernel.insert(made[0])
        return made[-1]

    def nothing():
        pass

    kernel = Kernel(nothing, (), {}, resolve)
    kernel()
    assert kernel.specializations == [made[1]]


def test_an_answer_that_changed_before_the_guards_ran_is_asked_again():
    from samovar._native import Image, Kernel, Specialization

    image = Image.from_flat(EMPTY)
    world = {"n": 1}
    asked = []

    def resolve(kernel, arguments):
        asked.append(world["n"])
        specialization = Specialization(image, [("global", 0, world, "n"), ("value", 0, world["n"])], 1, 0)
        if len(asked) == 1:
            world["n"] = 2
        return specialization

    def nothing():
        pass

    Kernel(nothing, (), {}, resolve)()
    assert asked == [1, 2]
