"""What compiled code depends on in this installation beside the package itself: llvmlite, found without importing it.

A compile worker may be started long after the package was imported. If files were replaced meanwhile, it would be another
compiler than the one that keys name: both sides compare their `identity`.
"""

from __future__ import annotations

import os
import sys

import samovar

#: What a worker runs of ours, as parts of paths.
_RUN_BY_WORKERS = (
    ("installation.py",),
    ("compiler", "channel.py"),
    ("compiler", "worker.py"),
    ("backends", "llvm", "forms.py"),
    ("backends", "llvm", "generate.py"),
)

_llvmlite: list[tuple[str, bytes] | None] = []


def package_directory() -> str:
    """Where the package is."""
    return os.path.dirname(os.path.abspath(samovar.__file__))


def llvmlite() -> tuple[str, bytes] | None:
    """The directory in which llvmlite is found and the text of its version; None if it is not in a directory. Looked for
    once: the salt and the workers have to mean the same.
    """
    if not _llvmlite:
        _llvmlite.append(_find())
    return _llvmlite[0]


def _find() -> tuple[str, bytes] | None:
    for directory in sys.path:
        try:
            with open(os.path.join(directory, "llvmlite", "_version.py"), "rb") as file:
                return os.path.abspath(directory), file.read()
        except OSError:
            continue
    return None


def identity() -> tuple[object, ...]:
    """What makes a compile worker this one and no other."""
    package, found = package_directory(), llvmlite()
    states = [os.stat(os.path.join(package, *parts)) for parts in _RUN_BY_WORKERS]
    files = tuple((state.st_size, state.st_mtime_ns) for state in states)
    return samovar.__version__, None if found is None else found[1], files
