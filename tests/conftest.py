"""How every test of the suite runs: property tests by their profile; kernels are kept in a directory of the run, and never
found in one of an earlier run."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator

import pytest

from hypothesis_profiles import PROFILE, use_profile

use_profile()

# Before anything is compiled, and inherited by the processes that tests start.
_directory = tempfile.mkdtemp(prefix="samovar-tests-")
os.environ["SAMOVAR_OFFLINE_CACHE_FILE_PATH"] = _directory
atexit.register(shutil.rmtree, _directory, ignore_errors=True)

# An internal error that a kernel is compiled in spite of is still one.
os.environ["SAMOVAR_NO_FALLBACK"] = "1"

# Python goes by seconds and sizes when it decides whether a file changed: tests edit programs faster than that.
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
sys.dont_write_bytecode = True

# A shell starts what runs in the background with interrupts ignored, which is inherited; tests send them to their programs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Under the profile "stress", property tests are stress tests, and have the time that these have."""
    for item in items if PROFILE == "stress" else ():
        test = getattr(item, "function", None)
        if getattr(test, "is_hypothesis_test", False) or hasattr(getattr(item, "cls", None), "settings"):
            item.add_marker(pytest.mark.stress)
            item.add_marker(pytest.mark.timeout(3600))


def pytest_collection_finish() -> None:
    """The collected tests are millions of objects, which are left out of garbage collections: many tests collect."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _options_as_before() -> Iterator[None]:
    """Options that a test sets and leaves are not those of the next one, whichever that is on this worker."""
    from samovar.runtime import configuration

    before = vars(configuration.current_options())
    yield
    if vars(configuration.current_options()) != before:
        configuration.init(**before)
