"""Reports of data races: what native code has found, in terms of the program."""

from __future__ import annotations

from samovar.errors import SamovarRuntimeError, shown_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from samovar.artifact import Site

    #: Number of a site, what it does, index, iteration: as native code gives them.
    Side = tuple[int, int, tuple[int, ...], tuple[int, ...]]

#: How many pairs a message shows.
MOST_SHOWN = 10


class Access:
    """One side of a race: the iteration (values of the loop variables), the access ("reads", "writes" or "updates"), the
    element of an array (`index` is () for a variable), and the location."""

    __slots__ = ("array", "file", "index", "iteration", "line", "what")

    def __init__(
        self, array: str, what: str, file: str, line: int, index: tuple[int, ...], iteration: tuple[int, ...]
    ) -> None:
        self.array = array
        self.what = what
        self.file = file
        self.line = line
        self.index = index
        self.iteration = iteration

    @property
    def element(self) -> str:
        """The element as written in a program: `a[3]`."""
        return f"{self.array}[{', '.join(map(str, self.index))}]" if self.index else self.array

    def __repr__(self) -> str:
        return f"<iteration {self.iteration} {self.what} {self.element} in line {self.line}>"


class Race:
    """Two conflicting accesses of different iterations, and the number of elements on which these two places conflict."""

    __slots__ = ("elements", "first", "second")

    def __init__(self, first: Access, second: Access, elements: int) -> None:
        self.first = first
        self.second = second
        self.elements = elements

    def __repr__(self) -> str:
        return f"<Race {self.first} {self.second}>"


class SamovarRaceError(SamovarRuntimeError):
    """A data race between iterations of a parallel loop: two access one element, and at least one writes it.

    `races` lists the races, one `Race` for each pair of places in the program. Enable detection with `sv.init(debug=True)`
    or `sv.init(check_races=True)`.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarRaceError, sv.SamovarRuntimeError)
    True
    """

    def __init__(self, message: str, races: Sequence[Race] = ()) -> None:
        super().__init__(message)
        self.races = tuple(races)


def race_error(sites: Sequence[Site], found: tuple[int, list[tuple[Side, Side, int]]]) -> SamovarRaceError:
    """The exception for the races found by native code: the site of a task, and pairs of accesses."""
    task = sites[found[0]]
    races = [Race(_access(sites, first), _access(sites, second), elements) for first, second, elements in found[1]]
    return SamovarRaceError(_message(task, races), races)


def section_error(sites: Sequence[Site], found: tuple[int, list[tuple[Side, Side, int]]]) -> SamovarRaceError:
    """The same for concurrent sections."""
    from linecache import getline

    site = sites[found[0]]
    races = [Race(_access(sites, first), _access(sites, second), elements) for first, second, elements in found[1]]
    begins = str(site.parts[0]).split(", ")
    place = site.frames[0]
    lines = [
        f"{site.frames[-1].function}: data race between parallel sections",
        f"  --> {shown_place(place.file, place.line)}, in {place.function}",
    ]
    for race in races[:MOST_SHOWN]:
        more = f" and {race.elements - 1} more elements" if race.elements > 1 else ""
        lines.append(f"  `{race.first.element}`{more}:")
        for access in (race.first, race.second):
            alias = f" as `{access.element}`" if access.element != race.first.element else ""
            begin = begins[access.iteration[0]]
            where = shown_place(access.file, access.line)
            lines.append(f"    the section of line {begin} {access.what} it{alias} at {where}")
            lines.append(f"      {getline(access.file, access.line).strip()}")
    if len(races) > MOST_SHOWN:
        lines.append(f"  and {len(races) - MOST_SHOWN} more pairs of places")
    lines.append(
        "  help: sections run concurrently: let each write elements that no other one accesses, update with `+=` and the"
        " like, or run them one after the other"
    )
    return SamovarRaceError("\n".join(lines), races)


def _access(sites: Sequence[Site], side: Side) -> Access:
    number, _, index, iteration = side
    site = sites[number]
    array, what, frame = str(site.parts[0]), str(site.parts[1]), site.frames[0]
    return Access(array, what, frame.file, frame.line, index, iteration)


def _message(task: Site, races: list[Race]) -> str:
    from linecache import getline

    loop = task.frames[0]
    names = str(task.parts[0]).split(", ")
    lines = [
        f"{task.frames[-1].function}: data race between iterations of a parallel loop",
        f"  --> {shown_place(loop.file, loop.line)}, in {loop.function}",
    ]
    for race in races[:MOST_SHOWN]:
        more = f" and {race.elements - 1} more elements" if race.elements > 1 else ""
        lines.append(f"  `{race.first.element}`{more}:")
        for access in (race.first, race.second):
            who = ", ".join(f"{name}={value}" for name, value in zip(names, access.iteration, strict=True))
            alias = f" as `{access.element}`" if access.element != race.first.element else ""
            lines.append(f"    the iteration {who} {access.what} it{alias} at {shown_place(access.file, access.line)}")
            lines.append(f"      {getline(access.file, access.line).strip()}")
    if len(races) > MOST_SHOWN:
        lines.append(f"  and {len(races) - MOST_SHOWN} more pairs of places")
    lines.append(
        "  help: iterations run concurrently, in any order: let each write its own elements, read and write different"
        " arrays, or update with `+=`, `sv.atomic_max` and the like; `sv.loop_config(serialize=True)` runs the loop in order"
    )
    return "\n".join(lines)
