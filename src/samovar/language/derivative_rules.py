"""Derivative rules of library functions that iterate: derivatives through iterations are slow, and wrong if one is skipped.

Such a function returns `surrogate(result, formula)`. The formula is a linear function of the arguments that depends on
`detach(result)` and has the right derivative; its value does not matter. It is compiled where `uses_surrogates()`.
"""

from __future__ import annotations

from samovar.language.functions import REGISTRY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    _Function = TypeVar("_Function", bound=Callable[..., Any])


def _root(function: _Function) -> _Function:
    REGISTRY[f"samovar.{function.__name__}"] = function
    return function


@_root
def uses_surrogates(is_straight: bool = True) -> bool:
    """Whether the kernel is differentiated by formulas. Second derivatives are, if these are straight: without loops. False
    outside kernels."""
    return False


@_root
def detach(x: Any) -> Any:
    """A float, vector or matrix without its derivative."""
    return x


@_root
def surrogate(value: Any, formula: Any) -> Any:
    """The value of a float, vector or matrix with the derivative of another one."""
    return value
