"""From LLVM IR for a known target to an object file or assembly: the step that needs LLVM.

It runs in compile workers (`samovar.compiler.worker`), so it imports little: a worker should start quickly.
"""

from __future__ import annotations

from functools import cache

import llvmlite.binding as llvm

from samovar.backends.llvm.effort import CHOICES_STAY, DEEP_NESTS, PLAIN_LOOPS, Effort, effort_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    #: Triple, name and features of a processor.
    Machine = tuple[str, str, str]

#: The kinds of output.
PRODUCTS = ("object", "assembly", "text", "verification")


@cache
def _machine(machine: Machine, level: int) -> llvm.TargetMachine:
    """The target machine, created once per process, machine and level of the code generator."""
    triple, cpu, features = machine
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    # Structures of nine numbers, such as 3×3 matrices: by default LLVM interleaves up to eight.
    llvm.set_option("samovar", "-max-interleave-group-factor=9")
    # An unknown stride is that of a row: a loop version for stride 1 would never run.
    llvm.set_option("samovar", "-enable-mem-access-versioning=false")
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel="small"
    )


def _pass_builder(machine: llvm.TargetMachine, wanted: Effort) -> llvm.PassBuilder:
    """A pass builder for one module. Each run leaves callbacks in its builder, which the next run calls around every pass:
    reusing a builder makes each compile slower than the one before (and the callbacks point into a dead stack frame).
    """
    tuning = llvm.create_pipeline_tuning_options(speed_level=wanted.level)
    tuning.loop_vectorization = wanted.vectors
    tuning.slp_vectorization = wanted.neighbors
    tuning.loop_interleaving = wanted.vectors
    tuning.loop_unrolling = wanted.level > 1
    return llvm.create_pass_builder(machine, tuning)


def generate(text: str, machine: Machine, effort: str, product: str) -> bytes:
    """Compile optimized code; `effort` is a name from `samovar.backends.llvm.effort`, `product` one of `PRODUCTS`."""
    wanted = effort_for(text, effort)
    target = _machine(machine, wanted.generation)
    module = llvm.parse_assembly(text, llvm.create_context())
    if product == "verification":
        module.verify()
        return b""
    module.triple = machine[0]
    module.data_layout = str(target.target_data)
    builder = _pass_builder(target, wanted)
    switched = []
    if DEEP_NESTS in text:
        switched.append(("-unswitch-threshold=1", "-unswitch-threshold=50"))
    if PLAIN_LOOPS in text or DEEP_NESTS in text:
        switched.append(("-disable-lsr=true", "-disable-lsr=false"))
    if CHOICES_STAY in text and machine[0].startswith("x86_64"):
        switched.append(("-x86-cmov-converter=false", "-x86-cmov-converter=true"))
    for there, _ in switched:  # process-wide switches
        llvm.set_option("samovar", there)
    try:
        builder.getModulePassManager().run(module, builder)
        return _produced(module, target, product)
    finally:
        for _, back in switched:
            llvm.set_option("samovar", back)


def _produced(module: llvm.ModuleRef, target: llvm.TargetMachine, product: str) -> bytes:
    if product == "object":
        return bytes(target.emit_object(module))
    return str(module if product == "text" else target.emit_assembly(module)).encode()
