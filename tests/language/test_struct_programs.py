"""Random programs over structs, in kernels and in plain Python: the same text gives the same numbers.

All numbers are small and whole, so that arithmetic is exact. In plain Python a name is bound to a struct and not copied, so
the programs copy where kernels would: `t = S(s)`.
"""

import textwrap

from hypothesis import given
from hypothesis import strategies as st

import samovar as sv
from hypothesis_profiles import examples

from .source import define

Inner = sv.types.struct(b=sv.f64, w=sv.types.vector(3, sv.f64))


@sv.dataclass
class S:
    a: sv.f64
    n: sv.i64
    v: sv.types.vector(2, sv.f64)
    inner: Inner

    @sv.func
    def grow(self, by):
        self.a += by
        if by > 1:
            self.inner.w[2] = self.a
            return
        self.n += 1

    @sv.func
    def total(self):
        return self.a + self.n + self.v.sum() + self.inner.b + self.inner.w.sum()


names = st.sampled_from(["s", "t", "u[0]", "u[1]"])
numbers = st.integers(-3, 3).map(str)
reads = st.builds(
    lambda name, member: f"{name}.{member}",
    names,
    st.sampled_from(["a", "n", "v.x", "v[1]", "inner.b", "inner.w.z", "inner.w[0]", "total()"]),
)
values = st.one_of(numbers, reads, st.builds(lambda one, two: f"{one} - {two}", reads, numbers))
changed = st.sampled_from(["a", "v.x", "v[1]", "inner.b", "inner.w.y", "inner.w[2]"])
places = st.builds(lambda name, member: f"{name}.{member}", names, changed)
structs = st.one_of(
    st.builds(lambda name: f"S({name})", names),
    st.builds(lambda a, name: f"S({a}, 1, {name}.v, {name}.inner)", values, names),
    st.builds(lambda a, w: f"S(a={a}, inner=Inner(w={w}))", values, numbers),
)
simple = st.one_of(
    st.builds(lambda place, value: f"{place} = {value}", places, values),
    st.builds(lambda place, value: f"{place} += {value}", places, values),
    st.builds(lambda name, other: f"{name}.v = {other}.v + 1", names, names),
    st.builds(lambda name, other: f"{name}.inner = {other}.inner", names, names),
    st.builds(lambda name, value: f"{name}.grow({value})", names, values),
    st.builds(lambda name, struct: f"{name} = {struct}", names, structs),
    st.builds(lambda name, one, other: f"{name} = {one} if s.a > 0 else {other}", names, structs, structs),
)
blocks = st.lists(simple, min_size=1, max_size=3).map("\n".join)
indented = blocks.map(lambda block: textwrap.indent(block, "    "))
statements = st.one_of(
    simple,
    st.builds(lambda value, one, other: f"if {value} > 0:\n{one}\nelse:\n{other}", values, indented, indented),
    st.builds(lambda block: f"for i in range(2):\n{block}", indented),
)
programs = st.lists(statements, min_size=2, max_size=6).map("\n".join)

def plain(program: str, s0, u) -> object:
    text = f"def k(s0, u):\n    s, t = S(s0), S(1, 2, 3)\n{textwrap.indent(program, '    ')}\n    return s, t\n"
    return define(text, S=S, Inner=Inner)(s0, u)


@examples("compiled")
@given(programs, st.booleans())
def test_a_program_gives_in_a_kernel_what_it_gives_in_python(program, soa):
    start = S(2, 1, [1, -1], {"b": 3, "w": [1, 2, 3]})
    arrays = [S.ndarray(2, layout="soa" if soa else "aos") for _ in range(2)]
    for array in arrays:
        array[1] = start
    wanted = plain(program, start, arrays[0])
    text = (
        "@sv.kernel\ndef k(s0: S, u: sv.types.NDArray[S, 1]):\n    s, t = S(s0), S(1, 2, 3)\n    s.n += 0\n    t.n += 0\n"
        f"    if s.n > -1:\n{textwrap.indent(program, '        ')}\n    return s, t\n"
    )
    found = define(text, S=S, Inner=Inner)(start, arrays[1])
    assert found == wanted, program
    for one, other in zip(*arrays, strict=True):
        assert one == other, program
