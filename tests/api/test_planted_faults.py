"""The faults that `make stress` plants have a place in the sources, and tests that are there."""

import pytest

import planted_faults
from planted_faults import FAULTS, ROOT


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.file)
def test_a_fault_has_its_place_and_its_tests(fault: planted_faults.Fault):
    assert (ROOT / "src" / "samovar" / fault.file).read_text().count(fault.before) == 1
    assert [each for each in fault.tests.split() if not (ROOT / "tests" / each).exists()] == []
