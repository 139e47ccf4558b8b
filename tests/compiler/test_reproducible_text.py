"""A kernel is always the same text for LLVM, wherever its IR is in memory: the text is a key of the cache."""

from __future__ import annotations

import numpy as np

import samovar as sv
from language.source import define

#: Vectors are possible if some distances are large enough: each is a test in the text.
BUTTERFLIES = """
@sv.kernel(serial=True)
def k(y: sv.types.NDArray[sv.f32, 1], h: sv.i32):
    for j in range(h):
        a, b = y[j], y[j + h]
        y[j] = a + b
        y[j + h] = a - b
"""


def test_tests_of_distances_are_in_the_order_of_the_program() -> None:
    sv.init(offline_cache=False)
    y = np.zeros(64, np.float32)
    texts = {define(BUTTERFLIES).inspect("llvm", y, 8) for _ in range(16)}
    assert len(texts) == 1
    assert texts.pop().count("= and i1") >= 1
    sv.reset()
