"""`sv.simt.grid`: see `sv.simt`."""

from samovar.language import GPU_FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["grid"])

__all__ = [*_FUNCTIONS["grid"]]


def __dir__() -> list[str]:
    return __all__
