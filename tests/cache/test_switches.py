"""The options of the cache, and what they switch off."""

from __future__ import annotations

import os

import pytest
import worlds

import samovar as sv
from samovar.cache.entry import FORMAT

#: The directory of this format.
VERSION = f"v{FORMAT}"

PROGRAM = "@sv.kernel\ndef k(n: sv.i32) -> sv.i32:\n    x = n * 3\n    return x + 1\n\ndef main():\n    return k(2)\n"


def make():
    @sv.kernel
    def k(n: sv.i32) -> sv.i32:
        x = n * 5
        return x + 1

    return k


def contents(folder):
    """Every file below a folder, with what a write would change."""
    return {
        path.relative_to(folder): (path.stat().st_mtime_ns, path.stat().st_size, path.stat().st_ino)
        for path in folder.rglob("*")
    }


def test_without_the_cache_no_file_is_read_or_written_and_everything_is_compiled(tmp_path):
    sv.init(offline_cache_file_path=tmp_path / "cache")
    make()(1)
    before, opened = contents(tmp_path), []
    sv.init(offline_cache_file_path=tmp_path / "cache", offline_cache=False)
    kernels, llvm = sv.compile_count(), sv.compile_count("llvm")

    for _ in range(2):
        k = make()
        with watching(opened):
            assert k(1) == 6
            assert k.cache_observations.reason == "the cache is switched off"
    assert sv.compile_count() == kernels + 2
    assert sv.compile_count("llvm") == llvm + 2
    assert contents(tmp_path) == before
    assert [path for path in opened if str(path).startswith(str(tmp_path))] == []


class watching:
    """Collect the paths that are opened meanwhile, as the interpreter's audit events tell them."""

    hooks: list[list] = []  # noqa: RUF012 - hooks cannot be removed, so there is one for all

    def __init__(self, paths):
        self.paths = paths

    def __enter__(self):
        if not self.hooks:
            import sys

            sys.addaudithook(lambda event, arguments: [each.append(arguments[0]) for each in self.hooks if event == "open"])
        self.hooks.append(self.paths)

    def __exit__(self, *error):
        self.hooks.remove(self.paths)


def test_without_traces_the_code_is_still_kept(tmp_path):
    sv.init(offline_cache_file_path=tmp_path, src_ll_cache=False)
    assert make()(1) == 6
    kernels, llvm = sv.compile_count(), sv.compile_count("llvm")
    sv.init(offline_cache_file_path=tmp_path, src_ll_cache=False)
    k = make()
    assert k(1) == 6
    assert not k.cache_observations.cache_loaded
    assert sv.compile_count() == kernels + 1
    assert sv.compile_count("llvm") == llvm
    assert {path.name for path in (tmp_path / VERSION).iterdir() if path.is_dir()} == {"code"}


@pytest.mark.parametrize(
    ("options", "variables", "reason"),
    [
        ({"offline_cache": False}, {}, "the cache is switched off"),
        ({"src_ll_cache": False}, {}, "the lookup by trace is switched off (src_ll_cache)"),
        ({"print_ir": True}, {}, "its stages are shown (print_ir)"),
        ({}, {"SAMOVAR_DUMP_IR": "dumped"}, "its stages are written to files (dump_ir)"),
    ],
)
def test_the_reason_says_what_is_switched_off(tmp_path, monkeypatch, capfd, options, variables, reason):
    for name, value in variables.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    sv.init(offline_cache_file_path=tmp_path, **options)
    k = make()
    k(2)
    assert k.cache_observations.reason == reason
    assert k.explain().endswith(f"was compiled, because {reason}")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({}, {"debug": True}, "option debug changed from False to True"),
        ({"debug": True}, {}, "option debug changed from True to False"),
        ({}, {"check_out_of_bound": True}, "option check_out_of_bound changed from False to True"),
        ({"debug": True}, {"check_out_of_bound": True}, "option debug changed from True to False"),
        ({}, {"fast_math": False}, "option fast_math changed from True to False"),
    ],
)
def test_a_changed_option_is_the_reason(tmp_path, before, after, change):
    k = make()
    for options in (before, after):
        sv.init(offline_cache_file_path=tmp_path, **options)
        k(2)
    assert k.explain().partition("because ")[2].startswith(change)
    assert k.cache_observations.reason.startswith(change)


def test_after_a_reset_the_next_call_loads_from_the_store(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMOVAR_OFFLINE_CACHE_FILE_PATH", str(tmp_path))
    sv.reset()
    k = make()
    assert k(1) == 6
    assert k.cache_observations.cache_stored
    before = sv.compile_count()
    sv.reset()
    sv.init()
    assert k(1) == 6
    observed = k.cache_observations
    assert (observed.cache_key_generated, observed.cache_validated, observed.cache_loaded) == (True, True, True)
    assert not observed.cache_stored
    assert sv.compile_count() == before


def test_options_come_from_the_environment_as_well(tmp_path):
    folder = worlds.write(tmp_path / "program", {"main.py": "import os\n" + PROGRAM})
    cache = tmp_path / "cache"
    worlds.run_elsewhere({"it": (folder, cache)}, {"SAMOVAR_OFFLINE_CACHE": "0"})
    assert not cache.exists()
    worlds.run_elsewhere({"it": (folder, cache)}, {"SAMOVAR_SRC_LL_CACHE": "0"})
    assert not (cache / VERSION / "trees").exists()
    assert (cache / VERSION / "code").exists()


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"XDG_CACHE_HOME": "{}/xdg"}, "xdg/samovar"),
        ({"HOME": "{}/home"}, "home/.cache/samovar"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "{}/home"}, "home/.cache/samovar"),
        ({"XDG_CACHE_HOME": "", "HOME": "{}/home"}, "home/.cache/samovar"),
        ({"SAMOVAR_OFFLINE_CACHE_FILE_PATH": "~/own", "HOME": "{}/home"}, "home/own"),
    ],
)
def test_the_default_place_is_the_platforms(tmp_path, environment, place):
    """A directory of its own, that nobody else can look into."""
    program = tmp_path / "program.py"
    program.write_text(worlds.HEADER + PROGRAM + "print(main(), sv.compile_count())\n")
    base = {name: value for name, value in os.environ.items() if not name.startswith(("SAMOVAR_", "XDG_"))}
    base.update({name: value.format(tmp_path) for name, value in environment.items()})
    for compiled in (1, 0):
        assert worlds.run_program(program, base) == f"7 {compiled}\n"
    assert (tmp_path / place / VERSION / "kernels").is_dir()
    assert (tmp_path / place).stat().st_mode & 0o777 == 0o700


def test_how_much_is_said_is_no_part_of_what_a_kernel_is_found_by(tmp_path):
    """Also where there is something to say: integers that lose their fractions are warned about."""

    def make():
        @sv.kernel
        def k(a: sv.types.NDArray[sv.i32, 1]):
            for i in a:
                a[i] *= 0.5

        return k

    sv.init(offline_cache_file_path=tmp_path, log_level="warning")
    with pytest.warns(sv.SamovarWarning):
        make()(sv.ndarray(sv.i32, 3))
    before = sv.compile_count()
    sv.init(offline_cache_file_path=tmp_path, log_level="error")
    make()(sv.ndarray(sv.i32, 3))
    assert sv.compile_count() == before
