"""Surrogates: values whose derivative is that of a formula instead (see `samovar.language.derivative_rules`)."""

from __future__ import annotations

from samovar.ir import Kernel, Operation, Region, Value, memory, regions, substitute, walk
from samovar.passes.dead_code import eliminate_dead_code

_MARKS = ("detach", "surrogate")


def surrogates(region: Region) -> tuple[dict[Value, Operation], set[Value]]:
    """The surrogates in a region, by the values that they replace, and what is computed from detached values. Of the latter,
    second derivatives need what it is as a function of the surrogates."""
    found: dict[Value, Operation] = {}
    formulas: set[Value] = set()
    for operation in walk(region):
        if operation.code == "surrogate":
            found[operation.operands[0]] = operation
        elif operation.code == "detach" or (memory(operation) is None and not formulas.isdisjoint(operation.operands)):
            formulas.add(operation)
    return found, formulas


def drop_formulas(kernel: Kernel) -> None:
    """Use the values themselves, after differentiation, in place. Nothing needs the formulas."""
    marks = [each for each in walk(kernel.body) if each.code in _MARKS]
    if not marks:
        return
    values: dict[Value, Value] = {}
    for mark in marks:  # in program order: what an operand stands for is known
        values[mark] = values.get(mark.operands[0], mark.operands[0])

    def drop(region: Region) -> None:
        region.operations = [each for each in region.operations if each.code not in _MARKS]
        for operation in region.operations:
            substitute(operation, values)
            for inner in regions(operation):
                drop(inner)

    drop(kernel.body)
    eliminate_dead_code(kernel)
