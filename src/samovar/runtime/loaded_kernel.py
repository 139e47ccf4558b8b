"""The result of a compile, or of a load from the cache: the image, how to launch it, and the trace under which it is
valid.

It keeps no argument alive: sources are paths, and arguments are represented by stand-ins.
"""

from __future__ import annotations

from _weakref import ref

import samovar
from samovar._native import Image, Specialization
from samovar.artifact import UNLINKED
from samovar.lens import same_objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import FunctionType
    from typing import Any, NoReturn

    from samovar.artifact import Artifact, Fill, Guards, Site
    from samovar.language import Annotation, KernelSignature, Options
    from samovar.lens import Lens, Path, Trace
    from samovar.runtime.kernel_output import KernelOutput
    from samovar.runtime.launch_plan import LaunchPlan

    Objects = Sequence[Any]
    #: What was seen of the object at a path, by the number of the path; None for a plain call that is repeated.
    Seen = Callable[[int], tuple[Any, ...] | None]


class Refused(Exception):
    """The guards were made for objects of a different nature."""


class OperandResolver:
    """Provides the few operands that native code cannot derive from the objects at the paths of guards.

    `actual` returns the key that an answer stands for, `seen` what was seen of a mutable object.
    """

    __slots__ = ("_actual", "_objects", "_seen")

    def __init__(self, objects: Objects, actual: Callable[[Any], Any], seen: Seen) -> None:
        self._objects = objects
        self._actual = actual
        self._seen = seen

    def __call__(self, operand: tuple[Any, ...]) -> Any:
        from samovar.runtime.guard_operands import operand_behind

        return operand_behind(operand, self._objects, self._actual, self._seen)


class LoadedKernel:
    """One compiled kernel. Its specializations differ in the objects that their guards are bound to."""

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
        #: The objects found below the arguments when it was compiled.
        self.funcs = funcs
        self.made: list[ref[Specialization]] = []
        self._plan: LaunchPlan | None = None

    @property
    def fills(self) -> tuple[Fill, ...]:
        """The contents of the argument block. Rarely needed for a loaded artifact: its guards know."""
        fills = self.artifact.fills
        if not isinstance(fills, bytes):
            return fills
        from samovar.cache import unpacked_fills

        return unpacked_fills(fills)

    def under(self, guards: Guards, arguments: Mapping[str, Any]) -> LoadedKernel:
        """The same code with other guards, for other arguments."""
        other = object.__new__(LoadedKernel)
        kept = {name: _kept(value) for name, value in arguments.items()}
        vars(other).update(vars(self), guards=guards, arguments=kept, made=[])
        return other

    @property
    def trace(self) -> Trace:
        """Every question that the code depends on, with its answer."""
        return self.asked()

    def specialization(
        self, objects: list[Any], actual: Callable[[Any], Any], seen: Seen, returns: Annotation | None = None
    ) -> Specialization:
        """The code with guards for arguments on which the trace holds; `objects` are those at the paths of the guards,
        `actual` and `seen` are those of `OperandResolver`, `returns` is the annotation of the result.

        Existing guards (made by another thread in the meantime) are not made twice.
        """
        artifact, guards = self.artifact, self.guards
        made = Specialization(
            self.image,
            guards.instructions,
            guards.registers,
            artifact.block_size,
            results=_with_types(artifact.results, returns),
            tasks=artifact.tasks,
            speak=None if self.output is None else self.output.speak,
            fail=None if self.output is None else self.output.fail,
            keep=self,
            slow_serial=artifact.slow_serial,
            sites=[len(site.types) for site in artifact.sites] if artifact.sites else (),
            objects=objects,
            resolve=OperandResolver(objects, actual, seen),
            checkpoints=self.checkpoints(objects) if "checkpoints" in artifact.sections else None,
            stack=artifact.sections.get("stack", 0),
        )
        if self.made:
            self.made = [each for each in self.made if each() is not None]
            for each in self.made:
                found = each()
                if found is not None and same_objects(found.operands, made.operands):
                    return found
        self.made.append(ref(made))
        return made

    def plan(self) -> LaunchPlan:
        """The reads and writes of the launches of a reverse, for tapes."""
        if self._plan is None:
            from samovar.runtime.launch_plan import LaunchPlan

            self._plan = LaunchPlan(self.artifact.sections["derivative"])
        return self._plan

    def label_count(self) -> int:
        """The number of trailing paths of the guards that lead to labels of checkpoints."""
        _, labels = self.artifact.sections.get("checkpoints", (-1, ()))
        return sum(has_member for _, has_member, _ in labels)

    def checkpoints(self, objects: list[Any]) -> tuple[int, tuple[int, ...], tuple[Any, ...]]:
        """The checkpoint data of a launch: see `_native.Specialization`."""
        from samovar.language import GraphStatus

        offset, described = self.artifact.sections["checkpoints"]
        members = iter(objects[len(objects) - self.label_count() :])
        labels = tuple(
            _label(value, next(members), position) if has_member else value for value, has_member, position in described
        )
        return offset, labels, (GraphStatus(False), *(GraphStatus(True, label) for label in labels))

    def refuse_label(self, label: object) -> NoReturn:
        """Raise an error: there is no such checkpoint; list those that exist."""
        _, described = self.artifact.sections.get("checkpoints", (-1, ()))
        made = next((found for found in (each() for each in self.made) if found is not None), None)
        known = (made.labels if made is not None else None) or [value for value, _, _ in described]
        if not known:
            raise samovar.SamovarRuntimeError(
                f"the kernel has no checkpoints for these arguments, so it cannot resume at {label!r}"
            )
        listed = ", ".join(_named(each) for each in known)
        raise samovar.SamovarRuntimeError(f"the kernel has no checkpoint {label!r}\n  help: its checkpoints are {listed}")

    def recollection(self, function: FunctionType, signature: KernelSignature, options: Options) -> Lens:
        """A lens on the original arguments."""
        from samovar.lens import StandInLens

        trace = self.trace
        arguments = {name: _recalled(trace, name, kept) for name, kept in self.arguments.items()}
        return StandInLens(trace, function, arguments, signature, options, self.funcs)

    def lacks_arguments(self) -> bool:
        """Whether one of the arguments that it was compiled or loaded for no longer exists."""
        return any(type(kept) is ref and kept() is None for kept in self.arguments.values())


def _with_types(result: Any, annotation: Any) -> Any:
    """The structure of results, with the types that create structs in it."""
    if result is None or result[0] not in ("struct", "tuple"):
        return result
    if result[0] == "tuple":
        inner = getattr(annotation, "items", (annotation,))
        inner = inner if len(inner) == len(result[1]) else (None,) * len(result[1])
        return ("tuple", tuple(map(_with_types, result[1], inner)))
    from samovar.language import from_plain
    from samovar.values import StructType, of_key

    struct = annotation if isinstance(annotation, StructType) else of_key(from_plain(result[1]))
    assert isinstance(struct, StructType)
    kinds = [kind for _, kind, _ in struct.members]
    return ("struct", struct.maker(), tuple(map(_with_types, result[2], kinds)))


def _label(value: int, found: Any, position: int | None) -> int:
    """The enum member that stands for a label, or its number if there is no such member any more."""
    from samovar.lens import member_at

    member = member_at(found, position)
    return member if isinstance(member, int) and member == value else value


def _named(label: int) -> str:
    """A label as the user wrote it."""
    return repr(label) if type(label) is int else f"{type(label).__name__}.{getattr(label, 'name', label)}"


def _recalled(trace: Trace, name: str, kept: Callable[[], Any]) -> Any:
    from samovar.lens import EXACT_EXTENT_QUESTIONS, Path, RememberedArray, TensorFacts

    path = Path(None, "parameter", name)
    facts = trace.answer(path, "tensor")
    if facts is None:
        return kept()
    lengths = [trace.answer(path, EXACT_EXTENT_QUESTIONS[axis]) for axis in range(TensorFacts(*facts).ndim)]
    return RememberedArray(TensorFacts(*facts), tuple(length for length in lengths if length is not None))


def _output(sites: Sequence[Site]) -> KernelOutput | None:
    """The output handler of a kernel; None for most kernels, which have no sites."""
    if not sites:
        return None
    from samovar.runtime.kernel_output import KernelOutput

    return KernelOutput(sites)


def loaded(image: bytes) -> Image:
    """The image, ready to run. Code that could not be linked is loaded by its backend."""
    if image.startswith(UNLINKED):
        from samovar.backends import backend

        name, _, code = image[len(UNLINKED) :].partition(b"\n")
        return backend(name.decode()).load(code)
    return Image.from_flat(image)


_SIMPLE_TYPES = (int, float, bool, complex, str, bytes)


def _kept(value: Any) -> Callable[[], Any]:
    """A function that returns an argument, unless it no longer exists. Of objects without weak references only values are
    kept alive: the trace has the answers about the rest."""
    try:
        return ref(value)
    except TypeError:
        return (lambda: value) if type(value) in _VALUES else lambda: None


_VALUES = (int, float, bool, str, bytes, type(None))
