"""The tiers that the options of a process select."""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
from time import time
from typing import TYPE_CHECKING
from weakref import WeakSet

from samovar.tiers.signing_keys import read_trust, signer_of
from samovar.tiers.tiers import Tiers

if TYPE_CHECKING:
    from collections.abc import Callable

    from samovar.cache import Store
    from samovar.language import Options

_opened: WeakSet[Tiers] = WeakSet()


def program_name(options: Options, script: str | None = None) -> str:
    """The name under which tiers have the kernels of a program, by default this one: the option `cache_program`, or the
    script's name."""
    given = options.cache_program
    if not given:
        if script is None:
            script = sys.argv[0] if sys.argv else ""
        stem = os.path.splitext(os.path.basename(script))[0]
        if stem == "__main__":  # python -m package
            stem = os.path.basename(os.path.dirname(script))
        given = stem if stem not in ("", "-c", "-m") else "python"
    return file_name_of(given)


def file_name_of(program: str) -> str:
    """The name of a program as a part of paths."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", program).strip(".")[:100] or "python"


def open_tiers(options: Options, store: Store, say: Callable[[str], None]) -> Tiers:
    """Open the tiers of the options, and begin to read what they have for this program."""
    signer = signer_of(options)
    trust = read_trust(options, None if signer is None else signer.public, time)
    if not trust.keys:
        say(
            "no kernel of a cache tier is used: there is no trusted key\n"
            "  help: samovar cache trust KEY, or cache_trust (SAMOVAR_CACHE_TRUST)"
        )
    tiers = Tiers(
        options.cache_remote.split(), program_name(options), trust, signer, options.cache_remote_timeout, say
    )
    _opened.add(tiers)
    # Functions of `atexit` run in reverse order: this one when everything is written.
    atexit.register(tiers.write_figures, store)
    if signer is None:
        atexit.register(tiers.finish)
    else:
        # Publishing may need executors (to resolve names). They end before functions of `atexit` run, and the functions of
        # `threading` run in reverse order.
        __import__("concurrent.futures.thread")
        getattr(threading, "_register_atexit", atexit.register)(tiers.finish)
    tiers.prepare()
    return tiers


def _renew() -> None:
    for tiers in list(_opened):
        tiers.renew()


os.register_at_fork(after_in_child=_renew)
