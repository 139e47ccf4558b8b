"""The fold: any reduction, any depth, shared objects and cycles."""

from __future__ import annotations

import gc
import itertools
import math
import pickle
import sys
import weakref

import pytest
from fingerprint_specimens import Named, Plain
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


def test_without_memo_a_shared_object_is_taken_apart_each_time():
    shared = [1]
    taken_apart = []

    def count(value):
        taken_apart.append(value)
        return deconstruct(value)

    for memoize, times in ((True, 1), (False, 3)):
        taken_apart.clear()
        assert catabolize([shared] * 3, deconstruct=count, collapse=size, memoize=memoize) == 7
        assert sum(value is shared for value in taken_apart) == times


def test_without_memo_fingerprints_are_the_same():
    shared = {"a": [1, Named(x=2)], "b": (3,)}
    values = [[shared, shared, [shared]], ring("a", "b")[0], [ring("a", "b"), ring("c")[0]], Plain(a=shared, b=shared)]
    for allow_cycles in (True, False):
        fingerprinter = make_fingerprinter(memoize=False, allow_cycles=allow_cycles)
        for value in values if allow_cycles else (values[0], values[3]):
            assert fingerprinter(value) == fingerprinter.reference(value) == stable_fingerprinter(value)
    with pytest.raises(ValueError, match="contains itself"):
        make_fingerprinter(memoize=False, allow_cycles=False)(values[1])


def test_without_memo_a_rule_is_asked_for_every_occurrence_natively_too():
    asked = []

    def rule(value):
        asked.append(value)
        return EmptyDeconstruction("point", repr(value).encode())

    point = 1 + 2j
    for memoize, times in ((True, 1), (False, 5)):
        asked.clear()
        fingerprinter = make_fingerprinter(make_deconstructor({complex: rule}), memoize=memoize)
        fingerprinter([point, [point, point], {"a": point, "b": (point,)}])
        assert len(asked) == times


def test_without_memo_nothing_is_held_but_what_is_open():
    class Made:
        pass

    alive = weakref.WeakSet()
    counts = []

    def make(value):
        made = Made()
        alive.add(made)
        return Deconstruction("making", pieces=(made,))

    def count(made):
        counts.append(len(alive))
        return EmptyDeconstruction("made")

    rules = make_deconstructor({complex: make, Made: count})
    values = [complex(index) for index in range(100)]
    for memoize, most in ((True, 100), (False, 1)):
        for native in (True, False):
            counts.clear()
            fingerprinter = make_fingerprinter(rules, memoize=memoize)
            (fingerprinter if native else fingerprinter.reference)(values)
            gc.collect()
            assert max(counts) == most


def test_without_memo_many_open_objects_are_told_apart():
    value = 0
    for index in range(5000):
        value = [value, (index, [2])]
    fingerprinter = make_fingerprinter(memoize=False)
    assert fingerprinter(value) == stable_fingerprinter(value)


def test_option_survives_pickling():
    again = pickle.loads(pickle.dumps(make_fingerprinter(memoize=False)))
    assert (again.memoize, again.allow_cycles) == (False, True)


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


def test_hundred_thousand_levels_do_not_overflow():
    value = 0
    for _ in range(33_334):
        value = [({"k": value},)]
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


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs notes on exceptions")
def test_error_of_a_rule_or_a_property_tells_the_path_in_a_note():
    class Broken:
        @property
        def width(self):
            raise LookupError("no width")

    def refuse(value):
        return value.width

    fingerprinter = make_fingerprinter(make_deconstructor({Broken: refuse}))
    for one in (fingerprinter, fingerprinter.reference):
        with pytest.raises(LookupError, match="no width") as caught:
            one({"steps": [1, Plain(size=Broken())]})
        assert caught.value.__notes__ == ["while fingerprinting ['steps'][1].size"]
    value = [[]]
    value[0].append(value)
    with pytest.raises(ValueError) as caught:
        make_fingerprinter(allow_cycles=False)(value)
    assert caught.value.__notes__ == ["while fingerprinting [0][0]"]


def test_path_of_an_object_that_was_made_on_the_way_is_told():
    class Making:
        def __reduce__(self):
            return (list, ((index for index in range(3)),))

    with pytest.raises(TypeError, match=r"^\['a'\]\[1\]\.__args__\[0\]: cannot fingerprint an object of type generator"):
        make_fingerprinter(make_deconstructor(lenient=True))({"a": [0, Making()]})


def test_very_long_path_is_shortened_in_the_middle():
    value = lambda: 0  # noqa: E731
    for _ in range(5000):
        value = [value]
    with pytest.raises(TypeError) as caught:
        stable_fingerprinter({"start": value})
    assert str(caught.value).startswith("['start'][0][0]")
    assert len(str(caught.value)) < 1000


def test_interrupt_stops_a_long_traversal():
    def interrupt(value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_fingerprinter(make_deconstructor({complex: interrupt}))([1j])


def test_shared_leaf_of_an_infinite_kind_is_one_object():
    assert stable_fingerprinter([math.nan] * 3) == stable_fingerprinter([float("nan") for _ in range(3)])
