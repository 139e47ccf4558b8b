"""`sv.save` and `sv.load` with sparse fields: their active cells and elements."""

import numpy as np
import pytest

import samovar as sv

S = sv.types.struct(x=sv.math.vec2, n=sv.i32)


@sv.data_oriented
class Grid:
    """Fields that share cells, nested nodes, lists, and a field of structs."""

    def __init__(self, block=4):
        self.mass, self.speed, self.mark = sv.field(sv.f32), sv.field(sv.math.vec2), sv.field(sv.i32)
        self.outer = sv.root.pointer(sv.ij, 1 << 12)
        self.outer.dense(sv.ij, block).place(self.mass, self.speed, offset=(-8, 0))
        self.inner = self.outer.bitmasked(sv.ij, 2)
        self.inner.place(self.mark)
        self.item = sv.field(sv.i32)
        self.lists = sv.root.dense(sv.i, 4).dynamic(sv.j, 100)
        self.lists.place(self.item)
        self.structs = S.field()
        sv.root.hash(sv.i, 1000).place(self.structs)

    def fill(self):
        self.mass[1000, 77] = 3
        self.speed[15000, 9] = [1, 2]
        self.mark[8000, 8001] = 7
        self.item[2, 3], self.item[0, 0] = 5, 1
        self.structs[999].x = [4, 5]
        self.activate(4095, 4095)
        return self

    @sv.kernel
    def activate(self, i: sv.i32, j: sv.i32):
        sv.activate(self.outer, [i, j])

    def shown(self):
        counts = [node.active_count for node in (self.outer, self.inner, self.lists)]
        return (
            counts, self.mass[1000, 77], self.speed[15000, 9].to_list(), self.mark[8000, 8001],
            self.item.to_numpy().tolist(), self.structs[999].x.to_list(),
        )  # fmt: skip


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.npz"


def test_fields_are_loaded_into_others_with_their_cells(path):
    saved, loaded = Grid().fill(), Grid()
    sv.save(path, saved)
    loaded.mass[5, 5] = 9  # in a cell that is not active in the file
    sv.load(path, loaded)
    assert loaded.shown() == saved.shown()
    assert saved.shown()[0] == [4, 1, 5]
    assert loaded.mass[5, 5] == 0
    assert path.stat().st_size < 20_000


def test_new_fields_have_such_nodes(path):
    saved = Grid().fill()
    sv.save(path, saved)
    new = sv.load(path)
    assert new["mass"][1000, 77] == 3
    assert new["mass"].parent(2).active_count == 4
    assert new["speed"][15000, 9].to_list() == [1, 2]
    assert new["mark"].parent().active_count == 1
    assert new["item"].to_numpy().tolist() == saved.item.to_numpy().tolist()
    assert new["structs"][999].x.to_list() == [4, 5]
    new["mass"][-8, 0] = 1
    assert new["mass"].parent(2).active_count == 5


def test_numpy_reads_cells_and_elements(path):
    sv.save(path, Grid().fill())
    with np.load(path) as file:
        assert file["mass.cells"].tolist() == [[252, 19], [3752, 2], [4000, 4000], [4095, 4095]]
        assert file["mass.elements"].shape == (4 * 16,)
        assert file["speed.elements"].shape == (4 * 16, 2)
        assert "speed.cells" not in file
        assert file["item.cells"].tolist() == [[0, 1], [2, 4]]
        assert file["item.elements"].tolist() == [1, 0, 0, 0, 5]


def test_one_of_the_fields_of_a_node_is_loaded_alone(path):
    saved, loaded = Grid().fill(), Grid()
    sv.save(path, saved)
    sv.load(path, speed=loaded.speed)
    assert loaded.speed[15000, 9].to_list() == [1, 2]
    assert loaded.mass[1000, 77] == 0


def test_other_nodes_are_refused_and_nothing_changes(path):
    sv.save(path, Grid().fill())
    other = Grid(block=8)
    other.mass[5, 5] = 9
    with pytest.raises(sv.SamovarError, match="mass has other nodes in the file"):
        sv.load(path, mass=other.mass)
    dense = sv.field(sv.f32, (4, 4))
    with pytest.raises(sv.SamovarError, match="mass is not in the file"):
        sv.load(path, mass=dense)
    assert other.mass[5, 5] == 9


def test_an_empty_field(path):
    sv.save(path, Grid())
    loaded = Grid().fill()
    sv.load(path, loaded)
    assert loaded.shown()[0] == [0, 0, 0]
