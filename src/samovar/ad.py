"""`sv.ad`: derivatives of programs that launch kernels.

>>> import samovar as sv
>>> x, loss = sv.ndarray(sv.f32, 2, needs_grad=True), sv.ndarray(sv.f32, (), needs_grad=True)
>>> @sv.kernel
... def energy():
...     for i in x:
...         loss[None] += x[i] ** 2
>>> x.fill(1.5)
>>> with sv.ad.Tape(loss):
...     energy()
>>> x.grad
ndarray([3.0, 3.0], dtype=f32, shape=(2,))
"""

from __future__ import annotations

from samovar.runtime import (
    FwdMode,
    Tape,
    check,
    checkpointed,
    clear_all_gradients,
    grad_for,
    grad_replaced,
    hvp,
    jvp,
    no_grad,
    torch_function,
    value_and_grad,
    vjp,
)

__all__ = [
    "FwdMode", "Tape", "check", "checkpointed", "clear_all_gradients", "grad_for", "grad_replaced", "hvp", "jvp", "no_grad",
    "torch_function", "value_and_grad", "vjp",
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)
