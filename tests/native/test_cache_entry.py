"""Entries of the cache: the checksum, reading and writing."""

import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar._native import LARGEST_ENTRY, checksum, read_entry, write_entry


@given(st.binary(min_size=1, max_size=80), st.data())
def test_a_change_of_any_bit_changes_the_checksum(content, data):
    place = data.draw(st.integers(0, len(content) - 1))
    bit = data.draw(st.integers(0, 7))
    other = content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]
    assert checksum(content, 0) != checksum(other, 0)


@given(st.binary(max_size=80), st.binary(min_size=1, max_size=40))
def test_what_is_longer_has_another_checksum(content, more):
    assert checksum(content, 0) != checksum(content + more, 0)


def test_zeros_count():
    assert len({checksum(bytes(size), 0) for size in range(200)}) == 200


@given(st.binary(max_size=40), st.binary(max_size=40))
def test_only_what_follows_counts(head, body):
    assert checksum(head + body, len(head)) == checksum(body, 0)


def test_every_word_that_trades_places_is_noticed():
    words = [bytes([number]) * 8 for number in range(1, 9)]
    sums = {checksum(b"".join(words), 0)}
    for one in range(8):
        for two in range(one):
            traded = list(words)
            traded[one], traded[two] = words[two], words[one]
            sums.add(checksum(b"".join(traded), 0))
    assert len(sums) == 29


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "entry"
    write_entry(str(tmp_path / "temporary"), str(path), b"content")
    content, (inode, _, size), owner, mode = read_entry(str(path))
    status = path.stat()
    assert (content, inode, size, owner) == (b"content", status.st_ino, 7, os.geteuid())
    assert mode == stat.S_IMODE(status.st_mode) == 0o600
    assert os.listdir(tmp_path) == ["entry"]


def test_nothing_is_left_where_it_cannot_be_written(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="Is a directory"):
        write_entry(str(tmp_path / "temporary"), str(tmp_path / "folder"), b"content")
    assert os.listdir(tmp_path) == ["folder"]
    with pytest.raises(FileNotFoundError):
        write_entry(str(tmp_path / "missing" / "temporary"), str(tmp_path / "missing" / "entry"), b"content")


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(OSError, match="not a regular file"):
        read_entry(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read_entry(str(tmp_path / "pipe"))
    with pytest.raises(FileNotFoundError):
        read_entry(str(tmp_path / "missing"))


def test_nothing_is_read_of_a_file_that_is_too_large(tmp_path):
    path = tmp_path / "entry"
    path.write_bytes(b"begin")
    os.truncate(path, LARGEST_ENTRY + 1)
    content, (inode, _, size), _, _ = read_entry(str(path))
    assert (content, inode, size) == (b"", path.stat().st_ino, LARGEST_ENTRY + 1)
