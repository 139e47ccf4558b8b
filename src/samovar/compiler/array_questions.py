"""Questions about arrays that depend on how a kernel uses them: asked after the passes that add and remove accesses.

Extents of trailing dimensions that are indexed by constants, whether written arrays overlap others, and whether they are
writable.
"""

from __future__ import annotations

from collections.abc import Callable

from samovar.errors import SamovarArrayError, SamovarTypeError
from samovar.ir import Array, Kernel, walk_kernel
from samovar.lens import Lens, Path, Ref, compared_paths
from samovar.passes import drop_untouched, propagate_facts


def ask_about_arrays(lens: Lens, kernel: Kernel) -> None:
    """Ask what the code depends on about the array arguments of a kernel, and record the answers in the kernel."""
    uses = drop_untouched(kernel)
    arrays = [parameter for parameter in kernel.parameters if isinstance(parameter, Array) and not is_own(parameter)]
    for array in arrays:
        for axis, place, helpful in uses.helpful_axes(array):
            if array.extents[axis] is not None:  # of an element or a field
                continue
            lens.looked_from(lambda place=place: place)  # type: ignore[misc]
            extent = source_of(lens, array).extent(axis)
            if helpful in (None, extent):
                array.extents = (*array.extents[:axis], extent, *array.extents[axis + 1 :])
    lens.looked_from(None)
    written = [array for array in arrays if array.written]
    sources = {array: source_of(lens, array) for array in arrays}
    disjoint = not written or lens.disjoint([sources[array] for array in written], list(sources.values()))
    kernel.disjoint = disjoint
    clears = any(operation.code == "deactivate" for operation in walk_kernel(kernel))
    for array in arrays:
        # To deactivate a cell changes all arrays of its tree.
        array.alone = disjoint and not (clears and array.cells is not None)
    propagate_facts(kernel, uses)


def have_same_cells(lens: Lens) -> Callable[[Array, Array], bool]:
    """A function that asks whether two fields are in one sparse node: masks of different nodes share no memory."""
    answers: dict[tuple[Array, Array], bool] = {}

    def same(one: Array, other: Array) -> bool:
        if one is other:
            return True
        if one.source is None or other.source is None or one.cells is None or other.cells is None:
            return False
        if (one, other) not in answers:
            masks = [source_of(lens, each).attribute("cells") for each in (one, other)]
            for mask in masks:
                mask.tensor()
            answers[one, other] = answers[other, one] = not lens.disjoint(masks[:1], masks)
        return answers[one, other]

    return same


def require_writable(lens: Lens, kernel: Kernel) -> None:
    """Check that arrays written by the kernel are not read-only, and not used in compile-time computations."""
    known = {each for path in lens.trace.facts() if is_operator(path) for each in compared_paths(path)}
    for array in kernel.parameters:
        if isinstance(array, Array) and array.written and array.source in known:
            name = path_of(array).spelled()
            raise SamovarTypeError(
                f"{lens.kernel.qualname}(): the kernel writes to `{name}`, but computes with all of it at compile time\n"
                f"  help: index single elements, `{name}[i]`, or compute with a copy"
            )
        if isinstance(array, Array) and array.written and not is_own(array) and source_of(lens, array).readonly():
            source = path_of(array)
            what = "argument" if source.step == "parameter" else "array"
            problem = f"{what} `{source.spelled()}`: the array is read-only, but the kernel writes to it; use a copy"
            raise SamovarArrayError(f"{lens.kernel.qualname}(): {problem}")


def is_operator(path: Path) -> bool:
    """Whether it is the result of a Python operator at compile time."""
    return path.step == "call" and path.parent is not None and path.parent.step == "operator"


def is_own(array: Array) -> bool:
    """Whether it is created for the kernel, and not an object of the user."""
    return path_of(array).step == "probes"


def path_of(array: Array) -> Path:
    """The path of an array argument."""
    assert array.source is not None
    return array.source


def source_of(lens: Lens, array: Array) -> Ref:
    """The reference of the lens to an array."""
    return lens.follow(path_of(array))
