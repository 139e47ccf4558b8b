"""The operations as the IR knows them: the rows of `samovar.language.operations`, and what atomics can do."""

from __future__ import annotations

from samovar.language import OPERATIONS

#: Name → row: operands, rule of types, effect, payload, meaning.
OPCODES = OPERATIONS

#: What `atomic` and `update` can do; "cas" has two values (expected, new). The last row is for augmented assignments.
ATOMIC_OPERATIONS = (
    *("add", "sub", "mul", "min", "max", "and", "or", "xor", "exchange", "cas"),
    *("div", "floordiv", "mod", "pow", "shl", "shr"),
)
