"""The pass pipeline: which passes run, and in which order."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator
from functools import partial

from samovar.ir import SCALAR, Kernel, Machine
from samovar.language import Options
from samovar.passes.activation import Same, activate_cells
from samovar.passes.atomics import resolve_atomics
from samovar.passes.checkpoints import expand_checkpoints
from samovar.passes.checks import check_arithmetic, check_bounds, clamp
from samovar.passes.dead_code import eliminate_dead_code
from samovar.passes.inline import inline
from samovar.passes.legalize import legalize
from samovar.passes.locals import demote_atomics, forward
from samovar.passes.loops import (
    carry_elements,
    forward_elements,
    inline_calls,
    place_safepoints,
    plan_loops,
    promote,
    sink_stores,
    speculate_loads,
    split_index_sets,
    unroll_loops,
)
from samovar.passes.narrow import narrow_integers
from samovar.passes.outline import outline
from samovar.passes.partition import partition
from samovar.passes.races import check_races
from samovar.passes.random_numbers import assign_random_streams, expand_random_numbers
from samovar.passes.reassociate import reassociate
from samovar.passes.recognize_updates import recognize_updates
from samovar.passes.saturating_casts import mark_conversions
from samovar.passes.split import split
from samovar.passes.unavailable import refuse_unavailable
from samovar.passes.widen_elements import widen_elements

Pass = Callable[[Kernel], None]


def pipeline(
    options: Options, ask: Pass | None = None, machine: Machine = SCALAR, same: Same = operator.is_
) -> Iterator[Pass]:
    """The passes enabled by the options, in order, for a machine. `ask` queries facts about arrays: it runs after the passes
    that add and remove accesses, and before those that depend on it. `same` tells whether fields have the same cells."""
    checks = {
        "debug": options.debug,
        "bounds": options.debug or options.check_out_of_bound,
        "races": options.debug or options.check_races,
    }
    # Names of disabled passes: switched off by `without`, checks that are not requested, or "unchecked" if one is.
    off = {*options.without.split(), *(name for name, wanted in checks.items() if not wanted)}
    if any(checks.values()):
        off.add("unchecked")
    fast_math = options.fast_math
    steps: list[tuple[str, Pass]] = [
        ("", expand_checkpoints),
        ("", assign_random_streams),
        ("inline", inline),
        ("inline vectors unchecked", partial(inline_calls, machine=machine)),
        ("", recognize_updates),
        ("debug", check_arithmetic),
        ("", clamp),
        ("bounds", check_bounds),
        ("races", check_races),
        ("", partial(activate_cells, same=same, checked=checks["bounds"])),
        ("", demote_atomics),
        ("forward", forward),
        ("prune", eliminate_dead_code),
        ("", refuse_unavailable),
        ("unrolling unchecked", partial(unroll_loops, machine=machine)),
        *([("", ask)] if ask is not None else []),
        ("atomics", resolve_atomics),
        ("prune", eliminate_dead_code),
        ("promotion unchecked", partial(promote, fast_math=fast_math)),
        ("conversions", partial(mark_conversions, without=options.without)),
        ("narrow", narrow_integers),
        ("", expand_random_numbers),
        ("split", split),
        ("", partial(outline, fast_math=fast_math, studied="vectors" not in off)),
        ("vectors unchecked", partial(split_index_sets, machine=machine)),
        ("elements unchecked", sink_stores),
        ("elements unchecked", forward_elements),
        ("elements unchecked", speculate_loads),
        ("elements unchecked", carry_elements),
        ("reassociation", partial(reassociate, fast_math=fast_math)),
        ("vectors unchecked", partial(plan_loops, machine=machine, fast_math=fast_math)),
        ("", place_safepoints),
        ("", widen_elements),
        ("", partial(legalize, fast_math=fast_math)),
        ("units", partition),
    ]
    return (step for needed, step in steps if off.isdisjoint(needed.split()))


def run(
    kernel: Kernel,
    options: Options,
    ask: Pass | None = None,
    machine: Machine = SCALAR,
    last: Pass | None = None,
    same: Same = operator.is_,
) -> None:
    """Run the passes on a kernel in place, all of them or up to the `last` one; with `debug` or `SAMOVAR_VERIFY_IR=1` the
    IR is verified after each."""
    verified = options.debug or os.environ.get("SAMOVAR_VERIFY_IR", "") not in ("", "0")
    for step in pipeline(options, ask, machine, same):
        step(kernel)
        if verified:
            from samovar.ir import verify

            verify(kernel)
        if step is last:
            return
