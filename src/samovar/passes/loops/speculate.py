"""Speculation: an element that a nest of loops loads under a condition, and that stays the same all the while, is loaded in
front of the nest.

A condition may guard an access: whoever loads earlier has to know that the element exists. That the indices are in bounds is
one comparison, once. What is left under the condition only computes, and vectors need neither a mask nor a branch for it.
"""

from __future__ import annotations

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
    Sections,
    Task,
    Value,
    indices,
    memory,
    regions,
    rewrite,
    scopes,
    substitute,
    walk,
)
from samovar.passes.loops.dependence import CHANGES
from samovar.passes.loops.divergence import defined_in

#: So many elements are loaded in front of a nest.
MOST = 16


def speculate_loads(kernel: Kernel) -> None:
    """Load what nests of loops need in any case, or may need, in front of them, in place."""
    for body, locals in list(scopes(kernel)):
        _region(body, locals)


def _region(region: Region, locals: list[Local]) -> None:
    result: list[Operation] = []
    for operation in region.operations:
        if isinstance(operation, For):
            result += _in_front(operation, locals)
        elif not isinstance(operation, (Task, Sections)):
            for inner in regions(operation):
                _region(inner, locals)
        result.append(operation)
    region.operations = result


def _in_front(nest: For, locals: list[Local]) -> list[Operation]:
    """What a nest loads under conditions, in front of it; the nest takes it from there."""
    changes = [each for each in walk(nest.body) if each.code in CHANGES]
    changed = {memory(each) for each in changes}
    if None in changed:
        return []
    within = defined_in(nest.body) | {nest.variable}
    shared = not all(isinstance(array, Array) and array.alone for array in changed)
    groups: dict[tuple[object, ...], list[Operation]] = {}
    for load in _guarded(nest.body, False):
        array = load.payload
        if array in changed or (shared and not array.alone) or array in within or not within.isdisjoint(load.operands):
            continue
        place = (array, *(each.value if isinstance(each, Constant) else each for each in indices(load)))
        if place in groups or len(groups) < MOST:
            groups.setdefault(place, []).append(load)
    build = Builder(nest.line, nest.origin)
    replacements: dict[Value, Value] = {}
    for loads in groups.values():
        value = _loaded(build, loads[0], locals)
        replacements.update(dict.fromkeys(loads, value))
    if replacements:

        def without(operation: Operation) -> list[Operation]:
            substitute(operation, replacements)
            return [] if operation in replacements else [operation]

        rewrite(nest.body, without)
    return build.operations


def _guarded(region: Region, under: bool) -> list[Operation]:
    """The loads that a condition decides on."""
    found: list[Operation] = []
    for operation in region.operations:
        if operation.__class__ is not Operation:
            for inner in regions(operation):
                found += _guarded(inner, under or isinstance(operation, If))
        elif under and operation.code == "load":
            found.append(operation)
    return found


def _loaded(build: Builder, load: Operation, locals: list[Local]) -> Value:
    """An element, if there is one."""
    array: Array = load.payload
    assert load.type is not None
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
    local = Local(array.name, load.type)
    locals.append(local)
    build.set(local, Constant(load.type(0), load.type))

    def take() -> None:
        build.set(local, build.make("load", load.type, *load.operands, payload=array))

    build.append(If(exists, build.region(take), Region(), load.line))
    return build.get(local)
