"""Random programs give the same results as kernels and as plain Python over the model of the language."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, note, settings

import samovar as sv

from . import model
from .model import NUMPY
from .programs import EXTENT, INPUTS, ROWS, Program, programs
from .source import define

pytestmark = pytest.mark.filterwarnings("ignore::samovar.SamovarWarning")


@pytest.fixture(autouse=True, scope="module")
def exact_floats():
    sv.init(fast_math=False)
    yield
    sv.reset()


def of_real(kind: str, name: str, value: float) -> float:
    if kind == "sqrt":
        return math.nan if not value >= 0 else model.rounded(math.sqrt(value), name)
    if not math.isfinite(value):
        return value
    return math.copysign(float(math.floor(value) if kind == "floor" else math.ceil(value)), value)


def power(name: str, base: model.Number, exponent: int) -> model.Number:
    """By squaring, lowest bit first."""
    result, square = None, base
    while exponent:
        if exponent & 1:
            result = square if result is None else model.operate("mul", name, result, name, square)
        exponent >>= 1
        square = model.operate("mul", name, square, name, square)
    return model.convert(1, name) if result is None else result


PYTHON = {
    "do": model.operate,
    "cv": model.convert,
    "negate": model.negate,
    "invert": model.invert,
    "magnitude": model.magnitude,
    "of_real": of_real,
    "power": power,
}


def inputs() -> dict[str, list]:
    generator = np.random.default_rng(11)
    values = {}
    for name, dtype in INPUTS.items():
        edges = model.edge_values(dtype)
        values[name] = [edges[position] for position in generator.integers(0, len(edges), EXTENT)]
    return values


VALUES = inputs()
SCALARS = (-7, 2.75)


def run_python(program: Program) -> tuple[list, list, object]:
    whole = [[0] * EXTENT for _ in range(ROWS)]
    floats = [[0.0] * EXTENT for _ in range(ROWS)]
    result = define(program.python, **PYTHON)(*VALUES.values(), whole, floats, *SCALARS)
    return whole, floats, result


def run_kernel(program: Program) -> tuple[list, list, object]:
    arrays = [np.array(values, NUMPY[INPUTS[name]]) for name, values in VALUES.items()]
    whole, floats = np.zeros((ROWS, EXTENT), np.int64), np.zeros((ROWS, EXTENT))
    result = define(program.kernel)(*arrays, whole, floats, *SCALARS)
    return whole.tolist(), floats.tolist(), result


def check(program: Program) -> None:
    expected_whole, expected_real, expected_result = run_python(program)
    whole, floats, result = run_kernel(program)
    assert whole == expected_whole
    for row, expected_row in zip(floats, expected_real, strict=True):
        assert all(map(model.same, row, expected_row)), (floats, expected_real)
    if expected_result is not None:
        assert isinstance(result, tuple)
        pairs = zip(result, expected_result, strict=True)
        assert all(model.same(value, wanted) for value, wanted in pairs), (result, expected_result)


COMMON = {
    "deadline": None,
    "report_multiple_bugs": False,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
}


@settings(max_examples=150, **COMMON)
@given(programs())
def test_a_random_program_computes_what_python_computes(program):
    note(program.kernel)
    check(program)


@pytest.mark.stress
@pytest.mark.timeout(3600)
@settings(max_examples=3000, **COMMON)
@given(programs())
def test_many_random_programs_compute_what_python_computes(program):
    event(f"{len(program.kernel) // 1000} thousand characters")
    note(program.kernel)
    check(program)
