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

Importing the package loads nothing: a name is fetched from where it lives when it is first used.
"""

__version__ = "0.1.0"

#: Where the public names live. `graph`, `math` and `types` are modules of their own.
_HOMES = {
    "samovar._native": (
        "f16 f32 f64 i8 i16 i32 i64 u1 u8 u16 u32 u64"
    ),
    "samovar.types": (
        "float16 float32 float64 int8 int16 int32 int64 uint1 uint8 uint16 uint32 uint64 Template template"
    ),
    "samovar.errors": (
        "SamovarAssertionError SamovarCompilationError SamovarError SamovarRaceError SamovarRuntimeError SamovarSyntaxError "
        "SamovarTypeError SamovarWarning"
    ),
    "samovar.runtime.configuration": (
        "cpu cuda gpu init reset sync x64"
    ),
    "samovar.runtime.arrays": (
        "Ndarray from_dlpack from_numpy from_torch ndarray"
    ),
    "samovar.lens.compound": (
        "FIELD_METADATA_CACHE_VALUE data_oriented"
    ),
    "samovar.runtime.kernel": (
        "kernel"
    ),
    "samovar.runtime.precompile": (
        "precompile"
    ),
    "samovar.runtime.compile_counter": (
        "compile_count"
    ),
    "samovar.runtime.func": (
        "func"
    ),
    "samovar.language.functions": (
        "atomic_add atomic_and atomic_cas atomic_exchange atomic_max atomic_min atomic_mul atomic_or atomic_sub atomic_xor "
        "bit_cast cast grouped loop_config ndrange randn random select static static_assert static_print"
    ),
    "samovar.language.mathematics": (
        "abs acos asin atan atan2 ceil cos cosh exp floor isinf isnan log max min pow round rsqrt sin sinh sqrt tan tanh"
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
_MODULES = ("graph", "math", "types")

__all__ = [*sorted(_HOME), *_MODULES]


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None and name not in _MODULES:
        raise AttributeError(f"module 'samovar' has no attribute {name!r}")
    # Not `importlib`, which would be loaded for nothing else.
    module = __import__(home or f"samovar.{name}", fromlist=["*"])
    value: object = module if home is None else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
