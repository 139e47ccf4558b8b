"""The public names of the package and its public modules, found by inspection.

`__all__` of a module defines what is public. Nothing is listed by hand: a new name has a page, or a test fails.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any

import samovar as sv

#: Public modules that are not attributes of the package: they are imported by their own name.
IMPORTED = ("samovar.fingerprint",)
SHORT = "sv"


@dataclass(frozen=True)
class Member:
    """A method or an attribute of a public class."""

    name: str
    signature: str
    text: str


@dataclass(frozen=True)
class PublicName:
    """One name: `sv.math.sin`."""

    module: str
    name: str
    value: Any = field(compare=False, repr=False)
    home: str = ""
    is_exported: bool = True

    @property
    def path(self) -> str:
        return f"{spelled(self.module)}.{self.name}" if self.is_exported else self.name

    @property
    def anchor(self) -> str:
        """Where it is on its page. Letters keep their case: `sv.Template` and `sv.template` are two."""
        return self.path.replace(".", "-")

    @cached_property
    def kind(self) -> str:
        """What it is: "module", "error", "dtype", "class", "function" or "value"."""
        value = self.value
        if isinstance(value, ModuleType):
            return "module"
        if isinstance(value, type):
            return "error" if issubclass(value, BaseException) else "class"
        if isinstance(value, type(sv.f32)):
            return "dtype"
        return "function" if callable(value) else "value"

    @cached_property
    def text(self) -> str:
        """Its documentation: the docstring of its own, or what the comment above its definition says of a plain value."""
        if self.kind == "dtype":
            return dtype_text(self.value)
        own = getattr(self.value, "__doc__", None)
        if self.kind != "value":
            return inspect.cleandoc(own or "")
        inherited = type(self.value).__doc__
        if own and own != inherited:
            return inspect.cleandoc(own)
        if isinstance(self.value, (str, int, float)):
            return comment_above(self.home, self.name) or f"The value `{self.value!r}`."
        return inspect.cleandoc(inherited or "")

    @cached_property
    def signature(self) -> str:
        if self.kind == "function" or (self.kind == "class" and not issubclass(self.value, Enum)):
            return signature_of(self.value)
        return ""

    @cached_property
    def summary(self) -> str:
        """The first sentence."""
        return first_sentence(self.text)

    @cached_property
    def members(self) -> tuple[Member, ...]:
        return members_of(self.value) if self.kind in ("class", "error") else ()


def spelled(module: str) -> str:
    """How users write a module: `sv.math`, and whole what they import by its own name."""
    return module if module in IMPORTED else module.replace("samovar", SHORT, 1)


def public_modules() -> list[str]:
    """The package, its public modules, and theirs."""
    found: list[str] = []

    def visit(name: str) -> None:
        found.append(name)
        module = importlib.import_module(name)
        for each in module.__all__:
            value = getattr(module, each)
            if isinstance(value, ModuleType) and value.__name__.startswith("samovar.") and value.__name__ not in found:
                visit(value.__name__)

    for name in ("samovar", *IMPORTED):
        visit(name)
    return found


def names_of(module: str) -> list[PublicName]:
    """The public names of a module, each with the module that defines it."""
    loaded = importlib.import_module(module)
    homes = {name: f"samovar.{home}" for home, names in sv._HOMES.items() for name in names.split()}
    return [
        PublicName(module, name, getattr(loaded, name), homes.get(name, module) if module == "samovar" else module)
        for name in sorted(loaded.__all__, key=str.lower)
    ]


def all_names() -> list[PublicName]:
    return [name for module in public_modules() for name in names_of(module)]


def error_classes() -> list[PublicName]:
    return [name for name in all_names() if name.kind == "error"]


def handles() -> list[PublicName]:
    """What decorators and other public functions give back: classes that have no name of their own in the package."""

    @sv.kernel
    def kernel() -> None:
        pass

    found = [PublicName("samovar", "Kernel", type(kernel), "samovar.runtime.kernel", is_exported=False)]
    return [each for each in found if each.name not in sv.__all__]


def dtype_text(dtype: Any) -> str:
    """What a dtype holds, in words."""
    if dtype.kind == "float":
        return f"A float of {dtype.bits} bits (IEEE 754)."
    if dtype is sv.u1:
        return "A truth value, one byte in memory."
    if dtype.name.startswith("u"):
        return f"An integer of {dtype.bits} bits, from 0 to {2**dtype.bits - 1}."
    return f"An integer of {dtype.bits} bits, from {-(2 ** (dtype.bits - 1))} to {2 ** (dtype.bits - 1) - 1}."


def signature_of(value: Any) -> str:
    """The parameters as the user sees them, without the modules of types."""
    given = getattr(value, "__text_signature__", None)
    if given and isinstance(value, FunctionType):
        return given
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return given or ""
    parameters = [
        each.replace(annotation=inspect.Parameter.empty)
        for each in signature.parameters.values()
        if each.name not in ("self", "cls", "$self")
    ]
    text = re.sub(r"samovar\.([fiu]\d+)", r"sv.\1", str(inspect.Signature(parameters)))
    text = re.sub(r"<(\w+\.\w+): [^<>]*>", r"sv.\1", text)  # a member of an enumeration
    return re.sub(r"<[^<>]*>", "…", text)


def members_of(cls: type) -> tuple[Member, ...]:
    """The public methods and attributes that a class and its bases of ours define; native ones of a class that is written in
    Python are the runtime's."""
    if issubclass(cls, Enum):
        return tuple(Member(each.name, "", f"`{each.value!r}`") for each in cls)
    found: dict[str, Member] = {}
    for base in cls.__mro__:
        if not base.__module__.startswith("samovar") or (is_native(base) and not is_native(cls)):
            continue
        for name, value in vars(base).items():
            target = function_below(value)
            if name.startswith("_") or name in found or not (callable(target) or hasattr(value, "__get__")):
                continue
            text = inspect.cleandoc(getattr(target, "__doc__", None) or "")
            if re.match(r"Alias for field number \d+$", text):
                text = ""
            found[name] = Member(name, signature_of(target) if callable(target) else "", text)
    return tuple(found[name] for name in sorted(found))


def is_native(cls: type) -> bool:
    return cls.__module__ in ("samovar", "samovar._native")


def function_below(value: Any) -> Any:
    """The function below a static or class method."""
    return getattr(value, "__func__", value)


def first_sentence(text: str) -> str:
    paragraph = " ".join(text.split("\n\n")[0].split())
    found = re.match(r"(.+?[.!?])(?:\s|$)(?![a-z])", paragraph)
    return found.group(1) if found else paragraph


def comment_above(module: str, name: str) -> str:
    """What a comment `#: …` above or behind the assignment of a name says."""
    source = inspect.getsource(importlib.import_module(module))
    lines = source.splitlines()
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        assigned = {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
        if name in assigned:
            behind = re.search(r"#: (.+)$", lines[node.lineno - 1])
            if behind:
                return behind.group(1)
            at, words = node.lineno - 2, []
            while at >= 0 and lines[at].startswith("#: "):
                words.insert(0, lines[at][3:])
                at -= 1
            return " ".join(words)
    return ""
