"""Arrays and fields of structs: every layout computes what NumPy computes on its structured arrays."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import samovar as sv
from samovar._native import array_within, disjoint

from .source import define

vec2, vec3, mat2 = sv.math.vec2, sv.math.vec3, sv.math.mat2
Inner = sv.types.struct(w=vec2, k=sv.i16)


@sv.dataclass
class S:
    flag: sv.i8
    x: sv.f64
    v: vec3
    inner: Inner
    n: sv.i32

    @sv.func
    def total(self):
        return self.x + self.v.sum() + self.inner.w.y

    @sv.func
    def move(self, by):
        self.x += by
        self.inner.k = 5
        if by > 3:
            return
        self.v.z = by


MAKERS = {
    "array": lambda shape: sv.ndarray(S, shape),
    "array, SoA": lambda shape: S.ndarray(shape, layout=sv.Layout.SOA),
    "field": lambda shape: S.field(shape),
    "field, SoA": lambda shape: sv.field(S, shape, layout=sv.Layout.SOA),
    "field, other order": lambda shape: S.field(shape, order="ji" if np.ndim(shape) else "i"),
    "placed": lambda shape: placed(shape),
}


def placed(shape):
    f = S.field()
    if np.ndim(shape):
        sv.root.dense(sv.ij, shape).place(f)
    else:
        sv.root.dense(sv.i, shape).place(f)
    return f


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


@sv.kernel
def fill_in(a: sv.template()):
    for i in range(a.shape[0]):
        a[i].flag = sv.i8(i)
        a[i].x = i * 0.5
        a[i].v = vec3(i, 2 * i, 3 * i)
        a[i].inner.w = vec2(i)
        a[i].inner.k = sv.i16(-i)
        a[i].n = 10 * i


def filled(make, n=6):
    a = make(n)
    fill_in(a)
    return a


def expected(n=6):
    i = np.arange(n)
    return {
        "flag": i.astype(np.int8), "x": i * 0.5, "v": np.stack([i, 2 * i, 3 * i], 1).astype(np.float32),
        "inner": {"w": np.stack([i, i], 1).astype(np.float32), "k": -i.astype(np.int16)}, "n": 10 * i.astype(np.int32),
    }  # fmt: skip


def same(found, wanted):
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[name], wanted[name]) for name in wanted)
    return found.dtype == wanted.dtype and np.array_equal(found, wanted)


def test_members_in_kernels_and_in_numpy(make):
    a = filled(make)
    assert same(a.to_numpy(), expected())
    structured = a.to_numpy(structured=True)
    for name in ("flag", "x", "v", "n"):
        assert same(structured[name], expected()[name])
    assert structured["inner"]["k"].tolist() == [0, -1, -2, -3, -4, -5]
    assert a.shape == (6,)
    assert len(a) == 6
    assert a.keys == ["flag", "x", "v", "inner", "n"]


def test_members_next_to_each_other_do_not_overlap(make):
    a = make((3, 4))
    assert disjoint(a.parts, ())
    assert not disjoint(a.parts[:1], a.parts[:1])


def test_elements_in_plain_python(make):
    a = filled(make)
    assert a[2].to_dict() == {"flag": 2, "x": 1.0, "v": [2, 4, 6], "inner": {"w": [2, 2], "k": -2}, "n": 20}
    a[2].x = 7
    a[2].v.y = 8
    a[2].inner.k = 9
    a[3].v = [1, 2, 3]
    a[3].inner = Inner([4, 5], 6)
    a[4] = a[2]
    a[5] = {"x": 1}
    assert (a[2].x, a[2].v.y, a[2].inner.k) == (7, 8, 9) == (a[4].x, a[4].v.y, a[4].inner.k)
    assert a[3].to_dict()["inner"] == {"w": [4, 5], "k": 6}
    assert a[5] == S(x=1)
    copied = a[2].copy()
    copied.x = 0
    assert a[2].x == 7
    assert a[2].total() == 7 + (2 + 8 + 6) + 2
    a[1].move(2)
    assert (a[1].x, a[1].inner.k, a[1].v.z) == (2.5, 5, 2)
    with pytest.raises(sv.SamovarTypeError, match="an element of this array is a `S`"):
        a[0] = 3
    with pytest.raises(IndexError):
        a[6]


def test_whole_arrays(make):
    a, b = filled(make), make(6)
    b.copy_from(a)
    assert same(b.to_numpy(), expected())
    b.fill(3)
    assert b[5].to_dict() == {"flag": 3, "x": 3, "v": [3, 3, 3], "inner": {"w": [3, 3], "k": 3}, "n": 3}
    b.fill(S(x=2, v=[1, 2, 3]))
    assert b[4] == S(x=2, v=[1, 2, 3])
    b.from_numpy(a.to_numpy())
    assert same(b.to_numpy(), expected())
    b.fill(0)
    b.from_numpy(a.to_numpy(structured=True))
    assert same(b.to_numpy(), expected())
    assert [each.n for each in b] == [0, 10, 20, 30, 40, 50]
    for again in (copy.copy(b), copy.deepcopy(b), pickle.loads(pickle.dumps(b))):
        again[0].n = 77
        assert same(again.to_numpy(), {**expected(), "n": np.array([77, 10, 20, 30, 40, 50], np.int32)})
        assert b[0].n == 0
        assert again.layout == b.layout
        assert type(again) is type(b)


def test_members_as_arrays(make):
    a = filled(make)
    assert a.n.to_numpy().tolist() == [0, 10, 20, 30, 40, 50]
    assert a.get_member_field("v").shape == (6,)
    assert a.inner.k[3] == -3
    assert a.inner[2].to_dict() == {"w": [2, 2], "k": -2}
    a.x.fill(4)
    assert a[1].x == 4

    @sv.kernel
    def k(n: sv.template(), v: sv.template(), a: sv.template()):
        for i in n:
            n[i] += 1
            v[i].x *= 2.0
        for i in a:
            a.inner.k[i] = sv.i16(a[i].n)

    k(a.n, a.v, a)
    assert a.n.to_numpy().tolist() == [1, 11, 21, 31, 41, 51] == a.inner.k.to_numpy().tolist()
    assert a.v.to_numpy()[:, 0].tolist() == [0, 2, 4, 6, 8, 10]


@sv.func
def shifted(s, by: sv.f64):
    s.x += by
    return s


@sv.func
def raise_by(x: sv.template(), by: sv.f64):
    x += by


@sv.kernel
def work(a: sv.template(), out: sv.types.NDArray[sv.f64, 1]):
    for i in a:
        s = a[i]
        s.x = 100.0
        a[i].move(float(i))
        out[i] = a[i].total()
        t = shifted(a[i], 1.0)
        raise_by(a[i].x, t.x)
        a[i].inner.w[i % 2] -= 1.0
        a[i].v[i % 3] += 10.0
    for i in a:
        out[i] += s_of(a, i)


@sv.func
def s_of(a, i):
    return a[i].n


def test_places_values_and_methods(make):
    a, out = filled(make), np.zeros(6)
    work(a, out)
    result = a.to_numpy()
    for i in range(6):
        x, v = i * 0.5 + i, [i, 2 * i, i if i <= 3 else 3 * i]
        assert out[i] == x + sum(v) + i + 10 * i
        v[i % 3] += 10
        assert result["x"][i] == x + (x + 1)
        assert result["v"][i].tolist() == v
        assert result["inner"]["k"][i] == 5
        assert result["inner"]["w"][i][i % 2] == i - 1


def test_updates_of_one_element_are_atomic(make):
    a = make(2)

    @sv.kernel
    def k(a: sv.template(), n: int):
        for i in range(n):
            a[i % 2].n += 1
            a[0].v.y += 1.0
            sv.atomic_max(a[1].x, i)

    k(a, 1000)
    assert (a[0].n, a[1].n, a[0].v.y, a[1].x) == (500, 500, 1000, 999)


def test_two_axes_and_grouped_indices(make):
    a = make((3, 4))

    @sv.kernel
    def k(a: sv.template()):
        for i, j in a:
            a[i, j].n = 10 * i + j
        for I in sv.grouped(a):
            a[I].v.x = a[I].n
            a[I] = S(a[I].flag, 1.5, a[I].v, a[I].inner, a[I].n)

    k(a)
    wanted = 10 * np.arange(3)[:, None] + np.arange(4)
    assert np.array_equal(a.n.to_numpy(), wanted)
    assert np.array_equal(a.v.to_numpy()[..., 0], wanted)
    assert (a.x.to_numpy() == 1.5).all()


def test_fill_in_a_kernel(make):
    a = make(5)

    @sv.kernel
    def k(a: sv.template(), s: S):
        a.fill(s)
        a.x.fill(3)

    k(a, S(1, 2, [1, 2, 3], {"k": 4}))
    assert all(each == S(1, 3, [1, 2, 3], {"k": 4}) for each in a)


def test_an_index_out_of_bounds_is_found(make):
    a = make(4)

    @sv.kernel
    def k(a: sv.template(), i: int, j: int):
        a[i].v[j] = 1

    sv.init(debug=True)
    try:
        k(a, 3, 2)
        for wrong in ((4, 0), (0, 3)):
            with pytest.raises(sv.SamovarRuntimeError, match=r"out of bounds for array 'a.v' of shape \(4, 3\)"):
                k(a, *wrong)
    finally:
        sv.init()


def test_annotated_parameters():
    @sv.kernel
    def k(a: sv.types.NDArray[S, 1], b: sv.types.ndarray(S, 2, boundary="clamp")):
        for i in a:
            b[i, -1].n = a[i].n + b[100, 0].n

    a, b = filled(MAKERS["array"], 3), S.ndarray((3, 2))
    b[2, 0].n = 5
    k(a, b)
    assert b.n.to_numpy().tolist() == [[5, 0], [15, 0], [25, 0]] or b.n.to_numpy()[:2, 0].tolist() == [5, 15]
    with pytest.raises(sv.SamovarTypeError, match="expected a 1-D array, got a 2-D array"):
        k(b, b)
    with pytest.raises(sv.SamovarTypeError, match="expected an array of structs"):
        k(np.zeros(3), b)
    with pytest.raises(sv.SamovarTypeError, match="must contain S"):
        k(Inner.ndarray(3), b)


def test_an_array_of_structs_is_shared_with_numpy():
    a = filled(MAKERS["array"])
    shared = a.to_numpy(structured=True, copy=False)
    shared["n"][2] = 1234
    shared["inner"]["w"][3] = [7, 8]
    assert a[2].n == 1234
    assert a[3].inner.w.to_list() == [7, 8]
    assert shared.dtype.itemsize == 48
    assert shared.flags.c_contiguous
    with pytest.raises(ValueError, match="only a contiguous array"):
        filled(MAKERS["array, SoA"]).to_numpy(structured=True, copy=False)


def test_structured_arrays_are_taken_in_place():
    dtype = np.dtype([("w", "f4", 2), ("k", "i2")], align=True)
    given = np.zeros((2, 3), dtype)
    a = Inner.from_numpy(given)

    @sv.kernel
    def k(a: sv.types.NDArray[Inner, 2]):
        for i, j in a:
            a[i, j].w.y = 10 * i + j
            a[i, j].k = sv.i16(-j)

    k(a)
    assert given["w"][..., 1].tolist() == [[0, 1, 2], [10, 11, 12]]
    assert given["k"].tolist() == [[0, -1, -2]] * 2
    packed = given.astype(np.dtype([("w", "f4", 2), ("k", "i1")]))
    copied = Inner.from_numpy(packed)
    copied.fill(0)
    assert packed["w"][1, 2, 1] == 12
    assert Inner.from_numpy(given, copy=True).memory is not a.memory
    with pytest.raises(ValueError, match="cannot share this array"):
        Inner.from_numpy(packed, copy=False)


def test_layouts_in_turns():
    @sv.kernel
    def k(a: sv.template()) -> sv.i32:
        total = 0
        for i in a:
            a[i].n += 1
            total += a[i].n
        return total

    arrays = [make(4) for make in MAKERS.values()]
    for turn in range(1, 4):
        assert [k(a) for a in (*arrays, *reversed(arrays))] == [(2 * turn - 1) * 4] * 6 + [2 * turn * 4] * 6
    assert k.cache_observations.lookups <= len(arrays)


def test_fields_with_offsets_and_gradients():
    f = S.field(4, offset=-2, needs_grad=True)

    @sv.kernel
    def k():
        for i in f:
            f[i].x = i
            f.x.grad[i] = 2 * i
            f.grad[i].v.y = 1.0

    k()
    assert [f[i].x for i in range(-2, 2)] == [-2, -1, 0, 1]
    assert f.offset == (-2,)
    assert f.x.grad.to_numpy().tolist() == [-4, -2, 0, 2]
    assert f.grad.v.shape == (4,)
    assert f.grad.keys == ["x", "v", "inner"]
    assert f.v.grad.to_numpy()[:, 1].tolist() == [1, 1, 1, 1]
    assert S.field(3).grad is None


def test_struct_field_of_a_dict_of_members():
    f = sv.Struct.field({"a": sv.f32, "v": vec3, "inner": {"b": sv.i32}}, 3)

    @sv.kernel
    def k():
        for i in f:
            f[i].inner.b = i
            f[i].a += f[i].inner.b

    k()
    assert f.to_numpy()["inner"]["b"].tolist() == [0, 1, 2] == f.a.to_numpy().tolist()


def test_members_of_objects():
    import dataclasses

    @dataclasses.dataclass
    class Typed:
        particles: sv.types.NDArray[S, 1]
        one: S

    @sv.data_oriented
    class Solver:
        def __init__(self):
            self.particles = S.field(4)
            self.one = S(x=3)

        @sv.kernel
        def step(self):
            for i in self.particles:
                self.particles[i].x += self.one.x

    @sv.kernel
    def k(t: Typed) -> sv.f64:
        for i in t.particles:
            t.particles[i].n += t.one.n
        return t.one.total()

    solver, typed = Solver(), Typed(S.ndarray(3), S(x=1, n=4, v=[1, 1, 1]))
    solver.step()
    solver.one.x = 10
    solver.step()
    assert solver.particles[2].x == 13
    assert k(typed) == 4
    assert typed.particles[1].n == 4
    typed.one = S(n=1)
    typed.particles = S.ndarray(2, layout="soa")
    assert k(typed) == 0
    assert typed.particles[1].n == 1


@pytest.mark.parametrize("size", [0, 1])
def test_few_elements(make, size):
    a = make(max(size, 1)) if make is MAKERS["placed"] else make(size)
    fill_in(a)
    assert same(a.to_numpy(), expected(a.shape[0]))


def test_an_array_in_the_memory_of_another_one_has_to_fit():
    memory, layout = sv.ndarray(sv.u8, 24), ((0,), (((3, 2),),))
    assert array_within(sv.f32, layout, memory, 4, 0).shape == (3,)
    for start, inner in ((8, 0), (-4, 0), (2, 0), (4, 2), (4, 3), (1 << 40, 0)):
        with pytest.raises(ValueError, match=r"fit|axes|dimensions"):
            array_within(sv.f32, layout, memory, start, inner)


# --- at random

DTYPES = [sv.i8, sv.i16, sv.i32, sv.i64, sv.u1, sv.u8, sv.u16, sv.u32, sv.f32, sv.f64]
leaves = st.one_of(
    st.sampled_from(DTYPES),
    st.builds(sv.types.vector, st.integers(1, 5), st.sampled_from([sv.f32, sv.f64, sv.i16])),
    st.builds(sv.types.matrix, st.integers(1, 3), st.integers(1, 3), st.sampled_from([sv.f32, sv.i64])),
)
structs = st.recursive(
    leaves,
    lambda inner: st.lists(inner, min_size=1, max_size=4).map(
        lambda kinds: sv.types.struct(**{f"m{place}": kind for place, kind in enumerate(kinds)})
    ),
    max_leaves=8,
).filter(lambda kind: getattr(kind, "is_struct", False))


@given(structs, st.sampled_from(["array", "array, SoA", "field", "field, SoA"]))
def test_any_struct_in_any_layout_lies_where_numpy_has_it(struct, layout):
    makers = {
        "array": lambda: struct.ndarray((2, 3)), "array, SoA": lambda: struct.ndarray((2, 3), layout="soa"),
        "field": lambda: struct.field((2, 3)), "field, SoA": lambda: struct.field((2, 3), layout="soa"),
    }  # fmt: skip
    a = makers[layout]()
    bits = np.random.default_rng(0)
    for part in a.parts:
        part.from_numpy(bits.integers(0, 2, part.to_numpy().shape).astype(part.to_numpy().dtype))
    structured = a.to_numpy(structured=True)
    assert structured.dtype.isalignedstruct
    b = makers[layout]()
    b.from_numpy(structured)
    assert all(np.array_equal(one.to_numpy(), other.to_numpy()) for one, other in zip(a.parts, b.parts, strict=True))
    if layout == "array":
        assert np.array_equal(a.to_numpy(structured=True, copy=False), structured)
    assert disjoint(a.parts, ())
    b.fill(0)
    for i in range(2):
        for j in range(3):
            b[i, j] = a[i, j]
            assert b[i, j] == a[i, j]
    assert np.array_equal(b.to_numpy(structured=True), structured)


def test_random_structs_in_kernels():
    """A few of them: each is a kernel of its own."""
    kinds = [
        sv.types.struct(a=sv.i8, b=sv.f64, c=sv.types.vector(3, sv.i16), d=sv.u1),
        sv.types.struct(p=sv.types.struct(a=sv.i8, m=sv.types.matrix(2, 3, sv.f64)), q=sv.types.struct(b=sv.u1, c=sv.f16)),
        sv.types.struct(big=sv.types.matrix(5, 5, sv.f32), last=sv.i8),
    ]
    for struct in kinds:
        k = define("@sv.kernel\ndef k(a: sv.template(), b: sv.template()):\n    for i in a:\n        b[i] = a[3 - i]\n")
        sources = [struct.ndarray(4), struct.field(4), struct.ndarray(4, layout="soa")]
        for part in sources[0].parts:
            values = np.arange(part.to_numpy().size).reshape(part.to_numpy().shape) % 2
            part.from_numpy(values.astype(part.to_numpy().dtype))
        wanted = sources[0].to_numpy(structured=True)[::-1]
        for source in sources[1:]:
            source.copy_from(sources[0])
        for source in sources:
            for target in (struct.ndarray(4), struct.field(4, layout="soa")):
                k(source, target)
                assert np.array_equal(target.to_numpy(structured=True), wanted)


def test_filling_with_a_struct_sets_each_element_in_every_layout():
    value = S(flag=-3, x=2.5, v=[1, 2, 3], inner=Inner(w=[4, 5], k=-6), n=7)
    for n in (1, 2, 33, 1000):
        arrays, fields = [S.ndarray(n), S.ndarray(n, layout="soa")], [S.field(shape=n), S.field(shape=n, layout="soa")]
        for each in (*arrays, *fields, S.field(shape=n, offset=2), S.ndarray((n, 3)), S.field(shape=(n, 3), order="ji")):
            each.fill(9)
            each.fill(value)
            structured = each.to_numpy(structured=True)
            assert (structured == np.broadcast_to(structured.ravel()[0], structured.shape)).all()
            first = structured.ravel()[0]
            assert (first["flag"], first["x"], first["inner"]["k"], first["n"]) == (-3, 2.5, -6, 7)
            assert first["v"].tolist() == [1, 2, 3]
            assert first["inner"]["w"].tolist() == [4, 5]
    S.ndarray(0).fill(value)
