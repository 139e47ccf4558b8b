"""Random programs through the passes and the backend: native code does what the interpreter says the program means."""

from __future__ import annotations

from contextlib import nullcontext
from unittest.mock import patch

from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st

from backends.machine import LaunchFailed, Machine
from hypothesis_profiles import examples
from ir_interpreter import Failed, Interpreter, same
from passes.programs import ARRAYS, arguments, kernels
from samovar.backends.llvm.target import host_target
from samovar.ir.printer import print_kernel
from samovar.ir.structure import Kernel
from samovar.language.options import Options
from samovar.passes import run

#: What makes units of all functions and tasks, however small.
SMALL_UNITS = {"LARGE_FUNCTION": 1, "LARGE_KERNEL": 0, "LEAST_TASK": 0}
RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@examples("compiled", suppress_health_check=RELAXED)
@given(kernels(), st.integers(0, 1000), st.sampled_from([Options(), Options(), Options(debug=True)]), st.booleans())
def test_native_code_does_what_the_program_means(kernel: Kernel, data: int, options: Options, apart: bool) -> None:
    expected = arguments(data)
    results = Interpreter(kernel, expected).run()
    with patch.multiple("samovar.passes.partition", **SMALL_UNITS) if apart else nullcontext():
        run(kernel, options, machine=host_target().plans_for())
    note(print_kernel(kernel))
    given_arguments = arguments(data)
    machine = Machine(kernel, options, finished=True)
    try:
        found = machine(*(given_arguments[parameter.name] for parameter in kernel.parameters))
    except LaunchFailed:
        # Overflow and division by zero are reported in debug mode; the interpreter sees them in the checked program.
        assert reported(kernel, data)
        return
    assert found == results
    for name in ARRAYS:
        assert same(expected[name], given_arguments[name]), name


def reported(kernel: Kernel, data: int) -> bool:
    try:
        Interpreter(kernel, arguments(data)).run()
    except Failed:
        return True
    return False
