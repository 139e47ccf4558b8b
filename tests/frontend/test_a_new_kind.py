"""A staged kind is one class and its rules: what is defined here, and nothing else, gives kernels a new kind of value.

It has two components that are scalars, as a small vector has. The functions that make one are borrowed from the table of
intrinsics; everything else goes through the protocol of `Staged` and `Place`, and rules that are registered for the class.
"""

import ast

import numpy as np
import pytest
from test_errors import define

import samovar as sv
from samovar.frontend import lower
from samovar.frontend.bindings import copied, first_assigned
from samovar.frontend.messages import write
from samovar.frontend.operators import BINARY, binary, by_components
from samovar.frontend.returns import returned
from samovar.frontend.rules import INTRINSICS, Rule
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.variable import Variable
from samovar.ir import print_kernel, verify
from samovar.language import Options
from samovar.lens import Lens


class Pair(Staged):
    """Two scalars."""

    def __init__(self, x, y):
        self.components = (x, y)

    def describe(self):
        return "a pair"

    def is_elementwise(self):
        return True

    def spread(self, count):
        return self.components

    def fail_to_match(self, stager, counts, node):
        stager.fail_type(node, "a pair goes with pairs and numbers")

    def with_components(self, components):
        return Pair(*components)

    def binary(self, stager, operator, other, node):
        if operator.sign == "@":
            products = [
                binary(stager, BINARY[ast.Mult], one, two, node)
                for one, two in zip(self.components, other.spread(2), strict=True)
            ]
            return binary(stager, BINARY[ast.Add], *products, node)
        return by_components(stager, (self, other), node, lambda one, two: binary(stager, operator, one, two, node))

    def reflected(self, stager, operator, other, node):
        return by_components(stager, (other, self), node, lambda one, two: binary(stager, operator, one, two, node))

    def unary(self, stager, operator, node):
        return Pair(*(component.unary(stager, operator, node) for component in self.components))

    def attribute(self, stager, name, node):
        return self.components["xy".index(name)] if name in ("x", "y") else super().attribute(stager, name, node)

    def subscript(self, stager, index, node):
        return self.components[index.number()]

    def ir_values(self):
        return tuple(value for component in self.components for value in component.ir_values())

    def rebuild(self, values):
        return Pair(*(component.rebuild(values) for component in self.components))

    def specialization_key(self, stager, node):
        return ("pair", *(component.specialization_key(stager, node) for component in self.components))


class PairVariable(Place):
    """A variable that holds a pair."""

    def __init__(self, variables):
        self.variables = variables

    def describe(self):
        return "a pair"

    def locals(self):
        return tuple(each.local for each in self.variables)

    def load(self, stager):
        return Pair(*(each.load(stager) for each in self.variables))

    def store(self, stager, value, node):
        for variable, component in zip(self.variables, value.spread(2), strict=True):
            variable.store_value(stager, component.as_stored(stager, variable.type, node))

    def element(self, stager, index, node):
        return self.variables[index.number()]

    def member(self, stager, name, node):
        return self.variables["xy".index(name)]


@returned.register(Pair)
def return_pair(value, stager, declared, node):
    return value.with_components(tuple(Scalar(each.scalar(stager, node)) for each in value.components))


@first_assigned.register(Pair)
def first_pair(value, stager, target, annotated):
    hint = stager.hints.get(target.id)
    place = hint if isinstance(hint, PairVariable) else variable_for(value, stager, target.id)
    place.store(stager, value, target)
    return place


@copied.register(Pair)
def copy_pair(value, stager, name):
    place = variable_for(value, stager, name)
    place.store(stager, value, None)
    return place


def variable_for(value, stager, name):
    types = [component.type(stager, None) for component in value.components]
    return PairVariable(
        [Variable(stager.new_local(f"{name}_{axis}", dtype)) for axis, dtype in zip("xy", types, strict=True)]
    )


@write.register(Pair)
def write_pair(value, message, node, conversion, form):
    for component in value.components:
        write(component, message, node, conversion, form)


def make_pair(stager, call):
    return Pair(*(Scalar(value.scalar(stager, call.node)) for value in call.values))


pair = sv.math.hypot


@pytest.fixture(autouse=True)
def pairs(monkeypatch):
    for name in ("samovar.hypot", "samovar.math.hypot"):
        monkeypatch.setitem(INTRINSICS, name, Rule(make_pair, "x y"))


@sv.func
def turned(p):
    return pair(-p.y, p.x)


@sv.func
def move(p: sv.template(), by):
    p += by
    p.x = p.x * 2.0


@sv.kernel
def everything(a: sv.types.NDArray[sv.f32, 1]):
    for i in a:
        p = pair(a[i], 1.0)
        q = 2.0 * p + pair(1.0, 3.0) - 1
        for _ in range(3):
            p = turned(p) + q
        move(q, p)
        if a[i] > 0:
            r = p - q
        else:
            r = sv.sqrt(abs(q))
        r[1] = 5.0
        best = max(r, p) if a[i] < 5 else -p
        print(best)
        a[i] = best @ q + r.y


def lowered(kernel):
    lens = Lens(kernel.__wrapped__, {"a": np.zeros(3, np.float32)}, kernel.state.signature, Options())
    return lower(lens).kernel


def expected(x):
    p = np.array([x, 1.0])
    q = 2 * p + [1, 3] - 1
    for _ in range(3):
        p = np.array([-p[1], p[0]]) + q
    q = (q + p) * [2, 1]
    r = p - q if x > 0 else np.sqrt(np.abs(q))
    r[1] = 5
    best = np.maximum(r, p) if x < 5 else -p
    return best @ q + r[1]


def test_one_class_is_a_kind_of_value(capfd):
    a = np.array([1, -2.5, 6, 0], np.float32)
    wanted = [expected(float(x)) for x in a]
    everything(a)
    sv.sync()
    np.testing.assert_allclose(a, wanted, rtol=1e-5)
    assert len(capfd.readouterr().out.splitlines()) == 4


def test_its_variables_are_locals():
    kernel = lowered(everything)
    verify(kernel)
    text = print_kernel(kernel)
    assert "$p_x" in text
    assert "$r_y" in text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    p.z\n", "`p` is a pair and has no attribute `z`"),
        ("    p()\n", "a pair cannot be called"),
        ("    for i in p:\n        pass\n", "cannot loop over a pair"),
        ("    a[0] = p\n", "expected a number, got a pair"),
        ("    x = sv.static(len(p))\n", "a pair is not a compile-time sequence"),
        ("    x = f'{p}'\n", "cannot contain a pair"),
        ("    p < p\n", "expected a number, got a pair"),
    ],
)
def test_what_it_has_no_rule_for_is_refused_by_its_name(body, words):
    k = define(
        f"@sv.kernel\ndef k(a: sv.types.NDArray[sv.f32, 1]):\n    p = pair(1.0, 2.0)\n{body}", pair=pair
    )
    with pytest.raises(sv.SamovarError) as caught:
        lowered(k)
    assert words in str(caught.value)
