"""Images are kept under the salt of who made them: another version, or another machine, finds nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from samovar.cache import image_cache
from samovar.cache.store import Store


def test_an_image_is_found_under_its_own_salt_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = image_cache.CodeCache(Store(str(tmp_path), 1 << 20, pytest.fail))
    images["key"] = b"image"
    assert images.get("key", None) == b"image"
    assert images.get("another key", None) is None
    monkeypatch.setattr(image_cache, "salt", lambda: "of another version")
    assert images.get("key", None) is None
    images["key"] = b"another image"
    assert images.get("key", None) == b"another image"
    monkeypatch.undo()
    assert images.get("key", None) == b"image"
