"""The names of `sv.types` for type checkers. A dtype is a type, a value and a conversion at once.

mypy sees annotations as Any: numbers in kernels, elements of arrays and vectors mix freely. pyright sees the Python types
that dtypes correspond to, and the interface that arrays of all libraries have in common.
"""

from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

from typing_extensions import dataclass_transform

from samovar.values.struct_arrays import StructField, StructNdarray

MYPY = False
if MYPY:
    from typing import Annotated as Array
    from typing import Annotated as NDArray

    Template: TypeAlias = Any
    bf16: TypeAlias = Any
    bfloat16: TypeAlias = Any
    c64: TypeAlias = Any
    c128: TypeAlias = Any
    complex64: TypeAlias = Any
    complex128: TypeAlias = Any
    f16: TypeAlias = Any
    f32: TypeAlias = Any
    f64: TypeAlias = Any
    float16: TypeAlias = Any
    float32: TypeAlias = Any
    float64: TypeAlias = Any
    i16: TypeAlias = Any
    i32: TypeAlias = Any
    i64: TypeAlias = Any
    i8: TypeAlias = Any
    int16: TypeAlias = Any
    int32: TypeAlias = Any
    int64: TypeAlias = Any
    int8: TypeAlias = Any
    u1: TypeAlias = Any
    u16: TypeAlias = Any
    u32: TypeAlias = Any
    u64: TypeAlias = Any
    u8: TypeAlias = Any
    uint1: TypeAlias = Any
    uint16: TypeAlias = Any
    uint32: TypeAlias = Any
    uint64: TypeAlias = Any
    uint8: TypeAlias = Any
else:
    Template: TypeAlias = Any
    bf16: TypeAlias = float
    bfloat16: TypeAlias = float
    c64: TypeAlias = complex
    c128: TypeAlias = complex
    complex64: TypeAlias = complex
    complex128: TypeAlias = complex
    f16: TypeAlias = float
    f32: TypeAlias = float
    f64: TypeAlias = float
    float16: TypeAlias = float
    float32: TypeAlias = float
    float64: TypeAlias = float
    i16: TypeAlias = int
    i32: TypeAlias = int
    i64: TypeAlias = int
    i8: TypeAlias = int
    int16: TypeAlias = int
    int32: TypeAlias = int
    int64: TypeAlias = int
    int8: TypeAlias = int
    u1: TypeAlias = bool
    u16: TypeAlias = int
    u32: TypeAlias = int
    u64: TypeAlias = int
    u8: TypeAlias = int
    uint1: TypeAlias = bool
    uint16: TypeAlias = int
    uint32: TypeAlias = int
    uint64: TypeAlias = int
    uint8: TypeAlias = int

    class NDArray(Protocol):
        def __class_getitem__(cls, parts: Any, /) -> type[NDArray]: ...
        @property
        def shape(self) -> Any: ...
        @property
        def ndim(self) -> Any: ...
        @property
        def dtype(self) -> Any: ...
        def __getitem__(self, index: Any, /) -> Any: ...
        def __setitem__(self, index: Any, value: Any, /) -> Any: ...
        def __iter__(self) -> Iterator[Any]: ...
        def __len__(self) -> int: ...

    Array: TypeAlias = NDArray

@dataclass_transform()
class StructBase:
    @classmethod
    def field(
        cls,
        shape: Any = None,
        *,
        order: str | None = None,
        offset: Any = None,
        needs_grad: bool = False,
        name: str = "",
        layout: Any = "aos",
        needs_dual: bool = False,
    ) -> StructField: ...
    @classmethod
    def ndarray(
        cls, shape: Any, needs_grad: bool = False, layout: Any = "aos", needs_dual: bool = False
    ) -> StructNdarray: ...
    @classmethod
    def from_numpy(cls, array: Any, copy: bool | None = None) -> StructNdarray: ...

def ndarray(
    dtype: Any = None, ndim: int | None = None, *, needs_grad: bool | None = None, boundary: str = "unsafe"
) -> Any: ...
def buffer_view(dtype: Any = None, boundary: str = "unsafe") -> Any: ...
def ref(tp: Any = None) -> Any: ...
def sparse_matrix_builder() -> Any: ...
def is_integral(dtype: Any) -> bool: ...
def is_real(dtype: Any) -> bool: ...
def is_signed(dtype: Any) -> bool: ...
def is_tensor(dtype: Any) -> bool: ...
def template(element_type: Any = ..., ndim: int | None = None) -> Any: ...
def vector(n: int | None = None, dtype: Any = None, *, unpacked: bool = False) -> Any: ...
def matrix(n: int | None = None, m: int | None = None, dtype: Any = None) -> Any: ...
def struct(**members: Any) -> Any: ...

__all__ = [
    "Array",
    "NDArray",
    "StructBase",
    "Template",
    "bf16",
    "bfloat16",
    "buffer_view",
    "c64",
    "c128",
    "complex64",
    "complex128",
    "f16",
    "f32",
    "f64",
    "float16",
    "float32",
    "float64",
    "i8",
    "i16",
    "i32",
    "i64",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_integral",
    "is_real",
    "is_signed",
    "is_tensor",
    "matrix",
    "ndarray",
    "ref",
    "sparse_matrix_builder",
    "struct",
    "template",
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
    "vector",
]
