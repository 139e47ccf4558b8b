"""Time loops on a tape that keeps a few states and recomputes the others: binomial checkpointing.

With c states, reversing l steps advances the fewest steps if a loop is split as in Griewank and Walther's "revolve": with r
the least number for which C(c + r, c) >= l, no step is advanced more than r times.
"""

from __future__ import annotations

from math import comb, log2

from samovar import errors
from samovar._native import call_uncounted, call_with_keys, next_key
from samovar.runtime.tape import present_tape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: As on the command line: 1 MB is 1 MiB.
UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def checkpointed(step: Callable[[int], object], n: int, memory: int | str | None = None) -> None:
    """`for t in range(n): step(t)`, on a tape that keeps a few states and recomputes the others when they are needed.

    `memory` limits the states: a number of bytes, or text as "64 MB". Without it, there are about log2(n) of them. A state
    is what the steps overwrite. The steps that are recomputed are the fewest that are possible with this memory.

    >>> import samovar as sv
    >>> x, loss = (sv.ndarray(sv.f64, (), needs_grad=True) for _ in range(2))
    >>> @sv.kernel
    ... def square():
    ...     x[None] = 0.5 * x[None] * x[None]
    >>> @sv.kernel
    ... def total():
    ...     loss[None] += x[None]
    >>> x.fill(2)
    >>> with sv.ad.Tape(loss):
    ...     sv.ad.checkpointed(lambda t: square(), 3)
    ...     total()
    >>> x.grad[None]
    8.0
    """
    most = None if memory is None else bytes_of(memory)
    tape = present_tape()
    if tape is None:
        for t in range(n):
            step(t)
        return
    #: For each step, the first key of random numbers that its launches draw.
    keys: list[tuple[int, int]] = []
    with tape.whole_state() as record, tape.paused():
        for t in range(n):
            seed, number, drawn = next_key()
            keys.append((seed, number))
            step(t)
            count = next_key()[2] - drawn
            if count and next_key()[:2] != (seed, number + count):
                raise errors.SamovarRuntimeError(
                    f"step {t} of a checkpointed loop draws random numbers that cannot be drawn again: another thread has"
                    " drawn some at the same time, or the step has called `sv.seed`\n"
                    "  help: seed before the loop, and draw on one thread while it runs"
                )

    def repeat(t: int) -> None:
        call_with_keys(*keys[t], lambda: step(t))

    size = max(1, sum(kept.size for kept in record.kept))
    states = int(log2(max(n, 1))) + 1 if most is None else most // size
    if states < 1:
        raise errors.SamovarRuntimeError(
            f"memory={memory!r} is less than one state of the loop, which takes {size} bytes\n"
            "  help: allow more, or overwrite less in the loop"
        )
    kind = type(tape)

    def reverse(first: int, last: int, states: int) -> None:
        """Reverse steps from the state before the first of them, which is current and counts among the states."""
        start = None
        while last > first:
            if last - first > 1:
                start = record.state() if start is None else start
                middle = first + advance(last - first, states)
                inner = kind(clear_gradients=False)
                with inner, inner.paused():
                    for t in range(first, middle):
                        repeat(t)
                reverse(middle, last, max(states - 1, 1))
                record.put_state(start)
                last = middle
            else:
                inner = kind(clear_gradients=False)
                with inner:
                    repeat(first)
                inner.backward()
                last = first

    record.reverse = lambda: call_uncounted(lambda: reverse(0, n, states))


def advance(steps: int, states: int) -> int:
    """How many steps to advance before the next state is kept, to reverse at least 2 steps."""
    if states == 1:
        return steps - 1
    repeats = 1
    while comb(states + repeats, states) < steps:
        repeats += 1
    least = comb(states + repeats - 2, states) if repeats > 1 else 1
    return min(max(least, steps - comb(states - 1 + repeats, states - 1)), steps - 1)


def bytes_of(size: int | str) -> int:
    """A number of bytes, from a number or text as "64 MB"."""
    if isinstance(size, str):
        import re

        match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", size.strip().lower())
        if match is not None:
            return int(float(match[1]) * UNITS[match[2]])
    elif isinstance(size, int) and not isinstance(size, bool):
        return size
    raise errors.SamovarTypeError(f"memory is a number of bytes, or text such as \"64 MB\", not {size!r}")
