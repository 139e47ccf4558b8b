"""Structs as values: in kernels, in funcs and in plain Python."""

import copy
import pickle

import numpy as np
import pytest

import samovar as sv

from .source import define

vec2, vec3, mat2 = sv.math.vec2, sv.math.vec3, sv.math.mat2
S = sv.types.struct(a=sv.f32, v=vec3, n=sv.i32)
Inner = sv.types.struct(x=sv.f64, w=vec2)
Outer = sv.types.struct(k=sv.i8, inner=Inner, m=mat2)
SCALE = 3.0


@sv.dataclass
class Body:
    x: vec2
    mass: sv.f64 = 2
    flags: sv.u8 = 1

    @sv.func
    def energy(self, factor=1.0):
        return factor * self.mass * self.x.dot(self.x)

    @sv.func
    def grow(self, by: sv.f64):
        self.mass += by
        self.x.y = 7

    @sv.func
    def grow_twice(self, by: sv.f64):
        self.grow(by)
        self.grow(by)

    @sv.func
    def heavier(self, other):
        result = self
        if other.mass > self.mass:
            result = other
        return result

    @sv.func
    def scaled(self):
        return Body(self.x * SCALE, self.mass * SCALE)

    def text(self):
        return f"{self.mass:.1f} kg"


# --- plain Python


def test_construction_by_position_and_by_name():
    assert S(1, [1, 2, 3], n=4).to_dict() == {"a": 1.0, "v": [1.0, 2.0, 3.0], "n": 4}
    assert S().to_dict() == {"a": 0.0, "v": [0.0, 0.0, 0.0], "n": 0}
    assert S({"a": 2, "v": 1}).to_dict() == {"a": 2.0, "v": [1.0, 1.0, 1.0], "n": 0}
    assert Body().mass == 2
    assert Body().flags == 1
    assert Outer(1, {"x": 2}, [1, 2, 3, 4]).inner.x == 2


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: S(1, 2, 3, 4),
        lambda: S(1, a=2),
        lambda: S(b=1),
        lambda: S(v=[1, 2]),
        lambda: S(a=[1, 2]),
        lambda: Outer(inner=3),
        lambda: sv.types.struct(),
        lambda: sv.types.struct(a="f32"),
        lambda: sv.types.struct(copy=sv.f32),
        lambda: sv.Struct(),
        lambda: sv.Struct(a="text"),
    ],
)
def test_what_does_not_fit_is_a_type_error(wrong):
    with pytest.raises(sv.SamovarTypeError):
        wrong()


def test_members_hold_their_dtypes_and_copies():
    v, s = vec3(1, 2, 3), S()
    s.v = v
    s.v.x = 9
    s.n = 2.75
    assert v.x == 1
    assert s.v.x == 9
    assert s.n == 2
    t = s.copy()
    t.v.y = 5
    assert s.v.y == 2
    assert copy.deepcopy(t) == t
    assert pickle.loads(pickle.dumps(t)) == t
    with pytest.raises(AttributeError, match="its members are a, v, n"):
        s.b = 1


def test_nested_members_are_changed_in_place():
    o = Outer()
    o.inner.w.y = 3
    o.m[1, 0] = 4
    o.inner = Inner(5, o.inner.w)
    assert o.to_dict() == {"k": 0, "inner": {"x": 5.0, "w": [0.0, 3.0]}, "m": [[0, 0], [4, 0]]}


def test_equality_compares_all_members():
    assert S(1, 2) == S(1, [2, 2, 2])
    assert S(1) != S(2)
    assert S(v=1) != S(v=2)
    assert Outer(inner={"x": 1}) != Outer()


def test_methods_run_in_plain_python():
    body = Body([3, 4])
    assert body.energy() == 50
    assert body.text() == "2.0 kg"
    body.grow_twice(1)
    assert (body.mass, body.x.y) == (4, 7)
    assert isinstance(body, Body)
    assert not isinstance(S(), Body)


def test_a_class_with_the_struct_base_is_a_struct_type_with_and_without_the_decorator():
    class Plain(sv.types.StructBase):
        x: sv.f32
        n: sv.i32 = 3

        @sv.func
        def total(self):
            return self.x + self.n

    @sv.dataclass
    class Derived(Plain):
        y: sv.f32

    assert Derived(x=1, y=2).total() == 4
    assert Plain.field(4).shape == (4,)
    assert Derived.keys == ["x", "n", "y"]
    with pytest.raises(sv.SamovarTypeError, match="can only derive from other structs"):

        class Mixed(sv.types.StructBase, dict):
            x: sv.f32


def test_a_struct_derives_from_another_one():
    @sv.dataclass
    class Planet(Body):
        moons: int = 3

    planet = Planet([1, 1])
    assert planet.keys == ["x", "mass", "flags", "moons"]
    assert planet.energy() == 4
    assert planet.moons == 3


def test_types_of_values_are_found_out():
    s = sv.Struct({"a": 1, "b": 2.5}, v=sv.Vector([1, 2]), inner={"t": True})
    assert repr(s) == "struct(a=1, b=2.5, v=[1, 2], inner=struct(t=True))"


# --- kernels


@sv.kernel
def changed(s: S) -> S:
    t = s
    t.a += 1
    t.v.x = t.n
    t.v[1] *= 2.0
    if t.a > 1:
        t.n = 9
    return t


def test_arguments_and_results():
    expected = {"a": 2.0, "v": [4.0, 4.0, 3.0], "n": 9}
    s = S(1, [1, 2, 3], 4)
    for given in (s, s.to_dict(), {"a": np.float32(1), "v": np.array([1, 2, 3], np.float32), "n": 4}):
        result = changed(given)
        assert result.to_dict() == expected
        assert isinstance(result, S)
    assert s.a == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": 1, "v": [1, 2, 3]}, "requires a value for `n`"),
        ({"a": 1, "v": [1, 2, 3], "n": 1, "q": 2}, "has no member 'q'"),
        ({"a": 1, "v": [1, 2], "n": 1}, "has 2 elements"),
        ({"a": 1, "v": [1, 2, 3], "n": 1.5}, "must be an integer"),
        (Inner(), "its members are x, w, not a, v, n"),
        (3, "expected a struct or a dict"),
    ],
)
def test_an_argument_that_does_not_fit(given, message):
    with pytest.raises(sv.SamovarTypeError, match=message):
        changed(given)


def test_nested_members_in_a_kernel():
    @sv.kernel
    def k(o: Outer, i: int) -> Outer:
        p = o
        p.inner.w.x += 1.5
        p.inner.w[i] = 8
        p.m[i, 0] = 3
        inner = p.inner
        inner.x = 100
        p.inner.x += 1
        return p

    o = Outer(1, {"x": 2, "w": [1, 2]}, [1, 2, 3, 4])
    assert k(o, 1).to_dict() == {"k": 1, "inner": {"x": 3.0, "w": [2.5, 8.0]}, "m": [[1, 2], [3, 4]]}


def test_loops_conditions_and_conditional_expressions():
    @sv.kernel
    def k(n: int, flag: int) -> S:
        s = S(1, 0, 0)
        sv.loop_config(serialize=True)
        for i in range(n):
            s.a *= 2
            s = S(s.a, s.v + 1, n=i)
        t = s if flag > 0 else S(n=7)
        if flag > 1:
            u = S(v=vec3(1, 2, 3))
        else:
            u = t
        u.n += 100
        t.v = u.v
        return S(t.a, t.v, u.n)

    assert k(3, 1).to_dict() == {"a": 8.0, "v": [3, 3, 3], "n": 102}
    assert k(3, 0).to_dict() == {"a": 0.0, "v": [0, 0, 0], "n": 107}
    assert k(3, 2).to_dict() == {"a": 8.0, "v": [1, 2, 3], "n": 100}


def test_methods_in_kernels_change_what_they_are_called_on():
    @sv.kernel
    def k(b: Body, out: sv.types.NDArray[sv.f64, 1]) -> Body:
        c = b
        c.grow(1.0)
        out[0] = c.energy()
        d = Body([1, 1], 50)
        d.grow_twice(2.0)
        out[1] = d.mass
        e = c.heavier(d)
        e.mass += 1
        out[2] = d.mass
        out[3] = b.mass
        return e.scaled()

    out = np.zeros(4)
    result = k(Body([3, 4]), out)
    assert out.tolist() == [3.0 * (9 + 49), 54, 54, 2]
    assert result.mass == 55 * 3
    assert result.x.to_list() == [3, 21]
    assert result.text() == "165.0 kg"


def test_a_method_cannot_change_a_parameter_of_the_kernel():
    @sv.kernel
    def k(b: Body) -> sv.f64:
        b.grow(1.0)
        return b.mass

    with pytest.raises(sv.SamovarSyntaxError, match="copy it to a new name first"):
        k(Body())


@sv.func
def by_value(s: S) -> sv.f32:
    s.a += 10
    return s.a


@sv.func
def by_reference(s: sv.template(), v: sv.template()):
    s.a += 10
    v.x = s.a


@sv.func
def both(s):
    return s, S(n=3)


def test_funcs_take_structs_by_value_and_by_reference():
    @sv.kernel
    def k(out: sv.types.NDArray[sv.f32, 1]) -> S:
        s = S(1)
        out[0] = by_value(s)
        out[1] = s.a
        by_reference(s, s.v)
        t, u = both(s)
        t.a += u.n
        out[2] = t.a
        return s

    out = np.zeros(3, np.float32)
    assert k(out).to_dict() == {"a": 11.0, "v": [11.0, 0, 0], "n": 0}
    assert out.tolist() == [11, 1, 14]


def test_several_results_and_values_without_a_type():
    @sv.kernel
    def k(x: sv.f32):
        s = sv.Struct(a=x, v=[x, 2.0], inner=Inner(x))
        s.v[1] = sv.f32(s.inner.x)
        return s, 3, (Inner(2), vec2(1, 2))

    s, n, (inner, v) = k(4.0)
    assert repr(s) == "struct(a=4.0, v=[4.0, 4.0], inner=struct(x=4.0, w=[0.0, 0.0]))"
    assert (n, inner.x, v.to_list()) == (3, 2.0, [1, 2])


def test_what_iterations_share_is_gathered_or_refused():
    @sv.kernel
    def k(n: int) -> S:
        s = S()
        for i in range(n):
            s.a += 1.0
            s.v.y += 2.0
            s.n = max(s.n, i)
        return s

    assert k(1000).to_dict() == {"a": 1000, "v": [0, 2000, 0], "n": 999}
    for body in ("s.a = i", "s.v = vec3(i)", "s = S(i)", "s.change(i)"):
        text = f"@sv.kernel\ndef k(n: int) -> C:\n    s = S()\n    for i in range(n):\n        {body}\n    return s\n"
        with pytest.raises(sv.SamovarSyntaxError, match="the iterations of a parallel loop assign it"):
            define(text, S=C, C=C, vec3=vec3)(3)


@sv.dataclass
class C:
    a: sv.f32
    v: vec3

    @sv.func
    def change(self, i):
        self.a = i

    @staticmethod
    @sv.func
    def make(k):
        return C(k, k)


def test_static_methods():
    @sv.kernel
    def k() -> C:
        return C.make(3)

    assert k() == C.make(3) == C(3, 3) == C(1).make(3)


def test_members_by_names_that_are_known():
    @sv.kernel
    def k(s: S, c: C) -> sv.f32:
        total = 0.0
        for name in sv.static(["a", "n"]):
            total += getattr(s, name) * s[name]
        if hasattr(s, "q") or not hasattr(c, "change"):
            total = -1.0
        return total + len(s.keys) + getattr(s, "q", 100)

    assert k(S(2, n=3), C()) == 4 + 9 + 3 + 100


def test_types_are_compiled_for_ahead():
    @sv.kernel
    def k(s: S, a: sv.types.NDArray[C, 2]) -> sv.f32:
        return s.a + a[0, 0].v.y

    assert k.precompile(S, sv.types.NDArray[C, 2]) == 1
    assert k(S(2), C.ndarray((3, 4))) == 2
    assert k.cache_observations.compiles == 1


def test_equality_in_kernels():
    @sv.kernel
    def k(a: Outer, b: Outer) -> tuple[bool, bool]:
        return a == b, a != b

    assert k(Outer(1), Outer(1)) == (True, False)
    assert k(Outer(1, {"w": [0, 1]}), Outer(1)) == (False, True)
    assert k(Outer(m=2), Outer()) == (False, True)


def test_printing(capfd):
    @sv.kernel
    def k(s: S):
        print(s)
        print(f"{s.v:.1f} {s.n:03d}")

    k(S(0.5, [1, 2, 3], 4))
    assert capfd.readouterr().out == "struct(a=0.5, v=[1.0, 2.0, 3.0], n=4)\n[1.0, 2.0, 3.0] 004\n"


CAPTURED = S(2, [1, 2, 3], 5)


def test_a_captured_struct_is_baked_and_guarded():
    @sv.kernel
    def k() -> sv.f32:
        return CAPTURED.a + CAPTURED.v.y + CAPTURED.n

    assert k() == 9
    CAPTURED.v.y = 10
    assert k() == 17
    CAPTURED.v.y = 2
    assert k() == 9


def test_annotated_locals():
    @sv.kernel
    def k() -> S:
        s: S = S(1)
        s = sv.Struct(a=2.0, v=vec3(1, 1, 1), n=3)
        return s

    assert k().to_dict() == {"a": 2.0, "v": [1, 1, 1], "n": 3}


def test_a_vector_of_a_struct_at_a_run_time_index():
    Long = sv.types.struct(n=sv.i32, values=sv.types.vector(40, sv.f32))

    @sv.kernel
    def k(n: int) -> Long:
        s = Long(n)
        for i in range(40):
            s.values[i] = i * n
        t = s
        t.values[n] = -1
        s.n = int(t.values[n])
        return s

    result = k(3)
    assert result.n == -1
    assert result.values.to_list() == [3.0 * i for i in range(40)]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("s.q = 1", "has no member `q`"),
        ("s = 3", "cannot be assigned a number"),
        ("s = Inner(1)", "does not match"),
        ("s += 1", "expected a number"),
        ("s = s + s", "expected a number"),
        ("s.v = vec2(1, 2)", "shapes do not match"),
        ("t = S(1, 2, 3, 4)", "has 3 members, but 4 values"),
        ("t = S(q=1)", "has no member `q`"),
        ("t = S(v=vec2(1, 2))", "must be a vector of 3"),
        ("t = s < s", "expected a number"),
        ("s.text()", "has no attribute `text`"),
    ],
)
def test_mistakes(body, message):
    text = f"@sv.kernel\ndef k(given: S):\n    s = given\n    s.n = 1\n    {body}\n"
    with pytest.raises(sv.SamovarError, match=message) as caught:
        define(text, S=S, Inner=Inner, vec2=vec2)(S())
    assert "^" in str(caught.value)


Core = sv.types.struct(v=sv.math.vec3, length=sv.f32)
Shell = sv.types.struct(inner=Core, index=sv.i32)


@sv.kernel
def made_of_a_number() -> Shell:
    return Shell(2)


@sv.kernel
def made_by_name() -> Shell:
    return Shell(index=3, inner=[1.0, 2.0, 3.0])


@pytest.mark.parametrize("options", [{}, {"debug": True}, {"arch": "python"}], ids=["cpu", "debug", "python"])
def test_a_struct_inside_is_made_of_its_first_member(options):
    sv.init(nested_structs="first", **options)
    assert made_of_a_number() == Shell(2) == Shell(Core([2, 2, 2], 0), 0)
    assert made_by_name() == Shell(index=3, inner=[1.0, 2.0, 3.0]) == Shell(Core([1, 2, 3]), 3)
    sv.reset()


def test_without_the_option_a_struct_inside_is_a_struct():
    sv.init()
    with pytest.raises(sv.SamovarTypeError, match="`inner` of struct must be a struct"):
        made_of_a_number()


def test_assigning_to_a_struct_inside_takes_a_struct():
    sv.init(nested_structs="first")
    outer = Shell(1)
    with pytest.raises(sv.SamovarTypeError, match="cannot be set to a int"):
        outer.inner = 1


@sv.kernel
def made_of_a_dict(x: sv.f32) -> sv.f32:
    s = sv.Struct({"a": 3, "v": sv.Vector([x, 2.0])}, b={"c": x * 10})
    s.v[1] += s.b.c
    return s.a + s.v[1]


@sv.kernel
def made_of_a_list() -> sv.i32:
    s = sv.Struct([1, 2])
    return s.a


@pytest.mark.parametrize("options", [{}, {"debug": True}, {"arch": "python"}], ids=["cpu", "debug", "python"])
def test_a_struct_of_a_dict(options):
    sv.init(**options)
    assert made_of_a_dict(1.5) == 3 + 2 + 15
    sv.reset()


def test_a_struct_of_a_list_is_refused():
    with pytest.raises(sv.SamovarSyntaxError, match="takes members by name"):
        made_of_a_list()


@sv.dataclass
class OnlyMethods:
    @sv.func
    def twice(self, x):
        return 2 * x


@sv.kernel
def calls_a_method(x: sv.i32) -> sv.i32:
    tools = OnlyMethods()
    return tools.twice(x)


def test_a_struct_of_methods_alone():
    assert calls_a_method(4) == OnlyMethods().twice(4) == 8
    with pytest.raises(sv.SamovarTypeError, match="has no members"):
        OnlyMethods.field(shape=3)


@sv.dataclass
class Counted:
    entries: sv.i32
    written: sv.f32


counted = Counted.field(shape=2)


@sv.kernel
def changes_entries(given: Counted) -> sv.i32:
    counted[1].entries = given.entries + 4
    counted[1].written = 0.5
    return counted[0].entries + counted[1].entries


def test_members_called_entries_and_written():
    counted[0] = Counted(3, 1.5)
    counted[0].entries += 1
    assert changes_entries(Counted(10, 0)) == 4 + 14
    assert [counted[0].entries, counted[1].entries, counted[1].written] == [4, 14, 0.5]
    assert sv.Struct(a=1, b=2).entries == {"a": 1, "b": 2}
    with pytest.raises(sv.SamovarTypeError, match="structs have an attribute of this name"):
        sv.types.struct(member_values=sv.i32)
