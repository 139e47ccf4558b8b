"""Operators of vectors and matrices in kernels: entry by entry what plain Python computes, for every shape and dtype."""

import itertools
import operator

import numpy as np
import pytest

import samovar as sv

from .model import FLOATS, NAMES, NUMPY, SIGNS, WHOLE, dtype, edge_values, same
from .source import define

OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "floordiv": operator.floordiv,
    "mod": operator.mod, "and": operator.and_, "or": operator.or_, "xor": operator.xor, "shl": operator.lshift,
    "shr": operator.rshift, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq,
    "ne": operator.ne,
}  # fmt: skip
ONLY_INTEGERS = {"and", "or", "xor", "shl", "shr"}
#: Those that are rounded in double precision in plain Python.
NEAR = {"floordiv", "mod", "pow"}
SHAPES = [(2,), (3,), (4,), (20,), (2, 2), (3, 3), (4, 4), (2, 3), (5, 5)]


@pytest.fixture(autouse=True, scope="module")
def exact():
    """Floats operation by operation, as IEEE 754 says."""
    sv.init(fast_math=False)
    yield
    sv.reset()


def type_of(shape, name):
    return sv.types.vector(*shape, dtype(name)) if len(shape) == 1 else sv.types.matrix(*shape, dtype(name))


def assert_equal(found, expected, near=False, what=""):
    """Values of one shape and dtype, entry by entry."""
    if not isinstance(expected, sv.Matrix):
        found, expected = sv.Vector([found]), sv.Vector([expected])
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype), what
    for one, two in zip(found.entries, expected.entries, strict=True):
        if same(one, two, zeros=not near):
            continue
        close = near and expected.dtype.name in FLOATS and np.isfinite(two)
        assert close, (what, one, two)
        assert abs(one - two) <= 4 * np.finfo(NUMPY[expected.dtype.name]).eps * abs(two), (what, one, two)


def kernel_of(expressions, **parameters):
    """A kernel that returns the values of many expressions."""
    names = ", ".join(f"{name}: {name}_type" for name in parameters)
    lines = [f"    r{position} = {text}" for position, text in enumerate(expressions)]
    results = ", ".join(f"r{position}" for position in range(len(expressions)))
    text = "\n".join(["@sv.kernel", f"def k({names}):", *lines, f"    return {results},"])
    return define(text, **{f"{name}_type": kind for name, kind in parameters.items()})


def check(expressions, near=(), **arguments):
    """Expressions in a kernel are what they are in plain Python."""
    kinds = {name: type_of(value.shape, value.dtype.name) for name, value in arguments.items()}
    for begin in range(0, len(expressions), 12):  # LLVM takes its time for hundreds of results
        part = expressions[begin : begin + 12]
        for text, found in zip(part, kernel_of(part, **kinds)(**arguments), strict=True):
            expected = eval(text, {"sv": sv}, dict(arguments))
            assert_equal(found, expected, text in near, (text, arguments))


def codes_for(*names):
    return [code for code in OPERATORS if code not in ONLY_INTEGERS or set(names) <= set(WHOLE)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [4, 20])
def test_every_operator_on_every_dtype(name, size):
    """Both ends, zeros of both signs, NaN and infinities; in registers, and in memory."""
    codes = codes_for(name)
    kind = type_of((size,), name)
    kernel = kernel_of([f"a {SIGNS[code]} b" for code in codes], a=kind, b=kind)
    pairs = list(itertools.product(edge_values(name), edge_values(name)))
    pairs = pairs[:: 5 if size == 4 else 1]
    pairs += pairs[: -len(pairs) % size]
    for begin in range(0, len(pairs) - size + 1, size):
        a, b = (sv.Vector(list(column), dtype(name)) for column in zip(*pairs[begin : begin + size], strict=True))
        for code, found in zip(codes, kernel(a, b), strict=True):
            assert_equal(found, OPERATORS[code](a, b), code in NEAR, (code, a, b))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_operator_on_every_shape(shape):
    """With a matrix, with a number on either side, and with nothing."""
    count = int(np.prod(shape))
    floats = sv.Matrix((np.arange(count).reshape(shape) - count / 3).astype(np.float32))
    whole = sv.Matrix((np.arange(count).reshape(shape) * 7 % 11 - 3).astype(np.int32))
    expressions, near = [], set()
    for code, sign in SIGNS.items():
        if code == "pow":
            forms = ["f ** 2", "2 ** i", "i ** 3", "f ** 0.5", "(i * i + 1) ** (f * f / 50)"]
        elif code in ONLY_INTEGERS:
            forms = [f"i {sign} (i & 7)", f"i {sign} 3", f"5 {sign} (i & 7)"]
        else:
            forms = [f"f {sign} i", f"f {sign} 2.5", f"2.5 {sign} f", f"i {sign} 2", f"2 {sign} i", f"i {sign} 0"]
        expressions += forms
        near |= set(forms) if code in NEAR else set()
    expressions += ["-f", "+f", "-i", "~i", "~(f > 0)", "abs(i)", "abs(f)", "-(f > 0)", "+(f > 0)"]
    # Above 16 entries all sizes are loops: some of the forms are enough.
    check(expressions[:: 1 if count <= 16 else 4], near, f=floats, i=whole)


@pytest.mark.parametrize(
    ("left", "right"),
    [("i8", "u8"), ("i8", "i64"), ("u64", "i64"), ("u32", "f16"), ("f16", "f32"), ("f32", "f64"), ("u1", "f64")],
)
def test_types_meet_as_in_plain_python(left, right):
    values = [1, 0, 1, 1, 0] * 5 if "u1" in (left, right) else [7, 100, 0, 3, 1] * 5
    pairs = [("v", "w"), ("w", "v"), ("x", "y")]
    expressions = [f"{a} {SIGNS[code]} {b}" for code in codes_for(left, right) for a, b in pairs]
    near = {text for text in expressions if text.split()[1] in ("//", "%")}
    v, w = sv.Vector(values[:3], dtype(left)), sv.Vector(values[2:5], dtype(right))
    x, y = sv.Matrix([values[row : row + 5] for row in range(5)], dtype(left)), sv.Vector(values, dtype(right))
    y = sv.Matrix([y[row * 5 : row * 5 + 5] for row in range(5)])
    check(expressions, near, v=v, w=w, x=x, y=y)


PRODUCTS = [
    ((3,), (3,)), ((20,), (20,)), ((2, 3), (3,)), ((2,), (2, 3)), ((2, 3), (3, 2)), ((3, 2), (2, 3)), ((4, 4), (4, 4)),
    ((5, 5), (5, 5)), ((5, 5), (5,)), ((5,), (5, 5)), ((3, 7), (7, 2)), ((7, 3), (3, 7)), ((1, 20), (20, 1)),
    ((2, 20), (20,)), ((4, 3), (3, 6)), ((6, 4), (4, 3)),
]  # fmt: skip


@pytest.mark.parametrize("names", [("f32", "f32"), ("i8", "i8")])
def test_products_of_all_shapes(names):
    """Small and large ones, mixed. Products and sums wrap in the type that the operands meet in."""
    generator = np.random.default_rng(5)
    for part in (PRODUCTS[:9], PRODUCTS[9:]):
        arguments = {}
        for position, shapes in enumerate(part):
            for side, shape, name in zip("ab", shapes, names, strict=True):
                values = generator.integers(-100, 100, shape).astype(NUMPY[name])
                arguments[f"{side}{position}"] = sv.Matrix(values)
        check([f"a{position} @ b{position}" for position in range(len(part))], **arguments)


def test_lists_beside_vectors():
    v = sv.Vector([1.5, -2.0, 0.25])
    m = sv.Matrix([[1.0, 2.0], [3.0, 4.0]])
    check(
        ["v + [1, 2, 3]", "[1, 2, 3] - v", "(1, 2, 3) * v", "m + [[1, 2], [3, 4]]", "v > [0, 0, 1]", "m @ [1, 2]",
         "[1, 2] @ m", "[v, v] + sv.Matrix([v, v * 2])", "v + [v.x, 1.0, 2]"],
        v=v, m=m,
    )  # fmt: skip
