"""The names of Taichi: `import samovar.compat.taichi as ti`."""

from samovar.compat import importing as _importing  # noqa: F401 - the modules inside are found by it
from samovar.compat.module_tables import fill as _fill
from samovar.compat.peers import PEERS as _PEERS

_fill(globals(), _PEERS["taichi"])
