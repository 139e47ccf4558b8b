"""The type rules under the name that the frontend knows them by: values in plain Python follow the same ones."""

from samovar.language import (
    DTYPES,
    FLOATS,
    INTEGERS,
    holding,
    integer_type,
    is_float,
    is_integer,
    loop_type,
    loses,
    promote,
)

__all__ = [
    "DTYPES", "FLOATS", "INTEGERS", "holding", "integer_type", "is_float", "is_integer", "loop_type", "loses", "promote",
]  # fmt: skip
