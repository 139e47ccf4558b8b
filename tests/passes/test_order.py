"""A pass that breaks the IR is found where each is verified: in debug mode, or where the environment asks for it."""

from __future__ import annotations

import pytest

from ir_builder import Builder
from samovar._native import i32
from samovar.ir import SCALAR, Kernel, Operation
from samovar.ir.verifier import MalformedIR
from samovar.language.options import Options
from samovar.passes import order


def breaking(kernel: Kernel) -> None:
    kernel.body.operations.insert(0, Operation("sqrt", i32, ()))


def small() -> Kernel:
    build = Builder(returns=[i32])
    build.give(1)
    return build.kernel()


@pytest.fixture(autouse=True)
def with_a_pass_that_breaks_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "pipeline", lambda options, ask=None, machine=SCALAR, same=None: iter([breaking]))
    monkeypatch.delenv("SAMOVAR_VERIFY_IR", raising=False)


def test_debug_mode_verifies_after_each_pass() -> None:
    with pytest.raises(MalformedIR, match="sqrt takes 1 operands"):
        order.run(small(), Options(debug=True))


def test_the_environment_can_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMOVAR_VERIFY_IR", "1")
    with pytest.raises(MalformedIR):
        order.run(small(), Options())


def test_nobody_else_pays_for_it() -> None:
    kernel = small()
    order.run(kernel, Options())
    assert kernel.body.operations[0].code == "sqrt"
