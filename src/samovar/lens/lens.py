"""The lens: the compiler's only eye on the user's world during one compile.

It is made for one kernel and one set of arguments, hands out references, and records every question with its answer. What it
recorded is asked again by `replay`. It knows its references and they know it: who has made a lens closes it, or the
arguments would live until the garbage is collected.
"""

from __future__ import annotations

from _weakref import ref

from samovar.language import Declaration, do_lines_count, signature_of
from samovar.lens import questions
from samovar.lens.answers import EnumValue
from samovar.lens.compound import Description
from samovar.lens.enum_members import EnumMembers
from samovar.lens.functions import share_namespace
from samovar.lens.path import Path
from samovar.lens.reference import FunctionRef, Ref
from samovar.lens.trace import Trace
from samovar.reflection import ABSENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import CellType, FunctionType
    from typing import Any

    from samovar.language import KernelSignature, Options
    from samovar.lens.contents import Contents
    from samovar.lens.long_sequences import Elements
    from samovar.lens.text import Text


class OptionsView:
    """The options, with each read recorded: only those that were read are part of the key."""

    __slots__ = ("_options", "_trace")

    def __init__(self, options: Options, trace: Trace) -> None:
        self._options = options
        self._trace = trace

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._options, name)
        self._trace.record(Path(None, "options", name), "option", value)
        return value


#: Where nothing was compiled before.
NO_TEXTS: Mapping[Any, Sequence[Text]] = {}


class Lens:
    """One compile's view of a kernel, its arguments and the options. `texts` are known to be those of functions, see
    `Tree.texts`."""

    is_library = False

    def __init__(
        self,
        function: FunctionType,
        arguments: Mapping[str, object],
        signature: KernelSignature,
        options: Options,
        texts: Mapping[Any, Sequence[Text]] = NO_TEXTS,
    ) -> None:
        self.trace = Trace()
        self.options: Any = OptionsView(options, self.trace)
        #: The options for what does not change code: logging, dumps. Reading them leaves no trace.
        self.settings = options
        self.texts = texts
        self._arguments = arguments
        self._roots: dict[Path, Ref] = {}
        self._references: list[Ref] = []
        self._functions: dict[int, FunctionRef] = {}
        self._cells: dict[int, tuple[CellType, Path]] = {}
        self.enum_members = EnumMembers()
        self.long_sequences: dict[Path, Elements] = {}
        #: What was seen of things that can change while they stay the same object, as guards compare it, by path. None of a
        #: plain call that has to be made again.
        self.seen: dict[Path, tuple[Contents, ...] | None] = {}
        self._descriptions: dict[str, Description] = {}
        self._calls = 0
        self._library: Library | None = None
        self.kernel = FunctionRef(self, Path(None, "kernel", function.__name__), function, signature)
        self._functions[id(function)] = self.kernel
        self._by_path = {self.kernel.path: self.kernel}
        self.kernel.ask("function")
        self.kernel.ask("signature")
        self.kernel.ask_what_code_does_not_tell()

    def __enter__(self) -> Lens:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of every object that was looked at. What was recorded stays."""
        for reference in self._references:
            reference.release()
        self._references.clear()
        self._roots.clear()
        self._functions.clear()
        self._by_path.clear()
        self._cells.clear()
        self.enum_members = EnumMembers()
        self.long_sequences.clear()
        self.seen.clear()
        self._arguments = {}
        self.trace.where = None
        if self._library is not None:
            self._library.close()
        del self.kernel

    # --- what the frontend uses

    def parameter(self, name: str) -> Ref:
        """The argument that was given for a parameter."""
        return self.root(Path(None, "parameter", name), lambda: self._arguments.get(name, ABSENT))

    def enter_static(self, depth: int) -> None:
        """One `static` more, or one less: what is asked in it is asked for by it."""
        self.trace.static_depth += depth

    def place_of_member(self, value: EnumValue) -> tuple[Path | None, int | None]:
        """Where an enum member was found first: a path, and its position in what is there if it is not that itself."""
        return self.enum_members.place(value)

    def probes(self, lines: Iterable[tuple[str, int]]) -> Path:
        """Where a launch finds the bytes that say which lines, (file, line), have run."""
        path: Path = Path(None, "probes", tuple(lines))
        return path

    def disjoint(self, written: Sequence[Ref], all: Sequence[Ref]) -> bool:
        """Does no written array overlap itself or another one? Asked last, when it is known which ones are written."""
        path = Path(None, "overlap", (tuple(ref.path for ref in written), tuple(ref.path for ref in all)))
        answer = self._disjoint(path)
        self.trace.record(path, "disjoint", answer)
        return answer

    def looked_from(self, where: Callable[[], tuple[str, int]] | None) -> None:
        """From now on, questions come up where this says: for explanations, not part of any key."""
        self.trace.where = where

    def begin_staging(self) -> None:
        """Staging begins, perhaps again: what it calls now are the calls that it has made before."""
        self._calls = 0

    def operate(self, name: str, *operands: Any, **keywords: Any) -> Ref:
        """Do what Python does for an operator, a format or a builtin; `name` is one of `questions.operator_named`."""
        return self.follow(Path(None, "operator", name)).call(operands, keywords)

    def intrinsic(self, name: str) -> Ref:
        """A function that the compiler knows, for plain Python code that gets it."""
        return self.follow(Path(None, "operator", name))

    def library(self, name: str) -> FunctionRef:
        """A function of samovar that kernels compile. Its text belongs to the version, so nothing about it is recorded."""
        if self._library is None:
            self._library = Library(self)
        return self._library.function(name)

    # --- what references use

    def recalled(self, path: Path) -> Any:
        """What was at a path that leads to nothing now: for a lens on what is gone."""
        return ABSENT

    def know(self, reference: Ref) -> None:
        """Remember a reference, to be released."""
        self._references.append(reference)

    def root(self, path: Path, read: Callable[[], Any]) -> Ref:
        """The reference of a path that starts somewhere; reading happens once."""
        found = self._roots.get(path)
        if found is None:
            found = self._roots[path] = Ref(self, path, read())
        return found

    def locations(self) -> bool:
        """Do files and line numbers count? They do where messages carry them."""
        return do_lines_count(self.options)

    def description(self, text: str) -> Description:
        """The answer to the question `class`, taken apart once."""
        found = self._descriptions.get(text)
        if found is None:
            found = self._descriptions[text] = Description(text)
        return found

    def next_call(self) -> int:
        """Number the calls: each is made anew, because a function may answer differently each time."""
        self._calls += 1
        return self._calls

    def actual(self, argument: Any) -> Any:
        """The object behind an argument of a call or a key: a simple value, an enum value, a path, or a tuple of them."""
        if isinstance(argument, Path):
            return self.follow(argument)._object
        if isinstance(argument, EnumValue):
            return self.enum_members.behind(argument)
        if isinstance(argument, tuple):
            return tuple(map(self.actual, argument))
        return argument

    def function_at(self, ref: Ref, function: FunctionType) -> FunctionRef:
        """The function at a path. One that was reached before keeps its first path, and that it is the same is recorded."""
        known = self._functions.get(id(function))
        if known is not None:
            if known.path != ref.path:
                self.trace.record(ref.path, "same", known.path)
            return known
        made = self._make_function(ref, function)
        self._functions[id(function)] = made
        made.ask("function")
        made.ask("signature")
        made.ask_what_code_does_not_tell()
        for other in self._functions.values():
            if other is not made and other.namespace is other and share_namespace(other._function, made._function):
                # Two functions of one module see the same names: asked once, under the path of the first.
                made.share_names_of(other)
                self.trace.record(made.path, "namespace", other.path)
                break
        return made

    def _make_function(self, ref: Ref, function: FunctionType) -> FunctionRef:
        parent = ref.path.parent
        owner = None if parent is None else self.follow(parent)._object
        signature = owner.signature if isinstance(owner, Declaration) else None
        made = self._by_path[ref.path] = FunctionRef(self, ref.path, function, signature)
        return made

    def cell_at(self, path: Path, cell: CellType) -> Ref:
        """The reference of a cell. One that functions share keeps its first path, and that it is the same is recorded."""
        known = self._cells.setdefault(id(cell), (cell, path))[1]
        if known != path:
            self.trace.record(path, "same cell", known)
        return self.follow(known)

    # --- what the runtime uses to bind guards

    def funcs(self) -> dict[Path, Any]:
        """The funcs that were found, by weak references: they belong to classes and modules, not to arguments."""
        return {each.path: ref(each._object) for each in self._references if isinstance(each._object, Declaration)}

    def object_at(self, path: Path) -> Any:
        """The object at a path, for who makes guards of a trace; ABSENT at a path that leads to nothing."""
        return self.kernel._function if path.step == "kernel" else self.follow(path)._object

    def function_behind(self, path: Path) -> FunctionType:
        """The function at a path that a trace has a function at."""
        function = self._function(path)
        assert function is not None
        return function._function

    # --- walking paths

    def follow(self, path: Path) -> Ref:
        """The reference at a path, on these arguments. Where a path cannot be walked, its kind is ABSENT."""
        found = self._roots.get(path)
        if found is not None:
            return found
        if path.step == "parameter":
            return self.parameter(path.key)
        if path.step == "operator":
            return self.root(path, lambda: questions.operator_named(path.key))
        if path.step in ("cell", "global", "builtin", "undefined", "default"):
            owner = self._function(path.parent)
            return self.root(path, lambda: ABSENT) if owner is None else owner.name_at(path.step, path.key)
        if path.parent is None:
            return self.root(path, lambda: ABSENT)
        return self.follow(path.parent).child(path.step, path.key)

    def _function(self, path: Path | None) -> FunctionRef | None:
        if path is None:
            return None
        if path.step == "kernel":
            return self.kernel
        known = self._by_path.get(path)
        if known is None and path.step == "function":
            ref = self.follow(path)
            return None if ref._object is ABSENT else self._make_function(ref, ref._object)
        return known

    def _disjoint(self, path: Path) -> bool:
        written, everything = path.key
        others = tuple(self.follow(each)._object for each in everything if each not in written)
        return questions.disjoint(tuple(self.follow(each)._object for each in written), others)


class Library(Lens):
    """The view of samovar's own functions during a compile. What is asked about them is forgotten with it."""

    is_library = True

    def __init__(self, outer: Lens) -> None:
        nothing: Any = _no_kernel
        super().__init__(nothing, {}, signature_of(nothing, None, {}), outer.settings)
        self.options = outer.options  # which are asked for the kernel's sake

    def function(self, name: str) -> FunctionRef:
        """A function by its canonical name."""
        return self.intrinsic(name).function()


def _no_kernel() -> None:
    """What a view of the library looks at instead of a kernel."""
