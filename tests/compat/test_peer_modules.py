"""What programs reach for inside of the peers, and what only Taichi has."""

import dataclasses

import numpy as np
import pytest

import samovar as sv
import samovar.compat.quadrants as qd
import samovar.compat.taichi as ti


@pytest.fixture(autouse=True)
def as_before():
    yield
    sv.reset()


def test_everything_public_comes_with_a_star():
    found = {}
    exec("from samovar.compat.quadrants.math import *", found)
    assert found["vec3"] is sv.math.vec3
    assert found["clamp"] is sv.math.clamp
    exec("from samovar.compat.taichi import *", found)
    assert found["func"] is sv.func
    assert not any(name.startswith("_") for name in ti.__all__)


def test_architectures():
    assert qd.gpu == [qd.cuda, qd.metal, qd.vulkan, qd.amdgpu]
    assert qd.cpu == sv.cpu
    assert qd.cpu not in qd.gpu
    sv.reset()
    qd.init(arch=[qd.cuda, qd.cpu])
    assert qd.cfg.arch == qd.cpu
    assert getattr(qd, qd.cfg.arch.name) == qd.cpu
    assert qd.lang.misc.is_arch_supported(qd.cpu)
    assert not qd.lang.misc.is_arch_supported(qd.vulkan)
    assert qd.lang.misc.adaptive_arch_select([qd.cuda], True) == qd.cpu
    with pytest.raises(RuntimeError, match="only the CPU is supported"):
        qd.lang.misc.adaptive_arch_select([qd.cuda], False)
    core = qd._lib.core
    assert core.arch_name(core.host_arch()) == "x64"
    assert core.arch_from_name("cuda") == qd.cuda
    assert (core.get_version_major(), core.get_version_minor(), core.get_version_patch()) == qd.__version__
    assert core.is_extension_supported(qd.cpu, qd.extension.sparse)


def test_default_types_are_changed_where_programs_change_them():
    qd.init(arch=qd.cpu, random_seed=7)
    runtime = qd.lang.impl.get_runtime()
    runtime.set_default_fp(qd.f64)
    assert runtime.default_fp is qd.f64
    assert qd.cfg.random_seed == 7


def test_helpers_of_tests():
    @dataclasses.dataclass
    class State:
        x: qd.types.NDArray[qd.f32, 2]
        y: qd.Template

    made = qd._test_tools.dataclass_test_tools.build_struct(State)
    assert made.x.shape == (10, 10)
    assert isinstance(made.y, sv.Field)
    (other,) = qd._test_tools.dataclass_test_tools.build_obj_tuple_from_type_dict({"a": State})
    assert isinstance(other, State)
    text = "import samovar.compat.quadrants as qd\n@qd.kernel\ndef three() -> qd.i32:\n    return 3\n"
    with qd._test_tools.load_kernel_string.load_kernel_from_string(text, "three") as kernel:
        assert kernel() == 3
    assert qd._test_tools.textwrap2.dedent(2, "  a\n  b") == "a\nb"
    warn_once = qd._test_tools.warnings_helper.warn_once
    with pytest.warns(UserWarning, match="said once"):
        warn_once("said once")
    warn_once("said once")  # in silence: a warning would be an error


def test_the_profiler_of_kernels(capsys):
    qd.init(arch=qd.cpu, kernel_profiler=True)

    @qd.kernel
    def watched() -> qd.i32:
        return 1

    for _ in range(3):
        watched()
    assert qd.profiler.query_kernel_profiler_info("watched").counter == 3
    assert qd.profiler.get_kernel_profiler_total_time() > 0
    qd.profiler.print_kernel_profiler_info()
    assert "watched" in capsys.readouterr().out
    qd.profiler.clear_kernel_profiler_info()
    assert qd.profiler.query_kernel_profiler_info("watched").counter == 0
    qd.init(arch=qd.cpu)
    qd.profiler.print_kernel_profiler_info()
    assert "kernel_profiler=True" in capsys.readouterr().err


def test_lists_of_launches():
    @ti.kernel
    def fill(x: ti.types.ndarray(ti.f32, 1), value: ti.f32):
        for i in x:
            x[i] = value

    @ti.kernel
    def double(x: ti.types.ndarray(ti.f32, 1)):
        for i in x:
            x[i] *= 2

    builder = ti.graph.GraphBuilder()
    x = ti.graph.Arg(ti.graph.ArgKind.NDARRAY, "x", dtype=ti.f32, ndim=1)
    builder.dispatch(fill, x, ti.graph.Arg(ti.graph.ArgKind.SCALAR, "value", ti.f32))
    twice = builder.create_sequential()
    twice.dispatch(double, x)
    builder.append(twice)
    builder.append(twice)
    graph = builder.compile()
    builder.dispatch(double, x)  # of another one
    array = np.zeros(3, np.float32)
    graph.run({"x": array, "value": 1.5})
    assert array.tolist() == [6, 6, 6]
    with pytest.raises(ti.TaichiRuntimeError, match="the argument 'value' is missing"):
        graph.run({"x": array})
    with pytest.raises(ti.TaichiRuntimeError, match=r"one of ti\.graph\.ArgKind"):
        ti.graph.Arg("scalar", "x")
