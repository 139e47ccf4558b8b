"""Where the store is, and whether a directory or a file may be trusted with native code."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.language import Options


def directory_of(options: Options) -> str | None:
    """The directory of the store: what the options say, else the platform's place for caches; None if there is none."""
    if options.offline_cache_file_path:
        try:
            return os.path.abspath(os.path.expanduser(options.offline_cache_file_path))
        except FileNotFoundError:  # relative to a directory that is gone
            return None
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            home = os.path.expanduser("~")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".cache")
    return os.path.join(base, "samovar")


def distrust(owner: int, mode: int) -> str | None:
    """Why something must not be used: it is not ours or root's, or others can write to it."""
    if owner not in (os.geteuid(), 0):
        return f"it belongs to user {owner}"
    if mode & 0o022:
        return "others can write to it"
    return None
