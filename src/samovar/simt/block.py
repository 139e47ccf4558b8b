"""`sv.simt.block`: see `sv.simt`."""

from samovar.language import GPU_FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["block"])

__all__ = [*_FUNCTIONS["block"]]


def __dir__() -> list[str]:
    return __all__
