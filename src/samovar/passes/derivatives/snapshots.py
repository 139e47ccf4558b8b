"""Snapshots: copies of arrays in the memory of a launch, in C order, and code that uses one instead of the array."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from samovar._native import DType, i32, i64, u1
from samovar.ir import (
    Array,
    Builder,
    Constant,
    LoopVariable,
    Operation,
    ParallelFor,
    Region,
    ScratchArray,
    Value,
    indices,
    memory,
    regions,
    retarget,
)


def copied_array(build: Builder, array: Array) -> ScratchArray:
    """Write the code that copies an array."""

    def element(place: Sequence[Value]) -> Value:
        return build.make("load", array.dtype, *place, payload=array)

    return filled_array(build, f"{array.name}.copy", array.dtype, array, element)


def filled_array(
    build: Builder, name: str, dtype: DType, like: Array, element: Callable[[Sequence[Value]], Value]
) -> ScratchArray:
    """Write the code that makes an array of the shape of another one, whose elements `element` writes."""
    made = ScratchArray(name, dtype)
    size: Value = Constant(1, i64)
    lengths = [_extent(build, like, axis) for axis in range(like.ndim)]
    for length in lengths:
        size = build.mul(size, build.cast(length, i64))
    build.make("scratch", None, size, Constant(True, u1), payload=(made, like))
    type = i64 if like.wide else i32
    place = [LoopVariable("i", type) for _ in lengths]

    def fill() -> None:
        build.make("store", None, position(build, like, place), element(place), payload=made)

    if not place:
        fill()
        return made
    bounds = tuple(each for length in lengths for each in (Constant(0, type), length))
    build.append(ParallelFor(name, place, bounds, build.region(fill), []))
    return made


def _extent(build: Builder, array: Array, axis: int) -> Value:
    return build.make("shape", i64 if array.wide else i32, payload=(array, axis))


def position(build: Builder, array: Array, place: Sequence[Value]) -> Value:
    """The position of an element in the copy."""
    found: Value = Constant(0, i64)
    for axis, index in enumerate(place):
        if axis:
            found = build.mul(found, build.cast(_extent(build, array, axis), i64))
        found = build.add(found, build.cast(index, i64))
    return found


def redirect(region: Region, copies: Mapping[Array, ScratchArray]) -> None:
    """Make the code of a region use copies instead of some arrays, in place."""
    result: list[Operation] = []
    for operation in region.operations:
        for inner in regions(operation):
            redirect(inner, copies)
        array = memory(operation)
        if isinstance(array, Array) and array in copies:
            build = Builder()
            place = position(build, array, indices(operation))
            operation.operands = (place, *operation.operands[array.ndim :])
            retarget(operation, {array: copies[array]})
            result += build.operations
        result.append(operation)
    region.operations = result
