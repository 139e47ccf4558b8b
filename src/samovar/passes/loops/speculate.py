"""Speculative loads: an invariant element that a loop nest loads conditionally is loaded before the nest.

A condition may guard an access: an earlier load must know that the element exists, which is one bounds comparison per nest.
The conditional code is then pure, and needs neither masks nor branches in vectors.
"""

from __future__ import annotations

from collections.abc import Iterable

from samovar._native import i32, i64, u1
from samovar.ir import (
    Array,
    Builder,
    Constant,
    For,
    If,
    Kernel,
    Local,
    Operation,
    Region,
    Value,
    defined_in,
    indices,
    inside,
    is_own,
    memory,
    rewrite,
    scopes,
    walk,
)
from samovar.passes.loops.dependence import CHANGES

#: The maximum number of elements loaded before a nest.
MOST = 16


def speculate_loads(kernel: Kernel) -> None:
    """Hoist the loads that loop nests need, or may need, in place."""
    for body, locals in list(scopes(kernel)):

        def expand(operation: Operation, locals: list[Local] = locals) -> list[Operation]:
            return [*_hoisted(operation, locals), operation] if isinstance(operation, For) else [operation]

        rewrite(body, expand, enters=lambda each: is_own(each) and not isinstance(each, For))


def _hoisted(nest: For, locals: list[Local]) -> list[Operation]:
    """The conditional loads of a nest, hoisted before it; the nest uses their values."""
    changes = [each for each in walk(nest.body) if each.code in CHANGES]
    changed = {memory(each) for each in changes}
    if None in changed:
        return []
    within = defined_in(nest.body) | {nest.variable}
    shared = not all(isinstance(array, Array) and array.alone for array in changed)
    groups: dict[tuple[object, ...], list[Operation]] = {}
    for load in _guarded(nest.body):
        array = load.payload
        if array in changed or (shared and not array.alone) or array in within or not within.isdisjoint(load.operands):
            continue
        place = (array, *(each.value if isinstance(each, Constant) else each for each in indices(load)))
        if place in groups or len(groups) < MOST:
            groups.setdefault(place, []).append(load)
    build = Builder(nest.line, nest.origin)
    replacements: dict[Value, Value] = {}
    for loads in groups.values():
        value = loaded_if_there(build, loads[0], locals)
        replacements.update(dict.fromkeys(loads, value))
    if replacements:
        rewrite(nest.body, lambda each: [] if each in replacements else [each], replacements)
    return build.operations


def _guarded(region: Region) -> Iterable[Operation]:
    """The conditional loads, each once."""
    branches = (each for each in walk(region) if isinstance(each, If))
    found = (each for branch in branches for each in inside(branch))
    return dict.fromkeys(each for each in found if each.__class__ is Operation and each.code == "load")


def loaded_if_there(build: Builder, load: Operation, locals: list[Local]) -> Value:
    """An element, if it is in bounds."""
    array: Array = load.payload
    exists: Value | None = None
    for axis, index in enumerate(indices(load)):
        at = build.cast(index, i64)
        extent = build.cast(build.make("shape", i64 if array.wide else i32, payload=(array, axis)), i64)
        tests = [build.compare("lt", at, extent)]
        if not isinstance(index, Constant) or index.value < 0:
            tests.append(build.compare("ge", at, Constant(0, i64)))
        for test in tests:
            exists = test if exists is None else build.make("and", u1, exists, test)
    if exists is None:
        return build.append(load)
    local = Local(array.name, array.dtype)
    locals.append(local)
    build.set(local, local.zero())

    def take() -> None:
        build.set(local, build.make("load", array.dtype, *load.operands, payload=array))

    build.append(If(exists, build.region(take), Region(), load.line))
    return build.get(local)
