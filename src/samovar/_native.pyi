"""Types of the native extension, one section per C file."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from inspect import Signature
from types import CodeType, FunctionType
from typing import Any, Literal, SupportsIndex, TypeAlias, TypedDict, final, type_check_only

from typing_extensions import Self

# --- module.c

ABI: int
BUILD: str

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
    def to_string(self) -> str: ...
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

class Tensor:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def element_shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> DType: ...
    @property
    def grad(self) -> Self | None: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def needs_grad(self) -> bool: ...
    @property
    def readonly(self) -> bool: ...
    def has_grad(self) -> bool: ...
    def has_dual(self) -> bool: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __getitem__(self, index: SupportsIndex | tuple[SupportsIndex, ...] | None, /) -> Any: ...
    def __setitem__(self, index: SupportsIndex | tuple[SupportsIndex, ...] | None, value: Any, /) -> None: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def to_dlpack(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __setattr__(self, name: str, value: Any, /) -> None: ...
    def fill(self, value: Any, /) -> None: ...
    def copy_from(self, source: Any, /) -> None: ...
    def from_numpy(self, source: Any, /) -> None: ...
    def from_torch(self, source: Any, /) -> None: ...
    def to_numpy(self, copy: bool | None = True, dtype: Any = None) -> Any: ...
    def to_torch(self, copy: bool | None = True, device: Any = None) -> Any: ...

@final
class Ndarray(Tensor):
    def __new__(
        cls, dtype: DType, shape: SupportsIndex | Iterable[SupportsIndex], needs_grad: bool = False, inner: int = 0
    ) -> Ndarray: ...

# --- field.c, layout.c

@final
class Field(Tensor):
    @property
    def offset(self) -> tuple[int, ...]: ...

FieldLayout: TypeAlias = tuple[tuple[int, ...], tuple[tuple[tuple[int, int], ...], ...]]

def new_field(dtype: DType, grad: Field | None = None, inner: int = 0, /) -> Field: ...
def postpone_field(field: Field, plan: Callable[[], None], /) -> None: ...
def settle_field(field: Field, layout: FieldLayout, memory: Ndarray, start: int, /) -> None: ...
def is_placed(array: object, /) -> bool: ...
def field_layout(object: object, /) -> FieldLayout | None: ...
def rebuild_field(dtype: str, layout: FieldLayout, elements: object, grad: Field | None, inner: int = 0, /) -> Field: ...

# --- algorithms.c, sorting.c

def scan_elements(source: object, destination: object, exclusive: bool, /) -> None: ...
def sum_elements(source: object, product: bool, /) -> Any: ...
def extreme_element(source: object, greatest: bool, /) -> tuple[int, Any]: ...
def select_elements(source: object, mask: object, /) -> Ndarray: ...
def sort_elements(keys: object, values: object, /) -> None: ...

# --- array_*.c: arrays of any library

@type_check_only
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
def is_tensor_type(cls: type, /) -> bool: ...
def as_ndarray(source: object, copy: bool | None = None) -> Ndarray: ...
def from_dlpack(source: object, /, *, copy: bool | None = None) -> Ndarray: ...
def rebuild_array(
    dtype: str, shape: tuple[int, ...], elements: object, grad: Ndarray | None, inner: int = 0, /
) -> Ndarray: ...

# --- symbols.c

def library_function(name: str, /) -> Callable[..., float]: ...
def symbol_address(name: str, /) -> int | None: ...
def symbol_names() -> tuple[str, ...]: ...

# --- image.c

@final
class Image:
    size: int
    address: int
    functions: tuple[tuple[str, int, int], ...]
    @classmethod
    def from_flat(cls, data: bytes | bytearray | memoryview, /) -> Image: ...
    @classmethod
    def from_address(cls, entry: int, keep: object) -> Image: ...

# --- values.c

def same_value(first: object, second: object, /) -> bool: ...

# --- overlap.c

def disjoint(written: tuple[object, ...], others: tuple[object, ...], /) -> bool: ...

# --- tensors.c

TENSOR_FACTS: tuple[str, ...]
SLOT: int
LEAST_KNOWN_EXTENT: int
GREATEST_KNOWN_EXTENT: int

def tensor_facts(object: object, /) -> tuple[Any, ...] | None: ...
def array_slots(ndim: int, strided: bool, /) -> tuple[int, int, int, int]: ...

# --- contents.c

def describe_array(array: object, most_bytes: int, /) -> tuple[Any, ...] | None: ...
def same_contents(object: object, description: tuple[Any, ...], /) -> bool: ...

# --- context.c

def seed(number: int, /) -> None: ...

# --- specialisation.c

@final
class Specialisation:
    image: Image
    keep: Any
    labels: tuple[int, ...] | None
    tasks: tuple[tuple[str, float, int], ...]
    operands: list[Any]
    def __new__(
        cls,
        image: Image,
        program: Sequence[tuple[Any, ...]] | bytes,
        registers: int,
        block_size: int,
        results: tuple[Any, ...] | None = None,
        tasks: Sequence[tuple[str, float, int]] = (),
        speak: Callable[[list[tuple[int, tuple[bytes, ...]]]], object] | None = None,
        fail: Callable[[int, tuple[bytes, ...]], BaseException] | None = None,
        keep: object = None,
        slow_serial: bool = False,
        sites: Sequence[int] = (),
        objects: list[Any] = ...,
        resolve: Callable[[tuple[Any, ...]], Any] | None = None,
        checkpoints: tuple[int, tuple[int, ...], tuple[object, ...]] | None = None,
    ) -> Specialisation: ...

# --- kernel.c, launcher.c

# --- recording.c

@final
class Step:
    def __new__(cls) -> Step: ...
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...
    def __len__(self) -> int: ...
    def replace(self, array: object, other: object, /) -> None: ...

def begin_recording(step: Step, /) -> None: ...
def end_recording() -> None: ...

# --- bound_kernel.c

@final
class BoundKernel:
    __self__: Any
    __func__: Any
    __signature__: Any
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def precompile(self, *arguments: Any, **keywords: Any) -> int: ...
    def inspect(self, stage: str, /, *arguments: Any, **keywords: Any) -> str: ...
    def resume(self, *arguments: Any, from_checkpoint: int, **keywords: Any) -> Any: ...

class Kernel:
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., Any]
    __signature__: Signature
    parameters: tuple[str, ...]
    resolve: Callable[[Any, tuple[Any, ...]], Specialisation]
    specialisations: list[Specialisation]
    def __new__(
        cls,
        function: Callable[..., Any],
        parameters: tuple[str, ...],
        defaults: dict[str, Any],
        resolve: Callable[[Any, tuple[Any, ...]], Specialisation],
    ) -> Kernel: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: object, owner: type | None = None, /) -> Any: ...
    def __copy__(self) -> Any: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Any: ...
    def resume_at(self, label: object, /, *args: Any, **kwargs: Any) -> Any: ...
    def insert(self, specialisation: Specialisation, /) -> None: ...
    def remove(self, specialisation: Specialisation, /) -> None: ...
    def clear(self) -> None: ...

# --- threads.c

def set_threads(number: int, /) -> None: ...
def threads() -> int: ...
def pool_statistics() -> dict[str, int]: ...

# --- cpu.c

def cpu_name() -> str: ...
def cpu_features() -> dict[str, bool]: ...

# --- fingerprint_tables.c

FINGERPRINT_DIGEST_SIZE: int
FINGERPRINT_DOMAINS: dict[str, bytes]
FINGERPRINT_BUILTINS: dict[type, tuple[int, str]]
FINGERPRINT_WALKS: dict[str, int]
FINGERPRINT_TAGS: dict[str, str]

# --- fingerprint.c, fingerprint_plans.c

@final
class FingerprintPlans:
    def __new__(
        cls,
        planner: Callable[[type], Any],
        keeps: bool,
        deconstruction: type,
        empty: type,
        order_insensitive: type,
    ) -> FingerprintPlans: ...

# --- plain_digest.c

def plain_digest(value: object, /) -> str: ...
def code_fingerprint(code: CodeType, locations: bool = False, /) -> str: ...

# --- path.c

class Path:
    @property
    def parent(self) -> Any: ...
    @property
    def step(self) -> str: ...
    @property
    def key(self) -> Any: ...
    def __new__(cls, parent: Path | None, step: str, key: Any = None) -> Any: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

# --- cache_entry.c

LARGEST_ENTRY: int

def read_entry(path: str, /) -> tuple[bytes, tuple[int, int, int], int, int]: ...
def write_entry(temporary: str, path: str, content: bytes, /) -> None: ...
def checksum(content: bytes, start: int, /) -> bytes: ...

# --- codec.c

def encode_plain(value: object, /) -> bytes: ...
def encode_program(instructions: Sequence[tuple[Any, ...]], /) -> bytes: ...
def decode_plain(content: bytes | memoryview, start: int = 0, /) -> Any: ...
def codec_words() -> tuple[str, ...]: ...
def guard_forms() -> dict[str, str]: ...
def guard_parts() -> tuple[str, ...]: ...

# --- replay.c, replay_words.c

def is_own_module(module: object, /) -> bool: ...
def agreeing_steps(
    steps: list[Any],
    rows: list[Any],
    objects: list[Any],
    function: FunctionType,
    signature: object,
    arguments: dict[str, Any],
    options: dict[str, Any],
    locations: bool,
    read: Callable[[int], Any],
    agrees: Callable[[int, str, Any], bool],
    /,
) -> int: ...
def set_replay_tables(
    tables: dict[str, Collection[str]],
    exact_kinds: tuple[tuple[type, str], ...],
    intrinsics: dict[Any, str],
    declaration: type,
    absent: object,
    unread: object,
    /,
) -> None: ...
def replay_words() -> list[tuple[str, str]]: ...

# --- fingerprint.c

def fingerprint_fold(value: object, plans: FingerprintPlans, memoize: bool = True, /) -> bytes | None: ...
def instance_dict(instance: object, /) -> dict[Any, Any] | None: ...
