"""The options of a process: what `sv.init` sets and what the compile stages read."""

from __future__ import annotations

from dataclasses import dataclass

from samovar._native import DType, f32, i32


@dataclass(frozen=True)
class Options:
    """Every option, with its default. `sv.init` documents their meaning."""

    arch: str = "cpu"
    debug: bool = False
    check_out_of_bound: bool = False
    fast_math: bool = True
    default_ip: DType = i32
    default_fp: DType = f32
    num_threads: int = 0
    log_level: str = "warning"
    print_ir: bool = False
