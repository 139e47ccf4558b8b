"""From LLVM text to an object file: a pure step, text and target in, bytes out.

The target machine is made once per process and target. All calls of llvmlite share one lock; to compile in parallel, use
the workers of `samovar.compiler.workers`.
"""

from __future__ import annotations

from functools import cache

import llvmlite.binding as llvm

from samovar.backends.llvm.target import Target
from samovar.backends.llvm.vectors import with_vector_length, with_vector_variants


@cache
def _machine(target: Target) -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=3, reloc="pic", codemodel="small"
    )


def _pass_builder(machine: llvm.TargetMachine) -> llvm.PassBuilder:
    """A pass builder for one module. Each run leaves callbacks in its builder, which the next run calls around every pass:
    a builder that is kept makes each compile slower than the one before (and the callbacks point into a dead stack frame).
    """
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = True
    tuning.slp_vectorization = True
    tuning.loop_interleaving = True
    tuning.loop_unrolling = True
    return llvm.create_pass_builder(machine, tuning)


def _optimised(text: str, target: Target) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    machine = _machine(target)
    text = with_vector_variants(text, target.feature_map(), target.vector_math)
    text = with_vector_length(text, target.vector_bits())
    module = llvm.parse_assembly(text, llvm.create_context())
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    builder = _pass_builder(machine)
    builder.getModulePassManager().run(module, builder)
    return module, machine


def optimise(text: str, target: Target) -> bytes:
    """An ELF object with the optimised code of a rendered kernel."""
    module, machine = _optimised(text, target)
    return bytes(machine.emit_object(module))


def assembly(text: str, target: Target) -> str:
    """The optimised code as assembly, to read."""
    module, machine = _optimised(text, target)
    return str(machine.emit_assembly(module))


def optimised_text(text: str, target: Target) -> str:
    """The optimised code as LLVM text, to read."""
    return str(_optimised(text, target)[0])
