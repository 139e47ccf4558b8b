"""Queries for language features that not every architecture has."""

from __future__ import annotations

import enum


class extension(enum.Enum):
    """A language feature that not every architecture has. `sv.extension.is_supported` tests for one.

    >>> import samovar as sv
    >>> sv.extension.is_supported(sv.extension.sparse), sv.extension.is_supported(sv.cpu, sv.extension.mesh)
    (True, False)
    """

    adstack = "adstack"
    assertion = "assertion"
    bls = "bls"
    data64 = "data64"
    extfunc = "extfunc"
    mesh = "mesh"
    quant = "quant"
    quant_basic = "quant_basic"
    sparse = "sparse"

    @staticmethod
    def is_supported(*of: object) -> bool:
        """Whether a feature is supported. An architecture may be given first."""
        return of[-1] in (extension.assertion, extension.data64, extension.sparse)


def is_extension_enabled(ext: extension) -> bool:
    """The same as `sv.extension.is_supported(part)`.

    >>> import samovar as sv
    >>> sv.is_extension_enabled(sv.extension.data64)
    True
    """
    return extension.is_supported(ext)
