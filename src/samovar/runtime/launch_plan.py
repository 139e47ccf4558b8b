"""Launch plans: which boxes of which arrays the reverse of a launch will read, and which the launch writes, known before it.

The compiler stores the plan with the reverse of a kernel, as plain data (the section `derivative` of its artifact): paths of
arrays, and for each dimension an affine form of number arguments, or None for all of it.
"""

from __future__ import annotations

from math import gcd

from samovar._native import BufferView, Field, Ndarray, decode_plain, matches_schema, memory_extent
from samovar.lens import PathTable, Replay
from samovar.runtime.configuration import current_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.runtime.kernel import Kernel

    #: Begin and end, for each dimension.
    Bounds = tuple[tuple[int, int], ...]
    #: Axes in order, or an index for each of some axes.
    Axes = tuple[int, ...]
    #: The dimensions whose index is fixed, and these indices. The box has all of the others.
    Box = tuple[Axes, Axes]
    #: What `memory_extent` returns.
    Extent = tuple[int, int, tuple[int, ...], tuple[int, ...] | None]

WHOLE: Box = ((), ())

#: Arrays of these types stay in their memory.
_SETTLED = (Ndarray, Field, BufferView)


class Place:
    """The memory of an array: two objects for the same array have the same place."""

    __slots__ = ("array", "begin", "end", "extent", "key", "shape", "strides")

    def __init__(self, array: Any, extent: Extent | None = None) -> None:
        self.array = array
        self.extent = memory_extent(array) if extent is None else extent
        self.begin, self.end, self.shape, self.strides = self.extent
        #: What tells it from other places. In blocks, an index means the same element only in the same array.
        self.key = (*self.extent[:3], id(array)) if self.strides is None else self.extent

    def bounds(self, box: Box = WHOLE) -> Bounds:
        """Where a box begins and ends, by default that of the whole array."""
        found = [(0, extent) for extent in self.shape]
        for axis, index in zip(*box, strict=True):
            found[axis] = index, index + 1
        return tuple(found)

    def has_same_elements(self, other: Place) -> bool:
        """Whether an index means the same element in both. False if that is not known."""
        return self.key == other.key

    def overlaps(self, other: Place) -> bool:
        """Whether they lie within each other's bounds."""
        return self.begin < other.end and other.begin < self.end

    def meets(self, other: Place) -> bool:
        """Whether they may share memory."""
        is_in_blocks = self.strides is None or other.strides is None
        return self.overlaps(other) if is_in_blocks else may_overlap(self.extent, other.extent)


class LaunchPlan:
    """The plan for all launches of one reverse kernel."""

    __slots__ = ("_form", "_paths", "arrays", "changing", "indices", "numbers", "reads", "replays", "writes")

    def __init__(self, section: bytes) -> None:
        #: `changing` are the paths of numbers that the program may set to others: all but arguments.
        self.replays, reads, writes, *self._form, self.changing, rows = decode_plain(section)
        if not matches_schema(rows, "{R}", len(rows)):
            raise ValueError("this is not a launch plan")
        self._paths = PathTable(list(rows))
        #: The affine forms, each once; boxes have their numbers.
        forms: dict[tuple[Any, ...], int] = {}
        self.reads, self.writes = (
            [(number, _fixed(box, forms), line) for number, box, line in boxes] for boxes in (reads, writes)
        )
        #: The paths of the arguments in them; and the forms, with the places of these.
        self.numbers = tuple(dict.fromkeys(number for terms, *_ in forms for number, _ in terms))
        self.indices = [([(self.numbers.index(number), by) for number, by in terms], *rest) for terms, *rest in forms]
        gradients, touched, loaded, lost, passive_reads, passive_writes, cells, _ = self._form
        boxes = (number for number, _, _ in (*reads, *writes))
        lines = (number for number, _ in (*lost, *passive_reads, *passive_writes, *cells))
        self.arrays = tuple(dict.fromkeys((*gradients, *touched, *loaded, *boxes, *lines)))

    def replay(self, kernel: Kernel) -> Replay:
        """What reads the objects that launches of a kernel use."""
        return Replay(self._paths, kernel.__wrapped__, {}, kernel.state.signature, current_options())

    def launched(self, objects: list[Any], extents: list[Extent]) -> Launched:
        """The plan applied to arrays."""
        places = {number: Place(*each) for number, *each in zip(self.arrays, objects, extents, strict=True)}
        return Launched(self, self._form, places, extents, self._paths)


class Launches:
    """The launches on a tape: what they have in common is found once."""

    __slots__ = ("_known", "_replays")

    def __init__(self) -> None:
        #: By the plan and the kernel: kernels may share compiled code, and lead to other arrays.
        self._replays: dict[tuple[LaunchPlan, Kernel], Replay] = {}
        #: By the plan and the identities of the arrays, which are kept alive.
        self._known: dict[tuple[Any, ...], Launched] = {}

    def launch(self, plan: LaunchPlan, kernel: Kernel, arguments: tuple[Any, ...]) -> Launch:
        """The plan applied to one launch."""
        replay = self._replays.get((plan, kernel))
        if replay is None:
            replay = self._replays[plan, kernel] = plan.replay(kernel)
        replay.begin(dict(zip(kernel.parameters, arguments, strict=True)), current_options())
        objects = replay.objects(plan.arrays)
        key = (plan, *map(id, objects))
        found = self._known.get(key)
        if found is None or (found.foreign and not found.is_in_place(objects)):
            found = self._known[key] = plan.launched(objects, list(map(memory_extent, objects)))
        return Launch(found, replay)


class Launched:
    """What all launches with the same arrays have in common; it keeps these arrays alive."""

    __slots__ = (
        "arrays", "boxes", "cells", "foreign", "gradients", "is_checked", "loads", "lost", "passive_reads",
        "passive_writes", "plan", "reads", "returned", "touched", "writes", "written",
    )  # fmt: skip

    def __init__(
        self, plan: LaunchPlan, form: list[Any], places: dict[int, Place], extents: list[Extent], paths: PathTable
    ) -> None:
        gradients, touched, loaded, lost, passive_reads, passive_writes, cells, self.returned = form
        self.plan = plan
        #: Where the arrays of other libraries were.
        self.foreign = [
            (number, extent)
            for number, (place, extent) in enumerate(zip(places.values(), extents, strict=True))
            if not isinstance(place.array, _SETTLED)
        ]
        #: The boxes, each once: number of the index and extent of each fixed axis; of the longer ones, axes and numbers.
        self.boxes: dict[tuple[tuple[tuple[int, int], ...], Axes, Axes], int] = {}
        self.reads, self.writes = (
            [(places[number], self._box(places[number].shape, fixed), line) for number, fixed, line in planned]
            for planned in (plan.reads, plan.writes)
        )
        self.gradients = [places[number] for number in gradients]
        self.touched = [places[number] for number in touched]
        self.loads = [places[number] for number in loaded]
        self.lost = [(places[number], line) for number, line in lost]
        self.passive_reads = [(places[number], line) for number, line in passive_reads]
        self.passive_writes = [(places[number], line) for number, line in passive_writes]
        #: The masks, or lengths of lists, that the reverse asks.
        self.cells = [(Place(_mask_of(places[number].array)), line) for number, line in cells]
        self.written = list(dict.fromkeys(place for place, _, _ in self.writes))
        matter = dict.fromkeys((*touched, *loaded, *(number for number, _, _ in (*plan.reads, *plan.writes))))
        #: All arrays whose contents or gradients matter, each with what gives its name.
        self.arrays = [(places[number], lambda number=number: paths.path(number).spelled()) for number in matter]
        #: Whether a tape has checked what does not depend on anything else.
        self.is_checked = False

    def is_in_place(self, objects: list[Any]) -> bool:
        """Whether the memory of the arrays is where it was."""
        return all(memory_extent(objects[number]) == extent for number, extent in self.foreign)

    def _box(self, shape: tuple[int, ...], fixed: list[tuple[int, int]]) -> int:
        """The number of a box."""
        checked = tuple((number, shape[axis]) for axis, number in fixed)
        matter = [(axis, number) for axis, number in fixed if shape[axis] > 1]
        axes, numbers = tuple(axis for axis, _ in matter), tuple(number for _, number in matter)
        return self.boxes.setdefault((checked, axes, numbers), len(self.boxes))


def _mask_of(array: Any) -> Any:
    """The mask of a sparse field; a mask itself stays."""
    return getattr(array, "cells", array)


class Launch:
    """One launch: boxes of arrays, each with the line that reads or writes it. Few are asked for."""

    __slots__ = ("_found", "_replay", "known")

    def __init__(self, known: Launched, replay: Replay) -> None:
        self.known = known
        self._replay = replay
        self._found: list[Box | None] | None = None

    def numbers(self) -> list[Any]:
        """The numbers that the program may set to others before the reverse."""
        plan = self.known.plan
        return self._replay.objects(plan.changing) if plan.changing else []

    def _boxes(self) -> list[Box | None]:
        if self._found is None:
            plan = self.known.plan
            numbers = list(map(int, self._replay.objects(plan.numbers)))
            indices = [_index(form, numbers) for form in plan.indices]
            self._found = [_box(*box, indices) for box in self.known.boxes]
        return self._found

    def reads(self) -> list[tuple[Place, Box | None, int]]:
        """What its reverse reads. None for no element."""
        boxes = self._boxes() if self.known.reads else ()
        return [(place, boxes[number], line) for place, number, line in self.known.reads]

    def writes(self) -> list[tuple[Place, Box | None, int]]:
        """What it writes."""
        boxes = self._boxes() if self.known.writes else ()
        return [(place, boxes[number], line) for place, number, line in self.known.writes]


def _box(checked: tuple[tuple[int, int], ...], axes: Axes, numbers: Axes, indices: list[int]) -> Box | None:
    """A box; None if an index is out of bounds."""
    for number, extent in checked:
        if not 0 <= indices[number] < extent:
            return None
    return (axes, tuple([indices[number] for number in numbers])) if axes else WHOLE


def _fixed(box: tuple[Any, ...], forms: dict[tuple[Any, ...], int]) -> list[tuple[int, int]]:
    """The axes of a box whose index is fixed, each with the number of its form."""
    return [(axis, forms.setdefault(form, len(forms))) for axis, form in enumerate(box) if form is not None]


def _index(form: tuple[Any, ...], numbers: list[int]) -> int:
    """The index that an affine form gives."""
    terms, constant, bits, least = form
    total = constant
    for place, by in terms:
        total += by * numbers[place]
    return int(least + ((total - least) & ((1 << bits) - 1)))


def may_overlap(one: Extent, other: Extent) -> bool:
    """Whether two arrays may have an element in common. Fields that are placed together lie within each other's bounds, and
    are apart: each consists of blocks, elements and what is next to them, that are a multiple of some distance apart."""
    (begin, end, shape, strides), (first, last, extents, steps) = one, other
    if begin >= last or first >= end:
        return False
    if strides is None or steps is None:  # in blocks: these have no views
        return begin == first
    forms = [
        (size, [(abs(step), extent) for step, extent in zip(by, lengths, strict=True) if extent > 1])
        for size, lengths, by in ((end - begin, shape, strides), (last - first, extents, steps))
    ]
    distances = {step for _, axes in forms for step, _ in axes}
    return all(_may_blocks_overlap(begin - first, least, *forms) for least in distances or {0})


def _may_blocks_overlap(
    distance_between: int, least: int, one: tuple[int, list[tuple[int, int]]], other: tuple[int, list[tuple[int, int]]]
) -> bool:
    """Whether two arrays may overlap, dimensions of lesser strides being a block. Each has a size, and (stride, extent)s."""
    sizes = [size - sum((extent - 1) * step for step, extent in axes if step >= least) for size, axes in (one, other)]
    distance = gcd(*(step for _, axes in (one, other) for step, _ in axes if step >= least))
    if distance == 0:
        return -sizes[0] < distance_between < sizes[1]
    distance_between %= distance
    return distance_between < sizes[1] or distance - distance_between < sizes[0]
