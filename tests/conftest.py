"""How every test of the suite runs: property tests have no deadline, since machines and sanitizers differ in speed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("samovar", deadline=None)
settings.load_profile("samovar")
