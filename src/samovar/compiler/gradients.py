"""Derivatives of a staged kernel: the mode is one of the options of its signature (ADR 0069).

The lens finds the gradients of arrays as their attribute `grad`. Code without a derivative, or without a correct one, is an
error at its line.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

from samovar._native import encode_plain, i32
from samovar.compiler.array_questions import have_same_cells, is_own, path_of, source_of
from samovar.errors import SamovarCompilationError, SamovarTypeError, at, warn_once
from samovar.frontend import Lowered, lower
from samovar.ir import Array, Cells, Constant, Function, Kernel, Operation, Parameter, Region, memory, walk_kernel
from samovar.lens import Kind, Lens, Path, PathTable, Ref
from samovar.passes import (
    Box,
    Loop,
    NotDifferentiable,
    Reversed,
    Step,
    changed_cells,
    drop_formulas,
    forward_tangents,
    graph_steps,
    prepare,
    reverse,
    select_part,
)


def differentiated(lens: Lens, lowered: Lowered, without: str = "") -> Lowered:
    """Differentiate a kernel by its mode: "forward", "reverse", the reverse that is "taped", or the tangents of that,
    "forward taped"; "steps" is the structure of a graph, "" a part of it as it is. On a tape, the reverse replays the launch
    if array contents that it needs may be overwritten; otherwise that is an error. After an internal error, rewrites for
    speed are left out: those of the names in `without`."""
    mode = lens.kernel.options.get("derivative", "")
    try:
        lowered = of_part(lens, lowered)
        if not mode:
            return lowered
        if mode == "steps":
            return replace(lowered, derivative=described_steps(lowered.kernel))
        if mode == "forward":
            separate_arrays(lens, lowered.kernel)
            prepare(lowered.kernel, without=without)
            forward_tangents(lowered.kernel, beside(lens, lowered.kernel, "dual"))
            drop_formulas(lowered.kernel)
            return lowered
        is_taped = mode != "reverse"
        made = reversed_kernel(lens, lowered.kernel, False, is_taped, without)
        if not is_taped:
            separate_gradients(lens, lowered.kernel, made.adjoints.values())
            require_same_cells(lens, made)
        if made.returned is not None and not is_taped:
            raise NotDifferentiable.at_return(made.returned)
        replays = bool(made.overwritten) and is_taped
        if made.overwritten and not replays:
            read, write = made.overwritten[0]
            if lens.options.overwritten_values == "last":
                warn_once(
                    f"{lens.kernel.qualname}: the gradient uses the last value of `{read.payload.name}`, which line"
                    f" {int(write.line)} may have written after it was read: record the launch with a tape otherwise"
                )
                return lowered
            raise NotDifferentiable(
                read,
                f"the gradient needs `{read.payload.name}` as it is read here, but line {int(write.line)} may write the same"
                " element later in the launch",
                "record the launch with `sv.ad.Tape`, which keeps what is overwritten",
            )
        if replays:
            lowered = of_part(lens, lower(lens))
            made = reversed_kernel(lens, lowered.kernel, True, True, without)
        if mode == "forward taped":
            forward_tangents(lowered.kernel, beside(lens, lowered.kernel, "dual"))
        drop_formulas(lowered.kernel)
    except NotDifferentiable as error:
        refuse(lens, error.operation, error.message, error.advice)
    return replace(lowered, derivative=described(lowered.kernel, made, replays)) if is_taped else lowered


def of_part(lens: Lens, lowered: Lowered) -> Lowered:
    """The part of a graph that the options name; or the whole kernel, if they name none."""
    number = lens.kernel.options.get("part")
    if not isinstance(number, int):
        return lowered
    select_part(lowered.kernel, number)
    return replace(lowered, labels=(), is_graph=False, nodes=())


def described_steps(kernel: Kernel) -> bytes:
    """The structure of a graph for `samovar.runtime.graph_steps`. No code of the kernel remains."""
    paths = PathTable([])

    def plain(step: Step) -> tuple[Any, ...]:
        if isinstance(step, int):
            return ("part", step)
        flag, inner = paths.number(path_of(step.flag)), tuple(map(plain, step.steps))
        return ("loop", flag, step.limit, inner, step.line) if isinstance(step, Loop) else ("stop", step.number, flag, inner)

    steps = tuple(map(plain, graph_steps(kernel)))
    empty = (Operation("return", None, (Constant(0, i32),)),) if kernel.returns else ()
    kernel.body, kernel.functions, kernel.locals = Region(list(empty)), [], []
    return encode_plain((steps, tuple(paths.rows)))


def separate_arrays(lens: Lens, kernel: Kernel) -> None:
    """Require that no array that a kernel writes overlaps another one."""
    arrays = [each for each in kernel.parameters if isinstance(each, Array)]
    written = {memory(each): each for each in walk_kernel(kernel) if each.code in ("store", "atomic", "update")}
    sources = {array: source_of(lens, array) for array in arrays if not is_own(array)}
    # Functions take arrays as parameters, so their writes do not name the kernel's arrays.
    asked = {array: source for array, source in sources.items() if kernel.functions or array in written}
    if asked and not lens.disjoint(list(asked.values()), list(sources.values())):
        for array, source in asked.items():
            if array in written and not lens.disjoint([source], list(sources.values())):
                raise NotDifferentiable(
                    written[array],
                    f"`{array.name}` is written here, and shares memory with another array of the kernel, so it cannot be"
                    " differentiated",
                    "pass each array once, and no views of one that is written",
                )
        raise SamovarCompilationError(
            f"{lens.kernel.qualname}: arrays that the kernel writes share memory with others, and cannot be differentiated\n"
            "  help: pass each array once, and no views of one that is written"
        )
    for array in arrays:
        array.alone = True


def separate_gradients(lens: Lens, kernel: Kernel, gradients: Iterable[Array]) -> None:
    """Require that the kernel does not use the gradients that its reverse changes. Tapes compare those of all launches."""
    changed = set(gradients)
    arrays = [each for each in kernel.parameters if isinstance(each, Array) and not is_own(each)]
    own = [source_of(lens, each) for each in arrays if each in changed]
    used = [source_of(lens, each) for each in arrays if each not in changed]
    shared = {each.path for each in own} & {each.path for each in used}
    # One by one: an array that is passed twice has one gradient.
    if shared or not all(lens.disjoint([each], used) for each in own):
        raise SamovarCompilationError(
            f"{lens.kernel.qualname}: the kernel uses gradients that its reverse changes, and cannot be differentiated\n"
            "  help: use copies of gradients"
        )


def require_same_cells(lens: Lens, made: Reversed) -> None:
    """Require that the kernel does not change active cells that its reverse depends on. Tapes compare the cells."""
    if not made.cells:
        return
    again, asked = of_part(lens, lower(lens)).kernel, {each.source for each in made.cells}
    change = changed_cells(again, asked, have_same_cells(lens))
    if change is not None:
        raise NotDifferentiable(
            change,
            "this may change the active cells of a sparse field, on which the gradient depends, in line"
            f" {min(made.cells.values())}",
            "change them in a launch before, or record the launch with `sv.ad.Tape`, which compares them",
        )


def reversed_kernel(lens: Lens, kernel: Kernel, replays: bool, redraws: bool, without: str) -> Reversed:
    """Reverse a kernel, in place."""
    separate_arrays(lens, kernel)
    gradients = beside(lens, kernel, "grad")
    stop_lost(lens, kernel, gradients)
    return reverse(kernel, gradients, replays, redraws, without)


def stop_lost(lens: Lens, kernel: Kernel, gradients: Mapping[Array, Array]) -> None:
    """Let no derivative go through arrays without a gradient, if the option `lost_gradients` says so."""
    arrays = [each for each in kernel.parameters if isinstance(each, Array) and each.dtype.kind == "float"]
    without = [each for each in arrays if each not in gradients and not is_own(each)]
    if not without or lens.options.lost_gradients != "zero":
        return
    kernel.body.operations[:0] = [Operation("stop_gradient", None, (), each) for each in without]
    codes: dict[Any, set[str]] = {}
    for each in walk_kernel(kernel):
        codes.setdefault(memory(each), set()).add(each.code)
    names = [f"`{each.name}`" for each in without if codes.get(each, set()) - {"stop_gradient"} > {"load"}]
    if names:
        warn_once(f"{lens.kernel.qualname}: derivatives through {' and '.join(names)} are lost: there is no gradient")


def source_path(parameter: Parameter) -> Path:
    """The path of a number argument."""
    assert parameter.source is not None
    return parameter.source


def described(kernel: Kernel, made: Reversed, replays: bool) -> bytes:
    """The description of a launch for tapes: see `samovar.runtime.launch_plan`."""
    paths = PathTable([])

    def plain(box: Box) -> tuple[Any, ...]:
        return tuple(
            None if index is None else (tuple((paths.number(source_path(each)), by) for each, by in index[0]), *index[1:])
            for index in box
        )

    def rows(found: Iterable[tuple[Array, Box, int]]) -> tuple[Any, ...]:
        return tuple((paths.number(path_of(array)), plain(box), line) for array, box, line in found)

    def lines(found: Mapping[Array, int]) -> tuple[Any, ...]:
        return tuple((paths.number(path_of(array)), line) for array, line in found.items())

    gradients = tuple(paths.number(path_of(each)) for each in made.adjoints.values())
    touched = tuple(paths.number(path_of(each)) for each in made.adjoints)
    loaded = tuple(paths.number(path_of(each)) for each in made.loaded)
    parts = rows(made.reads), rows(made.writes), gradients, touched, loaded
    passive = lines(made.lost), lines(made.read), lines(made.written), lines(made.cells)
    returned = 0 if made.returned is None else int(made.returned.line)
    scalars = [source_path(each) for each in kernel.parameters if isinstance(each, Parameter) and each.source is not None]
    changing = tuple(paths.number(each) for each in scalars if each.step != "parameter")
    return encode_plain((replays, *parts, *passive, returned, changing, tuple(paths.rows)))


class MissingGradients(SamovarTypeError):
    """Arrays of a kernel require gradients that do not exist yet: `arrays` has them, with how the program spells them."""

    arrays: tuple[tuple[str, Any], ...] = ()


def beside(lens: Lens, kernel: Kernel, name: str) -> dict[Array, Array]:
    """The gradients ("grad") or tangents ("dual") of the arrays that have one."""
    found: dict[Array, Array] = {}
    missing: list[Ref] = []
    for array in kernel.parameters:
        if not isinstance(array, Array) or array.dtype.kind != "float" or is_own(array):
            continue
        source = source_of(lens, array)
        other = source.attribute(name)
        if other.kind() is Kind.TENSOR:
            found[array] = like(array, other, name)
        elif requires_gradient(source):
            missing.append(source)
    if missing and name == "dual":
        spelled = missing[0].spelled
        raise SamovarTypeError(
            f"{lens.kernel.qualname}(): `{spelled}` is a tensor that requires a gradient, and forward mode has no tangent"
            f" for it\n  help: pass a Samovar array, `sv.ndarray(sv.f32, n, needs_grad=True)`, or `{spelled}.detach()`"
        )
    if missing:
        spelled = missing[0].spelled
        error = MissingGradients(
            f"{lens.kernel.qualname}(): `{spelled}` requires a gradient, but `{spelled}.grad` is missing\n"
            f"  help: create it, `{spelled}.grad = torch.zeros_like({spelled})`, or use `sv.ad.torch_function`"
        )
        error.arrays = tuple((each.spelled, lens.object_at(each.path)) for each in missing)
        raise error
    return found


def requires_gradient(source: Ref) -> bool:
    """Whether an array of torch requires a gradient."""
    found = source.attribute("requires_grad")
    return found.kind() is not Kind.ABSENT and bool(found.value())


def like(array: Array, other: Ref, name: str) -> Array:
    """An array of the same shape, possibly with another memory layout."""
    made, facts = array.under(f"{array.name}.{name}"), other.tensor()
    made.source = other.path
    made.contiguous, made.wide, made.soa_ndim = facts.contiguous, facts.wide, facts.inner if facts.soa else 0
    made.layout = made.order = made.record_stride = None
    if facts.baked:
        made.offset, made.layout, *cells = other.layout()
        made.cells = Cells(*cells) if cells else None
    elif facts.permuted:
        made.order = other.layout()
    return made


class Text:
    """The source of an operation, for messages."""

    def __init__(self, file: str, name: str) -> None:
        self.file = file
        self.lines = linecache.getlines(file)
        self.name = name


def refuse(lens: Lens, operation: Operation, message: str, advice: str) -> NoReturn:
    """An error at the line of an operation."""
    origin = operation.origin
    source = Text(origin.file, origin.name) if isinstance(origin, Function) and origin.file else lens.kernel.source()
    raise SamovarCompilationError(at(source, int(operation.line), message, advice))
