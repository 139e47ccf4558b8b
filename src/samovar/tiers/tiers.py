"""The tiers of a process: launches read through them, and new kernels are written behind.

All launches together wait for tiers as long as the option `cache_remote_timeout` says. A tier that fails or does not answer
is not asked again by this process: a warning says so once, and kernels are compiled here.
"""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from samovar.tiers.background import Background, Job
from samovar.tiers.figures import write_figures
from samovar.tiers.signing_keys import EXPIRED, REVOKED, UNKNOWN_KEY, UNSIGNED
from samovar.tiers.tier import Tier, tier_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from samovar.cache import Library, Store, StoredLeaf
    from samovar.tiers.signing_keys import Signer, Trust

#: How many bytes of a program are read ahead.
_READ_AHEAD = 16 << 20
#: How often kernels that arrive make a process look for new manifests.
_EXPECTED_SECONDS = 1.0
_ADVICE = {
    UNSIGNED: "samovar cache push signs what it publishes",
    UNKNOWN_KEY: "if you trust the publisher, add the key: samovar cache trust KEY",
    REVOKED: "publish again with another key: samovar cache sign",
    EXPIRED: "publish again: samovar cache sign",
}


class Tiers:
    """The tiers of a process, in the order in which they are asked."""

    def __init__(
        self,
        addresses: Iterable[str],
        program: str,
        trust: Trust,
        signer: Signer | None,
        seconds: float,
        say: Callable[[str], None],
    ) -> None:
        self.program = program
        self.publishes = signer is not None
        self._addresses = tuple(addresses)
        self._trust = trust
        self._signer = signer
        self._seconds = seconds
        self._say = say
        self._left = seconds
        #: What was compiled here and is not published yet: library, tree, leaf.
        self._offered: list[tuple[Library, str, str]] = []
        self.renew()

    def renew(self) -> None:
        """Begin anew: in a forked child there are no threads, and connections belong to the parent."""
        self.tiers = [tier_at(address, self.program, self._trust, self._seconds) for address in self._addresses]
        self._reader = Background("samovar tiers")
        self._writer = Background("samovar publisher", self._publish)
        self._offered = []
        self._warned: set[str] = set()
        #: The first requests, which began before a launch needed them.
        self._begun: dict[Tier, Job] = {}

    def prepare(self) -> None:
        """Begin to read what the tiers have for the program."""
        for tier in self.tiers:
            self._begun[tier] = self._reader.submit(tier.refresh)

    # --- reading

    def leaves(self, tree: str, known: Iterable[str], *, is_other_target: bool = False) -> list[StoredLeaf]:
        """Return the valid leaves of a tree, except known ones, from the first tier that has any. A miss for another target
        than that of the process is not counted."""
        for tier in self.tiers:
            if tier.failure:
                continue
            if not tier.is_current() and not tier.rows(tree, known):
                self._wait(tier, tier.refresh, self._begun.pop(tier, None))
            found = self._read(tier, tree, known)
            if tier.is_outdated and not found and not tier.failure:
                self._wait(tier, tier.refresh)
                found = self._read(tier, tree, known)
            self._tell(tier)
            if found:
                tier.figures.hits += 1
                return list(found.values())
            tier.figures.misses += not is_other_target
        return []

    def _read(self, tier: Tier, tree: str, known: Iterable[str]) -> dict[str, StoredLeaf]:
        """Return the valid leaves that the known manifests of a tier list for a tree."""
        rows = tier.rows(tree, known)
        if rows and tier.lacks(rows):
            self._wait(tier, partial(tier.fetch, rows))
            self._reader.submit(partial(self._read_ahead, tier, 0))
        return {leaf.key: leaf for leaf in map(tier.leaf, rows) if leaf is not None}

    def _read_ahead(self, tier: Tier, size: int) -> None:
        """Read another segment, then let launches ask for theirs before the next one."""
        for row in tier.all_rows():
            if tier.lacks([row]) and size < _READ_AHEAD:
                tier.fetch([row])
                self._reader.submit(partial(self._read_ahead, tier, size + max(tier.size_of(row.segment), 1)))
                return

    def _wait(self, tier: Tier, run: Callable[[], object], begun_job: Job | None = None) -> None:
        """Wait for something that a tier does, which may have begun, as long as there is time left."""
        begun = perf_counter()
        job = begun_job or self._reader.submit(run)
        done = job.wait(self._left)
        waited = perf_counter() - begun
        self._left -= waited
        tier.figures.waited += waited
        if not done:
            self._fail(tier, f"launches have waited {self._seconds} s for it")
        elif job.failure is not None:
            self._fail(tier, f"{type(job.failure).__name__}: {job.failure}")

    def _fail(self, tier: Tier, reason: str) -> None:
        tier.failure = reason
        self._say(
            f"the cache tier {tier.address} is not used any more in this process: {reason}\n"
            "  help: kernels that this machine does not have are compiled here"
        )

    def _tell(self, tier: Tier) -> None:
        """Report once for each reason that entries are not used."""
        for reason in tier.figures.reasons:
            about = f"{tier.address} {reason}"
            if about not in self._warned:
                self._warned.add(about)
                advice = _ADVICE.get(reason, "samovar cache gc removes entries that cannot be used")
                self._say(f"entries of the cache tier {tier.address} are ignored: {reason}\n  help: {advice}")

    def expect(self, trees: Sequence[str]) -> None:
        """Read the entries of some trees in the background, because their kernels have just arrived."""
        for tier in self.tiers:
            if not tier.failure:
                self._reader.submit(partial(_expect, tier, trees))

    def warm(self) -> None:
        """Read what the tiers have for the program, for as long as launches may wait."""
        for tier in self.tiers:
            self._wait(tier, tier.refresh, self._begun.pop(tier, None))
            if not tier.failure:
                self._wait(tier, partial(self._read_ahead, tier, 0))

    # --- writing

    def offer(self, library: Library, tree: str, leaf: str) -> None:
        """Publish a new leaf soon, if this process is a publisher."""
        if self._signer is not None:
            self._offered.append((library, tree, leaf))
            self._writer.rouse()

    def _publish(self) -> None:
        from samovar.tiers.publishing import publish_offered

        assert self._signer is not None
        offered, self._offered = self._offered, []
        for tier in self.tiers:
            # Not the object that the other thread reads with.
            writing = tier_at(tier.url, self.program, self._trust, self._seconds)
            try:
                publish_offered(writing, offered, self._signer)
            except Exception as error:  # whatever a file system raises
                self._say(
                    f"new kernels are not published to {tier.address}: {error}\n"
                    "  help: they are in the local cache: samovar cache push publishes them later"
                )
            tier.figures.sent += writing.figures.sent

    def write_later(self, run: Callable[[], object]) -> None:
        """Write something into the local directory, not on the path of a launch."""
        self._writer.submit(run)

    def finish(self) -> None:
        """Wait for what is being written, and publish what is left, for at most as long as launches may wait."""
        if self._writer.is_used():
            self._writer.submit(lambda: None).wait(self._seconds)
        if self._offered and not self._writer.submit(self._publish).wait(self._seconds):
            self._say(
                f"new kernels were not published within {self._seconds} s\n  help: samovar cache push publishes them later"
            )

    def write_figures(self, store: Store) -> None:
        """Add what was counted to the figures in the local directory."""
        for tier in self.tiers:
            write_figures(store, tier.address, tier.figures)


def _expect(tier: Tier, trees: Sequence[str]) -> None:
    """Read the entries of some trees. If one is not listed, its publisher may have been faster than our last look."""
    if any(not tier.rows(tree) for tree in trees) and not tier.is_current(_EXPECTED_SECONDS):
        tier.refresh()
    tier.fetch([row for tree in trees for row in tier.rows(tree)])
