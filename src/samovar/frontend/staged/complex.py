"""Complex numbers: as values they are two numbers, as places two places, in memory two adjacent numbers.

The dtype c64 or c128 of one is that of its parts, f32 or f64. No operation of the IR knows complex numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from samovar._native import DType, u1
from samovar.frontend import complex_arithmetic as formulas
from samovar.frontend.lossy import Keeper, kept
from samovar.frontend.operators import BINARY, UNARY
from samovar.frontend.operators import compare as compare_numbers
from samovar.frontend.scalars import LARGEST_UNROLLED_EXPONENT, constant, float_type, read
from samovar.frontend.staged.base import Place, Staged
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.variable import Variable
from samovar.ir import Array, ComplexResult, Local, Value
from samovar.language import complex_type, part_type, promote

if TYPE_CHECKING:
    from samovar.frontend.operators import BinaryOperator, Comparison, UnaryOperator
    from samovar.frontend.stager import Stager
    from samovar.ir import ResultShape

NO_ORDER = "compare lengths, `abs(z)`, or parts, `z.real`"


class Complex(Staged):
    """A complex number: its real and imaginary part, which are numbers."""

    __slots__ = ("imag", "real")

    advice = "use a part of it, `z.real` or `z.imag`, or its length, `abs(z)`"

    def __init__(self, real: Staged, imag: Staged) -> None:
        self.real = real
        self.imag = imag

    def describe(self) -> str:
        return "a complex number"

    @property
    def parts(self) -> tuple[Staged, Staged]:
        return self.real, self.imag

    # --- as a number

    def is_run_time(self) -> bool:
        return self.real.is_run_time() or self.imag.is_run_time()

    def wanted_by_static(self) -> tuple[Value, ...]:
        return (*self.real.wanted_by_static(), *self.imag.wanted_by_static())

    def known(self) -> complex | None:
        """The Python number of a compile-time value; None for others."""
        real, imag = self.real.number(), self.imag.number()
        return None if real is None or imag is None else complex(real, imag)

    def part_type(self, stager: Stager, node: ast.AST) -> DType:
        """The dtype of its parts."""
        one, other = (float_type(stager, part.type(stager, node)) for part in self.parts)
        return promote(one, other)

    def values(self, stager: Stager, dtype: DType, node: ast.AST) -> tuple[Value, Value]:
        """Its parts as run-time values of a float type."""
        return self.real.as_type(stager, dtype, node), self.imag.as_type(stager, dtype, node)

    def of_type(self, stager: Stager, dtype: DType, node: ast.AST) -> Complex:
        """The same with run-time parts of a float type."""
        return Complex(*map(Scalar, self.values(stager, dtype, node)))

    def as_type(self, stager: Stager, dtype: DType, node: ast.AST) -> Value:
        if dtype is not u1:
            self.fail_as_number(stager, node)
        own = self.part_type(stager, node)
        tests = (stager.emit("ne", u1, (part, constant(0, own))) for part in self.values(stager, own, node))
        return stager.emit("or", u1, tuple(tests))

    def can_be_chosen(self) -> bool:
        return True

    def truth(self, stager: Stager) -> bool | None:
        known = self.known()
        return None if known is None else bool(known)

    def fail_as_number(self, stager: Stager, node: ast.AST) -> NoReturn:
        stager.fail_type(node, f"expected a real number, got {self.describe()}", self.advice)

    # --- operators

    def binary(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return calculate(stager, operator, self, other, node)

    def reflected(self, stager: Stager, operator: BinaryOperator, other: Staged, node: ast.AST) -> Staged | None:
        return calculate(stager, operator, other, self, node)

    def compare(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return compare(stager, comparison, self, other, node)

    def compare_reflected(self, stager: Stager, comparison: Comparison, other: Staged, node: ast.AST) -> Staged | None:
        return compare(stager, comparison, self, other, node)

    def unary(self, stager: Stager, operator: UnaryOperator, node: ast.AST) -> Staged:
        if operator.sign == "~":
            stager.fail_type(node, "`~` is not defined for complex numbers")
        return Complex(*(part.unary(stager, operator, node) for part in self.parts))

    # --- parts

    def attribute(self, stager: Stager, name: str, node: ast.Attribute) -> Staged:
        if name in ("real", "imag"):
            part = self.real if name == "real" else self.imag
            return part if part.is_run_time() or isinstance(part.number(), float) else Static(float(part.number() or 0))
        return Conjugate(self) if name == "conjugate" else super().attribute(stager, name, node)

    def member_names(self) -> tuple[str, ...]:
        return ("real", "imag", "conjugate")

    def advice_for_absent(self, node: ast.Attribute) -> str | None:
        return "its attributes are real, imag and conjugate()"

    def sequence(self, stager: Stager, node: ast.AST) -> tuple[Staged, ...]:
        self.fail_as_number(stager, node)

    def conjugate(self, stager: Stager, node: ast.AST) -> Complex:
        return Complex(self.real, negative(stager, self.imag, node))

    # --- as a variable, an argument, a result

    def ir_values(self) -> tuple[Value, ...]:
        return (*self.real.ir_values(), *self.imag.ir_values())

    def rebuild(self, values: Iterator[Value]) -> Staged:
        return Complex(self.real.rebuild(values), self.imag.rebuild(values))

    def specialization_key(self, stager: Stager, node: ast.AST) -> Hashable:
        return ("complex", *(part.specialization_key(stager, node) for part in self.parts))

    def as_argument(self, stager: Stager, node: ast.AST) -> Staged:
        return self.of_type(stager, self.part_type(stager, node), node)

    def result_shape(self, numbers: Iterator[int]) -> ResultShape:
        return ComplexResult(next(numbers), next(numbers))

    def as_outside_argument(self, stager: Stager, node: ast.AST) -> Any:
        known = self.known()
        if known is None:
            stager.fail(node, "a plain Python function runs at compile time and cannot be passed a run-time value")
        return known

    def text_value(self, stager: Stager, node: ast.AST) -> Any:
        known = self.known()
        return super().text_value(stager, node) if known is None else known


class Conjugate(Staged):
    """The bound method `conjugate` of a number."""

    __slots__ = ("owner",)

    advice = "call it"

    def __init__(self, owner: Complex) -> None:
        self.owner = owner

    def describe(self) -> str:
        return "the method `conjugate`"


def as_complex(value: Staged) -> Complex | None:
    """A complex number; a real one with the imaginary part 0; None for anything else."""
    if isinstance(value, Complex):
        return value
    return Complex(value, Static(0.0)) if value.is_number() else None


def converted(stager: Stager, value: Staged, dtype: DType, node: ast.AST, keeper: Keeper) -> Complex:
    """A number as a place of a complex dtype stores it. A conversion that may lose information warns."""
    parts, number = part_type(dtype), as_complex(value)
    if number is None:
        stager.fail_type(node, f"{keeper.what} must be a number ({dtype.name}), got {value.describe()}")
    if parts is None:
        stager.fail_type(node, f"{keeper.what} is {dtype.name}, but got a complex number", Complex.advice)
    return Complex(*(Scalar(kept(stager, part, parts, node, keeper)) for part in number.parts))


def cast_to(stager: Stager, value: Staged, dtype: DType, node: ast.AST) -> Staged:
    """An explicit conversion of a number."""
    parts, number = part_type(dtype), as_complex(value)
    if parts is None or number is None:
        return Scalar(read(stager, value.as_type(stager, dtype, node)))
    return number.of_type(stager, parts, node)


def made(stager: Stager, first: Staged, second: Staged | None, node: ast.AST) -> Complex:
    """`complex(re, im)`, `complex(z)`, `complex("1+2j")`."""
    if isinstance(first, Static) and isinstance(first.value, str) and second is None:
        try:
            return Complex(*map(Static, parts_of_text(first.value)))
        except ValueError as problem:
            stager.fail_type(node, str(problem))
    one, other = as_complex(first), None if second is None else as_complex(second)
    if one is None or (other is None and second is not None):
        (first if one is None else second or first).fail_as_number(stager, node)
    if other is None:
        return Complex(*map(as_float, one.parts))
    if isinstance(first, Complex) or isinstance(second, Complex):  # re + im * 1j, as in Python
        sum_ = calculate(stager, BINARY[ast.Add], one, Complex(negative(stager, other.imag, node), other.real), node)
        assert isinstance(sum_, Complex)
        return sum_
    return Complex(as_float(one.real), as_float(other.real))


def parts_of_text(text: str) -> tuple[float, float]:
    number = complex(text)
    return number.real, number.imag


def as_float(part: Staged) -> Staged:
    """A compile-time number as a float, as `complex` takes it."""
    known = part.number()
    return part if known is None else Static(float(known))


def negative(stager: Stager, part: Staged, node: ast.AST) -> Staged:
    return part.unary(stager, UNARY[ast.USub], node)


def known_of(values: Sequence[Staged]) -> list[complex | bool | int | float] | None:
    """The Python numbers of compile-time values; None if one is not known."""
    found = [value.known() if isinstance(value, Complex) else value.number() for value in values]
    return None if None in found else [each for each in found if each is not None]


def static(number: complex | float) -> Staged:
    """A Python number as a compile-time value."""
    return Complex(Static(number.real), Static(number.imag)) if isinstance(number, complex) else Static(number)


def from_parts(parts: formulas.Parts) -> Complex:
    """The result of a formula."""
    return Complex(*(Scalar(part.value) for part in parts))


def common_part_type(stager: Stager, values: Sequence[Staged], node: ast.AST) -> DType:
    """The dtype of the parts of a result, as that of numbers."""
    found: DType | None = None
    for value in values:
        if value.is_run_time():  # a compile-time number takes the type of the others
            own = value.part_type(stager, node) if isinstance(value, Complex) else value.type(stager, node)
            own = float_type(stager, own)
            found = own if found is None else promote(found, own)
    return stager.context.default_fp if found is None else found


OPERATORS: dict[str, Callable[[formulas.Parts, formulas.Parts], formulas.Parts]] = {
    "add": formulas.add,
    "sub": formulas.subtract,
    "mul": formulas.multiply,
    "div": formulas.divide,
    "pow": formulas.power,
}


def calculate(stager: Stager, operator: BinaryOperator, left: Staged, right: Staged, node: ast.AST) -> Staged | None:
    """An operator on numbers, at least one of which is complex."""
    one, other, code = as_complex(left), as_complex(right), operator.code
    if one is None or other is None or code == "matmul":
        return None
    if code not in OPERATORS:
        stager.fail_type(node, f"`{operator.sign}` is not defined for complex numbers", Complex.advice)
    known = known_of((left, right))
    if known is not None:
        try:
            return static(operator.python(*known))
        except (ArithmeticError, ValueError) as problem:
            stager.fail_type(node, str(problem))
    dtype = common_part_type(stager, (left, right), node)
    exponent = right.number() if code == "pow" else None
    first, second = one.values(stager, dtype, node), other.values(stager, dtype, node)
    if exponent is not None and float(exponent).is_integer() and abs(exponent) <= LARGEST_UNROLLED_EXPONENT:
        whole = int(exponent)
        return from_parts(formulas.emitted(stager, lambda z: formulas.power_of_integer(z, whole), first, exact=False))
    # Products with real numbers, and quotients by them, are those of both parts.
    if code == "mul" and not isinstance(right, Complex):
        return from_parts(formulas.emitted(stager, formulas.scale, first, second[:1], exact=False))
    if code == "mul" and not isinstance(left, Complex):
        return from_parts(formulas.emitted(stager, formulas.scale, second, first[:1], exact=False))
    if code == "div" and not isinstance(right, Complex):
        return from_parts(formulas.emitted(stager, formulas.shrink, first, second[:1], exact=False))
    exact = code in ("div", "pow")
    return from_parts(formulas.emitted(stager, OPERATORS[code], first, second, exact=exact))


def compare(stager: Stager, comparison: Comparison, left: Staged, right: Staged, node: ast.AST) -> Staged | None:
    """`==` and `!=`: complex numbers have no order."""
    one, other = as_complex(left), as_complex(right)
    if one is None or other is None:
        return None
    if comparison.sign not in ("==", "!="):
        stager.fail_type(node, f"`{comparison.sign}` is not defined for complex numbers", NO_ORDER)
    pairs = zip(one.parts, other.parts, strict=True)
    results = [compare_numbers(stager, comparison, mine, its, node) for mine, its in pairs]
    return either(stager, "and" if comparison.sign == "==" else "or", results, node)


def either(stager: Stager, code: str, conditions: Sequence[Staged], node: ast.AST) -> Staged:
    """Two conditions joined by `and` or `or`; one that is known decides, or does not matter."""
    decides = code == "or"
    if any(each.truth(stager) is decides for each in conditions):
        return Static(decides)
    open_ = [each.as_type(stager, u1, node) for each in conditions if each.truth(stager) is None]
    if not open_:
        return Static(not decides)
    return Scalar(open_[0] if len(open_) == 1 else stager.emit(code, u1, tuple(open_)))


# --- places


class ComplexPlace(Place):
    """A variable or an element that is a complex number: the places of its parts."""

    __slots__ = ("imag", "real")

    def __init__(self, real: Place, imag: Place) -> None:
        self.real = real
        self.imag = imag

    @property
    def type(self) -> DType:
        return complex_type(self.real.type)

    @property
    def parts(self) -> tuple[Place, Place]:
        return self.real, self.imag

    def describe(self) -> str:
        return "a complex number"

    def load(self, stager: Stager) -> Staged:
        return Complex(*(part.load(stager) for part in self.parts))

    def referred(self, stager: Stager) -> Staged:
        return Complex(*(part.referred(stager) for part in self.parts))

    def given(self, stager: Stager, value: Staged, node: ast.AST) -> Complex:
        """A value to store here."""
        number = as_complex(value)
        if number is None:
            stager.fail_type(node, f"{self.describe()} cannot be assigned {value.describe()}")
        return number

    def store(self, stager: Stager, value: Staged, node: ast.AST) -> None:
        for part, number in zip(self.parts, self.given(stager, value, node).parts, strict=True):
            part.store(stager, number, node)

    def assign(
        self, stager: Stager, value: Staged, name: str, node: ast.AST, annotated: DType | None = None
    ) -> None:
        if annotated is not None and annotated is not self.type:
            stager.fail_signature(node, f"`{name}` is already {self.type.name} and cannot become {annotated.name}")
        number = self.given(stager, value, node)
        for part, each, own in zip(self.parts, number.parts, ("real", "imag"), strict=True):
            part.assign(stager, each, f"{name}.{own}", node)

    def locals(self) -> tuple[Local, ...]:
        return (*self.real.locals(), *self.imag.locals())

    def arrays(self) -> tuple[Array, ...]:
        return (*self.real.arrays(), *self.imag.arrays())

    def is_shared(self, stager: Stager) -> bool:
        return self.real.is_shared(stager)

    def member(self, stager: Stager, name: str, node: ast.Attribute) -> Place | None:
        return {"real": self.real, "imag": self.imag}.get(name)

    def member_names(self) -> tuple[str, ...]:
        return ("real", "imag")


def new_complex(stager: Stager, name: str, dtype: DType, make: Callable[[Local], Place] = Variable) -> ComplexPlace:
    """A variable with parts of a float type."""
    return ComplexPlace(*(make(stager.new_local(f"{name}.{own}", dtype)) for own in ("real", "imag")))
