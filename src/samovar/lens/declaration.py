"""What the decorators leave behind: a function with its resolved signature.

It is here, below the lens and the runtime, because the lens recognises what the runtime makes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.language import KernelSignature


class Declaration:
    """A function that kernels may call: the base of what `@sv.func` makes."""

    __slots__ = ("__wrapped__", "signature")

    __wrapped__: Any
    signature: KernelSignature
