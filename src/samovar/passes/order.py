"""Which passes run, and in which order; see the room."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

from samovar.ir import SCALAR, Kernel, Machine
from samovar.language import Options
from samovar.passes.atomics import settle_atomics
from samovar.passes.checkpoints import expand_checkpoints
from samovar.passes.checks import check_arithmetic, check_bounds, clamp
from samovar.passes.conversions import mark_conversions
from samovar.passes.inline import inline
from samovar.passes.legalise import legalise
from samovar.passes.locals import forward, make_plain
from samovar.passes.loops import (
    carry_elements,
    forward_elements,
    inline_calls,
    place_safepoints,
    plan_loops,
    promote,
    speculate_loads,
    split_index_sets,
    unroll_loops,
)
from samovar.passes.narrow import narrow_integers
from samovar.passes.outline import outline
from samovar.passes.prune import prune
from samovar.passes.races import watch_races
from samovar.passes.reassociate import reassociate
from samovar.passes.separate import separate
from samovar.passes.split import split
from samovar.passes.streams import settle_streams
from samovar.passes.updates import recognise_updates

Pass = Callable[[Kernel], None]


def pipeline(options: Options, ask: Pass | None = None, machine: Machine = SCALAR) -> Iterator[Pass]:
    """The passes that some options ask for, in order, for a machine. `ask` finds out what is to be known of the arrays: it
    runs after what adds and removes accesses, and before what rests on it."""
    watched = options.debug or options.check_out_of_bound or options.check_races
    yield expand_checkpoints
    if "inline" not in options.without:
        yield inline
        if not watched and "vectors" not in options.without:
            yield partial(inline_calls, machine=machine)
    yield recognise_updates
    if options.debug:
        yield check_arithmetic
    yield clamp
    if options.debug or options.check_out_of_bound:
        yield check_bounds
    if options.debug or options.check_races:
        yield watch_races
    yield make_plain
    if "forward" not in options.without:
        yield forward
    if "prune" not in options.without:
        yield prune
    if not watched and "unrolling" not in options.without:
        yield partial(unroll_loops, machine=machine)
    if ask is not None:
        yield ask
    if "atomics" not in options.without:
        yield settle_atomics
    if "prune" not in options.without:
        yield prune
    if not watched and "promotion" not in options.without:
        yield partial(promote, fast_math=options.fast_math)
    if "conversions" not in options.without:
        yield partial(mark_conversions, without=options.without)
    if "narrow" not in options.without:
        yield narrow_integers
    yield settle_streams
    if "split" not in options.without:
        yield split
    yield partial(outline, fast_math=options.fast_math)
    if not watched and "vectors" not in options.without:
        yield partial(split_index_sets, machine=machine)
    if not watched and "elements" not in options.without:
        yield forward_elements
        yield speculate_loads
        yield carry_elements
    if "reassociation" not in options.without:
        yield partial(reassociate, fast_math=options.fast_math)
    if not watched and "vectors" not in options.without:
        yield partial(plan_loops, machine=machine, fast_math=options.fast_math)
    yield place_safepoints
    yield partial(legalise, fast_math=options.fast_math)
    if "units" not in options.without:
        yield separate


def run(
    kernel: Kernel,
    options: Options,
    ask: Pass | None = None,
    machine: Machine = SCALAR,
    last: Pass | None = None,
) -> None:
    """Run the passes on a kernel, in place, all of them or up to the `last` one; with `debug` or `SAMOVAR_VERIFY_IR=1` the
    IR is verified after each."""
    verified = options.debug or os.environ.get("SAMOVAR_VERIFY_IR", "") not in ("", "0")
    for step in pipeline(options, ask, machine):
        step(kernel)
        if verified:
            from samovar.ir import verify

            verify(kernel)
        if step is last:
            return
