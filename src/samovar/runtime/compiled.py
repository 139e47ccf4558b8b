"""What a compile leaves behind in the process: the image, how to launch it, and the trace under which it is right.

It keeps no argument alive: sources are paths, and arguments are remembered by stand-ins.
"""

from __future__ import annotations

from _weakref import ref
from types import ModuleType

from samovar._native import Image, Specialisation
from samovar.ir.values import Array
from samovar.lens import Kind, Path
from samovar.lens.standin import Recollection, example_of
from samovar.runtime.guards import Fill, guard_program
from samovar.runtime.voice import Voice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FunctionType
    from typing import Any

    from samovar.annotations import KernelSignature
    from samovar.compiler.driver import Artifact
    from samovar.lens import Lens, Trace
    from samovar.options import Options

    Program = Sequence[tuple[Any, ...]]


class Compiled:
    """One compiled kernel. Specialisations of it differ in the objects that their guards are bound to."""

    def __init__(self, artifact: Artifact, lens: Lens, arguments: Mapping[str, Any]) -> None:
        self.image = Image.from_flat(artifact.image.flat())
        self.voice = Voice(artifact.sites)
        self.fills = tuple(_fills(artifact))
        self.block_size = artifact.layout.size
        self.results = artifact.results
        self.returns_tuple = artifact.returns_tuple
        self.tasks = artifact.tasks
        self.slow_serial = artifact.slow_serial
        self.examples = {name: example_of(value) for name, value in arguments.items()}
        for fill in self.fills:
            if fill.written:
                lens.follow(fill.path).ask("readonly")
        self.trace: Trace = lens.trace
        self.made: list[tuple[Program, ref[Specialisation]]] = []

    def readonly_problems(self, lens: Lens) -> Iterator[str]:
        """Arrays that the kernel writes and that must not be written."""
        for fill in self.fills:
            if fill.written and lens.follow(fill.path).ask("readonly"):
                what = "argument" if fill.path.step == "parameter" else "array"
                yield f"{what} `{fill.path}`: the array is read-only, and the kernel writes to it; use a copy"

    def specialisation(self, lens: Lens, parameters: Sequence[str]) -> Specialisation:
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
        arguments = {name: example() for name, example in self.examples.items()}
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


def _fills(artifact: Artifact) -> Iterator[Fill]:
    sources = zip(artifact.kernel.parameters, artifact.sources, artifact.layout.parameters, strict=True)
    for parameter, source, offset in sources:
        if isinstance(parameter, Array):
            yield Fill(
                source.path,
                offset,
                parameter.dtype,
                parameter.name,
                is_array=True,
                strided=not parameter.contiguous,
                written=parameter.written,
            )
        else:
            assert parameter.type is not None
            yield Fill(
                source.path, offset, parameter.type, parameter.name, is_array=False, strided=False, written=False
            )


_CAPTURES = (Kind.SCALAR, Kind.STRING, Kind.TENSOR, Kind.SEQUENCE, Kind.MAPPING, Kind.OBJECT)


def captures(trace: Trace, lens: Lens) -> list[Path]:
    """The captured values that a compile depended on. Functions, types and mathematical constants are not among them."""
    found = []
    for asked in trace:
        root = asked.path
        if asked.question != "kind" or asked.answer not in _CAPTURES:
            continue
        while root.parent is not None and root.step not in ("cell", "global"):
            root = root.parent
        if root.step in ("cell", "global") and not _is_mathematics(lens.object_at(root)):
            found.append(asked.path)
    return found


def _is_mathematics(value: object) -> bool:
    return isinstance(value, ModuleType) and value.__name__ in ("math", "samovar", "samovar.math")
