"""Who could exchange the cache directory: each directory above it, and each link on the way, is looked at."""

import os

import pytest

import samovar as sv
from samovar.cache.store import Store
from samovar.cache.trust import untrusted_parent

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give things to somebody else")


def make():
    @sv.kernel
    def k(n: sv.i32) -> sv.i32:
        return n + 1

    return k


def launch(cache):
    sv.init(offline_cache_file_path=cache)
    before = sv.compile_count()
    assert make()(1) == 2
    return sv.compile_count() > before


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_parent_that_others_can_write_to_is_refused_loudly(tmp_path, depth):
    cache = tmp_path / "a" / "b" / "cache"
    assert launch(cache)
    assert not launch(cache)
    parent = [tmp_path, tmp_path / "a", tmp_path / "a" / "b"][depth - 1]
    parent.chmod(0o777)
    try:
        with pytest.warns(sv.SamovarWarning, match=rf"{cache} in {parent} is not used, because others can write to it"):
            assert launch(cache)
        launch(cache)  # it is said once
    finally:
        parent.chmod(0o700)


def test_nothing_is_made_where_others_could_exchange_it(tmp_path):
    tmp_path.chmod(0o777)
    with pytest.warns(sv.SamovarWarning, match="others can write to it"):
        assert launch(tmp_path / "new" / "cache")
    assert list(tmp_path.iterdir()) == []


def test_the_sticky_bit_is_as_good(tmp_path):
    tmp_path.chmod(0o1777)
    assert launch(tmp_path / "cache")
    assert not launch(tmp_path / "cache")


def test_directories_that_are_made_are_for_the_user_alone(tmp_path):
    before = os.umask(0)
    try:
        launch(tmp_path / "a" / "b" / "cache")
    finally:
        os.umask(before)
    assert {(tmp_path / way).stat().st_mode & 0o777 for way in ("a", "a/b", "a/b/cache")} == {0o700}
    assert not launch(tmp_path / "a" / "b" / "cache")


@as_root
def test_a_parent_of_somebody_else_is_refused(tmp_path):
    parent = tmp_path / "theirs"
    assert launch(parent / "cache")
    os.chown(parent, 12345, 12345)
    with pytest.warns(sv.SamovarWarning, match=f"in {parent} is not used, because it is owned by user 12345"):
        assert launch(parent / "cache")


def test_links_lead_to_where_they_lead(tmp_path):
    real, open_to_all = tmp_path / "real", tmp_path / "open"
    real.mkdir()
    open_to_all.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert untrusted_parent(str(tmp_path / "link" / "cache")) is None
    (open_to_all / "inner").mkdir()
    (tmp_path / "other").symlink_to("open/inner/../inner")
    open_to_all.chmod(0o777)
    assert untrusted_parent(str(tmp_path / "other" / "cache")) == (str(open_to_all), "others can write to it")
    assert untrusted_parent(str(tmp_path / "other")) == (str(open_to_all), "others can write to it")
    (tmp_path / "circle").symlink_to("circle")
    assert untrusted_parent(str(tmp_path / "circle" / "cache")) is not None


@as_root
def test_a_link_of_somebody_else_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    os.chown(tmp_path / "link", 12345, 12345, follow_symlinks=False)
    assert untrusted_parent(str(tmp_path / "link" / "cache")) == (str(tmp_path / "link"), "it is a link owned by user 12345")


@as_root
def test_a_group_that_others_may_be_in_is_refused_and_that_of_root_is_not(tmp_path):
    tmp_path.chmod(0o775)
    assert untrusted_parent(str(tmp_path / "cache")) is None
    os.chown(tmp_path, 0, 12345)
    assert untrusted_parent(str(tmp_path / "cache")) == (str(tmp_path), "others can write to it")


def test_parents_are_looked_at_once(tmp_path, monkeypatch):
    store = Store(str(tmp_path / "cache"), 1 << 20, print)
    assert store.write("names", "0" * 40, ("name", [])) is None
    looked = []
    monkeypatch.setattr(os, "lstat", lambda path, real=os.lstat: looked.append(path) or real(path))
    for _ in range(5):
        assert store.read("names", "0" * 40) == ("name", [])
    assert looked == []


def test_a_path_that_is_not_there_is_nobodys(tmp_path):
    assert untrusted_parent(str(tmp_path / "a" / "b" / "c")) is None
    assert untrusted_parent("/") is None
