"""What kernels do with views, each as a function of an array of 32 numbers that gives back what NumPy would have made of it.

They are run in debug mode and without, and by another process that finds them compiled.
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import samovar as sv

View = sv.BufferView
Array = sv.types.NDArray[sv.f32, 1]
mat2 = sv.types.matrix(2, 2, sv.f32)

#: (what it shows, a function that launches on an array and gives the expected elements)
PROGRAMS: dict[str, Callable[[Any, np.ndarray], Any]] = {}


def shown(function: Callable[[Any, np.ndarray], Any]) -> Callable[[Any, np.ndarray], Any]:
    PROGRAMS[function.__name__] = function
    return function


# --- reads, writes, atomics


@sv.kernel
def scale(v: sv.BufferView[sv.f32], factor: sv.f32):
    for i in range(v.size):
        v[i] = v[i] * factor


@shown
def reads_and_writes_stay_in_the_part(data, x):
    for part in (slice(16), slice(8, 24), slice(-8, None), slice(5, 5), slice(None)):
        scale(data[part], 2)
        x[part] *= 2
    scale(data[3:30][4:9].subview(1, 3), 10)
    x[8:11] *= 10


@sv.kernel
def all_of_it(v: View) -> sv.i32:
    total = 0
    for i in v:
        v[i] += i
        total += v.offset + v.size * 100 + v.shape[0] * 10000 + len(v) * 1000000
    return total


@shown
def offset_size_shape_and_loops(data, x):
    x[6:10] += np.arange(4)
    return all_of_it(data[6:10]), 4 * (6 + 400 + 40000 + 4000000)


@sv.kernel
def histogram(bins: sv.BufferView[sv.f32], at: sv.types.NDArray[sv.i32, 1]):
    for i in at:
        bins[at[i]] += 1
        sv.atomic_max(bins[0], 40.0)


@shown
def updates_are_atomic(data, x):
    at = np.random.default_rng(0).integers(0, 6, 5000).astype(np.int32)
    histogram(data[4:10], at)
    x[4:10] += np.bincount(at, minlength=6)
    x[4] = data[4]
    return data[4] >= 40, True


@sv.kernel
def fixed_sum(v: sv.BufferView[sv.f32]) -> sv.f32:
    total = 0.0
    sv.loop_config(serialize=True)
    for i in range(v.size):
        total += v[i]
    return total


@shown
def results(data, x):
    return fixed_sum(data[10:20]), x[10:20].sum()


# --- parts that are cut inside


@sv.kernel
def cut(v: sv.BufferView[sv.f32], n: sv.i32):
    a, b, c, d = v[4:8], v[:n], v[n:], v[:]
    for i in a:
        a[i] += 1
    for i in range(b.size):
        b[i] += 10
    for i in range(c.size):
        c[i] += 100 + c.offset
    for i in d:
        d[i] += 1000
    e = v.subview(4, n)
    f = v.subview(size=2, offset=n)
    g = b[1:][1:]
    e[0] += 10000
    f[1] += 20000
    g[0] += 40000


@shown
def parts_with_bounds_at_run_time(data, x):
    cut(data[2:20], 6)
    v = x[2:20]
    v[4:8] += 1
    v[:6] += 10
    v[6:] += 108
    v += 1000
    v[4] += 10000
    v[7] += 20000
    v[2] += 40000


@sv.kernel
def built(a: Array, begin: sv.i32, n: sv.i32) -> sv.i32:
    v = a[begin : begin + n]
    w = sv.BufferView(a, begin, n)
    u = sv.BufferView(a, size=2, offset=1)
    for i in v:
        v[i] += 1
    for i in w:
        w[i] *= 2
    u[0] = 5
    a[2:4][1] = 7
    return v.offset * 10000 + w.size * 100 + u.offset * 10 + a[3:].offset


@shown
def views_of_an_array_built_inside(data, x):
    x[8:12] = (x[8:12] + 1) * 2
    x[1], x[3] = 5, 7
    return built(data, 8, 4), 80000 + 400 + 10 + 3


@shown
def views_of_numpy_arrays_built_inside(data, x):
    strided = np.zeros(64, np.float32)
    strided[::2] = x
    found = built(strided[::2], 8, 4)
    built(data, 8, 4)
    x[:] = strided[::2]
    return found, 80000 + 400 + 10 + 3


@sv.kernel
def by_rows(a: Array, starts: sv.types.NDArray[sv.i32, 1]):
    for row in range(starts.shape[0] - 1):
        part = a[starts[row] : starts[row + 1]]
        for i in range(part.size):
            part[i] = part[i] * 10 + row


@shown
def a_part_for_each_iteration(data, x):
    starts = np.array([0, 3, 3, 10, 32], np.int32)
    by_rows(data, starts)
    for row in range(4):
        x[starts[row] : starts[row + 1]] = x[starts[row] : starts[row + 1]] * 10 + row


# --- funcs


@sv.func
def add(v, i, x):
    v[i] += x


@sv.func
def add_typed(v: sv.BufferView[sv.f32], i: sv.i32, x: sv.f32):
    add(v=v, i=i, x=x)


@sv.func
def add_plain(x: sv.f32, v: sv.BufferView, k=1):
    for i in range(v.size):
        add_typed(v, i, x * k + v.offset)


@sv.kernel
def through_funcs(v: sv.BufferView[sv.f32], n: sv.i32):
    for i in range(v.size):
        add(v, i, 1.0)
        add_typed(i=i, x=2.0, v=v)
    for _ in range(1):
        add_plain(4.0, v[n:])
        add_plain(v=v.subview(0, n), x=8.0)
    add_plain(0.5, v, k=2)


@shown
def funcs_with_and_without_annotations(data, x):
    through_funcs(data[5:15], 3)
    x[5:15] += 3 + 1 + 5
    x[8:15] += 4 + 8
    x[5:8] += 8 + 5


# --- several views


@sv.kernel
def shift(to: sv.BufferView[sv.f32], source: sv.BufferView[sv.f32]):
    sv.loop_config(serialize=True)
    for i in range(to.size):
        to[i] = source[i] + 1


@shown
def views_that_overlap_and_views_that_do_not(data, x):
    for to, source in ((0, 16), (4, 5), (5, 4), (20, 20), (31, 30), (0, 1), (16, 0)):
        n = 32 - max(to, source)
        shift(data[to : to + n], data[source : source + n])
        for i in range(n):
            x[to + i] = x[source + i] + 1


@sv.kernel
def one_array_three_ways(a: Array, v: View, w: View):
    for i in range(4):
        a[i] += 1
        v[i] += 10
        w[i] += 100


@shown
def an_array_and_views_of_it(data, x):
    one_array_three_ways(data, data[2:6], data[4:8])
    x[:4] += 1
    x[2:6] += 10
    x[4:8] += 100


# --- members


@dataclasses.dataclass(frozen=True)
class Frozen:
    v: sv.BufferView[sv.f32]
    factor: float = 2.0


@dataclasses.dataclass
class Plain:
    inner: Frozen
    w: sv.BufferView


@sv.kernel
def of_members(p: Plain):
    for i in range(p.inner.v.size):
        p.inner.v[i] *= p.inner.factor
    for i in p.w:
        p.w[i] += p.w.offset


@shown
def members_of_dataclasses(data, x):
    p = Plain(Frozen(data[:4]), data[4:8])
    of_members(p)
    p.w = data[8:9]
    of_members(p)
    of_members(dataclasses.replace(p, inner=Frozen(data[9:12], 3.0)))
    x[:4] *= 4
    x[4:8] += 4
    x[8] += 16
    x[9:12] *= 3


@sv.data_oriented
class Holder:
    def __init__(self, data):
        self.data = data
        self.pair = (data[:4], data[4:8])
        self.many = [data[i : i + 2] for i in range(8, 16, 2)]
        self.named = {"last": data[30:]}
        self.n = 20

    @property
    def active(self):
        return self.data[16 : self.n]

    @sv.func
    def add(self, v, x):
        for i in range(v.size):
            v[i] += x

    @sv.kernel
    def run(self):
        for _ in range(1):
            self.add(self.pair[0], 1.0)
            self.add(self.pair[1], 2.0)
            for v in sv.static(self.many):
                self.add(v[1:], 3.0)
            self.add(self.active, 4.0)
            self.add(self.named["last"], 5.0)
            for v in sv.static((self.pair[0][:1], self.many[0])):
                self.add(v, 6.0)


@sv.data_oriented(stable_members=True)
class StableHolder(Holder):
    pass


def hold(cls, data, x):
    holder = cls(data)
    holder.run()
    holder.n = 18
    holder.pair = (data[1:3], data[5:6])
    holder.many[3] = data[24:28]
    holder.named["last"] = data[29:30]
    for _ in range(2):
        holder.run()
    for pair, many, n, last in (((0, 4, 4, 8), (14, 16), 20, 30), *[((1, 3, 5, 6), (24, 28), 18, 29)] * 2):
        x[pair[0] : pair[1]] += 1
        x[pair[2] : pair[3]] += 2
        for begin, end in ((8, 10), (10, 12), (12, 14), many):
            x[begin + 1 : end] += 3
        x[16:n] += 4
        x[last : 32 if last == 30 else 30] += 5
        x[pair[0]] += 6
        x[8:10] += 6


@shown
def members_tuples_lists_and_properties(data, x):
    hold(Holder, data, x)


@shown
def members_of_objects_that_promise_to_be_stable(data, x):
    hold(StableHolder, data, x)


@sv.kernel
def template(v: sv.Template):
    for i in v:
        v[i] += v.offset


@shown
def templates(data, x):
    for first in (0, 7, 9):
        template(data[first : first + 3])
        x[first : first + 3] += first


# --- elements that are more than numbers


@sv.func
def lengthen(v, i):
    v[i] *= 2.0
    v[i].x += 1.0


@sv.kernel
def of_vectors(v: sv.BufferView[sv.math.vec3], w: View, n: sv.i32):
    for i in range(v.size):
        lengthen(v, i)
        v[i] += w[i].yxz
    part = v[n:]
    part[0][1] = 9.0
    for i in w:
        w[i] = sv.math.vec3(i, w.offset, w.element_shape[0])


@shown
def views_of_vectors(data, x):
    array = sv.ndarray(sv.math.vec3, 8)
    y = np.random.default_rng(2).integers(-9, 9, (8, 3)).astype(np.float32)
    array.from_numpy(y)
    of_vectors(array[1:4], array[5:8], 1)
    y[1:4] *= 2
    y[1:4, 0] += 1
    y[1:4] += y[5:8][:, [1, 0, 2]]
    y[2, 1] = 9
    y[5:8] = [[i, 5, 3] for i in range(3)]
    return array.to_numpy().tolist(), y.tolist()


@sv.kernel
def of_matrices(v: sv.BufferView[mat2], u: sv.BufferView[sv.math.vec2]):
    for i in v:
        u[i] = v[i] @ u[i]
        v[i][0, 1] += 1.0


@shown
def views_of_matrices(data, x):
    matrices, vectors = sv.ndarray(mat2, 6), sv.ndarray(sv.math.vec2, 6)
    y, z = np.arange(24.0).reshape(6, 2, 2), np.arange(12.0).reshape(6, 2)
    matrices.from_numpy(y)
    vectors.from_numpy(z)
    of_matrices(matrices[2:5], vectors[1:4])
    z[1:4] = np.einsum("ijk,ik->ij", y[2:5], z[1:4])
    y[2:5, 0, 1] += 1
    return (matrices.to_numpy().tolist(), vectors.to_numpy().tolist()), (y.tolist(), z.tolist())


Inner = sv.types.struct(k=sv.i16, w=sv.math.vec2)
Body = sv.types.struct(x=sv.f32, v=sv.math.vec3, n=sv.i32, inner=Inner)


@sv.func
def push(p, i, by):
    p[i].x += by
    p[i].inner.w.y += 1.0


@sv.kernel
def of_structs(p: sv.BufferView[Body], q: View, n: sv.i32) -> sv.i32:
    for i in range(p.size):
        p[i].n = i
        push(p, i, 2.0)
        p[i].v += p[i].inner.w.y
    for i in q:
        q[i].inner.k = sv.i16(q.offset)
    p.subview(0, 1)[0].v.z = 9.0
    rest = p[n:]
    rest[0] = q[0]
    return rest.offset * 100 + rest.size


@sv.kernel
def of_structs_inside(a: sv.types.NDArray[Body, 1], n: sv.i32):
    v, w = a[n : n + 2], sv.BufferView(a, 0, n)
    for i in v:
        v[i].x = 7.0
    for i in range(w.size):
        w[i].inner.w.x = 8.0
    a[n + 2 :].fill(3)


def step_of_structs(y: np.ndarray, p: slice, q: slice, n: int) -> int:
    part = y[p]
    for i in range(len(part)):
        part["n"][i] = i
        part["x"][i] += 2
        part["inner"]["w"][i, 1] += 1
        part["v"][i] += part["inner"]["w"][i, 1]
    y[q]["inner"]["k"] = q.start
    part["v"][0, 2] = 9
    part[n] = y[q][0]
    return (p.start + n) * 100 + len(part) - n


@shown
def views_of_structs(data, x):
    found, expected = [], []
    for layout in (sv.Layout.AOS, sv.Layout.SOA):
        array = Body.ndarray(10, layout=layout)
        y = array.to_numpy(structured=True)
        for p, q, n in ((slice(1, 4), slice(6, 9), 1), (slice(5, 9), slice(0, 3), 2), (slice(2, 3), slice(7, 8), 0)):
            found.append(of_structs(array[p], array[2:][q.start - 2 :] if q.start > 2 else array[q], n))
            q = slice(q.start, 10) if q.start > 2 else q
            expected.append(step_of_structs(y, p, q, n))
        of_structs_inside(array, 3)
        y["x"][3:5] = 7
        y["inner"]["w"][:3, 0] = 8
        for name in ("x", "v", "n"):
            y[name][5:] = 3
        y["inner"]["k"][5:], y["inner"]["w"][5:] = 3, 3
        found.append(array.to_numpy(structured=True).tolist())
        expected.append(y.tolist())
    return str(found), str(expected)


@dataclasses.dataclass(frozen=True)
class Bodies:
    p: sv.BufferView[Body]


@sv.kernel
def number(s: Bodies) -> sv.i32:
    for i in s.p:
        s.p[i].n = i + 1
    return s.p.offset


@sv.data_oriented(stable_members=True)
class StableBodies:
    def __init__(self, p):
        self.p = p

    @sv.kernel
    def move(self) -> sv.i32:
        for i in self.p:
            self.p[i].x += 1.0
        return self.p.offset


@sv.kernel(graph=True)
def move_often(p: sv.types.buffer_view(Body, "clamp"), left: sv.types.NDArray[sv.i32, 0]):
    while sv.graph_do_while(left):
        for i in p:
            p[i].v.y = p[i - 1].x + p[i + 1].x
        left[None] -= 1


@sv.kernel
def of_members_of_structs(v: sv.BufferView[sv.f32], w: sv.BufferView[sv.math.vec3]):
    for i in v:
        v[i] += v.offset
        w[i].z = v[i]


@shown
def views_of_structs_as_members_in_graphs_and_by_member(data, x):
    array, left = Body.ndarray(8), sv.ndarray(sv.i32, ())
    numbers = number(Bodies(array[1:3])), number(Bodies(array[5:]))
    stable = StableBodies(array[:2])
    moved = [stable.move()]
    for first in (3, 6):
        stable.p = array[first : first + 2]
        moved.append(stable.move())
    left[None] = 2
    move_often(array[1:4], left)
    of_members_of_structs(array[6:].x, array[6:].v)
    expected = [
        (1, 5), [0, 3, 6], [0, 1, 2, 0, 0, 1, 2, 3], [1, 1, 0, 1, 1, 0, 7, 7], [0, 1, 2, 1, 0, 0, 0, 0], [0] * 6 + [7] * 2,
    ]  # fmt: skip
    whole = array.to_numpy()
    found = [numbers, moved, *(each.tolist() for each in (whole["n"], whole["x"], whole["v"][:, 1], whole["v"][:, 2]))]
    return found, expected


# --- at the edges


#: Under a name of its own: to linters, a text in an annotation is the name of a type.
Clamped = sv.BufferView[sv.f32, "clamp"]


@sv.kernel
def clamped(v: Clamped, out: View, far: sv.i64):
    for i in v:
        out[i] = v[i - 1] + v[i] + v[i + 1]
    out[0] += v[far] * 100
    part = v[1:3]
    out[1] += part[-5] * 1000 + part[99] * 10000


@shown
def clamp_means_the_edges_of_the_view(data, x):
    clamped(data[10:14], data[20:24], 2**40)
    v = x[[10, 10, 11, 12, 13, 13]]
    x[20:24] = v[:-2] + v[1:-1] + v[2:]
    x[20] += x[13] * 100
    x[21] += x[11] * 1000 + x[12] * 10000


@sv.func
def edge(v: Clamped, i: sv.i32) -> sv.f32:
    return v[i]


@sv.kernel
def edges(v: View) -> sv.f32:
    return edge(v, -7) + edge(v[1:3], 9) * 100


@shown
def funcs_clamp_where_they_say_so(data, x):
    return edges(data[4:9]), x[4] + x[6] * 100


# --- other types of sizes and indices


@sv.kernel
def other_indices(v: View, a: sv.u8, b: sv.i64, c: sv.u32, d: sv.u64):
    v[a] += 1
    v[b] += 2
    v[c:][a] += 4
    w = v[a : d + 4]
    w[b] += 8
    w[d] += w.size * 100


@shown
def indices_of_any_type(data, x):
    other_indices(data[4:20], 3, 4, 5, 6)
    x[7] += 1
    x[8] += 2
    x[12] += 4
    x[11] += 8
    x[13] += 700


@sv.kernel(graph=True)
def in_a_graph(v: sv.BufferView[sv.f32], left: sv.types.NDArray[sv.i32, 0]):
    while sv.graph_do_while(left):
        for i in v:
            v[i] += v.offset
        for i in range(v.size):
            v[i] *= 2
        left[None] -= 1


@shown
def graphs(data, x):
    for first, count in ((3, 2), (10, 3)):
        left = sv.ndarray(sv.i32, ())
        left[None] = count
        in_a_graph(data[first : first + 4], left)
        for _ in range(count):
            x[first : first + 4] = (x[first : first + 4] + first) * 2


@shown
def filled_parts(data, x):
    fill(data[4:9], 3)
    x[4:9] = 7
    x[7:9] = 3


@sv.kernel
def fill(v: View, n: sv.i32):
    v.fill(7)
    v[n:].fill(3)


def outcomes() -> Iterator[tuple[str, Any, Any]]:
    """The name of each program, what it gave, and what NumPy makes of the same."""
    for name, program in PROGRAMS.items():
        data = sv.ndarray(sv.f32, 32)
        x = np.arange(32, dtype=np.float32) / 4
        data.from_numpy(x)
        returned = program(data, x)
        found, expected = (None, None) if returned is None else returned
        yield name, (data.to_numpy().tolist(), found), (x.tolist(), expected)
