"""The runtime state of Quadrants and Taichi that programs access: `lang.impl.get_runtime()`, `lang.impl.current_cfg()`,
build flags."""

from __future__ import annotations

import os

import samovar
from samovar._native import DType
from samovar.compat.architectures import Arch
from samovar.language import DEFAULTS
from samovar.runtime import RENAMED, WITHOUT_MEANING, compile_count, current_options, was_initialized

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Configuration:
    """The current options, also under the names of Quadrants and Taichi."""

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
    """The compiled program, which needs neither finalization nor synchronization."""

    def config(self) -> Configuration:
        """The current options."""
        return configuration

    def synchronize(self) -> None:
        """Wait for launches."""
        samovar.sync()

    def finalize(self) -> None:
        """Do nothing."""

    def get_num_compiled_functions(self) -> int:
        """Return the number of compiled kernels."""
        return compile_count()


_program = Program()


class Runtime:
    """The state of the process."""

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
        """The type of `float` in kernels."""
        return current_options().default_fp

    @property
    def default_ip(self) -> DType:
        """The type of `int` in kernels."""
        return current_options().default_ip

    @property
    def default_up(self) -> DType:
        """The unsigned type of the same size."""
        found: DType = {32: samovar.u32, 64: samovar.u64}[current_options().default_ip.bits]
        return found

    @property
    def prog(self) -> Program | None:
        """The program, once options are set."""
        return _program if was_initialized() else None

    _prog = prog

    @property
    def _arch(self) -> Arch:
        return Arch(current_options().arch)

    @property
    def src_ll_cache(self) -> bool:
        """Whether kernels are looked up by their traces."""
        return current_options().src_ll_cache

    def get_num_compiled_functions(self) -> int:
        """Return the number of compiled kernels."""
        return compile_count()

    def materialize(self) -> None:
        """Do nothing: fields have memory from the start."""

    def clear(self) -> None:
        """Drop compiled kernels."""

    def set_default_fp(self, fp: Any) -> None:
        """Set the type of `float` in kernels."""
        _change(default_fp=fp)

    def set_default_ip(self, ip: Any) -> None:
        """Set the type of `int` in kernels."""
        _change(default_ip=ip)

    def sync(self) -> None:
        """Wait for launches."""
        samovar.sync()


def _change(**options: Any) -> None:
    """Change some options and keep the others."""
    kept = {name: getattr(current_options(), name) for name in DEFAULTS}
    samovar.init(**{**kept, **options})


runtime = Runtime()


def get_runtime() -> Runtime:
    """Return the state of the process."""
    return runtime


def current_configuration() -> Configuration | None:
    """Return the current options, or None before they are set."""
    return configuration if was_initialized() else None


def current_cfg() -> Configuration:
    """Return the current options."""
    return configuration


def get_max_shared_memory_bytes(*, is_lowerbound_ok: bool = False) -> int:
    """Return the shared memory of a GPU block, of which there is none."""
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
#: The build flags in `_lib.core`.
CORE: dict[str, Any] = {
    **{f"with_{name}": _never for name in ("amdgpu", "cuda", "dx11", "dx12", "metal", "opengl", "vulkan")},
    "DataType": DType,
    "DataTypeCxx": DType,
    "GGUI_AVAILABLE": False,
    "get_version_string": lambda: samovar.__version__,
}
