"""Staging: walks a function's AST with compile-time values and run-time IR values, and gives a typed IR kernel.

User objects are seen only through `samovar.lens`: nothing in this room holds one.
"""

from samovar.frontend.lowering import Lowered, lower

__all__ = ["Lowered", "lower"]
