"""Sparse fields in pickles: with their cells, together with the fields of the same nodes."""

import copy
import pickle

import pytest

import samovar as sv


@sv.data_oriented
class Grid:
    def __init__(self):
        self.mass, self.speed = sv.field(sv.f32, needs_grad=True), sv.field(sv.math.vec2)
        self.outer = sv.root.pointer(sv.ij, 1 << 12)
        self.outer.dense(sv.ij, 4).place(self.mass, self.speed, offset=(-8, 0))
        self.mark, self.item = sv.field(sv.i32), sv.field(sv.i32)
        self.outer.bitmasked(sv.ij, 2).place(self.mark)
        sv.root.dense(sv.i, 4).dynamic(sv.j, 100).place(self.item)
        self.grad = self.mass.grad

    @sv.kernel
    def count(self) -> sv.i32:
        found = 0
        for i, j in self.mass:
            self.speed[i, j] += 1
            found += 1
        return found


def filled():
    grid = Grid()
    grid.mass[1000, 77], grid.mass.grad[1000, 77] = 3, 5
    grid.speed[15000, 9], grid.mark[8000, 8001] = [1, 2], 7
    grid.item[2, 3], grid.item[0, 0] = 5, 1
    return grid


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_fields_travel_with_their_cells(protocol):
    grid = filled()
    buffers = []
    content = pickle.dumps(grid, protocol, **({"buffer_callback": buffers.append} if protocol >= 5 else {}))
    made = pickle.loads(content, buffers=buffers)
    assert made.mass[1000, 77] == 3
    assert made.grad is made.mass.grad
    assert made.grad[1000, 77] == 5
    assert made.speed[15000, 9].to_list() == [1, 2]
    assert made.mark[8000, 8001] == 7
    assert made.item.to_numpy().tolist() == grid.item.to_numpy().tolist()
    assert (made.outer.active_count, made.item.parent().active_count) == (3, 5)
    assert made.mass.shape == grid.mass.shape
    assert made.mass.offset == grid.mass.offset
    assert made.mass.parent(2) is made.outer


def test_fields_of_one_node_still_share_cells():
    made = pickle.loads(pickle.dumps(filled()))
    made.mass[-8, 0] = 1
    assert made.count() == 4 * 16
    assert made.speed[-5, 3].to_list() == [1, 1]
    assert filled().count() == 3 * 16


def test_a_field_alone_brings_its_nodes():
    made = pickle.loads(pickle.dumps(filled().mark))
    assert made.parent().active_count == 1
    assert made.parent(2).active_count == 3
    assert made[8000, 8001] == 7


def test_what_cannot_be_copied_says_so():
    grid = filled()
    with pytest.raises(TypeError, match="sparse fields cannot be copied"):
        copy.deepcopy(grid.mass)
    with pytest.raises(TypeError, match="pickle the node"):
        pickle.dumps(grid.outer.cells)
    dense = sv.root.dense(sv.i, 4).place(sv.field(sv.f32))
    with pytest.raises(sv.SamovarTypeError, match=r"sv.root.dense\(sv.i, \(4,\)\) cannot be pickled"):
        pickle.dumps(dense)
