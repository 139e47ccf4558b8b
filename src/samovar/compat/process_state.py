"""What programs ask a peer's runtime for: `lang.impl.get_runtime()`, `lang.impl.current_cfg()`, and what was built in."""

from __future__ import annotations

import os

import samovar
from samovar._native import DType
from samovar.compat.architectures import Arch
from samovar.language import DEFAULTS
from samovar.runtime import RENAMED, WITHOUT_MEANING, compile_count, current_options, was_initialised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Configuration:
    """The options in force, under the peers' names as well."""

    def __getattr__(self, name: str) -> Any:
        options = current_options()
        ours = RENAMED.get(name, name)
        if ours == "arch":
            return Arch(options.arch)
        if ours == "num_threads" and not options.num_threads:
            return len(os.sched_getaffinity(0))
        if not hasattr(options, ours):
            if name in WITHOUT_MEANING:
                return None
            raise AttributeError(f"samovar has no option {name!r}")
        return getattr(options, ours)


configuration = Configuration()


class Program:
    """What a peer compiles into: there is nothing to finish and nothing to wait for."""

    def config(self) -> Configuration:
        """The options in force."""
        return configuration

    def synchronize(self) -> None:
        """Wait for launches."""
        samovar.sync()

    def finalize(self) -> None:
        """Nothing."""

    def get_num_compiled_functions(self) -> int:
        """How many kernels were compiled."""
        return compile_count()


_program = Program()


class Runtime:
    """The state of the process, as programs read it."""

    print_full_traceback = False
    short_circuit_operators = True
    materialized = True
    inside_kernel = False
    print_non_pure = False
    target_tape = None
    fwd_mode_manager = None
    grad_replaced = False
    unrolling_limit = 0

    @property
    def default_fp(self) -> DType:
        """What `float` means in kernels."""
        return current_options().default_fp

    @property
    def default_ip(self) -> DType:
        """What `int` means in kernels."""
        return current_options().default_ip

    @property
    def default_up(self) -> DType:
        """The unsigned type of the same size."""
        found: DType = {32: samovar.u32, 64: samovar.u64}[current_options().default_ip.bits]
        return found

    @property
    def prog(self) -> Program | None:
        """What stands for the compiled program, once options were set."""
        return _program if was_initialised() else None

    _prog = prog

    @property
    def _arch(self) -> Arch:
        return Arch(current_options().arch)

    @property
    def src_ll_cache(self) -> bool:
        """Are kernels looked up by what they depend on?"""
        return current_options().src_ll_cache

    def get_num_compiled_functions(self) -> int:
        """How many kernels were compiled."""
        return compile_count()

    def materialize(self) -> None:
        """Fields have memory from the beginning: there is nothing to do."""

    def clear(self) -> None:
        """Drop what was compiled."""

    def set_default_fp(self, fp: Any) -> None:
        """Have `float` mean another type in kernels."""
        _change(default_fp=fp)

    def set_default_ip(self, ip: Any) -> None:
        """Have `int` mean another type in kernels."""
        _change(default_ip=ip)

    def sync(self) -> None:
        """Wait for launches."""
        samovar.sync()


def _change(**options: Any) -> None:
    """Set some options, and leave the others."""
    kept = {name: getattr(current_options(), name) for name in DEFAULTS}
    samovar.init(**{**kept, **options})


runtime = Runtime()


def get_runtime() -> Runtime:
    """The state of the process."""
    return runtime


def current_configuration() -> Configuration | None:
    """The options in force, once they were set."""
    return configuration if was_initialised() else None


def current_cfg() -> Configuration:
    """The options in force."""
    return configuration


def get_max_shared_memory_bytes(*, is_lowerbound_ok: bool = False) -> int:
    """The memory that a block of a GPU shares: there is none."""
    return 0


def _never() -> bool:
    return False


NAMES: dict[str, Any] = {
    "get_runtime": get_runtime,
    "current_cfg": current_cfg,
    "default_cfg": current_cfg,
    "get_max_shared_memory_bytes": get_max_shared_memory_bytes,
    "get_cuda_compute_capability": lambda: 0,
    "inside_kernel": _never,
    "is_python_backend": lambda: current_options().arch == "python",
}
#: What `_lib.core` says was built in.
CORE: dict[str, Any] = {
    **{f"with_{name}": _never for name in ("amdgpu", "cuda", "dx11", "dx12", "metal", "opengl", "vulkan")},
    "DataType": DType,
    "DataTypeCxx": DType,
    "GGUI_AVAILABLE": False,
    "get_version_string": lambda: samovar.__version__,
}
