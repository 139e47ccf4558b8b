"""What code depends on in an array, as data, and what stands for an array that is gone."""

from __future__ import annotations

from samovar.lens.answers import same_answer, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar._native import DType


class TensorFacts:
    """What code depends on in an array: the answer to the question `tensor`, by name.

    The order of the fields is that of the answer, and of the operands of the native guard (`_native/tensor_facts.h`).
    `wide`: some axis has 2^31 elements or more. `baked`: it is a field, whose layout is a question of its own.
    `of_vectors`, `of_matrices`: the last axis, or the last two, belong to the elements; they count as axes here.
    `is_view`: it is a part of an array. `apart`: vectors or matrices lie entry by entry, in C order otherwise. `turned`: the
    axes lie in another order, which is what the question about layouts tells. Whether an array may be written, and what its
    extents are, are questions too: most code does not depend on them.
    """

    FIELDS = (
        "dtype", "ndim", "contiguous", "wide", "needs_grad", "baked", "of_vectors", "of_matrices", "is_view", "apart",
        "turned",
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
        apart: bool = False,
        turned: bool = False,
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
        self.apart = apart
        self.turned = turned

    @property
    def inner(self) -> int:
        """How many axes at the end belong to the elements."""
        return 1 if self.of_vectors else 2 if self.of_matrices else 0

    def answer(self) -> tuple[Any, ...]:
        """The fields in their order."""
        return tuple(getattr(self, name) for name in self.FIELDS)

    def changes(self, new: TensorFacts) -> str:
        """What is different in other facts, in a sentence."""
        pairs = [(name, getattr(self, name), getattr(new, name)) for name in self.FIELDS]
        return " and ".join(
            f"{name} {shown(before)} → {shown(after)}" for name, before, after in pairs if not same_answer(before, after)
        )


class RememberedArray:
    """The facts of an array without its memory, and the shape of its elements; `grad` stands for the array's gradient."""

    __slots__ = ("element", "facts", "grad")

    def __init__(self, facts: TensorFacts, element: tuple[int, ...] = ()) -> None:
        self.facts = facts
        self.element = element
        self.grad: RememberedArray | None = None
        if facts.needs_grad:
            alike = TensorFacts(facts.dtype, facts.ndim, facts.contiguous, facts.wide, baked=facts.baked, apart=facts.apart)
            alike.turned = facts.turned
            self.grad = RememberedArray(alike, element)


#: The question for the length of an axis. The answer is UNKNOWN_EXTENT for a length that code is not made for.
EXTENT_QUESTIONS = tuple(f"extent {axis}" for axis in range(16))
UNKNOWN_EXTENT = 0
#: The question for a length that the program says, as that of an axis of a vector: the answer is the length, whatever it is.
EXACT_EXTENT_QUESTIONS = tuple(f"exact extent {axis}" for axis in range(16))
