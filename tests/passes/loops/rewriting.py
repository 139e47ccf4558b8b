"""Kernels as IR, and what they do before and after a rewrite of their loops, whatever its price.

    check(kernel, {"a": a, "n": 7}, vectorize)

`lowered` is a kernel as the frontend and the first passes leave it, `outlined` the same with its tasks written out; every
array is alone, unless it is told otherwise, and its axes but the first have known lengths. `vectorize` makes vectors of
every outermost loop that can become one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from ir_interpreter import Interpreter
from samovar.frontend import lower
from samovar.ir import (
    Affine,
    Array,
    Constant,
    For,
    Kernel,
    Local,
    Machine,
    Operation,
    Region,
    Task,
    memory,
    regions,
    verify,
    walk,
)
from samovar.ir.traversal import outlined as tasks_of
from samovar.language import Options
from samovar.lens import Lens
from samovar.passes import outline, run
from samovar.passes.atomics import resolve_atomics
from samovar.passes.dead_code import eliminate_dead_code
from samovar.passes.inline import inline
from samovar.passes.locals import demote_atomics, forward
from samovar.passes.loops.dependence import independence
from samovar.passes.loops.divergence import Divergence, Refused
from samovar.passes.loops.emit import Vectors, vectorized
from samovar.passes.recognize_updates import recognize_updates

#: Processors with short and with long vectors.
AVX2, AVX512 = Machine(256, 16), Machine(512, 32, masks=True)
#: Numbers of iterations around the widths of vectors: none, one, and more than the widest has.
SIZES = (0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 70, 129)

Rewrite = Callable[[Kernel], object]


def lowered(kernel: Any, arguments: Mapping[str, Any], shared: Collection[str] = (), fast_math: bool = True) -> Kernel:
    """A kernel for some arguments, with inlined funcs and settled atomics. Arrays that are `shared` may overlap others."""
    lens = Lens(kernel.__wrapped__, dict(arguments), kernel.state.signature, Options(fast_math=fast_math))
    made = lower(lens).kernel
    for each in made.parameters:
        if isinstance(each, Array):
            each.alone = each.name not in shared
            known = getattr(arguments.get(each.name), "shape", ())
            each.extents = (None, *known[1:]) if len(known) == each.ndim > 1 else each.extents
    made.disjoint = True
    before = (inline, recognize_updates, demote_atomics, forward, eliminate_dead_code, resolve_atomics, eliminate_dead_code)
    for step in before:
        step(made)
    verify(made)
    return made


def outlined(kernel: Any, arguments: Mapping[str, Any], shared: Collection[str] = (), fast_math: bool = True) -> Kernel:
    """The same, with the tasks as loops."""
    made = lowered(kernel, arguments, shared, fast_math)
    outline(made, fast_math)
    verify(made)
    return made


def outcome(kernel: Kernel, arguments: Mapping[str, Any], seed: int = 0) -> list[Any]:
    """What a kernel gives and leaves in its arrays."""
    memory = {name: each.copy() if isinstance(each, np.ndarray) else each for name, each in arguments.items()}
    with np.errstate(all="ignore"):
        results = Interpreter(kernel, memory, seed).run()
    return [*results, *(each for each in memory.values() if isinstance(each, np.ndarray))]


def assert_same(found: list[Any], wanted: list[Any]) -> None:
    """Equal to the bit, but for the bits of NaN."""
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one) & ~np.isnan(one), np.signbit(other) & ~np.isnan(other))


def check(make: Callable[[], Kernel], arguments: Mapping[str, Any], *rewrites: Rewrite) -> Kernel:
    """Do a kernel and what rewrites make of it the same? Gives the rewritten one."""
    wanted = outcome(make(), arguments)
    made = make()
    for rewrite in rewrites:
        rewrite(made)
        verify(made)
    for seed in range(2):
        assert_same(outcome(made, arguments, seed), wanted)
    return made


def everything(machine: Machine, **options: Any) -> Rewrite:
    """All passes, as a rewrite of a kernel that no pass has seen."""
    return lambda kernel: run(kernel, Options(**options), machine=machine)


def whole_bodies(kernel: Kernel) -> list[tuple[Region, list[Local]]]:
    """The bodies that loops are planned in."""
    return [*((task.body, task.locals) for task in tasks_of(kernel)), (kernel.body, kernel.locals)]


def owned_arrays(kernel: Kernel) -> list[Collection[Array]]:
    """For each of these bodies, the arrays whose elements no other thread sees meanwhile."""
    return [*(task.owned for task in tasks_of(kernel)), [each for each in kernel.parameters if isinstance(each, Array)]]


def loops_in(region: Region) -> list[For]:
    return [each for each in walk(region) if isinstance(each, For)]


def refusal(kernel: Kernel, loop: For, fast_math: bool = True) -> str:
    """Why a loop of a kernel does not become one of vectors; "" if it can."""
    for body, _ in whole_bodies(kernel):
        if loop in walk(body):
            try:
                affine = Affine(body)
                found = independence(loop, body, affine, fast_math)
                Divergence(loop, affine, found.private, set(found.reductions))
            except Refused as refused:
                return str(refused)
            return ""
    raise LookupError("the loop is in no body")


def vectorize(machine: Machine, width: int = 8, tail: int | None = None, fast_math: bool = True) -> Rewrite:
    """Vectors of some width wherever they can be, the outermost loops first."""

    def rewrite(kernel: Kernel) -> int:
        return sum(
            _vectorize(body, body, Affine(body), locals, machine, width, tail or width, fast_math, owned)
            for (body, locals), owned in zip(whole_bodies(kernel), owned_arrays(kernel), strict=True)
        )

    return rewrite


def _vectorize(
    region: Region,
    body: Region,
    affine: Affine,
    locals: list[Local],
    machine: Machine,
    width: int,
    tail: int,
    fast: bool,
    owned: Collection[Array],
) -> int:
    result: list[Operation] = []
    count = 0
    for operation in region.operations:
        made = None
        step = operation.operands[2] if isinstance(operation, For) and operation.hints.vectors is None else None
        if isinstance(operation, For) and isinstance(step, Constant) and step.value in (1, -1):
            try:
                found = independence(operation, body, affine, fast)
                plan = Divergence(operation, affine, found.private, set(found.reductions))
            except Refused:
                pass
            else:
                cut = tail if found.reductions and not any(isinstance(each, For) for each in plan.inside) else width
                narrow = any(array.dtype.bits < 32 for each in plan.accesses if isinstance(array := memory(each), Array))
                vectors = Vectors(plan, found, width, cut, machine.masks or not narrow, owned)
                made = vectorized(operation, vectors, "", machine, locals)[1]
                count += 1
        if made is None:
            for inner in () if isinstance(operation, Task) else regions(operation):
                count += _vectorize(inner, body, affine, locals, machine, width, tail, fast, owned)
            made = [operation]
        result += made
    region.operations = result
    return count
