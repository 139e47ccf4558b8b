"""Options: from arguments, from the environment, checked, and never mixed with code of other options."""

import subprocess
import sys
import threading

import pytest

import samovar as sv
from samovar.runtime import configuration
from samovar.runtime.configuration import current_options


@pytest.fixture(autouse=True)
def defaults():
    sv.reset()
    yield
    sv.reset()


def test_without_init_the_defaults_hold():
    options = current_options()
    assert (options.arch, options.debug, options.fast_math) == ("cpu", False, True)
    assert (options.default_ip, options.default_fp) == (sv.i32, sv.f32)


def test_init_sets_and_reset_takes_back():
    sv.init(debug=True, default_fp=sv.f64, num_threads=1, log_level="info")
    assert (current_options().debug, current_options().default_fp, current_options().num_threads) == (True, sv.f64, 1)
    sv.reset()
    assert current_options().debug is False


def test_init_starts_from_the_defaults_each_time():
    sv.init(debug=True)
    sv.init(fast_math=False)
    assert (current_options().debug, current_options().fast_math) == (False, False)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("debug", "1", True),
        ("debug", "off", False),
        ("fast_math", "FALSE", False),
        ("num_threads", "3", 3),
        ("default_fp", "f64", sv.f64),
        ("default_ip", "i64", sv.i64),
        ("log_level", "error", "error"),
        ("arch", "x64", "cpu"),
    ],
)
def test_every_option_reads_the_environment(monkeypatch, name, text, value):
    monkeypatch.setenv(f"SAMOVAR_{name.upper()}", text)
    sv.reset()
    assert getattr(current_options(), name) == value


def test_what_is_given_comes_before_the_environment(monkeypatch):
    monkeypatch.setenv("SAMOVAR_DEBUG", "1")
    sv.init(debug=False)
    assert current_options().debug is False
    sv.init()
    assert current_options().debug is True


def test_int_and_float_mean_the_usual_types():
    sv.init(default_ip=int, default_fp=float)
    assert (current_options().default_ip, current_options().default_fp) == (sv.i32, sv.f32)


WRONG = [
    ({"cache_dir": "x"}, r"no option 'cache_dir': did you mean 'offline_cache_file_path'\?"),
    ({"cache": True}, r"no option 'cache': did you mean 'offline_cache'\?"),
    ({"cores": 4}, r"no option 'cores': did you mean 'num_threads'\?"),
    ({"bounds_check": True}, r"no option 'bounds_check': did you mean 'check_out_of_bound'\?"),
    ({"zzz": True}, r"no option 'zzz'\n  valid options: arch, debug"),
    ({"dbug": True}, r"no option 'dbug': did you mean 'debug'\?(.|\n)*valid options: arch, debug"),
    ({"nonsense": True}, r"no option 'nonsense'\n  valid options: "),
    ({"debug": 1}, "1 is not one of True, False"),
    ({"num_threads": -1}, "-1 is not a non-negative integer"),
    ({"num_threads": True}, "True is not a non-negative integer"),
    ({"default_fp": sv.i32}, r"is not one of f32, f64"),
    ({"default_ip": "i32"}, "is not one of i32, i64"),
    ({"log_level": "warned"}, r"'warned' is not one of .*did you mean 'warning'"),
    ({"arch": "arm"}, "'arm' is not one of 'cpu', 'python'"),
    ({"arch": sv.gpu, "enable_fallback": False}, "only the CPU is supported, and enable_fallback=False"),
    ({"default_up": sv.u32}, "the unsigned type of default_ip"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_a_wrong_option_lists_the_valid_ones(options, message):
    before = current_options()
    with pytest.raises(sv.SamovarError, match=message):
        sv.init(**options)
    assert current_options() is before


def test_a_wrong_environment_variable_is_named(monkeypatch):
    monkeypatch.setenv("SAMOVAR_FAST_MATH", "maybe")
    with pytest.raises(sv.SamovarError, match="SAMOVAR_FAST_MATH: 'maybe' is not one of True, False"):
        sv.reset()
    monkeypatch.delenv("SAMOVAR_FAST_MATH")


@sv.kernel
def halved(x: sv.i32) -> float:
    return x / 3


def test_changed_options_run_new_code():
    single = halved(1)
    sv.init(default_fp=sv.f64)
    assert halved.specializations == []
    assert halved(1) == 1 / 3
    assert single != 1 / 3
    sv.reset()
    assert halved(1) == single


def test_arrays_outlive_init():
    a = sv.ndarray(sv.f32, 4)
    a.fill(3)
    sv.init()
    sv.reset()
    assert a[3] == 3


def test_options_that_change_while_a_kernel_compiles_win():
    entered, go_on = threading.Event(), threading.Event()
    first = [True]

    def wait():
        if first.pop() if first else False:
            entered.set()
            go_on.wait(30)
        return 3

    @sv.kernel
    def slow(x: sv.i32) -> float:
        return x / sv.static(wait())

    results = []
    thread = threading.Thread(target=lambda: results.append(slow(1)))
    thread.start()
    assert entered.wait(30)
    sv.init(default_fp=sv.f64)
    go_on.set()
    thread.join()
    assert results == [1 / 3]


@sv.kernel
def count_slowly(values: sv.types.ndarray()):
    for i in values:
        for _ in range(200):
            values[i] = values[i] + i
        values[i] = values[i] // 200


def test_after_sync_every_launch_is_done():
    values = sv.ndarray(sv.i64, 20_000)
    for launches in range(1, 4):
        values.fill(0)
        count_slowly(values)
        assert sv.sync() is None
        assert values.to_numpy().tolist() == list(range(20_000)), launches
    with pytest.raises(TypeError):
        sv.sync(1)


def test_kernels_that_are_gone_are_not_kept():
    import gc

    def make():
        @sv.kernel
        def temporary(x: sv.i32) -> sv.i32:
            return x

        temporary(1)

    gc.collect()
    before = len(configuration.registered())
    make()
    gc.collect()
    assert len(configuration.registered()) == before


def test_a_child_process_can_compile_while_the_parent_does():
    program = """
import os, threading
import samovar as sv
entered, go_on = threading.Event(), threading.Event()
parent = os.getpid()
def wait():
    if os.getpid() == parent:
        entered.set()
        go_on.wait(30)
    return 3
@sv.kernel
def k(x: sv.i32) -> sv.i32:
    return x * sv.static(wait())
thread = threading.Thread(target=k, args=(1,))
thread.start()
entered.wait(30)
child = os.fork()
if child == 0:
    os._exit(0 if k(2) == 6 else 1)
_, status = os.waitpid(child, 0)
go_on.set()
thread.join()
assert status == 0
"""
    # Forking a process with threads is what is tested, so the warning about it is no news.
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forking.py"
        path.write_text(program)
        subprocess.run([sys.executable, "-W", "ignore", str(path)], check=True, timeout=120)
