"""Values that a choice leaves out: their weight is 0, and stays 0 where a partial derivative is infinite or undefined.

`max(sqrt(x), 0.1)` does not depend on x at 0, but 0 times the derivative of `sqrt` is NaN there. So a product of the weight
0 that is NaN counts as 0. Other weights keep the NaN, and a weight that is 0 by chance keeps its own derivative.
"""

from __future__ import annotations

from samovar._native import u1
from samovar.ir import Array, Builder, Constant, Kernel, Local, Operation, Value, memory, walk_kernel

_CHOICES = ("select", "min", "max")
#: Operations whose derivative is finite for all finite operands and results that are not finite, too.
_LINEAR = ("add", "sub", "neg", "abs", "cast", "copysign", *_CHOICES)


def chosen_from(kernel: Kernel) -> set[Value]:
    """All values that a choice of the kernel may leave out, with what they are computed from."""
    operations = list(walk_kernel(kernel))
    found: set[Value] = set()
    places: set[Array | Local] = set()
    size = -1
    while size != len(found) + len(places):
        size = len(found) + len(places)
        for operation in reversed(operations):
            target = memory(operation)
            if operation.code in _CHOICES:
                found.update(operation.operands)
            elif operation in found and operation.code in ("load", "load_local"):
                places.add(operation.payload)
            elif (operation in found and target is None) or (target is not None and target in places):
                found.update(operation.operands)
    return found


def may_be_undefined(operation: Operation, chosen: set[Value]) -> bool:
    """Whether the weight 0 may become NaN on its way across an operation."""
    if operation.code in ("mul", "div") and isinstance(operation.operands[-1], Constant):
        return False
    return operation in chosen and operation.code not in _LINEAR


def defined(build: Builder, weight: Value, product: Value) -> Value:
    """The product of a weight and a partial derivative, which is 0 if the weight is."""
    assert product.type is not None
    assert weight.type is not None
    zero = Constant(0.0, weight.type)
    unchosen = build.make("and", u1, build.make("isnan", u1, product), build.make("eq", u1, weight, zero))
    return build.make("select", product.type, unchosen, Constant(0.0, product.type), product)
