"""Pickled kernels, arrays and recorded steps: what they need travels with them, and read-only memory stays read-only."""

import copy
import pickle
import sys
from array import array as plain_array

import pytest
from fleet import PROGRAM, launch, scale, tiers, total

import samovar as sv
from samovar.errors import SamovarArrayError, SamovarError
from samovar.runtime import pickle_by_value

cloudpickle = pytest.importorskip("cloudpickle")


@sv.data_oriented
class Holder:
    def __init__(self):
        self.a = sv.ones(4)

    @sv.kernel
    def grow(self, by: sv.f32):
        for i in self.a:
            self.a[i] += by


@sv.kernel
def add(a: sv.types.NDArray[sv.f32, 1], by: sv.f32):
    for i in a:
        a[i] += by


@sv.kernel
def copied(a: sv.types.NDArray[sv.f32, 1], b: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        b[i] = a[i]


def received(value, readonly: bool):
    """A value after a transport that hands its buffers out without a copy, read-only or not."""
    buffers = []
    data = pickle.dumps(value, 5, buffer_callback=buffers.append)
    given = [plain_array("B", bytes(each.raw())) for each in buffers]
    return pickle.loads(data, buffers=[memoryview(each).toreadonly() if readonly else each for each in given]), given


def test_read_only_memory_is_shared_and_passed_to_kernels_that_read():
    a, [memory] = received(sv.full(4, 3.0), readonly=True)
    assert a.readonly
    b = sv.zeros(4)
    copied(a, b)
    assert b[3] == 3.0
    memory[15] = 0x41
    memory[14] = 0x20
    assert a[3] == 10.0


def test_a_kernel_that_writes_to_read_only_memory_is_refused_with_advice():
    a, _ = received(sv.ones(4), readonly=True)
    with pytest.raises(SamovarArrayError, match="`a`: the array is read-only, but the kernel writes to it; use a copy"):
        add(a, 1)
    with pytest.raises(ValueError, match=r"help: write to a copy: copy\.copy\(array\)"):
        a.fill(2)
    b = copy.copy(a)
    add(b, 1)
    assert (b[0], a[0]) == (2.0, 1.0)


def test_writable_memory_is_shared():
    a, [memory] = received(sv.ones(4), readonly=False)
    add(a, 1)
    assert memory[3] == 0x40


def test_members_of_objects_stay_read_only_too():
    holder, _ = received(Holder(), readonly=True)
    with pytest.raises(SamovarArrayError, match="read-only"):
        holder.grow(1.0)


def test_a_recorded_step_travels_with_its_arrays():
    a = sv.ones(4)
    with sv.graph.record() as step:
        add(a, 1)
        add(a, 2)
    there, b = pickle.loads(pickle.dumps((step, a)))
    assert len(there) == 2
    there()
    assert (b[0], a[0]) == (4.0, 1.0)
    there.replace(b, a)
    there()
    assert a[0] == 4.0


def test_a_damaged_step_is_refused():
    from samovar._native import rebuild_step

    for calls in (3, ((add, (1,)),), ((3, ()),), ((add, (1, 2), 3),), (add,)):
        with pytest.raises(ValueError, match="does not fit its kernel"):
            rebuild_step(calls)


@pytest.mark.parametrize("value", [sv.ndarray(sv.f32, 3), sv.field(sv.i32, (2, 3)), scale])
def test_values_travel(value):
    assert type(pickle.loads(pickle.dumps(value, 5))) is type(value)


def test_views_and_bound_kernels_travel():
    a = sv.arange(8)
    view = pickle.loads(pickle.dumps(a[2:5]))
    assert [view.array[view.offset + i] for i in range(view.size)] == [2, 3, 4]
    grow = pickle.loads(pickle.dumps(Holder().grow))
    grow(2.0)


# --- what a kernel needs


def test_a_kernel_that_arrives_makes_the_worker_look_for_it(fleet, monkeypatch):
    from samovar.tiers import tiers as module

    monkeypatch.setattr(module, "_EXPECTED_SECONDS", 0.0)
    fleet.be(cache_signing_key=fleet.key_file)
    launch()
    publisher = tiers()
    key = total.state.known.key
    sent = pickle.dumps([scale, total])
    assert key.encode() in sent
    fleet.be(cache_trust=fleet.key)
    worker = tiers()
    worker._reader.submit(lambda: None).wait(5)  # it has looked before anything was published
    publisher.finish()
    assert worker.tiers[0].rows(key) == []
    assert pickle.loads(sent) == [scale, total]
    worker._reader.submit(lambda: None).wait(5)
    assert len(worker.tiers[0].rows(key)) == 1
    assert launch() == (3, 0)


def test_without_a_tier_a_kernel_travels_by_its_name_alone():
    sv.init()
    assert len(pickle.dumps(scale)) < 100


def test_another_version_on_the_other_side_is_an_error_that_names_both(monkeypatch):
    def made():
        @sv.kernel
        def local(a: sv.types.NDArray[sv.f32, 1]):
            for i in a:
                a[i] += 1

        return local

    sent = cloudpickle.dumps(made())
    assert pickle.loads(sent) is not None
    monkeypatch.setattr(pickle_by_value, "_versions", lambda: ("9.9", "3.99"))
    here = f"Samovar {sv.__version__} on Python {sys.version_info[0]}.{sys.version_info[1]}"
    with pytest.raises(SamovarError, match=f"sent by {here}.*Samovar 9.9 on Python 3.99"):
        pickle.loads(sent)


def test_the_program_of_a_worker_is_that_of_the_sender():
    plugin = sv.dask.WorkerPlugin(remote="/tier", program=PROGRAM, default_fp=sv.f64, debug=True)
    assert plugin.variables == {
        "SAMOVAR_CACHE_REMOTE": "/tier", "SAMOVAR_CACHE_PROGRAM": PROGRAM, "SAMOVAR_DEFAULT_FP": "f64", "SAMOVAR_DEBUG": "1",
    }  # fmt: skip
    assert "SAMOVAR_CACHE_PROGRAM" in sv.ray.runtime_env(remote="/tier")["env_vars"]
    with pytest.raises(SamovarError, match="there is no option 'no_such'"):
        sv.dask.WorkerPlugin(no_such=1)
