"""How many examples a property test tries: by what one of them costs, and by the profile of the run.

`make test` runs the profile "quick", `make stress` the profile "stress": `SAMOVAR_TEST_PROFILE` says which. A test says
what its examples cost, and not how many there are; one that says nothing tries as many as if it were about plain values.

    @examples("compiled")
    @given(programs())
    def test_…
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings

PROFILE = os.environ.get("SAMOVAR_TEST_PROFILE", "quick")

#: By profile, how many examples of a cost: plain values; programs that are walked or interpreted; kernels that are compiled;
#: processes that are started.
COUNTS = {
    "quick": {"values": 100, "interpreted": 60, "compiled": 25, "processes": 6},
    "stress": {"values": 5000, "interpreted": 2000, "compiled": 2000, "processes": 100},
}


def examples(cost: str, **more: Any) -> settings:
    """The settings of a test whose examples cost so much. No deadlines: machines and sanitizers differ in speed."""
    return settings(max_examples=COUNTS[PROFILE][cost], deadline=None, **more)


def use_profile() -> None:
    """For the tests that say nothing."""
    settings.register_profile(PROFILE, max_examples=COUNTS[PROFILE]["values"], deadline=None)
    settings.load_profile(PROFILE)
