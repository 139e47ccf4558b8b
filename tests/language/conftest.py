"""Options for whole modules: `init` drops compiled kernels, so it is done once for many tests and undone after them."""

import pytest

import samovar as sv


@pytest.fixture
def exact():
    """Without fast_math, floats follow IEEE 754 operation by operation."""
    sv.init(fast_math=False)
    yield
    sv.reset()


@pytest.fixture
def debug():
    sv.init(debug=True)
    yield
    sv.reset()
