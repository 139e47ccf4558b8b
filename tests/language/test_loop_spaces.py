"""What loops run over besides ranges and arrays: nodes of fields, and spaces that Python created."""

import pytest

import samovar as sv


@pytest.fixture(params=[{}, {"debug": True}, {"arch": "python"}], ids=["cpu", "debug", "python"])
def options(request):
    sv.init(**request.param)
    yield
    sv.reset()


split = sv.field(sv.i32)
sv.root.dense(sv.i, 4).dense(sv.i, 2).place(split)
upper = sv.root.dense(sv.ij, (3, 5))
blocked = sv.field(sv.f32)
upper.dense(sv.ij, (2, 4)).place(blocked)
plain = sv.field(sv.f32, (3, 4))


def counted(kernel, *arguments):
    """The indices that a kernel marks."""
    marks = sv.ndarray(sv.i32, (8, 24))
    kernel(marks, *arguments)
    found = marks.to_numpy()
    assert found.max() == 1
    return [(int(i), int(j)) for i, j in zip(*found.nonzero(), strict=True)]


def box(n, m):
    return [(i, j) for i in range(n) for j in range(m)]


@sv.kernel
def over_its_node(marks: sv.types.NDArray[sv.i32, 2]):
    for i in split.parent():
        marks[0, i] += 1


@sv.kernel
def over_the_second(marks: sv.types.NDArray[sv.i32, 2]):
    for i in split.parent(2):
        marks[0, i] += 1


@sv.func
def marked(marks, x: sv.template()):
    for I in sv.grouped(x.parent(2)):
        marks[I] += 1


@sv.kernel
def over_grouped(marks: sv.types.NDArray[sv.i32, 2]):
    marked(marks, blocked)


@sv.kernel
def over_a_place(marks: sv.types.NDArray[sv.i32, 2]):
    for i, j in plain.snode:
        marks[i, j] += plain.parent().shape[0] - 2


@sv.kernel
def over_a_captured(marks: sv.types.NDArray[sv.i32, 2]):
    for i, j in upper:
        marks[i, j] += 1


@sv.kernel
def over_a_given(marks: sv.types.NDArray[sv.i32, 2], space: sv.Template):
    for i, j in space:
        marks[i, j] += 1


def test_loops_over_nodes(options):
    assert counted(over_its_node) == box(1, 8)
    assert counted(over_the_second) == box(1, 4)
    assert counted(over_grouped) == box(3, 5)
    assert counted(over_a_place) == box(3, 4)
    assert counted(over_a_captured) == box(3, 5)
    assert counted(over_a_given, upper) == box(3, 5)
    assert counted(over_a_given, blocked.parent()) == box(6, 20)


@sv.kernel
def above_the_root(marks: sv.types.NDArray[sv.i32, 2]):
    for i in split.parent(4):
        marks[0, i] += 1


@sv.kernel
def of_the_root(marks: sv.types.NDArray[sv.i32, 2]):
    for i in split.parent(3):
        marks[0, i] += 1


def test_there_are_so_many_nodes():
    marks = sv.ndarray(sv.i32, (8, 24))
    with pytest.raises(sv.SamovarTypeError, match="fewer nodes above"):
        above_the_root(marks)
    with pytest.raises(sv.SamovarTypeError, match="no dimensions to loop over"):
        of_the_root(marks)


def stencil(n):
    return sv.ndrange((1, 1 + n), 3)


SPACE = sv.ndrange((2, 4), 3, axes=(1, 0))
LINE = sv.ndrange((2, 5))


@sv.kernel
def unrolled(marks: sv.types.NDArray[sv.i32, 2]):
    for I in sv.static(sv.grouped(stencil(2))):
        marks[I] += 1


@sv.kernel
def unrolled_pairs(marks: sv.types.NDArray[sv.i32, 2]):
    for i, j in sv.static(stencil(2)):
        marks[i, j] += 1


@sv.kernel
def captured(marks: sv.types.NDArray[sv.i32, 2]):
    for i, j in SPACE:
        marks[i, j] += 1
    for i in LINE:
        marks[0, i] += 1


def test_spaces_that_python_created(options):
    assert counted(unrolled) == [(i, j) for i in (1, 2) for j in range(3)]
    assert counted(unrolled_pairs) == [(i, j) for i in (1, 2) for j in range(3)]
    assert counted(captured) == [(0, 2), (0, 3), (0, 4), *((i, j) for i in (2, 3) for j in range(3))]
    assert counted(over_a_given, stencil(3)) == [(i, j) for i in (1, 2, 3) for j in range(3)]


matrices = sv.Matrix.field(2, 3, sv.f32, shape=4)


@sv.kernel
def fills_entries():
    for k in range(4):
        for I in sv.static(sv.grouped(sv.ndrange(2, 3))):
            matrices[k][I] = I[0] + I[1] * 10 + k * 100


@sv.kernel
def reads_entries(i: sv.i32, j: sv.i32) -> sv.f32:
    m = matrices[3]
    v = sv.Vector([1.0, 2.0, 4.0])
    at = sv.Vector([i, j])
    m[at] += 1000
    return m[at] + v[sv.Vector([j])] + matrices[2][at]


def test_a_vector_is_the_indices_of_an_entry(options):
    fills_entries()
    assert matrices.to_numpy()[3].tolist() == [[300, 310, 320], [301, 311, 321]]
    assert reads_entries(1, 2) == 1321 + 4 + 221


@sv.kernel
def too_many() -> sv.f32:
    return matrices[0][sv.Vector([0, 1, 2])]


def test_an_entry_has_so_many_indices():
    with pytest.raises(sv.SamovarAxesError, match="2-dimensional value was indexed with 3 indices"):
        too_many()
