"""Launch plans: which boxes of which arrays the reverse of a launch will read, and which the launch writes, known before it.

The compiler stores the plan with the reverse of a kernel, as plain data (the section `derivative` of its artifact): paths of
arrays, and for each dimension an affine form of number arguments, or None for all of it.
"""

from __future__ import annotations

from math import gcd

from samovar._native import decode_plain, matches_schema, memory_extent
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

    __slots__ = ("_arrays", "_form", "_paths", "indices", "reads", "replays", "writes")

    def __init__(self, section: bytes) -> None:
        self.replays, reads, writes, *self._form, rows = decode_plain(section)
        if not matches_schema(rows, "{R}", len(rows)):
            raise ValueError("this is not a launch plan")
        self._paths = PathTable(list(rows))
        #: The affine forms, each once; boxes have their numbers.
        self.indices: dict[tuple[Any, ...], int] = {}
        self.reads, self.writes = (
            [(number, self._fixed(box), line) for number, box, line in boxes] for boxes in (reads, writes)
        )
        gradients, touched, loaded, lost, passive_reads, passive_writes, _ = self._form
        boxes = (number for number, _, _ in (*reads, *writes))
        lines = (number for number, _ in (*lost, *passive_reads, *passive_writes))
        self._arrays = tuple(dict.fromkeys((*gradients, *touched, *loaded, *boxes, *lines)))

    def _fixed(self, box: tuple[Any, ...]) -> list[tuple[int, int]]:
        """The axes of a box whose index is fixed, each with the number of its form."""
        return [
            (axis, self.indices.setdefault(form, len(self.indices))) for axis, form in enumerate(box) if form is not None
        ]

    def seen(self, kernel: Kernel, arguments: dict[str, Any], known: dict[tuple[int, ...], Launched]) -> Launch:
        """The plan applied to one launch. What depends only on the arrays is looked up in `known`."""
        replay = Replay(self._paths, kernel.__wrapped__, arguments, kernel.state.signature, current_options())
        objects = replay.objects(self._arrays)
        extents = list(map(memory_extent, objects))
        key = (id(self), *map(id, objects))
        found = known.get(key)
        if found is None or found.extents != extents:
            places = {number: Place(*each) for number, *each in zip(self._arrays, objects, extents, strict=True)}
            found = known[key] = Launched(self, self._form, places, extents, self._paths)
        return Launch(found, [_index(form, replay) for form in self.indices])


class Launched:
    """What all launches with the same arrays have in common; it keeps these arrays alive."""

    __slots__ = (
        "arrays", "boxes", "extents", "gradients", "is_checked", "loads", "lost", "passive_reads", "passive_writes", "plan",
        "reads", "returned", "touched", "writes", "written",
    )  # fmt: skip

    def __init__(
        self, plan: LaunchPlan, form: list[Any], places: dict[int, Place], extents: list[Extent], paths: PathTable
    ) -> None:
        gradients, touched, loaded, lost, passive_reads, passive_writes, self.returned = form
        self.plan = plan
        self.extents = extents
        #: The boxes, each once: axis, number of the index, and extent, for each fixed axis.
        self.boxes: dict[tuple[tuple[int, int, int], ...], int] = {}
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
        self.written = list(dict.fromkeys(place for place, _, _ in self.writes))
        matter = dict.fromkeys((*touched, *loaded, *(number for number, _, _ in (*plan.reads, *plan.writes))))
        #: All arrays whose contents or gradients matter, each with what gives its name.
        self.arrays = [(places[number], lambda number=number: paths.path(number).spelled()) for number in matter]
        #: Whether a tape has checked what does not depend on anything else.
        self.is_checked = False

    def _box(self, shape: tuple[int, ...], fixed: list[tuple[int, int]]) -> int:
        """The number of a box."""
        return self.boxes.setdefault(tuple((axis, number, shape[axis]) for axis, number in fixed), len(self.boxes))


class Launch:
    """One launch: boxes of arrays, each with the line that reads or writes it."""

    __slots__ = ("_boxes", "known")

    def __init__(self, known: Launched, indices: list[int]) -> None:
        self.known = known
        self._boxes = [_box(fixed, indices) for fixed in known.boxes]

    def reads(self) -> list[tuple[Place, Box | None, int]]:
        """What its reverse reads. None for no element."""
        return [(place, self._boxes[number], line) for place, number, line in self.known.reads]

    def writes(self) -> list[tuple[Place, Box | None, int]]:
        """What it writes."""
        return [(place, self._boxes[number], line) for place, number, line in self.known.writes]


def _box(fixed: tuple[tuple[int, int, int], ...], indices: list[int]) -> Box | None:
    """A box; None if an index is out of bounds."""
    if not all(0 <= indices[number] < extent for _, number, extent in fixed):
        return None
    matter = [(axis, indices[number]) for axis, number, extent in fixed if extent > 1]
    return (tuple(axis for axis, _ in matter), tuple(index for _, index in matter)) if matter else WHOLE


def _index(form: tuple[Any, ...], replay: Replay) -> int:
    """The index that an affine form gives."""
    terms, constant, bits, least = form
    total = constant
    for number, by in terms:
        total += by * int(replay.object(number))
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
