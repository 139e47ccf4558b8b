"""Lowers a function, seen through the lens, to a typed IR kernel."""

from __future__ import annotations

import ast
import itertools
from dataclasses import dataclass
from typing import Any

from samovar import errors
from samovar.artifact import Notice
from samovar.frontend import calls, expressions, intrinsics, statements, structs, unannotated
from samovar.frontend.context import Decisions, KernelContext, Label, Reconsider
from samovar.frontend.dispatch import stage_body
from samovar.frontend.members import check_array, element_shape, given_complex, given_matrix, required_view
from samovar.frontend.naming import classify_names
from samovar.frontend.returns import unify_graph, unify_returns
from samovar.frontend.scalars import read
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import AbsentArray
from samovar.frontend.staged.tensor import Tensor
from samovar.frontend.stager import Stager, reserve_arrays
from samovar.frontend.syntax import walk
from samovar.ir import Kernel, Region, ResultShape
from samovar.language import (
    ArrayAnnotation,
    DataclassAnnotation,
    ScalarAnnotation,
    TemplateAnnotation,
    ViewAnnotation,
    part_type,
)
from samovar.lens import FunctionParameter, Kind, Lens
from samovar.values import MatrixType


@dataclass(frozen=True)
class Lowered:
    """The kernel, warnings about its source, and the labels of its checkpoints in the order of their numbers."""

    kernel: Kernel
    notices: tuple[Notice, ...]
    labels: tuple[Label, ...] = ()
    is_graph: bool = False
    #: Of a graph, see `samovar.artifact.graph`.
    nodes: tuple[Any, ...] = ()
    #: Of a derivative, what a tape has to know, see `samovar.runtime.launch_plan`.
    derivative: bytes = b""


#: The modules whose rules are in the tables of `dispatch.py`, directly or through what they import.
RULES = (calls, expressions, intrinsics, statements)

#: Types only widen, so this terminates; after this many times locals keep their types, with warnings.
MOST_PASSES = 32


def lower(lens: Lens) -> Lowered:
    """Stage the kernel of a lens."""
    decisions = Decisions()
    passes = 0  # that have widened a local
    try:
        while True:
            kernel = Kernel(lens.kernel.name, [], (), Region(), file=lens.kernel.file)
            context = KernelContext(lens, kernel, decisions)
            context.widens = passes < MOST_PASSES
            lens.begin_staging()
            lens.looked_from(context.position)
            try:
                lowered = stage_kernel(context)
                if not context.wanted_types:
                    return lowered
            except Reconsider:  # each time with one more name
                pass
            except errors.SamovarError:
                if not context.wanted_types:
                    raise
            passes += bool(context.wanted_types)
            decisions.widened |= context.wanted_types
    finally:
        lens.looked_from(None)  # the trace of a lens outlives the program


def stage_kernel(context: KernelContext) -> Lowered:
    """Stage the parameters and the body of a kernel."""
    lens, kernel, region = context.lens, context.kernel, context.kernel.body
    function = lens.kernel
    stager = Stager(context, function, region=region, locals=[], frames=(), top_level=not context.is_serial)
    definition = stager.source.node
    if context.infers:
        unannotated.set_number_types(context, [lens.parameter(each.name) for each in used_parameters(stager, definition)])
    bind_parameters(stager, lens, definition)
    classify_names(stager, definition)
    context.active.append(function)
    stage_body(stager, definition.body)
    context.require_float()
    if context.graph.enabled:
        kernel.returns = unify_graph(stager, definition)
        kernel.result_shape = "status" if context.graph.checkpoints else None
    else:
        kernel.returns = unify_returns(stager, definition)
        kernel.result_shape = result_shape(stager)
    kernel.locals = reserve_arrays(region, stager.locals)
    if context.probes is not None:
        context.probes.array.source = lens.probes(context.probes.lines)
    return Lowered(kernel, tuple(context.notices.values()), tuple(context.graph.labels), context.graph.enabled)


def result_shape(stager: Stager) -> ResultShape:
    """How Python sees the result of a kernel."""
    return None if stager.results.sample is None else stager.results.sample.result_shape(itertools.count())


def used_parameters(stager: Stager, definition: ast.FunctionDef) -> list[FunctionParameter]:
    names = {node.id for node in walk(definition) if isinstance(node, ast.Name)}
    return [parameter for parameter in stager.function.parameters if parameter.name in names]


def bind_parameters(stager: Stager, lens: Lens, definition: ast.FunctionDef) -> None:
    """Bind the parameters of a kernel: scalars at run time, arrays and templates as the lens sees them.

    Unused parameters are checked against their annotation, so that a launch rejects wrong arguments. Members of structs and
    objects are not checked: they would become part of the key.
    """
    used = {parameter.name for parameter in used_parameters(stager, definition)}
    for parameter in stager.function.parameters:
        name = parameter.name
        stager.fixed.add(name)
        annotation = parameter.annotation
        if name not in used and (annotation is None or isinstance(annotation, TemplateAnnotation)):
            continue
        ref = lens.parameter(name)
        if annotation is None and stager.context.infers:
            stager.names[name] = unannotated.given(stager, ref, definition)
            continue
        if isinstance(annotation, ScalarAnnotation):
            dtype = annotation.resolved(lens.options)
            parts = part_type(dtype)
            if parts is not None:
                stager.names[name] = given_complex(stager, ref, parts)
                continue
            number = stager.context.scalar(ref, dtype)
            number.is_checked = True
            stager.names[name] = Scalar(read(stager, number))
            continue
        if name not in used and annotation is not None and annotation.is_struct:
            structs.check_unread(stager, ref, annotation, definition)
            continue
        if isinstance(annotation, DataclassAnnotation):
            stager.context.typed.add(name)
            if ref.kind() is Kind.OBJECT:
                ref.is_instance(annotation.key()[1])  # so that lookups distinguish objects of other classes
        if isinstance(annotation, MatrixType):
            stager.names[name] = given_matrix(stager, ref, annotation, definition)
            continue
        if annotation is not None and annotation.is_struct:
            stager.names[name] = structs.given_parameter(stager, ref, annotation, definition)
            continue
        if isinstance(annotation, ArrayAnnotation) and ref.kind() is Kind.NONE:
            stager.names[name] = AbsentArray(name)
            continue
        stager.names[name] = opened = stager.open(ref, definition)
        if isinstance(annotation, ViewAnnotation) and not opened.is_none():
            stager.names[name] = required_view(opened, stager, annotation, f"`{name}`", definition)
        if isinstance(annotation, ArrayAnnotation) and ref.kind() is Kind.TENSOR:
            array = stager.context.array(ref)
            array.boundary = annotation.boundary
            tensor = Tensor(array, ref, element_shape(stager, ref, array, annotation, definition))
            check_array(stager, annotation, tensor, f"`{name}`", definition)
            stager.names[name] = tensor


