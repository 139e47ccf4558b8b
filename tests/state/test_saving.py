"""What `sv.save` writes, `sv.load` reads: alone, into existing objects, and as NumPy sees it."""

import dataclasses
import enum
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import samovar as sv

S = sv.types.struct(x=sv.math.vec3, inner=sv.types.struct(n=sv.i32, m=sv.math.mat2))


class Mode(enum.Enum):
    SLOW = 1
    FAST = 2


@dataclasses.dataclass
class Particles:
    x: Any
    v: Any
    name: str = "water"
    mode: Mode = Mode.SLOW
    owner: Any = None


@sv.data_oriented
class Simulation:
    def __init__(self):
        self.particles = Particles(sv.ndarray(sv.f32, (2, 3)), sv.field(sv.math.vec3, 4, layout="soa"))
        self.particles.owner = self
        self.blocked = sv.field(sv.i16)
        sv.root.dense(sv.ij, (2, 2)).dense(sv.ij, (2, 3)).place(self.blocked)
        self.structs, self.struct_field = S.ndarray(2), S.field((2, 2))
        self.numpy = np.arange(6.0).reshape(2, 3).T
        self.mixed = [1, 2.5, True, None, (10**30, "text"), {"flag": False}]
        self.vector, self.scalar, self.empty = sv.Vector([1.0, 2.0]), np.float32(0.1), sv.ndarray(sv.f64, 0)
        self.same = self.particles.x

    @sv.kernel
    def fill(self):
        for i in self.same:
            self.same[i] = 1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.npz"


def changed(simulation):
    simulation.particles.x.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    simulation.particles.v[3] = [7, 8, 9]
    simulation.particles.mode, simulation.particles.name = Mode.FAST, "oil"
    simulation.blocked[3, 5] = -7
    simulation.structs[1] = {"x": [1, 2, 3], "inner": {"n": 4, "m": [[1, 2], [3, 4]]}}
    simulation.struct_field[1, 0].inner.n = 5
    simulation.numpy[2, 1] = 50
    simulation.mixed[0], simulation.mixed[5]["flag"] = 2**62, True
    simulation.vector.x, simulation.scalar = 9, np.float32(0.7)
    return simulation


def test_an_object_is_restored_by_loading_into_another_one(path):
    saved, loaded = changed(Simulation()), Simulation()
    sv.save(path, saved)
    assert sv.load(path, loaded) is loaded
    assert loaded.particles.x.tolist() == saved.particles.x.tolist()
    assert loaded.particles.v[3].to_list() == [7, 8, 9]
    assert (loaded.particles.mode, loaded.particles.name) == (Mode.FAST, "oil")
    assert loaded.blocked[3, 5] == -7
    assert loaded.structs[1].inner.m[1, 0] == 3
    assert loaded.struct_field[1, 0].inner.n == 5
    assert np.array_equal(loaded.numpy, saved.numpy)
    assert loaded.mixed == saved.mixed
    assert (loaded.vector.x, loaded.scalar, type(loaded.scalar)) == (9, np.float32(0.7), np.float32)
    assert loaded.same is loaded.particles.x


def test_without_an_object_everything_is_new(path):
    sv.save(path, changed(Simulation()))
    new = sv.load(path)
    assert new["particles"]["owner"] is new
    assert new["same"] is new["particles"]["x"]
    assert new["particles"]["v"].element_shape == (3,)
    assert isinstance(new["particles"]["v"], sv.Field)
    assert new["particles"]["mode"] == "FAST"
    assert new["blocked"][3, 5] == -7
    assert new["structs"][1].inner.m[1, 1] == 4
    assert isinstance(new["struct_field"], sv.StructField)
    assert new["mixed"] == [2**62, 2.5, True, None, (10**30, "text"), {"flag": True}]
    assert isinstance(new["vector"], sv.Vector)


def test_numpy_reads_it(path):
    sv.save(path, changed(Simulation()))
    with np.load(path) as file:
        assert file["particles.v"].shape == (4, 3)
        assert file["structs.inner.m"].dtype == np.float32
        assert file["mixed.1"] == 2.5
        assert np.array_equal(file["numpy"][2], [2, 50])


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64", "f16", "f32", "f64"])
@pytest.mark.parametrize("shape", [(), 5, (0, 3), (2, 3, 4)])
def test_each_dtype_and_shape(path, dtype, shape):
    array = sv.ndarray(getattr(sv, dtype), shape)
    array.fill(1)
    sv.save(path, array)
    found = sv.load(path)["arr_0"]
    assert (found.dtype, found.shape, found.tolist()) == (array.dtype, array.shape, array.tolist())
    assert np.array_equal(np.load(path)["arr_0"], array.to_numpy())


def test_files_of_numpy_are_loaded(path):
    np.savez_compressed(path, a=np.asfortranarray(np.arange(6.0).reshape(2, 3)), b=np.arange(3, dtype=">i4"))
    target = np.zeros((2, 3))
    found = sv.load(path, a=target)
    assert found["a"] is target
    assert target.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert found["b"].tolist() == [0, 1, 2]


def test_the_same_state_has_the_same_bytes(path, tmp_path):
    sv.save(path, x=sv.ones(3), n=4)
    sv.save(tmp_path / "again.npz", x=sv.ones(3), n=4)
    assert path.read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_an_offset_and_gradients_are_kept(path):
    sv.save(path, f=sv.field(sv.f32, 3, offset=-1, needs_grad=True))
    found = sv.load(path)["f"]
    assert (found.offset, found.needs_grad) == ((-1,), True)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ({"x": sv.zeros(4)}, r"x has the shape \(4,\), but \(3,\) in the file\n  help: .*sv.load\(path\)\[\"x\"\]"),
        ({"x": np.zeros(3)}, r"x has the dtype f8, but f4 in the file\n  help: convert it"),
        ({"y": sv.zeros(3)}, r"y is not in the file, which has x, n"),
        ({"n": "text"}, r"n is the str 'text', but 4 in the file"),
        ({"x": np.zeros(3, np.float32)[::1].view()}, None),
    ],
)
def test_what_does_not_match_is_told(path, target, says):
    sv.save(path, x=sv.ones(3), n=4)
    if says is None:
        target["x"].flags.writeable = False
        says = "x is read-only"
    with pytest.raises(sv.SamovarError, match=says):
        sv.load(path, **target)


def test_nothing_is_changed_if_something_does_not_match(path):
    sv.save(path, x=sv.ones(3), y=sv.ones(3))
    x = sv.zeros(3)
    with pytest.raises(sv.SamovarError, match="y has the shape"):
        sv.load(path, x=x, y=sv.zeros(2))
    assert x.tolist() == [0, 0, 0]


def test_a_frozen_number_has_to_be_equal(path):
    frozen = dataclasses.make_dataclass("Frozen", ["n"], frozen=True)
    sv.save(path, frozen(3))
    assert sv.load(path, frozen(3)) == frozen(3)
    with pytest.raises(sv.SamovarError, match="n is 4 in something immutable, but 3 in the file"):
        sv.load(path, frozen(4))


def test_what_cannot_be_saved_is_named(path):
    with pytest.raises(sv.SamovarTypeError, match=r"a\.lock is a lock, .*\n  help: leave it out: skip=\['lock'\]"):
        sv.save(path, a={"lock": __import__("threading").Lock()})
    sv.save(path, a={"lock": object(), "n": 1}, skip="lock")
    assert sv.load(path) == {"a": {"n": 1}}
    with pytest.raises(sv.SamovarTypeError, match="the key 3: keys have to be text"):
        sv.save(path, a={3: 1})
    with pytest.raises(sv.SamovarTypeError, match="pass what to save"):
        sv.save(path)


@pytest.mark.parametrize("position", range(0, 600, 7))
def test_damage_is_found_or_harmless(path, position):
    """A flipped byte is an error, or it is where nothing depends on it: never other numbers."""
    sv.save(path, x=sv.ones(3), n=4, name="a")
    content = bytearray(path.read_bytes())
    content[position] ^= 0x15
    path.write_bytes(content)
    x, errors, found = sv.zeros(3), [], {}
    try:
        found = sv.load(path, x=x)
    except sv.SamovarError as error:
        errors.append(str(error))
    if errors:
        assert "cannot be loaded" in errors[0] or "in the file" in errors[0] or "was saved by" in errors[0]
        assert x.tolist() == [0, 0, 0]
    else:
        assert (found["x"].tolist(), found["n"], found["name"]) == ([1, 1, 1], 4, "a")


@pytest.mark.parametrize("size", [0, 10, 100, 300])
def test_a_file_that_ends_early_is_an_error(path, size):
    sv.save(path, x=sv.ones(3))
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(sv.SamovarError, match="cannot be loaded: it is not a ZIP archive"):
        sv.load(path)


def test_pickles_are_not_loaded(path):
    np.savez(path, a=np.array([{}]))
    with pytest.raises(sv.SamovarError, match="a contains pickled Python objects"):
        sv.load(path)


def test_a_full_disk_leaves_the_old_file(path):
    sv.save(path, x=sv.ones(3))
    program = f"""
import resource, signal
import samovar as sv
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    sv.save({str(path)!r}, x=sv.ones(1_000_000))
except OSError as error:
    assert "no old file was changed" in str(error) and error.filename == {str(path)!r}, error
else:
    raise SystemExit("nothing was raised")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert os.listdir(path.parent) == [path.name]
    assert sv.load(path)["x"].tolist() == [1, 1, 1]


def test_large_arrays_are_written_block_by_block(path, monkeypatch):
    from samovar.state import loading, npz_files, saving

    for module in (loading, npz_files, saving):
        monkeypatch.setattr(module, "CHUNK", 1000)
    array = sv.arange(12345, dtype=sv.i32)
    sv.save(path, x=array, progress=False)
    target = sv.ndarray(sv.i32, 12345)
    sv.load(path, x=target)
    assert np.array_equal(target.to_numpy(), np.arange(12345))


def test_it_works_without_numpy(path):
    program = f"""
import sys
sys.modules["numpy"] = None
import samovar as sv
f = sv.field(sv.math.vec2, (2, 2), order="ji")
f[1, 0] = [3, 4]
sv.save({str(path)!r}, f=f)
assert sv.load({str(path)!r})["f"][1, 0].y == 4
"""
    subprocess.run([sys.executable, "-c", program], check=True)
