"""Whatever happens to the files of the cache: never a crash, a wrong number, or a leftover that grows."""

from __future__ import annotations

import os
import shutil
import socket
from random import Random

import pytest
import worlds

import samovar as sv
from samovar._native import LARGEST_ENTRY, encode_plain
from samovar.cache import store as store_module
from samovar.cache.entry import FORMAT, MAGIC, Damaged, sealed, unsealed, unwrapped, wrapped
from samovar.cache.store import KINDS, Store
from samovar.lens import decision_tree

#: The directory of this format.
VERSION = f"v{FORMAT}"


def silent(message):
    raise AssertionError(f"nothing should be said, but: {message}")


def make():
    @sv.kernel
    def k(a: sv.types.NDArray[sv.f32, 1], n: sv.i32) -> sv.i32:
        x = n * 5
        for i in a:
            a[i] = x
        return x + 1

    return k


def launch(cache):
    """A launch as in a new process: gives whether something was compiled."""
    sv.init(offline_cache_file_path=cache)
    a = sv.ndarray(sv.f32, 4)
    before = sv.compile_count()
    assert make()(a, 2) == 11
    assert [a[i] for i in range(4)] == [10] * 4
    return sv.compile_count() > before


@pytest.fixture(params=["copied", "apart"])
def cache(tmp_path, request, monkeypatch):
    """A store with one kernel in it, which the tree has a copy of, or not."""
    if request.param == "apart":
        monkeypatch.setattr(decision_tree, "MOST_CONTENT", 0)
    assert launch(tmp_path / "cache")
    assert not launch(tmp_path / "cache")
    return tmp_path / "cache"


def is_needed(kind):
    """Is a file of some kind read by each process?"""
    return kind == "trees" or (kind == "kernels" and decision_tree.MOST_CONTENT == 0)


def entry(cache, kind):
    """The one entry of a kind."""
    (path,) = (cache / VERSION / kind).iterdir()
    return path


def damage(path, content):
    """Replace a file, as a failing disk would: without a rename."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
        file.write(content)


# --- damaged entries


@pytest.mark.parametrize("kind", KINDS)
def test_every_flipped_byte_is_noticed(cache, kind):
    path = entry(cache, kind)
    whole = path.read_bytes()
    store = Store(str(cache), 1 << 30, silent)
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << position % 8
        damage(path, damaged)
        assert store.read(kind, path.name) is None
        assert not path.exists()
    damage(path, whole)
    assert store.read(kind, path.name) is not None


@pytest.mark.parametrize("kind", KINDS)
def test_every_truncation_is_noticed(cache, kind):
    path = entry(cache, kind)
    whole = path.read_bytes()
    for size in range(len(whole)):
        with pytest.raises((ValueError, EOFError, TypeError)):
            unwrapped(kind, path.name, whole[:size])
    store = Store(str(cache), 1 << 30, silent)
    for size in (0, 1, len(MAGIC), 27, 28, 29, len(whole) // 2, len(whole) - 1):
        damage(path, whole[:size])
        assert store.read(kind, path.name) is None
        assert not path.exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("position", [0, 7, 8, 27, 28, 40, -1])
def test_a_damaged_entry_is_compiled_and_written_again(cache, kind, position):
    path = entry(cache, kind)
    damaged = bytearray(path.read_bytes())
    damaged[position] ^= 0x10
    damage(path, damaged)
    assert launch(cache) == is_needed(kind)
    if is_needed(kind):
        unwrapped(kind, path.name, path.read_bytes())
    assert not launch(cache)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [LARGEST_ENTRY + 1, 1 << 43])
def test_a_file_that_was_left_with_a_huge_size_is_replaced(cache, kind, size):
    """A crash can do that. The rest of the file takes no room on the disk, and would take all of the memory."""
    path = entry(cache, kind)
    os.truncate(path, size)
    assert launch(cache) == is_needed(kind)
    assert not launch(cache)
    assert path.stat().st_size < LARGEST_ENTRY or not is_needed(kind)
    store = Store(str(cache), 1 << 50, silent)
    os.truncate(path, size)
    with pytest.raises(Damaged):
        store.examine(kind, path.name)
    assert path.exists()
    assert store.read(kind, path.name) is None
    assert not path.exists()


def test_what_is_too_large_for_an_entry_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(store_module, "LARGEST_ENTRY", 1 << 20)
    store = Store(str(tmp_path / "cache"), 1 << 50, silent)
    assert store.write("kernels", "a" * 40, bytes(1 << 19)) is None
    assert "it takes 2 MiB" in store.write("kernels", "b" * 40, bytes(2 << 20))
    assert [each.key for each in store.entries()] == ["a" * 40]


def foreign_entries(kind, key):
    yield "empty", b""
    yield "zeros", bytes(4096)
    yield "text", b"<html>503</html>"
    yield "an object file", b"\x7fELF" + bytes(500)
    yield "a pickle", b"\x80\x05\x95" + bytes(100)
    yield "an older format", b"samovar\x00" + wrapped(kind, key, ())[8:]
    yield "a newer format", b"samovar\xff" + wrapped(kind, key, ())[8:]
    yield "another key", wrapped(kind, "0" * 40, ())
    yield "another kind", wrapped("other", key, ())
    yield "other data", wrapped(kind, key, ())
    yield "data of another shape", wrapped(kind, key, ("a", 1, None))
    yield "one number", wrapped(kind, key, 5)
    yield "nested data", wrapped(kind, key, ((), 0.5, b""))
    yield "a list", wrapped(kind, key, [[1, 2], [3, 4]])


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_an_entry_of_this_version_is_replaced(cache, kind):
    path = entry(cache, kind)
    for what, content in foreign_entries(kind, path.name):
        damage(path, content)
        launch(cache)
        assert not launch(cache), what


def test_an_artifact_without_a_right_image_is_replaced(cache):
    path = entry(cache, "kernels")
    content, record = unwrapped("kernels", path.name, path.read_bytes())
    fields, seconds = unsealed(content, "({(S*)}F)")
    shutil.rmtree(cache / VERSION / "code")
    for image in (b"", b"\xc3", b"samovar" * 100, dict(fields)["image"][:-1], b"\x7fELF" + bytes(60)):
        artifact = sealed((tuple({**dict(fields), "image": image}.items()), seconds))
        damage(path, wrapped("kernels", path.name, (artifact, record)))
        replace_copies(entry(cache, "trees"), artifact)
        assert launch(cache)
        assert not launch(cache)


def test_a_copy_that_cannot_be_decoded_is_replaced(cache):
    for content in (b"", b"\x00", b"\xff" * 100, encode_plain(()), encode_plain((1, 2)), encode_plain(((b"",) * 10, 0.5))):
        replace_copies(entry(cache, "trees"), content)
        assert launch(cache) == (not is_needed("kernels"))
        assert not launch(cache)


def replace_copies(path, content):
    """Give the one leaf of a tree another content, if it has any."""
    rows, (steps, (key, sources, age, known)) = unwrapped("trees", path.name, path.read_bytes())
    if known is not None:
        damage(path, wrapped("trees", path.name, (rows, [steps, (key, sources, age, content)])))


def mutated(data, random):
    """The data with one part of it replaced, removed or repeated, somewhere."""
    if isinstance(data, (list, tuple)) and data and random.random() < 0.85:
        position = random.randrange(len(data))
        parts = list(data)
        parts[position] = mutated(parts[position], random)
        return type(data)(parts)
    others = [None, 0, -1, 10**9, -(10**30), 0.5, "", "kind", b"", (), [], (1, 2), [[], []], ..., ("a", "b", "c"), True]
    if isinstance(data, (list, tuple)) and data and random.random() < 0.5:
        return random.choice([data[:-1], data + data[-1:], data[1:], data[::-1]])
    return random.choice(others)


def replace_by_mutations(cache, kind, times):
    """Entries that are whole and of another shape, as another version might write them under the same identifier."""
    path = entry(cache, kind)
    data = unwrapped(kind, path.name, path.read_bytes())
    random = Random(times)
    for _ in range(times):
        damage(path, wrapped(kind, path.name, mutated(data, random)))
        launch(cache)


@pytest.mark.parametrize("kind", ["trees", "names"])
def test_entries_of_another_shape_do_no_harm(cache, kind):
    replace_by_mutations(cache, kind, 60)


@pytest.mark.stress
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["trees", "names"])
def test_many_entries_of_another_shape_do_no_harm(cache, kind):
    replace_by_mutations(cache, kind, 3000)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_a_file_makes_nobody_wait(cache, kind):
    path = entry(cache, kind)
    path.unlink()
    os.mkfifo(path, 0o600)
    launch(cache)
    path.unlink()
    path.symlink_to(path)
    launch(cache)
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        previous = os.getcwd()
        os.chdir(path.parent)
        try:
            listener.bind(path.name)
        finally:
            os.chdir(previous)
        launch(cache)
    path.unlink(missing_ok=True)
    path.mkdir()
    if is_needed(kind):
        with pytest.warns(sv.SamovarWarning, match="Is a directory"):
            launch(cache)
    else:
        launch(cache)
    path.rmdir()
    launch(cache)
    assert not launch(cache)


def test_a_lost_file_of_any_kind_costs_at_most_a_compile(cache):
    for kind in KINDS:
        entry(cache, kind).unlink()
        assert launch(cache) == is_needed(kind)
        assert not launch(cache)


# --- who may write


@pytest.mark.parametrize("inner", ["", VERSION, f"{VERSION}/trees", f"{VERSION}/kernels"])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o1777])
def test_a_directory_that_others_can_write_to_is_refused_loudly(cache, inner, mode):
    (cache / inner).chmod(mode)
    before = sorted(path for path in cache.rglob("*"))
    with pytest.warns(sv.SamovarWarning, match=r"is not used, because others can write to it"):
        assert launch(cache)
    assert sorted(path for path in cache.rglob("*")) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to somebody else")
@pytest.mark.parametrize("kind", ["trees", "kernels"])
def test_a_directory_or_file_of_somebody_else_is_refused(cache, kind):
    path = entry(cache, kind)
    os.chown(path, 12345, 12345)
    if is_needed(kind):
        with pytest.warns(sv.SamovarWarning, match="is owned by user 12345"):
            assert launch(cache)
        assert entry(cache, kind).stat().st_uid == 0
    assert not launch(cache)
    os.chown(cache, 12345, 12345)
    with pytest.warns(sv.SamovarWarning, match="is owned by user 12345"):
        assert launch(cache)


def test_a_file_that_others_can_write_to_is_replaced(cache):
    path = entry(cache, "kernels" if is_needed("kernels") else "trees")
    path.chmod(0o666)
    with pytest.warns(sv.SamovarWarning, match=r"entry .* is not used, because others can write to it"):
        assert launch(cache)
    assert path.stat().st_mode & 0o777 == 0o600
    assert not launch(cache)


def test_nothing_is_written_through_links_that_somebody_else_has_laid(tmp_path):
    """A program that is given a directory of somebody else leaves the files of its user alone, at its end as well."""
    cache, own = tmp_path / "cache", tmp_path / "own"
    own.write_text("precious")
    (cache / VERSION).mkdir(parents=True)
    for name in ("statistics", "turns", "measured"):
        (cache / VERSION / name).symlink_to(own)
    cache.chmod(0o777)
    program = "@sv.kernel\ndef k() -> sv.i32:\n    return 1\n\ndef main():\n    return k()\n"
    folder = worlds.write(tmp_path / "program", {"main.py": program})
    assert worlds.run_elsewhere({"it": (folder, cache)})["it"]["result"] == 1
    assert own.read_text() == "precious"
    assert not any(path.is_dir() for path in (cache / VERSION).iterdir())


def test_what_is_used_is_renewed_also_where_a_copy_is_read(cache):
    used = [entry(cache, kind) for kind in ("trees", "kernels")]
    for path in used:
        os.utime(path, (0, 0))
    assert not launch(cache)
    assert all(path.stat().st_mtime > 1e9 for path in used)
