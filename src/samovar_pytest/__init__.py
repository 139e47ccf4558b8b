"""A plugin of pytest: where coverage.py measures the tests, the lines of kernels count too.

It is found by pytest where Samovar is installed, and does not import it. `SAMOVAR_KERNEL_COVERAGE=0` switches it off, and so
does `QD_KERNEL_COVERAGE=0`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator

import pytest

_VARIABLES = ("SAMOVAR_KERNEL_COVERAGE", "QD_KERNEL_COVERAGE")


def pytest_configure(config: pytest.Config) -> None:
    """Have kernels note their lines, unless somebody has decided against it."""
    if "0" not in map(os.environ.get, _VARIABLES) and _is_measured(config):
        os.environ.setdefault(_VARIABLES[0], "1")


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop() -> Generator[None, object, object]:
    """Hand the lines over before pytest-cov, which is around it, reports."""
    try:
        return (yield)
    finally:
        collected = sys.modules.get("samovar.runtime.kernel_coverage")
        if collected is not None:
            collected.save()


def _is_measured(config: pytest.Config) -> bool:
    """Does coverage.py measure the process: by pytest-cov, or because it runs pytest?"""
    if config.pluginmanager.hasplugin("_cov"):
        return True
    coverage = sys.modules.get("coverage")
    return coverage is not None and coverage.Coverage.current() is not None
