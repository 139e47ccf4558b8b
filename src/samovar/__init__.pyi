"""The public names for type checkers: `__init__.py` fetches them when they are used."""

from samovar import (
    graph as graph,
)
from samovar import (
    math as math,
)
from samovar import (
    types as types,
)
from samovar._native import (
    f16 as f16,
)
from samovar._native import (
    f32 as f32,
)
from samovar._native import (
    f64 as f64,
)
from samovar._native import (
    i8 as i8,
)
from samovar._native import (
    i16 as i16,
)
from samovar._native import (
    i32 as i32,
)
from samovar._native import (
    i64 as i64,
)
from samovar._native import (
    u1 as u1,
)
from samovar._native import (
    u8 as u8,
)
from samovar._native import (
    u16 as u16,
)
from samovar._native import (
    u32 as u32,
)
from samovar._native import (
    u64 as u64,
)
from samovar.errors import (
    SamovarAssertionError as SamovarAssertionError,
)
from samovar.errors import (
    SamovarCompilationError as SamovarCompilationError,
)
from samovar.errors import (
    SamovarError as SamovarError,
)
from samovar.errors import (
    SamovarRaceError as SamovarRaceError,
)
from samovar.errors import (
    SamovarRuntimeError as SamovarRuntimeError,
)
from samovar.errors import (
    SamovarSyntaxError as SamovarSyntaxError,
)
from samovar.errors import (
    SamovarTypeError as SamovarTypeError,
)
from samovar.errors import (
    SamovarWarning as SamovarWarning,
)
from samovar.language.functions import (
    abs as abs,
)
from samovar.language.functions import (
    atomic_add as atomic_add,
)
from samovar.language.functions import (
    atomic_and as atomic_and,
)
from samovar.language.functions import (
    atomic_cas as atomic_cas,
)
from samovar.language.functions import (
    atomic_exchange as atomic_exchange,
)
from samovar.language.functions import (
    atomic_max as atomic_max,
)
from samovar.language.functions import (
    atomic_min as atomic_min,
)
from samovar.language.functions import (
    atomic_mul as atomic_mul,
)
from samovar.language.functions import (
    atomic_or as atomic_or,
)
from samovar.language.functions import (
    atomic_sub as atomic_sub,
)
from samovar.language.functions import (
    atomic_xor as atomic_xor,
)
from samovar.language.functions import (
    bit_cast as bit_cast,
)
from samovar.language.functions import (
    cast as cast,
)
from samovar.language.functions import (
    grouped as grouped,
)
from samovar.language.functions import (
    loop_config as loop_config,
)
from samovar.language.functions import (
    max as max,
)
from samovar.language.functions import (
    min as min,
)
from samovar.language.functions import (
    ndrange as ndrange,
)
from samovar.language.functions import (
    pow as pow,
)
from samovar.language.functions import (
    randn as randn,
)
from samovar.language.functions import (
    random as random,
)
from samovar.language.functions import (
    select as select,
)
from samovar.language.functions import (
    static as static,
)
from samovar.language.functions import (
    static_assert as static_assert,
)
from samovar.language.functions import (
    static_print as static_print,
)
from samovar.lens.compound import (
    FIELD_METADATA_CACHE_VALUE as FIELD_METADATA_CACHE_VALUE,
)
from samovar.lens.compound import (
    data_oriented as data_oriented,
)
from samovar.math import (
    acos as acos,
)
from samovar.math import (
    asin as asin,
)
from samovar.math import (
    atan as atan,
)
from samovar.math import (
    atan2 as atan2,
)
from samovar.math import (
    ceil as ceil,
)
from samovar.math import (
    cos as cos,
)
from samovar.math import (
    cosh as cosh,
)
from samovar.math import (
    exp as exp,
)
from samovar.math import (
    floor as floor,
)
from samovar.math import (
    isinf as isinf,
)
from samovar.math import (
    isnan as isnan,
)
from samovar.math import (
    log as log,
)
from samovar.math import (
    round as round,
)
from samovar.math import (
    rsqrt as rsqrt,
)
from samovar.math import (
    sin as sin,
)
from samovar.math import (
    sinh as sinh,
)
from samovar.math import (
    sqrt as sqrt,
)
from samovar.math import (
    tan as tan,
)
from samovar.math import (
    tanh as tanh,
)
from samovar.runtime.arrays import (
    Ndarray as Ndarray,
)
from samovar.runtime.arrays import (
    from_dlpack as from_dlpack,
)
from samovar.runtime.arrays import (
    from_numpy as from_numpy,
)
from samovar.runtime.arrays import (
    from_torch as from_torch,
)
from samovar.runtime.arrays import (
    ndarray as ndarray,
)
from samovar.runtime.compile_counter import (
    compile_count as compile_count,
)
from samovar.runtime.configuration import (
    cpu as cpu,
)
from samovar.runtime.configuration import (
    cuda as cuda,
)
from samovar.runtime.configuration import (
    gpu as gpu,
)
from samovar.runtime.configuration import (
    init as init,
)
from samovar.runtime.configuration import (
    reset as reset,
)
from samovar.runtime.configuration import (
    sync as sync,
)
from samovar.runtime.configuration import (
    x64 as x64,
)
from samovar.runtime.func import (
    func as func,
)
from samovar.runtime.kernel import (
    kernel as kernel,
)
from samovar.runtime.precompile import (
    precompile as precompile,
)
from samovar.types import (
    Template as Template,
)
from samovar.types import (
    float16 as float16,
)
from samovar.types import (
    float32 as float32,
)
from samovar.types import (
    float64 as float64,
)
from samovar.types import (
    int8 as int8,
)
from samovar.types import (
    int16 as int16,
)
from samovar.types import (
    int32 as int32,
)
from samovar.types import (
    int64 as int64,
)
from samovar.types import (
    template as template,
)
from samovar.types import (
    uint1 as uint1,
)
from samovar.types import (
    uint8 as uint8,
)
from samovar.types import (
    uint16 as uint16,
)
from samovar.types import (
    uint32 as uint32,
)
from samovar.types import (
    uint64 as uint64,
)

__version__: str
