"""Torch is told which of its tensors a launch has written: a backward pass that has kept one before says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import samovar as sv

torch: Any = pytest.importorskip("torch")

A = sv.types.NDArray[sv.f32, 1]


@sv.kernel
def double(x: A):
    for i in x:
        x[i] *= 2


@sv.kernel
def add_to(x: A, y: A, total: A):
    for i in x:
        total[i] = x[i] + y[i]


def test_a_backward_pass_reports_what_it_has_kept_and_a_kernel_has_changed():
    w = torch.ones(3, requires_grad=True)
    loss = (w * w).sum()
    double(w)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_a_tensor_without_gradient_that_is_kept_for_another_is_reported_too():
    w, x = torch.ones(3, requires_grad=True), torch.ones(3)
    loss = (w * x).sum()
    double(x[1:])
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_only_written_tensors_count():
    x, y, total = (torch.ones(4) for _ in range(3))
    for launches in (1, 2, 3):
        add_to(x, y, total)
        assert (x._version, y._version, total._version) == (0, 0, launches)


def test_arrays_of_other_libraries_beside_it_are_no_hindrance():
    total = torch.ones(4)
    add_to(np.ones(4, np.float32), sv.ones(4, sv.f32), total)
    assert total._version == 1
    add_to(total, total, np.ones(4, np.float32))
    assert total._version == 1


@sv.kernel
def chosen(x: A, y: A, first: sv.Template):
    for i in x:
        if sv.static(first):
            x[i] = 1
        else:
            y[i] = 1


def test_a_specialization_that_does_not_fit_counts_nothing():
    x, y = torch.ones(2), torch.ones(2)
    for first in (True, False, True, False, False):
        chosen(x, y, first)
    assert (x._version, y._version) == (2, 3)


@sv.data_oriented(stable_members=True)
class Stable:
    def __init__(self, x: Any) -> None:
        self.x = x

    @sv.kernel
    def work(self):
        for i in self.x:
            self.x[i] += 1


@dataclass
class Pair:
    x: A
    y: A


@sv.kernel
def of_members(pair: Pair):
    for i in pair.x:
        pair.y[i] = pair.x[i]


def test_members_count_as_arguments_do():
    stable = Stable(torch.zeros(3))
    for launches in (1, 2, 3):
        stable.work()
        assert stable.x._version == launches
    pair = Pair(torch.zeros(3), torch.zeros(3))
    of_members(pair)
    of_members(pair)
    assert (pair.x._version, pair.y._version) == (0, 2)


def test_recorded_launches_count():
    x = torch.ones(3)
    with sv.graph.record() as step:
        double(x)
        double(x)
    assert x._version == 0
    step()
    step()
    assert x._version == 4
    assert x.tolist() == [16, 16, 16]


def test_a_kernel_that_fails_has_written_too():
    sv.init(debug=True)

    @sv.kernel
    def fails(x: A):
        for i in x:
            x[i] = 3
        assert x[0] == 4

    x = torch.ones(2)
    with pytest.raises(sv.SamovarAssertionError):
        fails(x)
    sv.reset()
    assert x._version == 1


def test_a_tensor_of_inference_mode_has_no_version():
    with torch.inference_mode():
        x = torch.ones(2)
    double(x)
    assert x.tolist() == [2, 2]


def test_parameters_and_subclasses_are_tensors():
    class Own(torch.Tensor):  # type: ignore[misc]
        pass

    for x in (torch.nn.Parameter(torch.ones(2)), torch.ones(2).as_subclass(Own)):
        double(x)
        assert x._version == 1


def test_algorithms_that_work_in_place_count():
    x = torch.tensor([3.0, 1.0, 2.0])
    sv.algorithms.parallel_sort(x)
    assert x._version > 0
    total, before = torch.zeros(3), x._version
    sv.algorithms.prefix_sum(x, total)
    assert (x._version, total._version > 0) == (before, True)
    sv.algorithms.reduce(x)
    assert x._version == before
