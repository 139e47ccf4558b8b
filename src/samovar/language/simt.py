"""GPU thread primitives: names for programs that also run on a GPU. A kernel that reaches one does not compile."""

from __future__ import annotations

from samovar.errors import SamovarRuntimeError
from samovar.language.functions import REGISTRY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

_SCANS = [f"{order}_{what}" for order in ("inclusive", "exclusive") for what in ("add", "max", "min")]
_LANE_SCANS = [*_SCANS, *(f"{order}_{what}" for order in ("inclusive", "exclusive") for what in ("mul", "and", "or", "xor"))]
_REDUCTIONS = [f"{name}_{what}" for name in ("reduce", "reduce_all") for what in ("add", "max", "min")]
_TILED = [
    "all_equal", "all_true", "any_true", "bitonic_sort_kv", *_LANE_SCANS, *_REDUCTIONS,
    *(f"segmented_reduce_{what}" for what in ("add", "max", "min")),
]  # fmt: skip
#: Module → its functions.
NAMES = {
    "": ["Tile16x16", "Tile32x32"],
    "block": [
        "SharedArray", "exclusive_scan", "global_thread_idx", "inclusive_scan", "mem_fence", "mem_sync",
        "radix_rank_match_atomic_or", "reduce", "reduce_all", "sync", "sync_all_nonzero", "sync_any_nonzero",
        "sync_count_nonzero", "thread_idx", *_SCANS, *_REDUCTIONS,
    ],
    "grid": ["mem_fence", "memfence"],
    "subgroup": [
        "ballot", "ballot_first_n", "ballot_full_subgroup", "barrier", "broadcast", "broadcast_first", "elect", "group_size",
        "invocation_id", "lanemask_eq", "lanemask_ge", "lanemask_gt", "lanemask_le", "lanemask_lt", "log2_group_size",
        "mem_fence", "memory_barrier", "shuffle", "shuffle_down", "shuffle_up", "shuffle_xor", "sync",
        *_TILED, *(f"{name}_tiled" for name in _TILED),
    ],
    "warp": [
        "active_mask", "all_nonzero", "any_nonzero", "ballot", "match_all", "match_any", "shfl_down_f32", "shfl_down_i32",
        "shfl_sync_f32", "shfl_sync_i32", "shfl_up_f32", "shfl_up_i32", "shfl_xor_i32", "sync", "unique",
    ],
}  # fmt: skip


def _of_a_gpu(name: str) -> Callable[..., Any]:
    def refuse(*arguments: Any, **keywords: Any) -> NoReturn:
        raise SamovarRuntimeError(f"sv.{name} is only available to GPU threads, in a kernel")

    refuse.__name__ = name.rpartition(".")[2]
    refuse.__qualname__ = name
    refuse.__doc__ = f"The GPU primitive `{refuse.__name__}`. A kernel that reaches it does not compile."
    REGISTRY[f"samovar.{name}"] = refuse
    return refuse


GPU_FUNCTIONS: dict[str, dict[str, Callable[..., Any]]] = {
    module: {name: _of_a_gpu(".".join(filter(None, ("simt", module, name)))) for name in sorted(set(names))}
    for module, names in NAMES.items()
}
