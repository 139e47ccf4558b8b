"""Options of Quadrants and Taichi for `sv.init`: ours under their names, and those without effect.

Loaded when one of them is given.
"""

from __future__ import annotations

from samovar import errors
from samovar.errors import SamovarError, SamovarOptionError
from samovar.language import DEFAULTS, meant_option
from samovar.runtime import configuration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

#: Their name → ours.
RENAMED = {
    "cpu_max_num_threads": "num_threads",
    "offline_cache_max_size_of_files": "offline_cache_max_size",
}
_GPU = "there is no GPU support"
_LLVM = "LLVM decides"
_INSPECT = "see `kernel.inspect`"
_SPARSE = "loops over sparse fields are always lists of active cells"
_DERIVATIVES = "the stack for derivatives grows as needed"
_MESHES = "there are no meshes"
_CLEANING = "least recently used entries are evicted"
#: Options without effect → why.
WITHOUT_MEANING = {
    "_test_mode": "it is for the tests of another framework",
    "ad_stack_experimental_enabled": _DERIVATIVES,
    "ad_stack_size": _DERIVATIVES,
    "ad_stack_sparse_threshold_bytes": _DERIVATIVES,
    "advanced_optimization": "see `opt_level`",
    "allow_nv_shader_extension": _GPU,
    "auto_mesh_local_default_occupacy": _MESHES,
    "cache_loop_invariant_global_vars": _LLVM,
    "cfg_optimization": _LLVM,
    "cpu_block_dim_adaptive": "a launch chooses block sizes by the cost of the loop",
    "cuda_stack_limit": _GPU,
    "debug_dump_path": "it is the directory for QD_DUMP_IR=1; see `dump_ir`",
    "default_cpu_block_dim": "a launch chooses block sizes by the cost of the loop",
    "default_gpu_block_dim": _GPU,
    "demote_dense_struct_fors": _SPARSE,
    "demote_no_access_mesh_fors": _MESHES,
    "detect_read_only": "it is always done",
    "device_memory_GB": _GPU,
    "device_memory_fraction": _GPU,
    "dynamic_index": "it is always supported",
    "excepthook": "errors are shown without frames of the compiler",
    "experimental_auto_mesh_local": _MESHES,
    "external_metal_command_queue": _GPU,
    "external_metal_command_queue_is_torch_queue": _GPU,
    "flatten_if": _LLVM,
    "force_scalarize_matrix": "small matrices are always scalarized",
    "gdb_trigger": "attach a debugger to the process",
    "gpu_max_reg": _GPU,
    "half2_vectorization": _GPU,
    "kernel_profiler": "see `sv.graph.record`",
    "lower_access": _SPARSE,
    "make_block_local": _SPARSE,
    "make_mesh_block_local": _MESHES,
    "make_thread_local": "reductions are always thread-local",
    "max_block_dim": _GPU,
    "mesh_localize_all_attr_mappings": _MESHES,
    "mesh_localize_from_end_mapping": _MESHES,
    "mesh_localize_to_end_mapping": _MESHES,
    "move_loop_invariant_outside_if": _LLVM,
    "ndarray_use_cached_allocator": "arrays use the memory of the process",
    "offline_cache_cleaning_factor": _CLEANING,
    "offline_cache_cleaning_policy": _CLEANING,
    "optimize_mesh_reordered_mapping": _MESHES,
    "packed": "fields are never padded",
    "print_accessor_ir": _INSPECT,
    "print_ir_dbg_info": _INSPECT,
    "print_kernel_amdgcn": _GPU,
    "print_kernel_asm": _INSPECT,
    "print_kernel_llvm_ir": _INSPECT,
    "print_kernel_llvm_ir_optimized": _INSPECT,
    "print_kernel_nvptx": _GPU,
    "print_full_traceback": "errors are shown without frames of the compiler",
    "print_preprocessed_ir": _INSPECT,
    "print_struct_llvm_ir": _INSPECT,
    "quant_opt_atomic_demotion": "there are no quantized types",
    "quant_opt_store_fusion": "there are no quantized types",
    "real_matrix_scalarize": "small matrices are always scalarized",
    "require_version": "it concerns the version of another framework",
    "saturating_grid_dim": _GPU,
    "short_circuit_operators": "`and` and `or` always short-circuit, as in Python",
    "simplify_after_lower_access": _LLVM,
    "simplify_before_lower_access": _LLVM,
    "timeline": "see `sv.graph.record`",
    "unrolling_limit": "an unrolled loop may have any length",
    "use_llvm": "LLVM is always used",
    "verbose": "see `log_level`",
    "verbose_kernel_launches": "see `log_level`",
    "vk_api_version": _GPU,
}


def translated(given: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Options under our names, and a warning for each without effect. Unknown ones raise a `KeyError`."""
    found: dict[str, Any] = {}
    warnings: list[str] = []
    may_fall_back = bool(given.get("enable_fallback", True))
    for name, value in given.items():
        if name == "arch":
            found[name] = _architecture(value, may_fall_back)
        elif name in DEFAULTS:
            found[name] = value
        elif name in RENAMED:
            found.setdefault(RENAMED[name], value)
        elif name == "make_cpu_multithreading_loop":
            if not value:
                found["num_threads"] = 1
        elif name == "default_up":
            raise SamovarOptionError("sv.init(default_up=…): this is the unsigned type of default_ip: set that")
        elif name in WITHOUT_MEANING:
            warnings.append(f"sv.init({name}=…) has no effect: {WITHOUT_MEANING[name]}")
        elif name != "enable_fallback":
            raise _unknown(name)
    return found, warnings


def options_in(variables: Mapping[str, str], prefix: str, given: Iterable[str] = ()) -> dict[str, Any]:
    """The options set by environment variables with the prefix of another framework (`QD_DEBUG`), under its names, except
    those that are given under any name and those that Samovar's own variables set."""
    found: dict[str, Any] = {}
    known = {RENAMED.get(name, name) for name in given}
    known |= {name for name in DEFAULTS if f"SAMOVAR_{name.upper()}" in variables}
    for name in (*DEFAULTS, *RENAMED, *WITHOUT_MEANING):
        text = variables.get(f"{prefix}{name.upper()}")
        ours = RENAMED.get(name, name)
        if text is None or ours in known:
            continue
        if ours in ("default_fp", "default_ip") and text in ("32", "64"):
            text = f"{ours[-2]}{text}"
        found[name] = configuration.parsed(ours, text, DEFAULTS[ours]) if ours in DEFAULTS else text
    return found


def _architecture(value: Any, may_fall_back: bool) -> Any:
    """The target: the CPU instead of an unsupported one, with a warning. Of several, the first that is supported."""
    several = list(value) if isinstance(value, (list, tuple)) else [value]
    known = [each for each in several if each not in configuration.GRAPHICS]
    if known:
        return known[0]
    shown = ", ".join(map(str, several))
    if not may_fall_back:
        raise SamovarError(f"sv.init(arch={shown}): only the CPU is supported, and enable_fallback=False forbids it")
    errors.warn_once(
        f"sv.init(arch={shown}): this target is not supported, the CPU is used instead\n  help: write arch=sv.cpu",
        about=("arch", shown),
    )
    return configuration.cpu


def _unknown(name: str) -> SamovarOptionError:
    valid = ", ".join(DEFAULTS)
    close = meant_option(name, [*DEFAULTS, *RENAMED, *WITHOUT_MEANING])
    hint = f": did you mean {close!r}?" if close else ""
    return SamovarOptionError(f"sv.init has no option {name!r}{hint}\n  valid options: {valid}")
