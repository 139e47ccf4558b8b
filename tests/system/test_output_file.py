"""Files at paths that a user names: nothing that is no regular file is replaced, and nothing is left half written."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from samovar.system import write_file, write_pieces


def test_a_file_appears_with_its_content(tmp_path):
    assert write_file(tmp_path / "new", b"one", b"two") == 6
    assert (tmp_path / "new").read_bytes() == b"onetwo"
    assert [each.name for each in tmp_path.iterdir()] == ["new"]


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path):
    path = tmp_path / "old"
    path.write_bytes(b"before, and longer")
    path.chmod(0o640)
    write_file(path, b"after")
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_mode_that_the_user_wants(tmp_path):
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "new", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_failure_leaves_what_was_there(tmp_path):
    path = tmp_path / "old"
    path.write_bytes(b"before")

    def pieces():
        yield b"a part"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_pieces(path, pieces())
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_one_and_what_it_leads_to_is_written(tmp_path, exists):
    target = tmp_path / "target"
    if exists:
        target.write_bytes(b"before")
    (tmp_path / "link").symlink_to("target")
    write_file(tmp_path / "link", b"after")
    assert (tmp_path / "link").is_symlink()
    assert target.read_bytes() == b"after"


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path, b"x")


def test_a_pipe_that_nobody_reads_is_refused_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="without a reader"):
        write_file(tmp_path / "pipe", b"x")
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


def test_a_pipe_with_a_reader_gets_everything(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader, found = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK), bytearray()
    held = os.open(tmp_path / "pipe", os.O_WRONLY)  # so that the pipe does not end before it is written to
    os.set_blocking(reader, True)
    content = os.urandom(1 << 18)

    def read():
        while len(found) < len(content):
            found.extend(os.read(reader, 1 << 16))

    thread = threading.Thread(target=read)
    thread.start()
    write_file(tmp_path / "pipe", content)
    thread.join()
    os.close(held)
    os.close(reader)
    assert found == content


def test_a_device_is_written_to_and_stays():
    write_file(os.devnull, b"x")
    assert stat.S_ISCHR(os.lstat(os.devnull).st_mode)
    if os.path.exists("/dev/full"):
        with pytest.raises(OSError, match="No space"):
            write_file("/dev/full", b"x")
        assert stat.S_ISCHR(os.lstat("/dev/full").st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("to_file", [True, False])
def test_standard_output_is_where_the_shell_has_sent_it(tmp_path, name, to_file):
    command = [sys.executable, "-c", f"from samovar.system import write_file; write_file({name!r}, b'content')"]
    if to_file:
        with open(tmp_path / "out", "wb") as file:
            subprocess.run(command, stdout=file, check=True)
            assert os.path.samestat(os.fstat(file.fileno()), (tmp_path / "out").stat())
        assert (tmp_path / "out").read_bytes() == b"content"
    else:
        assert subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout == b"content"
    assert os.path.islink("/dev/stdout")


def test_a_link_of_somebody_else_is_not_followed(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("only root can lay a link in the name of somebody else")
    (tmp_path / "link").symlink_to("target")
    os.chown(tmp_path / "link", 12345, 12345, follow_symlinks=False)
    with pytest.raises(PermissionError, match="belongs to another user"):
        write_file(tmp_path / "link", b"x")
    assert not (tmp_path / "target").exists()
