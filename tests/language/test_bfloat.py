"""bf16, a type of memory: elements become f32 when kernels read them, and are rounded to nearest even when written."""

import pickle
import sys

import numpy as np
import pytest

import samovar as sv
from samovar.language import loses, promote

BITS = np.arange(1 << 16, dtype=np.uint32)
EVERY = (BITS << 16).view(np.float32)


def rounded(values: np.ndarray) -> np.ndarray:
    """The nearest bf16 of f32 numbers, by their distance from both neighbors; computed in f64, without the bits' carry."""
    values = np.asarray(values, np.float32)
    lower = (values.view(np.uint32) >> 16 << 16).view(np.float32)
    upper = ((values.view(np.uint32) >> 16) + np.uint32(1) << 16).view(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        # Beyond the largest finite number, the next one would be 2**128.
        wide = np.where(np.isinf(upper), np.copysign(2.0**128, values.astype(np.float64)), upper.astype(np.float64))
        below, above = (abs(each.astype(np.float64) - values) for each in (lower, wide))
    takes_upper = (above < below) | ((above == below) & ((values.view(np.uint32) >> 16 & 1) == 1))
    return np.where(np.isfinite(values), np.where(takes_upper, upper, lower), values)


def stored(values: np.ndarray) -> sv.Ndarray:
    a = sv.ndarray(sv.bf16, np.shape(values))
    a.copy_from(np.ascontiguousarray(values))
    return a


@sv.kernel
def read_and_write(x: sv.Array[sv.bf16, 1], y: sv.Array[sv.f32, 1], z: sv.Array[sv.bf16, 1]):
    for i in x:
        y[i] = x[i]
        z[i] = y[i]


@sv.kernel
def write(x: sv.Array, z: sv.Array[sv.bf16, 1]):
    for i in z:
        z[i] = sv.cast(x[i], sv.bf16)


@sv.kernel
def line(x: sv.Array, z: sv.Array, factor: sv.bf16):
    for i in x:
        z[i] = x[i] * factor + 1.0


def test_every_pattern_is_read_and_written_unchanged():
    a, y, z = stored(EVERY), np.zeros(EVERY.size, np.float32), sv.ndarray(sv.bf16, EVERY.size)
    read_and_write(a, y, z)
    for found in (a.to_numpy(), y, z.to_numpy(), [a[i] for i in range(0, EVERY.size, 97)]):
        wanted = EVERY if len(found) == EVERY.size else EVERY[::97]
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def test_numbers_are_rounded_to_nearest_even():
    near = [(BITS << 16) + np.uint32(each) for each in (0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF)]
    random = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, dtype=np.uint32)
    values = np.concatenate([*near, random]).view(np.float32)
    z = sv.ndarray(sv.bf16, values.size)
    write(values, z)
    np.testing.assert_array_equal(z.to_numpy(), rounded(values))
    np.testing.assert_array_equal(stored(values).to_numpy(), rounded(values))


def test_f64_is_rounded_once():
    ties = ((BITS[BITS & 0x7FFF < 0x7F80] << 16) + np.uint32(0x8000)).view(np.float32).astype(np.float64)
    for end in (np.inf, -np.inf):
        values, neighbor = np.nextafter(ties, end), np.float32(end)
        # One bit of f64 beside a tie, which f32 does not hold: the neighbor on that side, not the even one.
        wanted = rounded(np.nextafter(ties.astype(np.float32), neighbor))
        z = sv.ndarray(sv.bf16, values.size)
        write(values, z)
        np.testing.assert_array_equal(z.to_numpy(), wanted)
        np.testing.assert_array_equal(stored(values).to_numpy(), wanted)
    assert sv.bf16(1e300) == np.inf
    assert sv.bf16(1 + 2**-8) == 1.0
    assert sv.bf16(1 + 2**-8 + 2**-40) == 1 + 2**-7


@pytest.mark.parametrize("source", [np.int8, np.uint16, np.int32, np.int64, np.uint64, np.float16])
def test_other_types_are_rounded_once(source):
    values = np.array([0, 1, 127, 100], source)
    if np.dtype(source).itemsize > 2:
        values = np.concatenate([values, np.array([(1 << 24) + (1 << 16) + 1, 0x1010001, 0x1030000], source)])
    z = sv.ndarray(sv.bf16, values.size)
    write(values, z)
    np.testing.assert_array_equal(z.to_numpy(), [sv.bf16(float(each)) for each in values])


def test_lengths_around_vector_widths():
    random = np.random.default_rng(1)
    for size in (0, 1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 64, 67):
        x = rounded(random.normal(size=size).astype(np.float32))
        wanted = x * np.float32(1.5) + np.float32(1)
        z, wide = sv.ndarray(sv.bf16, size), np.zeros(size, np.float32)
        line(stored(x), z, 1.5)
        line(stored(x), wide, 1.5)
        np.testing.assert_allclose(wide, wanted, rtol=1e-6)
        np.testing.assert_array_equal(z.to_numpy(), rounded(wide))


@pytest.mark.parametrize("debug", [False, True])
def test_sums_and_atomics(debug):
    sv.init(debug=debug)

    @sv.kernel
    def tally(x: sv.Array[sv.bf16, 1], total: sv.Array[sv.bf16, 1], bins: sv.Array[sv.bf16, 1], top: sv.Array[sv.bf16, 1]):
        for i in x:
            total[0] += x[i]
            bins[i % 7] += x[i]
            sv.atomic_max(top[0], x[i] * float(i % 5))

    n = 7 * 100
    x, total, bins, top = stored(np.ones(n, np.float32)), *(sv.ndarray(sv.bf16, size) for size in (1, 7, 1))
    tally(x, total, bins, top)
    assert total[0] == sv.bf16(n)  # the partial sums are in f32: a sum in bf16 ends at 256
    assert bins.tolist() == [100.0] * 7
    assert top[0] == 4.0


def test_old_values_of_atomics_are_numbers():
    @sv.kernel
    def swap(a: sv.Array[sv.bf16, 1], old: sv.Array[sv.f32, 1]):
        old[0] = sv.atomic_exchange(a[0], 3.14159)
        old[1] = sv.atomic_cas(a[1], 2.0, 5.0)
        old[2] = sv.atomic_mul(a[2], 3.0) * 2.0

    a, old = stored(np.array([1, 2, 3], np.float32)), np.zeros(3, np.float32)
    swap(a, old)
    assert (a.tolist(), old.tolist()) == ([3.140625, 5.0, 9.0], [1.0, 2.0, 6.0])


def test_fields_vectors_and_parameters():
    @sv.kernel
    def scale(v: sv.template(), factor: sv.bf16) -> sv.f32:
        for i in v:
            v[i] = v[i] * 2.0
        return factor

    v = sv.Vector.field(3, sv.bf16, 4)
    v.fill(1.1)
    assert scale(v, 1.1) == sv.bf16(1.1)
    np.testing.assert_array_equal(v.to_numpy(), np.full((4, 3), sv.bf16(1.1) * 2, np.float32))


def test_an_intermediate_result_is_rounded():
    @sv.kernel
    def twice(x: sv.Array[sv.f32, 1], z: sv.Array[sv.bf16, 1], out: sv.Array[sv.f32, 1]):
        for i in x:
            z[i] = x[i]
            out[i] = z[i] - x[i] + sv.bf16(x[i])

    x, out = np.array([1.001, 3.3], np.float32), np.zeros(2, np.float32)
    twice(x, sv.ndarray(sv.bf16, 2), out)
    np.testing.assert_allclose(out, 2 * rounded(x) - x, rtol=1e-6)


def test_the_type_is_of_memory_only():
    assert promote(sv.bf16, sv.bf16) is promote(sv.bf16, sv.i64) is promote(sv.bf16, sv.f16) is sv.f32
    assert promote(sv.bf16, sv.f64) is sv.f64
    assert not loses(sv.f32, sv.bf16)
    assert loses(sv.f64, sv.bf16)

    @sv.kernel
    def variable(a: sv.Array[sv.bf16, 1]):
        x: sv.bf16 = a[0]
        a[0] = x

    @sv.kernel
    def chance(a: sv.Array[sv.bf16, 1]):
        a[0] = sv.random(sv.bf16)

    messages = (variable, r"the variable `x` of type bf16 .*x: sv\.bf16 = a"), (chance, r"`random` in bf16 .*a\[0\] = ")
    for kernel, what in messages:
        with pytest.raises(sv.SamovarTypeError, match=f"(?s){what}.*help: use f32"):
            kernel(sv.ndarray(sv.bf16, 1))


def test_gradients():
    x = sv.ndarray(sv.f32, 5, needs_grad=True)
    w = stored(np.array([1, 2, 3, 4, 5.5], np.float32))
    loss = sv.ndarray(sv.f32, (), needs_grad=True)

    @sv.kernel
    def weigh(x: sv.Array[sv.f32, 1], w: sv.Array[sv.bf16, 1], loss: sv.Array[sv.f32, 0]):
        for i in x:
            loss[None] += x[i] * w[i]

    x.fill(2.0)
    with sv.ad.Tape(loss):
        weigh(x, w, loss)
    assert x.grad.tolist() == w.tolist()


def test_gradients_of_elements():
    w = sv.ndarray(sv.bf16, 3, needs_grad=True)
    loss = sv.ndarray(sv.f32, (), needs_grad=True)

    @sv.kernel
    def squares(w: sv.Array[sv.bf16, 1], loss: sv.Array[sv.f32, 0]):
        for i in w:
            loss[None] += w[i] * w[i] * 1.01

    w.copy_from(np.array([1, -2.5, 3], np.float32))
    with sv.ad.Tape(loss):
        squares(w, loss)
    assert w.grad.dtype is sv.bf16
    np.testing.assert_allclose(w.grad.to_numpy(), w.to_numpy() * 2.02, rtol=2**-8)


def test_arrays_on_the_host(tmp_path):
    a = stored(np.array([[1.1, -2], [np.nan, 3.4e38]], np.float32))
    wanted = rounded(np.array([[1.1, -2], [np.nan, np.inf]], np.float32))
    assert repr(a[0, 0]) == "1.1015625"
    assert repr(stored(np.array([1.1, 3], np.float32))) == "ndarray([1.1, 3.0], dtype=bf16, shape=(2,))"
    for found in (a.to_numpy(), np.asarray(a), a.tolist(), a.astype(sv.f64).to_numpy(), sv.from_dlpack(a).to_numpy()):
        np.testing.assert_array_equal(found, wanted)
    assert a.to_numpy().dtype == np.float32
    for protocol in (2, 5):
        again = pickle.loads(pickle.dumps(a, protocol))
        assert again.dtype is sv.bf16
        np.testing.assert_array_equal(again.to_numpy(), wanted)
    sv.save(tmp_path / "a.npz", a)
    (loaded,) = sv.load(tmp_path / "a.npz").values()
    assert loaded.dtype is sv.bf16
    np.testing.assert_array_equal(loaded.to_numpy(), wanted)
    a.fill(0)
    sv.load(tmp_path / "a.npz", a)
    np.testing.assert_array_equal(a.to_numpy(), wanted)
    b = stored(np.array([3, 1, 2], np.float32))
    assert (b.sum(), b.min(), b.max(), (b == b).all(), (b != b).any()) == (6.0, 1.0, 3.0, True, False)
    sv.algorithms.parallel_sort(b)
    assert b.tolist() == [1, 2, 3]
    assert sv.algorithms.prefix_sum(b).tolist() == [1, 3, 6]


def test_what_has_no_bf16_says_so():
    a = sv.ndarray(sv.bf16, 2)
    with pytest.raises(BufferError, match="no bf16: use to_numpy"):
        memoryview(a)
    for refused in (lambda: a.to_numpy(copy=False), lambda: np.asarray(a, copy=False)):
        with pytest.raises(ValueError, match="no bf16"):
            refused()
    with pytest.raises(TypeError, match="no bf16"):
        a.to_numpy(dtype=sv.bf16)


def test_arrays_of_ml_dtypes_are_shared():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    x = np.arange(12).reshape(3, 4).astype(bfloat16)
    a = sv.from_numpy(x, copy=False)
    assert (a.dtype, a.shape, a[1, 2]) == (sv.bf16, (3, 4), 6.0)
    z = np.zeros(4, bfloat16)
    line(x[1], z, 2)
    line(x[::2, 1], z[::3], 2)
    assert z.astype(np.float32).tolist() == [3.0, 11.0, 13.0, 19.0]
    assert a.to_numpy(dtype=bfloat16).dtype == bfloat16
    assert sv.ndarray(bfloat16, 3).dtype is sv.bf16
    bits = BITS.astype(np.uint16).view(bfloat16)
    np.testing.assert_array_equal(sv.from_numpy(bits).to_numpy(), EVERY)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="torch is installed for one version")
def test_tensors_of_torch_are_shared():
    torch = pytest.importorskip("torch")
    x, z = torch.arange(6, dtype=torch.bfloat16).reshape(2, 3), torch.zeros(3, dtype=torch.bfloat16)
    line(x[1], z, 2)
    assert z.tolist() == [7.0, 9.0, 11.0]
    a = sv.from_torch(x, copy=False)
    a[1, 2] = 9
    assert (x[1, 2].item(), a.dtype) == (9.0, sv.bf16)
    assert torch.equal(a.to_torch(copy=False), x)
