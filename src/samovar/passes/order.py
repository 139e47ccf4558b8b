"""Which passes run, and in which order; see the room."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

from samovar.ir import Kernel
from samovar.language import Options
from samovar.passes.ahead import read_ahead
from samovar.passes.atomics import settle_atomics
from samovar.passes.checkpoints import expand_checkpoints
from samovar.passes.checks import check_arithmetic, check_bounds, clamp
from samovar.passes.conditional_sums import settle_conditional_sums
from samovar.passes.conversions import mark_conversions
from samovar.passes.flat_conditions import flatten_conditions
from samovar.passes.inline import inline
from samovar.passes.inline_for_lanes import inline_for_lanes
from samovar.passes.late_terms import put_late_terms_last
from samovar.passes.legalise import legalise
from samovar.passes.locals import forward, make_plain
from samovar.passes.narrow import narrow_integers
from samovar.passes.outline import outline
from samovar.passes.prune import prune
from samovar.passes.races import watch_races
from samovar.passes.separate import separate
from samovar.passes.split import split
from samovar.passes.streams import settle_streams
from samovar.passes.updates import recognise_updates

Pass = Callable[[Kernel], None]


def pipeline(options: Options, ask: Pass | None = None) -> Iterator[Pass]:
    """The passes that some options ask for, in order. `ask` finds out what is to be known of the arrays: it runs after what
    adds and removes accesses, and before what rests on it."""
    yield expand_checkpoints
    if "inline" not in options.without:
        yield inline
    if not (options.debug or options.check_out_of_bound or options.check_races) and "lanes" not in options.without:
        yield partial(inline_for_lanes, fast_math=options.fast_math)
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
    if ask is not None:
        yield ask
    if "atomics" not in options.without:
        yield settle_atomics
    if "prune" not in options.without:
        yield prune
    if "conversions" not in options.without:
        yield partial(mark_conversions, without=options.without)
    yield partial(legalise, fast_math=options.fast_math)
    if "narrow" not in options.without:
        yield narrow_integers
    yield settle_streams
    if "ahead" not in options.without:
        yield read_ahead
        yield flatten_conditions
    if options.fast_math and "sums" not in options.without:
        yield settle_conditional_sums
    if "late" not in options.without:
        yield partial(put_late_terms_last, fast_math=options.fast_math)
    if "split" not in options.without:
        yield partial(split, fast_math=options.fast_math, without=options.without)
    yield partial(outline, fast_math=options.fast_math, without=options.without)
    if "units" not in options.without:
        yield separate


def run(kernel: Kernel, options: Options, ask: Pass | None = None) -> None:
    """Run the passes on a kernel, in place; with `debug` or `SAMOVAR_VERIFY_IR=1` the IR is verified after each."""
    verified = options.debug or os.environ.get("SAMOVAR_VERIFY_IR", "") not in ("", "0")
    for step in pipeline(options, ask):
        step(kernel)
        if verified:
            from samovar.ir import verify

            verify(kernel)
