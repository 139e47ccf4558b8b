"""`arch=sv.python`: kernels and funcs run as plain Python, line by line, for debuggers and coverage.

The source of a function is compiled by Python itself, with its own file and lines, after rewriting what Python interprets
differently: a loop over an array iterates over its indices, an atomic operation changes its first argument, a vector is a
value and is copied on assignment. Numbers are Python's: floats are doubles, and integers do not wrap; a number stored in an
array, passed to an annotated parameter or returned has the type of that. Loops run serially, in order.
"""

from __future__ import annotations

import ast
import copy
import operator
from types import CodeType, FunctionType

from samovar._native import DType, Ndarray, Tensor, reshaped
from samovar.errors import SamovarError
from samovar.language import (
    Annotation,
    ArrayAnnotation,
    GroupedIndices,
    ScalarAnnotation,
    TemplateAnnotation,
    TupleAnnotation,
    as_dtype,
    box_of,
    options_in_force,
)
from samovar.lens import function_source, raised_recursion_limit, with_large_stack
from samovar.runtime import configuration
from samovar.runtime.arguments import check_arguments
from samovar.runtime.arrays import from_numpy
from samovar.runtime.dense_trees import Node
from samovar.runtime.field_nodes import PlaceOfField
from samovar.values import Matrix, Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from samovar.language import SignatureParameter
    from samovar.runtime.func import Func
    from samovar.runtime.kernel import Kernel

#: The name of this module in rewritten source.
_OURS = "__samovar_plain__"
_OUTER = "__samovar_outer__"


def run(kernel: Kernel, given: dict[str, Any]) -> Any:
    """Launch a kernel as plain Python."""
    signature = kernel.state.signature
    check_arguments(kernel.__qualname__, signature, given, configuration.current_options())
    if signature.options.get("checkpoints"):
        raise SamovarError(f"{kernel.__qualname__} has checkpoints, which arch=sv.python does not support")
    taken = {each.name: _taken(each, given[each.name]) for each in signature.parameters}
    return _returned(signature.returns, _call(kernel.__wrapped__, taken))


def call(func: Func, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Call a func as plain Python."""
    function, signature = func.__wrapped__, func.signature
    code: CodeType = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    bound = {**dict(zip(names, arguments, strict=False)), **keywords}
    if len(arguments) > code.co_argcount or any(name not in names for name in keywords):
        return function(*arguments, **keywords)  # Python raises the error
    for parameter in signature.parameters:
        if parameter.name in bound:
            bound[parameter.name] = _taken(parameter, bound[parameter.name])
    return _returned(signature.returns, _call(function, bound))


def _call(function: FunctionType, taken: dict[str, Any]) -> Any:
    plain = plainly(function)
    first = [taken.pop(name) for name in function.__code__.co_varnames[: function.__code__.co_posonlyargcount]]
    return plain(*first, **taken)


def _taken(parameter: SignatureParameter, value: Any) -> Any:
    """An argument as the body sees it: numbers with the type of the annotation, Samovar arrays, vectors by value."""
    annotation = parameter.annotation
    if isinstance(annotation, TemplateAnnotation):
        return value
    if isinstance(annotation, ScalarAnnotation) and not isinstance(value, Tensor):
        return annotation.resolved(configuration.current_options())(value)
    if annotation.is_matrix:
        return copied(value) if hasattr(type(value), "_samovar_nested") else annotation(value)
    ours = _as_ours(value)
    element = annotation.element if isinstance(annotation, ArrayAnnotation) else None
    if element and isinstance(ours, Ndarray) and not ours.element_shape:  # the last dimensions are those of its elements
        ours = reshaped(ours, ours.shape, len(element))
    return copied(ours)


def _as_ours(value: Any) -> Any:
    """An array of another library as a Samovar array that shares its memory."""
    if isinstance(value, Tensor) or not hasattr(type(value), "__array_interface__"):
        return value
    return from_numpy(value) if getattr(value, "ndim", None) is not None and type(value).__name__ == "ndarray" else value


def _returned(annotation: Annotation, result: Any) -> Any:
    if isinstance(annotation, ScalarAnnotation) and result is not None:
        return annotation.resolved(configuration.current_options())(result)
    if isinstance(annotation, TupleAnnotation) and isinstance(result, tuple):
        return tuple(map(_returned, annotation.items, result))
    return result


# --- the source


_known: dict[CodeType, CodeType] = {}


def plainly(function: FunctionType) -> FunctionType:
    """The function with its source rewritten: the same globals, captured variables and defaults."""
    code = function.__code__
    rewritten = _known.get(code)
    if rewritten is None:
        with raised_recursion_limit(function.__qualname__):
            rewritten = _known[code] = with_large_stack(lambda: _rewritten(function))
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(_cell if name == _OURS else cells[name] for name in rewritten.co_freevars)
    made = FunctionType(rewritten, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__, made.__qualname__ = function.__kwdefaults__, function.__qualname__
    return made


def _rewritten(function: FunctionType) -> CodeType:
    source = function_source(function)
    code = function.__code__
    node = copy.deepcopy(source.node)
    node.decorator_list, node.returns = [], None
    arguments = node.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    nothing = ast.Constant(None)
    arguments.defaults = [nothing for _ in arguments.defaults]
    arguments.kw_defaults = [None if each is None else nothing for each in arguments.kw_defaults]
    node = _Rewriting().visit(node)
    names = [*code.co_freevars, _OURS]
    outside = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    outer = ast.FunctionDef(_OUTER, outside, [node], [])
    if "type_params" in ast.FunctionDef._fields:
        vars(outer)["type_params"] = []
    ast.copy_location(outer, node)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    whole = compile(module, code.co_filename, "exec", dont_inherit=True)
    return _inside(_inside(whole, _OUTER), function.__name__)


def _inside(code: CodeType, name: str) -> CodeType:
    return next(each for each in code.co_consts if isinstance(each, CodeType) and each.co_name == name)


class _Rewriting(ast.NodeTransformer):
    """Rewrites kernel semantics as plain Python."""

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = _ours("indices", node.iter)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if not any(isinstance(each, ast.Slice) for each in ast.walk(node.slice)):
            node.slice = _ours("index", node.slice)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        node.value = _ours("copied", node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        value = None if node.value is None else self.visit(node.value)
        node.target = self.visit(node.target)
        if value is None:
            return node
        made = ast.Assign([node.target], _ours("typed", node.annotation, value))
        return ast.copy_location(made, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
            return node  # it would bind in the lambda
        is_and = ast.Constant(isinstance(node.op, ast.And))
        nothing = ast.arguments([], [], None, [], [], None, [])
        first, *others = node.values
        later = (ast.copy_location(ast.Lambda(nothing, each), each) for each in others)
        return ast.copy_location(_ours("connected", is_and, first, *later), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return ast.copy_location(_ours("opposite", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in ("all", "any") and len(node.args) == 1:
            return ast.copy_location(_ours("quantified", node.func, *node.args), node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "element_shape" and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
            return ast.copy_location(_ours("element_shape", node.func.value), node)
        code = name.removeprefix("atomic_")
        if code == name or code not in _COMBINE:
            return node
        names = ("x", "expected", "desired") if code == "cas" else ("x", "y")
        given: dict[str | None, ast.expr] = dict(zip(names, node.args, strict=False))
        given |= {each.arg: each.value for each in node.keywords}
        if len(node.args) + len(node.keywords) != len(names) or set(given) != set(names):
            return node  # Python raises the error
        place, *rest = (given[each] for each in names)
        said = ast.Constant(code)
        if isinstance(place, ast.Subscript):
            return ast.copy_location(_ours("change_item", said, place.value, place.slice, *rest), node)
        if isinstance(place, ast.Attribute):
            return ast.copy_location(_ours("change_attribute", said, place.value, ast.Constant(place.attr), *rest), node)
        if isinstance(place, ast.Name):
            changed = ast.NamedExpr(ast.Name(place.id, ast.Store()), _ours("combined", said, place, *rest))
            return ast.copy_location(_ours("first", place, changed), node)
        return node


def _ours(name: str, *arguments: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(_OURS, ast.Load()), name, ast.Load())
    return ast.copy_location(ast.Call(function, list(arguments), []), arguments[-1])


# --- functions called by rewritten source


def connected(is_and: bool, first: Any, *later: Callable[[], Any]) -> Any:
    """`first and …` (or `or`). For vectors and matrices, see the option `vector_truth`."""
    has_entries = options_in_force().vector_truth == "entries"
    result = first
    for make in later:
        of_entries = has_entries and isinstance(result, Matrix)
        if not of_entries and bool(result) is not is_and:
            return result
        right = make()
        if of_entries or (has_entries and isinstance(right, Matrix)):
            result = _connected_entries(is_and, result, right)
        else:
            result = right
    return result


def _connected_entries(is_and: bool, left: Any, right: Any) -> Any:
    sides = [(each if isinstance(each, Matrix) else each + 0 * other) != 0 for each, other in ((left, right), (right, left))]
    return sides[0] & sides[1] if is_and else sides[0] | sides[1]


def opposite(value: Any) -> Any:
    """`not value`, likewise."""
    has_entries = isinstance(value, Matrix) and options_in_force().vector_truth == "entries"
    return value == 0 if has_entries else not value


def quantified(function: Any, values: Any) -> Any:
    """`any(values)` or `all(values)`: of a matrix, that of all entries."""
    own = {any: "any", all: "all"}.get(function)
    return function(values) if own is None or not isinstance(values, Matrix) else getattr(values, own)()


def element_shape(array: Any) -> Any:
    """`a.element_shape()`, as Taichi and Quadrants write it: the attribute here, also equal to a list."""
    found = array.element_shape
    return found() if callable(found) else _Shape(found)


class _Shape(tuple):  # type: ignore[type-arg]
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return tuple(self) == (tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def indices(space: Any) -> Iterable[Any]:
    """The iteration space of a loop: the indices of an array or a node; any other object as in Python."""
    if isinstance(space, GroupedIndices):
        return _vectors(space)
    is_array = hasattr(space, "shape") and hasattr(space, "dtype") and not _is_value(space)
    if is_array or isinstance(space, (Tensor, Node, PlaceOfField)):
        return box_of(space)
    found: Iterable[Any] = space
    return found


def _vectors(space: GroupedIndices) -> Iterator[Any]:
    from samovar.values import Vector

    for each in space:
        yield Vector(list(each), configuration.current_options().default_ip)


def _is_value(value: Any) -> bool:
    return hasattr(type(value), "_samovar_nested")


def index(place: Any) -> Any:
    """An index for Python: vectors as their components."""
    if _is_value(place):
        return tuple(int(each) for each in place)
    if isinstance(place, tuple) and any(map(_is_value, place)):
        return tuple(number for each in place for number in (map(int, each) if _is_value(each) else (each,)))
    return place


def copied(value: Any) -> Any:
    """A copy of a value: vectors, matrices and structs are copied, also those in a tuple."""
    if type(value) is tuple:
        return tuple(map(copied, value))
    return copy.copy(value) if _is_value(value) or isinstance(value, Struct) else value


def typed(annotation: Any, value: Any) -> Any:
    """A value converted to the annotated type of a variable."""
    if isinstance(annotation, DType) or annotation in (int, float, bool):
        return as_dtype(annotation, configuration.current_options())(value)
    if isinstance(annotation, Annotation) and annotation.is_matrix and callable(annotation):
        return annotation(value)
    return copied(value)


_COMBINE: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "exchange": lambda old, value: value,
    "cas": lambda old, expected, value: value if old == expected else old,
}


def combined(code: str, old: Any, *values: Any) -> Any:
    """The new value after an atomic operation."""
    return _COMBINE[code](old, *values)


def change_item(code: str, owner: Any, place: Any, *values: Any) -> Any:
    """An atomic operation on an element. Returns the old value."""
    old = copied(owner[place])
    owner[place] = combined(code, old, *values)
    return old


def change_attribute(code: str, owner: Any, name: str, *values: Any) -> Any:
    """An atomic operation on a member. Returns the old value."""
    old = copied(getattr(owner, name))
    setattr(owner, name, combined(code, old, *values))
    return old


def first(old: Any, new: Any) -> Any:
    """The old value of a changed variable."""
    return old


def _make_cell() -> Any:
    import sys

    ours = sys.modules[__name__]
    return (lambda: ours).__closure__[0]  # type: ignore[index]


_cell = _make_cell()
