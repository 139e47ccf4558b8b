"""The components of a field of vectors or matrices, placed by themselves: `place(v.get_scalar_field(0))`.

The trees that hold them are laid out together, in one block of memory, so that the field itself has a layout: its components
are at equal distances.
"""

from __future__ import annotations

from itertools import product
from math import prod
from operator import mul

from samovar._native import Field, array_within, field_layout, field_memory, place_field, postpone_field, u8
from samovar.errors import SamovarFieldError, SamovarRuntimeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from samovar.runtime.dense_trees import Layout, Placed


def elements_of(field: Field) -> tuple[int, ...]:
    """The shape of the elements of a field: () for numbers. An element is contiguous in a cell."""
    found: tuple[int, ...] = getattr(field, "wanted_element_shape", ())
    return found


def require_free(field: Any) -> None:
    """Raise an error if the field that this one is a component of is placed, or a component of this one is."""
    whole, components = getattr(field, "entry_of", (field,))[0], getattr(field, "components", {})
    others = [*components.values(), *(() if whole is field else (whole,))]
    if any(hasattr(each, "placed_in") for each in others):
        raise SamovarFieldError("a field can be placed only once: as a whole, or each of its components")


def follow(field: Any, plan: Callable[[], None]) -> None:
    """Call `plan` on first use of a field, unless it is placed until then."""
    postpone_field(field, plan, getattr(field, "followed", None))
    field.followed = plan


def lay_out_apart(field: Field) -> None:
    """Lay out a field whose components are placed."""
    components_of(field)[0].placed_in.tree()


def components_of(field: Any) -> list[Any]:
    """The components of a field of which one was placed, or of the field that this one is a component of."""
    whole = getattr(field, "entry_of", (field,))[0]
    found: dict[tuple[int, ...], Any] = getattr(whole, "components", {})
    if not found or hasattr(whole, "placed_in"):
        return []
    missing = next((place for place in every_index(whole) if not hasattr(found.get(place), "placed_in")), None)
    if missing is not None:
        raise SamovarRuntimeError(f"this field is not placed: get_scalar_field{missing} of it is not")
    return [found[place] for place in every_index(whole)]


def every_index(field: Field) -> Iterator[tuple[int, ...]]:
    """The indices of the components of a field."""
    return product(*map(range, elements_of(field)))


def wholes_of(found: list[tuple[Placed, int, Layout]]) -> list[tuple[Field, int, Layout]]:
    """The fields whose components are placed by themselves: where each begins, and its layout."""
    places = {id(each.field): (start, layout) for each, start, layout in found}
    wholes = {id(each.field.entry_of[0]): each.field.entry_of[0] for each, _, _ in found if hasattr(each.field, "entry_of")}
    made = []
    for field in wholes.values():
        parts = [places[id(component)] for component in components_of(field)]
        start, (first, axes) = parts[0]
        inner, size = elements_of(field), field.dtype.itemsize
        lengths = [prod(inner[axis + 1 :]) for axis in range(len(inner))]
        steps = [parts[length][0] - start if extent > 1 else size for extent, length in zip(inner, lengths, strict=True)]
        at = [start + sum(map(mul, place, steps)) for place in every_index(field)]
        if at != [part[0] for part in parts] or any(part[1] != (first, axes) for part in parts) or min(steps) <= 0:
            raise SamovarFieldError(
                "the components of this field are not placed alike: place them in order, each in a node of its own with the"
                " same dimensions and contents, or all in one node"
            )
        entries = tuple(((extent, step // size),) for extent, step in zip(inner, steps, strict=True))
        made.append((field, start, ((*first, *(0,) * len(inner)), (*axes, *entries))))
    return made


def share_entry(made: Any) -> None:
    """Let a component share the memory of the whole field, and its grad that of the field's grad."""
    field, place = made.entry_of
    _share(made, field, place)
    if field.grad is not None:
        _share(made.grad, field.grad, place)


def _share(made: Any, field: Field, place: tuple[int, ...]) -> None:
    """Let a field share the memory of one component of another field."""
    memory, start = field_memory(field)
    layout = field_layout(field)
    assert layout is not None
    first, axes = layout
    rank = len(axes) - len(place)
    size = field.dtype.itemsize
    start += size * sum(each * axis[-1][1] for each, axis in zip(place, axes[rank:], strict=True))
    # This memory is not that of the whole field: launches detect that the two overlap.
    rest = memory.nbytes - start
    shared = array_within(u8, ((0,), (((rest, 1),),)), memory, start, 0)
    place_field(made, (first[:rank], axes[:rank]), shared, 0)
