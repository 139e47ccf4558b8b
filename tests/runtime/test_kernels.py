"""Kernels as objects, how they specialize, and what they say when they do it too often."""

import gc
import importlib
import linecache
import pickle
import pydoc
import sys
import threading
import types
import warnings
import weakref

import numpy as np
import pytest

import samovar as sv
from samovar._native import BoundKernel
from samovar.runtime import kernel as kernel_module
from samovar.runtime.install import WARN_AFTER


@sv.kernel
def fill(a: sv.types.NDArray[sv.f32, 1], value: sv.f32 = 2.0):
    """Set every element."""
    for i in a:
        a[i] = value


@sv.kernel(fastcache=True)
def pure(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        a[i] = sv.math.pi


def test_it_looks_like_the_function():
    assert (fill.__name__, fill.__qualname__, fill.__module__) == ("fill", "fill", __name__)
    assert fill.__doc__ == "Set every element."
    assert list(fill.__signature__.parameters) == ["a", "value"]
    assert fill.__wrapped__.__name__ == "fill"
    assert "fill" in repr(fill)


def test_it_is_pickled_by_name():
    assert pickle.loads(pickle.dumps(fill)) is fill


def test_defaults_and_keywords():
    a = sv.ndarray(sv.f32, 3)
    fill(a)
    assert a[2] == 2
    fill(value=5, a=a)
    assert a[2] == 5
    fill(a, value=6)
    assert a[2] == 6


def test_it_binds_as_a_method():
    class Owner:
        @sv.kernel
        def nothing(self, x: sv.i32) -> sv.i32:
            return x

    assert isinstance(Owner().nothing, BoundKernel)
    assert Owner().nothing(3) == 3


def test_a_decorator_with_options():
    a = sv.ndarray(sv.f32, 2)
    pure(a)
    assert a[1] == pytest.approx(3.14159265)


factor = 3.0


def test_fastcache_refuses_captured_values():
    @sv.kernel(fastcache=True)
    def impure(a: sv.types.NDArray[sv.f32, 1]):
        for i in a:
            a[i] = factor

    with pytest.raises(sv.SamovarCompilationError, match="captures global factor"):
        impure(sv.ndarray(sv.f32, 2))


def test_fastcache_refuses_captured_arrays():
    array = sv.ndarray(sv.f32, 2)

    @sv.kernel(fastcache=True)
    def impure():
        for i in array:
            array[i] = 1.0

    with pytest.raises(sv.SamovarCompilationError, match="captures captured array"):
        impure()


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError):
        sv.kernel(fast=True)


def test_only_functions_become_kernels():
    for decorate in (sv.kernel, sv.func):
        with pytest.raises(sv.SamovarTypeError, match="decorates a function, not a type"):
            decorate(int)


def test_one_specialization_for_each_kind_of_argument():
    @sv.kernel
    def first(a: sv.types.NDArray, i: sv.i32):
        a[i] = 1

    for array in (np.zeros(3, "f4"), np.zeros(3, "f8"), np.zeros(6, "f4")[::2], np.zeros(5, "f4"), np.ones(3, "f8")):
        first(array, 1)
    assert len(first.specializations) == 3


def test_a_new_object_with_the_same_answers_does_not_compile_again():
    compiled = []

    @sv.kernel
    def scaled(x: sv.i32, world: sv.Template) -> sv.i32:
        return x * sv.static(compiled.append(1) or world.n)

    class First:
        n = 4

    class Second:
        n = 4

    assert scaled(2, First()) == 8
    images = {id(each.image) for each in scaled.specializations}
    assert scaled(3, Second()) == 12
    assert {id(each.image) for each in scaled.specializations} == images


def test_a_kernel_keeps_no_argument_alive():
    @sv.kernel
    def total(a: sv.types.NDArray[sv.f32, 1], world: sv.Template) -> sv.f32:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i] * world.weight
        return s

    class World:
        weight = 2.0

    a, world = np.ones(3, "f4"), World()
    assert total(a, world) == 6
    watched = weakref.ref(a), weakref.ref(world)
    del a, world
    gc.collect()
    assert [each() for each in watched] == [None, None]


def test_inspect_needs_no_arguments_after_a_launch_even_if_they_are_gone():
    @sv.kernel
    def added(a: sv.types.NDArray, b: sv.types.NDArray):
        for i in range(3):
            a[i] += b[i]

    added(np.zeros(3, "f8"), np.ones(3, "f8"))
    gc.collect()
    text = added.inspect("ir")
    assert text == added.inspect("ir", np.zeros(3, "f8"), np.ones(3, "f8"))
    assert "f64" in text
    assert "define" in added.inspect("llvm")
    assert len(added.specializations) == 1


def test_inspect_before_a_launch_says_what_to_do():
    @sv.kernel
    def never(a: sv.types.NDArray):
        a[0] = 1

    with pytest.raises(sv.SamovarTypeError, match="was not launched yet"):
        never.inspect("ir")
    with pytest.raises(sv.SamovarTypeError, match=r"'cuda' is not one of .*'ir', 'llvm', 'asm'"):
        never.inspect("cuda")


def test_inspect_of_overlapping_arrays_shows_what_ran():
    @sv.kernel
    def shifted(a: sv.types.NDArray[sv.f64, 1], b: sv.types.NDArray[sv.f64, 1]):
        for i in range(3):
            a[i] = b[i]

    whole = np.zeros(6)
    shifted(whole[:4], whole[1:5])
    overlapping = shifted.inspect("ir")
    shifted(np.zeros(4), np.zeros(4))
    assert overlapping != shifted.inspect("ir")


def test_after_many_compiles_for_one_reason_a_warning_names_it():
    @sv.kernel
    def baked(n: sv.Template) -> sv.i32:
        return n

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(WARN_AFTER):
            assert baked(n) == n
    with pytest.warns(sv.SamovarWarning, match=r"compiled 17 times, because parameter `n` changed .* to 100") as caught:
        baked(100)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        baked(101)


HOLDER = """
import samovar as sv
@sv.func
def part(x):
    y: sv.f32 = x + {}
    return y
@sv.kernel
def whole(x: sv.f32) -> sv.f32:
    return part(x)
"""


def test_versions_of_a_program_are_no_reason_to_warn(tmp_path, monkeypatch):
    """Each version is a kernel of its own, as in a process of its own; what is known of it is in the cache."""
    sv.init(offline_cache_file_path=tmp_path / "cache", log_level="warn")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for version in range(WARN_AFTER + 3):
            (tmp_path / "versions_of_one.py").write_text(HOLDER.format(version))
            sys.modules.pop("versions_of_one", None)
            assert importlib.import_module("versions_of_one").whole(1.0) == 1 + version


def test_funcs_that_are_made_again_and_again_are_a_reason_to_warn():
    held = types.SimpleNamespace(part=None)

    @sv.kernel
    def whole(x: sv.f32) -> sv.f32:
        return held.part(x)

    def make(version):
        text, name, space = f"@sv.func\ndef part(x):\n    return x + {version}\n", f"<cell {version}>", {"sv": sv}
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile(text, name, "exec"), space)
        held.part = space["part"]

    for version in range(WARN_AFTER):
        make(version)
        assert whole(1.0) == 1 + version
    make(100)
    with pytest.warns(sv.SamovarWarning, match=r"compiled 17 times(.|\n)*create it once"):
        whole(1.0)


def test_the_number_of_specializations_is_bounded(monkeypatch):
    monkeypatch.setattr(kernel_module, "MOST_SPECIALIZATIONS", 4)

    @sv.kernel
    def baked(n: sv.Template) -> sv.i32:
        return n

    for n in range(8):
        assert baked(n) == n
    assert len(baked.specializations) == 4
    assert baked(7) == 7
    assert baked(0) == 0


def test_many_threads_compile_once():
    compiled = []

    @sv.kernel
    def counted(x: sv.i32) -> sv.i32:
        return x + sv.static(compiled.append(1) or 1)

    barrier = threading.Barrier(8)
    results = []

    def launch():
        barrier.wait()
        results.append(counted(1))

    threads = [threading.Thread(target=launch) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2] * 8
    assert len(counted.specializations) == 1


def test_a_kernel_may_be_launched_while_another_compiles():
    @sv.kernel
    def inner(x: sv.i32) -> sv.i32:
        return x * 2

    def launch_inner(x):
        return inner(x)

    @sv.kernel
    def outer(x: sv.i32) -> sv.i32:
        return x + sv.static(launch_inner(10))

    assert outer(1) == 21


def test_a_failed_compile_leaves_the_kernel_usable():
    @sv.kernel
    def picky(n: sv.Template) -> sv.i32:
        sv.static_assert(n > 0, "positive")
        return n

    with pytest.raises(sv.SamovarCompilationError):
        picky(-1)
    assert picky(2) == 2


def test_nothing_is_written_into_arguments():
    class World:
        def __init__(self):
            self.n = 3
            self.inner = types.SimpleNamespace(m=4)

    @sv.kernel
    def reads(world: sv.Template) -> sv.i32:
        return world.n + world.inner.m

    world = World()
    before = dict(vars(world)), dict(vars(world.inner))
    assert reads(world) == 7
    assert (dict(vars(world)), dict(vars(world.inner))) == before


def test_a_property_is_read_once_for_each_launch():
    class World:
        reads = 0

        @property
        def n(self):
            self.reads += 1
            return 5

    @sv.kernel
    def uses(world: sv.Template) -> sv.i32:
        return world.n * world.n

    world = World()
    assert uses(world) == 25
    world.reads = 0
    assert uses(world) == 25
    assert world.reads == 1


@sv.kernel
def inferred(a, n, b: sv.f32, unused):
    """Add."""
    for i in a:
        a[i] += n * b


def test_its_docstring_has_the_types_found_for_parameters_without_annotations():
    assert inferred.__doc__ == "Add."
    inferred(np.ones(3), 2, 1.0, None)
    inferred(np.ones((3), np.float32), 2.5, 1.0, None)
    inferred(np.ones(4), 3, 1.0, None)
    text, _, listed = pydoc.plain(pydoc.render_doc(inferred)).partition("Compiled for:")
    assert "Add." in text
    assert [line.strip() for line in listed.split("\n") if line.strip()] == [
        "a: sv.Array[sv.f64, 1], n: int, unused: not used",
        "a: sv.Array[sv.f32, 1], n: float, unused: not used",
    ]
    assert type(inferred).__doc__.startswith("A compiled function")


def test_the_docstring_of_an_annotated_kernel_stays():
    fill(np.ones(3, np.float32))
    assert fill.__doc__ == "Set every element."
