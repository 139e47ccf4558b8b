"""Operations that this machine lacks: an error, unless dead-code elimination has removed them."""

from __future__ import annotations

from samovar.errors import SamovarError
from samovar.ir import Kernel, walk_kernel


def refuse_unavailable(kernel: Kernel) -> None:
    """Raise the error of the first operation that is not available and may run."""
    for operation in walk_kernel(kernel):
        if operation.code == "unavailable":
            assert isinstance(operation.payload, SamovarError)
            raise operation.payload
