"""A compile worker: a process that turns LLVM text into code for the one that started it (`samovar.compiler.process`).

Jobs come in, and answers go out, over the socket that is its standard input. The end of the input ends the worker, so it
does not outlive the process that it works for; a job that takes longer than it may ends it too. It imports nothing of the
user's, and as little as possible of anything else.

A job is (text, machine, form, product, seconds that it may take); an answer is (whether it went well, the code or what LLVM
says against the text).
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import sys

from samovar.compiler.channel import GREETING, packed, received, state_of_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_JOBS, _ERRORS = 0, 2


def serve() -> None:
    """Answer jobs until the input ends."""
    _behave()
    _import_llvmlite()
    from samovar.backends import generate

    _forget_words()
    _send(GREETING + packed((os.getpid(), state_of_files(), _version_of_llvmlite())))
    while True:
        try:
            text, machine, form, product, seconds = received(lambda count: os.read(_JOBS, count))
        except (EOFError, OSError):
            os._exit(0)
        _signal.alarm(seconds)
        try:
            answer: tuple[bool, bytes | str] = (True, generate(text, machine, form, product))
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
        _signal.alarm(0)
        _forget_words()
        _send(packed(answer))


def _behave() -> None:
    """Have no part in what the process and its terminal do, leave no core, and say what one dies of."""
    import faulthandler
    import gc
    import resource

    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable(_ERRORS)
    # A compile leaves nothing behind that only the collector would find.
    gc.disable()


def _version_of_llvmlite() -> bytes:
    directory = os.path.dirname(sys.modules["llvmlite"].__file__ or "")
    with open(os.path.join(directory, "_version.py"), "rb") as file:
        return file.read()


class _Place:
    """A file or a directory, as much of it as llvmlite asks for."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __truediv__(self, name: str) -> _Place:
        return _Place(os.path.join(self.path, name))

    def __str__(self) -> str:
        return self.path

    def __enter__(self) -> _Place:
        return self

    def __exit__(self, *error: object) -> None:
        return


def _import_llvmlite() -> None:
    """llvmlite asks `importlib.resources`, which knows about archives and all that, where its library is: importing that
    takes a third of the time until a worker is ready. It gets an answer that knows files only, if that will do."""
    resources: Any = type(sys)("importlib.resources")
    resources.files = lambda package: _Place(sys.modules[package].__path__[0])
    resources.as_file = lambda place: place
    sys.modules["importlib.resources"] = resources
    try:
        import llvmlite.binding  # noqa: F401
    except Exception:
        # Then as it is meant to be, when it is imported next.
        for name in [name for name in sys.modules if name.partition(".")[0] == "llvmlite"]:
            del sys.modules[name]
    finally:
        del sys.modules["importlib.resources"]


def _forget_words() -> None:
    """What has been printed matters to nobody if it is not the last thing that happens."""
    try:
        os.ftruncate(_ERRORS, 0)
        os.lseek(_ERRORS, 0, os.SEEK_SET)
    except OSError:  # nothing is kept of it
        pass


def _send(content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        try:
            rest = rest[os.write(_JOBS, rest) :]
        except OSError:  # nobody is there to take it
            os._exit(0)
