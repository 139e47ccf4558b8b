"""The machine that code is compiled for."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache

from samovar._native import symbol_address
from samovar.backends.llvm.vectors import functions
from samovar.ir import SCALAR, Machine
from samovar.language import options_in_force, target_processor

#: Processors with 512-bit vectors on which LLVM prefers 256.
_SHORT_VECTORS = frozenset(
    "skylake-avx512 cascadelake cooperlake cannonlake icelake-client icelake-server tigerlake rocketlake"
    " sapphirerapids emeraldrapids".split()
)

#: Where gather and scatter instructions are slower than single loads and stores, LLVM is set not to use them: loops over
#: contiguous 3×3 matrices are two to six times as fast.
_SLOW_GATHERS = "znver"


@dataclass(frozen=True)
class Target:
    """A compilation target. `features` is LLVM's list (`+avx2,-avx512f`); `vector_math` the glibc minor version whose
    libmvec may be called, 0 for none (see `with_vector_variants`)."""

    triple: str
    cpu: str
    features: str
    vector_math: int

    @cache  # noqa: B019 - there are few targets, and they stay
    def plans_for(self) -> Machine:
        """The properties that loop planning depends on."""
        features = self.feature_map()
        if not features.get("avx2"):
            return SCALAR
        wide = features.get("avx512f", False)
        bits = 512 if wide and self.cpu not in _SHORT_VECTORS else 256
        masks = wide and features.get("avx512bw", False) and features.get("avx512vl", False)
        return Machine(bits, 32 if wide else 16, masks, functions(self))

    def key(self) -> tuple[str | int, ...]:
        """All fields, as a part of cache keys."""
        return *self.machine(), self.vector_math

    def __str__(self) -> str:
        return " ".join(self.machine())

    def machine(self) -> tuple[str, str, str]:
        """The triple, name and features for LLVM."""
        return self.triple, self.cpu, self.features

    @cache  # noqa: B019
    def feature_map(self) -> dict[str, bool]:
        return {entry[1:]: entry[0] == "+" for entry in self.features.split(",") if entry}


def chosen_target() -> Target:
    """The target of the options: a named one, or the machine that this process runs on."""
    return target_named(options_in_force().target)


def host_target() -> Target:
    """The machine that this process runs on."""
    return target_named("")


@cache
def target_named(name: str) -> Target:
    """A target by its name; "" is the machine that this process runs on."""
    cpu, features = target_processor(name)
    if cpu.startswith(_SLOW_GATHERS):
        features = {**features, "prefer-no-gather": True, "prefer-no-scatter": True}
    text = ",".join(("+" if features[name] else "-") + name for name in sorted(features))
    return Target(f"{os.uname().machine}-unknown-linux-gnu", cpu, text, _vector_math())


def _vector_math() -> int:
    if os.uname().machine != "x86_64" or symbol_address("_ZGVbN4v_sinf") is None:
        return 0
    return 35 if symbol_address("_ZGVbN4v_tanf") is not None else 22
