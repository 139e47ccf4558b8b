"""The public names for type checkers: `__init__.py` fetches them when they are used."""

from collections.abc import Callable
from typing import Any, Concatenate, Generic, Literal, ParamSpec, TypeVar, overload, type_check_only

from typing_extensions import dataclass_transform

from samovar import algorithms, graph, linalg, math, simt, tools, types
from samovar._native import BufferView, Tensor
from samovar.errors import (
    SamovarArrayError,
    SamovarAssertionError,
    SamovarAxesError,
    SamovarCallError,
    SamovarCompilationError,
    SamovarError,
    SamovarFieldError,
    SamovarIndexError,
    SamovarNameError,
    SamovarOptionError,
    SamovarRuntimeError,
    SamovarRuntimeTypeError,
    SamovarSignatureError,
    SamovarSyntaxError,
    SamovarTypeError,
    SamovarWarning,
)
from samovar.language.functions import (
    abs,
    atomic_add,
    atomic_and,
    atomic_cas,
    atomic_exchange,
    atomic_max,
    atomic_min,
    atomic_mul,
    atomic_or,
    atomic_sub,
    atomic_xor,
    bit_cast,
    cast,
    grouped,
    loop_config,
    max,
    min,
    ndrange,
    pow,
    randint,
    randn,
    random,
    select,
    static,
    static_assert,
    static_print,
)
from samovar.language.graph import GraphStatus, checkpoint, graph_do_while, graph_parallel, graph_parallel_context
from samovar.language.hints import (
    assume_in_range,
    block_local,
    cache_read_only,
    mesh_local,
    no_activate,
    stop_grad,
    stream_parallel,
    volatile_load,
)
from samovar.language.linear_algebra import cholesky, eig, make_spd, polar_decompose, qr, solve, svd, sym_eig
from samovar.language.matrices import Matrix, Vector
from samovar.language.raw_arithmetic import bit_shr, frexp, ifte, one, raw_div, raw_mod, zero
from samovar.language.struct_arrays import StructField
from samovar.language.structs import Struct
from samovar.lens.compound import FIELD_METADATA_CACHE_VALUE
from samovar.math import (
    acos,
    asin,
    atan,
    atan2,
    ceil,
    cos,
    cosh,
    exp,
    floor,
    isinf,
    isnan,
    log,
    round,
    rsqrt,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)
from samovar.runtime.array_kinds import (
    MatrixField,
    MatrixNdarray,
    MatrixTensor,
    ScalarField,
    ScalarNdarray,
    VectorNdarray,
    VectorTensor,
    wrap,
)
from samovar.runtime.array_making import arange, array, full, ones, zeros, zeros_like
from samovar.runtime.arrays import Ndarray, from_dlpack, from_numpy, from_torch, ndarray
from samovar.runtime.compile_counter import compile_count
from samovar.runtime.configuration import (
    CRITICAL,
    DEBUG,
    ERROR,
    INFO,
    TRACE,
    WARN,
    amdgpu,
    arm64,
    cpu,
    cuda,
    gpu,
    init,
    is_logging_effective,
    metal,
    python,
    reset,
    seed,
    set_logging_level,
    sync,
    vulkan,
    x64,
    x86_64,
)
from samovar.runtime.dense_trees import (
    FieldsBuilder,
    axes,
    i,
    ij,
    ijk,
    ijkl,
    ijl,
    ik,
    ikl,
    il,
    j,
    ji,
    jk,
    jkl,
    jl,
    k,
    ki,
    kj,
    kji,
    kl,
    l,
    root,
)
from samovar.runtime.extensions import extension, is_extension_enabled
from samovar.runtime.fields import Field, Layout, field
from samovar.runtime.kernel_state import CacheObservations
from samovar.runtime.perf_dispatch import perf_dispatch
from samovar.runtime.precompile import precompile
from samovar.runtime.profiler import Profiler, profiler
from samovar.runtime.races import SamovarRaceError
from samovar.runtime.streams import Event, Stream, create_event, create_stream
from samovar.runtime.tensors import Backend, tensor
from samovar.types import (
    Template,
    f16,
    f32,
    f64,
    float16,
    float32,
    float64,
    i8,
    i16,
    i32,
    i64,
    int8,
    int16,
    int32,
    int64,
    ref,
    sparse_matrix_builder,
    template,
    u1,
    u8,
    u16,
    u32,
    u64,
    uint1,
    uint8,
    uint16,
    uint32,
    uint64,
)

__version__: str

_Parameters = ParamSpec("_Parameters")
_Rest = ParamSpec("_Rest")
_Result = TypeVar("_Result")
_Owner = TypeVar("_Owner")
_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class", bound=type)
_Pure = TypeVar("_Pure", bound=_Kernel[..., Any])

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
    def inspect(self, stage: str, *arguments: Any, **keywords: Any) -> str: ...
    def precompile(self, *arguments: Any, **keywords: Any) -> int: ...
    def resume(self, *arguments: Any, from_checkpoint: int, **keywords: Any) -> GraphStatus: ...
    def explain(self) -> str: ...

@type_check_only
class _BoundKernel(Generic[_Parameters, _Result]):
    __self__: Any
    def __call__(self, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result: ...
    def inspect(self, stage: str, *arguments: Any, **keywords: Any) -> str: ...
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
) -> Callable[[Callable[_Parameters, _Result]], _Kernel[_Parameters, _Result]]: ...
def pure(fn: _Pure) -> _Pure: ...
def pyfunc(fn: _Function) -> _Function: ...
def real_func(fn: _Function) -> _Function: ...
@overload
def func(fn: _Function) -> _Function: ...
@overload
def func(
    fn: None = None, *, is_real_function: bool = False, requires_top_level: bool = False
) -> Callable[[_Function], _Function]: ...
@dataclass_transform()
def dataclass(cls: _Class) -> _Class: ...
@overload
def data_oriented(cls: _Class) -> _Class: ...
@overload
def data_oriented(
    cls: None = None, *, template_primitives: bool | None = None, stable_members: bool | None = None
) -> Callable[[_Class], _Class]: ...

def _door(
    room: dict[str, object], homes: dict[str, str], modules: tuple[str, ...] | None = None, package: str = ""
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
    "algorithms",
    "amdgpu",
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
    "bit_cast",
    "bit_shr",
    "block_local",
    "cache_read_only",
    "cast",
    "ceil",
    "checkpoint",
    "cholesky",
    "compile_count",
    "cos",
    "cosh",
    "cpu",
    "create_event",
    "create_stream",
    "cuda",
    "data_oriented",
    "dataclass",
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
    "gpu",
    "graph",
    "graph_do_while",
    "graph_parallel",
    "graph_parallel_context",
    "grouped",
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
    "linalg",
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
    "real_func",
    "ref",
    "reset",
    "root",
    "round",
    "rsqrt",
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
    "uint1",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "volatile_load",
    "vulkan",
    "wrap",
    "x64",
    "x86_64",
    "zero",
    "zeros",
    "zeros_like",
]
