"""Launching: kernels and funcs as callables, arrays, options, lookup and installation of compiled code."""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.runtime.checkpointing import checkpointed
    from samovar.runtime.compile_counter import compile_count
    from samovar.runtime.configuration import current_options, say_once, was_initialized
    from samovar.runtime.dense_trees import Node
    from samovar.runtime.forward_mode import FwdMode
    from samovar.runtime.functional_derivatives import (
        check,
        grad_for,
        grad_replaced,
        hvp,
        jvp,
        no_grad,
        value_and_grad,
        vjp,
    )
    from samovar.runtime.kernel import Kernel, declared
    from samovar.runtime.kernel_reports import kernel_report
    from samovar.runtime.loaded_kernel import loaded
    from samovar.runtime.peer_options import RENAMED, WITHOUT_MEANING, options_in
    from samovar.runtime.process_cache import cache_watchers, library_for
    from samovar.runtime.profiler import Profiler
    from samovar.runtime.progress_bar import ProgressBar
    from samovar.runtime.sparse_trees import is_sparse
    from samovar.runtime.tape import Tape, clear_all_gradients
    from samovar.runtime.torch_functions import torch_function
    from samovar.runtime.worker_setup import read_bundle, set_up_worker, worker_variables
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "checkpointing": "checkpointed",
            "compile_counter": "compile_count",
            "configuration": "current_options say_once was_initialized",
            "dense_trees": "Node",
            "forward_mode": "FwdMode",
            "functional_derivatives": "check grad_for grad_replaced hvp jvp no_grad value_and_grad vjp",
            "kernel": "Kernel declared",
            "kernel_reports": "kernel_report",
            "loaded_kernel": "loaded",
            "peer_options": "RENAMED WITHOUT_MEANING options_in",
            "process_cache": "cache_watchers library_for",
            "worker_setup": "read_bundle set_up_worker worker_variables",
            "profiler": "Profiler",
            "progress_bar": "ProgressBar",
            "sparse_trees": "is_sparse",
            "tape": "Tape clear_all_gradients",
            "torch_functions": "torch_function",
        },
    )
