"""Safepoints: where loops ask whether to stop, and where they do not."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import samovar as sv

f64_1 = sv.types.NDArray[sv.f64, 1]


@sv.kernel(serial=True)
def again_and_again(x: f64_1, step: sv.i32):
    k = 0
    while k < 2000000000:
        for i in range(0, x.shape[0], step):
            x[i] = x[i] * 0.5 + 1.0
        k += 1


@sv.kernel(serial=True)
def by_ones(x: f64_1, step: sv.i32):
    k = 0
    while k < 2000000000:
        for i in range(x.shape[0]):
            x[i] = x[i] * 0.5 + step
        k += 1


@pytest.mark.parametrize("kernel", [again_and_again, by_ones])
@pytest.mark.parametrize(("length", "step"), [(400_000, 1), (400_000, 1000), (3, 1), (3_000_000, 1)])
def test_loops_that_are_repeated_are_interrupted_soon(kernel: Callable[..., None], length: int, step: int) -> None:
    """However short one of them is: what all have taken counts."""
    x, sent = np.zeros(length), 0.0
    kernel.inspect("ir", x, step)  # type: ignore[attr-defined]

    def interrupt() -> None:
        nonlocal sent
        time.sleep(0.3)
        sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        kernel(x, step)
    assert time.monotonic() - sent < 5
    thread.join()


def test_a_short_loop_with_any_step_does_not_ask_in_each_iteration() -> None:
    text = again_and_again.inspect("ir", np.zeros(8), 3)
    loops = text.split("for i")[1:]
    assert len(loops) == 2
    bodies = [part.split("\n")[1].strip() for part in loops]
    assert sorted(body.startswith("poll") for body in bodies) == [False, True]
