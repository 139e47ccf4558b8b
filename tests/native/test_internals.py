"""What we use of CPython beyond its documented interface is in one header."""

import re
from pathlib import Path

import pytest

import samovar

NATIVE = Path(samovar.__file__).parent / "_native"
SOURCES = sorted(path for path in NATIVE.rglob("*.[ch]") if path.stem != "cpython")
#: Documented, though their names begin with an underscore.
DOCUMENTED = {"_PyTuple_Resize", "_PyBytes_Resize"}
PRIVATE = re.compile(r"\b_Py\w+|\bPY_VERSION_HEX\b|\btp_version_tag\b|\bPy_TPFLAGS_VALID_VERSION_TAG\b|internal/pycore\w+")


@pytest.mark.skipif(not SOURCES, reason="installed without its sources")
def test_internals_are_used_in_one_place():
    found = {
        path.name: names for path in SOURCES if (names := {*PRIVATE.findall(path.read_text())} - DOCUMENTED)
    }
    assert found == {}
