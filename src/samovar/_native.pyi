"""Types of the native extension, one section per C file."""

from collections.abc import Callable
from typing import Any, Literal, final

# --- dtype.c

@final
class DType:
    name: str
    kind: Literal["int", "uint", "bool", "float"]
    bits: int
    itemsize: int
    code: int
    format: str
    typestr: str
    def __call__(self, value: Any, /) -> Any: ...

i8: DType
i16: DType
i32: DType
i64: DType
u1: DType
u8: DType
u16: DType
u32: DType
u64: DType
f16: DType
f32: DType
f64: DType

# --- fingerprint.c, fingerprint_plans.c

@final
class FingerprintPlans:
    def __init__(
        self,
        planner: Callable[[type], Any],
        keeps: bool,
        deconstruction: type,
        empty: type,
        order_insensitive: type,
    ) -> None: ...

def fingerprint_fold(value: object, plans: FingerprintPlans, /) -> bytes | None: ...
