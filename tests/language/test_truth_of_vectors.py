"""`vector_truth="entries"`: logical operators of vectors and matrices apply to their entries."""

import pytest

import samovar as sv


@pytest.fixture(params=[{}, {"debug": True}, {"arch": "python"}], ids=["cpu", "debug", "python"])
def entries(request):
    sv.init(vector_truth="entries", **request.param)
    yield
    sv.reset()


@sv.kernel
def either(a: sv.types.vector(3, sv.i32), b: sv.types.vector(3, sv.i32)) -> sv.types.vector(3, sv.i32):
    return a or b


@sv.kernel
def both(a: sv.types.vector(3, sv.i32), b: sv.types.vector(3, sv.i32), c: sv.i32) -> sv.types.vector(3, sv.i32):
    return a and b and c


@sv.kernel
def number_first(a: sv.types.vector(3, sv.i32), c: sv.i32) -> sv.types.vector(3, sv.i32):
    return (c or a) + 10 * (7 and a)


@sv.kernel
def opposite(a: sv.types.matrix(2, 2, sv.f32)) -> sv.types.matrix(2, 2, sv.i32):
    return not a


def test_logical_operators_apply_to_entries(entries):
    assert either([2, 0, 0], [0, 0, 5]).to_list() == [1, 0, 1]
    assert both([2, 0, 3], [4, 1, 0], 1).to_list() == [1, 0, 0]
    assert both([2, 0, 3], [4, 1, 0], 0).to_list() == [0, 0, 0]
    assert number_first([2, 0, 3], 0).to_list() == [11, 0, 11]
    assert opposite([[0.5, 0.0], [0.0, -1.0]]).to_list() == [[0, 1], [1, 0]]


wide = sv.types.vector(40, sv.i32)


@sv.kernel
def in_memory(a: wide, b: wide) -> sv.i32:
    return (a or b).sum() * 100 + (not a).sum()


@pytest.mark.parametrize("options", [{}, {"debug": True}], ids=["cpu", "debug"])
def test_long_vectors(options):
    sv.init(vector_truth="entries", **options)
    assert in_memory([i % 2 for i in range(40)], [i % 4 == 0 for i in range(40)]) == 30 * 100 + 20


@sv.kernel
def sides(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    v = sv.Vector([0, 0])
    return (v and sv.Vector([sv.atomic_add(a[0], 1), 1])).sum()


def test_both_sides_are_evaluated(entries):
    a = sv.ndarray(sv.i32, 1)
    assert sides(a) == 0
    assert a[0] == 1


@sv.kernel
def quantified(m: sv.types.matrix(2, 2, sv.i32)) -> sv.i32:
    return int(any(m)) * 10 + int(all(m))


@pytest.mark.parametrize("arch", ["cpu", "python"])
def test_any_and_all_are_of_all_entries_in_any_mode(arch):
    sv.init(arch=arch)
    assert [quantified(m) for m in ([[0, 0], [0, 0]], [[0, 0], [0, 4]], [[1, 2], [3, 4]])] == [0, 10, 11]


@sv.kernel
def chooses(a: sv.types.vector(3, sv.i32)) -> sv.i32:
    return 1 if a else 2


def test_a_condition_is_a_number_in_any_mode():
    sv.init(vector_truth="entries")
    with pytest.raises(sv.SamovarTypeError, match="expected a number, got a vector of 3"):
        chooses([1, 0, 0])


def test_without_the_option_they_are_refused():
    sv.init()
    for kernel, arguments in ((either, ([1, 0, 0], [0, 0, 0])), (opposite, ([[0.5, 0.0], [0.0, -1.0]],))):
        with pytest.raises(sv.SamovarTypeError, match="expected a number"):
            kernel(*arguments)


def test_a_comparison_in_plain_python_is_true_under_the_option():
    one = sv.Vector([1, 2])
    with pytest.raises(ValueError, match="ambiguous"):
        bool(one == [1, 2])
    sv.init(vector_truth="entries")
    assert bool(one == [1, 2])
    assert bool(one == [1, 3])
    assert not bool(sv.Vector([1]) == [2])


def test_the_option_is_part_of_the_key(tmp_path):
    for _ in range(2):
        sv.init(vector_truth="entries", offline_cache_file_path=tmp_path)
        assert either([2, 0, 0], [0, 0, 5]).to_list() == [1, 0, 1]
        sv.init(offline_cache_file_path=tmp_path)
        with pytest.raises(sv.SamovarTypeError):
            either([2, 0, 0], [0, 0, 5])
