"""`return`: the results of a function, their types, and whether every path returns them."""

from __future__ import annotations

import ast
from functools import singledispatch

from samovar._native import DType, i32
from samovar.frontend.dispatch import stage
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.complex import Complex, converted
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.space import Space
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.tensor import Tensor
from samovar.frontend.stager import Stager
from samovar.ir import Local, Value
from samovar.language import Annotation, NoneAnnotation, ScalarAnnotation, TupleAnnotation, part_type, promote


def stage_return(stager: Stager, node: ast.Return) -> None:
    if stager.expanded is not None:
        stager.expanded(node)
        return
    if any(loop.kind == "parallel" for loop in stager.loops) or stager.task_locals is not None:
        stager.fail(node, "`return` inside a parallel loop", "write the result to an array, or return after the loop")
    if stager.context.graph.enabled and stager.specialized is None:
        return_from_graph(stager, node)
        return
    stager.results.given = 0
    result = returned_value(stager, node)
    if stager.results.sample is not None and not result.is_like(stager.results.sample):
        stager.fail_type(node, "every `return` of a function must return the same number of values, and the same arrays")
    stager.results.sample = result
    operation = stager.emit("return", None, tuple(value for value in result.ir_values() if value.type is not None))
    stager.results.returns.append((stager.region, operation))
    stager.ended = True


def return_from_graph(stager: Stager, node: ast.Return) -> None:
    """`return` in a kernel with `graph=True`, which may end early and returns nothing."""
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        stager.fail(node, "a kernel with `graph=True` cannot return a value", "write the result to an array")
    if stager.context.graph.inside:
        stager.fail(node, f"`return` inside {stager.context.graph.inside} is not supported", "return before or after it")
    end_graph(stager)


def end_graph(stager: Stager) -> None:
    """The end of a kernel with `graph=True`: with checkpoints, report that none stopped it."""
    stager.emit("return", None, (constant(0, i32),) if stager.context.graph.checkpoints else ())
    stager.ended = True


def unify_graph(stager: Stager, node: ast.FunctionDef) -> tuple[DType, ...]:
    """The result types of a kernel with `graph=True`: nothing, or the number of a checkpoint."""
    declared = stager.function.returns
    if declared is not None and not isinstance(declared, NoneAnnotation):
        stager.fail(node.returns or node, "a kernel with `graph=True` cannot return a value", "write the result to an array")
    if not stager.context.graph.checkpoints:
        return ()
    if not stager.ended:
        end_graph(stager)
    return (i32,)


def returned_value(stager: Stager, node: ast.Return) -> Staged:
    """The result of a `return` in run-time values; None is nothing."""
    if node.value is None:
        return Static(None)
    return returned(stage(stager, node.value).as_operand(stager, node), stager, stager.function.returns, node)


@singledispatch
def returned(value: Staged, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
    """The value as a result: in run-time scalars, of the annotated dtypes. Kinds other than numbers register a rule."""
    return return_number(value, stager, declared, node)


def return_number(value: Staged, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
    (part,) = annotated_parts(stager, declared, 1, node)
    if not isinstance(part, ScalarAnnotation):
        return Scalar(value.scalar(stager, node))
    parts = part_type(part.resolved(stager.context.lens.options))
    if parts is not None and value.is_number():
        return return_complex(Complex(value, Static(0.0)), stager, part, node)
    return Scalar(kept(stager, value, part.resolved(stager.context.lens.options), node, result_of(stager)))


@returned.register(Complex)
def return_complex(value: Complex, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
    (part,) = annotated_parts(stager, declared, 1, node)
    if not isinstance(part, ScalarAnnotation):
        return value.as_argument(stager, node)
    dtype = part.resolved(stager.context.lens.options)
    return converted(stager, value, dtype, node, result_of(stager))


def result_of(stager: Stager) -> Keeper:
    """The destination of a returned number."""
    return Keeper(f"the result of `{stager.function.name}`", "returning")


@returned.register(Static)
def return_constant(value: Static, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
    return value if value.value is None else return_number(value, stager, declared, node)


@returned.register(Tensor)
def return_array(tensor: Tensor, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
    """An array of a func is the caller's: one that was passed to it, or a global one."""
    if tensor.is_number():
        return return_number(tensor, stager, declared, node)
    is_of_func = stager.specialized is not None or stager.expanded is not None
    if not is_of_func or tensor.array.private or declared is not None:
        stager.fail_type(node, f"{tensor.describe()} cannot be returned", "write to an array argument")
    return tensor


@returned.register(Space)
def return_space(space: Space, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
    """An iteration space, for a loop of the caller."""
    if space.columns is not None or space.unordered is not space or (stager.specialized is None and stager.expanded is None):
        stager.fail_type(node, "this iteration space cannot be returned", "return its bounds, and loop over them")
    bounds = (bound if bound.number() is not None else Scalar(bound.scalar(stager, node)) for bound in space.bounds())
    return space.with_bounds(tuple(bounds))


@returned.register(Items)
def return_items(items: Items, stager: Stager, declared: Annotation | None, node: ast.AST) -> Staged:
    """A tuple as a result, with each item as annotated."""
    parts = annotated_parts(stager, declared, len(items.items), node)
    return Items(tuple(returned(item, stager, part, node) for item, part in zip(items.items, parts, strict=True)))


def annotated_parts(
    stager: Stager, declared: Annotation | None, count: int, node: ast.AST
) -> list[Annotation | None]:
    """The return annotation of each result."""
    if declared is None:
        return [None] * count
    if isinstance(declared, NoneAnnotation):
        stager.fail_type(node, "the function is annotated as returning None, but returns a value")
    items = declared.items if isinstance(declared, TupleAnnotation) else (declared,)
    if len(items) != count:
        stager.fail_type(node, f"the return annotation has {len(items)} results, but {count} are returned")
    return list(items)


def unify_returns(stager: Stager, node: ast.FunctionDef, carried: tuple[Local, ...] = ()) -> tuple[DType, ...]:
    """The result types of a staged function: those that all its returns promote to. Either all paths return or none.

    The values of `carried` variables follow the results.
    """
    if not stager.results.returns or not stager.results.returns[0][1].operands:
        require_no_result(stager, node)
        if not stager.ended and carried:
            stager.results.returns.append((stager.region, stager.emit("return", None)))
        return carry(stager, carried)
    if not stager.ended and returns_zero(stager):
        zeros = tuple(constant(0, value.type) for value in stager.results.returns[0][1].operands if value.type is not None)
        stager.results.returns.append((stager.region, stager.emit("return", None, zeros)))
    elif not stager.ended:
        stager.fail(
            node, f"`{node.name}` returns a value on some paths but not on others", "end it with a `return`"
        )
    columns = zip(*(operation.operands for _, operation in stager.results.returns), strict=True)
    types = tuple(_promoted([value.type for value in column if value.type is not None]) for column in columns)
    for region, operation in stager.results.returns:
        for dtype, value in zip(types, operation.operands, strict=True):
            if value.type is not dtype:
                break
        else:
            continue
        # The return is the last operation of its region: conversions go before it.
        region.operations.remove(operation)
        with stager.into(region):
            operands: list[Value] = []
            for dtype, value in zip(types, operation.operands, strict=True):
                operands.append(convert(stager, value, dtype))
            operation.operands = tuple(operands)
            region.operations.append(operation)
    return (*types, *carry(stager, carried))


def returns_zero(stager: Stager) -> bool:
    """Whether a path of a `real_func` without a `return` returns 0."""
    return bool(stager.function.options.get("outlined")) and stager.context.lens.options.missing_returns == "zero"


def require_no_result(stager: Stager, node: ast.FunctionDef) -> None:
    """Check that a function that returns nothing is not declared to return something."""
    declared = stager.function.returns
    if declared is not None and not isinstance(declared, NoneAnnotation):
        stager.fail(
            node.returns or node,
            f"`{node.name}` is declared to return {declared}, but returns nothing",
            "end it with a `return`, or remove the annotation",
        )


def carry(stager: Stager, variables: tuple[Local, ...]) -> tuple[DType, ...]:
    """Make every return also return the values of variables."""
    for region, operation in stager.results.returns if variables else ():
        region.operations.remove(operation)
        with stager.into(region):
            loads = [stager.emit("load_local", each.type, (), each) for each in variables]
        operation.operands += tuple(loads)
        region.operations.append(operation)
    return tuple(each.type for each in variables)


def _promoted(types: list[DType]) -> DType:
    dtype = types[0]
    for other in types[1:]:
        dtype = promote(dtype, other)
    return dtype
