"""The operations of the IR: the rows of `samovar.language.operations`, and the atomic operations."""

from __future__ import annotations

from samovar.language import OPERATIONS

#: Name → row: operands, type rule, effect, payload, meaning.
OPCODES = OPERATIONS

#: The operations on cells of sparse fields.
CELL_OPERATIONS = frozenset(
    ("cell_active", "activate", "deactivate", "list_cells", "listed", "list_length", "list_append")
)

#: The operations of `atomic` and `update`; "cas" has two values (expected, new). The last row is for augmented assignments.
ATOMIC_OPERATIONS = (
    *("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "cas"),
    *("div", "floordiv", "mod", "pow", "shl", "shr"),
)
