"""What one test sets with `sv.init` is not in force in the next one (`tests/conftest.py`), whatever order they run in."""

import pytest

import samovar as sv
from samovar.runtime.configuration import current_options


@pytest.mark.parametrize("place", ["first", "last"])
def test_options_are_the_same_at_the_beginning_of_each_test(place):
    assert (current_options().shared_variables, current_options().arch) == ("error", "cpu")
    sv.init(arch=sv.python, shared_variables="serial")
