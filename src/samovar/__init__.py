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


def _door(room: dict, homes: dict) -> tuple:
    """`__getattr__` and `__dir__` of a room, given its namespace and which of its files has which names.

    A name is loaded when it is used: a process that compiles nothing needs a small part of each room.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def get(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {room['__name__']!r} has no attribute {name!r}")
        # Not `importlib`, which would be loaded for nothing else.
        value = getattr(__import__(f"{room['__name__']}.{home}", fromlist=[name]), name)
        room[name] = value
        return value

    return get, lambda: sorted(home_of)


#: Where the public names live. `algorithms`, `graph`, `linalg`, `math` and `types` are modules of their own.
_HOMES = {
    "_native": (
        "Tensor f16 f32 f64 i8 i16 i32 i64 u1 u8 u16 u32 u64"
    ),
    "types": (
        "float16 float32 float64 int8 int16 int32 int64 uint1 uint8 uint16 uint32 uint64 Template template"
    ),
    "errors": (
        "SamovarAssertionError SamovarCompilationError SamovarError SamovarRuntimeError SamovarSyntaxError SamovarTypeError "
        "SamovarWarning"
    ),
    "runtime.races": (
        "SamovarRaceError"
    ),
    "runtime.configuration": (
        "cpu cuda gpu init reset seed sync x64"
    ),
    "runtime.arrays": (
        "Ndarray from_dlpack from_numpy from_torch ndarray"
    ),
    "runtime.fields": (
        "Layout Field field"
    ),
    "runtime.tensors": (
        "Backend tensor"
    ),
    "runtime.dense_trees": (
        "FieldsBuilder axes i ij ijk ijkl ijl ik ikl il j ji jk jkl jl k ki kj kji kl l root"
    ),
    "lens.compound": (
        "FIELD_METADATA_CACHE_VALUE data_oriented"
    ),
    "runtime.kernel": (
        "kernel"
    ),
    "runtime.precompile": (
        "precompile"
    ),
    "runtime.compile_counter": (
        "compile_count"
    ),
    "runtime.func": (
        "func"
    ),
    "language.functions": (
        "atomic_add atomic_and atomic_cas atomic_exchange atomic_max atomic_min atomic_mul atomic_or atomic_sub atomic_xor "
        "bit_cast cast grouped loop_config ndrange randint randn random select static static_assert static_print"
    ),
    "language.linear_algebra": (
        "cholesky eig polar_decompose qr solve svd sym_eig"
    ),
    "language.raw_arithmetic": (
        "bit_shr frexp ifte one raw_div raw_mod zero"
    ),
    "language.matrices": (
        "Matrix Vector"
    ),
    "language.graph": (
        "GraphStatus checkpoint graph_do_while graph_parallel graph_parallel_context"
    ),
    "language.mathematics": (
        "abs acos asin atan atan2 ceil cos cosh exp floor isinf isnan log max min pow round rsqrt sin sinh sqrt tan tanh"
    ),
}
_MODULES = ("algorithms", "graph", "linalg", "math", "types")
_get, _names = _door(globals(), _HOMES)

__all__ = [*_names(), *_MODULES]


def __getattr__(name: str) -> object:
    return __import__(f"samovar.{name}", fromlist=["*"]) if name in _MODULES else _get(name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
