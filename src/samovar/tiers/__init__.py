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
    from samovar.tiers.addresses import without_secrets
    from samovar.tiers.figures import read_figures
    from samovar.tiers.publishing import collect_garbage, contents, entries_of, publish, sign_again, sorted_rows
    from samovar.tiers.selection import file_name_of, open_tiers, program_name
    from samovar.tiers.signing_keys import add_to_trust, generate_key, read_trust, shown_key, signer_of, trust_file
    from samovar.tiers.tier import Tier, programs_at, tier_at
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "addresses": "without_secrets",
            "figures": "read_figures",
            "signing_keys": "add_to_trust generate_key read_trust shown_key signer_of trust_file",
            "selection": "file_name_of open_tiers program_name",
            "publishing": "collect_garbage contents entries_of publish sign_again sorted_rows",
            "tier": "Tier programs_at tier_at",
        },
    )
