"""A decision tree that takes over what another one knows."""

from hypothesis import given
from hypothesis import strategies as st

from samovar.lens.answers import same_answer
from samovar.lens.decision_tree import Tree
from samovar.lens.path import Path
from samovar.lens.trace import Trace

KERNEL = Path(None, "kernel", "k")


def trace_of(answers):
    """What a compile would ask that goes on with the next name as long as the answer is true."""
    trace = Trace()
    for number, answer in enumerate(answers):
        trace.record(Path(KERNEL, "global", f"name{number}"), "value", answer)
        if not answer:
            break
    return trace


def tree_of(all_answers):
    tree = Tree()
    for answers in all_answers:
        trace = trace_of(answers)
        tree.add(trace, repr(trace), tuple(asked.path for asked in trace))
    return tree


def known(tree):
    """What a tree says, without the numbers that it says it with."""
    found = {}
    for steps, (key, sources, _, _) in tree.leaves():
        trace = tree.trace(steps)
        found[key] = [(str(tree.paths.path(source))) for source in sources], list(trace)
    return found


simple = st.sampled_from([0, 1, True, 1.0, 2, "one"])
worlds = st.lists(st.lists(simple, min_size=3, max_size=3), max_size=8)


@given(worlds, worlds)
def test_both_are_known_afterwards(ours, theirs):
    tree = tree_of(ours)
    tree.adopt(tree_of(theirs))
    assert known(tree) == known(tree_of([*ours, *theirs]))


@given(worlds, worlds)
def test_only_what_is_wanted_is_taken_over(ours, theirs):
    tree, other = tree_of(ours), tree_of(theirs)
    wanted = {key for number, key in enumerate(sorted(known(other))) if number % 2}
    before = known(tree)
    tree.adopt(other, wanted.__contains__)
    assert set(known(tree)) == set(before) | wanted


def test_answers_that_are_equal_and_not_the_same_stay_apart():
    tree = tree_of([[1, 0, 0]])
    tree.adopt(tree_of([[True, 0, 0], [1.0, 0, 0]]))
    answers = [steps[0][2] for steps, _ in tree.leaves()]
    assert all(map(same_answer, answers, [1, True, 1.0]))
