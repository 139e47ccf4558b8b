"""Schemas of plain data, and digests of ways through decision trees."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samovar._native import matches_schema, named_fields, tree_path_digest
from samovar.lens import Path, PathTable

ATOMS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.integers(-(2**80), 2**80) | st.floats()
    | st.text(max_size=3) | st.binary(max_size=3)
)  # fmt: skip
PLAIN = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=3).map(tuple) | st.lists(inner, max_size=3), max_leaves=8)
SCHEMAS = st.recursive(
    st.sampled_from("NBFJISY*"),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda forms: f"({''.join(forms)})")
        | st.lists(inner, max_size=3).map(lambda forms: f"[{''.join(forms)}]")
        | inner.map(lambda schema: f"{{{schema}}}")
        | inner.map(lambda schema: f"<{schema}>")
        | inner.map(lambda schema: f"?{schema}")
    ),
    max_leaves=8,
)


def parse(schema, at):
    """A function that says whether a value has the schema at a place, and where that ends."""
    sign = schema[at]
    is_whole = lambda value: type(value) is int and -(2**63) <= value < 2**63  # noqa: E731
    simple = {
        "N": lambda value: value is None,
        "B": lambda value: type(value) is bool,
        "F": lambda value: type(value) is float or is_whole(value),
        "J": is_whole,
        "I": lambda value: is_whole(value) and 0 <= value < 2**63 - 1,
        "S": lambda value: type(value) is str,
        "Y": lambda value: type(value) is bytes,
        "*": lambda value: True,
    }
    if sign in simple:
        return simple[sign], at + 1
    if sign == "?":
        inner, end = parse(schema, at + 1)
        return lambda value: value is None or inner(value), end
    kind = tuple if sign in "({" else list
    if sign in "{<":
        inner, end = parse(schema, at + 1)
        return lambda value: type(value) is kind and all(map(inner, value)), end + 1
    parts, at = [], at + 1
    while schema[at] not in ")]":
        part, at = parse(schema, at)
        parts.append(part)

    def fits(value):
        return type(value) is kind and len(value) == len(parts) and all(f(v) for f, v in zip(parts, value, strict=True))

    return fits, at + 1


@given(PLAIN, SCHEMAS)
def test_forms_mean_what_they_say(value, schema):
    expected, end = parse(schema, 0)
    assert end == len(schema)
    assert matches_schema(value, schema) == expected(value)


@pytest.mark.parametrize(
    ("value", "fits"),
    [
        (1, True), ((), True), ((1, ("a", None)), True), ([], False), ((1, []), False), (..., False), ((1, ...), False),
        ((..., "path", 1), True), ((..., "path", 2), False), ((..., "path", -1), False), ((..., "path", True), False),
        ((..., "dtype", "f32"), True), ((..., "dtype", "Ndarray"), False), ((..., "kind", "TENSOR"), True),
        ((..., "kind", 5), False), ((..., "other", "x"), False), ((...,), False), ((..., "path"), False),
        ((..., "enum", "m.C", "A", (1, 2), "value", 0), True), ((..., "enum", "m.C", "A", [1], "value", 0), False),
        ((..., "enum", "m.C"), False), ((..., "path", 10**30), False),
    ],
)  # fmt: skip
def test_answers(value, fits):
    assert matches_schema(value, "A", 2) == fits


ROWS = [(-1, "parameter", "a"), (0, "attribute", "x"), (-1, "overlap", (((..., "path", 1),), ()))]


@pytest.mark.parametrize(
    ("rows", "root", "fits"),
    [
        ([], None, True),
        (ROWS, None, True),
        (ROWS, [[(2, "value", 1)], ("key", (0, 1), 3, None)], True),
        (ROWS, [[], [1, "kind", [[1, [[], ("key", (), 0, b"content")]], [2, [[], ("key", (), 0, None)]]]]], True),
        ([(0, "parameter", "a")], None, False),  # a path below itself
        ([(-1, "overlap", (((..., "path", 0),), ()))], None, False),  # a key with itself in it
        ([(1, "attribute", "x"), (-1, "parameter", "a")], None, False),
        ((), None, False),
        (ROWS, [[(3, "value", 1)], ("key", (), 0, None)], False),
        (ROWS, [[(0, "value", 1)], ("key", (3,), 0, None)], False),
        (ROWS, [[(0, "value", 1)], ("key", (), -1, None)], False),
        (ROWS, [((0, "value", 1),), ("key", (), 0, None)], False),
        (ROWS, ([(0, "value", 1)], ("key", (), 0, None)), False),
        (ROWS, [[(0, "value", 1)], ["key", (), 0, None]], False),
        (ROWS, [[(0, "value", [])], ("key", (), 0, None)], False),
        (ROWS, [[], [1, "kind", ((1, [[], ("key", (), 0, None)]),)]], False),
        (ROWS, [[], ("key", (), 0, "text")], False),
    ],
)
def test_trees(rows, root, fits):
    assert matches_schema((rows, root), "T") == fits


def test_fields_have_the_forms_of_their_names():
    assert named_fields((("n", 1), ("other", [])), {"n": "I", "missing": "S"}) == {"n": 1, "other": []}
    for pairs in ([("n", 1)], (("n",),), (["n", 1],), ((1, 1),), (("n", -1),), 5, None):
        assert named_fields(pairs, {"n": "I"}) is None
    with pytest.raises(TypeError):
        named_fields((), ())


# --- ways


def random_way(random):
    """Paths, some below others and some with others in their keys, and answers about them."""
    paths = [Path(None, "parameter", name) for name in "abc"]
    for _ in range(8):
        key = random.choice(["x", "y", 1, 2.5, (random.choice(paths), "z"), ((random.choice(paths),), ())])
        paths.append(Path(random.choice([None, *paths]), random.choice(["attribute", "item", "call"]), key))
    answers = [1, "one", None, (1, 2.0), True, b"b", ("n", ("m",)), 10**30, "\ud800", 1j]
    steps = [
        (random.choice(paths), random.choice(["value", "kind"]), random.choice([*answers, random.choice(paths)]))
        for _ in range(10)
    ]
    steps.append((paths[0], "source", (3, "lines", "tree")))
    return steps, [random.choice(paths) for _ in range(4)]


def digest_in(table, steps, sources):
    encoded = [(table.number(path), question, table.encoded(answer)) for path, question, answer in steps]
    return tree_path_digest("tree", table.rows, encoded, tuple(map(table.number, sources)))


@pytest.mark.parametrize("seed", range(50))
def test_a_way_is_the_same_in_every_tree_and_differs_from_all_others(seed):
    random = Random(seed)
    steps, sources = random_way(random)
    expected = digest_in(PathTable([]), steps, sources)
    crowded = PathTable([])
    for path, _, _ in random_way(random)[0] + steps[::-1]:
        crowded.number(path)
    assert digest_in(crowded, steps, sources) == expected
    reread = [*steps[:-1], (steps[-1][0], "source", (4, "other lines", "tree"))]
    assert digest_in(PathTable([]), reread, sources) == expected  # the meaning of a text counts
    for place in range(len(steps) - 1):
        path, question, answer = steps[place]
        elsewhere = Path(None, "parameter", "d")
        for other in ((path, question, "another"), (path, "length", answer), (elsewhere, question, answer)):
            assert digest_in(PathTable([]), [*steps[:place], other, *steps[place + 1 :]], sources) != expected
    assert digest_in(PathTable([]), steps[:-2] + steps[-1:], sources) != expected
    assert digest_in(PathTable([]), steps, sources[:-1]) != expected
    assert digest_in(PathTable([]), steps, [*sources[:-1], Path(None, "parameter", "e")]) != expected
    table = PathTable([])
    encoded = [(table.number(path), question, table.encoded(answer)) for path, question, answer in steps]
    numbers = tuple(map(table.number, sources))
    assert tree_path_digest("other tree", table.rows, encoded, numbers) != expected


@pytest.mark.parametrize(
    ("rows", "steps", "sources"),
    [
        ([], [(0, "value", 1)], ()), ([()], [(0, "value", 1)], ()), ([(0, "a", "b")], [(0, "value", 1)], ()),
        ([(-1, "a", (..., "path", 0))], [(0, "value", 1)], ()), ([(-1, "a", (..., "path", 9))], [(0, "value", 1)], ()),
        (ROWS, [(0, "value")], ()), (ROWS, [(0, 5, 1)], ()), (ROWS, [(0, "source", "text")], ()),
        (ROWS, [(-1, "value", 1)], ()),
        (ROWS, [(0, "value", [])], ()), (ROWS, [], (3,)), (ROWS, [], ("a",)), (ROWS, [(10**30, "value", 1)], ()),
        (ROWS, [5], ()),
    ],
)  # fmt: skip
def test_what_is_no_way_is_refused(rows, steps, sources):
    with pytest.raises((ValueError, RecursionError)):
        tree_path_digest("tree", rows, steps, sources)
