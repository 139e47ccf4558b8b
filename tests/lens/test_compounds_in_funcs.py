"""Compounds as arguments of funcs: from kernels and funcs, by position and keyword, in chains, typed or not."""

import dataclasses

import numpy as np
import pytest

import samovar as sv


@dataclasses.dataclass
class Leaf:
    a: object
    k: float = 1.0


@dataclasses.dataclass
class Branch:
    leaf: Leaf
    other: Leaf
    n: int = 2


@dataclasses.dataclass
class Tree:
    branch: Branch
    out: object


def tree(length=4):
    make = lambda value, k: Leaf(np.full(length, value, np.float32), k)  # noqa: E731
    return Tree(Branch(make(1, 2.0), make(10, 3.0)), np.zeros(length, np.float32))


@sv.func
def typed(leaf: Leaf, i: sv.i32) -> sv.f32:
    return leaf.a[i] * leaf.k


@sv.func
def untyped(leaf, i):
    return leaf.a[i] * leaf.k


@sv.func
def templated(leaf: sv.template(), i):
    return leaf.a[i] * leaf.k


@sv.func
def chained(branch: Branch, i):
    return typed(branch.leaf, i) + untyped(leaf=branch.other, i=i)


@sv.func
def from_the_root(tree, i):
    return chained(tree.branch, i) + templated(i=i, leaf=tree.branch.leaf)


@sv.func
def both(one: Leaf, two: Leaf, i):
    return one.a[i] - two.a[i] * two.k


@sv.func
def write(target: sv.template(), leaf: Leaf, i):
    target[i] += leaf.a[i]
    leaf.a[i] = 0.0


def run(kernel, expected):
    t = tree()
    for _ in range(2):
        t.out[...] = 0
        kernel(t)
        assert t.out.tolist() == [expected] * 4
    return t


@pytest.mark.parametrize("func", [typed, untyped, templated])
def test_a_leaf_by_position_and_by_keyword(func):
    @sv.kernel
    def kernel(t: Tree):
        for i in t.out:
            t.out[i] = func(t.branch.leaf, i) + func(i=i, leaf=t.branch.other)

    run(kernel, 32)


def test_chains_of_funcs():
    @sv.kernel
    def kernel(t: Tree):
        for i in t.out:
            t.out[i] = from_the_root(t, i)

    run(kernel, 34)


def test_several_at_once_and_the_same_twice():
    @sv.kernel
    def kernel(t: Tree):
        for i in t.out:
            t.out[i] = both(t.branch.leaf, t.branch.other, i) + both(t.branch.other, two=t.branch.other, i=i)

    run(kernel, 1 - 30 + 10 - 30)


def test_a_func_that_writes():
    @sv.kernel
    def kernel(t: Tree):
        for i in t.out:
            write(t.out, t.branch.leaf, i)
            write(t.out, leaf=t.branch.other, i=i)

    t = tree()
    kernel(t)
    assert t.out.tolist() == [11] * 4
    assert t.branch.leaf.a.tolist() == t.branch.other.a.tolist() == [0] * 4


def test_a_func_with_loops_at_the_top_level():
    @sv.func
    def fill(leaf: Leaf, out):
        for i in out:
            out[i] += leaf.a[i] * leaf.k

    @sv.kernel
    def kernel(t: Tree):
        fill(t.branch.leaf, t.out)
        fill(out=t.out, leaf=t.branch.other)

    run(kernel, 32)


def test_a_compound_under_a_local_name():
    @sv.kernel
    def kernel(t: Tree):
        branch = t.branch
        for i in t.out:
            leaf = branch.leaf
            t.out[i] = typed(leaf, i) + branch.n

    run(kernel, 4)


def test_numbers_that_change_reach_funcs_without_new_code():
    @sv.kernel
    def kernel(t: Tree):
        for i in t.out:
            t.out[i] = chained(t.branch, i)

    t = run(kernel, 32)
    before = len(kernel.specializations)
    t.branch.leaf.k = 5.0
    kernel(t)
    assert t.out.tolist() == [35] * 4
    assert len(kernel.specializations) == before


@sv.data_oriented
class Owner:
    def __init__(self):
        self.tree = tree()
        self.factor = 2.0

    @sv.func
    def scaled(self, leaf: Leaf, i):
        return typed(leaf, i) * self.factor

    @sv.func
    def own(self, i):
        return self.scaled(self.tree.branch.leaf, i) + self.scaled(leaf=self.tree.branch.other, i=i)

    @sv.kernel
    def direct(self):
        for i in self.tree.out:
            self.tree.out[i] = typed(self.tree.branch.leaf, i) + chained(branch=self.tree.branch, i=i)

    @sv.kernel
    def through_methods(self):
        for i in self.tree.out:
            self.tree.out[i] = self.own(i)

    @sv.kernel
    def passes_itself(self):
        for i in self.tree.out:
            self.tree.out[i] = reads_owner(self, i)


@sv.func
def reads_owner(owner: sv.template(), i):
    return owner.scaled(owner.tree.branch.leaf, i) + owner.factor


def test_members_of_self_go_to_funcs():
    owner = Owner()
    owner.direct()
    assert owner.tree.out.tolist() == [34] * 4
    owner.through_methods()
    assert owner.tree.out.tolist() == [64] * 4
    owner.passes_itself()
    assert owner.tree.out.tolist() == [6] * 4
    owner.factor = 3.0
    owner.passes_itself()
    assert owner.tree.out.tolist() == [9] * 4


def test_self_under_two_names_does_not_overlap_itself():
    """A method gets the object that it is bound to: its arrays are the arguments that the kernel has already."""
    owner = Owner()
    owner.through_methods()
    lines = Owner.through_methods.inspect("arguments").splitlines()[1:]
    assert sorted(line.split()[0] for line in lines) == [
        "self.tree.branch.leaf.a",
        "self.tree.branch.leaf.k",
        "self.tree.branch.other.a",
        "self.tree.branch.other.k",
        "self.tree.out",
    ]


def test_a_func_is_lowered_once_for_the_same_member():
    @sv.func
    def long(leaf: Leaf, i):
        x = 0.0
        for k in range(i + 3):
            x += leaf.a[i] / (k + 1)
        return x

    @sv.kernel
    def kernel(t: Tree):
        for i in t.out:
            t.out[i] = long(t.branch.leaf, i) + long(t.branch.leaf, i + 1) + long(t.branch.other, i)

    from samovar.frontend import lower
    from samovar.lens import Lens
    from samovar.runtime import configuration

    lens = Lens(kernel.__wrapped__, {"t": tree(8)}, kernel.state.signature, configuration.current_options())
    assert [function.name for function in lower(lens).kernel.functions] == ["long", "long_1"]


@pytest.mark.parametrize("wrong", ["t.branch", "t.out", "3.0"])
def test_another_type_for_a_typed_parameter_is_refused(wrong):


    @sv.kernel
    def branch(t: Tree):
        t.out[0] = typed(t.branch, 0)

    @sv.kernel
    def array(t: Tree):
        t.out[0] = typed(t.out, 0)

    @sv.kernel
    def number(t: Tree):
        t.out[0] = typed(3.0, 0)

    kernels = {"t.branch": branch, "t.out": array, "3.0": number}
    with pytest.raises(sv.SamovarTypeError, match=r"`leaf` of `typed` must be a .*Leaf"):
        kernels[wrong](tree())


def test_a_derived_class_for_a_typed_parameter():
    @dataclasses.dataclass
    class More(Leaf):
        extra: float = 7.0

    @sv.kernel
    def kernel(t: Tree):
        for i in t.out:
            t.out[i] = typed(t.branch.leaf, i)

    t = tree()
    t.branch.leaf = More(t.branch.leaf.a, 6.0)
    kernel(t)
    assert t.out.tolist() == [6] * 4


def test_lists_go_to_funcs_and_only_what_is_read_is_an_argument():
    @sv.func
    def second(values):
        return values[1][0]

    @sv.kernel
    def kernel(t: sv.Template) -> sv.f32:
        return second(t.lists)

    class Holder:
        pass

    holder = Holder()
    holder.lists = [np.zeros(1, np.float32), np.full(1, 4, np.float32), object()]
    assert kernel(holder) == 4
    assert [line.split()[0] for line in kernel.inspect("arguments", holder).splitlines()[1:]] == ["t.lists[1]"]
