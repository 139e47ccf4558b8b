"""Staging: evaluates a function's AST with compile-time values and run-time IR values, and returns a typed IR kernel.

User objects are seen only through `samovar.lens`: nothing in this package holds one.
"""

from samovar.frontend.lowering import Lowered, lower

__all__ = ["Lowered", "lower"]
