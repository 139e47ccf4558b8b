"""A cached kernel is never wrong: each change that matters gives the new result, in another process and in this one; each
change that does not compiles nothing."""

from __future__ import annotations

import importlib.util
import shutil

import numpy as np
import pytest
import worlds
from edits import DOES_NOT_MATTER, EDITS, RENAMED

import samovar as sv
from samovar import _native, static


def matches(found, expected):
    """A result as expected; of an error, the name of its class is."""
    if isinstance(expected, str) and expected.endswith("Error"):
        return isinstance(found, str) and found.startswith(f"{expected}:")
    return found == expected


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Every program in four processes: as it was, edited, as it was again, edited again."""
    base = tmp_path_factory.mktemp("edits")
    places = {name: (base / "programs" / str(number), base / "caches" / str(number)) for number, name in enumerate(EDITS)}
    found = []
    for changed in (False, True, False, True):
        for name, (folder, _) in places.items():
            worlds.write(folder, EDITS[name].files(changed))
        found.append(worlds.run_elsewhere(places))
    return found


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_gives_the_new_result_in_another_process(runs, name):
    edit = EDITS[name]
    for run, expected in zip(runs, (edit.before, edit.after, edit.before, edit.after), strict=True):
        assert matches(run[name]["result"], expected), run[name]


@pytest.mark.parametrize("name", EDITS)
def test_what_was_compiled_before_an_edit_is_there_after_it_is_reverted(runs, name):
    assert runs[0][name]["kernels"] == 1
    assert runs[2][name]["kernels"] == 0
    if not isinstance(EDITS[name].after, str) or not EDITS[name].after.endswith("Error"):
        assert runs[3][name]["kernels"] == 0


@pytest.mark.parametrize("name", DOES_NOT_MATTER)
def test_what_does_not_matter_compiles_nothing(runs, name):
    assert runs[1][name]["kernels"] == 0


@pytest.mark.parametrize("name", RENAMED)
def test_a_renamed_local_runs_no_llvm(runs, name):
    assert runs[1][name]["kernels"] == 1
    assert runs[1][name]["llvm"] == 0


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_gives_the_new_result_in_this_process(tmp_path, name):
    edit = EDITS[name]
    for changed, expected in ((False, edit.before), (True, edit.after), (False, edit.before)):
        folder = worlds.write(tmp_path / "program", edit.files(changed))
        assert matches(worlds.run(folder, tmp_path / "cache")["result"], expected)


def test_a_moved_file_compiles_nothing(tmp_path):
    files = EDITS["comment, in a function with locals"].files(False)
    first, second = worlds.write(tmp_path / "first", files), worlds.write(tmp_path / "a" / "second", files)
    cache = tmp_path / "cache"
    assert worlds.run_elsewhere({"it": (first, cache)})["it"]["kernels"] == 1
    shutil.rmtree(first)
    assert worlds.run_elsewhere({"it": (second, cache)})["it"] == {"result": 6, "kernels": 0, "llvm": 0}


# --- two launches in one process: the world changes between them


def in_place(folder, text):
    """A module with kernels, from a file."""
    worlds.write(folder, {"changing.py": worlds.HEADER + text})
    spec = importlib.util.spec_from_file_location("changing", folder / "changing.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RETURNING = "VALUE = {}\n@sv.kernel\ndef k() -> sv.f64:\n    return VALUE\n"
STEP = "@sv.func\ndef f(n: sv.i32):\n    return n + 1\n"
SPACE = "from types import SimpleNamespace\nspace = SimpleNamespace(n=1)\n"
#: Text of a module with a kernel `k`, what is executed in it between launches, and the results around it.
CHANGES = {
    "int": (RETURNING.format(1), "VALUE = 2", 1, 2),
    "int that becomes a float": (RETURNING.format(1), "VALUE = 1.5", 1, 1.5),
    "int that becomes a bool": (RETURNING.format(2), "VALUE = True", 2, 1),
    "float": (RETURNING.format(1.5), "VALUE = 2.5", 1.5, 2.5),
    "dtype": (
        "T = sv.f32\n@sv.kernel\ndef k() -> sv.f64:\n    return sv.cast(sv.f64(0.3), T)\n",
        "T = sv.f64",
        0.30000001192092896,
        0.3,
    ),
    "enum redefined": (
        "class E(enum.Enum):\n    A = 1\n@sv.kernel\ndef k() -> sv.i32:\n    return E.A.value\n",
        "class E(enum.Enum):\n    A = 2",
        1,
        2,
    ),
    "enum that becomes one of numbers": (
        "class E(enum.Enum):\n    A = 1\n@sv.kernel\ndef k() -> sv.i32:\n    return 5 if static(E.A == 1) else 6\n",
        "class E(enum.IntEnum):\n    A = 1",
        6,
        5,
    ),
    "tuple": ("T = (1, 2)\n@sv.kernel\ndef k() -> sv.i32:\n    return static(T[0]) + static(T[1])\n", "T = (1, 3)", 3, 4),
    "list in place": ("T = [1, 2]\n@sv.kernel\ndef k() -> sv.i32:\n    return static(T[0] + T[1])\n", "T[1] = 3", 3, 4),
    "list gets longer": ("T = [1, 2]\n@sv.kernel\ndef k() -> sv.i32:\n    return static(len(T))\n", "T.append(3)", 2, 3),
    "list in a list": ("T = [[1], [2]]\n@sv.kernel\ndef k() -> sv.i32:\n    return static(T[1][0])\n", "T[1][0] = 3", 2, 3),
    "dict in place": ("T = {'a': 1}\n@sv.kernel\ndef k() -> sv.i32:\n    return static(T['a'])\n", "T['a'] = 3", 1, 3),
    "attribute": (
        SPACE + "@sv.kernel\ndef k() -> sv.i32:\n    return static(space.n * 2)\n",
        "space.n = 3",
        2,
        6,
    ),
    "operand of static": ("N = 1\n@sv.kernel\ndef k() -> sv.i32:\n    return static(N * 2 + 1)\n", "N = 2", 3, 5),
    "argument of a function in static": (
        "N = 1\ndef g(n):\n    return n * 7\n@sv.kernel\ndef k() -> sv.i32:\n    return static(g(N))\n",
        "N = 2",
        7,
        14,
    ),
    "function in static rebound": (
        "def g(n):\n    return n * 7\n@sv.kernel\ndef k() -> sv.i32:\n    return static(g(1))\n",
        "def g(n):\n    return n * 8",
        7,
        8,
    ),
    "func rebound": (
        STEP + "@sv.kernel\ndef k() -> sv.i32:\n    return f(1)\n",
        "@sv.func\ndef h(n: sv.i32):\n    return n + 5\nf = h",
        2,
        6,
    ),
    "default of a func": (
        "@sv.func\ndef f(n: sv.i32 = 1):\n    return n\n@sv.kernel\ndef k() -> sv.i32:\n    return f()\n",
        "f.__wrapped__.__defaults__ = (4,)",
        1,
        4,
    ),
    "builtin shadowed": (
        "@sv.kernel\ndef k() -> sv.i32:\n    return max(1, 2)\n",
        "@sv.func\ndef max(a: sv.i32, b: sv.i32):\n    return a * 10",
        2,
        10,
    ),
    "builtin no longer shadowed": (
        "@sv.func\ndef max(a: sv.i32, b: sv.i32):\n    return a * 10\n"
        "@sv.kernel\ndef k() -> sv.i32:\n    return max(1, 2)\n",
        "del max",
        10,
        2,
    ),
    "constant of another module": (
        "import types\nsettings = types.ModuleType('settings')\nsettings.n = 1\n"
        "@sv.kernel\ndef k() -> sv.i32:\n    return settings.n\n",
        "settings.n = 2",
        1,
        2,
    ),
    "cell": (
        "def make():\n    n = 1\n    def change():\n        nonlocal n\n        n = 2\n"
        "    @sv.kernel\n    def k() -> sv.i32:\n        return n\n    return k, change\nk, change = make()\n",
        "change()",
        1,
        2,
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_between_two_launches_is_seen(tmp_path, name):
    text, change, before, after = CHANGES[name]
    sv.init(offline_cache_file_path=tmp_path / "cache", log_level="error")
    module = in_place(tmp_path, text)
    assert module.k() == before
    path = tmp_path / "change.py"
    path.write_text(change)
    exec(compile(change, str(path), "exec"), vars(module))
    assert module.k() == after
    assert module.k() == after


# --- arguments


def test_each_dtype_rank_layout_and_gradient_is_told_from_the_others(tmp_path):
    @sv.kernel
    def k(a: sv.Template) -> sv.f64:
        total = sv.f64(0)
        for i in range(a.shape[0]):
            if static(len(a.shape) == 1):
                total += a[i]
            else:
                total += a[i, 0] * 100
        return total

    def arrays():
        for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "?"):
            yield np.ones(4, name), 4
            yield np.ones((4, 2), name), 400
            yield np.arange(8).astype(name)[::2], 3 if name == "?" else 12
        for needs_grad in (False, True):
            array = sv.ndarray(sv.f32, 3, needs_grad=needs_grad)
            array.fill(2)
            yield array, 6

    compiled = []
    for expected_compiles in (None, 0):
        sv.init(offline_cache_file_path=tmp_path, log_level="error")
        before = sv.compile_count()
        for array, expected in arrays():
            assert k(array) == expected
        compiled.append(sv.compile_count() - before)
        assert expected_compiles in (None, compiled[-1])
    # A contiguous f32 vector without gradient is the same, whoever has made it.
    assert compiled[0] == 3 * 12 + 1


def test_values_that_are_equal_and_of_other_types_are_told_apart(tmp_path):
    @sv.kernel
    def k(t: sv.Template) -> sv.f64:
        return t / 2 + (t + 2147483647)

    def results():
        return [k(t) for t in (1, True, 1.0, np.float32(1), np.int64(1), 0.0, -0.0, 1, 1.0)]

    sv.init(offline_cache_file_path=tmp_path, log_level="error")
    cold = results()
    fresh = []
    for t in (1, True, 1.0, np.float32(1), np.int64(1), 0.0, -0.0, 1, 1.0):
        sv.init(offline_cache=False, log_level="error")
        fresh.append(k(t))
    sv.init(offline_cache_file_path=tmp_path, log_level="error")
    before = sv.compile_count()
    assert results() == cold == fresh
    assert sv.compile_count() == before


# --- options, the machine, the version

OPTIONED = """
@sv.kernel
def k(a: sv.types.NDArray[sv.f32, 1]) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        total += a[i] / 3
    return total

@sv.kernel
def count(n: sv.i64) -> int:
    return n

def main():
    a = sv.ndarray(sv.f32, 4)
    a.fill(1)
    return [round(k(a), 12), count(2**20)]
"""


def test_options_that_change_code_are_part_of_the_key(tmp_path):
    folder, cache = worlds.write(tmp_path / "program", {"main.py": OPTIONED}), tmp_path / "cache"
    variants = [
        {},
        {"debug": True},
        {"check_out_of_bound": True},
        {"fast_math": False},
        {"default_fp": sv.f64},
        {"default_ip": sv.i64},
    ]
    for options in variants:
        fresh = worlds.run(folder, tmp_path / "unused", offline_cache=False, **options)
        found = worlds.run(folder, cache, **options)
        assert found["result"] == fresh["result"]
        assert found["kernels"] > 0, options
    for options in variants:
        found = worlds.run(folder, cache, **options)
        assert found["kernels"] == 0, options
    for options in ({"num_threads": 1}, {"print_non_pure": True}, {"offline_cache_max_size": 1 << 24}):
        assert worlds.run(folder, cache, **options)["kernels"] == 0, options


def test_another_processor_or_version_finds_nothing(tmp_path):
    folder, cache = worlds.write(tmp_path / "program", {"main.py": OPTIONED}), tmp_path / "cache"
    world = {"it": (folder, cache)}
    # What the processor can do, as a process on another one would be told. LLVM is asked for less than there is.
    fewer = """
        from samovar import _native
        features = {**_native.cpu_features(), "avx512f": False, "avx512vl": False}
        _native.cpu_features = lambda: features
        """
    first = worlds.run_elsewhere(world)["it"]
    assert first["kernels"] == 2
    assert worlds.run_elsewhere(world)["it"] == {**first, "kernels": 0, "llvm": 0}
    assert worlds.run_elsewhere(world, {"SAMOVAR_BUILD_CACHE_VERSION_ID": "other"})["it"] == first
    assert worlds.run_elsewhere(world, {"SAMOVAR_BUILD_CACHE_VERSION_ID": "other"})["it"]["kernels"] == 0
    if _native.cpu_features().get("avx512f"):
        assert worlds.run_elsewhere(world, prelude=fewer)["it"] == first
        assert worlds.run_elsewhere(world, prelude=fewer)["it"]["kernels"] == 0
    name = "from samovar import _native\n_native.cpu_name = lambda: 'x86-64'\n"
    assert worlds.run_elsewhere(world, prelude=name)["it"]["kernels"] == 2
    assert worlds.run_elsewhere(world)["it"]["kernels"] == 0


def test_without_assertions_a_kernel_is_told_from_one_that_has_none(tmp_path):
    """`python -O` leaves nothing of an assertion in the bytecode."""
    cache = tmp_path / "cache"
    text = "@sv.kernel\ndef k(n: sv.i32) -> sv.i32:\n{}    return n\n\ndef main():\n    return k(2)\n"
    folder = tmp_path / "program"
    results = []
    for statement in ("    assert n > 5\n", "\n", "    assert n > 5\n"):
        worlds.write(folder, {"main.py": text.format(statement)})
        fresh = worlds.run_elsewhere({"it": (folder, tmp_path / "x")}, flags=("-O",), debug=True, offline_cache=False)
        results.append((worlds.run_elsewhere({"it": (folder, cache)}, flags=("-O",), debug=True), fresh))
    for found, fresh in results:
        assert found["it"]["result"] == fresh["it"]["result"]


# --- messages say where

ASSERTING = """
@sv.kernel
def k(n: sv.i32):
    assert n > 5, "too small"

def main():
    try:
        k(2)
    except sv.SamovarAssertionError as error:
        return str(error)
"""


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_kernels_with_the_same_text_name_their_own_file_and_line(tmp_path, order):
    cache = tmp_path / "cache"
    folders = [
        worlds.write(tmp_path / "one", {"main.py": ASSERTING}),
        worlds.write(tmp_path / "two", {"main.py": "\n\n\n" + ASSERTING}),
    ]
    lines = [8, 11]
    for kernels in (1, 0):
        found = worlds.run_elsewhere({str(i): (folders[i], cache) for i in order}, debug=True)
        for i in order:
            assert f"{folders[i]}/main.py:{lines[i]}" in found[str(i)]["result"]
            assert found[str(i)]["kernels"] == kernels
