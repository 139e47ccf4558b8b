"""The fingerprint of a code object: what it does, and not where it is written.

Two rules make it sound. Everything is written with its type and length, so that no two different codes give the same bytes;
and the bytes depend on nothing but the code: not on reference counts (as `marshal` does), not on what the interpreter
specialised while running, not on the order of a set.
"""

from __future__ import annotations

from _blake2 import blake2b
from _struct import pack
from types import CodeType

DIGEST_SIZE = 20
#: Functions that cannot have a docstring: lambdas, comprehensions.
_ANONYMOUS = "<"
_OPTIMIZED = 0x1
#: Flags that say nothing about the meaning: CO_NESTED, CO_HAS_DOCSTRING.
_IDLE_FLAGS = 0x10 | 0x4000000


def code_fingerprint(code: CodeType, locations: bool = False) -> bytes:
    """A digest of the code. With `locations`, line numbers and the file name count as well."""
    hasher = blake2b(digest_size=DIGEST_SIZE)
    parts = [code.co_name, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & ~_IDLE_FLAGS]
    parts += [code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars]
    hasher.update(encoded_constant(tuple(parts)))
    # `co_code` is a fresh copy without the interpreter's own specialisations.
    hasher.update(encoded_constant(code.co_code))
    hasher.update(encoded_constant(getattr(code, "co_exceptiontable", b"")))
    constants = code.co_consts
    if _has_idle_docstring(code):
        constants = (None, *constants[1:])
    hasher.update(encoded_constant(tuple(constants), locations))
    if locations:
        hasher.update(encoded_constant((code.co_filename, code.co_firstlineno, code.co_linetable)))
    return hasher.digest()


def _has_idle_docstring(code: CodeType) -> bool:
    """Is the first constant a docstring that the code itself never loads?

    The compiler keeps equal constants once: in a function that also prints its docstring, it is part of the meaning.
    """
    constants = code.co_consts
    if not constants or not isinstance(constants[0], str):
        return False
    if code.co_name.startswith(_ANONYMOUS) or not code.co_flags & _OPTIMIZED:
        return False
    from opcode import hasconst

    instructions = code.co_code
    loads = set(hasconst)
    return not any(instructions[i] in loads and instructions[i + 1] == 0 for i in range(0, len(instructions), 2))


def encoded_constant(value: object, locations: bool = False) -> bytes:
    """A constant as bytes that no other constant has."""
    kind = value.__class__
    if kind is str:
        # Constants may hold lone surrogates.
        return _tagged(b"s", value.encode("utf-8", "surrogatepass"))  # type: ignore[attr-defined]
    if kind is bytes:
        return _tagged(b"b", value)  # type: ignore[arg-type]
    if kind is int:
        return _tagged(b"i", str(value).encode())
    if kind is float:
        return b"f" + pack("<d", value)
    if kind is bool:
        return b"T" if value else b"F"
    if value is None:
        return b"N"
    if value is Ellipsis:
        return b"E"
    if kind is complex:
        return b"c" + pack("<dd", value.real, value.imag)  # type: ignore[attr-defined]
    if kind is tuple:
        items = [encoded_constant(item, locations) for item in value]  # type: ignore[attr-defined]
        return b"t" + pack("<q", len(items)) + b"".join(items)
    if kind is frozenset:
        items = sorted(encoded_constant(item, locations) for item in value)  # type: ignore[attr-defined]
        return b"z" + pack("<q", len(items)) + b"".join(items)
    if isinstance(value, CodeType):
        return b"C" + code_fingerprint(value, locations)
    raise TypeError(f"a code object cannot hold a constant of type {kind.__name__}")


def _tagged(tag: bytes, content: bytes) -> bytes:
    return tag + pack("<q", len(content)) + content
