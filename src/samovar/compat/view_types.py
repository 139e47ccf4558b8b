"""`types.BufferViewType`: calling it creates the annotation of a view, and such annotations are its instances."""

from __future__ import annotations

from typing import Any

import samovar
from samovar.language import ViewAnnotation


class _OfViews(type):
    def __call__(cls, dtype: Any = None, boundary: str = "unsafe") -> ViewAnnotation:
        made: ViewAnnotation = samovar.types.buffer_view(dtype, boundary)
        return made

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, ViewAnnotation)


class BufferViewType(metaclass=_OfViews):
    """The annotation of a parameter that takes a part of an array, the same as `BufferView[dtype, boundary]`."""
