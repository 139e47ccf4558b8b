"""What the processor can do, against LLVM's own detection."""

from __future__ import annotations

import llvmlite.binding as llvm

from samovar._native import cpu_features, cpu_name


def test_features_are_those_that_llvm_finds():
    detected = llvm.get_host_cpu_features()
    assert {name: on for name, on in cpu_features().items() if name in detected and on != detected[name]} == {}


def test_the_vector_extensions_are_all_named():
    detected = llvm.get_host_cpu_features()
    vector = {name for name in detected if name.startswith(("sse", "avx", "fma", "f16c"))} - {"avx10.1", "avx10.2"}
    assert vector <= set(cpu_features())


def test_the_name_is_one_that_llvm_knows():
    assert cpu_name() == llvm.get_host_cpu_name() or cpu_name().startswith("x86-64")
