"""Types of the native extension, one section per C file."""

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
