"""Random programs give the same results as kernels and as plain Python over the model of the language."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note
from hypothesis import strategies as st

import samovar as sv
from hypothesis_profiles import examples
from ir_arithmetic import exact_integer

from . import model
from .model import NUMPY
from .programs import EXTENT, INPUTS, ROWS, Program, programs
from .source import define

pytestmark = pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")


@contextmanager
def mode(debug: bool) -> Iterator[None]:
    """Exact floats, with or without checks."""
    sv.init(fast_math=False, debug=debug)
    try:
        yield
    finally:
        sv.reset()


def of_real(kind: str, name: str, value: float) -> float:
    if kind == "sqrt":
        return math.nan if not value >= 0 else model.rounded(math.sqrt(value), name)
    if not math.isfinite(value):
        return value
    return math.copysign(float(math.floor(value) if kind == "floor" else math.ceil(value)), value)


def select(condition: model.Number, first: model.Number, second: model.Number) -> model.Number:
    return first if condition else second


class Failure(Exception):
    """What debug mode reports."""


class Arithmetic:
    """The names that the Python side of a program uses. In debug mode, what does not fit is a failure."""

    def __init__(self, debug: bool) -> None:
        self.debug = debug

    def fits(self, name: str, value: int) -> None:
        if self.debug and name in model.INTEGERS and model.wrap(value, name) != value:
            raise Failure(f"{value} does not fit in {name}")

    def operate(self, code: str, left: str, a: model.Number, right: str, b: model.Number) -> model.Number:
        name = model.result_type(code, left, right)
        if self.debug and name in model.INTEGERS:
            x, y = int(model.convert(a, name)), int(model.convert(b, name))
            if code in ("floordiv", "mod") and y == 0:
                raise Failure("division by zero")
            if code in ("shl", "shr") and not 0 <= y < model.bits(name):
                raise Failure("shift")
            if code in ("add", "sub", "mul", "floordiv"):
                self.fits(name, x // y if code == "floordiv" else exact_integer(code, (x, y)))
            if code == "shl":
                self.fits(name, x << y)
        return model.operate(code, left, a, right, b)

    def negate(self, name: str, value: model.Number) -> model.Number:
        if name not in model.UNSIGNED:
            self.fits(name, -value)
        return model.negate(name, value)

    def magnitude(self, name: str, value: model.Number) -> model.Number:
        self.fits(name, abs(value))
        return model.magnitude(name, value)

    def power(self, name: str, base: model.Number, exponent: int) -> model.Number:
        """By squaring, lowest bit first."""
        result, square = None, base
        while exponent:
            if exponent & 1:
                result = square if result is None else self.operate("mul", name, result, name, square)
            exponent >>= 1
            if exponent:
                square = self.operate("mul", name, square, name, square)
        return model.convert(1, name) if result is None else result

    def names(self) -> dict[str, object]:
        return {
            "do": self.operate,
            "cv": model.convert,
            "negate": self.negate,
            "invert": model.invert,
            "magnitude": self.magnitude,
            "of_real": of_real,
            "power": self.power,
            "select": select,
        }


Values = dict[str, list[model.Number]]


def inputs(small: bool) -> Values:
    """Elements of the input arrays: edges of their types, or small numbers, with which little overflows."""
    generator = np.random.default_rng(11)
    values = {}
    for name, dtype in INPUTS.items():
        edges = [0.5, 2.75, -3.0, 0.0, 6.0] if small and dtype in model.FLOATS else model.edge_values(dtype)
        if small and dtype not in model.FLOATS:
            edges = [edge for edge in edges if abs(edge) < 8]
        values[name] = [edges[position] for position in generator.integers(0, len(edges), EXTENT)]
    return values


EDGES, SMALL = inputs(small=False), inputs(small=True)
SCALARS = (-7, 2.75)


def run_python(program: Program, values: Values, debug: bool) -> tuple[list, list, object]:
    whole = [[0] * EXTENT for _ in range(ROWS)]
    floats = [[0.0] * EXTENT for _ in range(ROWS)]
    result = define(program.python, **Arithmetic(debug).names())(*values.values(), whole, floats, *SCALARS)
    return whole, floats, result


def run_kernel(program: Program, values: Values) -> tuple[list, list, object]:
    arrays = [np.array(elements, NUMPY[INPUTS[name]]) for name, elements in values.items()]
    whole, floats = np.zeros((ROWS, EXTENT), np.int64), np.zeros((ROWS, EXTENT))
    result = define(program.kernel)(*arrays, whole, floats, *SCALARS)
    return whole.tolist(), floats.tolist(), result


def check(program: Program, values: Values = EDGES, debug: bool = False) -> None:
    note(program.kernel)
    with mode(debug):
        try:
            expected_whole, expected_real, expected_result = run_python(program, values, debug)
        except Failure:
            with pytest.raises(sv.SamovarRuntimeError):
                run_kernel(program, values)
            return
        whole, floats, result = run_kernel(program, values)
    assert whole == expected_whole
    for number, (row, expected_row) in enumerate(zip(floats, expected_real, strict=True)):
        pairs = enumerate(zip(row, expected_row, strict=True))
        assert [(number, place, *pair) for place, pair in pairs if not model.same(*pair)] == []
    if expected_result is not None:
        assert isinstance(result, tuple)
        pairs = zip(result, expected_result, strict=True)
        assert all(model.same(value, wanted) for value, wanted in pairs), (result, expected_result)


COMMON = {
    "report_multiple_bugs": False,
    # A program does not get smaller bit by bit: shrinking takes long and gives little.
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
}


@examples("compiled", **COMMON)
@given(programs())
def test_a_random_program_computes_what_python_computes(program):
    check(program)


@examples("compiled", **COMMON)
@given(programs())
def test_debug_mode_reports_what_does_not_fit_and_nothing_else(program):
    check(program, SMALL, debug=True)


@pytest.mark.stress
@pytest.mark.timeout(3600)
@examples("compiled", **COMMON)
@given(programs(), st.sampled_from((EDGES, SMALL)), st.booleans())
def test_many_random_programs_compute_what_python_computes(program, values, debug):
    check(program, values, debug)
