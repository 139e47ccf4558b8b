"""The digest of a level whose pieces are digests.

BLAKE2b with 160 bits. Its personalization separates the four hashed domains, so that no state can be mistaken for another's
pieces:

    terminal level         leaf(tag, payload)
    state of other levels  state(tag, payload)
    ordered pieces         ordered(state digest, piece digests in order)
    unordered pieces       unordered(state digest, piece digests sorted)

A tag is preceded by its length; digests have a fixed width. `_native/fingerprint/fingerprint_digest.c` computes the same.
"""

from __future__ import annotations

import hashlib

from samovar.fingerprint.deconstruction import Deconstruction, EmptyDeconstruction, OrderInsensitiveDeconstruction
from samovar.fingerprint.vocabulary import DIGEST_SIZE, DOMAIN_LEAF, DOMAIN_ORDERED, DOMAIN_STATE, DOMAIN_UNORDERED

__all__ = ["digest_level", "digest_state"]


def digest_level(level: Deconstruction) -> bytes:
    """Return the digest of a level whose pieces are digests."""
    if isinstance(level, EmptyDeconstruction):
        return _digest_tagged(DOMAIN_LEAF, level)
    domain = DOMAIN_UNORDERED if isinstance(level, OrderInsensitiveDeconstruction) else DOMAIN_ORDERED
    return hashlib.blake2b(
        digest_state(level) + b"".join(level.pieces), digest_size=DIGEST_SIZE, person=domain
    ).digest()


def digest_state(level: Deconstruction) -> bytes:
    """Return the digest of the tag and the payload alone."""
    return _digest_tagged(DOMAIN_STATE, level)


def _digest_tagged(domain: bytes, level: Deconstruction) -> bytes:
    tag = level.tag.encode()
    if len(tag) > 255:
        raise ValueError(f"the tag of a deconstruction is limited to 255 bytes, but has {len(tag)}")
    digest = hashlib.blake2b(bytes([len(tag)]) + tag, digest_size=DIGEST_SIZE, person=domain)
    payload = level.payload
    if isinstance(payload, memoryview) and not payload.c_contiguous:
        payload = payload.tobytes()
    digest.update(payload)
    return digest.digest()
