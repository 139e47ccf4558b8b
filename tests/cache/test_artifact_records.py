"""Artifacts in files are records of named fields: what another version adds is passed over, what is missing is a miss."""

import numpy as np
import pytest

import samovar as sv
from samovar._native import decode_plain, encode_plain, f32
from samovar.artifact import Artifact, Fill, Guards
from samovar.cache.artifacts import artifact_data, artifact_of, image_in, paths_needed, unpacked_fills
from samovar.cache.entry import MISREADINGS
from samovar.lens import Path

FILL = Fill(Path(None, "parameter", "a"), 8, f32, "a", is_array=False, strided=False, written=False)
RESULTS = ("tuple", (("scalar", "f32", 0), None))


def kept(**fields):
    artifact = Artifact(b"image", (FILL,), 16, **fields)
    guards = Guards((("parameter", 0, 0),), 1, (Path(None, "parameter", "a"),))
    return decode_plain(encode_plain(artifact_data(artifact, guards)))


def test_a_record_comes_back_as_it_was():
    data = kept(results=RESULTS, tasks=(("t", 1.5, 2),), slow_serial=True, sections={"graph": (1, ("loop", 2))})
    artifact, guards = artifact_of(data)
    assert (artifact.image, artifact.block_size, artifact.results) == (b"image", 16, RESULTS)
    assert (artifact.tasks, artifact.slow_serial, artifact.sites, artifact.notices) == ((("t", 1.5, 2),), True, (), ())
    assert artifact.sections == {"graph": (1, ("loop", 2))}
    assert (guards.registers, type(guards.instructions)) == (1, bytes)
    assert (image_in(data), paths_needed(data)) == (b"image", 1)
    assert [(str(fill.path), fill.offset) for fill in unpacked_fills(artifact.fills)] == [("a", 8)]


def test_what_is_empty_is_left_out_and_comes_back_empty():
    data = kept()
    assert {name for name, _ in data} == {"image", "block_size", "fills", "program", "registers", "paths"}
    artifact, _ = artifact_of(data)
    assert (artifact.results, artifact.tasks, artifact.slow_serial, artifact.sections) == (None, (), False, {})


def test_the_order_of_fields_does_not_matter_and_unknown_ones_are_passed_over():
    artifact, _ = artifact_of((("of tomorrow", (1, 2)), *reversed(kept(results=RESULTS))))
    assert (artifact.image, artifact.results) == (b"image", RESULTS)


@pytest.mark.parametrize("name", ["image", "block_size", "fills", "program", "registers"])
def test_without_a_field_that_every_artifact_has_it_is_none(name):
    with pytest.raises(MISREADINGS):
        artifact_of(tuple(field for field in kept() if field[0] != name))


@sv.kernel
def both(a: sv.types.NDArray[sv.f32, 1]) -> tuple[sv.f32, sv.i32]:
    return a[0], 3


def test_results_of_a_loaded_kernel_are_those_of_a_compiled_one(tmp_path):
    a = np.array([2.5], np.float32)
    for count in (1, 0):
        sv.init(offline_cache_file_path=tmp_path, log_level="error")
        before = sv.compile_count()
        assert both(a) == (2.5, 3)
        assert sv.compile_count() - before == count
