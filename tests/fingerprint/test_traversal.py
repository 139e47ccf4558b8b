"""The fold: any reduction, any depth, shared objects and cycles."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar.fingerprint import (
    Deconstruction,
    EmptyDeconstruction,
    OrderInsensitiveDeconstruction,
    catabolize,
    make_deconstructor,
    make_fingerprinter,
    stable_fingerprinter,
    traversal,
)


def deconstruct(value):
    if isinstance(value, (list, tuple)):
        return Deconstruction(type(value).__name__, pieces=tuple(value))
    if isinstance(value, (set, dict)):
        pieces = value if isinstance(value, set) else (Deconstruction("item", pieces=pair) for pair in value.items())
        return OrderInsensitiveDeconstruction(type(value).__name__, pieces=tuple(pieces))
    return EmptyDeconstruction("leaf", repr(value).encode())


def depth(level):
    return 1 + max(level.pieces, default=0)


def size(level):
    return 1 + sum(level.pieces)


def pretty(level):
    return (
        level.payload.decode() if isinstance(level, EmptyDeconstruction) else f"{level.tag}({', '.join(level.pieces)})"
    )


def fold(value, collapse, **options):
    return catabolize(value, deconstruct=deconstruct, collapse=collapse, **options)


trees = st.recursive(
    st.integers(0, 3), lambda below: st.lists(below, max_size=4) | st.tuples(below, below), max_leaves=20
)


@given(trees)
def test_depth_and_size_are_those_of_the_recursion(tree):
    def recursive_depth(value):
        return 1 + max(map(recursive_depth, value), default=0) if isinstance(value, (list, tuple)) else 1

    def recursive_size(value):
        return 1 + sum(map(recursive_size, value)) if isinstance(value, (list, tuple)) else 1

    assert fold(tree, depth) == recursive_depth(tree)
    assert fold(tree, size) == recursive_size(tree)


def test_pretty_printing_sorts_what_has_no_order():
    assert fold({"b": [1, (2,)], "a": {3, 1}}, pretty) == "dict(item('a', set(1, 3)), item('b', list(1, tuple(2))))"


def test_levels_keep_their_kind_tag_and_payload():
    kinds = []
    fold([{1}, ()], lambda level: kinds.append((type(level), level.tag, bytes(level.payload))) or len(kinds))
    assert kinds == [
        (EmptyDeconstruction, "leaf", b"1"),
        (OrderInsensitiveDeconstruction, "set", b""),
        (Deconstruction, "tuple", b""),
        (Deconstruction, "list", b""),
    ]


def test_shared_object_is_collapsed_once_and_counts_twice():
    shared = [1]
    calls = []
    assert fold([shared, shared, shared], lambda level: calls.append(level.tag) or size(level)) == 7
    assert calls.count("list") == 2


def test_doubling_by_sharing_is_linear():
    value = [0]
    for _ in range(200):
        value = [value, value]
    assert fold(value, size) == 3 * 2**200 - 1
    assert stable_fingerprinter(value) == stable_fingerprinter.reference(value)


def test_piece_that_is_a_deconstruction_is_taken_as_it_is():
    level = Deconstruction("made", pieces=(EmptyDeconstruction("leaf", b"x"), [1]))
    assert fold([level], pretty) == "list(made(x, list(1)))"


def test_objects_made_on_the_way_are_kept_apart():
    class Endless:
        def __init__(self, left):
            self.left = left

    def expand(value):
        # Every piece is a new object, and all of them would like to live at the same address.
        if value.left == 0:
            return EmptyDeconstruction("end")
        return Deconstruction(str(value.left), pieces=(Endless(value.left - 1), Endless(value.left - 1)))

    assert catabolize(Endless(10), deconstruct=expand, collapse=size) == 2**11 - 1


@pytest.mark.parametrize("make", [lambda inner: [inner], lambda inner: (inner,), lambda inner: {"k": inner}])
def test_hundred_thousand_levels_do_not_overflow(make):
    value = 0
    for _ in range(100_000):
        value = make(value)
    assert fold(value, depth) >= 100_001
    assert stable_fingerprinter(value) == stable_fingerprinter.reference(value)


def test_cycle_is_an_error_unless_allowed():
    value = []
    value.append(value)
    with pytest.raises(ValueError, match="a list contains itself"):
        fold(value, size)
    assert fold(value, size, allow_cycles=True) == 2
    with pytest.raises(ValueError, match="contains itself"):
        make_fingerprinter(allow_cycles=False)(value)


def test_back_reference_tells_the_relative_depth():
    value = [[[]], 1]
    value[0][0].append(value)
    found = []
    fold(value, lambda level: found.append((level.tag, bytes(level.payload))) or 0, allow_cycles=True)
    assert ("back-reference", (3).to_bytes(8, "little")) in found


def ring(*names):
    """Objects that refer to each other in a circle, as [name, next]."""
    members = [[name] for name in names]
    for member, following in zip(members, members[1:] + members[:1], strict=True):
        member.append(following)
    return members


def test_equal_cycles_are_equal_and_different_ones_differ():
    assert stable_fingerprinter(ring("a", "b")[0]) == stable_fingerprinter(ring("a", "b")[0])
    variants = [ring("a", "b")[0], ring("a", "b")[1], ring("a", "c")[0], ring("a", "b", "a")[0], ring("a")[0]]
    assert len({stable_fingerprinter(variant) for variant in variants}) == len(variants)


def test_member_of_a_cycle_counts_the_same_whatever_was_seen_before():
    first, second = ring("a", "b")
    twin = ring("a", "b")[1]
    assert stable_fingerprinter([first, second]) == stable_fingerprinter([first, twin])
    assert stable_fingerprinter([second, first, second]) == stable_fingerprinter([twin, ring("a", "b")[0], second])


@given(st.data())
def test_sharing_never_counts_in_cyclic_graphs(data):
    """Every object of the graph is fingerprinted as an entry of its own; sharing entries between roots changes
    nothing.
    """
    count = data.draw(st.integers(1, 5))

    def build():
        nodes = [[index] for index in range(count)]
        for node, targets in zip(nodes, edges, strict=True):
            node.extend(nodes[target] for target in targets)
        return nodes

    edges = [data.draw(st.lists(st.integers(0, count - 1), max_size=3)) for _ in range(count)]
    order = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=6))
    shared = build()
    assert stable_fingerprinter([shared[index] for index in order]) == stable_fingerprinter(
        [build()[index] for index in order]
    )


def test_result_of_a_cyclic_object_is_kept_for_the_next_time():
    first, _ = ring("a", "b")
    calls = []
    fold([first] * 100, lambda level: calls.append(level) or 0, allow_cycles=True)
    assert len(calls) < 20


def test_long_ring_is_linear():
    members = ring(*range(20_000))
    assert stable_fingerprinter(members[0]) == stable_fingerprinter(ring(*range(20_000))[0])


def test_doubly_linked_list_is_linear():
    nodes = [[index, None, None] for index in range(20_000)]
    for left, right in itertools.pairwise(nodes):
        left[2], right[1] = right, left
    assert len(stable_fingerprinter(nodes[0])) == 40


def test_entangled_cycles_end_with_an_error_and_not_never(monkeypatch):
    monkeypatch.setattr(traversal, "CYCLIC_VISITS_LIMIT", 10_000)
    nodes = [[] for _ in range(30)]
    for node in nodes:
        node.extend(nodes)
    with pytest.raises(ValueError, match="too many paths through a cyclic part"):
        stable_fingerprinter(nodes)


def test_results_that_cannot_be_compared_are_an_error():
    with pytest.raises(TypeError):
        fold({1, 2}, lambda level: object())


def test_error_of_a_rule_passes_through():
    def refuse(value):
        raise KeyError(value)

    fingerprinter = make_fingerprinter(make_deconstructor({complex: refuse}))
    for one in (fingerprinter, fingerprinter.reference):
        with pytest.raises(KeyError):
            one([1, {"a": (2, 3j)}])


def test_interrupt_stops_a_long_traversal():
    def interrupt(value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_fingerprinter(make_deconstructor({complex: interrupt}))([1j])


def test_shared_leaf_of_an_infinite_kind_is_one_object():
    assert stable_fingerprinter([math.nan] * 3) == stable_fingerprinter([float("nan") for _ in range(3)])
