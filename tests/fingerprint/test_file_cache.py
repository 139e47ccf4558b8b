"""`FileCache`: entries are data with a checksum; whatever is wrong with one is a miss."""

from __future__ import annotations

import logging
import os
import pickle
import stat
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from hypothesis_profiles import examples
from samovar.fingerprint import CachedStep, FileCache, stable_fingerprinter

KEY = stable_fingerprinter("key")
OTHER = stable_fingerprinter("other")


@pytest.fixture
def cache(tmp_path):
    return FileCache(tmp_path / "cache", encode=str.encode, decode=bytes.decode)


def entry_of(cache, key=KEY):
    return Path(cache.path_of(key))


def test_value_comes_back(cache):
    cache[KEY] = "value"
    cache[OTHER] = ""
    assert cache.get(KEY, None) == "value"
    assert cache.get(OTHER, None) == ""


def test_absent_key_gives_the_default(cache):
    assert cache.get(KEY, "default") == "default"


@given(data=st.data())
@examples("values", suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_entry_is_a_miss_and_never_another_value(cache, data):
    cache[KEY] = "the value of the entry"
    entry = entry_of(cache)
    content = entry.read_bytes()
    position = data.draw(st.integers(0, len(content) - 1))
    damage = data.draw(st.sampled_from(["flip", "cut", "insert", "zero"]))
    if damage == "flip":
        damaged = bytearray(content)
        damaged[position] ^= 1 << data.draw(st.integers(0, 7))
    elif damage == "cut":
        damaged = content[:position]
    elif damage == "insert":
        damaged = content[:position] + data.draw(st.binary(min_size=1, max_size=3)) + content[position:]
    else:
        damaged = content[:position] + bytes(len(content) - position)
    entry.write_bytes(damaged)
    assert cache.get(KEY, None) is None or bytes(damaged) == content


def test_entry_that_does_not_load_is_dropped_and_computed_again(cache):
    step = CachedStep(str.upper, key_function=stable_fingerprinter, cache=cache)
    assert step("tea") == "TEA"
    entry = entry_of(cache, step.key_of("tea"))
    entry.write_bytes(b"garbage")
    assert step("tea") == "TEA"
    assert cache.get(step.key_of("tea"), None) == "TEA"


def test_entry_under_a_foreign_name_is_a_miss(cache):
    cache[KEY] = "value"
    entry_of(cache, OTHER).parent.mkdir(parents=True, exist_ok=True)
    os.rename(entry_of(cache), entry_of(cache, OTHER))
    assert cache.get(OTHER, None) is None


def test_value_that_does_not_decode_is_a_miss(cache, caplog):
    cache[KEY] = "text"
    strict = FileCache(cache.directory, encode=str.encode, decode=lambda data: int(data))
    with caplog.at_level(logging.INFO, "samovar.fingerprint"):
        assert strict.get(KEY, None) is None
    assert "ignored the invalid cache entry" in caplog.text


def test_directory_in_the_place_of_an_entry_is_a_miss(cache):
    entry_of(cache).mkdir(parents=True)
    assert cache.get(KEY, None) is None
    cache[KEY] = "value"


def test_entry_is_data_and_not_a_pickle(cache):
    class Explosive:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    cache[KEY] = "value"
    entry_of(cache).write_bytes(pickle.dumps(Explosive()))
    assert cache.get(KEY, None) is None


def test_entries_are_private_and_no_temporary_file_stays(cache):
    cache[KEY] = "value"
    assert stat.S_IMODE(entry_of(cache).stat().st_mode) == 0o600
    for directory in (entry_of(cache).parent, Path(cache.directory)):
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert [path.name for path in Path(cache.directory).rglob("*") if path.is_file()] == [KEY]


def test_directory_that_cannot_be_written_is_reported_once_and_the_step_works(tmp_path, caplog):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    cache = FileCache(blocked / "cache", encode=str.encode, decode=bytes.decode)
    step = CachedStep(str.upper, key_function=stable_fingerprinter, cache=cache)
    with caplog.at_level(logging.WARNING, "samovar.fingerprint"):
        assert [step("tea"), step("tea"), step("milk")] == ["TEA", "TEA", "MILK"]
    assert len(caplog.records) == 1
    assert "results are not cached in" in caplog.text


def test_failed_write_leaves_nothing_behind(cache):
    cache[OTHER] = "before"
    entry_of(cache).mkdir(parents=True)  # in the way: no file can take its place
    cache[KEY] = "value"
    assert cache.get(KEY, None) is None
    assert cache.get(OTHER, None) == "before"
    assert [path.name for path in Path(cache.directory).rglob("*") if path.is_file()] == [OTHER]


def test_stale_temporary_files_are_swept_and_fresh_ones_stay(cache):
    directory = entry_of(cache).parent
    directory.mkdir(parents=True)
    stale, fresh = directory / f"{KEY}.1.aa.tmp", directory / f"{KEY}.2.bb.tmp"
    for path in (stale, fresh):
        path.write_bytes(b"half")
    os.utime(stale, (time.time() - 7200,) * 2)
    cache[KEY] = "value"
    assert not stale.exists()
    assert fresh.exists()


def test_what_encode_returns_has_to_be_bytes(tmp_path):
    with pytest.raises(TypeError, match="encode has to return bytes, not str"):
        FileCache(tmp_path, encode=str, decode=int)[KEY] = 3


@pytest.mark.parametrize(
    "key", ["", "../../etc/passwd", "ABCDEF0123456789", "0" * 15, "0" * 40 + "\n", "0" * 16 + "/x"]
)
def test_key_that_is_no_fingerprint_is_refused(cache, key):
    with pytest.raises(ValueError, match="hexadecimal digits"):
        cache.get(key, None)
    with pytest.raises(ValueError, match="hexadecimal digits"):
        cache[key] = "value"


def test_last_writer_of_a_key_wins_whole(cache):
    cache[KEY] = "a" * 100_000
    cache[KEY] = "b"
    assert cache.get(KEY, None) == "b"
