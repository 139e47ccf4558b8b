"""`return`: the values of a function, their types, and whether every path gives them."""

from __future__ import annotations

import ast

from samovar._native import DType
from samovar.frontend.arithmetic import as_stored, as_type, plain, scalar
from samovar.frontend.expressions import as_items, stage
from samovar.frontend.promotion import promote
from samovar.frontend.staged import Items, Static
from samovar.frontend.stager import Stager
from samovar.ir import Local, Value
from samovar.language import Annotation, NoneAnnotation, ScalarAnnotation, TupleAnnotation


def stage_return(stager: Stager, node: ast.Return) -> None:
    if stager.expanded is not None:
        stager.expanded(node)
        return
    if any(loop.kind == "parallel" for loop in stager.loops) or stager.task_locals is not None:
        stager.fail(node, "`return` inside a parallel loop", "write the result into an array, or return after the loop")
    values, form = returned_values(stager, node)
    if stager.result_form is not None and (form != stager.result_form or len(values) != returned_count(stager)):
        stager.fail_type(node, "every `return` of a function must give the same number of values")
    stager.result_form = form
    operation = stager.emit("return", None, values)
    stager.returns.append((stager.region, operation))
    stager.ended = True


def returned_count(stager: Stager) -> int:
    return len(stager.returns[0][1].operands)


def returned_values(stager: Stager, node: ast.Return) -> tuple[tuple[Value, ...], str]:
    """The run-time values of a `return`, and whether they are none, one, or a tuple."""
    staged = as_items(stager, plain(stage(stager, node.value))) if node.value is not None else Static(None)
    if isinstance(staged, Static) and staged.value is None:
        return (), "none"
    declared = stager.function.returns
    if isinstance(staged, Items):
        types = annotated_types(stager, declared, len(staged.items), node)
        values = tuple(
            scalar(stager, item, node) if dtype is None else as_stored(stager, item, dtype, node)
            for item, dtype in zip(staged.items, types, strict=True)
        )
        return values, "tuple"
    dtype = annotated_types(stager, declared, 1, node)[0]
    return (scalar(stager, staged, node) if dtype is None else as_stored(stager, staged, dtype, node),), "scalar"


def annotated_types(stager: Stager, declared: Annotation | None, count: int, node: ast.AST) -> list[DType | None]:
    """The dtypes that a return annotation gives to so many results."""
    if declared is None:
        return [None] * count
    if isinstance(declared, NoneAnnotation):
        stager.fail_type(node, "the function is annotated as returning None, and returns a value")
    items = declared.items if isinstance(declared, TupleAnnotation) else (declared,)
    if len(items) != count:
        stager.fail_type(node, f"the annotation promises {len(items)} results, and {count} are returned")
    types: list[DType | None] = []
    for item in items:
        types.append(item.resolved(stager.program.lens.options) if isinstance(item, ScalarAnnotation) else None)
    return types


def settle_returns(stager: Stager, node: ast.FunctionDef, carried: tuple[Local, ...] = ()) -> tuple[DType, ...]:
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
                operands.append(as_type(stager, value, dtype, node))
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
