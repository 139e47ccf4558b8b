"""Random programs over vectors and matrices: what a kernel computes is what the same function computes in plain Python.

Entries are i32, which wrap in both worlds, so that results are equal bit by bit. Sizes are chosen so that some values live
in registers and others in memory.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import samovar as sv
from hypothesis_profiles import examples

from .source import define

FUNCS = """
@sv.func
def mixed(p, q, c):
    r = p - q
    if c > 0:
        r = p * c + q
    return r

@sv.func
def poke(p: sv.template(), i, x):
    p[i] = p[i] + x

@sv.func
def both(p, n):
    return n @ p, n.transpose() + n, p.sum()
"""

VECTORS, MATRICES, NUMBERS = ("a", "b"), ("m",), ("c", "s")


@st.composite
def numbers(draw: st.DrawFn) -> str:
    form = draw(st.sampled_from(["name", "sum", "entry", "extreme", "literal", "trace"]))
    if form == "name":
        return draw(st.sampled_from(NUMBERS))
    if form == "literal":
        return str(draw(st.integers(-9, 9)))
    if form == "trace":
        return "m.trace()"
    owner = draw(st.sampled_from(VECTORS))
    if form == "entry":
        return f"{owner}[{draw(st.integers(0, 1))}]" if draw(st.booleans()) else f"{owner}[(c & 7) % N]"
    return f"{owner}.sum()" if form == "sum" else f"{owner}.{draw(st.sampled_from(['min', 'max']))}()"


@st.composite
def vectors(draw: st.DrawFn, depth: int = 2) -> str:
    """An expression that makes a new vector: a name alone would be another name for the same object in plain Python."""
    if depth == 0:
        return f"({draw(st.sampled_from(VECTORS))} + {draw(numbers())})"
    one, two = draw(vectors(depth - 1)), draw(vectors(depth - 1))
    form = draw(st.sampled_from(["binary", "scalar", "product", "row", "select", "func", "negated", "choice", "list"]))
    if form == "binary":
        return f"({one} {draw(st.sampled_from('+ - * & | ^'.split()))} {two})"
    if form == "scalar":
        return f"({draw(numbers())} {draw(st.sampled_from('+ - *'.split()))} {one})"
    if form == "product":
        return f"(m @ {one})" if draw(st.booleans()) else f"({one} @ m)"
    if form == "row":
        return f"(m[{draw(st.sampled_from(['0', '1', '(c & 3) % N']))}, :] + {one})"
    if form == "select":
        return f"sv.select({one} > {two}, {one}, {two})"
    if form == "func":
        return f"mixed({one}, {two}, {draw(numbers())})"
    if form == "negated":
        return f"(-{one})"
    if form == "choice":
        return f"({one} if {draw(numbers())} > {draw(numbers())} else {two})"
    return f"(sv.Vector([{one}[k] for k in sv.static(range(N))]) + 0)"


@st.composite
def statements(draw: st.DrawFn, depth: int = 2) -> list[str]:
    kinds = ["vector", "augmented", "entry", "swizzle", "matrix", "number", "poke", "both"]
    kind = draw(st.sampled_from(kinds + (["if", "loop", "static"] if depth else [])))
    name = draw(st.sampled_from(VECTORS))
    if kind == "vector":
        return [f"{name} = {draw(vectors())}"]
    if kind == "augmented":
        return [f"{name} {draw(st.sampled_from(['+=', '-=', '*=']))} {draw(vectors(1))}"]
    if kind == "entry":
        place = draw(st.sampled_from(["[0]", "[1]", "[(c & 15) % N]", "[(s & 7) % N]"]))
        return [f"{name}{place} = {draw(numbers())}"]
    if kind == "swizzle":
        return [f"{name}.xy = {draw(st.sampled_from(VECTORS))}.yx + {draw(numbers())}"]
    if kind == "matrix":
        form = draw(st.sampled_from(["m @ m", "m.transpose() - m", "m * s", "a.outer_product(b)", "m + m"]))
        return [f"m = {form}", f"m[(c & 3) % N, 0] = {draw(numbers())}"]
    if kind == "number":
        return [f"s = {draw(numbers())} + 0 if {draw(numbers())} < {draw(numbers())} else {draw(numbers())} + 0"]
    if kind == "poke":
        return [f"poke({name}, (c & 7) % N, {draw(numbers())})"]
    if kind == "both":
        return [f"{name}, m, _ = both({name}, m)"]
    body = [line for each in draw(st.lists(statements(depth - 1), min_size=1, max_size=2)) for line in each]
    inner = [f"    {line}" for line in body]
    if kind == "if":
        other = [f"    {line}" for line in draw(statements(depth - 1))]
        return [f"if {draw(numbers())} > {draw(numbers())}:", *inner, "else:", *other]
    if kind == "loop":  # one at the top would be parallel
        return ["sv.loop_config(serialize=True)", "for t in range(2):", *inner]
    return ["for t in sv.static(range(2)):", *inner]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, int]:
    size = draw(st.sampled_from([2, 3, 5]))
    body = [line for each in draw(st.lists(statements(), min_size=1, max_size=5)) for line in each]
    lines = ["a = u + 0", "b = v * 3", "m = n + 0", "s = c + 0", *body]
    text = "\n".join(f"    {line}" for line in lines)
    header = "def k(u: V, v: V, n: M, c: sv.i32) -> tuple[V, V, M, sv.i32]:"
    return f"{FUNCS}\n@sv.kernel\n{header}\n{text}\n    return a, b, m, s\n", size


@examples("compiled")
@given(programs(), st.lists(st.integers(-9, 9), min_size=35, max_size=35), st.integers(-5, 40))
def test_a_kernel_computes_what_plain_python_does(program, entries, c):
    text, size = program
    vector, matrix = sv.types.vector(size, sv.i32), sv.types.matrix(size, size, sv.i32)
    kernel = define(text, V=vector, M=matrix, N=size)
    u, v, n = vector(entries[:size]), vector(entries[size : 2 * size]), matrix(entries[10 : 10 + size * size])
    expected = kernel.__wrapped__(u.copy(), v.copy(), n.copy(), c)
    found = kernel(u, v, n, c)
    assert [each.to_list() for each in found[:3]] == [each.to_list() for each in expected[:3]]
    assert found[3] == sv.i32(expected[3])
