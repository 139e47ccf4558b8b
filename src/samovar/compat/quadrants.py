"""The names of Quadrants: `import samovar.compat.quadrants as qd`."""

from samovar.compat import importing as _importing  # noqa: F401 - the modules inside are found by it
from samovar.compat.peers import PEERS as _PEERS
from samovar.compat.tree import fill as _fill

_fill(globals(), _PEERS["quadrants"])
