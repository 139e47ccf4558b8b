"""`sv.simt.warp`: see `sv.simt`."""

from samovar.language import GPU_FUNCTIONS as _FUNCTIONS

globals().update(_FUNCTIONS["warp"])

__all__ = [*_FUNCTIONS["warp"]]


def __dir__() -> list[str]:
    return __all__
