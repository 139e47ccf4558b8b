"""Functions seen through the lens: how names resolve, identity, defaults, signatures."""

from looking import again, look

import samovar as sv
from samovar.language.annotations import ArrayAnnotation, ScalarAnnotation
from samovar.lens import Kind

constant = 5
table = sv.ndarray(sv.f32, 3)


@sv.func
def inner(x: sv.f32, scale: sv.f32 = 2.0, *, offset: sv.f32 = 1.0) -> sv.f32:
    return x * scale + offset + constant


alias = inner


def kernel(a: sv.types.NDArray[sv.f32, 1], n: int, flag: bool = True) -> sv.f32:
    return inner(a[n]) + alias(a[0]) + len(a) + missing  # noqa: F821


def test_names_resolve_to_cells_globals_and_builtins():
    captured = 3

    def local():
        return captured + constant + len([])

    function = look(local).kernel
    assert [str(function.resolve(name).path) for name in ("captured", "constant", "len")] == [
        "captured captured",
        "global constant",
        "builtin len",
    ]


def test_an_undefined_name_is_none_and_recorded():
    lens = look(kernel)
    assert lens.kernel.resolve("missing") is None
    assert lens.trace[-1].answer is Kind.ABSENT
    assert str(lens.trace[-1].path) == "undefined missing"


def test_an_empty_cell_is_undefined():
    def local():
        return later

    function = look(local).kernel
    assert function.resolve("later") is None
    later = 1


def test_shadowing_a_builtin_is_seen():
    def local():
        return len([])

    lens = look(local)
    lens.kernel.resolve("len").intrinsic()
    globals()["len"] = lambda x: 3
    try:
        assert str(again(lens.trace, local)) == "builtin len no longer exists"
    finally:
        del globals()["len"]
    assert again(lens.trace, local) is None


def test_parameters_carry_annotations_kinds_and_defaults():
    parameters = look(kernel).kernel.resolve("inner").function().parameters
    assert [(p.name, p.kind) for p in parameters] == [
        ("x", "positional"),
        ("scale", "positional"),
        ("offset", "keyword only"),
    ]
    assert all(isinstance(p.annotation, ScalarAnnotation) and p.annotation.dtype is sv.f32 for p in parameters)
    assert parameters[0].default is None
    assert [p.default.value() for p in parameters[1:]] == [2.0, 1.0]


def test_the_kernel_itself_has_a_signature():
    function = look(kernel).kernel
    assert isinstance(function.parameters[0].annotation, ArrayAnnotation)
    assert isinstance(function.returns, ScalarAnnotation)
    assert function.parameters[2].default.value() is True
    assert (function.name, function.qualname) == ("kernel", "kernel")


def test_a_function_reached_twice_is_one_function():
    lens = look(kernel)
    first, second = lens.kernel.resolve("inner").function(), lens.kernel.resolve("alias").function()
    assert first.identity == second.identity
    assert again(lens.trace, kernel) is None


def test_a_name_that_is_another_function_now_is_seen():
    global alias
    lens = look(kernel)
    lens.kernel.resolve("inner").function()
    lens.kernel.resolve("alias").function()
    alias = sv.func(inner.__wrapped__.__class__(inner.__wrapped__.__code__, globals(), "inner"))
    try:
        assert str(again(lens.trace, kernel)) == "global alias() is no longer the same as global inner()"
    finally:
        alias = inner


def test_functions_of_one_module_share_its_names():
    lens = look(kernel)
    inner_ref = lens.kernel.resolve("inner").function()
    assert str(inner_ref.resolve("constant").path) == "global constant"
    assert lens.kernel.resolve("constant").path == inner_ref.resolve("constant").path


def test_functions_of_another_module_do_not():
    space = {"sv": sv}
    exec("def foreign(x):\n    return x * constant\n", space)
    space["constant"] = 8
    foreign = sv.func(space["foreign"])

    def local():
        return foreign(1)

    lens = look(local)
    ref = lens.kernel.resolve("foreign").function().resolve("constant")
    assert ref.value() == 8
    assert str(ref.path) == "global constant of captured foreign()"


def test_a_cell_that_functions_share_is_one_path():
    captured = 4

    @sv.func
    def local(x: sv.i32) -> sv.i32:
        return x + captured

    def outer(x: sv.i32):
        return local(x) + captured

    lens = look(outer)
    first = lens.kernel.resolve("captured")
    second = lens.kernel.resolve("local").function().resolve("captured")
    assert first.path == second.path
    assert again(lens.trace, outer) is None


def make(amount):
    @sv.func
    def add(x: sv.i32) -> sv.i32:
        return x + amount

    def outer(x: sv.i32):
        return add(x)

    return outer


def test_equal_code_with_another_closure_differs():
    lens = look(make(3))
    lens.kernel.resolve("add").function().resolve("amount").value()
    assert again(lens.trace, make(3)) is None
    assert str(again(lens.trace, make(4))) == "captured amount of captured add() changed from 3 to 4"


def test_a_default_that_changed_is_seen():
    @sv.func
    def local(x: sv.i32, y: sv.i32 = 1) -> sv.i32:
        return x + y

    def outer():
        return local(1)

    lens = look(outer)
    lens.kernel.resolve("local").function().parameters[1].default.value()
    local.__wrapped__.__defaults__ = (2,)
    assert str(again(lens.trace, outer)) == "default of y of captured local() changed from 1 to 2"


def test_options_of_the_decorator_are_part_of_the_signature():
    def body(x: sv.i32):
        pass

    local = sv.func(body)

    def outer():
        return local(1)

    lens = look(outer)
    assert lens.kernel.resolve("local").function().options == {"requires_top_level": False}
    local = sv.func(requires_top_level=True)(body)
    assert "annotations or options of captured local() changed" in str(again(lens.trace, outer))


def test_a_method_of_the_builtin_kind_has_no_function():
    import pytest

    def outer(x: sv.Template):
        pass

    with pytest.raises(sv.SamovarTypeError, match="not a function written in Python"):
        look(outer, x=sorted).parameter("x").function()
