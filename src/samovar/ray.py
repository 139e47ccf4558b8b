"""`sv.ray`: workers of Ray that start with a warm cache and the right number of threads.

>>> import samovar as sv
>>> sv.ray.runtime_env(num_cpus=2)["env_vars"]
{'SAMOVAR_NUM_THREADS': '2'}
"""

from __future__ import annotations

import base64
import os
from typing import TYPE_CHECKING

from samovar.errors import SamovarError
from samovar.runtime import read_bundle, set_up_worker, worker_variables

if TYPE_CHECKING:
    from typing import Any

__all__ = ["runtime_env", "set_up"]

_BUNDLE = "SAMOVAR_BUNDLE"
#: An environment variable has at most 128 KiB.
_MOST_BUNDLE_BYTES = 90 << 10


def __dir__() -> list[str]:
    return __all__


def runtime_env(
    bundle: str | os.PathLike[str] | None = None,
    *,
    remote: str | None = None,
    trust: str | None = None,
    program: str | None = None,
    num_cpus: int = 1,
    env_vars: dict[str, str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The runtime environment for `ray.init(runtime_env=…)`, an actor or a task: a warm cache before the first task.

    - `bundle`: a small file of `samovar cache export` (up to 90 KiB), sent with the environment; for more, use a tier
    - `remote`, `trust`, `program`: `cache_remote`, `cache_trust` and `cache_program` of `sv.init`; the program's name is by
      default that of this script
    - `num_cpus`: the threads of a launch: what `@ray.remote(num_cpus=…)` says, 1 by default
    - `env_vars`: other environment variables; other keywords are options of `sv.init`

    >>> import samovar as sv
    >>> environment = sv.ray.runtime_env(num_cpus=1, default_fp=sv.f64)
    >>> environment["worker_process_setup_hook"], environment["env_vars"]["SAMOVAR_DEFAULT_FP"]
    ('samovar.ray.set_up', 'f64')
    """
    shared = {"cache_remote": remote, "cache_trust": trust, "cache_program": program, "num_threads": num_cpus}
    if remote is not None and program is None:
        from samovar.runtime import current_options
        from samovar.tiers import program_name

        shared["cache_program"] = program_name(current_options())
    variables = {**worker_variables({**shared, **options}), **(env_vars or {})}
    if bundle is not None:
        content = read_bundle(bundle)
        if len(content) > _MOST_BUNDLE_BYTES:
            raise SamovarError(
                f"{os.fspath(bundle)} has {len(content) >> 10} KiB, more than the {_MOST_BUNDLE_BYTES >> 10} KiB that an"
                " environment of Ray can hold\n"
                "  help: publish the kernels to a tier, and pass its address as remote"
            )
        variables[_BUNDLE] = base64.b64encode(content).decode()
    return {"env_vars": variables, "worker_process_setup_hook": "samovar.ray.set_up"}


def set_up() -> None:
    """Prepare a worker. Ray calls it in each, because `runtime_env` says so.

    >>> import samovar as sv
    >>> sv.ray.set_up()
    >>> sv.reset()
    """
    given = os.environ.pop(_BUNDLE, None)
    set_up_worker({}, None if given is None else base64.b64decode(given), "")
