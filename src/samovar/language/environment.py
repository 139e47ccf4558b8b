"""The environment variables that Samovar reads, beside one for each option (`SAMOVAR_NUM_THREADS` is `num_threads`)."""

from __future__ import annotations

from samovar.errors import meant, not_one_of
from samovar.language.options import DEFAULTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

PREFIX = "SAMOVAR_"

#: What each is for.
VARIABLES = {
    "SAMOVAR_BUILD_CACHE_VERSION_ID": "stands for the version of Samovar in keys of the cache",
    "SAMOVAR_FRAMES": "the number of frames after which the window of a program that was written for Taichi closes",
    "SAMOVAR_GDB": "1: gdb is told the names of compiled functions",
    "SAMOVAR_LOG": "what to write lines about: cache, compile, or both with a comma",
    "SAMOVAR_NO_FALLBACK": "1: an internal error of the compiler is raised; the kernel is not compiled again without"
    " optional rewrites",
    "SAMOVAR_PERF_MAP": "1: perf is told the names of compiled functions",
    "SAMOVAR_PROFILE": "1: a table of kernels at the end of the process; a name ending with .json: a file for the figures,"
    " with .trace.json: for the trace",
    "SAMOVAR_VERIFY_IR": "1: the IR is verified after each pass",
}
#: Those that are on or off: "", "0" and being absent are off.
SWITCH_VARIABLES = ("SAMOVAR_GDB", "SAMOVAR_NO_FALLBACK", "SAMOVAR_PERF_MAP", "SAMOVAR_VERIFY_IR")
#: What `SAMOVAR_LOG` may ask for.
SUBJECTS = ("cache", "compile")
#: Those of the build and of the test suite are nobody's mistake.
_OTHERS = ("SAMOVAR_SANITIZE", "SAMOVAR_TEST_PROFILE")


def option_variable(option: str) -> str:
    """The variable that an option is read from."""
    return PREFIX + option.upper()


#: What people call things, in the words of the options.
_WORDS = {
    "bounds": "bound", "cores": "threads", "cpus": "threads", "dir": "path", "directory": "path", "folder": "path",
    "limit": "max", "location": "path", "optimisation": "opt", "optimization": "opt", "root": "path", "thread": "threads",
    "workers": "threads",
}  # fmt: skip


def meant_option(name: str, valid: Iterable[str]) -> str | None:
    """Which of the names of options or variables was probably meant: one with all words of the name, or a close one."""
    names = list(valid)
    said = _words(name)
    fitting = [each for each in names if said <= _words(each)]
    return min(fitting, key=lambda each: len(_words(each))) if fitting else meant(name, names)


def _words(name: str) -> set[str]:
    return {_WORDS.get(word, word) for word in name.lower().split("_") if word}


def complaints(environment: dict[str, str]) -> list[str]:
    """What is probably a mistake in the variables that begin with `SAMOVAR_`."""
    valid = [*VARIABLES, *map(option_variable, DEFAULTS)]
    found = []
    for name in sorted(environment):
        if name not in valid and name not in _OTHERS:
            # What they all begin with makes none of them alike.
            close = meant_option(name.removeprefix(PREFIX), [each.removeprefix(PREFIX) for each in valid])
            hint = f": did you mean {PREFIX}{close}?" if close else ""
            found.append(f"{name} is set, and Samovar reads no such variable{hint}")
    for subject in environment.get("SAMOVAR_LOG", "").split(","):
        if subject not in ("", *SUBJECTS):
            found.append(not_one_of("SAMOVAR_LOG", subject, SUBJECTS))
    for name in SWITCH_VARIABLES:
        if environment.get(name, "") not in ("", "0", "1"):
            found.append(f"{not_one_of(name, environment[name], ('0', '1'))}; it counts as 1")
    return found
