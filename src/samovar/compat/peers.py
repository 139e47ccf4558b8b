"""The supported libraries, and how they differ: in names only."""

from __future__ import annotations

from typing import NamedTuple


class Peer(NamedTuple):
    """A library whose names programs use."""

    #: The package that programs import.
    package: str
    #: The prefix of its errors and of a few functions.
    title: str
    #: The prefix of its environment variables.
    variables: str
    #: The version whose names Samovar provides.
    version: tuple[int, int, int]


PEERS = {
    peer.package: peer
    for peer in (
        Peer("quadrants", "Quadrants", "QD_", (1, 3, 3)),
        Peer("taichi", "Taichi", "TI_", (1, 7, 4)),
    )
}
