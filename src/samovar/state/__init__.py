"""The state of a program in a file: `sv.save` and `sv.load`."""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.state.loading import load
    from samovar.state.saving import save
else:
    __getattr__, __dir__ = _lazy_exports(globals(), {"loading": "load", "saving": "save"})
