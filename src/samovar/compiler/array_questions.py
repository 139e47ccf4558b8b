"""What is asked about arrays when it is known what a kernel does with them: after the passes that add and remove accesses.

Extents of trailing axes that are indexed by constants, whether written arrays overlap others, and whether they may be
written.
"""

from __future__ import annotations

from samovar.errors import SamovarArrayError, SamovarTypeError
from samovar.ir import Array, Kernel
from samovar.lens import Lens, Path, Ref, compared_paths
from samovar.passes import drop_untouched, hand_down


def ask_about_arrays(lens: Lens, kernel: Kernel) -> None:
    """Ask what code depends on in the arrays that a kernel takes, and note it in the kernel."""
    uses = drop_untouched(kernel)
    arrays = [parameter for parameter in kernel.parameters if isinstance(parameter, Array) and not is_own(parameter)]
    for array in arrays:
        for axis, place, helpful in uses.helpful_axes(array):
            if array.extents[axis] is not None:  # of an element, or of a field
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
    for array in arrays:
        array.alone = disjoint
    hand_down(kernel, uses)


def require_writable(lens: Lens, kernel: Kernel) -> None:
    """Arrays that the kernel writes must not be read-only, nor be computed with at compile time."""
    known = {each for path in lens.trace.facts() if is_operator(path) for each in compared_paths(path)}
    for array in kernel.parameters:
        if isinstance(array, Array) and array.written and array.source in known:
            name = path_of(array).spelled()
            raise SamovarTypeError(
                f"{lens.kernel.qualname}(): the kernel writes to `{name}`, and computes with all of it at compile time\n"
                f"  help: read its elements one by one, `{name}[i]`, or compute with a copy"
            )
        if isinstance(array, Array) and array.written and not is_own(array) and source_of(lens, array).readonly():
            source = path_of(array)
            what = "argument" if source.step == "parameter" else "array"
            problem = f"{what} `{source.spelled()}`: the array is read-only, and the kernel writes to it; use a copy"
            raise SamovarArrayError(f"{lens.kernel.qualname}(): {problem}")


def is_operator(path: Path) -> bool:
    """Is it what an operator of Python gave at compile time?"""
    return path.step == "call" and path.parent is not None and path.parent.step == "operator"


def is_own(array: Array) -> bool:
    """Is it made for the kernel, and no object of the user's?"""
    return path_of(array).step == "probes"


def path_of(array: Array) -> Path:
    """Where an array of a kernel is found."""
    assert array.source is not None
    return array.source


def source_of(lens: Lens, array: Array) -> Ref:
    """The array as the lens sees it."""
    return lens.follow(path_of(array))
