"""Tests of shared tiers leave the options as they were, and do not see the keys of the user who runs them."""

import pytest

import samovar as sv

pytest.importorskip("cryptography")

from fleet import Fleet


@pytest.fixture(autouse=True)
def no_keys_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "configuration"))
    # An editable installation may be edited while processes of a test start.
    monkeypatch.setenv("SAMOVAR_BUILD_CACHE_VERSION_ID", "fleet")
    yield
    sv.reset()


@pytest.fixture
def fleet(tmp_path):
    return Fleet(tmp_path)
