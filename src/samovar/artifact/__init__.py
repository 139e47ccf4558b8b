"""What a compiled kernel is made of: the record that is kept, the sites that speak at run time, and the warnings about it.

Compiler, cache and runtime share it; a process that compiles nothing reads it as well.
"""

from __future__ import annotations

from samovar import _door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.artifact.graph import Node, as_dot, as_text
    from samovar.artifact.notices import Notice, give, give_again
    from samovar.artifact.record import UNIT, UNLINKED, Artifact, Fill, Guards
    from samovar.artifact.sites import Frame, Hole, Site
else:
    __getattr__, __dir__ = _door(
        globals(),
        {
            "graph": "Node as_dot as_text",
            "notices": "Notice give give_again",
            "record": "UNIT UNLINKED Artifact Fill Guards",
            "sites": "Frame Hole Site",
        },
    )
