"""Errors have the classes that programs of the peers catch, and those of Python that say the same."""

import numpy as np
import pytest

import samovar as sv
import samovar.compat.quadrants as qd


@sv.kernel
def takes(a: sv.i32, b: sv.i32) -> sv.i32:
    return a + b


@pytest.mark.parametrize(
    ("arguments", "keywords"), [((1,), {}), ((1, 2, 3), {}), ((1, 2), {"c": 3}), ((1, 2), {"a": 3})], ids=str
)
def test_a_call_that_does_not_fit_the_parameters(arguments, keywords):
    with pytest.raises(qd.QuadrantsSyntaxError) as caught:
        takes(*arguments, **keywords)
    assert isinstance(caught.value, (TypeError, sv.SamovarRuntimeTypeError, sv.SamovarCallError))
    assert isinstance(caught.value, SyntaxError)


def test_parameters_that_kernels_cannot_have():
    with pytest.raises(qd.QuadrantsSyntaxError, match="is not supported"):

        @sv.kernel
        def wrong(a: list):
            pass

    with pytest.raises(qd.QuadrantsSyntaxError, match=r"has \*args"):

        @sv.kernel
        def variadic(*a):
            pass


@sv.func
def two(a, b):
    return a + b


@sv.kernel
def calls_with_too_little() -> sv.i32:
    return two(1)


@sv.kernel
def calls_a_kernel() -> sv.i32:
    return takes(1, 2)


@sv.kernel
def counts_axes_wrongly():
    for i, j in sv.ndrange(2, 3, 4):
        print(i, j)


@sv.kernel
def unrolls_what_is_not_known(n: sv.i32):
    for i in sv.static(range(n)):
        print(i)


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [(calls_with_too_little, ()), (calls_a_kernel, ()), (counts_axes_wrongly, ()), (unrolls_what_is_not_known, (3,))],
)
def test_what_is_both_a_syntax_and_a_type_error(kernel, arguments):
    with pytest.raises(sv.SamovarSignatureError) as caught:
        kernel(*arguments)
    assert isinstance(caught.value, SyntaxError)
    assert isinstance(caught.value, TypeError)


@sv.kernel
def one_index_too_many(a: sv.types.NDArray[sv.f32, 1]) -> sv.f32:
    return a[0, 1]


@sv.kernel
def beyond_a_vector() -> sv.i32:
    return sv.Vector([1, 2, 3])[3]


def test_indices_that_do_not_fit_the_axes():
    for kernel, arguments in ((one_index_too_many, (np.zeros(3, np.float32),)), (beyond_a_vector, ())):
        with pytest.raises(qd.lang.exception.QuadrantsIndexError) as caught:
            kernel(*arguments)
        assert isinstance(caught.value, IndexError)
        assert isinstance(caught.value, qd.QuadrantsCompilationError)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sv.field(sv.f32, -1),
        lambda: sv.field(sv.f32, (2, 2), order="jj"),
        lambda: sv.field(sv.f32, (2, 2), offset=(1,)),
        lambda: sv.field(sv.f32, offset=(1,)),
        lambda: sv.root.dense(sv.i, 3).place(sv.field(sv.f32, 3)),
    ],
)
def test_fields_that_cannot_be_made(make):
    with pytest.raises(sv.SamovarFieldError) as caught:
        make()
    for kind in (ValueError, RuntimeError, qd.QuadrantsSyntaxError, qd.QuadrantsRuntimeError):
        assert isinstance(caught.value, kind)


def test_a_tree_is_laid_out_once_and_given_back_once():
    builder = sv.FieldsBuilder()
    assert builder.empty
    assert not builder.finalized
    x = sv.field(sv.f32)
    builder.dense(indices=sv.i, dimensions=3).place(x)
    tree = builder.finalize()
    assert builder.finalized
    assert not builder.empty
    with pytest.raises(RuntimeError, match="already finalized"):
        builder.finalize()
    tree.destroy()
    with pytest.raises(RuntimeError, match="already destroyed"):
        tree.destroy()


def test_an_index_in_python_is_checked_as_in_a_kernel():
    x = sv.field(sv.f32, (2, 3))
    with pytest.raises(qd.QuadrantsAssertionError, match="index 3 is out of bounds for axis 1"):
        x[0, 3]
    with pytest.raises(AssertionError, match="1 index for an array of rank 2"):
        x[0]


def test_a_field_without_memory_cannot_be_used():
    x = sv.field(sv.f32)

    @sv.kernel
    def k():
        x[0] = 1

    with pytest.raises(RuntimeError, match="this field is not placed"):
        k()
    sv.root.dense(sv.i, 3).place(x)


def test_nodes_have_an_extent_per_dimension():
    with pytest.raises(qd.QuadrantsRuntimeError, match="expected one positive extent per dimension"):
        sv.root.dense(sv.ij, (3, 4, 5))


@sv.kernel
def declares_twice() -> sv.f32:
    a = 1
    a: sv.f32 = 2.5
    return a


@sv.kernel
def decomposes_what_is_not_square():
    sv.svd(sv.Matrix([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]]))


def test_mistakes_in_kernels():
    with pytest.raises(qd.QuadrantsSyntaxError, match="is already i32"):
        declares_twice()
    with pytest.raises(TypeError, match="2×2 or 3×3"):
        decomposes_what_is_not_square()


def test_the_loss_of_a_tape():
    with pytest.raises(RuntimeError, match="has no gradient"), sv.ad.Tape(sv.field(sv.f32, ())):
        pass
    with pytest.raises(RuntimeError, match="is one number"), sv.ad.Tape(sv.field(sv.f32, 3, needs_grad=True)):
        pass
