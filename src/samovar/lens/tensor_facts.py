"""The facts that code depends on in an array, and stand-ins for arrays."""

from __future__ import annotations

from samovar.lens.answers import same_answer, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import DType


class TensorFacts:
    """The facts that code depends on in an array: the answer to the question `tensor`, by name.

    The fields are in the order of the answer and of the operands of the native guard (`_native/guards/tensor_facts.h`).
    `wide`: a dimension has 2^31 elements or more. `baked`: it is a field, whose layout is a separate question. `of_vectors`,
    `of_matrices`: the last dimension, or the last two, belong to the elements; they count as dimensions here. `is_view`: it
    is a part of an array. `soa`: vectors or matrices are stored component by component (SoA), otherwise in C order.
    `permuted`: the dimensions are stored in another order, which the question `layout` returns. Whether an array is writable
    and what its extents are, are separate questions: most code does not depend on them.
    """

    FIELDS = (
        "dtype", "ndim", "contiguous", "wide", "needs_grad", "baked", "of_vectors", "of_matrices", "is_view", "soa",
        "permuted",
    )  # fmt: skip
    __slots__ = FIELDS

    def __init__(
        self,
        dtype: DType,
        ndim: int,
        contiguous: bool = True,
        wide: bool = False,
        needs_grad: bool = False,
        baked: bool = False,
        of_vectors: bool = False,
        of_matrices: bool = False,
        is_view: bool = False,
        soa: bool = False,
        permuted: bool = False,
    ) -> None:
        self.dtype = dtype
        self.ndim = ndim
        self.contiguous = contiguous
        self.wide = wide
        self.needs_grad = needs_grad
        self.baked = baked
        self.of_vectors = of_vectors
        self.of_matrices = of_matrices
        self.is_view = is_view
        self.soa = soa
        self.permuted = permuted

    @property
    def inner(self) -> int:
        """How many trailing dimensions belong to the elements."""
        return 1 if self.of_vectors else 2 if self.of_matrices else 0

    def answer(self) -> tuple[Any, ...]:
        """Return the fields in order."""
        return tuple(getattr(self, name) for name in self.FIELDS)

    def changes(self, new: TensorFacts) -> str:
        """Describe how other facts differ from these."""
        pairs = [(name, getattr(self, name), getattr(new, name)) for name in self.FIELDS]
        return " and ".join(
            f"{name} changed from {shown(before)} to {shown(after)}"
            for name, before, after in pairs
            if not same_answer(before, after)
        )


class RememberedArray:
    """A stand-in for an array: its facts and the shape of its elements, without memory; `grad` stands for its gradient."""

    __slots__ = ("element", "facts", "grad")

    def __init__(self, facts: TensorFacts, element: tuple[int, ...] = ()) -> None:
        self.facts = facts
        self.element = element
        self.grad: RememberedArray | None = None
        if facts.needs_grad:
            alike = TensorFacts(facts.dtype, facts.ndim, facts.contiguous, facts.wide, baked=facts.baked, soa=facts.soa)
            alike.permuted = facts.permuted
            self.grad = RememberedArray(alike, element)


#: The question for the extent of a dimension. The answer is UNKNOWN_EXTENT if code is not specialized on it.
EXTENT_QUESTIONS = tuple(f"extent {axis}" for axis in range(16))
UNKNOWN_EXTENT = 0
#: The question for an extent that the program fixes, such as that of a vector: the answer is always the extent.
EXACT_EXTENT_QUESTIONS = tuple(f"exact extent {axis}" for axis in range(16))
