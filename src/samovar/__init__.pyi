"""The public names for type checkers: `__init__.py` imports them on first use.

In a stub, `x as x` marks x as public.
"""
# ruff: noqa: I001

from collections.abc import Callable
from os import PathLike
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload, type_check_only

from typing_extensions import dataclass_transform

from samovar import (
    ad as ad,
    algorithms as algorithms,
    dask as dask,
    graph as graph,
    linalg as linalg,
    math as math,
    ray as ray,
    simt as simt,
    tools as tools,
    types as types,
    ui as ui,
)
from samovar._native import (
    BufferView as BufferView,
    Tensor as Tensor,
)
from samovar.errors import (
    SamovarArrayError as SamovarArrayError,
    SamovarAssertionError as SamovarAssertionError,
    SamovarAxesError as SamovarAxesError,
    SamovarCallError as SamovarCallError,
    SamovarCompilationError as SamovarCompilationError,
    SamovarError as SamovarError,
    SamovarFieldError as SamovarFieldError,
    SamovarIndexError as SamovarIndexError,
    SamovarNameError as SamovarNameError,
    SamovarOptionError as SamovarOptionError,
    SamovarRuntimeError as SamovarRuntimeError,
    SamovarRuntimeTypeError as SamovarRuntimeTypeError,
    SamovarSignatureError as SamovarSignatureError,
    SamovarSyntaxError as SamovarSyntaxError,
    SamovarTypeError as SamovarTypeError,
    SamovarWarning as SamovarWarning,
)
from samovar.language.cells import (
    activate as activate,
    append as append,
    deactivate as deactivate,
    is_active as is_active,
    length as length,
    rescale_index as rescale_index,
)
from samovar.language.functions import (
    abs as abs,
    atomic_add as atomic_add,
    atomic_and as atomic_and,
    atomic_cas as atomic_cas,
    atomic_exchange as atomic_exchange,
    atomic_max as atomic_max,
    atomic_min as atomic_min,
    atomic_mul as atomic_mul,
    atomic_or as atomic_or,
    atomic_sub as atomic_sub,
    atomic_xor as atomic_xor,
    bit_cast as bit_cast,
    cast as cast,
    clock_counter as clock_counter,
    global_thread_idx as global_thread_idx,
    grouped as grouped,
    loop_config as loop_config,
    max as max,
    min as min,
    ndrange as ndrange,
    prange as prange,
    pow as pow,
    randint as randint,
    randn as randn,
    random as random,
    select as select,
    static as static,
    static_assert as static_assert,
    static_print as static_print,
)
from samovar.language.graph import (
    GraphStatus as GraphStatus,
    checkpoint as checkpoint,
    graph_do_while as graph_do_while,
    graph_parallel as graph_parallel,
    graph_parallel_context as graph_parallel_context,
)
from samovar.language.hints import (
    assume_in_range as assume_in_range,
    block_local as block_local,
    cache_read_only as cache_read_only,
    mesh_local as mesh_local,
    no_activate as no_activate,
    stop_grad as stop_grad,
    stream_parallel as stream_parallel,
    volatile_load as volatile_load,
)
from samovar.state.loading import load as load
from samovar.state.saving import save as save
from samovar.values.linear_algebra import (
    cholesky as cholesky,
    eig as eig,
    make_spd as make_spd,
    polar_decompose as polar_decompose,
    qr as qr,
    solve as solve,
    svd as svd,
    sym_eig as sym_eig,
)
from samovar.values.matrices import (
    Matrix as Matrix,
    Vector as Vector,
)
from samovar.language.raw_arithmetic import (
    bit_shr as bit_shr,
    frexp as frexp,
    ifte as ifte,
    one as one,
    raw_div as raw_div,
    raw_mod as raw_mod,
    zero as zero,
)
from samovar.values.struct_arrays import (
    StructField as StructField,
)
from samovar.values.structs import (
    Struct as Struct,
)
from samovar.lens.compound import (
    FIELD_METADATA_CACHE_VALUE as FIELD_METADATA_CACHE_VALUE,
)
from samovar.math import (
    acos as acos,
    asin as asin,
    atan as atan,
    atan2 as atan2,
    ceil as ceil,
    cos as cos,
    cosh as cosh,
    exp as exp,
    floor as floor,
    isinf as isinf,
    isnan as isnan,
    log as log,
    round as round,
    rsqrt as rsqrt,
    sin as sin,
    sinh as sinh,
    sqrt as sqrt,
    tan as tan,
    tanh as tanh,
)
from samovar.runtime.array_kinds import (
    MatrixField as MatrixField,
    MatrixNdarray as MatrixNdarray,
    MatrixTensor as MatrixTensor,
    ScalarField as ScalarField,
    ScalarNdarray as ScalarNdarray,
    VectorNdarray as VectorNdarray,
    VectorTensor as VectorTensor,
    wrap as wrap,
)
from samovar.runtime.array_making import (
    arange as arange,
    array as array,
    full as full,
    ones as ones,
    zeros as zeros,
    zeros_like as zeros_like,
)
from samovar.runtime.arrays import (
    Ndarray as Ndarray,
    from_dlpack as from_dlpack,
    from_numpy as from_numpy,
    from_torch as from_torch,
    ndarray as ndarray,
)
from samovar.runtime.compile_counter import (
    compile_count as compile_count,
)
from samovar.runtime.configuration import (
    CRITICAL as CRITICAL,
    DEBUG as DEBUG,
    ERROR as ERROR,
    INFO as INFO,
    TRACE as TRACE,
    WARN as WARN,
    amdgpu as amdgpu,
    arm64 as arm64,
    cpu as cpu,
    cuda as cuda,
    gpu as gpu,
    is_logging_effective as is_logging_effective,
    metal as metal,
    python as python,
    reset as reset,
    seed as seed,
    set_logging_level as set_logging_level,
    sync as sync,
    vulkan as vulkan,
    x64 as x64,
    x86_64 as x86_64,
)
from samovar.runtime.dense_trees import (
    root as root,
)
from samovar.runtime.dimensions import (
    axes as axes,
    i as i,
    ij as ij,
    ijk as ijk,
    ijkl as ijkl,
    ijl as ijl,
    ik as ik,
    ikl as ikl,
    il as il,
    j as j,
    ji as ji,
    jk as jk,
    jkl as jkl,
    jl as jl,
    k as k,
    ki as ki,
    kj as kj,
    kji as kji,
    kl as kl,
    l as l,
)
from samovar.runtime.extensions import (
    extension as extension,
    is_extension_enabled as is_extension_enabled,
)
from samovar.runtime.fields_builder import (
    FieldsBuilder as FieldsBuilder,
)
from samovar.runtime.fields import (
    Field as Field,
    Layout as Layout,
    field as field,
)
from samovar.runtime.kernel_state import (
    CacheObservations as CacheObservations,
)
from samovar.runtime.perf_dispatch import (
    perf_dispatch as perf_dispatch,
)
from samovar.runtime.precompile import (
    precompile as precompile,
)
from samovar.runtime.profiler import (
    Profiler as Profiler,
    profiler as profiler,
)
from samovar.runtime.races import (
    SamovarRaceError as SamovarRaceError,
)
from samovar.runtime.streams import (
    Event as Event,
    Stream as Stream,
    create_event as create_event,
    create_stream as create_stream,
)
from samovar.runtime.tensors import (
    Backend as Backend,
    tensor as tensor,
)
from samovar.types import (
    Array as Array,
    Template as Template,
    bf16 as bf16,
    bfloat16 as bfloat16,
    c64 as c64,
    c128 as c128,
    complex64 as complex64,
    complex128 as complex128,
    f16 as f16,
    f32 as f32,
    f64 as f64,
    float16 as float16,
    float32 as float32,
    float64 as float64,
    i8 as i8,
    i16 as i16,
    i32 as i32,
    i64 as i64,
    int8 as int8,
    int16 as int16,
    int32 as int32,
    int64 as int64,
    ref as ref,
    sparse_matrix_builder as sparse_matrix_builder,
    template as template,
    u1 as u1,
    u8 as u8,
    u16 as u16,
    u32 as u32,
    u64 as u64,
    uint1 as uint1,
    uint8 as uint8,
    uint16 as uint16,
    uint32 as uint32,
    uint64 as uint64,
)

__version__: str

_Parameters = ParamSpec("_Parameters")
_Rest = ParamSpec("_Rest")
_Result = TypeVar("_Result")
_Owner = TypeVar("_Owner")
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)
_Pure = TypeVar("_Pure", bound=_Kernel[..., Any])
_Stage = Literal["arguments", "graph", "dot", "loops", "ir", "llvm", "asm"]

@type_check_only
class _Kernel(Generic[_Parameters, _Result]):
    __name__: str
    __qualname__: str
    @property
    def __wrapped__(self) -> Callable[_Parameters, _Result]: ...
    @property
    def cache_observations(self) -> CacheObservations: ...
    @property
    def src_ll_cache_observations(self) -> CacheObservations: ...
    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result: ...
    @overload
    def __get__(self, instance: None, owner: type | None = None, /) -> _Kernel[_Parameters, _Result]: ...
    @overload
    def __get__(
        self: _Kernel[Concatenate[_Owner, _Rest], _Result], instance: _Owner, owner: type | None = None, /
    ) -> _BoundKernel[_Rest, _Result]: ...
    def inspect(self, stage: _Stage, *arguments: Any, **keywords: Any) -> str: ...
    def precompile(self, *arguments: Any, **keywords: Any) -> int: ...
    def resume(self, *arguments: Any, from_checkpoint: int, **keywords: Any) -> GraphStatus: ...
    def explain(self) -> str: ...

@type_check_only
class _BoundKernel(Generic[_Parameters, _Result]):
    __self__: Any
    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result: ...
    def inspect(self, stage: _Stage, *arguments: Any, **keywords: Any) -> str: ...
    def precompile(self, *arguments: Any, **keywords: Any) -> int: ...
    def resume(self, *arguments: Any, from_checkpoint: int, **keywords: Any) -> GraphStatus: ...

@overload
def kernel(function: Callable[_Parameters, _Result], /) -> _Kernel[_Parameters, _Result]: ...
@overload
def kernel(
    function: None = None,
    /,
    *,
    fastcache: bool = False,
    graph: bool = False,
    checkpoints: Literal[True],
    serial: bool = False,
    pure: bool = False,
    **numba: Any,
) -> Callable[[Callable[_Parameters, Any]], _Kernel[_Parameters, GraphStatus]]: ...
@overload
def kernel(
    function: None = None,
    /,
    *,
    fastcache: bool = False,
    graph: bool = False,
    checkpoints: Literal[False] = False,
    serial: bool = False,
    pure: bool = False,
    **numba: Any,
) -> Callable[[Callable[_Parameters, _Result]], _Kernel[_Parameters, _Result]]: ...
def init(
    arch: str | None = None,
    default_fp: Any = None,
    default_ip: Any = None,
    *,
    debug: bool = ...,
    check_out_of_bound: bool = ...,
    check_races: bool = ...,
    fast_math: bool = ...,
    flush_denormals: bool = ...,
    shared_variables: Literal["error", "serial"] = ...,
    printed_numbers: Literal["python", "c"] = ...,
    float_bounds: Literal["error", "truncate"] = ...,
    wide_arguments: Literal["error", "wrap"] = ...,
    literal_locals: Literal["widest", "first"] = ...,
    vector_truth: Literal["error", "entries"] = ...,
    nested_structs: Literal["error", "first"] = ...,
    missing_returns: Literal["error", "zero"] = ...,
    field_margin: int = ...,
    lost_gradients: Literal["error", "zero"] = ...,
    overwritten_values: Literal["error", "last"] = ...,
    rounded_halves: Literal["even", "away"] = ...,
    opt_level: Literal[0, 1, 2, 3] = ...,
    num_threads: int = ...,
    random_seed: int = ...,
    num_compile_threads: int = ...,
    log_level: str = ...,
    print_ir: bool = ...,
    dump_ir: str | PathLike[str] = ...,
    kernel_coverage: bool = ...,
    offline_cache: bool = ...,
    offline_cache_file_path: str | PathLike[str] = ...,
    offline_cache_max_size: int = ...,
    cache_remote: str | PathLike[str] = ...,
    cache_program: str = ...,
    cache_trust: str | PathLike[str] = ...,
    cache_signing_key: str | PathLike[str] = ...,
    cache_remote_timeout: int = ...,
    target: str = ...,
    src_ll_cache: bool = ...,
    print_non_pure: bool = ...,
    raise_on_templated_floats: bool = ...,
    without: str = ...,
    **options: Any,  # those of Quadrants and Taichi
) -> None: ...
def pure(fn: _Pure) -> _Pure: ...
def pyfunc(fn: _Function) -> _Function: ...
def real_func(fn: _Function) -> _Function: ...
def vectorize(
    ftylist_or_function: Any = (), target: str | None = None, identity: Any = None, **options: Any
) -> Any: ...
def guvectorize(
    ftylist_or_layout: Any, layout: str | None = None, target: str | None = None, **options: Any
) -> Any: ...
@overload
def func(fn: _Function) -> _Function: ...
@overload
def func(
    fn: None = None, *, is_real_function: bool = False, requires_top_level: bool = False, **numba: Any
) -> Callable[[_Function], _Function]: ...
@dataclass_transform()
def dataclass(cls: _Class) -> _Class: ...
@overload
def data_oriented(cls: _Class) -> _Class: ...
@overload
def data_oriented(
    cls: None = None, *, template_primitives: bool | None = None, stable_members: bool | None = None
) -> Callable[[_Class], _Class]: ...

def _lazy_exports(
    namespace: dict[str, object], homes: dict[str, str], modules: tuple[str, ...] | None = None, package: str = ""
) -> tuple[Any, Any]: ...
_HOMES: dict[str, str]

__all__ = [
    "CRITICAL",
    "DEBUG",
    "ERROR",
    "FIELD_METADATA_CACHE_VALUE",
    "INFO",
    "TRACE",
    "WARN",
    "Array",
    "Backend",
    "BufferView",
    "Event",
    "Field",
    "FieldsBuilder",
    "GraphStatus",
    "Layout",
    "Matrix",
    "MatrixField",
    "MatrixNdarray",
    "MatrixTensor",
    "Ndarray",
    "Profiler",
    "SamovarArrayError",
    "SamovarAssertionError",
    "SamovarAxesError",
    "SamovarCallError",
    "SamovarCompilationError",
    "SamovarError",
    "SamovarFieldError",
    "SamovarIndexError",
    "SamovarNameError",
    "SamovarOptionError",
    "SamovarRaceError",
    "SamovarRuntimeError",
    "SamovarRuntimeTypeError",
    "SamovarSignatureError",
    "SamovarSyntaxError",
    "SamovarTypeError",
    "SamovarWarning",
    "ScalarField",
    "ScalarNdarray",
    "Stream",
    "Struct",
    "StructField",
    "Template",
    "Tensor",
    "Vector",
    "VectorNdarray",
    "VectorTensor",
    "abs",
    "acos",
    "activate",
    "ad",
    "algorithms",
    "amdgpu",
    "append",
    "arange",
    "arm64",
    "array",
    "asin",
    "assume_in_range",
    "atan",
    "atan2",
    "atomic_add",
    "atomic_and",
    "atomic_cas",
    "atomic_exchange",
    "atomic_max",
    "atomic_min",
    "atomic_mul",
    "atomic_or",
    "atomic_sub",
    "atomic_xor",
    "axes",
    "bf16",
    "bfloat16",
    "bit_cast",
    "bit_shr",
    "block_local",
    "c64",
    "c128",
    "cache_read_only",
    "cast",
    "ceil",
    "checkpoint",
    "cholesky",
    "clock_counter",
    "compile_count",
    "complex64",
    "complex128",
    "cos",
    "cosh",
    "cpu",
    "create_event",
    "create_stream",
    "cuda",
    "dask",
    "data_oriented",
    "dataclass",
    "deactivate",
    "eig",
    "exp",
    "extension",
    "f16",
    "f32",
    "f64",
    "field",
    "float16",
    "float32",
    "float64",
    "floor",
    "frexp",
    "from_dlpack",
    "from_numpy",
    "from_torch",
    "full",
    "func",
    "global_thread_idx",
    "gpu",
    "graph",
    "graph_do_while",
    "graph_parallel",
    "graph_parallel_context",
    "grouped",
    "guvectorize",
    "i",
    "i8",
    "i16",
    "i32",
    "i64",
    "ifte",
    "ij",
    "ijk",
    "ijkl",
    "ijl",
    "ik",
    "ikl",
    "il",
    "init",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_active",
    "is_extension_enabled",
    "is_logging_effective",
    "isinf",
    "isnan",
    "j",
    "ji",
    "jk",
    "jkl",
    "jl",
    "k",
    "kernel",
    "ki",
    "kj",
    "kji",
    "kl",
    "l",
    "length",
    "linalg",
    "load",
    "log",
    "loop_config",
    "make_spd",
    "math",
    "max",
    "mesh_local",
    "metal",
    "min",
    "ndarray",
    "ndrange",
    "no_activate",
    "one",
    "ones",
    "perf_dispatch",
    "polar_decompose",
    "pow",
    "prange",
    "precompile",
    "profiler",
    "pure",
    "pyfunc",
    "python",
    "qr",
    "randint",
    "randn",
    "random",
    "raw_div",
    "raw_mod",
    "ray",
    "real_func",
    "ref",
    "rescale_index",
    "reset",
    "root",
    "round",
    "rsqrt",
    "save",
    "seed",
    "select",
    "set_logging_level",
    "simt",
    "sin",
    "sinh",
    "solve",
    "sparse_matrix_builder",
    "sqrt",
    "static",
    "static_assert",
    "static_print",
    "stop_grad",
    "stream_parallel",
    "svd",
    "sym_eig",
    "sync",
    "tan",
    "tanh",
    "template",
    "tensor",
    "tools",
    "types",
    "u1",
    "u8",
    "u16",
    "u32",
    "u64",
    "ui",
    "uint1",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "vectorize",
    "volatile_load",
    "vulkan",
    "wrap",
    "x64",
    "x86_64",
    "zero",
    "zeros",
    "zeros_like",
]
