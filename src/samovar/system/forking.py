"""Imports in progress when a process forks: in the child, those of other threads would never finish.

Each module has its own lock while it is imported. A child inherits the lock, but not the thread that would release it;
Python itself only resets the global import lock. Any name of the package may trigger an import, so the package
registers both functions before it imports anything else.
"""

from __future__ import annotations

import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def finish_imports() -> None:
    """Before a fork: wait for modules of the package that other threads are importing, so that a child gets whole ones."""
    for name, module in list(sys.modules.items()):
        if name.startswith("samovar.") and _is_begun(module):
            try:
                __import__(name)
            except Exception:  # the importing thread gets the error; nothing is left to wait for
                continue


def forget_imports_of_others() -> None:
    """In a child, which has one thread: forget the imports that other threads have begun since, so that they start
    over on demand."""
    locks = _locks()
    for name, reference in list(locks.items()):
        owner = getattr(reference(), "owner", None)
        if owner in (None, get_ident()):
            continue
        locks.pop(name, None)
        if _is_begun(sys.modules.get(name)):
            del sys.modules[name]


def is_importing() -> bool:
    """Whether this thread is importing a module."""
    me = get_ident()
    return any(getattr(reference(), "owner", None) == me for reference in list(_locks().values()))


def waits_for_import_here(thread: int) -> bool:
    """Whether another thread waits for an import that this one is doing."""
    waiting = getattr(sys.modules.get("_frozen_importlib"), "_blocking_on", {}).get(thread, ())
    me = get_ident()
    return any(getattr(each, "owner", None) == me for each in (waiting if isinstance(waiting, (list, tuple)) else [waiting]))


def _locks() -> dict[str, Any]:
    """The locks of modules that are being imported: weak references by name."""
    found: dict[str, Any] = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    return found


def _is_begun(module: object) -> bool:
    """Whether the module is being imported."""
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))
