"""Types of the native extension, one section per C file."""

from collections.abc import Iterable
from typing import Any, Literal, SupportsIndex, TypedDict, final

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

# --- array.c, array_*.c

@final
class Ndarray:
    shape: tuple[int, ...]
    dtype: DType
    grad: Ndarray | None
    ndim: int
    size: int
    nbytes: int
    needs_grad: bool
    readonly: bool
    def __new__(
        cls, dtype: DType, shape: SupportsIndex | Iterable[SupportsIndex], needs_grad: bool = False
    ) -> Ndarray: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, index: SupportsIndex | tuple[SupportsIndex, ...] | None, /) -> Any: ...
    def __setitem__(self, index: SupportsIndex | tuple[SupportsIndex, ...] | None, value: Any, /) -> None: ...
    def fill(self, value: Any, /) -> None: ...

class TensorDescription(TypedDict):
    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int
    readonly: bool
    contiguous: bool
    wide: bool
    needs_grad: bool

def describe_tensor(value: object, /) -> TensorDescription | None: ...
