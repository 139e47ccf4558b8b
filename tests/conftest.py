"""How every test of the suite runs: property tests have no deadline, since machines and sanitizers differ in speed;
kernels are kept in a directory of the run, and never found in one of an earlier run."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile

from hypothesis import settings

settings.register_profile("samovar", deadline=None)
settings.load_profile("samovar")

# Before anything is compiled, and inherited by the processes that tests start.
_directory = tempfile.mkdtemp(prefix="samovar-tests-")
os.environ["SAMOVAR_OFFLINE_CACHE_FILE_PATH"] = _directory
atexit.register(shutil.rmtree, _directory, ignore_errors=True)

# Python goes by seconds and sizes when it decides whether a file changed: tests edit programs faster than that.
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.dont_write_bytecode = True
