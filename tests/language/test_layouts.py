"""Each layout, order, dtype and rank of fields and arrays, of numbers, vectors and matrices: what the same program computes
on a plain array."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv
from hypothesis_profiles import examples

DTYPES = [sv.i8, sv.i16, sv.i32, sv.i64, sv.u8, sv.u16, sv.u32, sv.u64, sv.f16, sv.f32, sv.f64]
LETTERS = "ijkl"


@sv.kernel
def work(a: sv.template(), b: sv.template()):
    for I in sv.grouped(a):
        a[I] = b[I] * 2 + 1
        b[I] += a[I]
    for I in sv.grouped(b):
        a[I] -= b[I]


def element_of(dtype, inner):
    if not inner:
        return dtype
    return sv.types.vector(*inner, dtype) if len(inner) == 1 else sv.types.matrix(*inner, dtype)


@st.composite
def forms(draw):
    """How something is made: an array or a field, in which order, with which offset, entry by entry, in blocks of a tree."""
    rank = draw(st.integers(1, 4))
    shape = tuple(draw(st.sampled_from([1, 2, 3, 4])) for _ in range(rank))
    inner = draw(st.sampled_from([(), (2,), (3,), (2, 2), (2, 3)]))
    dtype = draw(st.sampled_from(DTYPES))
    kind, layout = element_of(dtype, inner), draw(st.sampled_from(["aos", "soa"]))
    if draw(st.booleans()):
        return shape, inner, dtype, lambda: sv.ndarray(kind, shape, layout=layout if inner else "aos")
    if draw(st.integers(0, 3)) == 0:
        blocks = tuple(draw(st.sampled_from([1, 2])) for _ in shape)

        def placed():
            field = sv.field(kind)
            axes = getattr(sv, LETTERS[:rank])
            sv.root.dense(axes, shape).dense(axes, blocks).place(field)
            return field

        return tuple(map(math.prod, zip(shape, blocks, strict=True))), inner, dtype, placed
    order = draw(st.sampled_from(["".join(each) for each in itertools.permutations(LETTERS[:rank])]))
    offset = draw(st.one_of(st.none(), st.just(tuple(range(-1, rank - 1)))))
    return shape, inner, dtype, lambda: sv.field(kind, shape, order=order, offset=offset, layout=layout)


@pytest.mark.filterwarnings("ignore:work was compiled")
@examples("compiled")
@given(forms())
def test_a_program_computes_what_it_computes_on_plain_arrays(form):
    shape, inner, dtype, make = form
    numbers = [np.random.default_rng(seed).integers(0, 9, (*shape, *inner)).astype(dtype.typestr) for seed in (1, 2)]
    plain, laid_out = [sv.ndarray(element_of(dtype, inner), shape) for _ in range(2)], [make(), make()]
    for pair in (plain, laid_out):
        for tensor, content in zip(pair, numbers, strict=True):
            tensor.from_numpy(content)
        # A loop over a field with an offset begins there, and indices of both are those of one shape.
        work(*pair)
    for one, other in zip(plain, laid_out, strict=True):
        assert one.element_shape == other.element_shape
        assert one.shape == other.shape
        np.testing.assert_array_equal(one.to_numpy(), other.to_numpy())
