"""The implementation of the questions, and how attributes and items of user objects are read.

This is the only module that handles user objects during a compile. It writes nothing into them; it searches classes along
`__mro__` in each `__dict__`, never through their metaclass; it avoids `isinstance`, because an object can lie about its
class; and it recognizes NumPy and torch only if the user has imported them.
"""

from __future__ import annotations

import builtins
import sys

import samovar
from samovar import _native
from samovar._native import DType, describe_tensor, instance_dict, tensor_facts
from samovar.language import Annotation, specification
from samovar.lens.answers import Kind, shown
from samovar.lens.recognition import BASE_KINDS, EXACT_KINDS, INTRINSICS, learn, learn_intrinsics
from samovar.lens.tensor_facts import UNKNOWN_EXTENT, RememberedArray
from samovar.reflection import (
    ABSENT,
    GenericAlias,
    MethodType,
    ModuleType,
    bases,
    class_name,
    derives,
    is_class,
    namespace,
    own,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.lens.enum_members import EnumMembers

#: The kind of direct instances, by the identity of their class, which is never freed.
_EXACT_KINDS = {id(RememberedArray): Kind.TENSOR, **{id(cls): found for cls, found in EXACT_KINDS}}
#: The kind of a bound method, by the kind of its function.
_METHOD_KINDS = {Kind.FUNC: Kind.METHOD, Kind.KERNEL: Kind.KERNEL}

#: The NumPy functions and types that kernels support, and the torch dtypes.
NUMPY_FUNCTIONS = (
    "abs absolute add angle arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_count bitwise_or"
    " bitwise_xor cbrt ceil clip conjugate copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs"
    " float_power floor floor_divide fmax fmin fmod frexp gcd greater greater_equal heaviside hypot imag invert isfinite"
    " isinf isnan lcm ldexp left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not"
    " logical_or logical_xor matmul matvec maximum minimum mod modf multiply negative nextafter not_equal positive power"
    " rad2deg radians real reciprocal remainder right_shift rint round sign signbit sin sinh spacing sqrt square subtract"
    " tan tanh trunc vecdot vecmat where"
    # Of arrays.
    " all amax amin any argmax argmin dot empty_like full full_like max mean min ones ones_like prod std sum var zeros_like"
).split()
NUMPY_TYPES = (
    "bool bool_ complex64 complex128 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64"
).split()
TORCH_DTYPES = (
    "bfloat16 bool complex64 complex128 double float float16 float32 float64 half int int8 int16 int32 int64 long short"
    " uint8 uint16 uint32 uint64"
).split()


def _is_complete(module: Any) -> bool:
    """Whether NumPy or torch is fully imported."""
    return type(module) is ModuleType and "dtype" in vars(module)


def _foreign_names(module: Any) -> dict[str, Any]:
    """Return the supported functions and types of NumPy or torch by their own names: a module attribute may have been
    replaced."""
    space = vars(module)
    if module.__name__ == "torch":
        found = [space.get(name) for name in TORCH_DTYPES]
        return {str(value): value for value in found if type(value) is space.get("dtype")}
    named: dict[str, Any] = {}
    for name in NUMPY_FUNCTIONS:
        value = space.get(name)
        own = getattr(value, "__name__", None)
        if own in NUMPY_FUNCTIONS and (type(value) is space.get("ufunc") or getattr(value, "__module__", None) == "numpy"):
            named[f"numpy.{own}"] = value
    for name in NUMPY_TYPES:
        value = space.get(name)
        if isinstance(value, type) and value.__module__ == "numpy" and value.__name__ in NUMPY_TYPES:
            named[f"numpy.{value.__name__}"] = value
            named[f"numpy.dtype.{value.__name__}"] = space["dtype"](value)
    return named


#: Libraries that are not registered yet. Registering one takes 0.1 ms, so it happens when its first object is seen.
_FOREIGN = {"numpy", "torch"}


def _is_foreign(value: object) -> bool:
    """Whether the value is a supported function or type of NumPy or torch."""
    library = class_name(value if is_class(value) else type(value)).partition(".")[0]
    if library in _FOREIGN and _is_complete(sys.modules.get(library)):
        _FOREIGN.remove(library)
        learn(_foreign_names(sys.modules[library]))
    return id(value) in INTRINSICS


def kind(value: object) -> Kind:
    """Return the kind of an object."""
    if value is ABSENT:
        return Kind.ABSENT
    cls: Any = type(value)
    exact = _EXACT_KINDS.get(id(cls))  # by id: a metaclass may make classes unhashable
    if exact is not None:
        return Kind.SAMOVAR if exact is Kind.MODULE and _native.is_own_module(value) else exact
    learn_intrinsics()
    if id(value) in INTRINSICS:
        return Kind.INTRINSIC
    if cls is MethodType:
        return _METHOD_KINDS.get(kind(value.__func__), Kind.FUNCTION)  # type: ignore[attr-defined]
    for base in bases(cls):
        found = BASE_KINDS.get(id(base))
        if found is not None:
            # An IntEnum member is an int as well, but code is specialized on its name.
            return Kind.ENUM if _is_enum(cls) else found
    if _native.is_tensor_type(cls):
        return Kind.TENSOR
    if _FOREIGN and _is_foreign(value):
        return Kind.INTRINSIC
    if is_class(value):
        return Kind.ANNOTATION if isinstance(own(value, "_samovar_annotation"), Annotation) else Kind.FUNCTION
    if _is_enum(cls):
        return Kind.ENUM
    if _is_numpy_scalar(cls):
        return Kind.SCALAR
    if _derives_foreign(cls, "numpy", "complexfloating"):
        return Kind.COMPLEX
    if _derives_foreign(cls, "numpy", "ufunc"):
        return Kind.FUNCTION
    return Kind.OBJECT


def _is_enum(cls: Any) -> bool:
    """Whether a class is an enum. If it is, `enum` has been imported."""
    library = sys.modules.get("enum")
    return library is not None and derives(type(cls), library.EnumMeta)


def _derives_foreign(cls: type, module: str, *names: str) -> bool:
    """Whether a class derives from a class of a library. If it does, the library has been imported."""
    library = sys.modules.get(module)
    if library is None:
        return False
    bases = [vars(library).get(name) for name in names]
    return any(isinstance(base, type) and derives(cls, base) for base in bases)


def _is_numpy_scalar(cls: type) -> bool:
    return _derives_foreign(cls, "numpy", "bool_", "integer", "floating")


def operator_named(name: str) -> Any:
    """Return the Python function behind a name: one of the module `operator`, a builtin, or an intrinsic by its canonical
    name."""
    if "." in name:
        learn_intrinsics()
        found = [value for value, known in INTRINSICS.values() if known == name]
        if not found:

            learn_intrinsics()
            found = [value for value, known in INTRINSICS.values() if known == name]
        return found[0]
    import _operator as operator

    return getattr(operator, name, None) or getattr(builtins, name)


def type_name(value: object) -> str:
    """Return the class of an object as `module.Class`."""
    return class_name(type(value))


def attribute_names(value: object) -> list[str]:
    """Return the names of an object's attributes, except those that its own code computes."""
    cls = type(value)
    found = [name for base in bases(value if is_class(value) else cls) for name in namespace(base)]
    found += instance_dict(value) or {}
    listed = (instance_dict(value) or {}).get("__all__") if derives(cls, ModuleType) else None
    found += listed if isinstance(listed, (list, tuple)) else ()
    if value is sys.modules["samovar"] or value is sys.modules.get("samovar.math"):
        found += dir(value)  # our names that are not imported yet
    return [name for name in found if type(name) is str]


def origin(value: object) -> tuple[str, str, bool]:
    """Return the module and name that a function or class declares, and whether it is a class."""
    home, name = (getattr(value, each, None) for each in ("__module__", "__name__"))
    return str(home or ""), str(name or ""), is_class(value)


def tensor(value: object) -> tuple[Any, ...]:
    """Return the fields of `TensorFacts`."""
    return value.facts.answer() if type(value) is RememberedArray else _native_facts(tensor_facts, value)


def readonly(value: object) -> bool:
    """Whether the array is read-only."""
    return type(value) is not RememberedArray and bool(_native_facts(describe_tensor, value)["readonly"])


def shape(value: object) -> tuple[int, ...]:
    """Return the shape of an array. For a stand-in, only the shape of its elements is known."""
    if type(value) is RememberedArray:
        return (*(UNKNOWN_EXTENT,) * (value.facts.ndim - len(value.element)), *value.element)
    found: tuple[int, ...] = _native_facts(describe_tensor, value)["shape"]
    return found


def layout(value: object) -> tuple[Any, ...]:
    """Return the memory layout of a field's elements, or the order of an array's dimensions."""
    found: tuple[Any, ...] = _native_facts(_native.memory_form, value)
    return found


def extent(value: object, axis: int) -> int:
    """Return the extent of a dimension if code is specialized on it, else `UNKNOWN_EXTENT`."""
    found = shape(value)[axis]
    is_known = _native.LEAST_KNOWN_EXTENT <= found <= _native.GREATEST_KNOWN_EXTENT
    return found if is_known else UNKNOWN_EXTENT


def _native_facts(look: Any, value: object) -> Any:
    """Return what a native function finds out about an array. Raise a type error with the reason if kernels do not support
    it."""
    try:
        found = look(value)
    except TypeError as error:
        raise samovar.SamovarTypeError(str(error)) from None
    if found is None:
        raise samovar.SamovarTypeError(f"a {type_name(value)} is not an array")
    return found


def disjoint(written: tuple[object, ...], others: tuple[object, ...]) -> bool:
    """Whether no written array overlaps itself, another written one or one of the others. Stand-ins overlap nothing."""
    if any(type(each) is RememberedArray for each in (*written, *others)):
        return True
    try:
        return _native.disjoint(written, others)
    except TypeError as error:
        raise samovar.SamovarTypeError(str(error)) from None


def scalar_type(value: object) -> type:
    """Return int, float or bool."""
    cls = type(value)
    if cls in (int, float, bool):
        return cls
    plain = _plain_number(value)
    return type(plain)


def number_type(value: object) -> str:
    """Return what a number is by itself: "int", "float" or "bool" in Python, else the name of its dtype."""
    if _is_numpy_scalar(type(value)):
        name = value.dtype.name  # type: ignore[attr-defined]
        dtype = samovar.language.foreign_dtype(name)
        if dtype is None:
            raise samovar.SamovarTypeError(f"a numpy.{name} is not a number that a kernel can use")
        return dtype.name
    return scalar_type(value).__name__


def _plain_number(value: Any) -> Any:
    cls = type(value)
    for base in (float, int):
        if derives(cls, base):
            # Bypasses methods that a subclass overrides.
            return base.__pos__(value)
    if _derives_foreign(cls, "numpy", "bool_"):
        return bool(value)
    return int(value) if _derives_foreign(cls, "numpy", "integer") else float(value)


def value(value: Any, members: EnumMembers) -> Any:
    """Return a value as an answer: a simple value, or (type, simple value) for a subclass."""
    found = kind(value)
    cls = type(value)
    if found is Kind.SCALAR:
        return value if cls in (int, float, bool) else (type_name(value), _plain_number(value))
    if found is Kind.STRING:
        return value if cls is str else (type_name(value), str.__str__(value))
    if found in (Kind.NONE, Kind.DTYPE):
        return value
    if found is Kind.ENUM:
        stands_for = _member_value(value._value_)
        return members.value(value, type_name(value), value._name_, stands_for, _operators(value, stands_for))
    raise samovar.SamovarTypeError(f"a {type_name(value)} is not a value that a kernel can use")


_SIMPLE = (Kind.SCALAR, Kind.STRING, Kind.NONE)


def _member_value(inner: Any) -> Any:
    """Return what an enum member stands for: a simple value, a tuple of these, or (Kind.OBJECT, type) for anything else."""
    if type(inner) is tuple:
        return tuple(map(_member_value, inner))
    found = kind(inner)
    if found is Kind.SCALAR:
        return inner if type(inner) in (int, float, bool) else _plain_number(inner)
    if found is Kind.STRING:
        return str.__str__(inner)
    return inner if found is Kind.NONE else (Kind.OBJECT, type_name(inner))


#: Methods that change how a member is compared or converted to bool.
_OPERATORS = frozenset(
    "__eq__ __ne__ __lt__ __le__ __gt__ __ge__ __bool__ __len__ __contains__ __or__ __and__ __xor__ __invert__".split()
)
#: Bases whose methods do not count, by identity. Those of `enum` are added with the first enum.
_PLAIN_BASES = {id(object), id(int), id(float), id(str)}
_PLAIN_ENUMS = ("Enum", "IntEnum", "ReprEnum", "StrEnum")


def _operators(member: Any, stands_for: Any) -> str:
    """Return how an enum member is compared: as an "object", by its "value", or by its "own" methods."""
    cls = type(member)
    library = vars(sys.modules["enum"])
    if id(library["Enum"]) not in _PLAIN_BASES:
        _PLAIN_BASES.update(id(library[name]) for name in _PLAIN_ENUMS if name in library)
    for base in bases(cls):
        if id(base) not in _PLAIN_BASES and not _OPERATORS.isdisjoint(namespace(base)):
            return "own"
    is_text = derives(cls, str)
    if not is_text and not derives(cls, int) and not derives(cls, float):
        return "object"
    # A `__new__` can make the member differ from its value.
    itself = str.__str__(member) if is_text else _plain_number(member)
    return "value" if _native.same_value(itself, stands_for) else "own"


def intrinsic(value: object) -> str:
    """Return the canonical name of an intrinsic."""
    if kind(value) is not Kind.INTRINSIC:
        raise samovar.SamovarTypeError(f"a {type_name(value)} is not an intrinsic of the compiler")
    return INTRINSICS[id(value)][1]


def length(value: Any) -> int:
    """Return the number of items."""
    if not has_method(value, "__len__"):
        raise samovar.SamovarTypeError(f"a {type_name(value)} has no length")
    return len(value)


def is_list(value: object) -> bool:
    """Whether it is a list rather than a tuple. The two never compare equal."""
    return derives(type(value), list)


_CONSTANT_TYPES = (int, float, bool, str, type(None), DType)


def is_immutable(value: object) -> bool:
    """Whether it is a tuple of simple values only, which cannot change."""
    return type(value) is tuple and all(
        type(item) in _CONSTANT_TYPES or type(item) is bytes or is_immutable(item) for item in value
    )


def annotation(value: object) -> Annotation:
    """Return the annotation that an object denotes."""
    is_number = value is int or value is float or value is bool
    is_annotation = is_number or kind(value) in _ANNOTATIONS or type(value) is GenericAlias
    if not is_annotation and kind(value) is Kind.INTRINSIC:  # a dtype of NumPy or torch
        is_annotation = INTRINSICS[id(value)][1].startswith(("numpy.", "torch."))
    found = specification(value) if is_annotation else None
    if found is None:
        raise samovar.SamovarTypeError(f"a {type_name(value)} is not a type that a kernel can use")
    return found


_ANNOTATIONS = (Kind.ANNOTATION, Kind.DTYPE, Kind.NONE, Kind.SEQUENCE)


def keys(mapping: Any, members: EnumMembers) -> tuple[Any, ...]:
    """Return the keys of a dict in order, as answers."""
    if not derives(type(mapping), dict):
        raise samovar.SamovarTypeError(f"a {type_name(mapping)} has no keys")
    found = []
    for key in dict.keys(mapping):
        if kind(key) not in (*_SIMPLE, Kind.ENUM, Kind.DTYPE):
            raise samovar.SamovarTypeError(f"a key is a {type_name(key)}: keys must be numbers, strings or enum members")
        found.append(value(key, members))
    return tuple(found)


def elements(sequence: Any) -> tuple[Any, ...]:
    """Return the elements of a list or tuple, bypassing an overridden `__iter__`."""
    return tuple((list if is_list(sequence) else tuple).__iter__(sequence))


def simple_values(elements: tuple[Any, ...], members: EnumMembers) -> tuple[Any, ...] | None:
    """Return elements as answers, or None if one is not a simple value."""
    found = []
    for element in elements:
        if type(element) in _CONSTANT_TYPES:
            found.append(element)
        elif kind(element) in (*_SIMPLE, Kind.ENUM, Kind.DTYPE):
            found.append(value(element, members))
        else:
            return None
    return tuple(found)


def call_result(result: object, members: EnumMembers) -> tuple[Kind, Any]:
    """Return the kind of a plain call's result, and its value if it is a simple one."""
    found = kind(result)
    return found, value(result, members) if found in (*_SIMPLE, Kind.ENUM, Kind.DTYPE) else None


def read_attribute(owner: Any, name: str) -> Any:
    """Read an attribute by the usual protocol; of a class, from the dictionaries of its bases."""
    if owner is ABSENT:
        return ABSENT
    try:
        return _class_attribute(owner, name) if is_class(owner) else getattr(owner, name)
    except AttributeError:
        return ABSENT
    except Exception as error:
        raise samovar.SamovarCompilationError(
            f"reading {name} of a {type_name(owner)} raised {type(error).__name__}: {error}"
        ) from error


def read_inherited(owner: Any, key: tuple[Any, str]) -> Any:
    """Read an attribute as `super()` finds it in a method of a class."""
    cls, name = key
    if owner is ABSENT or not is_class(cls) or not derives(type(owner), cls):
        return ABSENT
    return read_attribute(super(cls, owner), name)


def _class_attribute(cls: Any, name: str) -> Any:
    if _is_enum(cls):
        member = own(cls, "_member_map_").get(name, ABSENT)
        if member is not ABSENT:
            return member
    # As in Python: a data descriptor of the metaclass comes first, its other attributes last.
    above = own(type(cls), name)
    if above is not ABSENT and own(type(above), "__set__") is not ABSENT:
        return _bound_above(above, cls, name)
    found = own(cls, name)
    if found is ABSENT and above is not ABSENT:
        return _bound_above(above, cls, name)
    find = own(type(cls), "__getattr__")
    if found is ABSENT and find is not ABSENT:
        return find(cls, name)
    bind = ABSENT if found is ABSENT else own(type(found), "__get__")
    return found if bind is ABSENT else bind(found, None, cls)


def _bound_above(found: Any, cls: Any, name: str) -> Any:
    bind = own(type(found), "__get__")
    try:
        return found if bind is ABSENT else bind(found, cls, type(cls))
    except AttributeError:
        return ABSENT
    except Exception as error:
        raise samovar.SamovarCompilationError(f"reading {name} of a class raised {type(error).__name__}: {error}") from error


def has_method(value: object, name: str) -> bool:
    """Whether the class of an object defines a method."""
    return own(type(value), name) is not ABSENT


def read_item(owner: Any, key: Any) -> Any:
    """Read an item of a container, without triggering `__missing__` of a dict."""
    if owner is ABSENT:
        return ABSENT
    try:
        if derives(type(owner), dict) and not dict.__contains__(owner, key):
            return ABSENT
        return owner[key]
    except (LookupError, TypeError):
        return ABSENT
    except Exception as error:
        raise samovar.SamovarCompilationError(
            f"reading item {shown(key)} of a {type_name(owner)} raised {type(error).__name__}: {error}"
        ) from error
