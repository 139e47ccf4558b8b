"""Real clusters on this machine: workers start warm, compile nothing, and leave nothing behind. `make test-fleet`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import samovar as sv

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

import sweeps
from fleet import tiers

#: Where workers find the modules of this test, the examples and the package.
_PATH = os.pathsep.join([*sys.path[:2], str(Path(sv.__file__).parents[1])])

pytestmark = [pytest.mark.stress, pytest.mark.filterwarnings("default"), pytest.mark.timeout(900)]


@pytest.fixture
def published(fleet):
    """A tier with all kernels, under the name `sweep`."""
    fleet.be(cache_signing_key=fleet.key_file, cache_program="sweep")
    sweeps.all_kernels()
    tiers().finish()
    return fleet


@pytest.fixture
def plugin(published, tmp_path):
    return sv.dask.WorkerPlugin(
        remote=published.address, trust=published.key, program="sweep",
        offline_cache_file_path=str(tmp_path / "workers"),
    )  # fmt: skip


@pytest.fixture
def client(monkeypatch, tmp_path):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("PYTHONPATH", _PATH)
    monkeypatch.setenv("FLEET_TEST_MARKER", str(tmp_path))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as found,
    ):
        yield found


def test_a_sweep_on_dask_compiles_nothing_on_any_worker(client, plugin):
    client.register_plugin(plugin)
    results = client.gather(client.map(sweeps.simulate, range(1000), pure=False))
    squares = float((np.linspace(0, 1, 100) ** 2).sum())
    assert np.allclose([each[0] for each in results], [0.5 * (1 + n) * squares for n in range(1000)], rtol=1e-12)
    assert {each[2] for each in results} == {0}
    assert len({each[1] for each in results}) == 2


def test_a_bundle_warms_workers_without_a_store(client, published, tmp_path):
    file = tmp_path / "kernels.samovar"
    from samovar.cache import export_bundle
    from samovar.runtime import current_options, library_for
    from samovar.runtime.loaded_kernel import loaded

    export_bundle(library_for(current_options()), str(file), loaded)
    client.register_plugin(sv.dask.WorkerPlugin(bundle=file, offline_cache_file_path=str(tmp_path / "workers")))
    results = client.gather(client.map(sweeps.simulate, range(20), pure=False))
    assert {each[2] for each in results} == {0}


def test_a_stencil_over_a_chunked_array_on_dask(client, plugin):
    dask_array = pytest.importorskip("dask.array")
    client.register_plugin(plugin)
    field = np.random.default_rng(1).random(10_000)
    chunked = dask_array.from_array(field, chunks=999)
    found = chunked.map_overlap(sweeps.smooth, depth=1, boundary="none", dtype=field.dtype).compute()
    assert np.array_equal(found, sweeps.smooth(field))
    assert set(client.run(sv.compile_count).values()) == {0}


def test_actors_on_dask_have_an_environment_each(client, plugin):
    client.register_plugin(plugin)
    arms = [client.submit(sweeps.Arm, number, actor=True).result() for number in range(4)]
    expected = [sweeps.Arm(number).step(20) for number in range(4)]
    assert [arm.step(20).result() for arm in arms] == pytest.approx(expected, rel=1e-14)
    assert {arm.compiles().result() for arm in arms} == {0}


def test_a_worker_that_is_killed_is_replaced_by_one_that_is_warm(client, plugin):
    client.register_plugin(plugin)
    before = set(client.run(os.getpid).values())
    os.kill(min(before), signal.SIGKILL)
    deadline = time.monotonic() + 120
    while len(after := set(client.run(os.getpid, on_error="ignore").values()) - {min(before)}) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert after != before
    assert {each[2] for each in client.gather(client.map(sweeps.simulate, range(40), pure=False))} == {0}


def compile_workers():
    """The compile workers of all processes of this test."""
    return set(processes_with(f"FLEET_TEST_MARKER={os.environ['FLEET_TEST_MARKER']}", "samovar.compiler.worker"))


def test_a_worker_that_is_killed_leaves_no_compile_workers_behind(client, tmp_path):
    started = tmp_path / "started"
    client.submit(sweeps.compile_forever, str(started))
    ends(started.exists, 120)
    before = compile_workers()
    assert before
    os.kill(int(started.read_text()), signal.SIGKILL)
    ends(lambda: not before & compile_workers())


def test_launches_use_the_threads_of_the_worker_and_no_others(client, plugin):
    client.register_plugin(plugin)
    assert set(client.run(sweeps.threads).values()) == {(0, "1")}


def ends(condition, seconds=60):
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def processes_with(marker, command=""):
    """The processes that inherited a variable of the environment, with a text in their command."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            is_ours = folder.name.isdigit() and marker.encode() in (folder / "environ").read_bytes()
            if is_ours and command.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
        except OSError:  # it has just ended, or belongs to somebody else
            continue
    return found


def test_an_interrupted_program_leaves_no_workers_behind(published, tmp_path):
    pytest.importorskip("distributed")
    started = tmp_path / "started"
    program = tmp_path / "program.py"
    program.write_text(
        "import distributed, samovar as sv, sweeps\n"
        "if __name__ == '__main__':\n"
        "    with distributed.LocalCluster(n_workers=2, processes=True, dashboard_address=None) as cluster,"
        " distributed.Client(cluster) as client:\n"
        f"        client.register_plugin(sv.dask.WorkerPlugin(remote={published.address!r}, trust={published.key!r},"
        f" program='sweep', offline_cache_file_path={str(tmp_path / 'workers')!r}))\n"
        f"        client.submit(sweeps.run_forever, {str(started)!r}).result()\n"
    )
    marker = f"FLEET_TEST_MARKER={tmp_path}"
    running = subprocess.Popen(
        [sys.executable, str(program)], env=os.environ | {"PYTHONPATH": _PATH, "FLEET_TEST_MARKER": str(tmp_path)},
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    ends(started.exists, 120)
    time.sleep(1)  # the kernel runs
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does
    _, errors = running.communicate(timeout=120)
    assert running.returncode != 0, errors
    ends(lambda: not processes_with(marker))


# --- Ray


@pytest.fixture
def ray(published, tmp_path, monkeypatch):
    found = pytest.importorskip("ray")
    if " " in sys.executable:
        pytest.skip("Ray does not start workers of an interpreter whose path has a space")
    monkeypatch.setenv("PYTHONPATH", _PATH)
    environment = sv.ray.runtime_env(
        remote=published.address, trust=published.key, program="sweep", num_cpus=1,
        offline_cache_file_path=str(tmp_path / "workers"),
    )  # fmt: skip
    found.init(num_cpus=2, runtime_env=environment, include_dashboard=False, log_to_driver=False)
    yield found
    found.shutdown()


def test_a_sweep_on_ray_compiles_nothing_on_any_worker(ray):
    simulate = ray.remote(sweeps.simulate)
    results = ray.get([simulate.remote(number) for number in range(1000)])
    squares = float((np.linspace(0, 1, 100) ** 2).sum())
    assert np.allclose([each[0] for each in results], [0.5 * (1 + n) * squares for n in range(1000)], rtol=1e-12)
    assert {each[2] for each in results} == {0}


def test_actors_on_ray_have_an_environment_each(ray):
    arms = [ray.remote(sweeps.Arm).remote(number) for number in range(2)]
    expected = [sweeps.Arm(number).step(20) for number in range(2)]
    assert ray.get([arm.step.remote(20) for arm in arms]) == pytest.approx(expected, rel=1e-14)
    assert set(ray.get([arm.compiles.remote() for arm in arms])) == {0}


def test_memory_of_the_object_store_is_read_without_a_copy_and_never_written(ray):
    stored = ray.put(np.ones(100_000))
    assert ray.get(ray.remote(sweeps.sum_of).remote(stored)) == pytest.approx(100_000.0)
    with pytest.raises(ray.exceptions.RayTaskError, match="read-only"):
        ray.get(ray.remote(sweeps.overwrite).remote(stored))
    ours = ray.put(sv.ones(100_000, dtype=sv.f64))
    assert ray.get(ours).readonly


def test_a_cancelled_task_of_ray_frees_its_worker(ray, tmp_path):
    started = tmp_path / "started"
    endless = ray.remote(sweeps.run_forever).options(max_retries=0).remote(str(started))
    ends(started.exists, 120)
    time.sleep(1)  # the kernel runs
    ray.cancel(endless)
    with pytest.raises((ray.exceptions.TaskCancelledError, ray.exceptions.RayTaskError)):
        ray.get(endless, timeout=60)
    simulate = ray.remote(sweeps.simulate)
    results = ray.get([simulate.remote(number) for number in range(20)], timeout=120)
    assert {each[2] for each in results} == {0}
