"""Artifacts in files are records of named fields: what another version adds is passed over, what is missing is a miss."""

import numpy as np
import pytest

import samovar as sv
from samovar._native import encode_plain, f32
from samovar.artifact import Artifact, Fill, Guards
from samovar.cache.artifacts import StoredArtifact, sealed_artifact, unpacked_fills
from samovar.cache.entry import MISREADINGS, Damaged, sealed, unsealed
from samovar.lens import Path

FILL = Fill(Path(None, "parameter", "a"), 8, f32, "a", is_array=False, strided=False, written=False)
RESULTS = ("tuple", (("scalar", "f32", 0), None))


def kept(**fields):
    artifact = Artifact(b"image", (FILL,), 16, **fields)
    guards = Guards((("parameter", 0, 0),), 1, (Path(None, "parameter", "a"),))
    return sealed_artifact(artifact, guards, "key", b"way", 0.5)


def fields_of(content):
    return unsealed(content, "({(S*)}F)")[0]


def artifact_of(fields):
    return StoredArtifact(sealed((tuple(fields), 0.5))).made()


def test_a_record_comes_back_as_it_was():
    data = kept(results=RESULTS, tasks=(("t", 1.5, 2),), slow_serial=True, sections={"graph": (1, ("loop", 2))})
    stored = StoredArtifact(data)
    artifact, guards = stored.made()
    assert (stored.key, stored.way, stored.seconds, stored.image) == ("key", b"way", 0.5, b"image")
    assert (artifact.image, artifact.block_size, artifact.results) == (b"image", 16, RESULTS)
    assert (artifact.tasks, artifact.slow_serial, artifact.sites, artifact.notices) == ((("t", 1.5, 2),), True, (), ())
    assert artifact.sections == {"graph": (1, ("loop", 2))}
    assert (guards.registers, type(guards.instructions)) == (1, bytes)
    assert [(str(fill.path), fill.offset) for fill in unpacked_fills(artifact.fills)] == [("a", 8)]


def test_what_is_empty_is_left_out_and_comes_back_empty():
    data = kept()
    assert {name for name, _ in fields_of(data)} == {
        "image", "block_size", "fills", "program", "registers", "key", "way",
    }  # fmt: skip
    artifact, _ = artifact_of(fields_of(data))
    assert (artifact.results, artifact.tasks, artifact.slow_serial, artifact.sections) == (None, (), False, {})


def test_the_order_of_fields_does_not_matter_and_unknown_ones_are_passed_over():
    artifact, _ = artifact_of((("of tomorrow", (1, 2)), *reversed(fields_of(kept(results=RESULTS)))))
    assert (artifact.image, artifact.results) == (b"image", RESULTS)


@pytest.mark.parametrize("name", ["image", "block_size", "fills", "program", "registers", "key", "way"])
def test_without_a_field_that_every_artifact_has_it_is_none(name):
    with pytest.raises(MISREADINGS):
        artifact_of(field for field in fields_of(kept()) if field[0] != name)


@pytest.mark.parametrize(
    "field",
    [
        ("image", "text"), ("block_size", -8), ("block_size", 1 << 40), ("block_size", 10**30), ("registers", True),
        ("tasks", (("t", 1.0),)), ("tasks", [("t", 1.0, 2)]), ("tasks", (("t", 1.0, -1),)), ("slow_serial", 1),
        ("sites", (("print", (), ("f99",), (), None),)), ("sites", (("print", ((1, "", ""),), ("f32",), (), None),)),
        ("sites", (("print", ((0, ""),), ("f32",), (), None),)), ("sites", (("print", (), ("Ndarray",), (), None),)),
        ("notices", (("message", "one", None, 0),)), ("sections", (("stack", -1),)), ("sections", (("bytes", 5),)),
        ("sections", (("checkpoints", (0, ((1, 1),))),)), ("sections", 5), ("key", 5), ("way", "text"),
    ],
)  # fmt: skip
def test_a_field_of_another_form_is_found_when_it_is_read(field):
    with pytest.raises((Damaged, ValueError, TypeError)):
        artifact_of([*(each for each in fields_of(kept()) if each[0] != field[0]), field])


def test_a_seal_that_is_broken_is_found():
    content = kept()
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 1
        with pytest.raises(Damaged):
            StoredArtifact(bytes(damaged))
    with pytest.raises(Damaged):
        StoredArtifact(b"")


@pytest.mark.parametrize(
    "data",
    [
        (), ((), ()), ([], ((0, 0, "f32", "a", False, False, False),)),
        (((-1, "parameter", "a"),), ((1, 0, "f32", "a", False, False, False),)),
        (((0, "parameter", "a"),), ((0, 0, "f32", "a", False, False, False),)),
        (((-1, "parameter", "a"),), ((0, 0, "sort_elements", "a", False, False, False),)),
    ],
)  # fmt: skip
def test_fills_that_are_none_are_refused(data):
    if data == ((), ()):
        assert unpacked_fills(encode_plain(data)) == ()
        return
    with pytest.raises((ValueError, IndexError)):
        unpacked_fills(encode_plain(data))


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
