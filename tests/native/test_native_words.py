"""Comments and messages of the native code use the field's words: home-made ones that are gone stay gone."""

import re
from pathlib import Path

import pytest

import samovar

NATIVE = Path(samovar.__file__).parent / "_native"
SOURCES = sorted([*NATIVE.rglob("*.[ch]"), *NATIVE.parent.glob("_native.pyi")])
GONE = re.compile(
    r"detour|entry by entry|\bpeers?\b|\bportions?\b|\b(?:is|are|was|be) (?:told|said)\b|\bwhoever\b|side by side"
    r"|\bwho (?:asks|has|makes|takes|wants)\b|in the place of|native room|\bwithout axes\b|\bone axis\b|\bway_digest"
    r"|\bseen_call|\bwatch(?:ed|es|ing)\b|\bextremes\b|is expected\b|no dtype that",
    re.IGNORECASE,
)


@pytest.mark.skipif(len(SOURCES) < 2, reason="installed without its sources")
def test_home_made_words_stay_gone():
    found = [
        f"{path.relative_to(NATIVE.parent)}:{number}: {word[0]}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (word := GONE.search(line))
    ]
    assert found == []
