"""Hints and decorators of other libraries: taken where they mean something on a CPU, refused where a GPU is needed."""

import numpy as np
import pytest

import samovar as sv
from samovar.language import GPU_FUNCTIONS


@sv.real_func
def collatz(n: sv.i32) -> sv.i32:
    steps = 0
    while n_of(n, steps) != 1:
        steps += 1
    return steps


@sv.pyfunc
def n_of(n, steps):
    for _ in range(steps):
        n = sv.select(n % 2 == 0, n // 2, 3 * n + 1)
    return n


def test_hints_change_nothing():
    f = sv.field(sv.i32, 16)

    @sv.kernel
    def fill(a: sv.types.NDArray[sv.i32, 1]):
        sv.block_local(f)
        sv.cache_read_only(a, f)
        sv.mesh_local(f)
        sv.no_activate(f)
        sv.loop_config(block_dim=8, parallelize=2, bit_vectorize=True)
        for i in f:
            f[i] = sv.assume_in_range(i, 0, 0, 16) + a[i]
        sv.stop_grad(f)
        with sv.stream_parallel():
            for i in f:
                f[i] += 1

    fill(np.arange(16, dtype=np.int32))
    assert f.to_numpy().tolist() == list(range(1, 33, 2))


def test_one_thread_is_a_serial_loop():
    @sv.kernel
    def last(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
        found = 0
        sv.loop_config(parallelize=1)
        for i in a:
            if a[i] > 2:
                found = i
                break
        return found

    assert last(np.array([1, 2, 3, 4], np.int32)) == 2

    @sv.kernel
    def wrong():
        sv.loop_config(parallelize=-1)
        for _ in range(3):
            pass

    with pytest.raises(sv.SamovarSyntaxError, match="takes a number of threads as `parallelize`"):
        wrong()


@pytest.mark.parametrize("dtype", [sv.i32, sv.u64, sv.f32, sv.f64])
def test_a_volatile_load_gives_the_element(dtype):
    @sv.kernel
    def copy(a: sv.types.ndarray(ndim=1), b: sv.types.ndarray(ndim=1)):
        for i in a:
            b[i] = sv.volatile_load(a[i])

    a, b = sv.ndarray(dtype, 3), sv.ndarray(dtype, 3)
    a[1] = 7
    if dtype.kind == "float":
        a[2] = -0.0
    copy(a, b)
    assert str(b.to_numpy()) == str(a.to_numpy())
    assert sv.volatile_load(a[1]) == 7


def test_a_real_func_is_called_and_not_copied():
    @sv.kernel
    def run(a: sv.types.NDArray[sv.i32, 1]):
        for i in a:
            a[i] = collatz(i + 1) + collatz(i + 2)

    a = sv.ndarray(sv.i32, 8)
    run(a)
    assert a.to_numpy().tolist() == [collatz(i + 1) + collatz(i + 2) for i in range(8)]
    assert run.inspect("asm").count("call") >= 2
    assert "collatz" in run.inspect("asm")


def test_a_pure_kernel_is_one_with_fastcache():
    scale = 3

    @sv.kernel(pure=True)
    def first(x: sv.i32) -> sv.i32:
        return x * scale

    @sv.pure
    @sv.kernel
    def second(x: sv.i32) -> sv.i32:
        return x * scale

    for kernel in (first, second):
        with pytest.raises(sv.SamovarError, match="declared with fastcache=True, but captures captured scale"):
            kernel(2)
    with pytest.raises(sv.SamovarTypeError, match="decorates a kernel"):
        sv.pure(lambda: None)


def test_what_needs_a_gpu_is_refused_when_it_is_reached():
    @sv.kernel
    def choose(gpu: sv.template(), a: sv.types.NDArray[sv.i32, 1]):
        for i in a:
            if sv.static(gpu):
                shared = sv.simt.block.SharedArray((4,), sv.f32)
                sv.simt.block.sync()
                shared[0] = 1
            else:
                a[i] = 5

    a = sv.ndarray(sv.i32, 2)
    choose(False, a)
    assert a[1] == 5
    with pytest.raises(sv.SamovarSyntaxError, match=r"`sv.simt.block.SharedArray` requires a GPU"):
        choose(True, a)


@pytest.mark.parametrize("module", GPU_FUNCTIONS)
def test_outside_of_kernels_it_says_the_same(module):
    for name in GPU_FUNCTIONS[module]:
        owner = getattr(sv.simt, module) if module else sv.simt
        with pytest.raises(sv.SamovarRuntimeError, match=f"{name} is only available to GPU threads"):
            getattr(owner, name)()


def test_streams_and_events_are_in_order():
    @sv.kernel
    def add(a: sv.types.NDArray[sv.i32, 1], n: sv.i32):
        for i in a:
            a[i] += n

    a = sv.ndarray(sv.i32, 4)
    with sv.create_stream() as stream, sv.create_stream() as other:
        event = sv.create_event()
        add(a, 1, qd_stream=stream)
        event.record(stream)
        event.wait(other)
        add(a, n=2, qd_stream=other)
        later = sv.create_event()
        later.record()
        stream.synchronize()
    assert a.to_numpy().tolist() == [3, 3, 3, 3]
    assert event.elapsed_time(later) >= 0
    with pytest.raises(sv.SamovarRuntimeError, match="before it is recorded"):
        event.elapsed_time(sv.create_event())
    with pytest.raises(sv.SamovarRuntimeTypeError, match="unexpected keyword argument 'stream'"):
        add(a, 1, stream=stream)


@pytest.mark.parametrize("debug", [False, True])
def test_gpu_primitives_in_a_branch_that_is_never_taken(debug):
    sv.init(debug=debug)

    @sv.func
    def shuffled(value, lane):
        return sv.simt.subgroup.shuffle(value, sv.u32(sv.simt.subgroup.invocation_id() + lane))

    @sv.kernel
    def run(wide: sv.Template, a: sv.types.NDArray[sv.i32, 1]):
        for i in a:
            value = i
            is_wide = False
            if sv.static(wide):
                is_wide = i < 2
            for _ in range(3):
                value += 1
            if is_wide:
                value = shuffled(value, 0)
                sv.simt.block.sync()
            a[i] = value

    a = sv.ndarray(sv.i32, 4)
    run(False, a)
    assert a.to_numpy().tolist() == [3, 4, 5, 6]
    with pytest.raises(sv.SamovarSyntaxError, match="requires a GPU") as caught:
        run(True, a)
    assert "in shuffled" in str(caught.value)
    sv.reset()
