"""The libraries whose programs run here, and what differs between them: names alone."""

from __future__ import annotations

from typing import NamedTuple


class Peer(NamedTuple):
    """A library whose names programs use."""

    #: What programs import.
    package: str
    #: What its errors and a few functions are called after.
    title: str
    #: What the names of its environment variables begin with.
    variables: str
    #: The version whose names are offered.
    version: tuple[int, int, int]


PEERS = {
    peer.package: peer
    for peer in (
        Peer("quadrants", "Quadrants", "QD_", (1, 3, 3)),
        Peer("taichi", "Taichi", "TI_", (1, 7, 4)),
    )
}
