"""The passes together: random programs do the same before and after, in every order of iterations."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, given, note
from hypothesis import strategies as st

from hypothesis_profiles import examples
from ir_interpreter import Failed, Interpreter, same
from passes.loops.rewriting import AVX2, AVX512, vectorize
from passes.programs import ARRAYS, arguments, kernels
from samovar.ir.machine import SCALAR, Machine
from samovar.ir.printer import print_kernel
from samovar.ir.structure import Kernel
from samovar.ir.verifier import verify
from samovar.language.options import Options
from samovar.passes import outline, pipeline, run

ORDERS = 3


def outcome(kernel: Kernel, data: int, order: int) -> tuple[object, ...]:
    memory = arguments(data)
    results = Interpreter(kernel, memory, seed=order).run()
    return (results, *(memory[name] for name in ARRAYS))


def assert_equal(one: tuple[object, ...], other: tuple[object, ...]) -> None:
    assert one[0] == other[0]
    for before, after in zip(one[1:], other[1:], strict=True):
        assert same(before, after), (before, after)


RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@examples("interpreted", suppress_health_check=RELAXED)
@given(
    kernels(),
    st.integers(0, 1000),
    st.sampled_from([Options(), Options(), Options(fast_math=False), Options(check_out_of_bound=True)]),
    st.sampled_from([AVX2, AVX512, SCALAR]),
)
def test_the_passes_preserve_what_a_program_does(kernel: Kernel, data: int, options: Options, machine: Machine) -> None:
    verify(kernel)
    note(print_kernel(kernel))
    expected = outcome(kernel, data, 0)
    # The program itself must not depend on the order, or nothing can be said.
    assert_equal(expected, outcome(kernel, data, 1))
    for step in pipeline(options, machine=machine):
        step(kernel)
        verify(kernel)
    note(print_kernel(kernel))
    for order in range(ORDERS):
        assert_equal(expected, outcome(kernel, data, order))


@examples("interpreted", suppress_health_check=RELAXED)
@given(kernels(), st.integers(0, 1000), st.sampled_from([(AVX2, 8), (AVX512, 32)]))
def test_lanes_do_what_a_program_does_whatever_they_cost(kernel: Kernel, data: int, lanes: tuple[Machine, int]) -> None:
    expected = outcome(kernel, data, 0)
    for step in pipeline(Options(without="reassociation vectors")):
        if getattr(step, "func", step) is outline:
            step(kernel)
            break
        step(kernel)
    vectorize(*lanes)(kernel)
    verify(kernel)
    note(print_kernel(kernel))
    for order in range(ORDERS):
        assert_equal(expected, outcome(kernel, data, order))


@examples("interpreted", suppress_health_check=RELAXED)
@given(kernels(), st.integers(0, 1000))
def test_debug_mode_preserves_what_a_program_does_unless_it_reports(kernel: Kernel, data: int) -> None:
    expected = outcome(kernel, data, 0)
    run(kernel, Options(debug=True))
    with suppress(Failed):
        assert_equal(expected, outcome(kernel, data, 1))
