"""Imports that other threads are in the middle of when a process forks: in the child they would never end.

Each module has a lock of its own while it is imported, which a child inherits with nobody to release it. Python takes care
of the lock of all imports together only.
"""

from __future__ import annotations

import sys
from _thread import get_ident


def forget_imports_of_others() -> None:
    """In a child, which has one thread: forget the imports of the others, so that each begins anew when it is asked for."""
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    for name, reference in list(locks.items()):
        owner = getattr(reference(), "owner", None)
        if owner in (None, get_ident()):
            continue
        locks.pop(name, None)
        if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
            del sys.modules[name]
