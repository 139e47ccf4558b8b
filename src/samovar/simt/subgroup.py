"""`sv.simt.subgroup`: see `sv.simt`."""

from samovar.language import GPU_FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["subgroup"])

__all__ = [*_FUNCTIONS["subgroup"]]


def __dir__() -> list[str]:
    return __all__
