"""Closed code: plain functions whose inputs can all be determined from their bytecode.

Closed code reads its arguments, captured variables and global names, and calls methods of Python's built-in values and
containers. It has no other effect: no imports, no class definitions, no identity comparisons, no attribute assignments. This
module lists the allowed instructions and methods; code that uses any other is not closed.
"""

from __future__ import annotations

import sys
from types import CodeType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Size limit of the memo table.
MOST_FUNCTIONS = 1024

#: Instructions of Python 3.10 to 3.13 that read only the stack, constants, locals, cells and globals.
_INSTRUCTIONS = frozenset(
    """
    BINARY_ADD BINARY_AND BINARY_FLOOR_DIVIDE BINARY_LSHIFT BINARY_MODULO BINARY_MULTIPLY BINARY_OP BINARY_OR BINARY_POWER
    BINARY_RSHIFT BINARY_SLICE BINARY_SUBSCR BINARY_SUBTRACT BINARY_TRUE_DIVIDE BINARY_XOR BUILD_CONST_KEY_MAP BUILD_LIST
    BUILD_MAP BUILD_SET BUILD_SLICE BUILD_STRING BUILD_TUPLE CACHE CALL CALL_FUNCTION CALL_FUNCTION_EX CALL_FUNCTION_KW
    CALL_KW CALL_METHOD CHECK_EXC_MATCH COMPARE_OP CONTAINS_OP CONVERT_VALUE COPY COPY_FREE_VARS DELETE_FAST DELETE_SUBSCR
    DICT_MERGE DICT_UPDATE DUP_TOP DUP_TOP_TWO END_FOR EXTENDED_ARG FORMAT_SIMPLE FORMAT_VALUE FORMAT_WITH_SPEC FOR_ITER
    GEN_START GET_ITER GET_LEN INPLACE_ADD INPLACE_AND INPLACE_FLOOR_DIVIDE INPLACE_LSHIFT INPLACE_MODULO INPLACE_MULTIPLY
    INPLACE_OR INPLACE_POWER INPLACE_RSHIFT INPLACE_SUBTRACT INPLACE_TRUE_DIVIDE INPLACE_XOR IS_OP JUMP_ABSOLUTE
    JUMP_BACKWARD JUMP_FORWARD JUMP_IF_FALSE_OR_POP JUMP_IF_NOT_EXC_MATCH JUMP_IF_TRUE_OR_POP KW_NAMES LIST_APPEND
    LIST_EXTEND LIST_TO_TUPLE LOAD_ASSERTION_ERROR LOAD_ATTR LOAD_CLOSURE LOAD_CONST LOAD_DEREF LOAD_FAST
    LOAD_FAST_AND_CLEAR LOAD_FAST_CHECK LOAD_FAST_LOAD_FAST LOAD_GLOBAL LOAD_METHOD MAKE_CELL MAKE_FUNCTION MAP_ADD NOP
    POP_BLOCK POP_EXCEPT POP_JUMP_BACKWARD_IF_FALSE POP_JUMP_BACKWARD_IF_NONE POP_JUMP_BACKWARD_IF_NOT_NONE
    POP_JUMP_BACKWARD_IF_TRUE POP_JUMP_FORWARD_IF_FALSE POP_JUMP_FORWARD_IF_NONE POP_JUMP_FORWARD_IF_NOT_NONE
    POP_JUMP_FORWARD_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE POP_JUMP_IF_TRUE POP_TOP PRECALL
    PUSH_EXC_INFO PUSH_NULL RAISE_VARARGS RERAISE RESUME RETURN_CONST RETURN_GENERATOR RETURN_VALUE ROT_FOUR ROT_N ROT_THREE
    ROT_TWO SETUP_FINALLY SET_ADD SET_FUNCTION_ATTRIBUTE SET_UPDATE STORE_DEREF STORE_FAST STORE_FAST_LOAD_FAST
    STORE_FAST_STORE_FAST STORE_SLICE STORE_SUBSCR SWAP TO_BOOL UNARY_INVERT UNARY_NEGATIVE UNARY_NOT UNARY_POSITIVE
    UNPACK_EX UNPACK_SEQUENCE YIELD_VALUE
    """.split()
)
#: Instructions that may mutate a container which is visible elsewhere.
_CHANGING = frozenset(("STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR"))
#: Allowed operands of `CALL_INTRINSIC_1`: end of a generator, unary plus, list to tuple.
_INTRINSICS = (3, 5, 6)
#: Since 3.11, operands of `BINARY_OP` from this number on are in-place operators.
_FIRST_ASSIGNING_OPERATOR = 13

#: Immutable types, and containers whose contents are fully known. Exact types only, no subclasses.
VALUES = (int, float, bool, complex, str, bytes, type(None))
CONTAINERS = (tuple, list, set, frozenset, dict)
#: Their methods, without those that format strings: a format string can access attributes.
_METHODS = frozenset(
    name for cls in (*VALUES, *CONTAINERS, range, slice) for name in dir(cls) if not name.startswith(("_", "format"))
)
_CHANGING_METHODS = frozenset(
    "add append clear difference_update discard extend insert intersection_update pop popitem remove reverse setdefault sort"
    " symmetric_difference_update update".split()
)


class ClosedCode:
    """What closed code reads: global names, and attributes other than methods of built-in values. `changes` says whether it
    may mutate a container that it did not create."""

    __slots__ = ("attributes", "changes", "code", "names")

    def __init__(self, code: CodeType, names: tuple[str, ...], attributes: tuple[str, ...], changes: bool) -> None:
        self.code = code
        self.names = names
        self.attributes = attributes
        self.changes = changes


#: Keyed by the identity of the code object, which the table keeps alive.
_known: dict[int, tuple[CodeType, ClosedCode | None]] = {}


def closed_code(code: CodeType) -> ClosedCode | None:
    """Return what a function and its nested functions read, or None if the code is not closed."""
    found = _known.get(id(code))
    if found is None:
        if len(_known) >= MOST_FUNCTIONS:
            _known.clear()
        found = _known[id(code)] = (code, _read(code))
    return found[1]


def _read(code: CodeType) -> ClosedCode | None:
    names: dict[str, None] = {}
    attributes: dict[str, None] = {}
    changes = False
    for each in _codes(code):
        before = ("", 0)
        for name, argument in _instructions(each):
            if not _is_allowed(name, argument) or (name == "IS_OP" and not _is_singleton(each, *before)):
                return None
            if name == "LOAD_GLOBAL":  # since 3.11 the lowest bit is a flag
                names[each.co_names[argument >> 1 if sys.version_info >= (3, 11) else argument]] = None
            elif name in ("LOAD_ATTR", "LOAD_METHOD"):
                read = each.co_names[argument >> 1 if sys.version_info >= (3, 12) else argument]
                changes = changes or read in _CHANGING_METHODS
                if read not in _METHODS:
                    attributes[read] = None
            elif name in _CHANGING or name.startswith("INPLACE_"):
                changes = True
            elif name == "BINARY_OP":
                changes = changes or argument >= _FIRST_ASSIGNING_OPERATOR
            if name not in ("EXTENDED_ARG", "CACHE"):
                before = (name, argument)
    return ClosedCode(code, tuple(names), tuple(attributes), changes)


def _is_allowed(name: str, argument: int) -> bool:
    return name in _INSTRUCTIONS or (name == "CALL_INTRINSIC_1" and argument in _INTRINSICS)


def _is_singleton(code: CodeType, name: str, argument: int) -> bool:
    """Whether the operand loaded before an identity comparison is None, True or False, which are singletons."""
    return name == "LOAD_CONST" and any(code.co_consts[argument] is each for each in (None, True, False))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if type(constant) is CodeType:
            yield from _codes(constant)


def _instructions(code: CodeType) -> Iterator[tuple[str, int]]:
    from opcode import opname

    instructions, argument = code.co_code, 0
    for position in range(0, len(instructions), 2):
        name = opname[instructions[position]]
        argument = argument << 8 | instructions[position + 1]
        yield name, argument
        if name != "EXTENDED_ARG":
            argument = 0
