"""Tapes: launches in the order in which they happened, and their reverses in the opposite order (ADR 0069).

A reverse reads arrays as its launch has left them, or as it has found them. Before a launch overwrites what a reverse on the
tape will read, the tape copies that part. On the way back, the copies are restored launch by launch; at the end, the arrays
are what they were.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from copy import copy
from threading import get_ident

from samovar import errors
from samovar._native import (
    Field,
    Ndarray,
    base_of,
    call_uncounted,
    call_with_keys,
    differentiable,
    holds_box,
    is_shared,
    keep_versions,
    last_key,
    put_box,
    take_box,
    version_of,
    watch_launches,
    written_elsewhere,
)
from samovar.runtime.graph_steps import is_graph, run_graph
from samovar.runtime.launch_plan import WHOLE, Launches, Place, may_overlap
from samovar.runtime.memory_index import MemoryIndex
from samovar.runtime.needs import Needs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from samovar.runtime.kernel import Kernel
    from samovar.runtime.launch_plan import Bounds, Launch, Launched


def clear_all_gradients() -> None:
    """Set the gradients of all arrays and fields to 0.

    >>> import samovar as sv
    >>> x = sv.ndarray(sv.f32, 2, needs_grad=True)
    >>> x.grad.fill(1)
    >>> sv.ad.clear_all_gradients()
    >>> x.grad
    ndarray([0.0, 0.0], dtype=f32, shape=(2,))
    """
    for array in differentiable():
        assert array.grad is not None
        array.grad.fill(0)


def beside(array: Any) -> Any:
    """The tangent of an array, None if it has none."""
    return getattr(array, "dual", None)


def set_all(array: Any, value: float) -> None:
    """Fill an array, or a tensor of torch."""
    (array.fill_ if hasattr(array, "fill_") else array.fill)(value)


def begin_watching(listener: Callable[[Kernel, tuple[Any, ...]], Any]) -> None:
    """Have `listener` called instead of each launch on this thread, until `watch_launches(None)`."""
    if not watch_launches(listener):
        raise errors.SamovarRuntimeError(
            "another tape or forward mode is open, on this thread or another one\n"
            "  help: end its block first; for second derivatives, use `sv.ad.hvp`"
        )


def launch_with(kernel: Kernel, arguments: tuple[Any, ...]) -> Any:
    """Launch a kernel with an argument for each parameter."""
    positional = len(arguments) - kernel.__wrapped__.__code__.co_kwonlyargcount
    if positional == len(arguments):
        return kernel(*arguments)
    return kernel(*arguments[:positional], **dict(zip(kernel.parameters[positional:], arguments[positional:], strict=True)))


def _run_again(kernel: Kernel, arguments: tuple[Any, ...], seed: int = 0, number: int = 0) -> object:
    """Run a launch again, or its reverse, with its random numbers; one that has failed has none."""
    return call_with_keys(seed, number, lambda: call_uncounted(lambda: launch_with(kernel, arguments)))


class Kept:
    """A copy of a part of an array, made before a launch that overwrites it."""

    __slots__ = ("arrays", "bounds", "content", "line", "needed_by", "place", "size")

    def __init__(self, place: Place, bounds: Bounds, line: int, needed_by: str) -> None:
        self.place = place
        self.bounds = bounds
        self.arrays = [place.array, *(each for each in (beside(place.array),) if each is not None)]
        self.content = self.now()
        self.size = sum(map(len, self.content))
        self.line = line
        self.needed_by = needed_by

    def now(self) -> list[bytes]:
        """The current contents: of the array, and of its tangent if there is one."""
        return [take_box(each, self.bounds) for each in self.arrays]

    def put(self, content: list[bytes]) -> None:
        """Overwrite the contents."""
        for array, part in zip(self.arrays, content, strict=True):
            put_box(array, self.bounds, part)


class Record:
    """A record on a tape: its reverse, which is called with `arguments`, and the copies made before it."""

    # A tape has one for each launch: it consists of few objects, for the sake of the garbage collector.
    __slots__ = ("_cells", "arguments", "is_reversed", "kept", "kernel", "launch", "name", "numbers", "replays", "reverse")

    def __init__(
        self,
        name: str,
        reverse: Callable[..., object],
        arguments: tuple[Any, ...],
        launch: Launched | None = None,
        kernel: Kernel | None = None,
    ) -> None:
        self.name = name
        self.reverse = reverse
        self.arguments = arguments
        self.launch = launch
        self.kernel = kernel
        #: Whether the reverse begins with the state before the launch, and changes it.
        self.replays = launch is not None and launch.plan.replays
        self.kept: tuple[Kept, ...] = ()
        #: The numbers that the launch found in objects of the program.
        self.numbers: list[Any] = []
        self.is_reversed = True
        #: The active cells of sparse fields that the reverse depends on.
        asked = launch.cells if launch is not None else ()
        self._cells = tuple([take_box(place.array, place.bounds()) for place, _ in asked]) if asked else ()

    def require_same_cells(self) -> None:
        """Check that the cells that the reverse depends on are those that the launch has found."""
        asked = self.launch.cells if self._cells and self.launch is not None else ()
        for (place, line), content in zip(asked, self._cells, strict=True):
            if not holds_box(place.array, place.bounds(), content):
                raise errors.SamovarRuntimeError(
                    f"{self.name} depends, in line {line}, on the active cells of a sparse field, which it or a later launch"
                    " has changed: its gradient would be wrong\n"
                    "  help: activate all cells before the tape, and deactivate none until it has gone backward"
                )

    def repeat(self) -> None:
        """Launch the kernel again, with the same random numbers."""
        if self.kernel is not None:
            _run_again(self.kernel, *self.arguments[1:])

    def state(self) -> list[list[bytes]]:
        """The current contents of all copied parts."""
        return [each.now() for each in self.kept]

    def put_state(self, state: list[list[bytes]]) -> None:
        """Restore what `state` returned."""
        for kept, content in zip(self.kept, state, strict=True):
            kept.put(content)


class Shared:
    """An array that other libraries can write to, and a copy of its contents after the last recorded launch."""

    __slots__ = ("_bounds", "_content", "name", "place")

    def __init__(self, place: Place, name: Callable[[], str]) -> None:
        self.place = place
        self.name = name
        self._bounds = place.bounds()
        self.note()

    def note(self) -> None:
        """Take the current contents as right."""
        self._content = take_box(self.place.array, self._bounds)

    def has_changed(self) -> bool:
        """Whether the contents are others by now."""
        return not holds_box(self.place.array, self._bounds, self._content)


class Tape:
    """Records launches, and computes the gradient of `loss` through them at the end of its block.

    `clear_gradients` sets all gradients to 0 first. Changes of the recorded arrays by others than recorded launches are
    errors: by counts, or by contents for memory that is shared with other libraries; with `validation`, for all arrays.
    Gradients by the arrays in `grad_check` are compared with central differences, which repeats all launches.

    >>> import samovar as sv
    >>> x, loss = sv.ndarray(sv.f32, 3, needs_grad=True), sv.ndarray(sv.f32, (), needs_grad=True)
    >>> @sv.kernel
    ... def double():
    ...     for i in x:
    ...         x[i] *= x[i]
    >>> @sv.kernel
    ... def total():
    ...     for i in x:
    ...         loss[None] += x[i]
    >>> x.fill(3)
    >>> with sv.ad.Tape(loss):
    ...     double()
    ...     total()
    >>> x.grad
    ndarray([6.0, 6.0, 6.0], dtype=f32, shape=(3,))
    """

    _keeps_versions = False

    def __init__(
        self, loss: Any = None, clear_gradients: bool = True, validation: bool = False, grad_check: Any = None
    ) -> None:
        if "torch" in sys.modules and loss is not None:
            from samovar.runtime.torch_gradients import give_gradient

            give_gradient("Tape", "loss", loss)
        if loss is not None and getattr(loss, "grad", None) is None:
            message = "the loss of a tape has no gradient\n  help: create it with `needs_grad=True`"
            raise errors.SamovarRuntimeTypeError(message)
        if loss is not None and tuple(loss.shape) not in ((), (1,)):
            message = f"the loss of a tape is one number, not an array of shape {tuple(loss.shape)}"
            raise errors.SamovarRuntimeTypeError(message)
        self.loss = loss
        self._clears = clear_gradients
        self._validates = validation
        self._compared = list(grad_check or ())
        self._records: list[Record] = []
        self._needs = Needs()
        self._launches = Launches()
        #: By kernel: what is launched instead of it, and the reverse; None if it is a graph, or differentiated already.
        self._modes: dict[Kernel, tuple[Kernel, Kernel] | None] = {}
        #: Gradients that are not ours to clear, by identity.
        self._foreign: dict[int, Any] = {}
        #: Arrays without a gradient that hold what depends on arrays with one, with the line and the kernel that wrote it.
        self._tainted = MemoryIndex()
        #: By the array that counts: an array, its version, and what gives its name.
        self._versions: dict[int, tuple[Any, int | None, Callable[[], str]]] = {}
        #: Arrays whose contents are compared.
        self._shared = MemoryIndex()
        #: The gradients that reverses change, with their kernels, and the arrays that launches use, with their names.
        self._gradients = MemoryIndex()
        self._used = MemoryIndex()
        self._differentiates = True
        #: What launches overwrite, as it was before all of them, where that is wanted, by its place.
        self._whole: dict[tuple[Any, ...], Kept] | None = {} if self._compared else None
        self._done = False
        self._thread: int | None = None

    def __enter__(self) -> Tape:
        begin_watching(self._launch)
        self._thread = get_ident()
        _open.append(self)
        self._count(True)
        if self._clears:
            clear_all_gradients()
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        watch_launches(None)
        _open.remove(self)
        if kind is not None:
            self._count(False)
        elif self.loss is not None:
            self.grad()
            if self._compared:
                self._compare()

    def _compare(self) -> None:
        """Compare gradients with differences of the loss. The launches are repeated for that."""
        from samovar.runtime.central_differences import compare

        assert self._whole is not None
        before = list(self._whole.values())[::-1]  # of views that overlap, what was saved first is right
        after = [each.now() for each in before]

        def put(state: list[list[bytes]]) -> None:
            for each, content in zip(before, state, strict=True):
                each.put(content)

        def value() -> float:
            for record in self._records:
                record.repeat()
            result = float(self.loss.to_numpy().reshape(-1)[0])
            put(start)
            return result

        start = [each.content for each in before]
        put(start)
        try:
            compare(self._compared, [each.grad.to_numpy() for each in self._compared], value)
        finally:
            put(after)

    def _count(self, on: bool) -> None:
        """Have launches count as changes, from the beginning of the block until the tape has gone backward."""
        if self._keeps_versions != on:
            self._keeps_versions = on
            keep_versions(on)

    def __del__(self) -> None:
        self._count(False)

    # --- recording

    #: The modes of kernels that run instead of a launch, and in reverse of it; "" for the kernel itself.
    launched = ""
    reversed = "taped"

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Launches in this block have no reverse; what they overwrite is saved."""
        outer, self._differentiates = self._differentiates, False
        try:
            yield
        finally:
            self._differentiates = outer

    @contextmanager
    def whole_state(self) -> Iterator[Record]:
        """One record for all launches in this block, whose reverse is provided by the caller: all written arrays are saved
        as they were before."""
        record = Record("several launches", lambda: None, ())
        record.replays = True
        mark = len(self._records)
        outer, self._whole = self._whole, {}
        try:
            yield record
        finally:
            written, self._whole = self._whole, outer
        record.kept = tuple(written.values())[::-1]  # of views that overlap, what was saved first is right
        if outer is not None:
            for key, kept in written.items():
                outer.setdefault(key, copy(kept))
        for each in self._records[mark:]:
            for place in each.launch.loads if each.launch is not None else ():
                if place.key not in written:
                    self._needs.add(place, WHOLE, record.name)
        self._records.insert(mark, record)

    def insert(self, func: Callable[..., object], args: tuple[Any, ...]) -> None:
        """Add a call of a function that reverses something to the tape."""
        self._records.append(Record(getattr(func, "__name__", "a function"), func, args))

    def _launch(self, kernel: Kernel, arguments: tuple[Any, ...], label: int | None = None) -> Any:
        """Record and run a launch, of a graph part by part; called instead of it. `label` is where it resumes."""
        try:
            modes = self._modes[kernel]
        except KeyError:
            modes = self._modes[kernel] = self._modes_of(kernel)
        if modes is None:
            return run_graph(kernel, arguments, self._launch, label) if is_graph(kernel) else launch_with(kernel, arguments)
        launched, taped = modes
        record = self._record(kernel, taped, arguments)
        result = launch_with(launched, arguments)
        record.require_same_cells()
        record.arguments += last_key()
        self._note(record)
        return result

    def _modes_of(self, kernel: Kernel) -> tuple[Kernel, Kernel] | None:
        if is_graph(kernel) or "derivative" in kernel.state.signature.options:
            return None
        return kernel.in_mode(self.launched) if self.launched else kernel, kernel.in_mode(self.reversed)

    def _record(self, kernel: Kernel, taped: Kernel, arguments: tuple[Any, ...]) -> Record:
        launch = self._launches.launch(taped.find(arguments).keep.plan(), taped, arguments)
        known: Launched = launch.known
        if known.lost or self._tainted:
            self._check_lost(kernel, known)
        self._check_versions(known, kernel)
        if not known.is_checked:
            self._check_zero(known)
            self._check_gradients(kernel, known)
            known.is_checked = True
        if known.returned and known.gradients and self._differentiates:
            raise errors.SamovarRuntimeError(
                f"{kernel.__qualname__} returns, in line {known.returned}, what depends on arrays that have a gradient, and"
                " what is done with it has none\n  help: write it into an array, or launch the kernel in `sv.ad.no_grad`"
            )
        record = Record(kernel.__qualname__, _run_again, (taped, arguments), known, kernel)
        record.is_reversed = self._differentiates and bool(known.gradients)
        record.numbers = launch.numbers()
        reads = launch.reads() if record.is_reversed and known.reads else ()
        for place, box, _ in reads if record.replays else ():
            self._needs.add(place, box, record.name)
        if self._needs or self._whole is not None:
            record.kept = tuple(self._kept(launch))
        for place, box, _ in () if record.replays else reads:
            self._needs.add(place, box, record.name)
        self._records.append(record)
        return record

    def _kept(self, launch: Launch) -> Iterator[Kept]:
        """Copies of what a launch overwrites and reverses need."""
        for place, box, line in launch.writes():
            for needed, common, by in self._needs.taken(place, box):
                yield Kept(needed, needed.bounds(common), line, by)
            if self._whole is not None and place.key not in self._whole:
                self._whole[place.key] = Kept(place, place.bounds(), line, "several launches")

    def _note(self, record: Record) -> None:
        """Record the state after a launch."""
        launch = record.launch
        assert launch is not None
        if self._shared:
            for shared in self._overlapping_shared(launch.written):
                shared.note()
        for place, name in launch.arrays:
            array = place.array
            self._versions[id(base_of(array))] = array, version_of(array), name
            if (self._validates or is_shared(array)) and place.key not in self._shared:
                self._shared.add(place.key, place.begin, place.end, Shared(place, name))

    def _overlapping_shared(self, places: list[Place]) -> list[Shared]:
        """The arrays whose contents are compared, of those that lie in the same memory as some arrays."""
        return list(dict.fromkeys(each for place in places for each in self._shared.overlapping(place.begin, place.end)))

    def _check_versions(self, launch: Launched | None, kernel: Kernel | None) -> None:
        """Check that recorded arrays were changed by recorded launches only: those of a launch, or all of them."""
        if launch is None:
            for array, known, name in self._versions.values():
                if known is not None and version_of(array) != known:
                    raise _changed(array, name, kernel)
        else:
            for place, name in launch.arrays:
                _, known, _ = self._versions.get(id(base_of(place.array)), _UNKNOWN)
                if (known is not None and version_of(place.array) != known) or written_elsewhere(place.array):
                    raise _changed(place.array, name, kernel)
        if self._shared:
            places = None if launch is None else [place for place, _ in launch.arrays]
            for shared in self._shared.values() if places is None else self._overlapping_shared(places):
                if shared.has_changed():
                    raise _changed(shared.place.array, shared.name, kernel)

    def _check_gradients(self, kernel: Kernel, launch: Launched) -> None:
        """Check that no launch uses gradients as data: going backward changes them."""
        changed: list[tuple[Place, Any]] = [(each, kernel.__qualname__) for each in launch.gradients]
        for index, others, found in ((self._gradients, self._used, changed), (self._used, self._gradients, launch.arrays)):
            for place, said in found:
                if place.extent in index:
                    continue
                index.add(place.extent, place.begin, place.end, (place.extent, said))
                for extent, other in others.overlapping(place.begin, place.end):
                    if may_overlap(place.extent, extent):
                        name, by = (said, other) if index is self._used else (other, said)
                        raise errors.SamovarRuntimeError(
                            f"a launch on the tape uses `{name()}`, a gradient that the reverse of {by} changes\n"
                            "  help: use gradients when the tape has gone backward, or copies of them"
                        )

    def _check_zero(self, launch: Launched) -> None:
        """Check that gradients that belong to torch are 0 in the beginning, as others are by then."""
        for place, of in zip(launch.gradients, launch.touched, strict=True):
            gradient = place.array
            if not self._clears or isinstance(gradient, (Ndarray, Field)) or id(gradient) in self._foreign:
                continue
            self._foreign[id(gradient)] = gradient
            content = take_box(gradient, place.bounds())
            if content.count(0) != len(content):
                raise errors.SamovarRuntimeError(
                    f"the gradient of a tensor of shape {of.shape} is not 0 when the tape begins\n  help: set its"
                    " `grad` to None before, or add to it with `sv.ad.Tape(loss, clear_gradients=False)`"
                )

    def _check_lost(self, kernel: Kernel, launch: Launched) -> None:
        """Check that values with derivatives do not flow through an array without a gradient."""
        taints = launch.lost
        for place, line in launch.passive_reads if self._tainted else ():
            found = self._tainted.overlapping(place.begin, place.end)
            if not found:
                continue
            if launch.gradients:
                source, name = found[0]
                advice = "make it with `needs_grad=True`"
                if place.array.dtype.kind == "complex":
                    advice = "complex arrays have no gradient: keep real and imaginary parts in arrays of their own"
                raise errors.SamovarRuntimeError(
                    f"{kernel.__qualname__} reads an array in line {line} that has no gradient, but {name} has written to"
                    f" it, in line {source}, values that depend on arrays with one\n  help: {advice}"
                )
            taints = taints + [(each, line) for each, _ in launch.passive_writes]
        for place, line in taints:
            if place.key not in self._tainted:
                self._tainted.add(place.key, place.begin, place.end, (line, kernel.__qualname__))

    # --- going backward

    def grad(self) -> None:
        """Compute the gradient of the loss, starting with 1 for the loss itself."""
        self._require_unused()
        if self.loss is not None:
            set_all(self.loss.grad, 1)
        self.backward()

    def _require_unused(self) -> None:
        if self._done:
            raise errors.SamovarRuntimeError("the tape was already used: its copies are gone\n  help: record a new one")

    def backward(self, keep: bool = False) -> None:
        """Run the reverses, last first, from the current gradients. With `keep`, they can be run again."""
        self._require_unused()
        self._done = not keep
        self._check_versions(None, None)
        if not keep:
            self._count(False)
            self._shared = MemoryIndex()
        undo: list[tuple[Kept, list[bytes]]] = []
        try:
            for record in reversed(self._records):
                replays = record.is_reversed and record.replays
                if replays:
                    self._restore(record, undo)
                if record.is_reversed:
                    record.require_same_cells()
                    self._require_same_objects(record)
                    record.reverse(*record.arguments)
                for kept in record.kept if replays else ():
                    kept.put(kept.content)
                if not replays:
                    self._restore(record, undo)
                for kept in () if keep else record.kept:
                    kept.content = []
        finally:
            for kept, content in reversed(undo):
                kept.put(content)

    def _require_same_objects(self, record: Record) -> None:
        """Check that the reverse finds the constants, numbers and arrays that its launch has found."""
        if record.kernel is None:
            return
        taped, arguments = record.arguments[:2]
        launch = self._launches.launch(taped.find(arguments).keep.plan(), taped, arguments)
        if launch.known is not record.launch or launch.numbers() != record.numbers:
            line = record.kernel.__wrapped__.__code__.co_firstlineno
            raise errors.SamovarRuntimeError(
                f"{record.name}, of line {line}, depends on a global, a member or a captured variable that has changed since"
                " it was launched: its gradient would be wrong\n"
                "  help: pass it as an argument, or change it when the tape has gone backward"
            )

    def _restore(self, record: Record, undo: list[tuple[Kept, list[bytes]]]) -> None:
        for kept in record.kept:
            undo.append((kept, kept.now()))
            kept.put(kept.content)

    def report(self) -> list[tuple[str, int, int, str]]:
        """What was saved: kernel, line, bytes, and reason."""
        return [
            (record.name, kept.line, kept.size, f"overwritten here, needed by the reverse of {kept.needed_by}")
            for record in self._records
            for kept in record.kept
        ]


def _changed(array: Any, name: Callable[[], str], kernel: Kernel | None) -> errors.SamovarRuntimeError:
    when = "the tape goes backward" if kernel is None else f"{kernel.__qualname__} is launched"
    return errors.SamovarRuntimeError(
        f"`{name()}`, of shape {tuple(array.shape)}, was written to outside the kernels that the tape records, or its memory"
        f" was given to another library, before {when}: its gradient would be wrong\n"
        "  help: write to it before the tape or after `backward()`, or in a kernel on the tape's thread; `to_numpy()` copies"
    )


#: What is known of an array that was not recorded yet.
_UNKNOWN: tuple[Any, None, Any] = (None, None, None)

#: The recording tapes.
_open: list[Tape] = []


def present_tape() -> Tape | None:
    """The tape that records this thread, if there is one."""
    return next((each for each in _open if each._thread == get_ident()), None)
