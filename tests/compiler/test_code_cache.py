"""LLVM is not asked twice for the same text."""

import numpy as np

import samovar as sv
from samovar.compiler.driver import MOST_OBJECTS, Recent, objects


def make():
    @sv.kernel
    def triple(a: sv.types.NDArray[sv.f64, 1]):
        for i in range(a.shape[0]):
            a[i] *= 3.0625

    return triple


def test_kernels_that_come_to_the_same_text_share_an_object():
    a = np.ones(5)
    make()(a)
    known = list(objects.cache)
    make()(a)
    sv.reset()
    make()(a)
    assert list(objects.cache) == known
    assert (a == 3.0625**3).all()


def test_another_option_that_matters_is_another_object():
    a = np.ones(5)
    make()(a)
    before = set(objects.cache)
    sv.init(debug=True)
    try:
        make()(a)
    finally:
        sv.reset()
    assert set(objects.cache) - before


def test_old_objects_go():
    recent = Recent()
    for number in range(MOST_OBJECTS + 10):
        recent[str(number)] = b""
        recent.get("0", None)
    assert len(recent) == MOST_OBJECTS
    assert "0" in recent
    assert "1" not in recent
