"""What a kernel captures: `fastcache=True`, `print_non_pure`, `raise_on_templated_floats`. Decorating never fails for it."""

from __future__ import annotations

import enum
import math
import threading
import types
from math import pi

import numpy as np
import pytest

import samovar as sv
from samovar import static

number = 3
LIMIT = 4
nothing = None
table = [1, 2]
settings = types.SimpleNamespace(n=5, LIMIT=6)
module = types.ModuleType("module")
module.n = 7
module.LIMIT = 8


class Mode(enum.IntEnum):
    A = 9


@sv.func
def pure(n: sv.i32) -> sv.i32:
    return n + 1


@sv.func
def capturing(n: sv.i32) -> sv.i32:
    return n + number


@sv.func
def capturing_deeper(n: sv.i32) -> sv.i32:
    return capturing(n)


def k_number() -> sv.i32:
    return number


def k_nothing() -> sv.i32:
    return 1 if static(nothing is None) else 2


def k_table() -> sv.i32:
    return static(table[0])


def k_attribute() -> sv.i32:
    return settings.n


def k_module() -> sv.i32:
    return module.n


def k_func() -> sv.i32:
    return capturing(1)


def k_deeper() -> sv.i32:
    return capturing_deeper(1)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (k_number, "number"),
        (k_attribute, "settings"),
        (k_module, "module"),
        (k_func, "number"),
        (k_deeper, "number"),
    ],
)
def test_a_kernel_that_is_declared_pure_may_not_capture_values(function, named):
    kernel = sv.kernel(fastcache=True)(function)
    for _ in range(2):
        with pytest.raises(sv.SamovarCompilationError, match=rf"{function.__name__} is declared.*captures .*{named}"):
            kernel()
    assert sv.kernel(function)() > 0


def k_limit() -> sv.i32:
    return LIMIT


def k_module_limit() -> sv.i32:
    return module.LIMIT


def k_member_in_capitals() -> sv.i32:
    return settings.LIMIT


@pytest.mark.parametrize(("function", "result"), [(k_limit, 4), (k_module_limit, 8), (k_member_in_capitals, 6)])
def test_a_name_in_capitals_is_a_warning(function, result):
    with pytest.warns(sv.SamovarWarning, match="LIMIT.*because of its name"):
        assert sv.kernel(fastcache=True)(function)() == result


def k_static() -> sv.i32:
    return static(number)


def k_static_member() -> sv.i32:
    found = 0
    if static(settings.n == 5):
        found = 5
    return found


def k_static_range() -> sv.i32:
    found = 0
    for i in static(range(number)):
        found += i
    return found


def k_static_assert() -> sv.i32:
    sv.static_assert(number == 3)
    return 1


@sv.func
def static_in_a_func():
    return static(number + 0)


def k_static_func() -> sv.i32:
    return static_in_a_func()


@pytest.mark.parametrize("function", [k_nothing, k_static, k_static_member, k_static_range, k_static_assert, k_static_func])
def test_what_static_asks_for_is_a_warning(function):
    with pytest.warns(sv.SamovarWarning, match="because `static` asks for it"):
        assert sv.kernel(fastcache=True)(function)() == sv.kernel(function)()


def k_item() -> sv.i32:
    return table[1]


@pytest.mark.parametrize("function", [k_table, k_item])
def test_elements_of_containers_are_a_warning(function):
    with pytest.warns(sv.SamovarWarning, match="like everything in lists, tuples and dicts"):
        assert sv.kernel(fastcache=True)(function)() == sv.kernel(function)()


def k_static_and_plain() -> sv.i32:
    return settings.n + static(number)


def test_static_excuses_only_what_it_asks_for():
    with pytest.raises(sv.SamovarCompilationError, match=r"captures global settings\.n\n"):
        sv.kernel(fastcache=True)(k_static_and_plain)()


def k_constants() -> sv.f64:
    return math.pi + np.pi + sv.math.pi + pi


def k_enum() -> sv.f64:
    return Mode.A.value + pure(1)


def doubled(n):
    return [2 * n]


def k_function() -> sv.f64:
    return static(doubled(3)[0])


def k_types() -> sv.f64:
    return sv.cast(1, sv.f64) + abs(-1) + math.sqrt(4.0)


@pytest.mark.parametrize("function", [k_constants, k_enum, k_function, k_types])
def test_constants_enums_funcs_and_names_of_samovar_are_pure(function):
    assert sv.kernel(fastcache=True)(function)() == sv.kernel(function)()


def test_kernels_that_are_not_declared_pure_are_named_once_cold_and_warm(tmp_path, capfd):
    impure, declared = sv.kernel(k_number), sv.kernel(fastcache=True)(k_enum)
    for _ in range(2):
        sv.init(offline_cache_file_path=tmp_path, print_non_pure=True)
        impure(), declared(), impure()
    assert capfd.readouterr().err.count("is not declared with fastcache=True") == 1
    again = sv.kernel(k_number)
    sv.init(offline_cache_file_path=tmp_path, print_non_pure=True)
    before = sv.compile_count()
    again()
    assert sv.compile_count() == before
    assert "k_number is not declared with fastcache=True" in capfd.readouterr().err


half = 0.5


def k_float() -> sv.f32:
    return half


def k_template(t: sv.Template) -> sv.f32:
    return t


def k_static_float() -> sv.f32:
    return static(half * 2)


def test_a_baked_float_is_an_error_on_request(tmp_path):
    kernels = [
        (sv.kernel(k_float), (), "half"),
        (sv.kernel(k_template), (0.25,), "t"),
        (sv.kernel(k_static_float), (), "half"),
    ]
    for kernel, arguments, _ in kernels:
        sv.init(offline_cache_file_path=tmp_path)
        kernel(*arguments)
    sv.init(offline_cache_file_path=tmp_path, raise_on_templated_floats=True)
    for kernel, arguments, name in kernels:
        with pytest.raises(sv.SamovarCompilationError, match=rf"would be specialized on the float .*{name}"):
            kernel(*arguments)
    assert sv.kernel(k_template)(2) == 2
    assert sv.kernel(k_number)() == 3


class Hostile:
    """Nothing about it can be found out."""

    def __getattribute__(self, name):
        raise RuntimeError("hands off")

    def __eq__(self, other):
        raise RuntimeError("hands off")

    def __hash__(self):
        raise RuntimeError("hands off")

    def __reduce_ex__(self, protocol):
        raise RuntimeError("hands off")


HELD = [Hostile(), threading.Lock(), open, iter([1]), Hostile, object(), {1, 2}, sv, lambda: 1]


@pytest.mark.parametrize("number", range(len(HELD)))
def test_decorating_never_fails_because_of_what_is_captured(number):
    captured = HELD[number]

    @sv.kernel
    def k(n: sv.i32) -> sv.i32:
        if static(False):
            return captured
        return n + 1

    @sv.kernel(fastcache=True)
    def declared(n: sv.i32) -> sv.i32:
        if static(False):
            return captured
        return n + 1

    assert k(1) == declared(1) == 2
