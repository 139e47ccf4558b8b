"""A compile worker: a process that compiles texts for the one that started it (`samovar.compiler.process`).

Jobs and answers go through the socket that is its standard input. The end of the input ends the worker, even in the middle
of a job, so it does not outlive its parent; a job that exceeds its time limit ends it too. It imports no user code, and as
little as possible of anything else.

A job is (the arguments of the backend's `compile`, time limit in seconds); an answer is (whether it succeeded, the code or
the error).
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import select
from _thread import start_new_thread

from samovar.backends import backend
from samovar.compiler.channel import GREETING, packed, received, state_of_files

_JOBS, _ERRORS = 0, 2


def serve(name: str) -> None:
    """Answer jobs for a backend until the input ends."""
    _behave()
    start_new_thread(_end_with_program, ())
    compiling = backend(name)
    versions = compiling.prepare()
    _forget_words()
    _send(GREETING + packed((os.getpid(), state_of_files(compiling), versions)))
    while True:
        try:
            request, seconds = received(lambda count: os.read(_JOBS, count))
        except (EOFError, OSError):
            os._exit(0)
        _signal.alarm(seconds)
        try:
            answer: tuple[bool, bytes | str] = (True, compiling.compile(*request))
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
        _signal.alarm(0)
        _forget_words()
        _send(packed(answer))


def _behave() -> None:
    """Detach from the signals of the terminal, disable core dumps, and report fatal errors."""
    import faulthandler
    import gc
    import resource

    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    os.chdir("/")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable(_ERRORS)
    # A compile leaves no reference cycles for the collector.
    gc.disable()


def _end_with_program() -> None:
    """End when the other end of the socket is closed. A running compiler does not block this thread."""
    hung_up = select.poll()
    hung_up.register(_JOBS, 0)
    hung_up.poll()
    os._exit(0)


def _forget_words() -> None:
    """Discard earlier output: only output during a crash matters."""
    try:
        os.ftruncate(_ERRORS, 0)
        os.lseek(_ERRORS, 0, os.SEEK_SET)
    except OSError:  # output is discarded
        pass


def _send(content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        try:
            rest = rest[os.write(_JOBS, rest) :]
        except OSError:  # the parent is gone
            os._exit(0)
