"""Annotations as frozen specifications, resolved once, when a decorator runs.

These are plain classes and not dataclasses, because decorating a kernel must not cost the import of `inspect`. Everything
here is immutable, and specifications compare by value; `key()` is the same fact as plain data, the form that a trace
stores.
"""

from __future__ import annotations

import sys

import samovar
from samovar import _native
from samovar._native import BufferView, DType, Tensor, c64, c128, f64, u1, u32, u64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType, FunctionType
    from typing import Any

    from samovar.language.options import Options

BOUNDARIES = ("unsafe", "clamp")


class Annotation:
    """The base class of all specifications: a value made of its slots."""

    __slots__: tuple[str, ...] = ("_key",)
    _key: tuple[Any, ...]
    #: Whether it is a vector or matrix type. Those classes are loaded only if a program uses them.
    is_matrix = False
    is_element = False  # only the element type of an array
    #: Whether it is a struct type; likewise.
    is_struct = False

    def _set(self, **parts: object) -> None:
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def key(self) -> tuple[Any, ...]:
        """The specification as nested tuples of plain data."""
        try:
            return self._key
        except AttributeError:
            # A warm start reads the keys of all annotations, and most of their parts are already plain.
            parts = [getattr(self, name) for name in self.__slots__]
            key = (type(self).__name__, *[_plain(part) if isinstance(part, _COMPOUND) else part for part in parts])
            object.__setattr__(self, "_key", key)
            return key

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Annotation) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __or__(self, other: Any) -> Any:
        """`NDArray[sv.f32, 1] | None`: the same as `typing.Optional[...]`."""
        import typing

        return typing.Union[self, other]  # noqa: UP007

    __ror__ = __or__

    if sys.version_info < (3, 11):

        def __call__(self, *arguments: object) -> None:
            """`typing` accepts only callables as types there."""
            raise TypeError(f"{self} is an annotation and cannot be called")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self.__slots__)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({parts})"


_COMPOUND = (Annotation, tuple)


def _plain(part: object) -> object:
    if isinstance(part, Annotation):
        return part.key()
    if isinstance(part, tuple):
        return tuple(_plain(item) for item in part)
    return part


class ScalarAnnotation(Annotation):
    """A number: of `dtype`, or, if that is None, of the type set by the option named in `default`."""

    __slots__ = ("default", "dtype")
    dtype: DType | None
    default: str | None

    def __init__(self, dtype: DType | None = None, default: str | None = None) -> None:
        self._set(dtype=dtype, default=default)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.dtype, self.default)

    def resolved(self, options: Options) -> DType:
        """The dtype under these options; reading them through a recording view records the one that was read."""
        return _resolved(self.dtype, self.default, options) or u1

    def __str__(self) -> str:
        return self.dtype.name if self.dtype is not None else _default_name(self.default)


class ArrayAnnotation(Annotation):
    """An array. Parts that are None are taken from the argument. `element` is the shape of its elements: () for numbers; an
    extent that is None is taken from the argument too."""

    __slots__ = ("boundary", "default", "dtype", "element", "ndim", "needs_grad")
    dtype: DType | None
    element: tuple[int | None, ...] | None
    ndim: int | None
    needs_grad: bool | None
    boundary: str
    default: str | None

    def __init__(
        self,
        dtype: DType | None = None,
        ndim: int | None = None,
        needs_grad: bool | None = None,
        boundary: str = "unsafe",
        default: str | None = None,
        element: tuple[int | None, ...] | None = None,
    ) -> None:
        self._set(dtype=dtype, ndim=ndim, needs_grad=needs_grad, boundary=boundary, default=default, element=element)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.dtype, self.ndim, self.needs_grad, self.boundary, self.default, self.element)

    def resolved(self, options: Options) -> DType | None:
        """The dtype of the elements under these options; None if the argument decides."""
        return _resolved(self.dtype, self.default, options)

    def element_fits(self, found: tuple[int, ...]) -> bool:
        """Whether elements may have this shape."""
        if self.element is None:
            return True
        pairs = zip(self.element, found, strict=False)
        return len(self.element) == len(found) and all(wanted in (None, extent) for wanted, extent in pairs)

    def __repr__(self) -> str:
        """The annotation as written in a program."""
        if self.element:
            kind = "vector" if len(self.element) == 1 else "matrix"
            scalar = f"sv.{self.dtype.name}" if self.dtype is not None else _default_name(self.default)
            dtype = f"sv.types.{kind}({', '.join(map(str, self.element))}, {scalar})"
        elif self.dtype is not None:
            dtype = f"sv.{self.dtype.name}"
        else:
            dtype = _default_name(self.default) if self.default else "None"
        if self.needs_grad is None and self.boundary == "unsafe":
            is_bare = dtype == "None" and self.ndim is None
            return "sv.types.NDArray" if is_bare else f"sv.types.NDArray[{dtype}, {self.ndim}]"
        grad = "" if self.needs_grad is None else f", needs_grad={self.needs_grad}"
        return f"sv.types.ndarray({dtype}, {self.ndim}{grad}, boundary={self.boundary!r})"

    def __str__(self) -> str:
        return f"NDArray[{_element_name(self)}, {'any rank' if self.ndim is None else self.ndim}]"


class ViewAnnotation(Annotation):
    """A slice of a 1-D array, with the parts of an `ArrayAnnotation`. `boundary` applies to the ends of the slice."""

    __slots__ = ("boundary", "default", "dtype", "element", "struct")
    dtype: DType | None
    element: tuple[int | None, ...] | None
    boundary: str
    default: str | None
    #: The type of the elements, if they are structs.
    struct: Any

    def __init__(
        self,
        dtype: DType | None = None,
        boundary: str = "unsafe",
        default: str | None = None,
        element: tuple[int | None, ...] | None = None,
        struct: Any = None,
    ) -> None:
        self._set(dtype=dtype, boundary=boundary, default=default, element=element, struct=struct)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.dtype, self.boundary, self.default, self.element, self.struct)

    def as_array(self) -> ArrayAnnotation:
        """The same declaration of the elements, as the annotation of an array."""
        return ArrayAnnotation(self.dtype, 1, None, self.boundary, self.default, self.element)

    def __str__(self) -> str:
        if self.struct is not None:
            return f"BufferView[{self.struct}]"
        if self.element is None:
            return "BufferView"
        return f"BufferView[{_element_name(self)}]"


def _extent(extent: int | None) -> str:
    return "any" if extent is None else str(extent)


class TemplateAnnotation(Annotation):
    """A compile-time value, or an array or field of any kind."""

    __slots__ = ()

    def __str__(self) -> str:
        return "Template"


class TensorAnnotation(Annotation):
    """`sv.Tensor`: an array or a field of any kind, or None."""

    __slots__ = ()

    def __str__(self) -> str:
        return "Tensor"


class DataclassAnnotation(Annotation):
    """An instance of a dataclass, or of a subclass.

    No member is part of the key until a kernel reads it: the lens then asks about that member.
    """

    __slots__ = ("cls",)
    cls: type

    def __init__(self, cls: type) -> None:
        self._set(cls=cls)

    def key(self) -> tuple[Any, ...]:
        return (type(self).__name__, str(self))

    def __str__(self) -> str:
        from samovar.reflection import class_name

        return class_name(self.cls)


class TupleAnnotation(Annotation):
    """Several results."""

    __slots__ = ("items",)
    items: tuple[Annotation, ...]

    def __init__(self, items: tuple[Annotation, ...]) -> None:
        self._set(items=items)

    def __str__(self) -> str:
        return f"tuple[{', '.join(map(str, self.items))}]"


class NoneAnnotation(Annotation):
    """`-> None`: a function that returns nothing."""

    __slots__ = ()

    def __str__(self) -> str:
        return "None"


class AnyAnnotation(Annotation):
    """No annotation: a parameter of a func accepts any value."""

    __slots__ = ()

    def __str__(self) -> str:
        return "no annotation"


_ANY = AnyAnnotation()

def _resolved(dtype: DType | None, default: str | None, options: Options) -> DType | None:
    return dtype if dtype is not None or default is None else default_type(default, options)


def default_type(default: str, options: Options) -> DType:
    """The type that an option sets: `default_ip`, `default_fp`, `default_up`, the unsigned type of the same size as the
    first, or `default_cp`, complex numbers with parts of the second."""
    if default == "default_cp":
        return c128 if options.default_fp is f64 else c64
    chosen: DType = options.default_fp if default == "default_fp" else options.default_ip
    if default != "default_up":
        return chosen
    return u64 if chosen.bits == 64 else u32


def _default_name(default: str | None) -> str:
    names = {"default_ip": "int", "default_fp": "float", "default_up": "unsigned int", "default_cp": "complex"}
    return names.get(default or "", "any dtype")


def _element_name(annotation: ArrayAnnotation | ViewAnnotation) -> str:
    default, element = annotation.default, annotation.element
    dtype = annotation.dtype.name if annotation.dtype is not None else _default_name(default) if default else "any dtype"
    if element:
        dtype = f"{'vector' if len(element) == 1 else 'matrix'}({', '.join(map(_extent, element))}, {dtype})"
    return dtype


#: Python's number types as annotations.
PYTHON_SCALARS: dict[object, ScalarAnnotation] = {
    int: ScalarAnnotation(default="default_ip"),
    float: ScalarAnnotation(default="default_fp"),
    bool: ScalarAnnotation(u1),
    complex: ScalarAnnotation(default="default_cp"),
}


#: The annotation of each dtype used so far, so that its key is made once.
_OF_DTYPE: dict[DType, ScalarAnnotation] = {}


def specification(annotation: object) -> Annotation | None:
    """The specification of an evaluated annotation; None if it is not one of ours."""
    if isinstance(annotation, Annotation):
        return None if annotation.is_element else annotation
    if isinstance(annotation, DType):
        return _OF_DTYPE.get(annotation) or _OF_DTYPE.setdefault(annotation, ScalarAnnotation(annotation))
    from samovar.reflection import dataclass_fields, is_class

    if is_class(annotation):
        return _of_class(annotation)
    # `tuple[sv.f32, sv.i32]` and `typing.Tuple[...]` store their origin and arguments in two attributes, and so does the
    # alias of a generic dataclass.
    origin = getattr(annotation, "__origin__", None)
    if origin is tuple:
        return _tuple(getattr(annotation, "__args__", ()))
    if is_class(origin) and dataclass_fields(origin) is not None:
        return _of_class(origin)
    if annotation is None:
        return NoneAnnotation()
    if without_none(annotation) is Tensor:
        return TensorAnnotation()
    if isinstance(annotation, tuple):
        return _tuple(annotation)
    return _of_library(annotation)


def _of_library(annotation: object) -> Annotation | None:
    """The specification of a NumPy or torch dtype: `np.float32`, `np.dtype("f4")`, `torch.float32`."""
    from samovar.reflection import is_class

    home = getattr(annotation if is_class(annotation) else type(annotation), "__module__", None)
    if home not in ("numpy", "numpy.dtypes", "torch"):
        return None
    from samovar.language.dtypes import foreign_dtype

    # The text of a torch dtype includes its module, and that of a NumPy dtype may include the byte order.
    name = getattr(annotation, "__name__", None) or str(annotation).rpartition(".")[2]
    dtype = foreign_dtype(name)
    return None if dtype is None else specification(dtype)


def without_none(written: object) -> object:
    """The type inside `Optional[...]`: for an array or a number it means the same."""
    if type(written).__name__ not in ("_UnionGenericAlias", "UnionType", "Union"):
        return written
    parts = [part for part in getattr(written, "__args__", ()) if part is not type(None)]
    return parts[0] if len(parts) == 1 else written


def _of_class(cls: Any) -> Annotation | None:
    for number, found in PYTHON_SCALARS.items():
        if cls is number:
            return found
    if cls is Tensor:
        return TensorAnnotation()
    if cls is BufferView:
        return ViewAnnotation()
    from samovar.reflection import dataclass_fields, namespace

    marked = namespace(cls).get("_samovar_annotation")
    if isinstance(marked, Annotation):
        return marked
    return _of_library(cls) if dataclass_fields(cls) is None else DataclassAnnotation(cls)


def plainly(part: Any) -> Any:
    """A key with names instead of dtypes."""
    if type(part) is tuple:
        return tuple(map(plainly, part))
    return ("dtype", part.name) if type(part) is DType else part


def from_plain(part: Any) -> Any:
    """The key with dtypes again: the inverse of `plainly`."""
    if type(part) is not tuple:
        return part
    return getattr(_native, part[1]) if part[:1] == ("dtype",) else tuple(map(from_plain, part))


def _tuple(items: tuple[object, ...]) -> TupleAnnotation | None:
    parts = [specification(item) for item in items]
    if any(part is None for part in parts):
        return None
    return TupleAnnotation(tuple(part for part in parts if part is not None))


class SignatureParameter:
    """A parameter. `kind` is "positional only", "positional" or "keyword only"."""

    __slots__ = ("annotation", "has_default", "kind", "name")

    def __init__(self, name: str, annotation: Annotation, kind: str, has_default: bool) -> None:
        self.name = name
        self.annotation = annotation
        self.kind = kind
        self.has_default = has_default


class KernelSignature:
    """The parameters of a kernel or func with resolved annotations, its result, and the decorator's options."""

    __slots__ = ("_key", "digests", "options", "parameters", "returns")

    def __init__(
        self,
        parameters: tuple[SignatureParameter, ...],
        returns: Annotation,
        options: Mapping[str, object],
    ) -> None:
        self.parameters = parameters
        self.returns = returns
        self.options = options
        self._key: tuple[Any, ...] | None = None
        #: Digests of the key with the names of defaults, which every warm start reads.
        self.digests: dict[tuple[str, ...], str] = {}

    def with_options(self, **options: object) -> KernelSignature:
        """The same with some options more."""
        return KernelSignature(self.parameters, self.returns, {**self.options, **options})

    def key(self) -> tuple[Any, ...]:
        """The signature as plain data."""
        if self._key is None:
            parameters = tuple((p.name, p.annotation.key(), p.kind, p.has_default) for p in self.parameters)
            self._key = (parameters, self.returns.key(), tuple(sorted(self.options.items())))
        return self._key


class Declaration:
    """A function with its resolved signature: the base class of what `@sv.func` returns. The lens recognizes objects of
    the runtime by it."""

    __slots__ = ("__wrapped__", "signature")

    __wrapped__: Any
    signature: KernelSignature


VARIADIC = 0x0C  # CO_VARARGS | CO_VARKEYWORDS


def signature_of(function: FunctionType, frame: FrameType | None, options: Mapping[str, object]) -> KernelSignature:
    """Resolve the annotations of a function. `frame` is where it is being defined; the options are stored unchanged."""
    code = function.__code__
    if code.co_flags & VARIADIC:
        name = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        message = f"{function.__qualname__} has *args or **kwargs, which kernels and funcs do not support"
        raise _unsupported(function, name, message, "declare each parameter by name")
    positional, keyword = code.co_argcount, code.co_kwonlyargcount
    with_default = {*code.co_varnames[positional - len(function.__defaults__ or ()) : positional]}
    with_default.update(function.__kwdefaults__ or ())
    annotations = function.__annotations__
    parameters = []
    for index, name in enumerate(code.co_varnames[: positional + keyword]):
        kind = "keyword only" if index >= positional else "positional"
        if index < code.co_posonlyargcount:
            kind = "positional only"
        annotation = _resolve(function, name, annotations, frame)
        parameters.append(SignatureParameter(name, annotation, kind, name in with_default))
    return KernelSignature(tuple(parameters), _resolve(function, "return", annotations, frame), options)


def _resolve(
    function: FunctionType, name: str, annotations: Mapping[str, object], frame: FrameType | None
) -> Annotation:
    if name not in annotations:
        return _ANY
    annotation = written = annotations[name]
    # `from __future__ import annotations` leaves strings; a quoted annotation under it is a string in a string.
    if isinstance(annotation, str):
        annotation = _evaluate(annotation, function, frame, name)
        if isinstance(annotation, str):
            annotation = _evaluate(annotation, function, frame, name)
    library: Any = sys.modules.get("typing")
    if library is not None and annotation is library.Any:
        return _ANY  # for type checkers: a parameter of any type
    resolved = specification(annotation)
    if resolved is None:
        message = f"the annotation of {_subject(function, name)} is not supported: {written!r}"
        from samovar.language.unsupported_annotation import advice_for

        raise _unsupported(function, name, message, advice_for(annotation))
    if name != "return" and isinstance(resolved, (TupleAnnotation, NoneAnnotation)):
        message = f"the annotation of {_subject(function, name)} cannot be {resolved}: only results can"
        raise _unsupported(function, name, message, "declare one parameter per value, or use sv.Template")
    return resolved


def _unsupported(function: FunctionType, parameter: str, message: str, advice: str) -> Exception:
    from samovar.language.unsupported_annotation import UnsupportedAnnotation

    return UnsupportedAnnotation(function, parameter, message, advice)


def _subject(function: FunctionType, name: str) -> str:
    return f"{'the result' if name == 'return' else f'parameter `{name}`'} of {function.__qualname__}"


def _evaluate(text: str, function: FunctionType, frame: FrameType | None, annotated: str) -> object:
    names: dict[str, object] = _visible_names(frame)
    # A name that the body uses as well is in the function's own closure, even after the frame is gone.
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:
            continue  # not assigned yet: use the value in the frame
    try:
        return eval(compile(text, function.__code__.co_filename, "eval", 0, True), function.__globals__, names)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        message = f"the annotation {text!r} of {_subject(function, annotated)} cannot be evaluated: {reason}"
        raise _unsupported(function, annotated, message, _READ_EARLY) from error


_READ_EARLY = "annotations are evaluated when the decorator runs, so define the names they use before the function"


def evaluated(text: str, frame: FrameType, what: str) -> object:
    """The value of an annotation written as text in a class body; `frame` is where the class is defined."""
    try:
        return eval(compile(text, frame.f_code.co_filename, "eval", 0, True), frame.f_globals, _visible_names(frame))
    except Exception as error:
        raise samovar.SamovarTypeError(
            f"{what}, {text!r}, cannot be evaluated: {type(error).__name__}: {error}\n  help: {_READ_EARLY}"
        ) from error


def _visible_names(frame: FrameType | None) -> dict[str, object]:
    """The local names that a definition sees: of its function and, in a class body, of the function around the class."""
    names: dict[str, object] = {}
    while frame is not None and frame.f_locals is not frame.f_globals:
        for name, value in frame.f_locals.items():
            names.setdefault(name, value)
        if frame.f_code.co_flags & _OPTIMIZED:
            break  # a function's locals: outer names are in the closure
        frame = frame.f_back
    return names


_OPTIMIZED = 0x1
