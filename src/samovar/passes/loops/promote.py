"""Register promotion: an element that is the same in all iterations of a loop is kept in a local while the loop runs.

`c[i, j] += a[i, k] * b[k, j]` in k updates one element of memory in each iteration, atomically if it must be. Here the
element is loaded once before the loop and stored once after it, so that it becomes a reduction that can be vectorized. Every
other access to the array in the loop must touch other elements, which the bounds of the loops may prove: `b[i, j]` is not
`b[i, k]`
if j begins at k + 1.

An element that is not certain to be accessed is not loaded: its index may be out of bounds. If it is only updated, by one
operation in any order, the updates accumulate in a local that starts with the identity, and are applied if there were any.
No write is introduced that other threads might see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from samovar._native import DType, u1
from samovar.ir import (
    FAMILIES,
    OPCODES,
    Affine,
    Array,
    Atomic,
    Builder,
    Constant,
    For,
    If,
    Kernel,
    Local,
    Operation,
    ParallelFor,
    Region,
    Scatter,
    Sections,
    Value,
    bodies,
    computed_before,
    defined_in,
    identity,
    indices,
    is_own,
    memory,
    rewrite,
    scopes,
    use_counts,
    walk,
    walk_kernel,
)
from samovar.passes.loops.dependence import are_distinct
from samovar.passes.loops.divergence import leaves

#: A loop with more operations, or an array with more accesses in it, is left alone.
LARGEST, MOST_ACCESSES = 1500, 48
_ACCESSES = ("load", "store", "update", "atomic", "scatter")
_PLAIN = frozenset((*FAMILIES, "div"))


def promote(kernel: Kernel, fast_math: bool) -> None:
    """Keep elements in locals while loops run, in place."""
    if not any(isinstance(each, For) for each in walk_kernel(kernel)):
        return
    affine, uses = Affine(*bodies(kernel)), use_counts(bodies(kernel))
    for body, locals in list(scopes(kernel)):
        # In the body of the kernel, no other thread is running.
        search = partial(_Search, affine=affine, uses=uses, fast_math=fast_math, alone=body is kernel.body)
        rewrite(body, partial(_promoted, search=search, locals=locals), enters=is_own)


def _promoted(operation: Operation, search: Callable[[For], _Search], locals: list[Local]) -> list[Operation]:
    """A loop with promoted elements, where possible; any other operation unchanged."""
    found = search(operation).elements() if isinstance(operation, For) else []
    if not found or not isinstance(operation, For):
        return [operation]
    written = _Rewriting(operation, found, locals).write()
    if operation not in written:  # in a branch
        rewrite(operation.body, partial(_promoted, search=search, locals=locals), enters=is_own)
    return written


@dataclass
class _Element:
    """The accesses to one element in a loop: whether every iteration executes one that counts (`certain`), and the operation
    by which they are `reduced_by`, if it is a reduction."""

    array: Array
    at: tuple[Value, ...]
    accesses: list[Operation]
    certain: bool = False
    reduced_by: str | None = None
    #: The operation that writes the element back to memory: a load if nothing does.
    code: str = field(init=False)
    scatter: Scatter | None = field(init=False)

    def __post_init__(self) -> None:
        codes = {each.code for each in self.accesses}
        self.code = next((code for code in ("scatter", "atomic", "update", "store") if code in codes), "load")
        self.scatter = next((each.payload for each in self.accesses if isinstance(each.payload, Scatter)), None)


@dataclass
class _Kept:
    """A local in place of an element; `touched` says whether there was an update, if that is not certain."""

    element: _Element
    local: Local
    places: Sequence[Value] = ()
    touched: Local | None = None


class _Search:
    """Finds the elements of a loop that can be promoted."""

    def __init__(self, loop: For, affine: Affine, uses: Counter[Value], fast_math: bool, alone: bool) -> None:
        self.loop = loop
        self.affine = affine
        self.uses = uses
        self.fast_math = fast_math
        self.alone = alone
        self.within: set[Value] = set()

    def elements(self) -> list[_Element]:
        accesses: dict[Array, list[Operation]] = {}
        for count, operation in enumerate(walk(self.loop.body)):
            leaves = operation.code in ("call", "return", "deactivate")
            if count > LARGEST or leaves or isinstance(operation, (ParallelFor, Sections)):
                return []
            array = memory(operation)
            if isinstance(array, Array):
                accesses.setdefault(array, []).append(operation)
        if not self.loop.stride:
            return []
        self.within = {self.loop.variable, *defined_in(self.loop.body)}
        return [element for array, each in accesses.items() for element in self._of_array(array, each)]

    def _of_array(self, array: Array, accesses: list[Operation]) -> Iterator[_Element]:
        written = any(each.code != "load" for each in accesses)
        if not written or not array.alone or array in self.within or len(accesses) > MOST_ACCESSES:
            return
        if any(each.code not in _ACCESSES for each in accesses):
            return
        elements: dict[object, list[Operation]] = {}
        for access in accesses:
            if all(map(self.is_invariant, indices(access))):
                elements.setdefault(self.affine.element(access), []).append(access)
        for each in elements.values():
            element = _Element(array, indices(each[0]), each)
            if self._can_be_kept(element) and not any(self._conflict(element, other) for other in accesses):
                yield element

    def is_invariant(self, value: Value) -> bool:
        """Whether a value can be computed before the loop."""
        if value not in self.within:
            return True
        if not isinstance(value, Operation) or OPCODES[value.code].effect != "pure":
            return False
        return self.affine.form(value).bits == 64 and all(map(self.is_invariant, value.operands))

    def _conflict(self, element: _Element, other: Operation) -> bool:
        """Whether another access may touch the element, and one of the two writes."""
        if any(each is other for each in element.accesses):
            return False
        if other.code == "load" and all(each.code == "load" for each in element.accesses):
            return False
        return not are_distinct(element.accesses[0], other, self.affine, self.within)

    def _can_be_kept(self, element: _Element) -> bool:
        certain = list(self._certain(element))
        writes = [each for each in element.accesses if each.code != "load"]
        if all(map(_is_plain, element.accesses)):
            seen = self.alone or element.array.private or not writes or any(each.code != "load" for each in certain)
            if certain and seen:
                return True
        families = {FAMILIES.get(each.payload.operation) if _is_update(each) else None for each in element.accesses}
        if len(families) != 1 or None in families or any(self.uses[each] for each in element.accesses):
            return False
        ordered = element.array.dtype.kind == "float" and not self.fast_math
        if ordered and any(each.code == "update" for each in element.accesses):
            return False
        element.reduced_by, element.certain = families.pop(), bool(certain)
        return True

    def _certain(self, element: _Element) -> Iterator[Operation]:
        """The accesses that every iteration executes."""
        for operation in self.loop.body.operations:
            if operation.code in ("break", "continue") or leaves(operation):
                return
            if any(each is operation for each in element.accesses):
                yield operation


def _is_update(access: Operation) -> bool:
    return isinstance(access.payload, Scatter) or (isinstance(access.payload, Atomic) and access.payload.step is None)


def _is_plain(access: Operation) -> bool:
    """Whether an access is a load, a store, or an update with arithmetic in between."""
    return access.code in ("load", "store") or (
        access.code == "update" and _is_update(access) and access.payload.operation in _PLAIN
    )


class _Rewriting:
    """Writes a loop with promoted elements."""

    def __init__(self, loop: For, elements: Sequence[_Element], locals: list[Local]) -> None:
        self.loop = loop
        self.elements = elements
        self.locals = locals
        self.build = Builder(loop.line, loop.origin)
        self.copies: dict[Value, Value] = {}
        self.within = defined_in(loop.body)

    def write(self) -> list[Operation]:
        build = self.build
        if self.loop.trip_count():
            self._kept()
        else:
            build.append(If(build.runs(self.loop), build.region(self._kept), Region(), self.loop.line))
        return build.operations

    def _kept(self) -> None:
        build = self.build
        kept = [_Kept(element, self._local(element.array.name, element.array.dtype)) for element in self.elements]
        for each in kept:
            each.places = [self._before(index) for index in each.element.at]
            if each.element.reduced_by is None:
                build.set(each.local, build.make("load", each.local.type, *each.places, payload=each.element.array))
            else:
                build.set(each.local, identity(each.element.reduced_by, each.local.type))
                if not each.element.certain:
                    each.touched = self._local("touched", u1)
                    build.set(each.touched, Constant(False, u1))
        self._replace({access: each for each in kept for access in each.element.accesses})
        build.append(self.loop)
        for each in kept:
            if each.touched is not None:
                build.append(If(build.get(each.touched), build.region(lambda each=each: self._apply(each)), Region()))  # type: ignore[misc]
            else:
                self._apply(each)

    def _apply(self, kept: _Kept) -> None:
        """Write a promoted element back to memory."""
        build, element = self.build, kept.element
        if element.reduced_by is not None:
            payload, type = element.scatter or Atomic(element.reduced_by, element.array), element.array.dtype
            build.make(element.code, None if element.scatter else type, *kept.places, build.get(kept.local), payload=payload)
        elif element.code != "load":
            build.make("store", None, *kept.places, build.get(kept.local), payload=element.array)

    def _local(self, name: str, type: DType) -> Local:
        made = Local(name, type, self.loop.line)
        self.locals.append(made)
        return made

    def _before(self, value: Value) -> Value:
        """A loop-invariant value, computed before the loop."""
        return computed_before(value, self.build, lambda each: each not in self.within, self.copies)

    def _replace(self, kept: dict[Operation, _Kept]) -> None:
        """Replace accesses by locals in the loop; the value of an operation, the old element, stays the same for its
        users."""

        def expand(operation: Operation) -> Sequence[Operation]:
            found = kept.get(operation)
            if found is None:
                return (operation,)
            build, value = Builder(operation.line, operation.origin), operation.operands[-1:]
            code, action, type = operation.code, operation.payload, found.local.type
            if code == "store":
                operation.code, operation.operands, operation.payload = "store_local", value, found.local
                return (operation,)
            operation.code, operation.operands, operation.payload, operation.type = "load_local", (), found.local, type
            if code != "load":
                build.set(found.local, build.make(action.operation, type, operation, *value))
                if found.touched is not None:
                    build.set(found.touched, build.make("or", u1, build.get(found.touched), Constant(True, u1)))
            return (operation, *build.operations)

        rewrite(self.loop.body, expand)
