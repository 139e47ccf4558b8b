"""Bit-width narrowing: arithmetic on bytes that are widened to i32, weighted, shifted and narrowed again runs in 16 bits.

The widest type in a loop determines the number of lanes, and Python's arithmetic on bytes is in i32. If only the low bits of
the result are used, sums and products can be computed modulo 2^16. Operations that need exact values (right shifts,
quotients, minima, comparisons) are possible if ranges show that the operands fit in 16 bits, signed or unsigned. The result
is the same, with twice as many lanes.

Examines expressions between casts from and to bytes, u16 and i16. Their values must have no other uses, or they would be
computed twice. The replaced operations are left unused, for `eliminate_dead_code`.
"""

from __future__ import annotations

from collections.abc import Iterator

from samovar._native import DType, i16, u1, u16
from samovar.ir import Affine, Constant, Kernel, Operation, Parameter, Region, Value, bodies, users, walk_regions
from samovar.passes.dead_code import eliminate_dead_code

#: Operations that can be computed modulo 2^16.
_MODULAR = frozenset("add sub mul neg and or xor not".split())
#: Operations that need exact operands, all signed or all unsigned, and have their type.
_EXACT = frozenset("min max floordiv mod".split())
_COMPARISONS = frozenset("lt le gt ge eq ne".split())
_SIGNED, _UNSIGNED = (-(1 << 15), (1 << 15) - 1), (0, (1 << 16) - 1)
#: The maximum depth and size of expressions: larger ones are hardly limited by their width.
_DEPTH, _MOST = 24, 128


def narrow_integers(kernel: Kernel) -> None:
    """Compute in 16 bits where possible, in place."""
    regions = [
        region for body in bodies(kernel) for region in walk_regions(body) if any(map(_is_result, region.operations))
    ]
    if not regions:
        return
    found, affine = users(bodies(kernel)), Affine(*bodies(kernel))
    changed = [_in_region(region, found, affine) for region in regions]
    if any(changed):
        eliminate_dead_code(kernel)


def _is_result(operation: Operation) -> bool:
    """Whether an operation narrows a 32-bit integer."""
    return operation.code == "cast" and _is_integer(operation.type, 16) and _is_wide(operation.operands[0])


def _is_integer(dtype: DType | None, most: int) -> bool:
    return dtype is not None and dtype.kind in ("int", "uint") and dtype.bits <= most


def _is_wide(value: Value) -> bool:
    return value.type is not None and value.type.kind in ("int", "uint") and value.type.bits == 32


def _in_region(region: Region, found: dict[Value, list[Operation]], affine: Affine) -> bool:
    """Narrow the expressions of one region; return whether there were any."""
    expressions: dict[Operation, set[Operation]] = {}
    for operation in region.operations:
        if _is_result(operation):
            inside = _Narrowing(affine).inside(operation)
            if inside:
                expressions[operation] = inside
    while True:
        replaced = set(expressions).union(*expressions.values())
        kept = {
            result: inside
            for result, inside in expressions.items()
            if all(user in replaced for each in inside for user in found[each])
        }
        if len(kept) == len(expressions):
            break
        expressions = kept
    if not expressions:
        return False
    narrowing = _Narrowing(affine)
    steps: list[Operation] = []
    for operation in region.operations:
        if operation in expressions:
            value = narrowing.modular(operation.operands[0])
            steps += narrowing.taken()
            operation.operands = operation.operands if value is None else (value,)
        steps.append(operation)
    region.operations = steps
    return True


class _Narrowing:
    """Expressions in 16 bits; each operation is written once."""

    def __init__(self, affine: Affine) -> None:
        self._affine = affine
        self._known: dict[Value, Value | None] = {}
        self._steps: list[Operation] = []
        self._inside: set[Operation] = set()

    def inside(self, result: Operation) -> set[Operation]:
        """The operations, besides casts, that would run in 16 bits for a result; empty if that is impossible."""
        if self.modular(result.operands[0]) is None or len(self._inside) > _MOST:
            return set()
        return self._inside

    def taken(self) -> Iterator[Operation]:
        """The operations written since the last call."""
        steps, self._steps = self._steps, []
        return iter(steps)

    def modular(self, value: Value, depth: int = _DEPTH) -> Value | None:
        """An integer modulo 2^16, as u16."""
        if value not in self._known:
            self._known[value] = self._made(value, depth)
        return self._known[value]

    def _made(self, value: Value, depth: int) -> Value | None:
        if isinstance(value, Constant):
            return Constant(int(value.value) % (1 << 16), u16)
        if isinstance(value, Parameter):
            return self._write("cast", u16, (value,))
        if not isinstance(value, Operation) or not depth or value.payload is not None:
            return None
        if value.code == "cast":
            return self._converted(value.operands[0])
        made = self._operation(value, depth - 1)
        if made is not None:
            self._inside.add(value)
        return made

    def _converted(self, source: Value) -> Value | None:
        if source.type is not u1 and not _is_integer(source.type, 16):
            return None
        return self._unsigned(source)

    def _operation(self, value: Operation, depth: int) -> Value | None:
        operands = value.operands
        if value.code in _MODULAR:
            return self._applied(value.code, u16, [self.modular(operand, depth) for operand in operands])
        if value.code == "select":
            condition = self._condition(operands[0], depth)
            return self._applied("select", u16, [condition, *(self.modular(each, depth) for each in operands[1:])])
        if value.code == "shl":
            return self._shifted(value, u16, depth)
        dtype = self._exact_type(operands)
        if dtype is None:
            return None
        if value.code == "shr":
            return self._unsigned(self._shifted(value, dtype, depth))
        if value.code in ("floordiv", "mod") and not (isinstance(operands[1], Constant) and operands[1].value):
            return None
        if value.code == "abs":
            if dtype is u16:
                return self.modular(operands[0], depth)
            return self._unsigned(self._applied("abs", i16, [self._exact(operands[0], i16, depth)]))
        if value.code in _EXACT:
            return self._unsigned(self._applied(value.code, dtype, [self._exact(each, dtype, depth) for each in operands]))
        return None

    def _shifted(self, value: Operation, dtype: DType, depth: int) -> Value | None:
        """A shift that is not negative. A shift by the width or more leaves no bit but the sign, in 16 bits as in 32."""
        first, count = value.operands
        least, greatest = self._affine.range(count)
        if least < 0 or greatest > _SIGNED[1]:
            return None
        return self._applied(value.code, dtype, [self._exact(each, dtype, depth) for each in (first, count)])

    def _condition(self, value: Value, depth: int) -> Value | None:
        if not isinstance(value, Operation) or value.code not in _COMPARISONS or not depth:
            return None
        dtype = self._exact_type(value.operands)
        if dtype is None:
            return None
        made = self._applied(value.code, u1, [self._exact(each, dtype, depth - 1) for each in value.operands])
        if made is not None:
            self._inside.add(value)
        return made

    def _exact(self, value: Value, dtype: DType, depth: int) -> Value | None:
        """An integer in a 16-bit type that it fits in."""
        made = self.modular(value, depth)
        if made is None or dtype is u16:
            return made
        if isinstance(made, Constant):
            number = int(made.value)
            return Constant(number - (1 << 16) * (number > _SIGNED[1]), i16)
        return self._write("cast", i16, (made,))

    def _unsigned(self, value: Value | None) -> Value | None:
        return value if value is None or value.type is u16 else self._write("cast", u16, (value,))

    def _applied(self, code: str, dtype: DType, operands: list[Value | None]) -> Value | None:
        known = tuple(operand for operand in operands if operand is not None)
        return self._write(code, dtype, known) if len(known) == len(operands) else None

    def _write(self, code: str, dtype: DType, operands: tuple[Value, ...]) -> Operation:
        self._steps.append(Operation(code, dtype, operands))
        return self._steps[-1]

    def _exact_type(self, values: tuple[Value, ...]) -> DType | None:
        """The 16-bit type that holds all values of some integers."""
        intervals = [self._affine.range(value) for value in values]
        for dtype, (least, greatest) in ((u16, _UNSIGNED), (i16, _SIGNED)):
            if all(least <= low and high <= greatest for low, high in intervals):
                return dtype
        return None
