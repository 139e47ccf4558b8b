"""The staged value of a user object, by its kind: one entry of one table each.

It is the same for arguments, captured names, items of containers and members of compounds, with one difference: a number
that is a member may be a run-time scalar, if its owner's class declares it so.
"""

from __future__ import annotations

import ast
from functools import singledispatch

from samovar import errors
from samovar._native import DType, bf16, i32, i64, u1
from samovar.frontend.dispatch import OBJECTS
from samovar.frontend.matrices import of_type
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.callee import Callee
from samovar.frontend.staged.complex import Complex
from samovar.frontend.staged.intrinsic import Intrinsic
from samovar.frontend.staged.matrix import Stored, described, matrix_of, registered
from samovar.frontend.staged.matrix_kind import MatrixKind
from samovar.frontend.staged.outside import Outside
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.struct import StructKind
from samovar.frontend.staged.tensor import Tensor
from samovar.frontend.staged.view import Part, View
from samovar.frontend.stager import Stager
from samovar.ir import Array, Operation, Parameter, Value
from samovar.language import Annotation, ArrayAnnotation, ScalarAnnotation, ViewAnnotation, is_float, part_type
from samovar.lens import Kind, Ref
from samovar.values import MatrixType, StructType


def open_array(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    """An array passed at a launch. One that was opened before without a warning is reused: within this function, or
    for the kernel."""
    known = stager.arrays.get(ref)
    if known is not None:
        return known
    of_kernel = stager.context.opened.get(ref)
    known = opened_array(stager, ref, node) if of_kernel is None else of_kernel.seen_by(stager)
    if of_kernel is not None or ref.unresolved() is None:
        stager.arrays[ref] = known
    return known


def opened_array(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    array = stager.context.array(ref)
    warn_if_unresolved(stager, ref, node)
    declared = ref.declared()
    if ref.tensor().is_view:
        return opened_view(stager, ref, array, declared, node)
    tensor = Tensor(array, ref, element_shape(stager, ref, array, declared, node))
    if isinstance(declared, ViewAnnotation):
        required_view(tensor, stager, declared, f"`{ref.spelled}`", node)
    if isinstance(declared, ArrayAnnotation):
        array.boundary = declared.boundary
        check_array(stager, declared, tensor, f"`{ref.spelled}`", node)
    if ref.unresolved() is None:
        stager.context.opened[ref] = tensor
    return tensor.seen_by(stager)


def opened_view(stager: Stager, ref: Ref, array: Array, declared: Annotation | None, node: ast.AST) -> Staged:
    """A slice of an array passed at a launch: its offset is a number that the launch reads if the code uses it."""
    tensor = Tensor(stager.visible(array), ref, element_shape(stager, ref, array, None, node))
    # A view has an integer offset: no question is needed for it.
    offset = stager.context.scalar(ref.attribute("offset"), i64 if array.wide else i32)
    view = View(tensor, stager.visible(offset))
    if isinstance(declared, ArrayAnnotation):
        message = f"`{ref.spelled}` must be an array ({declared}), got {view.describe()}"
        stager.fail_type(node, message, view.advice_for_array)
    if isinstance(declared, ViewAnnotation):
        return required_view(view, stager, declared, f"`{ref.spelled}`", node)
    return view


def element_shape(
    stager: Stager, ref: Ref, array: Array, annotation: Annotation | None, node: ast.AST
) -> tuple[int, ...]:
    """The shape of the elements of an array: its own, or as annotated. Their lengths are then known."""
    declared = annotation.element if isinstance(annotation, ArrayAnnotation) else None
    outer = array.ndim - (len(declared) if declared else ref.tensor().inner)
    if outer in (array.ndim, -1, -2):
        return ()
    if array.element is not None:
        stager.fail_type(
            node,
            f"`{ref.spelled}` holds vectors or matrices of complex numbers, which are not supported",
            "use another dimension: an array of shape (…, 3) instead of vectors of 3",
        )
    found = tuple(ref.exact_extent(axis) for axis in range(outer, array.ndim))
    if isinstance(annotation, ArrayAnnotation) and declared and not annotation.element_fits(found):
        stager.fail_type(
            node,
            f"`{ref.spelled}` must have elements of shape {declared}, but the last dimensions of the array have the extents"
            f" {found}",
        )
    array.extents = (*array.extents[:outer], *found)
    return found


def warn_if_unresolved(stager: Stager, ref: Ref, node: ast.AST) -> None:
    """Warn about a declaration that is ignored because a name in it cannot be resolved."""
    unresolved = ref.unresolved()
    if unresolved is not None:
        stager.warn(
            node,
            f"`{ref.spelled}` is declared as `{unresolved}` in its class, which is ignored: a name in it is not"
            " found\n"
            "  help: define the names it uses in the module, not in a function",
        )


def check_array(
    stager: Stager, annotation: ArrayAnnotation, tensor: Tensor, what: str, node: ast.AST, ndim: int | None = None
) -> None:
    """Check an array, or a part of it with `ndim` dimensions, against its annotation."""
    ndim = tensor.ndim if ndim is None else ndim
    array = tensor.array
    dtype = annotation.resolved(stager.context.lens.options)
    own = array.element or array.dtype
    if dtype is not None and dtype is not own:
        stager.fail_type(node, f"{what} must have dtype {dtype.name}, but `{array.name}` has dtype {own.name}")
    if not annotation.element_fits(tensor.inner):
        shapes = (annotation.element, tensor.inner)
        wanted, found = (f"elements of shape {shape}" if shape else "numbers" for shape in shapes)
        stager.fail_type(node, f"{what} must contain {wanted}, but `{array.name}` contains {found}")
    if annotation.ndim is not None and annotation.ndim != ndim:
        stager.fail_type(node, f"{what} must be {annotation.ndim}-D, but `{array.name}` is {ndim}-D")


@singledispatch
def required_view(value: Staged, stager: Stager, annotation: ViewAnnotation, what: str, node: ast.AST) -> Part:
    """The view that an annotation requires. Views register a rule."""
    problem = f"{what} must be a BufferView ({annotation}), got {value.describe()}"
    stager.fail_type(node, problem, value.advice_for_view)


@required_view.register(View)
def require_view(view: View, stager: Stager, annotation: ViewAnnotation, what: str, node: ast.AST) -> Part:
    if annotation.struct is not None:
        stager.fail_type(node, f"{what} must hold {annotation.struct}, got {view.describe()}")
    check_array(stager, annotation.as_array(), view.tensor, what, node)
    return view.with_boundary(annotation.boundary)


def given_matrix(stager: Stager, ref: Ref, kind: MatrixType, node: ast.AST) -> Staged:
    """A vector or matrix passed at a launch: a Samovar value, lists of numbers, or a small array of any library."""
    dtype = kind.resolved(stager.context.lens.options)
    found = ref.kind()
    if found is Kind.TENSOR:
        array = stager.context.array(ref)
        if array.element is not None:
            stager.fail_type(node, f"`{ref.spelled}` must hold real numbers, but its dtype is {array.element.name}")
        lengths = tuple(ref.exact_extent(axis) for axis in range(array.ndim))
        if lengths != kind.shape:
            stager.fail_type(node, f"`{ref.spelled}` must be {described(kind.shape)}, but the array has shape {lengths}")
        stored = Stored(stager.visible(array), (), kind.shape)
        if kind.is_open:
            return registered(stager, stored).kept(stager, node)
        return of_type(stager, registered(stager, stored), dtype, node).kept(stager, node)
    if found is Kind.SEQUENCE:
        leaves = sequence_leaves(stager, ref, kind.shape, kind.shape, node)
    elif found is Kind.MATRIX:
        shape = ref.attribute("shape")
        lengths = tuple(shape.item(axis).value() for axis in range(shape.length()))
        if lengths != kind.shape:
            stager.fail_type(node, f"`{ref.spelled}` must be {described(kind.shape)}, got {described(lengths)}")
        entries = ref.attribute("entries")
        leaves = [entries.item(position) for position in range(entries.length())]
    else:
        stager.fail_type(node, f"`{ref.spelled}` must be {described(kind.shape)}, got a {ref.type_name()}")
    if kind.is_open and all(leaf.kind() is Kind.SCALAR and leaf.scalar_type() is not float for leaf in leaves):
        dtype = stager.context.default_ip
    parameters = [stager.context.scalar(leaf, leaf_type(stager, leaf, dtype, node)) for leaf in leaves]
    numbers = tuple(Scalar(stager.visible(parameter)) for parameter in parameters)
    return matrix_of(stager, kind.shape, numbers, node).kept(stager, node)


def sequence_leaves(
    stager: Stager, ref: Ref, shape: tuple[int, ...], whole: tuple[int, ...], node: ast.AST
) -> list[Ref]:
    """The numbers in nested lists, row by row."""
    if not shape:
        return [ref]
    if ref.kind() is not Kind.SEQUENCE or ref.length() != shape[0]:
        stager.fail_type(node, f"`{ref.spelled}` has {ref.length()} elements, but {described(whole)} has {shape[0]}")
    items = [ref.item(position) for position in range(shape[0])]
    return [leaf for item in items for leaf in sequence_leaves(stager, item, shape[1:], whole, node)]


def leaf_type(stager: Stager, leaf: Ref, wanted: DType, node: ast.AST) -> DType:
    """The dtype in which a launch reads a number: the wanted one, if the number can be converted."""
    if leaf.kind() is not Kind.SCALAR:
        stager.fail_type(node, f"`{leaf.spelled}` must be a number")
    if leaf.scalar_type() is float and not is_float(wanted):
        problem = f"`{leaf.spelled}` must be an integer ({wanted.name})"
        stager.fail(node, problem, "convert it with int()", errors.SamovarRuntimeTypeError)
    return wanted


def open_number(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    if ref.is_baked():
        return open_constant(stager, ref, node)
    dtype = number_type(stager, ref, node)
    parts = part_type(dtype)
    if parts is not None:  # a real number where the class declares a complex one
        return given_complex(stager, ref, parts)
    parameter = stager.context.scalar(ref, dtype)
    stager.context.members[parameter] = ref
    return Scalar(stager.visible(parameter))


def number_type(stager: Stager, ref: Ref, node: ast.AST) -> DType:
    """The dtype of a run-time number: as declared by its class, or as its Python type implies."""
    warn_if_unresolved(stager, ref, node)
    python, annotation = ref.scalar_type(), ref.declared()
    if isinstance(annotation, ScalarAnnotation) and (annotation.dtype is not None or python is int):
        declared = annotation.resolved(stager.context.lens.options)
        if python is float and not is_float(declared) and part_type(declared) is None:
            stager.fail_type(
                node,
                f"`{ref.spelled}` is declared as {declared.name}, but its value is a float",
                "convert it with int() when you create the object",
            )
        if declared is bf16:
            message = f"`{ref.spelled}` is declared as bf16, which is a type of elements"
            stager.fail_type(node, message, "declare it as `sv.f32`")
        if annotation.dtype is not None or is_float(declared) or part_type(declared) is not None:
            return declared
    if python is bool:
        return u1
    return stager.context.default_fp if python is float else stager.context.default_ip


def given_complex(stager: Stager, ref: Ref, dtype: DType) -> Complex:
    """A complex number passed at a launch, or a real one: its parts are read at each launch."""
    parts = []
    for name in ("real", "imag"):
        parameter = stager.context.scalar(ref.attribute(name), dtype)
        parameter.is_checked = True
        parts.append(Scalar(stager.visible(parameter)))
    return Complex(*parts)


def open_complex(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    if ref.is_baked():
        return Complex(*(Static(ref.attribute(name).value()) for name in ("real", "imag")))
    warn_if_unresolved(stager, ref, node)
    annotation, default = ref.declared(), stager.context.default_fp
    declared = annotation.resolved(stager.context.lens.options) if isinstance(annotation, ScalarAnnotation) else None
    if declared is None:
        return given_complex(stager, ref, default)
    dtype = part_type(declared)
    if dtype is None:
        message = f"`{ref.spelled}` is declared as {declared.name}, but its value is complex"
        stager.fail_type(node, message, "declare it as `sv.c64` or `sv.c128`")
    return given_complex(stager, ref, dtype)


def open_constant(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    return Static(ref.value(), ref if ref.is_derived() else None)


def open_intrinsic(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    return Intrinsic(ref.intrinsic())


def open_func(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    return Callee(ref.function())


def open_method(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    func, owner = ref.method()
    func.kind()
    return Callee(func.function(), stager.open(owner, node))


def open_object(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    if ref.is_member_of(stager.context.typed) and ref.declared_as() == "data_oriented":
        stager.fail_type(
            node,
            f"`{ref.spelled}` is a data_oriented object inside a dataclass argument",
            "numbers of a dataclass are read at each launch, those of a data_oriented object are compile-time constants, so"
            " they cannot be mixed: pass it as a separate argument, annotated with `sv.Template`",
        )
    return Outside(ref, Kind.OBJECT)


def open_matrix(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    """A vector or matrix of plain Python: a compile-time constant if captured, read at each launch if in a dataclass."""
    declared = ref.declared()
    if isinstance(declared, MatrixType) and ref.owner_declared_as() == "dataclass":
        return given_matrix(stager, ref, declared, node)
    dtype, shape, entries = (ref.attribute(name) for name in ("dtype", "shape", "entries"))
    found: DType = dtype.value()
    lengths = tuple(shape.item(axis).value() for axis in range(shape.length()))
    numbers = tuple(
        Scalar(Static(entries.item(position).value()).as_type(stager, found, node)) for position in range(entries.length())
    )
    return matrix_of(stager, lengths, numbers, node).kept(stager, node)


def open_function(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    """A plain function: Samovar's own are compiled, those of users run at compile time."""
    plain = Outside(ref, Kind.FUNCTION)
    return Callee(ref.function(), plain=plain) if ref.is_of_library() else plain


def open_annotation(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    annotation = ref.annotation()
    if isinstance(annotation, StructType):
        return StructKind(annotation, ref)
    return MatrixKind(annotation) if isinstance(annotation, MatrixType) else Outside(ref, Kind.ANNOTATION)


def open_nothing(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    stager.fail(node, f"`{ref.spelled}` does not exist", None, errors.SamovarCompilationError)


def open_outside(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    """An object that can only be read through, or called inside `static`."""
    return Outside(ref, ref.kind())


OBJECTS |= dict.fromkeys(Kind.members.values(), open_outside) | {
    Kind.TENSOR: open_array,
    Kind.SCALAR: open_number,
    Kind.COMPLEX: open_complex,
    Kind.STRING: open_constant,
    Kind.NONE: open_constant,
    Kind.DTYPE: open_constant,
    Kind.ENUM: open_constant,
    Kind.INTRINSIC: open_intrinsic,
    Kind.FUNC: open_func,
    Kind.METHOD: open_method,
    Kind.OBJECT: open_object,
    Kind.MATRIX: open_matrix,
    Kind.ANNOTATION: open_annotation,
    Kind.FUNCTION: open_function,
    Kind.ABSENT: open_nothing,
}


def run_time_member(stager: Stager, staged: Staged) -> Ref | None:
    """The member because of which a value is only known at run time, if there is one."""
    pending: list[Value] = [*staged.wanted_by_static()]
    seen: set[Operation] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, Parameter):
            found = stager.context.members.get(value)
            if found is not None:
                return found
        elif isinstance(value, Operation) and value not in seen:
            seen.add(value)
            pending.extend(value.operands)
    return None


def advice_for_member(ref: Ref) -> str:
    """How to make the value of a run-time member a compile-time constant."""
    owner = ref.owner_declared_as()
    if owner == "dataclass":
        name = str(ref.path).rpartition(".")[2]
        return (
            f"`{ref.spelled}` is read at each launch; to make it a compile-time constant, declare the field as"
            f" `{name}: … = dataclasses.field(metadata={{sv.FIELD_METADATA_CACHE_VALUE: True}})`"
        )
    return f"`{ref.spelled}` is read at each launch, because its class is declared with `template_primitives=False`"

