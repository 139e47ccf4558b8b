"""Tests of the cache leave the options as they were."""

import pytest

import samovar as sv


@pytest.fixture(autouse=True)
def options_as_they_were():
    yield
    sv.reset()
