"""References: what the frontend holds instead of user objects. Every fact learned through one is recorded.

There is one `Ref` per path, so each object is read once per compile: a property runs once, and the launch uses the object
that was asked about.
"""

from __future__ import annotations

import sys

from samovar.errors import SamovarCompilationError, SamovarFieldError, SamovarSyntaxError, SamovarTypeError, meant
from samovar.language import Annotation, AnyAnnotation, KernelSignature, SignatureParameter, TemplateAnnotation
from samovar.lens import questions
from samovar.lens.answers import EnumValue, Kind
from samovar.lens.deep_values import watched_call
from samovar.lens.long_sequences import LONGEST_SHORT, Elements
from samovar.lens.path import Path, compared_paths
from samovar.lens.question_tables import (
    QUESTIONS_ABOUT_FUNCTIONS,
    QUESTIONS_ABOUT_MEMBERS,
    QUESTIONS_ABOUT_OBJECTS,
    QUESTIONS_ABOUT_VALUES,
    builtins_of,
    cell_of,
    default_values,
    is_bound_method,
    look_up,
    wrapped_function,
)
from samovar.lens.tensor_facts import EXACT_EXTENT_QUESTIONS, EXTENT_QUESTIONS, TensorFacts
from samovar.lens.text import determines_source, present_lines, text_of
from samovar.reflection import ABSENT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from types import CellType, FunctionType
    from typing import Any

    from samovar.lens import compound
    from samovar.lens.lens import Lens
    from samovar.lens.source import FunctionSource


class Ref:
    """A reference to a user object. Its methods ask questions; none of them returns the object."""

    __slots__ = ("_children", "_lens", "_object", "_owner", "path")

    def __init__(self, lens: Lens, path: Path, value: Any, owner: Ref | None = None) -> None:
        self.path = path
        self._lens = lens
        self._object = value
        self._owner = owner
        self._children: dict[tuple[str, Any, type], Any] = {}
        lens.know(self)

    def release(self) -> None:
        """Release the object. No questions can be asked afterward."""
        self._object = ABSENT
        self._owner = None
        self._children.clear()

    def __repr__(self) -> str:
        return f"<Ref {self.path}>"

    @property
    def spelled(self) -> str:
        """How the program spells the path, for messages."""
        return self.path.spelled()

    def ask(self, question: str) -> Any:
        """Return the answer to a question, and record it."""
        trace = self._lens.trace
        answer = trace.answer(self.path, question, ABSENT)
        if answer is ABSENT:
            try:
                answer = self._find_out(question)
            except (SamovarFieldError, SamovarTypeError) as error:
                raise type(error)(f"{self.path}: {error}") from None
            except Exception as error:  # user code, such as a `__len__`
                raise SamovarCompilationError(
                    f"{self.path}: asking for its {question} raised {type(error).__name__}: {error}"
                ) from error
            trace.record(self.path, question, answer)
        return answer

    def _find_out(self, question: str) -> Any:
        if question in QUESTIONS_ABOUT_OBJECTS:
            return QUESTIONS_ABOUT_OBJECTS[question](self._object)
        if question in QUESTIONS_ABOUT_VALUES:
            return QUESTIONS_ABOUT_VALUES[question](self._object, self._lens.enum_members)
        owner = ABSENT if self._owner is None else self._owner._object
        return QUESTIONS_ABOUT_MEMBERS[question](owner, self.path.key, self._object)

    def is_of_library(self) -> bool:
        """Whether it is one of samovar's own library functions."""
        return self._lens.is_library

    def kind(self) -> Kind:
        """Return its kind."""
        kind: Kind = self.ask("kind")
        return kind

    def tensor(self) -> TensorFacts:
        """Return the facts that code depends on in an array."""
        return TensorFacts(*self.ask("tensor"))

    def readonly(self) -> bool:
        """Whether an array is read-only. Asked only where the array is written."""
        return bool(self.ask("readonly"))

    def layout(self) -> tuple[Any, ...]:
        """Return the memory layout of a field's elements, or the order of an array's dimensions (`_native.memory_form`)."""
        answer: tuple[Any, ...] = self.ask("layout")
        return answer

    def extent(self, axis: int) -> int | None:
        """Return the extent of a dimension, or None if code is not specialized on it. Asked only where it helps."""
        return self.ask(EXTENT_QUESTIONS[axis]) or None

    def exact_extent(self, axis: int) -> int:
        """Return the extent of a dimension that is part of the elements."""
        length: int = self.ask(EXACT_EXTENT_QUESTIONS[axis])
        return length

    def scalar_type(self) -> type:
        """Return int, float or bool: the type of a run-time number."""
        return {"int": int, "float": float, "bool": bool}[self.ask("scalar type")]

    def number_type(self) -> str:
        """Return "int", "float" or "bool" for a number of Python, else the name of its dtype."""
        name: str = self.ask("number type")
        return name

    def value(self) -> Any:
        """Return the compile-time value: int, float, bool, str, None, a dtype or an `EnumValue`."""
        self.kind()  # tells guards how to compare it
        answer = self.ask("value")
        if isinstance(answer, EnumValue):
            self._lens.enum_members.remember(answer, self._object, self.path)
        # A number of another type than Python's: the type is part of the answer, but only the number is returned.
        return answer[1] if isinstance(answer, tuple) else answer

    def is_derived(self) -> bool:
        """Whether it is a number or string of a type other than Python's own."""
        return isinstance(self.ask("value"), tuple)

    def intrinsic(self) -> str:
        """Return the canonical name of an intrinsic: "builtins.range", "math.sin", "samovar.ndrange"."""
        name: str = self.ask("intrinsic")
        return name

    def length(self) -> int:
        """Return the number of items."""
        self._ask_immutable()
        length: int = self.ask("length")
        return length

    def _ask_immutable(self) -> None:
        """Ask whether a sequence is a tuple of constants; guards then compare it as a whole."""
        if self.ask("kind") is Kind.SEQUENCE:
            self.ask("immutable")

    def values(self) -> tuple[Any, ...] | None:
        """Return all elements of a long sequence; None if it is short or an element is not a simple value."""
        if self.length() <= LONGEST_SHORT:
            return None
        found = self._lens.long_sequences.get(self.path)
        if found is None:
            found = self._lens.long_sequences[self.path] = Elements(self._object, self._lens.enum_members)
            self._lens.seen[self.path] = (found.contents,)
            self._lens.trace.record(self.path, "values", found.digest)
            for position, answer in enumerate(found.answers or ()):
                if isinstance(answer, EnumValue):
                    self._lens.enum_members.remember(answer, self._lens.enum_members.behind(answer), self.path, position)
        return found.answers

    def is_list(self) -> bool:
        """Whether a sequence is a list rather than a tuple."""
        return bool(self.ask("list"))

    def keys(self) -> tuple[Any, ...]:
        """Return the keys of a mapping in order; enum members as `EnumValue`."""
        answer: tuple[Any, ...] = self.ask("keys")
        if self._object is not None:  # None for a stand-in
            for position, (key, answered) in enumerate(zip(dict.keys(self._object), answer, strict=True)):
                if isinstance(answered, EnumValue):
                    self._lens.enum_members.remember(answered, key, self.path, position)
        return tuple(key[1] if isinstance(key, tuple) else key for key in answer)

    def annotation(self) -> Annotation:
        """Return the annotation that it denotes."""
        self.ask("annotation")
        return questions.annotation(self._object)

    def give(self) -> None:
        """Record that the object is passed to plain Python code. An object of an unknown class is opaque."""
        self.whole()
        is_own = "." not in self.ask("whole")  # a built-in type: a set, bytes, a dict view
        if self.declared_as() == "object" and not is_own:
            self.opaque()

    def whole(self) -> None:
        """Record that plain Python code receives the object and may read anything in it.

        Other processes repeat the call and compare its result. Guards compare what the call could see before each launch.
        """
        self.ask("whole")

    def bound_object(self) -> Ref | None:
        """Return the object that a plain method was read from, or None if it is not a method."""
        return self._owner if self.path.step == "attribute" and self._owner and self._owner.kind() is Kind.OBJECT else None

    def opaque(self) -> None:
        """Record that the object itself is used as a value. The compile then cannot be cached."""
        if (self.path, "opaque") not in self._lens.trace:
            self._lens.trace.note_opaque(self.path, self.ask("opaque"))

    def item(self, key: Any) -> Ref:
        """Return the item at a simple key; its kind is ABSENT if there is none."""
        self._ask_immutable()
        return self.child("item", key)

    def attribute(self, name: str) -> Ref:
        """Return an attribute; its kind is ABSENT if there is none."""
        return self.child("attribute", name)

    def inherited(self, cls: Ref, name: str) -> Ref:
        """Return an attribute as `super()` finds it in a method of a class; its kind is ABSENT if there is none."""
        return self.child("super", (cls.path, name))

    def is_baked(self) -> bool:
        """Whether a number is a compile-time constant rather than read at each launch. The class of its owner decides."""
        description = self._owner_description()
        if description is None or description.declared_as != "dataclass":
            return description is None or description.template_primitives
        name: str = self.path.key
        return description.fields[name][0] if name in description.fields else bool(self.ask("constant"))

    def declared(self) -> Annotation | None:
        """Return what a dataclass declares about this member, or None if that concerns neither numbers nor arrays."""
        description = self._owner_description()
        return None if description is None else description.declared(self.path.key)

    def unresolved(self) -> str | None:
        """Return the text of this member's declaration if it refers to an unknown name, else None."""
        description = self._owner_description()
        return None if description is None else description.unresolved(self.path.key)

    def declared_as(self) -> str:
        """Return how the class of a compound is declared: "data_oriented", "dataclass" or "object"."""
        return self._lens.description(self.ask("class")).declared_as

    def owner_declared_as(self) -> str:
        """Return how the class of the object is declared that it is a member of; "object" if it is not a member."""
        description = self._owner_description()
        return "object" if description is None else description.declared_as

    def _owner_description(self) -> compound.Description | None:
        owner = self._owner
        if self.path.step != "attribute" or owner is None or owner.kind() is not Kind.OBJECT:
            return None
        return self._lens.description(owner.ask("class"))

    def is_argument(self) -> bool:
        """Whether it is a launch argument, or reached through one."""
        root = self.path
        while root.parent is not None:
            root = root.parent
        return root.step == "parameter"

    def is_member_of(self, parameters: Container[str]) -> bool:
        """Whether it is reached through one of these parameters."""
        root = self.path
        if root.parent is None:
            return False
        while root.parent is not None:
            root = root.parent
        return root.step == "parameter" and root.key in parameters

    def is_instance(self, cls: str) -> bool:
        """Whether it is an instance of the class with this name."""
        return cls in self.ask("bases")

    def type_name(self) -> str:
        """Return the name of its class, for messages only: code must not depend on it."""
        return questions.type_name(self._object)

    def advice_for_absent(self, name: str) -> str | None:
        """Return a suggestion for an attribute that does not exist, for a message."""
        if self._object is sys.modules["samovar"]:
            from samovar.language import ELSEWHERE

            if name in ELSEWHERE:
                return ELSEWHERE[name]
        close = meant(name, questions.attribute_names(self._object))
        return f"did you mean `{close}`?" if close else None

    def origin(self) -> tuple[str, str, bool]:
        """Return the module and name of a function or class, and whether it is a class. For messages only: code must not
        depend on it."""
        return questions.origin(self._object)

    def method(self) -> tuple[Ref, Ref]:
        """Return the func of a bound method, and the object that it is bound to."""
        # The owner already has a path. Under a second one, its arrays would seem to overlap.
        owner = self._owner if self.ask("bound") else None
        return self.attribute("__func__"), self.attribute("__self__") if owner is None else owner

    def is_written_in_python(self) -> bool:
        """Whether it is a plain Python function, or a method that is one. Its kind is already known to be a function."""
        return wrapped_function(self._object.__func__ if is_bound_method(self._object) else self._object) is not ABSENT

    def is_method_of(self, *modules: str) -> bool:
        """Whether it is a method of an object whose class is from one of these modules. For messages only: code must not
        depend on it."""
        owner = getattr(self._object, "__self__", None)
        return owner is not None and questions.type_name(owner).startswith(tuple(f"{module}." for module in modules))

    def is_bound(self) -> bool:
        """Whether it is a bound method."""
        return bool(self.ask("method"))

    def function(self) -> FunctionRef:
        """Return the Python function that a func wraps (or, inside `static`, a plain function)."""
        value = self._object
        function = wrapped_function(value)
        if function is ABSENT:
            raise SamovarTypeError(f"{self.path}: a {questions.type_name(value)} is not a function written in Python")
        if self._lens.is_library:
            function = getattr(function, "__wrapped__", function)  # users see a wrapper, which has no source of its own
        return self._lens.function_at(self.child("function", None), function)

    def call(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> Ref:
        """Call it as plain Python code, inside `static`. Arguments are simple values or references."""
        key = (
            self._lens.next_call(),
            tuple(map(_argument, arguments)),
            tuple((name, _argument(value)) for name, value in keywords.items()),
        )
        result = self.child("call", key)
        result.ask("call")
        return result

    def child(self, step: str, key: Any) -> Ref:
        """Return the reference one step further. The object is read once."""
        memory = (step, key, key.__class__)
        found: Ref | None = self._children.get(memory)
        if found is None:
            path, value = Path(self.path, step, key), self._read(step, key)
            if value is ABSENT:
                value = self._lens.recalled(path)
            found = self._children[memory] = Ref(self._lens, path, value, self)
        return found

    def _read(self, step: str, key: Any) -> Any:
        value = self._object
        try:
            if step == "attribute":
                return questions.read_attribute(value, key)
            if step == "item":
                return questions.read_item(value, self._lens.actual(key))
            if step == "super":
                return questions.read_inherited(value, self._lens.actual(key))
            if step == "function":
                return wrapped_function(value)
        except SamovarCompilationError as error:
            raise type(error)(f"{self.path}: {error}") from error.__cause__
        return self._called(key)

    def _called(self, key: tuple[int, tuple[Any, ...], tuple[tuple[str, Any], ...]]) -> Any:
        if self._object is ABSENT:
            return ABSENT
        _, arguments, keywords = key
        lens, call = self._lens, Path(self.path, "call", key)
        named = {name: lens.actual(value) for name, value in keywords}
        compared = (self._object, *map(lens.actual, compared_paths(call)[1:]))
        try:
            result, lens.seen[call] = watched_call(compared, tuple(map(lens.actual, arguments)), named)
            return result
        except Exception as error:
            raise SamovarCompilationError(f"calling {call} raised {type(error).__name__}: {error}") from error


def _argument(value: Any) -> Any:
    """Return an argument of a call as part of a path."""
    if isinstance(value, Ref):
        return value.path
    if isinstance(value, tuple):
        return tuple(map(_argument, value))
    return value


class FunctionParameter:
    """A parameter of a kernel or func. `default` is a reference to its default value, or None."""

    __slots__ = ("annotation", "default", "kind", "name")

    def __init__(self, name: str, annotation: Annotation | None, default: Ref | None, kind: str) -> None:
        self.name = name
        self.annotation = annotation
        self.default = default
        self.kind = kind


class Binding:
    """How calls bind the parameters of a function: their names, keyword-only and positional-only ones, annotations, and
    which are templates."""

    __slots__ = ("annotations", "by_name", "by_position", "names", "templates")

    def __init__(self, parameters: tuple[FunctionParameter, ...]) -> None:
        self.names = [parameter.name for parameter in parameters]
        self.by_name = [parameter.name for parameter in parameters if parameter.kind == "keyword only"]
        self.by_position = {parameter.name for parameter in parameters if parameter.kind == "positional only"}
        self.annotations = {parameter.name: parameter.annotation for parameter in parameters}
        self.templates = {name for name, each in self.annotations.items() if isinstance(each, TemplateAnnotation)}


class FunctionRef:
    """A Python function: the kernel itself, or a func that it calls.

    `name` is part of the code's identity. `qualname`, `file` and `first_line` are for messages: they count in debug mode
    only, and other code must not depend on them.
    """

    __slots__ = (
        "_binding", "_function", "_is_compared", "_lens", "_names", "_namespace", "_parameters", "_signature", "_source",
        "path",
    )  # fmt: skip

    def __init__(self, lens: Lens, path: Path, function: FunctionType, signature: KernelSignature | None) -> None:
        self.path = path
        self._namespace: FunctionRef | None = None
        self._lens = lens
        self._function = function
        self._signature = signature
        self._names: dict[str, Ref | None] = {}
        self._parameters: tuple[FunctionParameter, ...] | None = None
        self._binding: Binding | None = None
        self._source: FunctionSource | None = None
        self._is_compared = False  # whether its source is known to match the code

    def __repr__(self) -> str:
        return f"<FunctionRef {self.path}>"

    @property
    def namespace(self) -> FunctionRef:
        """The function under whose path global names are asked: the first one of its module."""
        return self if self._namespace is None else self._namespace

    def share_names_of(self, first: FunctionRef) -> None:
        """Ask about global names under the path of another function with the same globals."""
        self._namespace = first

    @property
    def name(self) -> str:
        return self._function.__code__.co_name

    @property
    def qualname(self) -> str:
        return self._function.__qualname__

    @property
    def file(self) -> str:
        return self._function.__code__.co_filename

    @property
    def first_line(self) -> int:
        return self._function.__code__.co_firstlineno

    @property
    def identity(self) -> Path:
        """Identifies a function within one compile: a function that is reached twice keeps its first path."""
        return self.path

    def declaration(self) -> Ref | None:
        """Return the func that wraps it, or None for a kernel."""
        owner = self.path.parent
        return None if owner is None else self._lens.follow(owner)

    @property
    def is_of_library(self) -> bool:
        """Whether it is one of samovar's own library functions."""
        return self._lens.is_library

    @property
    def options(self) -> Mapping[str, object]:
        """The options of its decorator."""
        return {} if self._signature is None else self._signature.options

    @property
    def returns(self) -> Annotation | None:
        """The annotation of the result, or None."""
        return None if self._signature is None else _present(self._signature.returns)

    @property
    def parameters(self) -> tuple[FunctionParameter, ...]:
        """The parameters in order."""
        if self._parameters is None:
            declared = _plain_parameters(self._function) if self._signature is None else self._signature.parameters
            with_default = default_values(self._function)
            self._parameters = tuple(
                FunctionParameter(
                    p.name,
                    _present(p.annotation),
                    self.name_at("default", p.name) if p.name in with_default else None,
                    p.kind,
                )
                for p in declared
            )
        return self._parameters

    @property
    def binding(self) -> Binding:
        """How calls bind its parameters."""
        if self._binding is None:
            self._binding = Binding(self.parameters)
        return self._binding

    def ask(self, question: str) -> Any:
        """Return the answer to a question about the function itself, and record it."""
        answer = self._lens.trace.answer(self.path, question, ABSENT)
        if answer is ABSENT:
            ask = QUESTIONS_ABOUT_FUNCTIONS[question]
            answer = ask(self._function, self._signature, self._lens.locations())
            self._lens.trace.record(self.path, question, answer)
        return answer

    def place_of(self, line: int) -> tuple[int | None, int]:
        """Return the offset of a line's first instruction, and its line number relative to the function."""
        code = self._function.__code__
        first = next((begin for begin, _, number in code.co_lines() if number == line), None)
        return first, line - code.co_firstlineno

    def resolve(self, name: str) -> Ref | None:
        """Resolve a name that the function does not bind: a cell, a global or a builtin; None if it is undefined."""
        if name in self._names:
            return self._names[name]
        cell = self.cell(name)
        if cell is not None:
            ref = self._lens.cell_at(Path(self.path, "cell", name), cell)
        else:
            step = self._step_of(name)
            if step == "global" and name in builtins_of(self._function):
                # Asked first, as where no global shadows the builtin, so that a lookup can distinguish the two cases.
                self.namespace.name_at("builtin", name).kind()
            ref = self.namespace.name_at(step, name)
        found = None if ref.kind() is Kind.ABSENT else ref
        self._names[name] = found
        return found

    def close_name(self, name: str, locals: Iterable[str]) -> str | None:
        """Return the local, captured, global or builtin name closest to an undefined one, for a message."""
        function = self._function
        return meant(name, (*locals, *function.__code__.co_freevars, *function.__globals__, *builtins_of(function)))

    def cell(self, name: str) -> CellType | None:
        """Return the cell of a free variable."""
        return cell_of(self._function, name)

    def _step_of(self, name: str) -> str:
        """Return the step by which a global or builtin name resolves."""
        function = self._function
        if name in function.__globals__:
            return "global"
        return "builtin" if name in builtins_of(function) else "undefined"

    def name_at(self, step: str, name: str) -> Ref:
        """Return the reference of a name, resolved by one kind of step."""
        path = Path(self.path, step, name)
        return self._lens.root(path, lambda: look_up(self._function, step, name))

    def source(self) -> FunctionSource:
        """Return the syntax tree, and the lines of the file."""
        if self._source is None:
            from samovar.lens.source import function_source, mangle_private_names

            self._source = function_source(self._function, self._is_compared)
            mangle_private_names(self._source, self._function)
        return self._source

    def ask_ambiguous_source(self) -> None:
        """Ask for the source where bytecode alone is ambiguous. In debug mode always: `python -O` drops assertions."""
        if self._lens.locations() or not determines_source(self._function.__code__):
            known = self._lens.texts.get(self.ask("function"), ())
            answer = next((text for text in known if present_lines(self._function, text[0]) == text[1]), None)
            self._is_compared = answer is not None
            try:
                answer = answer or text_of(self.source())
            except SamovarSyntaxError:
                return  # without source nothing compiles, and `source()` will raise the error
            self._lens.trace.record(self.path, "source", answer)


def _present(annotation: Annotation) -> Annotation | None:
    return None if isinstance(annotation, AnyAnnotation) else annotation


def _plain_parameters(function: FunctionType) -> tuple[SignatureParameter, ...]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount + function.__code__.co_kwonlyargcount]
    return tuple(SignatureParameter(name, AnyAnnotation(), "positional", False) for name in names)
