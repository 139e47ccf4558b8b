"""Gradients and torch: tensors that require one as arguments, and torch functions that launch kernels."""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

import samovar as sv

torch: Any = pytest.importorskip("torch")

N = 4
Array = sv.types.NDArray[sv.f64, 1]
Number = sv.types.NDArray[sv.f64, 0]


@sv.kernel
def square(x: Array, y: Array):
    for i in x:
        y[i] = x[i] * x[i]


@sv.kernel
def cube_in_place(x: Array):
    for i in x:
        x[i] = x[i] * x[i] * x[i]


@sv.kernel
def total(y: Array, loss: Number):
    for i in y:
        loss[None] += y[i]


def tensor(*numbers: float) -> Any:
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)


def zero() -> Any:
    return torch.zeros((), dtype=torch.float64, requires_grad=True)


def test_the_reverse_of_a_kernel_adds_to_the_gradient_of_a_tensor() -> None:
    x, y = tensor(1, 2, 3), tensor(0, 0, 0)
    x.grad = torch.ones_like(x)
    kept = x.grad
    square(x, y)
    y.grad = torch.full_like(y, 10)
    square.grad(x, y)
    assert x.grad is kept
    assert x.grad.tolist() == [21, 41, 61]


def test_gradients_are_created_where_there_are_none() -> None:
    for _ in range(2):
        x, y, loss = tensor(1, 2, 3), tensor(0, 0, 0), zero()
        with sv.ad.Tape(loss):
            square(x, y)
            total(y, loss)
        assert x.grad.tolist() == [2, 4, 6]


def test_what_a_launch_overwrites_in_a_tensor_is_kept() -> None:
    x, loss = tensor(1, 2), zero()
    with sv.ad.Tape(loss) as tape:
        cube_in_place(x)
        total(x, loss)
    assert x.grad.tolist() == [3, 12]
    assert x.tolist() == [1, 8]
    assert [size for _, _, size, _ in tape.report()] == [16]


def test_a_new_tensor_compiles_nothing() -> None:
    def launch() -> None:
        x, y, loss = tensor(1, 2, 3), tensor(0, 0, 0), zero()
        with sv.ad.Tape(loss):
            square(x, y)
            total(y, loss)

    launch()
    reverse = square.in_mode("taped")
    before = len(reverse.specializations)
    launch()
    assert len(reverse.specializations) == before


def test_a_tensor_that_begins_to_require_a_gradient_gets_one() -> None:
    x, y, loss = torch.ones(3, dtype=torch.float64), tensor(0, 0, 0), zero()
    with sv.ad.Tape(loss):
        square(x, y)
        total(y, loss)
    assert x.grad is None
    x.requires_grad_()
    y.grad = loss.grad = None
    with sv.ad.Tape(loss):
        square(x, y)
        total(y, loss)
    assert x.grad.tolist() == [2, 2, 2]


def test_changes_by_torch_are_noticed() -> None:
    x, y, loss = tensor(1, 2, 3), tensor(0, 0, 0), zero()
    with sv.ad.Tape() as tape:
        square(x, y)
        total(y, loss)
    with torch.no_grad():
        x.mul_(2)
    loss.grad.fill_(1)
    with pytest.raises(sv.SamovarRuntimeError, match="`x`, of shape"):
        tape.backward()


def test_changes_through_a_view_are_noticed() -> None:
    base = torch.ones(6, dtype=torch.float64)
    part, y, loss = base[:3], tensor(0, 0, 0), zero()
    with sv.ad.Tape() as tape:
        square(part, y)
        total(y, loss)
    base.zero_()
    with pytest.raises(sv.SamovarRuntimeError, match="was written to"):
        tape.backward()


def test_views_that_kernels_write_are_no_changes() -> None:
    base, loss = torch.ones(6, dtype=torch.float64), zero()
    x, y, z = base[:3], base[3:], tensor(0, 0, 0)
    with sv.ad.Tape(loss):
        square(x, y)
        square(y, z)
        total(z, loss)
    assert base.tolist() == [1] * 6


def test_a_gradient_from_before_is_not_added_to_unasked() -> None:
    x, y, loss = tensor(1, 2, 3), tensor(0, 0, 0), zero()
    x.grad = torch.ones_like(x)
    with pytest.raises(sv.SamovarRuntimeError, match="is not 0 when the tape begins"), sv.ad.Tape(loss):
        square(x, y)
    with sv.ad.Tape(loss, clear_gradients=False):
        square(x, y)
        total(y, loss)
    assert x.grad.tolist() == [3, 5, 7]


def test_results_of_torch_are_refused() -> None:
    x, y = tensor(1, 2, 3) * 2, tensor(0, 0, 0)
    square(x, y)
    with (
        pytest.warns(UserWarning, match="not a leaf"),
        pytest.raises(sv.SamovarTypeError, match="`x` was computed by torch"),
    ):
        square.grad(x, y)
    x.retain_grad()
    y.grad = torch.ones_like(y)
    square.grad(x, y)
    assert x.grad.tolist() == [4, 8, 12]


def test_members_of_compound_arguments() -> None:
    @dataclass
    class State:
        x: Any
        y: Any

    @sv.kernel
    def step(state: sv.Template):
        for i in state.x:
            state.y[i] = sv.sin(state.x[i])

    state, loss = State(tensor(0, 1), tensor(0, 0)), zero()
    with sv.ad.Tape(loss):
        step(state)
        total(state.y, loss)
    assert torch.allclose(state.x.grad, torch.cos(state.x))


def test_forward_mode_refuses_tensors_that_require_a_gradient() -> None:
    x, y = tensor(1, 2, 3), sv.ndarray(sv.f64, 3, needs_grad=True)
    param = sv.ndarray(sv.f64, (), needs_grad=True)
    with pytest.raises(sv.SamovarTypeError, match="forward mode"), sv.ad.FwdMode(y, param):
        square(x, y)


def test_captured_tensors() -> None:
    x, y = tensor(1, 2), tensor(0, 0)

    @sv.kernel
    def run():
        for i in x:
            y[i] = 3 * x[i]

    run.grad()
    assert x.grad.tolist() == y.grad.tolist() == [0, 0]
    y.grad.fill_(1)
    run.grad()
    assert x.grad.tolist() == [3, 3]


def test_only_tensors_that_the_kernel_uses_get_a_gradient() -> None:
    @sv.data_oriented
    class Layer:
        def __init__(self) -> None:
            self.x, self.y = tensor(1, 2), tensor(0, 0)
            self.history = [tensor(5, 6), tensor(1, 2) * 2]
            self.own = sv.ndarray(sv.f64, 2, needs_grad=True)
            self.own.view = tensor(1, 2) * 2

        @sv.kernel
        def run(self):
            for i in self.x:
                self.y[i] = self.x[i] * self.own[i]

    for _ in range(2):
        layer = Layer()
        layer.own.fill(3)
        Layer.run.grad(layer)
        assert layer.x.grad.tolist() == [0, 0]
        layer.y.grad.fill_(1)
        Layer.run.grad(layer)
        assert layer.x.grad.tolist() == [3, 3]
        assert layer.history[0].grad is None


def test_a_process_that_finds_the_derivative_compiles_nothing(tmp_path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import torch, samovar as sv\n"
        "@sv.kernel\n"
        "def square(x: sv.types.ndarray(sv.f32, 1), y: sv.types.ndarray(sv.f32, 1)):\n"
        "    for i in x:\n"
        "        y[i] = x[i] * x[i]\n"
        "x, y = torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)\n"
        "square.grad(x, y)\n"
        "print(x.grad.tolist(), 'samovar.frontend' in __import__('sys').modules)\n"
    )
    environment = {**os.environ, "SAMOVAR_OFFLINE_CACHE_FILE_PATH": str(tmp_path / "cache")}
    command = [sys.executable, str(program)]
    found = [subprocess.run(command, env=environment, capture_output=True, text=True).stdout for _ in range(2)]
    assert found == ["[0.0, 0.0, 0.0] True\n", "[0.0, 0.0, 0.0] False\n"]


# --- torch functions


@sv.kernel
def waves(x: sv.types.NDArray[sv.f64, 2], k: Array, y: sv.types.NDArray[sv.f64, 2]):
    for i, j in x:
        y[i, j] = sv.sin(k[j] * x[i, j]) * x[i, j]


@sv.kernel
def relax(x: sv.types.NDArray[sv.f64, 2], rate: sv.f64):
    for j in range(x.shape[1]):
        for i in range(1, x.shape[0]):
            x[i, j] += rate * x[i - 1, j] ** 2


@sv.ad.torch_function
def layer(x: Any, k: Any, steps: int) -> Any:
    y = sv.ndarray(sv.f64, x.shape, needs_grad=True)
    waves(x, k, y)
    for _ in range(steps):
        relax(y, 0.1)
    return x, y


def inputs() -> Any:
    torch.manual_seed(1)
    return torch.randn(3, 2, dtype=torch.float64, requires_grad=True), tensor(0.5, 1.5)


def test_a_function_passes_gradcheck() -> None:
    x, k = inputs()
    assert torch.autograd.gradcheck(lambda x, k: layer(x, k, 3), (x, k))
    assert torch.autograd.gradcheck(lambda x, k: layer(x.T.T * 2, k, 2)[1], (x, k))


def test_functions_are_layers() -> None:
    x, k = inputs()
    first = layer(x, k, 2)[1]
    second = layer(first.tanh(), k, 1)[1]
    second.sum().backward()
    found = x.grad.clone(), k.grad.clone()

    def reference(x: Any, k: Any, steps: int) -> Any:
        y = torch.sin(k * x) * x
        for _ in range(steps):
            rows = [y[0]]
            for i in range(1, 3):
                rows.append(y[i] + 0.1 * rows[-1] ** 2)
            y = torch.stack(rows)
        return y

    x.grad = k.grad = None
    reference(reference(x, k, 2).tanh(), k, 1).sum().backward()
    assert torch.allclose(found[0], x.grad, rtol=1e-12)
    assert torch.allclose(found[1], k.grad, rtol=1e-12)


def test_inputs_are_not_changed_and_integers_pass() -> None:
    @sv.kernel
    def gather(x: Array, index: sv.types.NDArray[sv.i64, 1], counts: sv.types.NDArray[sv.i64, 1], y: Array):
        for i in index:
            y[i] = 2 * x[index[i]]
            counts[index[i]] += 1
            x[index[i]] = 0

    @sv.ad.torch_function
    def pick(x: Any, index: Any) -> Any:
        y = sv.ndarray(sv.f64, index.shape, needs_grad=True)
        counts = sv.ndarray(sv.i64, x.shape)
        gather(x, index, counts, y)
        return y, counts

    x, index = tensor(1, 2, 3), torch.tensor([2, 1])
    y, counts = pick(x, index)
    assert x.tolist() == [1, 2, 3]
    assert counts.tolist() == [0, 1, 1]
    assert not counts.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [0, 2, 2]


def test_without_gradients_nothing_is_recorded() -> None:
    x, k = inputs()
    with torch.no_grad():
        y = layer(x, k, 1)[1]
    assert not y.requires_grad
    assert torch.allclose(y, layer(x, k, 1)[1])


def test_a_second_derivative_is_an_error() -> None:
    x, k = inputs()
    y = layer(x, k, 1)[1].sum()
    (gradient,) = torch.autograd.grad(y, x, create_graph=True)
    with pytest.raises(RuntimeError):
        gradient.sum().backward()


def test_results_that_share_memory_are_refused() -> None:
    @sv.ad.torch_function
    def twice(x: Any) -> Any:
        return x, x.reshape(x.shape)

    with pytest.raises(sv.SamovarTypeError, match="shares memory"):
        twice(tensor(1, 2))


def test_results_that_a_later_call_overwrites_are_an_error() -> None:
    y = sv.ndarray(sv.f64, 2, needs_grad=True)

    @sv.ad.torch_function
    def f(x: Any) -> Any:
        square(x, y)
        square(y, x)
        return x

    x = tensor(1, 2)
    first = f(x)
    f(x)
    with pytest.raises(sv.SamovarRuntimeError, match="was written to"):
        first.sum().backward()


@pytest.mark.parametrize("of", [lambda y, x: y.sum(), lambda y, x: (y * x).sum()])
def test_second_derivatives_are_an_error(of):
    @sv.kernel
    def cube(x: sv.types.ndarray(), y: sv.types.ndarray()):
        for i in x:
            y[i] = x[i] ** 3

    @sv.ad.torch_function
    def layer(x):
        y = sv.ndarray(sv.f64, 3, needs_grad=True)
        cube(x, y)
        return y

    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(of(layer(x), x), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"differentiated twice[\s\S]*hvp"):
        torch.autograd.grad(first.sum(), x)
