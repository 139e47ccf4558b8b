"""The lens: the compiler's only view of user objects during one compile.

A lens belongs to one kernel and one set of arguments, hands out references, and records every question with its answer;
`replay` asks them again. The lens and its references form a cycle, so its creator has to close it: otherwise the arguments
live until the next garbage collection.
"""

from __future__ import annotations

from _weakref import ref

from samovar.language import Declaration, do_lines_count, signature_of
from samovar.lens import questions
from samovar.lens.answers import EnumValue
from samovar.lens.compound import Description
from samovar.lens.enum_members import EnumMembers
from samovar.lens.path import Path
from samovar.lens.question_tables import share_namespace
from samovar.lens.reference import FunctionRef, Ref
from samovar.lens.trace import Trace
from samovar.reflection import ABSENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import CellType, FunctionType
    from typing import Any

    from samovar.language import KernelSignature, Options
    from samovar.lens.deep_values import Contents
    from samovar.lens.long_sequences import Elements
    from samovar.lens.text import Text


class OptionsView:
    """A view of the options that records each read: only options that were read are part of the key."""

    __slots__ = ("_options", "_trace")

    def __init__(self, options: Options, trace: Trace) -> None:
        self._options = options
        self._trace = trace

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._options, name)
        self._trace.record(Path(None, "options", name), "option", value)
        return value


#: For a kernel that was never compiled.
NO_TEXTS: Mapping[Any, Sequence[Text]] = {}


class Lens:
    """One compile's view of a kernel, its arguments and the options. `texts` are source texts known to match functions, see
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
        #: Options that do not affect code: logging, dumps. Reading them is not recorded.
        self.settings = options
        self.texts = texts
        self._arguments = arguments
        self._roots: dict[Path, Ref] = {}
        self._references: list[Ref] = []
        self._functions: dict[int, FunctionRef] = {}
        self._cells: dict[int, tuple[CellType, Path]] = {}
        self.enum_members = EnumMembers()
        self.long_sequences: dict[Path, Elements] = {}
        #: Deep values of mutable objects as guards compare them, by path. None for a plain call that has to be repeated.
        self.seen: dict[Path, tuple[Contents, ...] | None] = {}
        self._descriptions: dict[str, Description] = {}
        self._calls = 0
        self._library: Library | None = None
        self.kernel = FunctionRef(self, Path(None, "kernel", function.__name__), function, signature)
        self._functions[id(function)] = self.kernel
        self._by_path = {self.kernel.path: self.kernel}
        self.kernel.ask("function")
        self.kernel.ask("signature")
        self.kernel.ask_ambiguous_source()

    def __enter__(self) -> Lens:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Release all user objects. The trace remains."""
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

    # --- for the frontend

    def parameter(self, name: str) -> Ref:
        """Return a reference to the argument of a parameter."""
        return self.root(Path(None, "parameter", name), lambda: self._arguments.get(name, ABSENT))

    def enter_static(self, depth: int) -> None:
        """Enter (+1) or leave (-1) a `static` expression; questions asked inside are attributed to it."""
        self.trace.static_depth += depth

    def place_of_member(self, value: EnumValue) -> tuple[Path | None, int | None]:
        """Return where an enum member was first found: a path, and its position there if it is an element or a key."""
        return self.enum_members.place(value)

    def probes(self, lines: Iterable[tuple[str, int]]) -> Path:
        """Return the path of the coverage bytes, which record which lines, (file, line), have run."""
        path: Path = Path(None, "probes", tuple(lines))
        return path

    def disjoint(self, written: Sequence[Ref], all: Sequence[Ref]) -> bool:
        """Whether no written array overlaps itself or another one. Asked last, when the written arrays are known."""
        path = Path(None, "overlap", (tuple(ref.path for ref in written), tuple(ref.path for ref in all)))
        answer = self._disjoint(path)
        self.trace.record(path, "disjoint", answer)
        return answer

    def looked_from(self, where: Callable[[], tuple[str, int]] | None) -> None:
        """Set the source position of the questions that follow. It serves explanations and is not part of the key."""
        self.trace.where = where

    def begin_staging(self) -> None:
        """Start staging, possibly again: calls are numbered from the start, so repeated calls have the same paths."""
        self._calls = 0

    def operate(self, name: str, *operands: Any, **keywords: Any) -> Ref:
        """Apply a Python operator, format or builtin; see `questions.operator_named` for `name`."""
        return self.follow(Path(None, "operator", name)).call(operands, keywords)

    def intrinsic(self, name: str) -> Ref:
        """Return a reference to an intrinsic, to be passed to plain Python code."""
        return self.follow(Path(None, "operator", name))

    def library(self, name: str) -> FunctionRef:
        """Return a library function that kernels compile. The package version covers its source, so nothing is recorded."""
        if self._library is None:
            self._library = Library(self)
        return self._library.function(name)

    # --- for references

    def recalled(self, path: Path) -> Any:
        """Return the object at a path that no longer leads anywhere. Overridden by lenses on stand-ins."""
        return ABSENT

    def know(self, reference: Ref) -> None:
        """Register a reference, to be released later."""
        self._references.append(reference)

    def root(self, path: Path, read: Callable[[], Any]) -> Ref:
        """Return the reference of a root path. `read` is called once."""
        found = self._roots.get(path)
        if found is None:
            found = self._roots[path] = Ref(self, path, read())
        return found

    def locations(self) -> bool:
        """Whether file names and line numbers matter, as they do where messages contain them."""
        return do_lines_count(self.options)

    def description(self, text: str) -> Description:
        """Return the parsed answer to the question `class`."""
        found = self._descriptions.get(text)
        if found is None:
            found = self._descriptions[text] = Description(text)
        return found

    def next_call(self) -> int:
        """Return the next call number. Calls are never shared, because a function may return something else each time."""
        self._calls += 1
        return self._calls

    def actual(self, argument: Any) -> Any:
        """Return the object behind an argument of a call or a key: a simple value, an enum value, a path, or a tuple of
        these."""
        if isinstance(argument, Path):
            return self.follow(argument)._object
        if isinstance(argument, EnumValue):
            return self.enum_members.behind(argument)
        if isinstance(argument, tuple):
            return tuple(map(self.actual, argument))
        return argument

    def function_at(self, ref: Ref, function: FunctionType) -> FunctionRef:
        """Return the function at a path. One that was reached before keeps its first path; the identity is recorded."""
        known = self._functions.get(id(function))
        if known is not None:
            if known.path != ref.path:
                self.trace.record(ref.path, "same", known.path)
            return known
        made = self._make_function(ref, function)
        self._functions[id(function)] = made
        made.ask("function")
        made.ask("signature")
        made.ask_ambiguous_source()
        for other in self._functions.values():
            if other is not made and other.namespace is other and share_namespace(other._function, made._function):
                # Functions of one module share their globals: ask once, under the path of the first.
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
        """Return the reference of a cell. A shared cell keeps its first path; the identity is recorded."""
        known = self._cells.setdefault(id(cell), (cell, path))[1]
        if known != path:
            self.trace.record(path, "same cell", known)
        return self.follow(known)

    # --- for binding guards

    def funcs(self) -> dict[Path, Any]:
        """Return weak references to the funcs that were found. They belong to classes and modules, not to arguments."""
        return {each.path: ref(each._object) for each in self._references if isinstance(each._object, Declaration)}

    def object_at(self, path: Path) -> Any:
        """Return the object at a path, or ABSENT. Used to create guards from a trace."""
        return self.kernel._function if path.step == "kernel" else self.follow(path)._object

    def function_behind(self, path: Path) -> FunctionType:
        """Return the function at a path, which must lead to one."""
        function = self._function(path)
        assert function is not None
        return function._function

    # --- walking paths

    def follow(self, path: Path) -> Ref:
        """Return the reference at a path for these arguments. Its kind is ABSENT if the path leads nowhere."""
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
    """The view of samovar's own library functions during a compile. Its trace is discarded."""

    is_library = True

    def __init__(self, outer: Lens) -> None:
        nothing: Any = _no_kernel
        super().__init__(nothing, {}, signature_of(nothing, None, {}), outer.settings)
        self.options = outer.options  # reads are recorded in the kernel's trace

    def function(self, name: str) -> FunctionRef:
        """Return a function by its canonical name."""
        return self.intrinsic(name).function()


def _no_kernel() -> None:
    """A placeholder for the kernel of a library view."""
