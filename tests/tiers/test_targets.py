"""Code for a named target: what it may contain, who may run it, and which code a machine prefers."""

import re
from pathlib import Path

import pytest
from fleet import launch, scale, tiers

import samovar as sv
from samovar import _native
from samovar.backends.llvm.target import host_target, target_named
from samovar.cache import salt_parts
from samovar.errors import SamovarError
from samovar.language import baselines, can_run, target_names, target_processor

LEVELS = [level for level in ("x86-64-v2", "x86-64-v3", "x86-64-v4") if can_run(level)]


def test_levels_include_each_other():
    features = [{name for name, there in target_processor(f"x86-64-v{n}")[1].items() if there} for n in (2, 3, 4)]
    assert features[0] < features[1] < features[2]
    assert {"sse4.2", "popcnt"} <= features[0]
    assert {"avx2", "fma"} <= features[1]
    assert {"avx512f", "avx512vl"} <= features[2]


def test_every_feature_is_stated_so_that_a_processor_implies_none():
    here = _native.cpu_features()
    for name in target_names():
        assert set(target_named(name).feature_map()) >= set(here)


def test_the_target_decides_what_loops_are_planned_for():
    assert target_named("x86-64-v2").plans_for().vector_bits < target_named("x86-64-v3").plans_for().vector_bits
    assert target_named("x86-64-v3").plans_for().vector_bits == 256
    assert target_named("").machine() == host_target().machine()


@pytest.mark.skipif("x86-64-v3" not in LEVELS, reason="this processor has no AVX2")
def test_code_for_a_level_uses_its_registers_and_no_others(fleet):
    def registers(target):
        fleet.be(target=target, cache_remote="")
        launch()
        return set(re.findall(r"%([xyz]mm)\d", scale.inspect("asm")))

    assert registers("x86-64-v2") == {"xmm"}
    assert registers("x86-64-v3") == {"xmm", "ymm"} or registers("x86-64-v3") == {"ymm"}


def test_the_target_is_a_part_of_the_key(fleet):
    directory = fleet.fresh()
    for target in ("", *LEVELS):
        fleet.be(target=target, directory=directory, cache_remote="")
        assert launch() == (0, 3)
        assert salt_parts()["cpu"] == (target or _native.cpu_name())
    for target in ("", *LEVELS):
        fleet.be(target=target, directory=directory, cache_remote="")
        assert launch() == (3, 0)


def test_a_machine_takes_code_for_the_best_level_that_it_can_run(fleet):
    for level in LEVELS:
        fleet.publish(target=level)
    directory = fleet.fresh()
    assert fleet.work(directory=directory) == (3, 0)
    used = {row.leaf for row in fleet.tier().all_rows() if row.target == LEVELS[-1]}
    stored = {path.name for path in Path(directory).rglob("kernels/*")}
    assert stored == used


def test_code_for_the_machine_itself_is_preferred(fleet):
    fleet.publish(target="x86-64-v2")
    fleet.publish(target="")
    directory = fleet.fresh()
    assert fleet.work(directory=directory) == (3, 0)
    own = {row.leaf for row in fleet.tier().all_rows() if row.target == _native.cpu_name()}
    assert {path.name for path in Path(directory).rglob("kernels/*")} == own


def test_what_a_level_lacks_is_compiled_for_the_machine(fleet):
    fleet.publish(sv.f32, target="x86-64-v2")
    assert fleet.work(sv.f32) == (2, 0)
    assert launch(sv.f64) == (0, 1)
    assert launch(sv.f32) == (0, 0)


def test_a_machine_that_chose_its_target_takes_no_other(fleet):
    fleet.publish(target="")
    fleet.publish(target="x86-64-v2")
    assert baselines("x86-64-v2") == ()
    assert fleet.work(target="x86-64-v2") == (3, 0)
    if "x86-64-v3" in LEVELS:
        assert fleet.work(target="x86-64-v3") == (0, 3)


def test_baselines_of_the_local_cache_are_used_after_the_tier_is_gone(fleet):
    fleet.publish(target="x86-64-v2")
    directory = fleet.fresh()
    assert fleet.work(directory=directory) == (3, 0)
    assert fleet.work(directory=directory, address=str(fleet.folder / "empty")) == (3, 0)


def test_a_cold_worker_with_code_for_a_level_makes_three_requests(fleet):
    fleet.publish(target="x86-64-v2")
    fleet.work()
    assert tiers().tiers[0].figures.requests == 3


def test_results_are_the_same_for_each_target(fleet):
    @sv.kernel
    def smooth(a: sv.types.NDArray[sv.f64, 1], b: sv.types.NDArray[sv.f64, 1]):
        for i in range(1, a.shape[0] - 1):
            b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + sv.sin(0.25 * a[i + 1])

    results = []
    for target in ("", *LEVELS):
        fleet.be(target=target, cache_remote="")
        a, b = sv.ndarray(sv.f64, 101), sv.zeros(101, dtype=sv.f64)
        for i in range(101):
            a[i] = (i * 37 % 101) / 7
        smooth(a, b)
        results.append([b[i] for i in range(101)])
    for each in results[1:]:
        assert each == pytest.approx(results[0], rel=1e-12, abs=1e-12)


def test_a_target_that_this_machine_cannot_run_is_refused(monkeypatch):
    with pytest.raises(SamovarError, match="x86-64-v3"):
        sv.init(target="x86-64-v9")
    lacking = {**_native.cpu_features(), "sse4.2": False}
    from samovar.language import targets

    monkeypatch.setattr(targets, "cpu_features", lambda: lacking)
    with pytest.raises(SamovarError, match="cannot run code for x86-64-v2"):
        sv.init(target="x86-64-v2")
