"""Prepares a process of an engine (Dask, Ray): options, thread count, and a warm cache before the first task."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import samovar
from samovar.errors import SamovarError
from samovar.runtime import process_cache
from samovar.runtime.configuration import current_options, reset
from samovar.runtime.loaded_kernel import loaded

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Options of a worker that are not set in `sv.init`, so that programs may call it. Set for the whole process.
_PREFIX = "SAMOVAR_"


def worker_variables(options: Mapping[str, object]) -> dict[str, str]:
    """The environment variables for some options, which must exist."""
    from samovar.language import DEFAULTS

    unknown = sorted(set(options) - set(DEFAULTS))
    if unknown:
        raise SamovarError(f"there is no option {unknown[0]!r}\n  help: the options are those of sv.init")
    return {f"{_PREFIX}{name.upper()}": _as_text(value) for name, value in options.items() if value is not None}


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return value.name if isinstance(value, samovar._native.DType) else str(value)


def set_up_worker(variables: Mapping[str, str], bundle: bytes | None, folder: str) -> None:
    """Set variables, import a bundle into the cache, and read what shared tiers have. `folder` is used for the cache if the
    user has no directory for one."""
    os.environ.update(variables)
    reset()
    if process_cache.library_for(current_options()) is None and folder:
        os.environ[f"{_PREFIX}OFFLINE_CACHE_FILE_PATH"] = os.path.join(folder, "samovar")
        reset()
    library = process_cache.library_for(current_options())
    if library is None:
        return
    if bundle is not None:
        _import(bundle)
    if library.tiers is not None:
        library.tiers.warm()


def read_bundle(path: str | os.PathLike[str]) -> bytes:
    """The content of a valid bundle."""
    from samovar.cache import Bundle

    with Bundle(os.fspath(path)):
        pass
    with open(path, "rb") as file:
        return file.read()


def _import(content: bytes) -> None:
    from samovar.cache import Bundle, import_bundle

    library = process_cache.library_for(current_options())
    assert library is not None
    with tempfile.NamedTemporaryFile(suffix=".samovar") as file:
        file.write(content)
        file.flush()
        with Bundle(file.name) as bundle:
            import_bundle(library, bundle, loaded)
