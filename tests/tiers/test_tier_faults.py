"""Stores that are absent, slow, full, or lie: kernels are compiled here, with one warning and at most one timeout."""

import os
import random
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fleet import PROGRAM, launch, tiers

import samovar as sv
from samovar.cache import Damaged
from samovar.errors import SamovarWarning
from samovar.tiers.addresses import without_secrets
from samovar.tiers.manifest import Manifest, digest_of, packed_segment, unpacked_segment
from samovar.tiers.transports import FolderTransport

BUILD = "fleet-tests"


class Folder(SimpleHTTPRequestHandler):
    """Serves the folder of a tier, and counts what is asked for."""

    protocol_version = "HTTP/1.1"
    asked: list[str]

    def __init__(self, *given, asked, **options):
        self.asked = asked
        super().__init__(*given, **options)

    def do_GET(self):
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, *given):
        pass


def serving(handler):
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


@pytest.fixture
def server(fleet):
    asked: list[str] = []
    found = serving(lambda *given: Folder(*given, directory=fleet.address, asked=asked))
    found.asked = asked
    yield found
    found.shutdown()
    found.server_close()


def address_of(server) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


def test_a_web_server_is_a_tier_that_takes_three_requests(fleet, server):
    fleet.publish()
    assert fleet.work(address=address_of(server)) == (3, 0)
    assert [path.split("/")[-2] for path in server.asked] == ["manifests", "manifests", "segments"]


def test_passwords_in_an_address_are_sent_and_never_shown(fleet):
    sent = []

    class Private(BaseHTTPRequestHandler):
        def do_GET(self):
            sent.append(self.headers["Authorization"])
            self.send_error(401)

        def log_message(self, *given):
            pass

    server = serving(Private)
    address = address_of(server).replace("//", "//me:a%20secret@")
    with pytest.warns(SamovarWarning, match="401 Unauthorized") as told:
        assert fleet.work(address=address) == (0, 3)
    assert sent == ["Basic bWU6YSBzZWNyZXQ="]  # me:a secret
    assert "//me:***@127.0.0.1" in str(told[0].message)
    assert tiers().tiers[0].address == address.replace("a%20secret", "***")
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("/a/folder?x@y", "/a/folder?x@y"),
        ("https://host/path", "https://host/path"),
        ("https://user@host/path", "https://user@host/path"),
        ("https://user:word@host/pa@th", "https://user:***@host/pa@th"),
        ("https://host/path?signature=abc", "https://host/path?***"),
        ("s3://key:secret@bucket", "s3://key:***@bucket"),
    ],
)
def test_an_address_is_shown_without_secrets(address, shown):
    assert without_secrets(address) == shown


def test_a_server_that_fails_is_asked_once(fleet):
    asked = []

    class Broken(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(503)

        def log_message(self, *given):
            pass

    server = serving(Broken)
    with pytest.warns(SamovarWarning, match="503 Service Unavailable") as told:
        assert fleet.work(address=address_of(server)) == (0, 3)
    assert (len(told), len(asked)) == (1, 1)
    server.shutdown()
    server.server_close()


def test_a_store_that_is_absent_costs_a_warning(fleet):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.warns(SamovarWarning, match="is not used any more in this process") as told:
        assert fleet.work(address=address) == (0, 3)
    assert len(told) == 1


def test_a_store_that_does_not_answer_costs_one_timeout(fleet):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        begun = time.monotonic()
        with pytest.warns(SamovarWarning, match="launches have waited 1 s|timed out") as told:
            assert fleet.work(address=f"http://127.0.0.1:{silent.getsockname()[1]}", cache_remote_timeout=1) == (0, 3)
        launch(sv.i16)
        tiers().finish()
        assert time.monotonic() - begun < 60  # and not one timeout for each of twelve lookups, with compiles in between
        assert tiers().tiers[0].figures.waited < 2
    assert len(told) == 1


@pytest.mark.parametrize("cut", [0, 1, 20, 0.5, 0.99])
@pytest.mark.parametrize("kind", ["manifests", "segments"])
def test_a_truncated_file_is_ignored(fleet, kind, cut):
    fleet.publish(sv.f32)
    for path in fleet.files(kind):
        content = path.read_bytes()
        path.write_bytes(content[: cut if isinstance(cut, int) else int(len(content) * cut)])
    assert fleet.work(sv.f32) == (0, 2)
    assert tiers().tiers[0].figures.reasons in ({"damaged": 1}, {})


@pytest.fixture(autouse=True)
def damage_may_be_told(request):
    import warnings

    if "truncated" in request.node.name or "swapped" in request.node.name:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "entries of the cache tier", SamovarWarning)
            yield
    else:
        yield


def test_swapped_segments_are_ignored(fleet, monkeypatch):
    from samovar.tiers import publishing

    monkeypatch.setattr(publishing, "USUAL_SEGMENT_BYTES", 4000)
    fleet.publish(sv.f32, sv.f64, sv.i32)
    one, *others = fleet.files("segments")
    for other in others:
        other.write_bytes(one.read_bytes())
    loads, compiles = fleet.work(sv.f32, sv.f64, sv.i32)
    assert loads + compiles == 4
    assert loads < 4


def test_a_segment_that_would_fill_the_memory_is_not_decompressed():
    content = packed_segment([bytes(1 << 24)])
    with pytest.raises(Damaged, match="too large"):
        unpacked_segment(content, 1000)
    forged = content[:18] + (1000).to_bytes(8, "little") + content[26:]
    with pytest.raises(Damaged, match="another size"):
        unpacked_segment(forged, 1000)


def test_a_full_store_is_told_once_and_kernels_run(fleet, monkeypatch):
    def full(self, path, content):
        raise OSError(28, "No space left on device")

    def publish_twice():
        fleet.publish()
        launch(sv.i16)
        tiers().finish()

    monkeypatch.setattr(FolderTransport, "write", full)
    with pytest.warns(SamovarWarning, match="No space left on device") as told:
        publish_twice()
    assert len(told) == 1


def test_a_publication_that_was_killed_leaves_nothing_that_is_read(fleet, monkeypatch):
    fleet.publish(sv.f32)
    replace, written = os.replace, []

    def killed(source, target):
        written.append(target)
        if "/manifests/" in target:
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", killed)
    fleet.publish(sv.f64)
    monkeypatch.setattr(os, "replace", replace)
    assert any("/segments/" in path for path in written)
    assert fleet.work() == (2, 1)
    assert not list(Path(fleet.address).rglob("*.tmp"))


def test_fifty_processes_share_a_tier_and_a_directory(fleet, tmp_path, monkeypatch):
    """A few of them, in the suite."""
    check_many_processes(fleet, tmp_path, 4)


@pytest.mark.stress
def test_fifty_processes_at_once(fleet, tmp_path):
    check_many_processes(fleet, tmp_path, 50)


def check_many_processes(fleet, tmp_path, number):
    fleet.publish()
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import fleet; print(fleet.launch())"
    variables = {
        "SAMOVAR_CACHE_REMOTE": fleet.address, "SAMOVAR_CACHE_TRUST": fleet.key, "SAMOVAR_CACHE_PROGRAM": PROGRAM,
        "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "shared"),
    }  # fmt: skip
    command = [sys.executable, "-c", code]
    running = [
        subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(number)
    ]
    assert [process.communicate() for process in running] == [(b"(3, 0)\n", b"")] * number


# --- mutations


def mutated(content: bytes, random: random.Random) -> bytes:
    """A file with a few changes. A part keeps its size and structure, so that more than decompression is tested."""
    found = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 5])):
        place = random.randrange(len(found) or 1)
        what = random.randrange(4)
        if what == 0 and found:
            found[place] ^= 1 << random.randrange(8)
        elif what == 1:
            del found[place : place + random.choice([1, 4, 30])]
        elif what == 2:
            found[place:place] = random.randbytes(random.choice([1, 3]))
        else:
            begin = random.randrange(len(found) or 1)
            found[place : place + 16] = found[begin : begin + 16]
    return bytes(found)


def check_mutations(fleet, number: int) -> None:
    """Mutate manifests (as bytes and as data) and entries; none may be used that is not, byte by byte, a signed one."""
    fleet.publish()
    tier = fleet.tier()
    [manifest] = tier.manifests.values()
    [path] = fleet.files("manifests")
    tier.fetch(manifest.rows)
    signed = {digest_of(tier.content(row)): row.tree for row in manifest.rows}
    packed = path.read_bytes()
    originals = [tier.content(row) for row in manifest.rows]
    random_numbers = random.Random(32)
    rejected = 0
    for each in range(number):
        kind = each % 3
        if kind == 0:
            content = mutated(packed, random_numbers)
            try:
                rows = Manifest.unpacked(content).rows
            except Damaged:
                rejected += 1
                continue
        else:
            rows = [row.at(row.segment, row.offset) for row in manifest.rows]
            row = random_numbers.choice(rows)
            if kind == 1:
                field = random_numbers.choice(
                    ["tree", "leaf", "target", "digest", "issued", "expires", "signer", "signature", "offset", "length"]
                )
                value = getattr(row, field)
                if isinstance(value, int):
                    value = random_numbers.choice([value + 1, value - 1, value ^ 1 << random_numbers.randrange(40)])
                elif isinstance(value, bytes):
                    value = mutated(value, random_numbers)
                else:
                    value = random_numbers.choice([value[::-1], value + "0", value[1:], manifest.rows[0].leaf])
                setattr(row, field, value)
            else:
                number_of_entry = random_numbers.randrange(len(originals))
                evil = mutated(originals[number_of_entry], random_numbers)
                tier._segments["0" * 16 + "-" + "1" * 32] = evil
                row = rows[number_of_entry].at("0" * 16 + "-" + "1" * 32, 0)
                row.length = len(evil)
                row.digest = random_numbers.choice([row.digest, digest_of(evil)])
                rows = [row]
        for row in rows:
            leaf = tier.leaf(row)
            if leaf is None:
                rejected += 1
            else:
                assert signed.get(digest_of(tier.content(row))) == row.tree
    assert rejected >= number // 2


def test_hundreds_of_mutated_entries_and_manifests_are_not_used(fleet):
    check_mutations(fleet, 600)


@pytest.mark.stress
def test_a_hundred_thousand_mutated_entries_and_manifests_are_not_used(fleet):
    check_mutations(fleet, 100_000)
