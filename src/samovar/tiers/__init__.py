"""Shared cache tiers: stores of signed cache entries that many machines read, behind the directory of each machine.

A tier is addressed by a URL. What it has for a program is listed in a *manifest*, a file that is published whole and never
changed; the entries are in *segments*, which are compressed. An entry is one leaf of a decision tree with its artifact. It
is used if it has a valid signature by a trusted key, and then merged into the tree in the local directory. A process
without `cache_remote` imports nothing of this package.
"""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.tiers.figures import TierFigures, read_figures
    from samovar.tiers.keys import KeyProblem, Trust, generate_key, read_trust, signer_of, trust_file
    from samovar.tiers.opening import open_tiers, program_name
    from samovar.tiers.publishing import Published, collect_garbage, publish, sign_again
    from samovar.tiers.tier import Tier, tier_at
    from samovar.tiers.tiers import Tiers
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "figures": "TierFigures read_figures",
            "keys": "KeyProblem Trust generate_key read_trust signer_of trust_file",
            "opening": "open_tiers program_name",
            "publishing": "Published collect_garbage publish sign_again",
            "tier": "Tier tier_at",
            "tiers": "Tiers",
        },
    )
