"""What the compiler and the launcher have to agree on is written in two languages: the facts of a tensor in their order, the
slots of an array in the argument block."""

import inspect

import numpy as np
import pytest

from samovar import _native
from samovar.ir.layout import SLOT, array_slots
from samovar.lens import TensorFacts
from samovar.lens.questions import extent
from samovar.lens.tensor_facts import EXTENT_QUESTIONS, UNKNOWN_EXTENT


def test_facts_of_a_tensor_have_one_order():
    assert TensorFacts.FIELDS == _native.TENSOR_FACTS
    assert tuple(inspect.signature(TensorFacts).parameters) == _native.TENSOR_FACTS


@pytest.mark.parametrize("array", [_native.Ndarray(_native.f32, (2, 3), True), np.zeros((4, 4), np.int16)[::2]])
def test_native_facts_are_those_of_the_description(array):
    facts, described = TensorFacts(*_native.tensor_facts(array)), _native.describe_tensor(array)
    for name in ("dtype", "contiguous", "wide", "needs_grad"):
        assert getattr(facts, name) is described[name]
    assert facts.ndim == len(described["shape"])
    assert facts.answer() == _native.tensor_facts(array)


def test_what_is_no_array_has_no_facts():
    assert _native.tensor_facts(3) is None
    with pytest.raises(TypeError, match="its dtype complex256 is not supported"):
        _native.tensor_facts(np.zeros(3, np.clongdouble))


@pytest.mark.parametrize("ndim", range(17))
@pytest.mark.parametrize("strided", [False, True])
def test_slots_of_an_array_are_the_same_on_both_sides(ndim, strided):
    assert tuple(array_slots(ndim, strided)) == _native.array_slots(ndim, strided)


def test_a_slot_has_one_size():
    assert _native.SLOT == SLOT


@pytest.mark.parametrize("ndim", [-1, 17])
def test_no_array_has_other_ranks(ndim):
    with pytest.raises(ValueError, match="dimensions"):
        _native.array_slots(ndim, False)


def test_extents_that_code_is_made_for():
    lengths = [length for length in range(20) if extent(np.zeros((1, length)), 1) != UNKNOWN_EXTENT]
    assert lengths == list(range(_native.LEAST_KNOWN_EXTENT, _native.GREATEST_KNOWN_EXTENT + 1))
    assert all(extent(np.zeros((1, length)), 1) == length for length in lengths)


def test_there_is_a_question_for_each_axis():
    deepest = next(ndim for ndim in range(100) if not _takes(ndim + 1))
    assert len(EXTENT_QUESTIONS) == deepest


def _takes(ndim: int) -> bool:
    try:
        _native.Ndarray(_native.f32, (1,) * ndim)
    except ValueError:
        return False
    return True
