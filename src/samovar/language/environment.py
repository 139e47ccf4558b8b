"""The environment variables that Samovar reads, besides one per option (`SAMOVAR_NUM_THREADS` is `num_threads`)."""

from __future__ import annotations

from samovar.errors import meant, not_one_of
from samovar.language.options import DEFAULTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = "SAMOVAR_"

#: The purpose of each.
VARIABLES = {
    "SAMOVAR_BUILD_CACHE_VERSION_ID": "replaces the version of Samovar in cache keys",
    "SAMOVAR_BUNDLE": "set by `sv.ray.runtime_env`: the kernels of a bundle, for a worker",
    "SAMOVAR_FRAMES": "the number of frames after which a headless window closes",
    "SAMOVAR_GDB": "1: register compiled functions with gdb",
    "SAMOVAR_LOG": "what to log: cache, compile, or both separated by a comma",
    "SAMOVAR_NO_FALLBACK": "1: raise internal errors of the compiler instead of compiling the kernel again without"
    " optional optimizations",
    "SAMOVAR_PERF_MAP": "1: write a perf map of compiled functions",
    "SAMOVAR_PROFILE": "1: print a table of kernels at exit; a name ending in .json: write the figures to that file,"
    " in .trace.json: the trace",
    "SAMOVAR_VERIFY_IR": "1: verify the IR after each pass",
    "SAMOVAR_WINDOW": "page: show windows in a browser; headless: draw them in memory only",
}
#: Switches: absent, "" and "0" are off.
SWITCH_VARIABLES = ("SAMOVAR_GDB", "SAMOVAR_NO_FALLBACK", "SAMOVAR_PERF_MAP", "SAMOVAR_VERIFY_IR")
#: The values of `SAMOVAR_LOG`.
SUBJECTS = ("cache", "compile")
#: Variables of the build and the test suite, which are not reported.
_OTHERS = ("SAMOVAR_SANITIZE", "SAMOVAR_TEST_PROFILE")


def option_variable(option: str) -> str:
    """The variable that sets an option."""
    return PREFIX + option.upper()


#: Common words for options → the words used in their names.
_WORDS = {
    "bounds": "bound", "cores": "threads", "cpus": "threads", "dir": "path", "directory": "path", "folder": "path",
    "limit": "max", "location": "path", "optimisation": "opt", "optimization": "opt", "root": "path", "thread": "threads",
    "workers": "threads",
}  # fmt: skip


def meant_option(name: str, valid: Iterable[str]) -> str | None:
    """The option or variable that was probably meant: one that contains all words of the name, or a close one."""
    names = list(valid)
    said = _words(name)
    fitting = [each for each in names if said <= _words(each)]
    return min(fitting, key=lambda each: len(_words(each))) if fitting else meant(name, names)


def _words(name: str) -> set[str]:
    return {_WORDS.get(word, word) for word in name.lower().split("_") if word}


def complaints(environment: dict[str, str]) -> list[str]:
    """Messages about probable mistakes in the variables that begin with `SAMOVAR_`."""
    valid = [*VARIABLES, *map(option_variable, DEFAULTS)]
    found = []
    for name in sorted(environment):
        if name not in valid and name not in _OTHERS:
            # The common prefix must not make names alike.
            close = meant_option(name.removeprefix(PREFIX), [each.removeprefix(PREFIX) for each in valid])
            hint = f": did you mean {PREFIX}{close}?" if close else ""
            found.append(f"{name} is set, but Samovar reads no such variable{hint}")
    for subject in environment.get("SAMOVAR_LOG", "").split(","):
        if subject not in ("", *SUBJECTS):
            found.append(not_one_of("SAMOVAR_LOG", subject, SUBJECTS))
    for name in SWITCH_VARIABLES:
        if environment.get(name, "") not in ("", "0", "1"):
            found.append(f"{not_one_of(name, environment[name], ('0', '1'))}; it counts as 1")
    return found
