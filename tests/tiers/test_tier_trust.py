"""Which entries are used: those with a valid signature by a trusted key, of this moment, and no others."""

import os
import shlex
import sys
from pathlib import Path

import pytest
from fleet import PROGRAM, Fleet, launch, tiers

import samovar as sv
from samovar.errors import SamovarError, SamovarWarning
from samovar.runtime import current_options
from samovar.tiers import add_to_trust, generate_key, read_trust, signer_of, tier_at
from samovar.tiers.manifest import Manifest
from samovar.tiers.publishing import sorted_rows, write_manifest
from samovar.tiers.signing_keys import CLOCK_SECONDS, PrivateKey, parsed_key

DAY = 86400.0


@pytest.fixture
def published(fleet):
    fleet.publish()
    return fleet


def rewritten(fleet: Fleet, change) -> None:
    """Change the rows of the manifests of a tier, as somebody who can write to the store can."""
    for path in fleet.files("manifests"):
        found = Manifest.unpacked(path.read_bytes())
        for row in found.rows:
            change(row)
        path.write_bytes(found.packed())


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("signature", b"", "unsigned"),
        ("signer", bytes(32), "unknown key"),
        ("signature", bytes(64), "wrong signature"),
        ("signature", b"short", "wrong signature"),
        ("digest", bytes(32), "wrong signature"),
        ("target", "x86-64-v4", "wrong signature"),
        ("issued", 10**10, "expired"),
        ("expires", 10, "expired"),
        ("expires", 10**10, "wrong signature"),
    ],
)
def test_an_entry_that_was_changed_is_ignored_and_told_once(published, field, value, reason):
    rewritten(published, lambda row: setattr(row, field, value))
    with pytest.warns(SamovarWarning, match=f"are ignored: {reason}") as told:
        assert published.work() == (0, 3)
    assert len(told) == 1
    assert tiers().tiers[0].figures.reasons == {reason: 3}


def test_the_signature_of_one_entry_does_not_serve_another(published):
    found = [row for path in published.files("manifests") for row in Manifest.unpacked(path.read_bytes()).rows]
    signatures = iter([row.signature for row in found[1:] + found[:1]])
    rewritten(published, lambda row: setattr(row, "signature", next(signatures)))
    with pytest.warns(SamovarWarning, match="wrong signature"):
        assert published.work() == (0, 3)


def test_without_a_trusted_key_nothing_is_used(published):
    with pytest.warns(SamovarWarning, match="there is no trusted key"), pytest.warns(SamovarWarning, match="unknown key"):
        assert published.work(cache_trust="") == (0, 3)


def test_a_revoked_key_is_worth_nothing_wherever_it_is_trusted(published, monkeypatch):
    add_to_trust(published.key, "stolen", revoke=True)
    with pytest.warns(SamovarWarning, match="revoked key"):
        assert published.work(cache_trust=f"{published.key} ed25519:{'ab' * 32}") == (0, 3)


def test_an_option_revokes_too(published):
    with pytest.warns(SamovarWarning, match="revoked key"):
        assert published.work(cache_trust=f"-{published.key}, ed25519:{'ab' * 32}") == (0, 3)


def test_the_file_of_trusted_keys_is_read(published, tmp_path):
    path = add_to_trust(published.key, "ci", revoke=False)
    assert published.work(cache_trust="") == (3, 0)
    add_to_trust(published.key, "", revoke=True)
    with pytest.warns(SamovarWarning):
        assert published.work(cache_trust="") == (0, 3)
    os.chmod(path, 0o666)
    with pytest.raises(SamovarError, match="others can write to it"):
        published.work(cache_trust="")


def test_a_file_named_by_the_option_is_read(published, tmp_path):
    path = tmp_path / "fleet-keys"
    path.write_text(f"# the build machines\n{published.key}  # ci\n")
    assert published.work(cache_trust=str(path)) == (3, 0)
    with pytest.raises(SamovarError, match="there is no file"):
        published.work(cache_trust=str(tmp_path / "missing"))


@pytest.mark.parametrize("days", [-1, 1])
def test_a_clock_that_is_off_by_a_day_does_not_matter(published, days, monkeypatch):
    import time

    from samovar.tiers import selection

    monkeypatch.setattr(selection, "time", lambda: time.time() + days * DAY)
    assert published.work() == (3, 0)


@pytest.mark.parametrize("seconds", [-CLOCK_SECONDS - 10, 365 * DAY + CLOCK_SECONDS + 10])
def test_a_clock_far_from_the_time_of_validity_does(published, seconds, monkeypatch):
    import time

    from samovar.tiers import selection

    monkeypatch.setattr(selection, "time", lambda: time.time() + seconds)
    with pytest.warns(SamovarWarning, match="expired"):
        assert published.work() == (0, 3)


def test_an_old_manifest_that_is_put_back_leads_to_code_that_is_still_right(published):
    old = [(path, path.read_bytes()) for path in published.files("manifests")]
    published.publish(sv.i16, sv.f32, sv.f64)
    for path in published.files("manifests"):
        path.unlink()
    for path, content in old:
        path.write_bytes(content)
    assert published.work() == (3, 0)


# --- keys


def test_a_private_key_may_be_in_a_variable(fleet, monkeypatch):
    monkeypatch.setenv("FLEET_KEY", Path(fleet.key_file).read_text().split()[-1])
    fleet.publish(cache_signing_key="variable:FLEET_KEY")
    assert fleet.work() == (3, 0)


def test_an_agent_signs_without_showing_the_key(fleet, tmp_path):
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import sys\n"
        "from samovar.tiers.signing_keys import PrivateKey, shown_key\n"
        f"key = PrivateKey(bytes.fromhex(open({fleet.key_file!r}).read().split()[-1]))\n"
        "if sys.argv[1] == 'public':\n    print(shown_key(key.public))\n"
        "else:\n    print(*(one.hex() for one in key.sign([bytes.fromhex(line) for line in sys.stdin])), sep='\\n')\n"
    )
    fleet.publish(cache_signing_key=f"command:{shlex.join([sys.executable, str(agent)])}")
    assert fleet.work() == (3, 0)
    agent.write_text("raise SystemExit('the token is not inserted')")
    with pytest.raises(SamovarError, match="the token is not inserted"):
        fleet.publish(cache_signing_key=f"command:{shlex.join([sys.executable, str(agent)])}")


def test_a_private_key_that_others_can_read_is_refused(fleet):
    os.chmod(fleet.key_file, 0o644)
    with pytest.raises(SamovarError, match="others can read"):
        fleet.publish()


def test_a_key_file_is_never_overwritten(fleet):
    with pytest.raises(SamovarError, match="is not overwritten"):
        generate_key(fleet.key_file)


@pytest.mark.parametrize("text", ["", "ed25519:12", "ed25519:" + "g" * 64, "ssh-ed25519 AAAA"])
def test_malformed_keys_are_refused(text):
    with pytest.raises(SamovarError, match="is not a public key"):
        parsed_key(text)


def test_a_malformed_private_key_is_refused(fleet, tmp_path):
    path = tmp_path / "no-key"
    path.write_text("hello")
    path.chmod(0o600)
    with pytest.raises(SamovarError, match="does not contain a private key"):
        fleet.publish(cache_signing_key=str(path))


def test_signing_again_gives_expired_entries_no_new_life(published):
    rewritten(published, lambda row: setattr(row, "expires", 10))
    tier = published.tier(cache_signing_key=published.key_file)
    assert sorted_rows(tier) == ([], [])


def test_an_attacker_who_can_write_to_the_store_runs_nothing(fleet, tmp_path):
    """They sign with a key of their own, rename, and mix their entries with those of the publisher."""
    fleet.publish()
    genuine = {row.tree: row for row in fleet.tier().all_rows()}
    (tmp_path / "attacker").mkdir()
    attacker = Fleet(tmp_path / "attacker")
    attacker.address = fleet.address
    # What they compile returns something else, under the keys of the publisher's kernels.
    attacker.be(cache_signing_key=attacker.key_file, cache_trust=fleet.key)
    theirs = PrivateKey(os.urandom(32))
    tier = tier_at(fleet.address, PROGRAM, read_trust(current_options(), theirs.public, lambda: 0.0), 5)
    tier.refresh()
    rows = []
    for number, row in enumerate(genuine.values()):
        evil = row.at(row.segment, row.offset)
        evil.signer = [theirs.public, row.signer, b""][number % 3]
        evil.digest = bytes(32) if number % 2 else row.digest
        evil.signature = theirs.sign([b"anything"])[0]
        rows.append(evil)
    for path in fleet.files("manifests"):
        path.unlink()
    tier.manifests.clear()
    write_manifest(tier, rows)
    for path in fleet.files("segments"):
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    with pytest.warns(SamovarWarning):
        assert fleet.work() == (0, 3)
    assert launch() == (0, 0)
    assert signer_of(current_options()) is None
