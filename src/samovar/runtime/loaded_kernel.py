"""What a compile, or a load from the cache, leaves behind in the process: the image, how to launch it, and the trace under
which it is right.

It keeps no argument alive: sources are paths, and arguments are remembered by stand-ins.
"""

from __future__ import annotations

from _weakref import ref

from samovar._native import Image, Specialisation
from samovar.artifact import UNLINKED
from samovar.lens import EXACT_EXTENT_QUESTIONS, Path, RememberedArray, TensorFacts, same_objects
from samovar.runtime.guard_operands import OperandResolver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FunctionType
    from typing import Any

    from samovar.artifact import Artifact, Fill, Guards, Site
    from samovar.language import KernelSignature, Options
    from samovar.lens import Lens, Trace
    from samovar.runtime.guard_operands import Seen
    from samovar.runtime.kernel_output import KernelOutput


class LoadedKernel:
    """One compiled kernel. Specialisations of it differ in the objects that their guards are bound to."""

    def __init__(
        self,
        artifact: Artifact,
        guards: Guards,
        asked: Callable[[], Trace],
        arguments: Mapping[str, Any],
        funcs: Mapping[Path, Callable[[], Any]] | None = None,
    ) -> None:
        self.artifact = artifact
        self.guards = guards
        self.image = loaded(artifact.image)
        self.output = _output(artifact.sites)
        self.asked = asked
        self.arguments = {name: _kept(value) for name, value in arguments.items()}
        #: Those that were found below the arguments when it was compiled.
        self.funcs = funcs
        self.made: list[ref[Specialisation]] = []

    @property
    def fills(self) -> tuple[Fill, ...]:
        """What goes into the argument block. Who loads an artifact rarely asks: its guards know."""
        fills = self.artifact.fills
        if not isinstance(fills, bytes):
            return fills
        from samovar.cache import unpacked_fills

        return unpacked_fills(fills)

    def under(self, guards: Guards, arguments: Mapping[str, Any]) -> LoadedKernel:
        """The same code under other guards, for other arguments."""
        other = object.__new__(LoadedKernel)
        kept = {name: _kept(value) for name, value in arguments.items()}
        vars(other).update(vars(self), guards=guards, arguments=kept, made=[])
        return other

    @property
    def trace(self) -> Trace:
        """Every question that the code depends on, with its answer."""
        return self.asked()

    def specialisation(self, objects: list[Any], actual: Callable[[Any], Any], seen: Seen) -> Specialisation:
        """The code with guards for arguments on which the trace holds; `objects` are those at the paths of the guards,
        `actual` and `seen` are those of `OperandResolver`.

        Guards that are there already (another thread has made them meanwhile) are not made twice.
        """
        artifact, guards = self.artifact, self.guards
        made = Specialisation(
            self.image,
            guards.instructions,
            guards.registers,
            artifact.block_size,
            results=artifact.results,
            tasks=artifact.tasks,
            speak=None if self.output is None else self.output.speak,
            fail=None if self.output is None else self.output.fail,
            keep=self,
            slow_serial=artifact.slow_serial,
            sites=[len(site.types) for site in artifact.sites] if artifact.sites else (),
            objects=objects,
            resolve=OperandResolver(objects, actual, seen),
        )
        if self.made:
            self.made = [each for each in self.made if each() is not None]
            for each in self.made:
                found = each()
                if found is not None and same_objects(found.operands, made.operands):
                    return found
        self.made.append(ref(made))
        return made

    def recollection(self, function: FunctionType, signature: KernelSignature, options: Options) -> Lens:
        """A lens on what the arguments were."""
        from samovar.lens import Recollection

        trace = self.trace
        arguments = {name: _recalled(trace, name, kept) for name, kept in self.arguments.items()}
        return Recollection(trace, function, arguments, signature, options, self.funcs)

    def lacks_arguments(self) -> bool:
        """Is one of the arguments gone for which it was compiled or loaded?"""
        return any(type(kept) is ref and kept() is None for kept in self.arguments.values())


def _recalled(trace: Trace, name: str, kept: Callable[[], Any]) -> Any:
    path = Path(None, "parameter", name)
    facts = trace.answer(path, "tensor")
    if facts is None:
        return kept()
    lengths = [trace.answer(path, EXACT_EXTENT_QUESTIONS[axis]) for axis in range(TensorFacts(*facts).ndim)]
    return RememberedArray(TensorFacts(*facts), tuple(length for length in lengths if length is not None))


def _output(sites: Sequence[Site]) -> KernelOutput | None:
    """Most kernels have nothing to say."""
    if not sites:
        return None
    from samovar.runtime.kernel_output import KernelOutput

    return KernelOutput(sites)


def loaded(image: bytes) -> Image:
    """The image, ready to run. What could not be linked is loaded by its backend."""
    if image.startswith(UNLINKED):
        from samovar.backends import backend

        name, _, code = image[len(UNLINKED) :].partition(b"\n")
        return backend(name.decode()).load(code)
    return Image.from_flat(image)


_SIMPLE_TYPES = (int, float, bool, complex, str, bytes)


def _kept(value: Any) -> Callable[[], Any]:
    """Something that gives an argument back, unless it is gone by then. Of what takes no weak references only values are
    kept: the trace remembers what was asked about the rest."""
    try:
        return ref(value)
    except TypeError:
        return (lambda: value) if type(value) in _VALUES else lambda: None


_VALUES = (int, float, bool, str, bytes, type(None))
