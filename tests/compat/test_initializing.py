"""A peer's `init`: what it is given counts before the variables of the environment, whatever an option is called there."""

import pytest

import samovar.compat.quadrants as qd
import samovar.compat.taichi as ti
from samovar.runtime.configuration import current_options

#: What the variable says, what `init` is given, and what is in force then.
CASES = [
    ("DEBUG", "1", {"debug": False}, "debug", False),
    ("DEFAULT_FP", "f64", {"default_fp": qd.f32}, "default_fp", qd.f32),
    ("DEFAULT_FP", "64", {}, "default_fp", qd.f64),
    ("OPT_LEVEL", "0", {"opt_level": 3}, "opt_level", 3),
    ("OPT_LEVEL", "0", {}, "opt_level", 0),
    ("RANDOM_SEED", "5", {"random_seed": 6}, "random_seed", 6),
    ("NUM_THREADS", "3", {"cpu_max_num_threads": 2}, "num_threads", 2),
    ("CPU_MAX_NUM_THREADS", "3", {"num_threads": 2}, "num_threads", 2),
    ("CPU_MAX_NUM_THREADS", "3", {"cpu_max_num_threads": 2}, "num_threads", 2),
    ("CPU_MAX_NUM_THREADS", "3", {}, "num_threads", 3),
    ("PRINTED_NUMBERS", "python", {"printed_numbers": "c"}, "printed_numbers", "c"),
    ("PRINTED_NUMBERS", "python", {}, "printed_numbers", "python"),
]


@pytest.mark.parametrize("peer", [qd, ti], ids=["quadrants", "taichi"])
@pytest.mark.parametrize(("variable", "text", "given", "option", "expected"), CASES, ids=str)
def test_what_init_is_given_counts_before_the_environment(monkeypatch, peer, variable, text, given, option, expected):
    monkeypatch.setenv(f"{'QD' if peer is qd else 'TI'}_{variable}", text)
    peer.init(**given)
    assert getattr(current_options(), option) == expected


def test_the_first_arguments_by_position_count_as_well(monkeypatch):
    monkeypatch.setenv("TI_DEFAULT_FP", "f64")
    monkeypatch.setenv("TI_ARCH", "python")
    ti.init(ti.cpu, ti.f32)
    assert (current_options().default_fp, current_options().arch) == (ti.f32, "cpu")


def test_our_own_variable_counts_before_the_one_of_a_peer(monkeypatch):
    monkeypatch.setenv("SAMOVAR_DEFAULT_FP", "f32")
    monkeypatch.setenv("QD_DEFAULT_FP", "f64")
    qd.init()
    assert current_options().default_fp == qd.f32


def test_an_architecture_is_a_number_as_well():
    qd.init(arch=qd.cpu)
    number = int(qd.cfg.arch)
    assert number == 0
    assert qd._lib.core.Arch(number) == qd.cpu == qd.x64
    assert int(qd.cuda) == 4
    qd.init(arch=qd._lib.core.Arch(number), debug=False)
    assert qd.cfg.arch == qd.cpu
