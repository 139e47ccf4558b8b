"""Races between iterations, as they are reported: what was found in native code, in the words of the program."""

from __future__ import annotations

from samovar.errors import SamovarRuntimeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from samovar.artifact import Site

    #: Number of a site, what it does, index, iteration: as native code gives them.
    Side = tuple[int, int, tuple[int, ...], tuple[int, ...]]

#: How many pairs a message shows.
MOST_SHOWN = 10


class Access:
    """One side of a race: who (the values of the loop variables), what ("reads", "writes" or "updates"), which element of
    which array (`index` is () for a variable), and where."""

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
        """The element as a person writes it: `a[3]`."""
        return f"{self.array}[{', '.join(map(str, self.index))}]" if self.index else self.array

    def __repr__(self) -> str:
        return f"<iteration {self.iteration} {self.what} {self.element} in line {self.line}>"


class Race:
    """Two accesses of different iterations that are in conflict, and how many elements the two places meet at."""

    __slots__ = ("elements", "first", "second")

    def __init__(self, first: Access, second: Access, elements: int) -> None:
        self.first = first
        self.second = second
        self.elements = elements

    def __repr__(self) -> str:
        return f"<Race {self.first} {self.second}>"


class SamovarRaceError(SamovarRuntimeError):
    """Iterations of a parallel loop get in each other's way: two touch one element, and one of them writes it.

    `races` lists what was found, one `Race` for each pair of places in the program. Looked for with `sv.init(debug=True)` or
    `sv.init(check_races=True)`.

    >>> import samovar as sv
    >>> issubclass(sv.SamovarRaceError, sv.SamovarRuntimeError)
    True
    """

    def __init__(self, message: str, races: Sequence[Race] = ()) -> None:
        super().__init__(message)
        self.races = tuple(races)


def race_error(sites: Sequence[Site], found: tuple[int, list[tuple[Side, Side, int]]]) -> SamovarRaceError:
    """The exception for what native code has found: the site of a task, and pairs of accesses."""
    task = sites[found[0]]
    races = [Race(_access(sites, first), _access(sites, second), elements) for first, second, elements in found[1]]
    return SamovarRaceError(_message(task, races), races)


def section_error(sites: Sequence[Site], found: tuple[int, list[tuple[Side, Side, int]]]) -> SamovarRaceError:
    """The same for sections that run side by side."""
    from linecache import getline

    site = sites[found[0]]
    races = [Race(_access(sites, first), _access(sites, second), elements) for first, second, elements in found[1]]
    begins = str(site.parts[0]).split(", ")
    place = site.frames[0]
    lines = [
        f"{site.frames[-1].function}: parallel sections get in each other's way",
        f"  --> {place.file}:{place.line}, in {place.function}",
    ]
    for race in races[:MOST_SHOWN]:
        more = f", and so for {race.elements - 1} more" if race.elements > 1 else ""
        lines.append(f"  `{race.first.element}`{more}:")
        for access in (race.first, race.second):
            alias = f" as `{access.element}`" if access.element != race.first.element else ""
            begin = begins[access.iteration[0]]
            lines.append(f"    the section of line {begin} {access.what} it{alias} at {access.file}:{access.line}")
            lines.append(f"      {getline(access.file, access.line).strip()}")
    if len(races) > MOST_SHOWN:
        lines.append(f"  and {len(races) - MOST_SHOWN} more pairs of places")
    lines.append(
        "  help: sections run at the same time: let each write elements that no other one touches, update with `+=` and the"
        " like, or put them one after the other"
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
        f"{task.frames[-1].function}: iterations of a parallel loop get in each other's way",
        f"  --> {loop.file}:{loop.line}, in {loop.function}",
    ]
    for race in races[:MOST_SHOWN]:
        more = f", and so for {race.elements - 1} more" if race.elements > 1 else ""
        lines.append(f"  `{race.first.element}`{more}:")
        for access in (race.first, race.second):
            who = ", ".join(f"{name}={value}" for name, value in zip(names, access.iteration, strict=True))
            alias = f" as `{access.element}`" if access.element != race.first.element else ""
            lines.append(f"    the iteration {who} {access.what} it{alias} at {access.file}:{access.line}")
            lines.append(f"      {getline(access.file, access.line).strip()}")
    if len(races) > MOST_SHOWN:
        lines.append(f"  and {len(races) - MOST_SHOWN} more pairs of places")
    lines.append(
        "  help: iterations run at the same time, in any order: let each write its own elements, read from another array"
        " than is written, or update with `+=`, `sv.atomic_max` and the like; `sv.loop_config(serialize=True)` keeps order"
    )
    return "\n".join(lines)
