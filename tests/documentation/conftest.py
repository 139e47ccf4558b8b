"""The programs that make the documentation, for tests to look at."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools" / "documentation"))
