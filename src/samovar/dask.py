"""`sv.dask`: workers of Dask that start with a warm cache and the right number of threads.

>>> import samovar as sv
>>> plugin = sv.dask.WorkerPlugin(remote="/shared/kernels", trust="ed25519:" + "0" * 64, program="sweep")
>>> plugin.variables["SAMOVAR_CACHE_PROGRAM"]
'sweep'
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from samovar.runtime import read_bundle, set_up_worker, worker_variables

if TYPE_CHECKING:
    from typing import Any

    _Base = object
else:
    try:
        from distributed import WorkerPlugin as _Base
    except ImportError:  # registering the plugin needs Dask, describing it does not
        _Base = object

__all__ = ["WorkerPlugin"]


def __dir__() -> list[str]:
    return __all__


class WorkerPlugin(_Base):
    """Prepare each worker before its first task: `client.register_plugin(sv.dask.WorkerPlugin(…))`.

    - `bundle`: a file of `samovar cache export`, sent to the workers, which import it
    - `remote`, `trust`, `program`: `cache_remote`, `cache_trust` and `cache_program` of `sv.init`; the program's name is by
      default that of the script that creates the plugin
    - other keywords are options of `sv.init`, such as `target` or `default_fp`

    Kernels of a worker use as many threads as the worker has (`nthreads`), whether its tasks launch one at a time or
    together. The options become environment variables of the worker, so tasks may call `sv.init` for others.

    >>> import samovar as sv
    >>> sv.dask.WorkerPlugin(default_fp=sv.f64).variables
    {'SAMOVAR_DEFAULT_FP': 'f64'}
    """

    name = "samovar"
    idempotent = False

    def __init__(
        self,
        bundle: str | os.PathLike[str] | None = None,
        *,
        remote: str | None = None,
        trust: str | None = None,
        program: str | None = None,
        **options: Any,
    ) -> None:
        shared = {"cache_remote": remote, "cache_trust": trust, "cache_program": program}
        if remote is not None and program is None:
            from samovar.runtime import current_options
            from samovar.tiers import program_name

            shared["cache_program"] = program_name(current_options())
        #: The environment variables that workers get.
        self.variables = worker_variables({**shared, **options})
        self._bundle = None if bundle is None else read_bundle(bundle)

    def setup(self, worker: Any) -> None:
        """Called by Dask in each worker."""
        threads = {"SAMOVAR_NUM_THREADS": str(worker.state.nthreads)}
        set_up_worker({**threads, **self.variables}, self._bundle, worker.local_directory)
