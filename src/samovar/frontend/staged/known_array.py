"""Small NumPy arrays captured by a kernel, where all elements are used at once: `n - 1`, `static(n)`.

NumPy computes with them at compile time, and their elements are part of the trace. An element that is read at run time
is loaded from the array as usual.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable
from math import prod
from typing import TYPE_CHECKING, Any

from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.outside import Outside
from samovar.frontend.staged.static import Slice, Static
from samovar.lens import Kind, Ref

if TYPE_CHECKING:
    from samovar.frontend.operators import BinaryOperator, Comparison, UnaryOperator
    from samovar.frontend.staged.tensor import Tensor
    from samovar.frontend.stager import Stager

#: The size limit in bytes for arrays whose elements are compared before each launch (see `samovar.lens.deep_values`).
LARGEST_KNOWN = 512


def known_array(tensor: Tensor) -> KnownArray | None:
    """All elements of an array at compile time, if it is a small captured NumPy array and not an argument of a launch."""
    ref = tensor.ref
    if ref is None or tensor.inner or tensor.array.element is not None:
        return None
    if ref.is_argument() and ref.owner_declared_as() != "data_oriented":
        return None
    if not ref.is_instance("numpy.ndarray"):
        return None
    size = prod(ref.exact_extent(axis) for axis in range(tensor.ndim)) * tensor.array.dtype.itemsize
    return KnownArray(ref) if size <= LARGEST_KNOWN else None


class KnownArray(Staged):
    """An array with elements known at compile time."""

    __slots__ = ("ref",)

    advice = "read an element of it, or unpack it: `*a`"

    def __init__(self, ref: Ref) -> None:
        self.ref = ref

    def describe(self) -> str:
        return f"the array `{self.ref.spelled}`"

    def opened(self, stager: Stager, node: ast.AST, operator: str, *operands: Any) -> Staged:
        """The result of a Python operator on it."""
        return known(stager, stager.context.lens.operate(operator, *operands), node)

    # --- operators

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return self.computed(stager, operator.python.__name__, other, node, reflected=False)

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return self.computed(stager, operator.python.__name__, other, node, reflected=True)

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return self.computed(stager, comparison.python.__name__, other, node, reflected=False)

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return self.computed(stager, comparison.python.__name__, other, node, reflected=True)

    def computed(self, stager: Stager, operator: str, other: Staged, node: ast.AST, reflected: bool) -> Staged | None:
        """The result of NumPy for it and another known operand."""
        operand = other.known_array(stager) or other
        if operand.is_run_time() or not isinstance(operand, (Static, Items, KnownArray)):
            return None
        operands = (self.ref, operand.as_outside_argument(stager, node))
        return self.opened(stager, node, operator, *(reversed(operands) if reflected else operands))

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        return self.opened(stager, node, operator.python.__name__, self.ref)

    # --- parts

    def known_array(self, stager: Stager) -> Staged | None:
        return self

    def is_unrolled(self) -> bool:
        return True

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        items = stager.context.lens.operate("list", self.ref)
        return tuple(known(stager, items.item(position), node) for position in range(items.length()))

    def length(self, stager: Stager, node: ast.AST) -> Staged:
        return Static(self.ref.exact_extent(0))

    def subscript(self, stager: Stager, index: Staged, node: ast.Subscript) -> Staged:
        if index.is_run_time():
            return stager.open(self.ref, node).subscript(stager, index, node)
        if isinstance(index, Slice):
            rows = range(self.ref.exact_extent(0))[index.known(stager, node)]
            index = Items(tuple(map(Static, rows)), is_list=True)
        return self.opened(stager, node, "getitem", self.ref, index.as_outside_argument(stager, node))

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name == "shape":
            axes = range(self.ref.tensor().ndim)
            return Items(tuple(Static(self.ref.exact_extent(axis)) for axis in axes))
        return Outside(self.ref, Kind.TENSOR).attribute(stager, name, node)

    # --- in calls

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("known array", self.ref.path)

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        return self.ref


def known(stager: Stager, ref: Ref, node: ast.AST) -> Staged:
    """The result of NumPy: an array is known again, anything else is opened as usual."""
    return KnownArray(ref) if ref.kind() is Kind.TENSOR else stager.open(ref, node)
