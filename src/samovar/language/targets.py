"""Named targets: architecture levels (`x86-64-v3`) and processors, which code can be compiled for instead of this machine.

A level guarantees a set of features, so one image serves all machines that have them. A processor's name means the features
of its level, scheduled for that processor.
"""

from __future__ import annotations

from samovar._native import cpu_features, cpu_name

_V1 = "64bit cmov cx8 fxsr mmx sse sse2"
_V2 = f"{_V1} crc32 cx16 popcnt sahf sse3 ssse3 sse4.1 sse4.2"
_V3 = f"{_V2} avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"
_V4 = f"{_V3} avx512bw avx512cd avx512dq avx512f avx512vl"
#: The features of each level, best level first.
LEVELS: dict[str, frozenset[str]] = {
    "x86-64-v4": frozenset(_V4.split()),
    "x86-64-v3": frozenset(_V3.split()),
    "x86-64-v2": frozenset(_V2.split()),
}
#: The processors of each level, as LLVM names them.
_PROCESSORS = {
    "x86-64-v4": "skylake-avx512 cascadelake cooperlake cannonlake icelake-client icelake-server tigerlake rocketlake"
    " sapphirerapids emeraldrapids graniterapids znver4 znver5",
    "x86-64-v3": "haswell broadwell skylake alderlake raptorlake meteorlake arrowlake arrowlake-s lunarlake sierraforest"
    " znver1 znver2 znver3",
    "x86-64-v2": "nehalem westmere sandybridge ivybridge",
}
#: The processors that can be named, with their levels.
PROCESSORS = {name: level for level, names in _PROCESSORS.items() for name in names.split()}


def target_names() -> tuple[str, ...]:
    """All targets that can be named."""
    return (*LEVELS, *PROCESSORS)


def target_processor(target: str) -> tuple[str, dict[str, bool]]:
    """The processor of a target for LLVM, and which features it has; "" is the machine that this process runs on."""
    here = cpu_features()
    if not target:
        return cpu_name(), here
    level = LEVELS[PROCESSORS.get(target, target)]
    return target, {name: name in level for name in (*here, *sorted(level - here.keys()))}


def can_run(target: str) -> bool:
    """Whether the processor of this machine has all features of a target."""
    if not target:
        return True
    here = cpu_features()
    return all(here.get(name, False) for name in LEVELS[PROCESSORS.get(target, target)])


def baselines(target: str) -> tuple[str, ...]:
    """The other targets whose code this process may run instead of its own: the levels that the machine reaches, best
    first. A process that chose its target uses no other."""
    return () if target else tuple(filter(can_run, LEVELS))
