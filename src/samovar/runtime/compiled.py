"""What a compile, or a load from the cache, leaves behind in the process: the image, how to launch it, and the trace under
which it is right.

It keeps no argument alive: sources are paths, and arguments are remembered by stand-ins.
"""

from __future__ import annotations

from _weakref import ref

from samovar._native import Image, Specialisation
from samovar.lens.path import Path
from samovar.lens.questions import Standin
from samovar.runtime.guards import guard_program
from samovar.runtime.voice import Voice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FunctionType
    from typing import Any

    from samovar.annotations import KernelSignature
    from samovar.artifact import Artifact
    from samovar.lens import Lens, Replay, Trace
    from samovar.options import Options

    Program = Sequence[tuple[Any, ...]]


class Compiled:
    """One compiled kernel. Specialisations of it differ in the objects that their guards are bound to."""

    def __init__(self, artifact: Artifact, trace: Trace, arguments: Mapping[str, Any]) -> None:
        self.image = loaded(artifact.image)
        self.voice = Voice(artifact.sites)
        self.fills = artifact.fills
        self.block_size = artifact.block_size
        self.results = artifact.results
        self.returns_tuple = artifact.returns_tuple
        self.tasks = artifact.tasks
        self.slow_serial = artifact.slow_serial
        self.trace = trace
        self.arguments = {name: _kept(name, value, trace) for name, value in arguments.items()}
        self.made: list[tuple[Program, ref[Specialisation]]] = []

    def specialisation(self, lens: Lens | Replay, parameters: Sequence[str]) -> Specialisation:
        """The code with guards for the arguments of a lens on which the trace holds.

        Guards that are there already (another thread has made them meanwhile) are not made twice.
        """
        program, registers = guard_program(self.trace, lens, parameters, self.fills)
        self.made = [(known, each) for known, each in self.made if each() is not None]
        for known, each in self.made:
            found = each()
            if found is not None and _same_program(known, program):
                return found
        made = Specialisation(
            self.image,
            program,
            registers,
            self.block_size,
            results=self.results,
            tasks=self.tasks,
            speak=self.voice.speak,
            fail=self.voice.fail,
            keep=self,
            results_tuple=self.returns_tuple,
            slow_serial=self.slow_serial,
            sites=[len(site.types) for site in self.voice.sites],
        )
        self.made.append((program, ref(made)))
        return made

    def recollection(self, function: FunctionType, signature: KernelSignature, options: Options) -> Lens:
        """A lens on what the arguments were."""
        from samovar.lens.standin import Recollection

        arguments = {name: kept() for name, kept in self.arguments.items()}
        return Recollection(self.trace, function, arguments, signature, options)


def _same_program(first: Program, second: Program) -> bool:
    """The same instructions on the same objects. Objects are not compared in any other way: they are the user's."""
    if len(first) != len(second):
        return False
    return all(
        len(one) == len(two) and all(map(_same_operand, one, two)) for one, two in zip(first, second, strict=True)
    )


def _same_operand(first: object, second: object) -> bool:
    if type(first) is tuple and type(second) is tuple:
        return len(first) == len(second) and all(map(_same_operand, first, second))
    return first is second or (type(first) is type(second) and type(first) in (int, str, bool) and first == second)


def loaded(image: bytes) -> Image:
    """The image, ready to run. What could not be linked is an object file, and llvmlite loads it."""
    if image.startswith(b"\x7fELF"):
        from samovar.backends.llvm import load_object

        return load_object(image)
    return Image.from_flat(image)


_SIMPLE_TYPES = (int, float, bool, complex, str, bytes)


def _kept(name: str, value: Any, trace: Trace) -> Callable[[], Any]:
    """Something that gives an argument back, or what stands for it. An object that is gone by then leaves None."""
    facts = trace.answer(Path(None, "parameter", name), "tensor")
    if facts is not None:
        return lambda: Standin(*facts)
    try:
        return ref(value)
    except TypeError:
        # A number or a string is not worth a weak reference. What holds arrays must not be kept alive for want of one.
        return (lambda: value) if type(value) in _SIMPLE_TYPES else lambda: None
