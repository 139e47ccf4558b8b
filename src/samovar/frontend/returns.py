"""`return`: the values of a function, their types, and whether every path gives them."""

from __future__ import annotations

import ast

from samovar._native import DType, i32
from samovar.frontend.expressions import stage
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.scalars import constant, convert
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.ir import Local, Value
from samovar.language import Annotation, NoneAnnotation, ScalarAnnotation, TupleAnnotation, promote


def stage_return(stager: Stager, node: ast.Return) -> None:
    if stager.expanded is not None:
        stager.expanded(node)
        return
    if any(loop.kind == "parallel" for loop in stager.loops) or stager.task_locals is not None:
        stager.fail(node, "`return` inside a parallel loop", "write the result into an array, or return after the loop")
    if stager.context.graph.enabled and stager.specialised is None:
        return_from_graph(stager, node)
        return
    stager.given_results = 0
    result = returned_value(stager, node)
    if stager.result is not None and not result.is_like(stager.result):
        stager.fail_type(node, "every `return` of a function must give the same number of values")
    stager.result = result
    operation = stager.emit("return", None, tuple(value for value in result.ir_values() if value.type is not None))
    stager.returns.append((stager.region, operation))
    stager.ended = True


def return_from_graph(stager: Stager, node: ast.Return) -> None:
    """A kernel with `graph=True` may end early, and returns nothing."""
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        stager.fail(node, "a kernel with `graph=True` returns no value", "write the result into an array")
    if stager.context.graph.inside:
        stager.fail(node, f"`return` inside of {stager.context.graph.inside}", "return before it or after it")
    end_graph(stager)


def end_graph(stager: Stager) -> None:
    """The end of a kernel with `graph=True`: with checkpoints, it says that none has ended it."""
    stager.emit("return", None, (constant(0, i32),) if stager.context.graph.checkpoints else ())
    stager.ended = True


def unify_graph(stager: Stager, node: ast.FunctionDef) -> tuple[DType, ...]:
    """The result types of a kernel with `graph=True`: nothing, or the number of a checkpoint."""
    declared = stager.function.returns
    if declared is not None and not isinstance(declared, NoneAnnotation):
        stager.fail(node.returns or node, "a kernel with `graph=True` returns no value", "write the result into an array")
    if not stager.context.graph.checkpoints:
        return ()
    if not stager.ended:
        end_graph(stager)
    return (i32,)


def returned_value(stager: Stager, node: ast.Return) -> Staged:
    """What a `return` gives, all in run-time values; None is nothing."""
    if node.value is None:
        return Static(None)
    return stage(stager, node.value).as_operand(stager, node).returned(stager, stager.function.returns, node)


def returned_scalar(stager: Stager, value: Staged, declared: Annotation | None, node: ast.AST) -> Scalar:
    """A number as a result, of the dtype that the annotation gives."""
    (part,) = annotated_parts(stager, declared, 1, node)
    if not isinstance(part, ScalarAnnotation):
        return Scalar(value.scalar(stager, node))
    return Scalar(kept(stager, value, part.resolved(stager.context.lens.options), node, result_of(stager)))


def result_of(stager: Stager) -> Keeper:
    """What keeps the number that a function returns."""
    return Keeper(f"the result of `{stager.function.name}`", "returning")


def returned_items(stager: Stager, items: Items, declared: Annotation | None, node: ast.AST) -> Items:
    """A tuple as a result, each of its items as the annotation says."""
    parts = annotated_parts(stager, declared, len(items.items), node)
    return Items(tuple(item.returned(stager, part, node) for item, part in zip(items.items, parts, strict=True)))


def annotated_parts(
    stager: Stager, declared: Annotation | None, count: int, node: ast.AST
) -> list[Annotation | None]:
    """What a return annotation says of each of so many results."""
    if declared is None:
        return [None] * count
    if isinstance(declared, NoneAnnotation):
        stager.fail_type(node, "the function is annotated as returning None, and returns a value")
    items = declared.items if isinstance(declared, TupleAnnotation) else (declared,)
    if len(items) != count:
        stager.fail_type(node, f"the annotation promises {len(items)} results, and {count} are returned")
    return list(items)


def unify_returns(stager: Stager, node: ast.FunctionDef, carried: tuple[Local, ...] = ()) -> tuple[DType, ...]:
    """The result types of a staged function: those that all its returns meet in. Every path must return, or none.

    The values of `carried` variables follow the results.
    """
    if not stager.returns or not stager.returns[0][1].operands:
        require_no_result(stager, node)
        if not stager.ended and carried:
            stager.returns.append((stager.region, stager.emit("return", None)))
        return carry(stager, carried)
    if not stager.ended:
        stager.fail(
            node, f"`{node.name}` returns a value on some paths and ends without one on others", "end it with a `return`"
        )
    columns = zip(*(operation.operands for _, operation in stager.returns), strict=True)
    types = tuple(_meet([value.type for value in column if value.type is not None]) for column in columns)
    for region, operation in stager.returns:
        for dtype, value in zip(types, operation.operands, strict=True):
            if value.type is not dtype:
                break
        else:
            continue
        # The return is the last operation of its region: the conversions go in front of it.
        region.operations.remove(operation)
        with stager.into(region):
            operands: list[Value] = []
            for dtype, value in zip(types, operation.operands, strict=True):
                operands.append(convert(stager, value, dtype))
            operation.operands = tuple(operands)
            region.operations.append(operation)
    return (*types, *carry(stager, carried))


def require_no_result(stager: Stager, node: ast.FunctionDef) -> None:
    """A function that returns nothing must not be declared to return something."""
    declared = stager.function.returns
    if declared is not None and not isinstance(declared, NoneAnnotation):
        stager.fail(
            node.returns or node,
            f"`{node.name}` is declared to return {declared}, and returns nothing",
            "end it with a `return`, or leave the declaration out",
        )


def carry(stager: Stager, variables: tuple[Local, ...]) -> tuple[DType, ...]:
    """Have every return give the values of variables too."""
    for region, operation in stager.returns if variables else ():
        region.operations.remove(operation)
        with stager.into(region):
            loads = [stager.emit("load_local", each.type, (), each) for each in variables]
        operation.operands += tuple(loads)
        region.operations.append(operation)
    return tuple(each.type for each in variables)


def _meet(types: list[DType]) -> DType:
    dtype = types[0]
    for other in types[1:]:
        dtype = promote(dtype, other)
    return dtype
