"""The public names, pinned: adding or losing one is a decision."""

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import samovar as sv

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "documentation"))

from public_names import public_modules

ROOT = """
    Backend BufferView CRITICAL DEBUG ERROR Event FIELD_METADATA_CACHE_VALUE Field FieldsBuilder GraphStatus INFO
    Layout Matrix MatrixField MatrixNdarray MatrixTensor Ndarray Profiler SamovarArrayError SamovarAssertionError
    SamovarAxesError SamovarCallError SamovarCompilationError SamovarError SamovarFieldError SamovarIndexError
    SamovarNameError SamovarOptionError SamovarRaceError SamovarRuntimeError SamovarRuntimeTypeError
    SamovarSignatureError SamovarSyntaxError SamovarTypeError SamovarWarning ScalarField ScalarNdarray Stream Struct
    StructField TRACE Template Tensor Vector VectorNdarray VectorTensor WARN abs acos ad algorithms amdgpu arm64
    asin assume_in_range atan atan2 atomic_add atomic_and atomic_cas atomic_exchange atomic_max atomic_min
    atomic_mul atomic_or atomic_sub atomic_xor axes
    bf16 bfloat16 bit_cast bit_shr block_local c64 c128 cache_read_only cast ceil
    checkpoint cholesky clock_counter compile_count complex64 complex128
    cos cosh cpu create_event create_stream cuda dask data_oriented dataclass eig
    exp extension f16 f32 f64 field float16 float32 float64 floor frexp from_dlpack from_numpy from_torch func
    global_thread_idx gpu
    graph graph_do_while graph_parallel graph_parallel_context grouped i i16 i32 i64 i8 ifte ij ijk ijkl ijl ik ikl
    il init int16 int32 int64 int8 is_extension_enabled is_logging_effective isinf isnan j ji jk jkl jl k kernel ki
    kj kji kl l linalg load log loop_config make_spd math max mesh_local metal min ndarray ndrange no_activate one
    Array prange perf_dispatch polar_decompose pow precompile profiler pure pyfunc python qr randint randn random raw_div
    raw_mod ray real_func ref reset root round rsqrt save seed select set_logging_level simt sin sinh solve
    sparse_matrix_builder sqrt static static_assert static_print stop_grad stream_parallel svd sym_eig sync tan tanh
    template tensor tools types ui u1 u16 u32 u64 u8 uint1 uint16 uint32 uint64 uint8 volatile_load vulkan wrap x64
    x86_64 zero arange array full ones zeros zeros_like activate append deactivate is_active length rescale_index
    guvectorize vectorize
"""
TYPES = """
    Array NDArray StructBase Template bf16 bfloat16 buffer_view c128 c64 complex128 complex64
    f16 f32 f64 float16 float32 float64 i16 i32 i64 i8 int16 int32 int64 int8 is_integral
    is_real is_signed is_tensor matrix ndarray ref sparse_matrix_builder struct template u1 u16 u32 u64 u8 uint1 uint16
    uint32 uint64 uint8 vector
"""
GRAPH = """
    Task do_while parallel parallel_context record tasks
"""
MATH = """
    acos acosh asin asinh atan atan2 atanh cbrt cconj cdiv ceil cexp cinv clamp clog clz cmul copysign cos cosh cpow
    cross csqrt degrees determinant distance dot e erf erfc exp exp2 expm1 eye ffs floor fma fmod fns fract gamma hypot
    inf inverse isinf isnan ivec2 ivec3 ivec4 length lgamma log log10 log1p log2 mat2 mat3 mat4 max min mix mod nan normalize
    pi popcnt pow quat_conjugate quat_from_axis_angle quat_mul quat_rotate quat_to_matrix radians reflect refract
    rot_by_axis rot_yaw_pitch_roll rotation2d rotation3d round rsqrt scale sign sin sinh smoothstep sqrt step tan tanh
    translate trunc uvec2 uvec3 uvec4 vdir vec2 vec3 vec4
"""


def test_the_root():
    assert sorted(sv.__all__) == sorted(ROOT.split())
    assert sorted(dir(sv)) == sorted([*ROOT.split(), "__version__"])


def test_types():
    assert sorted(sv.types.__all__) == TYPES.split()


def test_graph():
    assert sorted(sv.graph.__all__) == GRAPH.split()


def test_math():
    assert sorted(sv.math.__all__) == MATH.split()


@pytest.mark.parametrize("module", [sv, sv.types, sv.math, sv.graph])
def test_every_name_exists(module):
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_a_star_import_brings_the_public_names_only():
    space = {}
    exec("from samovar import *", space)
    assert set(space) - {"__builtins__"} == set(ROOT.split())


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'samovar' has no attribute 'kernal'"):
        sv.kernal  # noqa: B018


def test_importing_loads_nothing_else():
    program = """
import sys
before = set(sys.modules)
import samovar
assert set(sys.modules) - before == {"samovar"}, set(sys.modules) - before
samovar.f32
@samovar.kernel
def k(a: samovar.f32): pass
@samovar.func
def f(a: samovar.f32): pass
heavy = {"inspect", "dataclasses", "ast", "typing", "re", "enum", "collections", "functools", "llvmlite", "numpy"}
heavy |= {"samovar.lens.lens", "samovar.lens.source", "samovar.frontend", "samovar.ir", "samovar.backends"}
loaded = heavy & (set(sys.modules) - before)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-I", "-c", program], check=True)


def test_type_checkers_see_the_same_names():
    stub = ast.parse(Path(sv.__file__).with_suffix(".pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom) and node.module.startswith("samovar")]
    found = {alias.name for node in imports for alias in node.names}
    found |= {node.name for node in stub.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")}
    exported = next(node.value for node in stub.body if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    assert sorted(ast.literal_eval(exported)) == sorted(ROOT.split())
    assert set(ROOT.split()) <= found


@pytest.mark.parametrize("module", [sv.algorithms, sv.dask, sv.linalg, sv.tools, sv.ui])
def test_classes_are_pickled_by_their_public_name(module):
    classes = [value for name in module.__all__ if isinstance(value := getattr(module, name), type)]
    assert classes
    for each in classes:
        assert each.__module__ == module.__name__
        assert pickle.loads(f"c{module.__name__}\n{each.__name__}\n.".encode()) is each


@pytest.mark.parametrize("name", [*public_modules(), "samovar.compat.quadrants", "samovar.compat.taichi"])
def test_dir_shows_public_names_only(name):
    module = importlib.import_module(name)
    assert sorted(set(dir(module)) - {"__version__"}) == sorted(set(module.__all__))
