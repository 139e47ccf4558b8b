"""Samovar: compute kernels as plain Python functions.

>>> import samovar as sv
>>> @sv.kernel
... def scale(a: sv.types.NDArray[sv.f32, 1], factor: sv.f32):
...     for i in a:
...         a[i] *= factor
>>> a = sv.ndarray(sv.f32, 8)
>>> a.fill(2)
>>> scale(a, 1.5)
>>> a[7]
3.0

Importing the package loads nothing: each name is imported on first use.
"""

from posix import register_at_fork as _register_at_fork

__version__ = "0.1.0"


def _lazy_exports(namespace: dict, homes: dict, modules: tuple | None = None, package: str = "") -> tuple:
    """`__getattr__` and `__dir__` of a package, given its namespace and a table from module to the names it defines.

    In packages for users, `modules` lists the submodules, and a misspelled name gets a suggestion.

    Names are imported on first use: a process that compiles nothing needs a small part of each package.
    """
    home_of: dict = {}

    def get(name: str) -> object:
        if not home_of:
            home_of.update({name: home for home, names in homes.items() for name in names.split()})
        home = home_of.get(name)
        # Not `importlib`, which nothing else would load.
        if home is not None:
            found = __import__(f"{package or namespace['__name__']}.{home}", fromlist=[name])
            namespace[name] = value = getattr(found, name)
            return value
        if modules is None or name[0] == "_":
            raise AttributeError(f"module {namespace['__name__']!r} has no attribute {name!r}")
        if name in modules:
            return __import__(f"{namespace['__name__']}.{name}", fromlist=["*"])
        from samovar.language import MissingName

        try:
            raise MissingName(namespace["__name__"], name, [*home_of, *modules, *namespace.get("__all__", ())])
        except MissingName as missing:
            # Re-raising adds no frame of this function (CPython 3.11 and later): the error is in the line that asked.
            missing.__traceback__ = None
            raise

    return get, lambda: sorted(" ".join(homes.values()).split())


#: The modules that define the public names. Those in `_MODULES` are modules themselves.
_HOMES = {
    "_native": (
        "BufferView Tensor bf16 c64 c128 f16 f32 f64 i8 i16 i32 i64 u1 u8 u16 u32 u64"
    ),
    "types": (
        "bfloat16 complex64 complex128 float16 float32 float64 int8 int16 int32 int64 uint1 uint8 uint16 uint32 uint64 "
        "Array Template ref "
        "sparse_matrix_builder template"
    ),
    "errors": (
        "SamovarArrayError SamovarAssertionError SamovarAxesError SamovarCallError SamovarCompilationError SamovarError "
        "SamovarFieldError SamovarIndexError SamovarNameError SamovarOptionError SamovarRuntimeError "
        "SamovarRuntimeTypeError SamovarSignatureError SamovarSyntaxError SamovarTypeError SamovarWarning"
    ),
    "runtime.races": (
        "SamovarRaceError"
    ),
    "runtime.configuration": (
        "CRITICAL DEBUG ERROR INFO TRACE WARN amdgpu arm64 cpu cuda gpu init is_logging_effective metal python reset seed "
        "set_logging_level sync vulkan x64 x86_64"
    ),
    "runtime.arrays": (
        "Ndarray from_dlpack from_numpy from_torch ndarray"
    ),
    "runtime.array_making": (
        "arange array full ones zeros zeros_like"
    ),
    "runtime.fields": (
        "Layout Field field"
    ),
    "runtime.tensors": (
        "Backend tensor"
    ),
    "runtime.array_kinds": (
        "MatrixField MatrixNdarray MatrixTensor ScalarField ScalarNdarray VectorNdarray VectorTensor wrap"
    ),
    "runtime.dense_trees": (
        "root"
    ),
    "runtime.fields_builder": (
        "FieldsBuilder"
    ),
    "runtime.dimensions": (
        "axes i ij ijk ijkl ijl ik ikl il j ji jk jkl jl k ki kj kji kl l"
    ),
    "lens.compound": (
        "FIELD_METADATA_CACHE_VALUE data_oriented"
    ),
    "runtime.kernel": (
        "kernel pure"
    ),
    "runtime.streams": (
        "Event Stream create_event create_stream"
    ),
    "runtime.extensions": (
        "extension is_extension_enabled"
    ),
    "state.loading": (
        "load"
    ),
    "state.saving": (
        "save"
    ),
    "runtime.perf_dispatch": (
        "perf_dispatch"
    ),
    "runtime.precompile": (
        "precompile"
    ),
    "runtime.profiler": (
        "Profiler profiler"
    ),
    "runtime.compile_counter": (
        "compile_count"
    ),
    "runtime.func": (
        "func pyfunc real_func"
    ),
    "runtime.ufuncs": (
        "guvectorize vectorize"
    ),
    "language.functions": (
        "atomic_add atomic_and atomic_cas atomic_exchange atomic_max atomic_min atomic_mul atomic_or atomic_sub atomic_xor "
        "bit_cast cast clock_counter global_thread_idx grouped loop_config ndrange prange randint randn random select "
        "static static_assert static_print"
    ),
    "language.cells": (
        "activate append deactivate is_active length rescale_index"
    ),
    "language.hints": (
        "assume_in_range block_local cache_read_only mesh_local no_activate stop_grad stream_parallel volatile_load"
    ),
    "values.linear_algebra": (
        "cholesky eig make_spd polar_decompose qr solve svd sym_eig"
    ),
    "language.raw_arithmetic": (
        "bit_shr frexp ifte one raw_div raw_mod zero"
    ),
    "values.matrices": (
        "Matrix Vector"
    ),
    "values.structs": (
        "Struct"
    ),
    "values.struct_arrays": (
        "StructField"
    ),
    "values.struct_types": (
        "dataclass"
    ),
    "language.graph": (
        "GraphStatus checkpoint graph_do_while graph_parallel graph_parallel_context"
    ),
    "language.mathematics": (
        "abs acos asin atan atan2 ceil cos cosh exp floor isinf isnan log max min pow round rsqrt sin sinh sqrt tan tanh"
    ),
}
_MODULES = ("ad", "algorithms", "dask", "graph", "linalg", "math", "ray", "simt", "tools", "types", "ui")
__all__ = [*" ".join(_HOMES.values()).split(), *_MODULES]
__getattr__, _ = _lazy_exports(globals(), _HOMES, _MODULES)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


# First of all: another thread may be importing the rest.
_register_at_fork(
    before=lambda: __import__("samovar.system", fromlist=["finish_imports"]).finish_imports(),
    after_in_child=lambda: __import__("samovar.system", fromlist=["forget_imports_of_others"]).forget_imports_of_others(),
)
