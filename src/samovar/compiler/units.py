"""The image of a kernel in units: which of their objects are there already, compiling the others, and linking.

An object is known by the text of its unit, which says nothing of the kernel: kernels share them, in this process and by way
of the code cache. Many that are missing are compiled side by side.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from samovar._native import plain_digest
from samovar.artifact import UNIT
from samovar.backends import Target, Unit, backend
from samovar.compiler.attempts import Job, Made, made
from samovar.compiler.batches import made_all
from samovar.compiler.counts import count
from samovar.compiler.progress import Progress

if TYPE_CHECKING:
    from samovar.fingerprint import StepCache

#: What a byte of text takes to compile, in seconds, and how long it has to take together before more workers help.
SECONDS_PER_BYTE = 5e-6
WORTH_MORE_WORKERS = 0.25
#: So many bytes of objects are remembered in a process.
REMEMBERED = 64 << 20


class Remembered:
    """The objects that were used last."""

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
    """The units of one kernel on their way to an image. Those of the same text are compiled once."""

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
        """What has to be compiled, with its key: what takes longest first."""
        jobs = {
            key: Job(self.name, unit.text, self.target)
            for key, unit in zip(self.keys, self.units, strict=True)
            if key not in self.made
        }
        return sorted(jobs.items(), key=lambda item: -len(item[1].text))

    def arrived(self, key: str, made: Made) -> None:
        """A unit is compiled. What the compiler could not do in full is not kept."""
        self.made[key] = made
        if made.is_complete:
            remembered.add(key, made.code)
            if self.kept is not None:
                self.kept[key] = UNIT + made.code

    def image(self) -> Made:
        """All together. `CannotLink` if they cannot be."""
        parts = [self.made[key] for key in self.keys]
        image = backend().link_units([part.code for part in parts], self.units)
        lesser = [part for part in self.made.values() if not part.is_complete]
        remark = "\n".join(part.remark for part in self.made.values() if part.remark)
        return Made(image, lesser[0].form, remark) if lesser else Made(image, remark=remark)

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
    """What an object is known by: the text without the names in it that mean nothing, and the machine."""
    compiling = backend()
    return plain_digest(("unit", compiling.name, compiling.canonical(unit.text), *target.key()))


def compile_missing(assembly: Assembly) -> None:
    """Compile the units of a kernel that are not there yet."""
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
