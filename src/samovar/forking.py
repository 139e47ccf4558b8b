"""Imports that threads are in the middle of when a process forks: in the child, those of other threads would never end.

Each module has a lock of its own while it is imported, which a child inherits with nobody to release it. Python takes care
of the lock of all imports together only. Any name of the package may be what imports something, so the package itself
registers both functions, before anything else of it is there.
"""

from __future__ import annotations

import sys
from _thread import get_ident

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def finish_imports() -> None:
    """Before a fork: modules of the package that another thread is in the middle of are whole in a child if they are waited
    for."""
    for name, module in list(sys.modules.items()):
        if name.startswith("samovar.") and _is_begun(module):
            try:
                __import__(name)
            except Exception:  # the thread that imports it is told; there is nothing to wait for any more
                continue


def forget_imports_of_others() -> None:
    """In a child, which has one thread: forget the imports of the others that have begun since then, so that each begins
    anew when it is asked for."""
    locks = _locks()
    for name, reference in list(locks.items()):
        owner = getattr(reference(), "owner", None)
        if owner in (None, get_ident()):
            continue
        locks.pop(name, None)
        if _is_begun(sys.modules.get(name)):
            del sys.modules[name]


def is_importing() -> bool:
    """Is this thread in the middle of an import?"""
    me = get_ident()
    return any(getattr(reference(), "owner", None) == me for reference in list(_locks().values()))


def waits_for_import_here(thread: int) -> bool:
    """Does another thread wait for the end of an import that this one is in the middle of?"""
    waiting = getattr(sys.modules.get("_frozen_importlib"), "_blocking_on", {}).get(thread, ())
    me = get_ident()
    return any(getattr(each, "owner", None) == me for each in (waiting if isinstance(waiting, (list, tuple)) else [waiting]))


def _locks() -> dict[str, Any]:
    """The locks of modules that are being imported, as weak references, by name."""
    found: dict[str, Any] = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    return found


def _is_begun(module: object) -> bool:
    """Is it being imported?"""
    return bool(getattr(getattr(module, "__spec__", None), "_initializing", False))
