"""Decision trees: what was added is found, texts with one meaning are one answer, and the oldest goes."""

import pytest

from samovar.lens.decision_tree import MOST_CONTENT, MOST_LEAVES, Tree
from samovar.lens.path import Path
from samovar.lens.trace import Trace

KERNEL, N = Path(None, "kernel", "k"), Path(Path(None, "kernel", "k"), "global", "N")


def trace(value, lines="lines", tree="tree"):
    found = Trace()
    found.record(KERNEL, "function", ("code",))
    found.record(KERNEL, "source", (3, lines, tree))
    found.record(N, "value", value)
    found.record(N, "after", value)
    return found


def keys(tree):
    return [end[0] for _, end in tree.leaves()]


def test_leaves_come_in_the_order_in_which_they_were_added():
    tree = Tree()
    for value in (3, 1, 2, 1):
        tree.add(trace(value), f"key{value}", (N,))
    assert keys(tree) == ["key3", "key2", "key1"]


def test_a_tree_keeps_the_newest_leaves():
    tree = Tree()
    for value in range(MOST_LEAVES + 10):
        tree.add(trace(value), str(value), (N,))
    found = keys(tree)
    assert found[-1] == str(MOST_LEAVES + 9)
    assert MOST_LEAVES // 2 <= len(found) <= MOST_LEAVES
    assert found == [str(value) for value in range(MOST_LEAVES + 10)][-len(found) :]


def test_texts_with_the_same_syntax_tree_are_one_answer_and_the_newer_lines_stay():
    tree = Tree()
    tree.add(trace(1, "old", "same"), "one", (N,))
    tree.add(trace(2, "new", "same"), "two", (N,))
    assert tree.root[1][1] == "value"  # where the tree forks
    assert (3, "new", "same") in [encoded for _, _, encoded in tree.root[0]]
    tree.add(trace(1, "new", "other"), "three", (N,))
    assert tree.root[1][1] == "source"
    assert sorted(keys(tree)) == ["one", "three", "two"]


def test_a_tree_checks_itself():
    tree = Tree()
    tree.add(trace(1), "one", (N,))
    tree.add(trace(2), "two", (N,))
    tree.check()
    Tree.of(tree.data()).check()


def test_contents_are_kept_up_to_a_size():
    tree = Tree()
    for value in range(6):
        tree.add(trace(value), str(value), (N,), bytes(MOST_CONTENT // 4))
    contents = [end[3] for _, end in tree.leaves()]
    assert [content is not None for content in contents] == [True] * 4 + [False] * 2
    tree.add(trace(0), "0", (N,), bytes(MOST_CONTENT // 4))
    assert sum(end[3] is not None for _, end in tree.leaves()) == 4
    tree.add(trace(1), "1", (N,))
    tree.add(trace(5), "5", (N,), b"room again")
    assert [end[3] for _, end in tree.leaves() if end[0] == "5"] == [b"room again"]
    tree.check()


def test_contents_are_bytes_and_go_with_their_leaves():
    tree, other = Tree(), Tree()
    tree.add(trace(1), "one", (N,), b"content")
    other.adopt(tree)
    assert [end[3] for _, end in other.leaves()] == [b"content"]
    tree.add(trace(2), "two", (N,), "text")
    with pytest.raises(ValueError, match="bytes"):
        tree.check()
