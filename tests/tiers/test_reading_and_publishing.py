"""A machine compiles and publishes; others load what it has published, with few requests."""

import hashlib
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fleet import PROGRAM, Fleet, launch, scale, tiers, total

import samovar as sv
from samovar.cache import Store, leaf_entries, opened_leaf
from samovar.errors import SamovarWarning
from samovar.runtime import current_options, library_for
from samovar.tiers import collect_garbage, read_figures, read_trust, sign_again, signer_of, tier_at
from samovar.tiers.publishing import NewEntry, entries_of, publish


def test_a_machine_with_an_empty_directory_loads_what_another_has_published(fleet):
    fleet.publish()
    assert fleet.work() == (3, 0)
    assert tiers().tiers[0].figures.rejected == 0


def test_what_was_fetched_is_in_the_local_cache_afterwards(fleet):
    fleet.publish()
    directory = fleet.fresh()
    assert fleet.work(directory=directory) == (3, 0)
    shutil.rmtree(fleet.address)
    assert fleet.work(directory=directory) == (3, 0)


def test_a_cold_worker_makes_three_requests_however_many_kernels_there_are(fleet):
    fleet.publish(sv.f32)
    fleet.publish(sv.f64)
    fleet.publish(sv.i32, sv.f16)
    assert fleet.work(sv.f32, sv.f64, sv.i32, sv.f16) == (5, 0)
    assert tiers().tiers[0].figures.requests == 3


def test_leaves_of_one_tree_that_two_machines_publish_are_merged(fleet):
    fleet.be(cache_signing_key=fleet.key_file)
    launch(sv.f32)
    first = tiers()
    fleet.be(cache_signing_key=fleet.key_file)
    launch(sv.f64)
    first.finish()
    tiers().finish()
    assert fleet.work() == (3, 0)


def test_two_manifests_of_publishers_at_the_same_moment_are_both_read_and_merged_by_the_next(fleet):
    sets = []
    for dtype in (sv.f32, sv.f64):
        fleet.publish(dtype)
        sets.append([(path, path.read_bytes()) for path in (*fleet.files("manifests"), *fleet.files("segments"))])
        shutil.rmtree(fleet.address)
    for path, content in (*sets[0], *sets[1]):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    assert len(fleet.files("manifests")) == 2
    assert fleet.work() == (3, 0)
    fleet.publish(sv.i32)
    tier = fleet.tier()
    assert len(tier.manifests) == 1
    assert len(tier.all_rows()) == 5 - 1  # both had compiled `total`, which is one leaf


def test_a_publisher_whose_clock_is_a_day_behind_loses_nothing(fleet, monkeypatch):
    fleet.publish(sv.f32)
    from samovar.tiers import publishing, tier

    monkeypatch.setattr(publishing, "time_ns", lambda: 1)
    monkeypatch.setattr(tier, "time", lambda: __import__("time").time() - 86400)
    fleet.publish(sv.f64)
    assert fleet.work() == (3, 0)


def test_publishing_again_sends_nothing(fleet):
    fleet.publish()
    before = fleet.files("manifests") + fleet.files("segments")
    fleet.publish()
    assert fleet.files("manifests") + fleet.files("segments") == before


def test_an_interrupted_publication_continues_where_it_ended(fleet):
    fleet.publish()
    for path in fleet.files("manifests"):
        path.unlink()
    segments = fleet.files("segments")
    library = library_for(current_options())
    entries = entries_of(library, [scale.state.known.key, total.state.known.key], lambda *_: True)
    tier = tier_at(fleet.address, PROGRAM, tiers()._trust, 5)
    assert publish(tier, entries, signer_of(current_options())).new == 3
    assert fleet.files("segments") == segments
    assert fleet.work() == (3, 0)


def test_new_kernels_change_few_of_the_segments_that_an_interrupted_publication_has_left(fleet, monkeypatch):
    """With entries of some bytes instead of kernels: segments are uploaded whatever is in them."""
    monkeypatch.setattr("samovar.tiers.publishing.USUAL_SEGMENT_BYTES", 4000)
    numbers = random.Random(32)

    def entry(name):
        key = hashlib.blake2b(name.encode(), digest_size=20).hexdigest()
        return NewEntry(key, key, "cpu", name, 1.0, numbers.randbytes(100))

    # In the order of keys, "new 367" is the first.
    entries = [entry(f"kernel {number}") for number in range(400)]
    fleet.be(cache_signing_key=fleet.key_file)
    options = current_options()
    tier = tier_at(fleet.address, PROGRAM, read_trust(options, signer_of(options).public, time.time), 5)
    write, written = tier.transport.write, []

    def killed(path, content):
        if len(written) == 8:
            raise KeyboardInterrupt
        written.append(path)
        write(path, content)

    monkeypatch.setattr(tier.transport, "write", killed)
    with pytest.raises(KeyboardInterrupt):
        publish(tier, entries, signer_of(options))
    left = fleet.files("segments")
    assert len(left) == 8
    assert not fleet.files("manifests")
    monkeypatch.setattr(tier.transport, "write", write)
    publish(tier, [*entries, entry("another"), entry("new 367")], signer_of(options))
    tier.refresh()
    [manifest] = tier.manifests.values()
    assert len(manifest.rows) == 402
    assert len({path.name for path in left} & {row.segment for row in manifest.rows}) >= 4


def test_a_worker_without_a_private_key_publishes_nothing(fleet):
    fleet.be(cache_trust=fleet.key)
    launch()
    tiers().finish()
    assert not Path(fleet.address).exists()


def test_a_miss_is_asked_for_once(fleet):
    fleet.publish(sv.f32)
    assert fleet.work(sv.f32) == (2, 0)
    requests = tiers().tiers[0].figures.requests
    assert launch(sv.f64) == (0, 1)
    assert launch(sv.i16) == (0, 1)
    assert tiers().tiers[0].figures.requests == requests


def test_a_reader_of_an_outdated_manifest_reads_the_new_one(fleet):
    fleet.publish(sv.f32)
    fleet.be(cache_trust=fleet.key)
    reader = tiers()
    reader._reader.submit(lambda: None).wait(5)  # it has read the manifest
    fleet.publish(sv.f64)  # moves everything to another segment
    collect_garbage(fleet.tier(), grace=-1)
    [key] = {row.tree for row in fleet.tier().all_rows() if row.name.endswith("total")}
    assert [leaf.record.name for leaf in reader.leaves(key, ())] == ["fleet.total"]
    assert reader.tiers[0].figures.rejected == 0


def test_without_a_writable_directory_fetched_kernels_are_used_nevertheless(fleet):
    fleet.publish()
    with pytest.warns(SamovarWarning, match="not cached in"):
        assert fleet.work(directory="/proc/samovar") == (3, 0)


def test_a_tier_in_memory_and_one_over_another_work_alike(fleet):
    pytest.importorskip("fsspec")
    fleet.publish(sv.f32, address="memory://fleet-test")
    fleet.publish(sv.f64)
    assert fleet.work(address=f"memory://fleet-test {fleet.address}") == (3, 0)
    assert [tier.figures.hits for tier in tiers().tiers] == [2, 1]


def test_another_version_of_the_toolchain_is_not_even_listed(fleet, monkeypatch):
    fleet.publish()
    monkeypatch.setenv("SAMOVAR_BUILD_CACHE_VERSION_ID", "another")
    fleet.be(cache_trust=fleet.key)
    assert launch() == (0, 3)
    assert tiers().tiers[0].figures.received == 0


def test_garbage_collection_removes_what_nothing_refers_to_and_keeps_the_rest(fleet):
    fleet.publish(sv.f32)
    fleet.publish(sv.f64)
    assert len(fleet.files("manifests")) == 2
    tier = fleet.tier()
    assert collect_garbage(tier).files == 0  # they are young
    assert collect_garbage(tier, grace=-1).files == 2
    assert (len(fleet.files("manifests")), len(fleet.files("segments"))) == (1, 1)
    assert fleet.work() == (3, 0)
    assert collect_garbage(fleet.tier(), older_than=-1.0).entries == 3
    assert fleet.work() == (0, 3)


def test_entries_can_be_signed_again_with_another_key(fleet, tmp_path):
    fleet.publish()
    (tmp_path / "other").mkdir()
    other = Fleet(tmp_path / "other")
    tier = fleet.tier(cache_signing_key=other.key_file)
    assert sign_again(tier, signer_of(current_options())) == 3
    assert fleet.work(cache_trust=other.key) == (3, 0)


def test_a_leaf_contains_one_path_and_its_artifact(fleet):
    fleet.publish()
    library = library_for(current_options())
    [key] = {row.tree for row in fleet.tier().all_rows() if row.name.endswith("scale")}
    fleet.be(directory=library.store.directory)
    leaves = leaf_entries(library, key)
    assert len(leaves) == 2
    for leaf, (record, content) in leaves.items():
        found = opened_leaf(key, content)
        assert (found.key, found.record.name, record.tree) == (leaf, "fleet.scale", key)


def test_large_programs_take_several_segments(fleet, monkeypatch):
    from samovar.tiers import publishing

    monkeypatch.setattr(publishing, "USUAL_SEGMENT_BYTES", 4000)
    fleet.publish(sv.f32, sv.f64, sv.i32, sv.f16)
    assert len(fleet.files("segments")) > 2
    assert fleet.work(sv.f32, sv.f64, sv.i32, sv.f16) == (5, 0)


def test_publishing_leaves_what_unknown_signers_have_published(fleet, tmp_path):
    (tmp_path / "other").mkdir()
    other = Fleet(tmp_path / "other")
    fleet.publish(sv.f32)
    with pytest.warns(SamovarWarning, match="unknown key"):
        fleet.publish(sv.f64, cache_signing_key=other.key_file)
    assert len(fleet.tier().all_rows()) == 3 + 1  # each signed its own `total`
    assert fleet.work(cache_trust=f"{fleet.key} {other.key}") == (3, 0)


def test_a_forked_child_reads_with_connections_of_its_own(fleet):
    import os

    fleet.publish()
    fleet.be(cache_trust=fleet.key)
    launch(sv.f32)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if launch(sv.f64) == (1, 0) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_figures_include_what_is_written_at_the_end_of_the_process(fleet):
    fleet.publish()
    directory = fleet.fresh()
    code = (
        f"import sys, time; sys.path.insert(0, {str(Path(__file__).parent)!r}); import fleet, samovar as sv\n"
        "from samovar.cache import Store\n"
        "write = Store.write\n"
        "Store.write = lambda *given: (time.sleep(0.2), write(*given))[1]\n"
        f"sv.init(cache_remote={fleet.address!r}, cache_program={PROGRAM!r}, cache_trust={fleet.key!r},"
        f" offline_cache_file_path={directory!r})\n"
        "fleet.launch()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    [figures] = read_figures(Store(directory, 1 << 30, print)).values()
    assert (figures.hits, figures.requests) == (2, 3)


def test_a_process_without_tiers_imports_nothing_of_them():
    code = (
        "import sys, samovar as sv\n"
        "@sv.kernel\ndef two() -> sv.i32:\n    return 2\n"
        "assert two() == 2\n"
        "print([name for name in sys.modules if name.startswith(('samovar.tiers', 'fsspec', 'cryptography'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_programs_have_separate_manifests(fleet):
    fleet.publish()
    assert fleet.work(cache_program="another") == (0, 3)
    assert sorted(path.name for path in (Path(fleet.address) / "samovar-tier-1").iterdir()) == [PROGRAM]


def test_entries_are_published_with_the_names_of_their_kernels(fleet):
    fleet.publish()
    assert {row.name for row in fleet.tier().all_rows()} == {"fleet.scale", "fleet.total"}


def test_the_next_tier_is_asked_although_what_the_first_one_had_is_not_stored_yet(fleet, monkeypatch):
    from samovar.tiers.tiers import Tiers

    second = str(fleet.folder / "second")
    fleet.publish(sv.f32, address=second)
    fleet.publish(sv.f64)
    monkeypatch.setattr(Tiers, "write_later", lambda self, run: None)
    assert fleet.work(address=f"{second} {fleet.address}") == (3, 0)
