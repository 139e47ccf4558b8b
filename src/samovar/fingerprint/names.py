"""Qualified names, and whether they resolve to the objects that claim them."""

from __future__ import annotations

import functools
import os
import sys
import types
from typing import Final

from samovar.fingerprint.deconstruction import EmptyDeconstruction, UnfingerprintableError, encode_names
from samovar.reflection import ABSENT, class_name, own

__all__ = ["by_verified_name", "claimed_name", "home_of", "reference", "resolves", "spell"]

#: Modules whose contents have a public home in every version of Python, and another one in some.
_PUBLIC_HOMES: Final = {"pathlib._local": "pathlib"}

#: The name of the main program, and the one `multiprocessing` gives it in spawned processes.
_PROGRAM: Final = ("__main__", "__mp_main__")


def by_verified_name(value: object, *, module: str | None = None, name: str | None = None) -> EmptyDeconstruction:
    """Identify an object by the qualified name under which another process finds it. Use it as a rule or to end one.

    The name is what the object claims with `__module__` and `__qualname__`, unless it is given. It has to resolve to this
    very object; otherwise a `TypeError` with the path to the object is raised. No other property of the object matters.

    >>> import decimal
    >>> from samovar.fingerprint import by_verified_name, make_deconstructor, make_fingerprinter
    >>> rule = lambda context: by_verified_name(context, module="decimal", name="BasicContext")
    >>> fingerprinter = make_fingerprinter(make_deconstructor({decimal.Context: rule}))
    >>> fingerprinter([decimal.BasicContext]) == fingerprinter([decimal.BasicContext])
    True
    >>> fingerprinter([decimal.Context(prec=3)])
    Traceback (most recent call last):
    TypeError: [0]: cannot fingerprint an object of type decimal.Context by the name decimal.BasicContext: \
decimal.BasicContext is another object (shadowed, replaced or decorated)
    """
    claimed_module, claimed = claimed_name(value)
    module, name = claimed_module if module is None else module, claimed if name is None else name
    if not name:
        raise UnfingerprintableError(
            f"cannot fingerprint an object of type {class_name(type(value))} by its name: it has no __qualname__; "
            "give module and name to by_verified_name"
        )
    problem = resolves(value, module, name)
    if problem is not None:
        raise UnfingerprintableError(
            f"cannot fingerprint an object of type {class_name(type(value))} by the name {spell(module, name)}: {problem}"
        )
    return reference("name", module, name)


def claimed_name(value: object) -> tuple[str, str]:
    """Return the module and qualified name that an object has as attributes; empty if they are not strings."""
    module, name = _attribute(value, "__module__"), _attribute(value, "__qualname__")
    return (module if type(module) is str else "", name if type(name) is str else "")


def resolves(value: object, module_name: str, qualified_name: str) -> str | None:
    """Return why a name does not resolve to the object, or `None` if it does."""
    module = sys.modules.get(module_name)
    if type(module) is types.ModuleType and module.__dict__.get(qualified_name) is value and "<" not in qualified_name:
        return None
    if "<locals>" in qualified_name:
        function = qualified_name.rpartition(".<locals>")[0]
        return f"it is defined inside {function}, where no other process can find it"
    if qualified_name.rpartition(".")[2] == "<lambda>":
        return "it is a lambda, which has no name"
    if module is None:
        return f"its module {module_name!r} is not imported" if module_name else "it names no module"
    target: object = module
    for name in qualified_name.split("."):
        target = _member(target, name)
        if target is ABSENT:
            return f"{module_name}.{qualified_name} does not exist"
    if target is not value:
        return f"{module_name}.{qualified_name} is another object (shadowed, replaced or decorated)"
    return None


def reference(kind: str, module: str, qualified_name: str) -> EmptyDeconstruction:
    """The terminal state of something that is identified by its name."""
    return _reference(kind, home_of(module), qualified_name)


@functools.lru_cache(maxsize=4096)
def _reference(kind: str, home: str, qualified_name: str) -> EmptyDeconstruction:
    return EmptyDeconstruction(kind, encode_names((home, qualified_name)))


def home_of(module_name: str) -> str:
    """Return the name of a module that is valid in every process.

    The main program of every process is `__main__`. It is identified by the name that `python -m` found it under, or by its
    file.
    """
    if module_name not in _PROGRAM:
        return _PUBLIC_HOMES.get(module_name, module_name)
    program = sys.modules.get(module_name)
    name = getattr(getattr(program, "__spec__", None), "name", None)
    if type(name) is str and name not in _PROGRAM:
        return name
    file = getattr(program, "__file__", None)
    return f"__main__ of {_real_path(file)}" if type(file) is str else "__main__"


@functools.lru_cache(maxsize=16)
def _real_path(file: str) -> str:
    return os.path.realpath(file)


def spell(module: str, name: str) -> str:
    """Format a qualified name for messages."""
    return f"{module}.{name}" if module else name


def _member(owner: object, name: str) -> object:
    if issubclass(type(owner), type):
        found = own(owner, name)
        return found.__func__ if type(found) is staticmethod else found
    return _attribute(owner, name)


def _attribute(owner: object, name: str) -> object:
    try:
        return getattr(owner, name)
    except Exception:
        return ABSENT
