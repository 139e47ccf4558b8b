"""The image of a kernel with several compile units: find existing objects, compile the others, and link.

An object is identified by the text of its unit, which is independent of the kernel: kernels share objects, in this process
and through the code cache. Missing ones are compiled in parallel.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from samovar._native import plain_digest
from samovar.artifact import UNIT
from samovar.backends import Target, Unit, backend
from samovar.compiler.batches import made_all
from samovar.compiler.counts import count
from samovar.compiler.fallback import Job, Made, made
from samovar.compiler.progress import Progress

if TYPE_CHECKING:
    from samovar.fingerprint import StepCache

#: The compile time of a byte of text in seconds, and the total from which more workers help.
SECONDS_PER_BYTE = 5e-6
WORTH_MORE_WORKERS = 0.25
#: The maximum size of the objects remembered in a process, in bytes.
REMEMBERED = 64 << 20


class Remembered:
    """The most recently used objects."""

    def __init__(self, most: int = REMEMBERED) -> None:
        self.most = most
        self.size = 0
        self.objects: OrderedDict[str, bytes] = OrderedDict()
        self.lock = Lock()

    def get(self, key: str) -> bytes | None:
        with self.lock:
            found = self.objects.get(key)
            if found is not None:
                self.objects.move_to_end(key)
            return found

    def add(self, key: str, code: bytes) -> None:
        with self.lock:
            if key not in self.objects:
                self.objects[key] = code
                self.size += len(code)
            while self.size > self.most:
                self.size -= len(self.objects.popitem(last=False)[1])


remembered = Remembered()


class Assembly:
    """The units of one kernel to be linked into an image. Units with the same text are compiled once."""

    def __init__(self, name: str, units: Sequence[Unit], target: Target, objects: StepCache | None) -> None:
        self.name = name
        self.units = units
        self.target = target
        self.kept = objects
        self.keys = [unit_key(unit, target) for unit in units]
        self.made: dict[str, Made] = {}
        for key in dict.fromkeys(self.keys):
            found = self._known(key)
            if found is not None:
                self.made[key] = Made(found)

    def missing(self) -> list[tuple[str, Job]]:
        """The units to compile, with their keys: those that take longest first."""
        jobs = {
            key: Job(self.name, unit.text, self.target)
            for key, unit in zip(self.keys, self.units, strict=True)
            if key not in self.made
        }
        return sorted(jobs.items(), key=lambda item: -len(item[1].text))

    def arrived(self, key: str, made: Made) -> None:
        """Add a compiled unit. One that was not compiled at full effort is not cached."""
        self.made[key] = made
        if made.is_complete:
            remembered.add(key, made.code)
            if self.kept is not None:
                self.kept[key] = UNIT + made.code

    def image(self) -> Made:
        """Link all units. Raises `CannotLink` if that is impossible."""
        parts = [self.made[key] for key in self.keys]
        image = backend().link_units([part.code for part in parts], self.units)
        lesser = [part for part in self.made.values() if not part.is_complete]
        warning = "\n".join(part.warning for part in self.made.values() if part.warning)
        return Made(image, lesser[0].effort, warning) if lesser else Made(image, warning=warning)

    def listed(self) -> tuple[tuple[str, str], ...]:
        """The units by name, with their keys."""
        return tuple((unit.name, key) for unit, key in zip(self.units, self.keys, strict=True))

    def _known(self, key: str) -> bytes | None:
        found = remembered.get(key)
        if found is None and self.kept is not None:
            kept = self.kept.get(key, None)
            if kept is not None and kept.startswith(UNIT):
                found = kept[len(UNIT) :]
                remembered.add(key, found)
        return found


def unit_key(unit: Unit, target: Target) -> str:
    """The key of an object: the canonical text, without irrelevant names, and the machine."""
    compiling = backend()
    return plain_digest(("unit", compiling.name, compiling.canonical(unit.text), *target.key()))


def compile_missing(assembly: Assembly) -> None:
    """Compile the missing units of a kernel."""
    missing = assembly.missing()
    count(compiler_runs=len(missing))
    with Progress(assembly.name, len(missing)) as progress:
        expected = SECONDS_PER_BYTE * sum(len(job.text) for _, job in missing)
        if len(missing) < 2 or expected < WORTH_MORE_WORKERS:
            for key, job in missing:
                assembly.arrived(key, made(job))
                progress.advance()
            return

        def jobs() -> Iterator[tuple[int, Job]]:
            yield from enumerate(job for _, job in missing)

        def arrived(number: int, found: Made) -> None:
            assembly.arrived(missing[number][0], found)
            progress.advance()

        made_all(jobs(), arrived, progress)
