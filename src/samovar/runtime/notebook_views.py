"""How notebooks show arrays, fields and kernels: as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from samovar.errors import shown_place

if TYPE_CHECKING:
    from samovar._native import Ndarray, Tensor
    from samovar.runtime.kernel import Kernel

#: A longer dimension shows EDGE positions at each end.
MOST, EDGE = 12, 5
_ELLIPSIS = "…"


def array_html(array: Tensor, elements: Ndarray) -> str:
    """An array or a field, given its elements as numbers in C order: a table; with more than two dimensions, its repr."""
    if elements.ndim > 2:
        return f"<pre>{escape(repr(array))}</pre>"
    rows, columns = (1, 1, *elements.shape)[-2:]
    cells = [
        [
            _ELLIPSIS if row is None or column is None else _number(elements[(row, column)[2 - elements.ndim :] or None])
            for column in _shown(columns)
        ]
        for row in _shown(rows)
    ]
    kind = repr(array).partition("(")[0]
    each = f" of {array.element_shape}" if array.element_shape else ""
    return f"<code>{kind}, {array.dtype.name}{escape(each)}, shape {array.shape}</code>{_table(cells)}"


def kernel_html(kernel: Kernel) -> str:
    """A kernel: its signature, where it is defined, the first line of its docstring, and what was compiled."""
    code = kernel.__wrapped__.__code__
    count = len(kernel.specializations)
    summary = (kernel.__doc__ or "").strip().partition("\n")[0]
    facts = [
        ("defined at", shown_place(code.co_filename, code.co_firstlineno)),
        ("specializations", str(count) if count else "none yet: compiled at the first launch"),
    ]
    head = f"<code>kernel {escape(kernel.__name__)}{escape(str(kernel.__signature__))}</code>"
    return f"{head}<br>{escape(summary)}{_table([[escape(part) for part in fact] for fact in facts])}"


def _shown(extent: int) -> list[int | None]:
    """The positions of a dimension; None stands for those left out."""
    return [*range(extent)] if extent <= MOST else [*range(EDGE), None, *range(extent - EDGE, extent)]


def _number(value: Any) -> str:
    return f"{value:.8g}" if isinstance(value, float) else str(value)


def _table(rows: list[list[str]]) -> str:
    lines = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
