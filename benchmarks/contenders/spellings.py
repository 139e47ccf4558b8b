"""What Taichi and Quadrants call otherwise than the examples do: `with_names(module)` is one of them under Samovar's names.

This makes nothing faster or slower: every name is the library's own function.
"""

from types import ModuleType
from typing import Any


class Renamed(ModuleType):
    """A module that replaces a few names of another library and passes on all others."""

    def __init__(self, peer: Any, **names: Any) -> None:
        super().__init__(peer.__name__)
        self.__dict__.update(names, _peer=peer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._peer, name)


def with_names(peer: Any) -> ModuleType:
    class NDArray:
        def __class_getitem__(cls, parts: tuple[Any, int]) -> Any:
            return peer.types.ndarray(dtype=parts[0], ndim=parts[1])

    def solve(apply: Any, b: Any, x: Any, tol: float, maxiter: int) -> None:
        peer.linalg.MatrixFreeCG(peer.linalg.LinearOperator(apply), b, x, tol, maxiter, True)

    types, linalg = Renamed(peer.types, NDArray=NDArray), Renamed(peer.linalg, CG=solve)
    return Renamed(peer, types=types, linalg=linalg, Template=peer.template())
