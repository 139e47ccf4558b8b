"""`sv.init` with the options of Quadrants and Taichi, and with those that nobody has."""

import pytest

import samovar as sv
from samovar import errors
from samovar.runtime import configuration
from samovar.runtime.configuration import current_options
from samovar.runtime.peer_options import RENAMED, WITHOUT_MEANING, options_in


@pytest.fixture(autouse=True)
def defaults(monkeypatch):
    monkeypatch.setattr(errors, "_warned", set())
    monkeypatch.setattr(configuration, "_said", set())
    sv.reset()
    yield
    sv.reset()


def test_the_first_three_go_by_position():
    sv.init(sv.cpu, sv.f64, sv.i64)
    options = current_options()
    assert (options.arch, options.default_fp, options.default_ip) == ("cpu", sv.f64, sv.i64)


def test_their_names_for_our_options():
    sv.init(cpu_max_num_threads=1, offline_cache_max_size_of_files=4096, num_compile_threads=2, random_seed=3)
    options = current_options()
    assert (options.num_threads, options.offline_cache_max_size, options.random_seed) == (1, 4096, 3)
    sv.init(make_cpu_multithreading_loop=False)
    assert current_options().num_threads == 1


@pytest.mark.parametrize(("word", "level"), [("trace", "debug"), ("warn", "warning"), ("critical", "error")])
def test_their_words_for_levels(word, level):
    sv.init(log_level=word)
    assert current_options().log_level == level


@pytest.mark.parametrize("arch", [sv.gpu, sv.cuda, sv.vulkan, sv.metal, [sv.cuda, sv.vulkan], "opengl"])
def test_what_is_not_here_is_warned_of_once_and_the_cpu_used(arch, recwarn):
    sv.init(arch=arch)
    sv.init(arch=arch)
    assert [type(warning.message) for warning in recwarn] == [sv.SamovarWarning]
    assert current_options().arch == sv.cpu


def test_of_several_architectures_the_one_that_is_here(recwarn):
    sv.init(arch=[sv.cuda, sv.x64])
    assert current_options().arch == sv.cpu == sv.x64 == sv.x86_64
    assert not recwarn


def test_what_means_nothing_is_named_once_at_info(capsys):
    sv.init(cfg_optimization=False)
    assert capsys.readouterr().err == ""
    sv.init(cfg_optimization=False, log_level="info")
    sv.init(cfg_optimization=True, log_level="info")
    assert capsys.readouterr().err == "samovar: sv.init(cfg_optimization=…) has no effect: LLVM decides\n"


@pytest.mark.parametrize("name", WITHOUT_MEANING)
def test_every_option_of_the_peers_is_accepted(name):
    sv.init(**{name: None})


def test_an_option_is_ours_theirs_or_without_meaning():
    ours = set(vars(current_options()))
    assert not ours & set(RENAMED)
    assert set(RENAMED.values()) <= ours


@pytest.mark.parametrize(
    ("name", "hint"), [("advanced_optimisation", "advanced_optimization"), ("cpu_max_threads", "cpu_max_num_threads")]
)
def test_an_unknown_option_is_a_key_error_with_what_was_meant(name, hint):
    with pytest.raises(KeyError, match=f"did you mean '{hint}'") as raised:
        sv.init(**{name: True})
    assert isinstance(raised.value, sv.SamovarOptionError)
    assert "\n  valid options: arch" in str(raised.value)


def test_their_variables():
    variables = {
        "QD_DEBUG": "1", "QD_DEFAULT_FP": "64", "QD_CPU_MAX_NUM_THREADS": "3", "QD_ARCH": "cuda", "QD_TIMELINE": "x",
        "TI_DEBUG": "0",
    }  # fmt: skip
    assert options_in(variables, "QD_") == {
        "debug": True, "default_fp": sv.f64, "cpu_max_num_threads": 3, "arch": "cuda", "timeline": "x",
    }  # fmt: skip
    assert options_in(variables, "TI_") == {"debug": False}


def test_the_level_is_set_without_dropping_what_was_compiled():
    @sv.kernel
    def one() -> sv.i32:
        return 1

    one()
    sv.set_logging_level("error")
    assert one.specializations
    assert current_options().log_level == "error"
    assert [sv.is_logging_effective(level) for level in ("warn", "error", "critical")] == [False, True, True]
    with pytest.raises(sv.SamovarError, match="'loud' is not one of"):
        sv.set_logging_level("loud")
