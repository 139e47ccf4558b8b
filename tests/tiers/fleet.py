"""Publishers and workers for the tests of shared tiers: in this process, with a cache directory of their own each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import samovar as sv
from samovar.runtime import current_options, library_for
from samovar.tiers import generate_key, read_trust, tier_at
from samovar.tiers.tier import Tier

PROGRAM = "fleet"


@sv.kernel
def scale(a: sv.types.NDArray):
    for i in a:
        a[i] += a[i] + 5


@sv.kernel
def total(a: sv.types.NDArray[sv.i32, 1]) -> sv.i32:
    found = 0
    for i in range(a.shape[0]):
        found += a[i]
    return found


def launch(*dtypes: Any) -> tuple[int, int]:
    """Launch the kernels, check their results, and return how many specializations were loaded and compiled."""
    before = [(each.cache_observations.loads, each.cache_observations.compiles) for each in (scale, total)]
    for dtype in dtypes or (sv.f32, sv.f64):
        a = sv.ndarray(dtype, 8)
        a.fill(2)
        scale(a)
        assert a[7] == 9.0
    b = sv.ndarray(sv.i32, 10)
    b.fill(4)
    assert total(b) == 40
    after = [(each.cache_observations.loads, each.cache_observations.compiles) for each in (scale, total)]
    loads, compiles = zip(*((n[0] - o[0], n[1] - o[1]) for o, n in zip(before, after, strict=True)), strict=True)
    return sum(loads), sum(compiles)


class Fleet:
    """A tier in a folder, with a publisher's key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = str(folder / "tier")
        self.key_file = str(folder / "key")
        self.key = generate_key(self.key_file)
        self._number = 0

    def fresh(self) -> str:
        """A new cache directory."""
        self._number += 1
        return str(self.folder / f"machine{self._number}")

    def be(self, address: str = "", **options: Any) -> None:
        """Make this process a machine with an empty cache directory, unless one is given."""
        given = {
            "cache_remote": address or self.address,
            "cache_program": PROGRAM,
            "offline_cache_file_path": options.pop("directory", None) or self.fresh(),
        }
        sv.init(**(given | options))

    def publish(self, *dtypes: Any, **options: Any) -> None:
        """Compile the kernels on a new machine, and publish them."""
        self.be(**({"cache_signing_key": self.key_file} | options))
        launch(*dtypes)
        tiers().finish()

    def work(self, *dtypes: Any, **options: Any) -> tuple[int, int]:
        """Launch the kernels on a new machine that trusts the publisher: how many were loaded and compiled."""
        self.be(**({"cache_trust": self.key} | options))
        done = launch(*dtypes)
        if tiers() is not None:
            tiers().finish()
        return done

    def tier(self, **options: Any) -> Tier:
        """The tier as a machine with these options sees it."""
        self.be(**({"cache_trust": self.key} | options))
        found = tier_at(self.address, PROGRAM, read_trust(current_options(), None, options.get("clock", now)), 5)
        found.refresh()
        return found

    def files(self, kind: str) -> list[Path]:
        """The files of the tier: its manifests or segments."""
        return sorted(path for path in Path(self.address).rglob(f"{kind}/*") if path.name != "index")


def now() -> float:
    from time import time

    return time()


def tiers() -> Any:
    """The tiers of the machine that this process is."""
    library = library_for(current_options())
    assert library is not None
    return library.tiers
