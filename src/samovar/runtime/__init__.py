"""Launching: kernels and funcs as the user has them, arrays, options, looking up and installing what was compiled."""

from __future__ import annotations

from samovar import _door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.runtime.compile_counter import compile_count
    from samovar.runtime.configuration import current_options, say_once, was_initialised
    from samovar.runtime.kernel import Kernel
    from samovar.runtime.loaded_kernel import loaded
    from samovar.runtime.peer_options import RENAMED, WITHOUT_MEANING, options_in
    from samovar.runtime.process_cache import cache_watchers, library_for
    from samovar.runtime.profiler import Profiler
    from samovar.runtime.progress_bar import ProgressBar
else:
    __getattr__, __dir__ = _door(
        globals(),
        {
            "compile_counter": "compile_count",
            "configuration": "current_options say_once was_initialised",
            "kernel": "Kernel",
            "loaded_kernel": "loaded",
            "peer_options": "RENAMED WITHOUT_MEANING options_in",
            "process_cache": "cache_watchers library_for",
            "profiler": "Profiler",
            "progress_bar": "ProgressBar",
        },
    )
