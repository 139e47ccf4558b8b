"""Argument packs: objects with annotated members that kernels take as one argument. They are dataclasses, whose numbers are
read at each launch."""

from __future__ import annotations

from dataclasses import make_dataclass

from samovar.values import MatrixType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class ArgPack:
    """The base class of all argument packs."""

    def __setattr__(self, name: str, value: Any) -> None:
        declared = type(self).__annotations__.get(name)
        if declared is None:
            raise AttributeError(f"this argument pack has no member {name!r}")
        object.__setattr__(self, name, declared(value) if isinstance(declared, MatrixType) else value)


def argpack(**members: Any) -> type:
    """A class of argument packs: `argpack(scale=ti.f32, values=ti.types.ndarray())`."""
    return make_dataclass("ArgPack", list(members.items()), bases=(ArgPack,), eq=False)
