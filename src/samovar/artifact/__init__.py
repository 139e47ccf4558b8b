"""The parts of a compiled kernel: the record that is cached, the sites that can print or fail at run time, and its warnings.

Compiler, cache and runtime share it; a process that compiles nothing reads it as well.
"""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.artifact.graph import Node, as_dot, as_text
    from samovar.artifact.notices import Notice, give, give_again
    from samovar.artifact.record import UNIT, UNLINKED, Artifact, Fill, Guards
    from samovar.artifact.sites import PRINTF, Frame, Hole, Site
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "graph": "Node as_dot as_text",
            "notices": "Notice give give_again",
            "record": "UNIT UNLINKED Artifact Fill Guards",
            "sites": "Frame Hole PRINTF Site",
        },
    )
