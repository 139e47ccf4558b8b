"""Addresses of tiers, as they may be shown."""

from __future__ import annotations


def without_secrets(address: str) -> str:
    """An address as it may be shown: without a password, and without the values of a query."""
    protocol, separator, rest = address.partition("://")
    if not separator:
        return address
    rest, question, _ = rest.partition("?")
    place, slash, path = rest.partition("/")
    user, at, host = place.rpartition("@")
    shown = f"{user.partition(':')[0]}:***@{host}" if ":" in user else user + at + host
    return protocol + separator + shown + slash + path + question + ("***" if question else "")
