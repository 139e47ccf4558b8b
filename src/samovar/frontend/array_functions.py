"""Loops over arrays that a program writes as one expression: assignments to parts, reductions, products, local arrays."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable

from samovar._native import DType, f64, i32, i64, u1, u64
from samovar.frontend.assignments import augment
from samovar.frontend.bindings import carried_out, first_assigned
from samovar.frontend.dispatch import assign_elements, call_value, matrix_product
from samovar.frontend.filling import filled_with
from samovar.frontend.loops import stage_over
from samovar.frontend.lossy import element_at, kept
from samovar.frontend.matrices import filled, made_of, of_type
from samovar.frontend.operators import BINARY, BinaryOperator, binary, truth
from samovar.frontend.rules import Call, Rule, bind, dtype_argument
from samovar.frontend.scalars import constant, convert, float_type
from samovar.frontend.staged.array_values import (
    ArrayMethod,
    ArrayValue,
    Computed,
    Named,
    Reduced,
    Section,
    SectionPlace,
    element_type,
    expression,
    product,
    require_equal,
    require_no_overlap,
)
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import MatrixValue, as_matrix
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.space import Axis, Space
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.variable import Variable
from samovar.frontend.stager import Binding, Stager
from samovar.frontend.syntax import FILL
from samovar.ir import Region, Value
from samovar.language import integer_range, is_float, is_integer

ADD, SUBTRACT, MULTIPLY, DIVIDE = (BINARY[each] for each in (ast.Add, ast.Sub, ast.Mult, ast.Div))


def space_of(stager: Stager, value: ArrayValue, node: ast.AST) -> Space:
    """All indices of a value; those of a whole array in the order of memory."""
    if isinstance(value, Section) and value.ndim == len(value.ranges) and all(part.length is None for part in value.ranges):
        order = value.array.order
        axes = None if order is None else tuple(axis for axis in order if axis < value.ndim)
        return Space(tuple(Axis(Static(0), each) for each in value.extents(stager)), order=axes)
    return Space(tuple(Axis(Static(0), each) for each in value.extents(stager)))


# --- assignment


@assign_elements.register(Section)
def assign_section(target: Section, stager: Stager, value: Staged, node: ast.AST) -> None:
    """`a[1:] = b * c`: one loop, parallel where a loop would be."""
    value = matched_value(stager, target, value, node)
    if value.is_number():
        value = Scalar(kept(stager, value, target.array.dtype, node, element_at(node, target.array)))

    def put(inner: Stager, at: list[Value]) -> None:
        target.place(inner, tuple(at)).store(inner, value.element_beside(inner, tuple(at)), node)

    stage_over(stager, space_of(stager, target, node), node, put)


def matched_value(stager: Stager, target: Section, value: Staged, node: ast.AST) -> Staged:
    """The right side of an assignment to a part: a number, or as many elements."""
    value = value.as_operand(stager, node)
    if value.is_number():
        return value
    value = value.as_array_value() or value.beside(stager, target, node)
    if isinstance(value, MatrixValue) and value.shape == target.tensor.inner:
        return value
    shape = value.array_extents(stager)
    if shape is None:
        stager.fail_type(node, f"{target.describe()} cannot be assigned {value.describe()}", "assign numbers or arrays")
    own = target.extents(stager)
    if len(shape) > len(own):
        message = f"{value.describe()} has {len(shape)} dimensions, but {target.describe()} has {len(own)}"
        stager.fail_axes(node, f"shapes do not match: {message}")
    for mine, its in zip(own[len(own) - len(shape) :], shape, strict=True):
        if its.number() != 1:
            require_equal(stager, mine, its, node)
    require_no_overlap(stager, target, value, node)
    return value


@augment.register(SectionPlace)
def augment_section(
    place: SectionPlace, stager: Stager, operator: BinaryOperator, value: Staged, node: ast.AugAssign
) -> None:
    """`a[1:] += b`: an update of each element."""
    target = place.section
    value = matched_value(stager, target, value, node)

    def update(inner: Stager, at: list[Value]) -> None:
        augment(target.place(inner, tuple(at)), inner, operator, value.element_beside(inner, tuple(at)), node)

    stage_over(stager, space_of(stager, target, node), node, update)


@first_assigned.register(ArrayValue)
def name_expression(value: ArrayValue, stager: Stager, target: ast.Name, annotated: DType | None) -> Binding:
    """A part of an array is a view of it; an expression is computed where its name is used."""
    if annotated is not None:
        value.fail_as_number(stager, target)
    return value if isinstance(value, Section) else Named(target.id, value, stager)


@carried_out.register(Named)
def leave_branch(value: Named, stager: Stager, region: Region, name: str) -> Binding:
    value.stale = "it was assigned in a branch"
    return value


# --- reductions


class Accumulator:
    """A variable that a loop over elements updates; the loop may be parallel."""

    def __init__(self, stager: Stager, name: str, dtype: DType, start: float) -> None:
        self.variable = Variable(stager.new_local(name, dtype))
        self.variable.store_value(stager, constant(start, dtype))

    def update(self, stager: Stager, code: str, value: Value) -> None:
        variable = self.variable
        if variable.is_shared(stager):
            variable.update(stager, code, (value,))
            return
        current = stager.emit("load_local", variable.type, (), variable.local)
        variable.store_value(stager, stager.emit(code, variable.type, (current, value)))

    def value(self, stager: Stager) -> Value:
        return stager.emit("load_local", self.variable.type, (), self.variable.local)


def sum_type(stager: Stager, dtype: DType) -> DType:
    """The type of a sum, as in NumPy: integers are summed in 64 bits."""
    return dtype if is_float(dtype) else u64 if dtype.kind == "uint" and dtype is not u1 else i64


def add_up(stager: Stager, value: ArrayValue, node: ast.AST, code: str = "add", wanted: DType | None = None) -> Staged:
    dtype = wanted or sum_type(stager, element_type(stager, value, node))
    total = Accumulator(stager, "sum" if code == "add" else "product", dtype, 0 if code == "add" else 1)

    def update(inner: Stager, at: list[Value]) -> None:
        total.update(inner, code, value.at(inner, tuple(at)).as_type(inner, dtype, node))

    stage_over(stager, space_of(stager, value, node), node, update)
    return Scalar(total.value(stager))


def multiply_up(stager: Stager, value: ArrayValue, node: ast.AST) -> Staged:
    return add_up(stager, value, node, "mul")


def extreme(code: str) -> Callable[[Stager, ArrayValue, ast.AST], Staged]:
    """min, max. NaN if an element is; that of no elements is the largest or smallest number."""

    def apply(stager: Stager, value: ArrayValue, node: ast.AST) -> Staged:
        dtype = element_type(stager, value, node)
        if is_integer(dtype) or dtype is u1:
            low, high = (0, 1) if dtype is u1 else integer_range(dtype)
            best = Accumulator(stager, code, dtype, high if code == "min" else low)
        else:
            best = Accumulator(stager, code, dtype, math.inf if code == "min" else -math.inf)
        undefined = Accumulator(stager, "undefined", i32, 0) if is_float(dtype) else None

        def update(inner: Stager, at: list[Value]) -> None:
            element = value.at(inner, tuple(at)).scalar(inner, node)
            best.update(inner, code, element)
            if undefined is not None:
                test = inner.emit("isnan", u1, (element,))
                undefined.update(inner, "or", convert(inner, test, i32))

        stage_over(stager, space_of(stager, value, node), node, update)
        result = best.value(stager)
        if undefined is not None:
            found = stager.emit("ne", u1, (undefined.value(stager), constant(0, i32)))
            result = stager.emit("select", dtype, (found, constant(math.nan, dtype), result))
        return Scalar(result)

    return apply


def quantified(code: str, start: int) -> Callable[[Stager, ArrayValue, ast.AST], Staged]:
    """any, all."""

    def apply(stager: Stager, value: ArrayValue, node: ast.AST) -> Staged:
        found = Accumulator(stager, "any" if code == "or" else "all", i32, start)

        def update(inner: Stager, at: list[Value]) -> None:
            found.update(inner, code, convert(inner, truth(inner, value.at(inner, tuple(at)), node), i32))

        stage_over(stager, space_of(stager, value, node), node, update)
        return Scalar(stager.emit("ne", u1, (found.value(stager), constant(0, i32))))

    return apply


def average(stager: Stager, value: ArrayValue, node: ast.AST) -> Staged:
    own = element_type(stager, value, node)
    dtype = float_type(stager, own)
    total = add_up(stager, value, node, wanted=dtype)
    count = Scalar(convert(stager, product(stager, value.extents(stager)), dtype))
    return binary(stager, DIVIDE, total, count, node)


def variance(stager: Stager, value: ArrayValue, node: ast.AST) -> Staged:
    mean = average(stager, value, node)

    def squared(each: Staged) -> Staged:
        difference = binary(stager, SUBTRACT, each, mean, node)
        return binary(stager, MULTIPLY, difference, difference, node)

    return average(stager, expression(stager, (value,), node, squared), node)


def deviation(stager: Stager, value: ArrayValue, node: ast.AST) -> Staged:
    found = variance(stager, value, node).scalar(stager, node)
    return Scalar(stager.emit("sqrt", found.type, (found,)))


def place_of_extreme(code: str) -> Callable[[Stager, ArrayValue, ast.AST], Staged]:
    """argmin, argmax: the first index of the extreme, or of NaN. A serial loop."""

    def apply(stager: Stager, value: ArrayValue, node: ast.AST) -> Staged:
        if value.ndim != 1:
            stager.fail_type(node, f"`arg{code}` takes a 1-D array in a kernel, not one of {value.ndim} dimensions")
        dtype = element_type(stager, value, node)
        best = Variable(stager.new_local(code, dtype))
        place = Variable(stager.new_local(f"arg{code}", i64))
        best.store_value(stager, value.at(stager, (constant(0, i32),)).scalar(stager, node))
        place.store_value(stager, constant(0, i64))

        def update(inner: Stager, at: list[Value]) -> None:
            element = value.at(inner, tuple(at)).scalar(inner, node)
            held = inner.emit("load_local", dtype, (), best.local)
            better: Value = inner.emit("lt" if code == "min" else "gt", u1, (element, held))
            if is_float(dtype):
                defined = inner.emit("not", u1, (inner.emit("isnan", u1, (held,)),))
                first_undefined = inner.emit("and", u1, (inner.emit("isnan", u1, (element,)), defined))
                better = inner.emit("or", u1, (better, first_undefined))
            index = inner.emit("load_local", i64, (), place.local)
            best.store_value(inner, inner.emit("select", dtype, (better, element, held)))
            place.store_value(inner, inner.emit("select", i64, (better, convert(inner, at[0], i64), index)))

        stage_over(stager, space_of(stager, value, node), node, update, is_serial=True)
        return Scalar(stager.emit("load_local", i64, (), place.local))

    return apply


Reduction = Callable[[Stager, ArrayValue, ast.AST], Staged]
REDUCTIONS: dict[str, Reduction] = {
    "sum": add_up,
    "prod": multiply_up,
    "min": extreme("min"),
    "max": extreme("max"),
    "mean": average,
    "var": variance,
    "std": deviation,
    "any": quantified("or", 0),
    "all": quantified("and", 1),
    "argmin": place_of_extreme("min"),
    "argmax": place_of_extreme("max"),
}


class Slab(ArrayValue):
    """One dimension of an array, at fixed indices of the others."""

    __slots__ = ("axis", "indices", "owner")

    def __init__(self, owner: ArrayValue, axis: int, indices: tuple[Value, ...]) -> None:
        self.owner = owner
        self.axis = axis
        self.indices = indices

    @property
    def ndim(self) -> int:
        return 1

    def extents(self, stager: Stager) -> tuple[Staged, ...]:
        return (self.owner.extents(stager)[self.axis],)

    def at(self, stager: Stager, indices: tuple[Value, ...]) -> Staged:
        return self.owner.at(stager, (*self.indices[: self.axis], *indices, *self.indices[self.axis :]))

    def parts_read(self) -> tuple[Section, ...]:
        return self.owner.parts_read()


def reduced(stager: Stager, name: str, value: ArrayValue, axis: Staged | None, node: ast.AST) -> Staged:
    """A reduction of all elements, or along one dimension."""
    reduction = REDUCTIONS[name]
    if axis is None or axis.is_none():
        return reduction(stager, value, node)
    number = axis.number()
    if not isinstance(number, int) or isinstance(number, bool) or not -value.ndim <= number < value.ndim:
        stager.fail_type(node, f"`axis` must be a known dimension, from 0 to {value.ndim - 1}")
    if value.ndim == 1:
        return reduction(stager, value, node)
    along = number % value.ndim
    extents = value.extents(stager)
    shape = (*extents[:along], *extents[along + 1 :])
    return Reduced(shape, (value,), lambda indices: reduction(stager, Slab(value, along, indices), node))


@matrix_product.register(ArrayValue)
def array_product(operand: Staged, stager: Stager, left: Staged, right: Staged, node: ast.AST) -> Staged:
    """`np.dot` and `@` of arrays."""
    one, two = (each.as_array_value() or each for each in (left, right))
    first, second = one.array_extents(stager), two.array_extents(stager)
    if first is None or second is None or max(len(first), len(second)) > 2:
        stager.fail_type(node, "a product requires arrays of one or two dimensions", "use `*` for numbers")
    require_equal(stager, first[-1], second[0], node)
    space = Space((Axis(Static(0), first[-1]),))

    def entry(indices: tuple[Value, ...]) -> Staged:
        row, column = indices[: len(first) - 1], indices[len(first) - 1 :]

        def term(inner: Stager, at: Value) -> Staged:
            factors = one.element_beside(inner, (*row, at)), two.element_beside(inner, (at, *column))
            return binary(inner, MULTIPLY, *factors, node)

        with stager.into(Region()):
            dtype = term(stager, constant(0, i32)).type(stager, node)
        total = Accumulator(stager, "product", dtype, 0)
        stage_over(
            stager, space, node, lambda inner, at: total.update(inner, "add", term(inner, at[0]).as_type(inner, dtype, node))
        )
        return Scalar(total.value(stager))

    if len(first) == 1 and len(second) == 1:
        return entry(())
    arrays = tuple(each for each in (one, two) if isinstance(each, ArrayValue))
    return Reduced((*first[:-1], *second[1:]), arrays, entry)


@call_value.register(ArrayMethod)
def call_method(method: ArrayMethod, stager: Stager, node: ast.Call) -> Staged:
    if method.name == FILL:
        assert isinstance(method.owner, Section)
        assign_section(method.owner, stager, filled_with(stager, node), node)
        return Static(None)
    if method.name == "dot":
        return array_product(method.owner, stager, method.owner, bind(stager, node, "b")["b"], node)
    call = bind(stager, node, "axis?")
    return reduced(stager, method.name, method.owner, call.get("axis"), node)


def numpy_reduction(name: str) -> Rule:
    """`np.sum(a)`; of vectors and tuples too."""

    def apply(stager: Stager, call: Call) -> Staged:
        value = call["a"].as_operand(stager, call.node)
        array = value.as_array_value()
        if array is None and not value.is_number():
            array = expression_of(stager, value, call.node)
        if array is None:
            stager.fail_type(call.node, f"`np.{name}` takes an array in a kernel, got {value.describe()}")
        return reduced(stager, name, array, call.get("axis"), call.node)

    return Rule(apply, "a axis?")


def expression_of(stager: Stager, value: Staged, node: ast.AST) -> ArrayValue | None:
    """A vector, a matrix or a list of numbers as an array; None for others."""
    matrix = as_matrix(stager, value, node)
    if not isinstance(matrix, MatrixValue):
        return None
    return Computed(tuple(map(Static, matrix.shape)), (matrix,), lambda each: each)


def numpy_product(stager: Stager, call: Call) -> Staged:
    one, two = (call[name].as_operand(stager, call.node) for name in ("a", "b"))
    if one.is_number() and two.is_number():
        return binary(stager, MULTIPLY, one, two, call.node)
    if isinstance(one, MatrixValue) and isinstance(two, MatrixValue) and len(one.shape) + len(two.shape) > 2:
        return binary(stager, BINARY[ast.MatMult], one, two, call.node)
    return array_product(one, stager, one, two, call.node)


# --- local arrays


def constant_shape(stager: Stager, shape: Staged, call: Call) -> tuple[int, ...]:
    """A shape that is known at compile time: a number, or a tuple of one or two."""
    value = shape.unforced()
    parts = (value,) if value.is_number() else value.as_operand(stager, call.node).sequence(stager, call.node)
    numbers = [each.unforced().number() for each in parts]
    sizes = tuple(each for each in numbers if isinstance(each, int) and not isinstance(each, bool))
    name = ast.unparse(call.node.func)
    if len(sizes) != len(numbers):
        stager.fail_type(
            call.node,
            f"`{name}` in a kernel needs a shape that is known at compile time",
            "for a shape that is only known at run time, create the array outside and pass it:"
            f" `{name}(n)` before the launch, and a parameter for it",
        )
    if not 1 <= len(sizes) <= 2 or min(sizes) < 1:
        message = f"`{name}` in a kernel makes arrays of one or two dimensions that are not empty"
        stager.fail_type(call.node, message, "pass an array instead")
    return sizes


def uniform(number: float | None) -> Rule:
    """`np.zeros(3)`, `np.ones((2, 2), np.float32)`: an array of the function, as `sv.Matrix` makes them."""

    def apply(stager: Stager, call: Call) -> Staged:
        wanted = call.get("dtype")
        dtype = f64 if wanted is None or wanted.is_none() else dtype_argument(stager, wanted, call.node)
        return filled(stager, dtype, constant_shape(stager, call["shape"], call), Static(number), call.node)

    return Rule(apply, "shape dtype?")


def full(stager: Stager, call: Call) -> Staged:
    wanted, value = call.get("dtype"), call["fill_value"]
    dtype = value.type(stager, call.node) if wanted is None else dtype_argument(stager, wanted, call.node)
    return filled(stager, dtype, constant_shape(stager, call["shape"], call), value, call.node)


def like(number: float) -> Rule:
    """`np.zeros_like(v)` of an array with a known shape."""

    def apply(stager: Stager, call: Call) -> Staged:
        value = call["a"].as_operand(stager, call.node)
        wanted = call.get("dtype")
        array = value.as_array_value()
        if isinstance(value, MatrixValue):
            dtype = value.dtype(stager, call.node) if wanted is None else dtype_argument(stager, wanted, call.node)
            return filled(stager, dtype, value.shape, Static(number), call.node)
        if array is None:
            stager.fail_type(call.node, f"`{ast.unparse(call.node.func)}` takes an array, got {value.describe()}")
        own = element_type(stager, array, call.node) if wanted is None else dtype_argument(stager, wanted, call.node)
        shape = tuple(each.unforced() for each in array.extents(stager))
        return filled(stager, own, constant_shape(stager, Items(shape), call), Static(number), call.node)

    return Rule(apply, "a dtype?")


def array_of(stager: Stager, call: Call) -> Staged:
    """`np.array([1.0, 2.0])`: numbers without a type become f64 or i64, as in NumPy."""
    wanted = call.get("dtype")
    value = made_of(stager, Call(call.node, {"entries": call["object"]}, call.nodes), call["object"])
    dtype = value.dtype(stager, call.node) if wanted is None else dtype_argument(stager, wanted, call.node)
    if wanted is None and all_plain(stager, call["object"]):
        dtype = f64 if is_float(dtype) else i64
    return of_type(stager, value, dtype, call.node)


def all_plain(stager: Stager, value: Staged) -> bool:
    """Whether a list consists of plain numbers."""
    if value.is_number():
        return value.number() is not None
    return isinstance(value, Items) and all(all_plain(stager, each) for each in value.items)


INTRINSICS = {
    **{f"numpy.{name}": numpy_reduction(name) for name in REDUCTIONS},
    **{f"numpy.{name}": numpy_reduction(own) for name, own in (("amin", "min"), ("amax", "max"))},
    "numpy.dot": Rule(numpy_product, "a b"),
    "numpy.zeros": uniform(0),
    "numpy.ones": uniform(1),
    "numpy.empty": uniform(0),
    "numpy.full": Rule(full, "shape fill_value dtype?"),
    "numpy.zeros_like": like(0),
    "numpy.ones_like": like(1),
    "numpy.empty_like": like(0),
    "numpy.array": Rule(array_of, "object dtype?"),
}
