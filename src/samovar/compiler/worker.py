"""A compile worker: a process that turns texts into code for the one that started it (`samovar.compiler.process`).

Jobs come in, and answers go out, over the socket that is its standard input. The end of the input ends the worker, also in
the middle of a job, so it does not outlive the process that it works for; a job that takes longer than it may ends it too.
It imports nothing of the user's, and as little as possible of anything else.

A job is (what the backend's `compile` is given, seconds that it may take); an answer is (whether it went well, the code or
what is wrong with the text).
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


def _end_with_program() -> None:
    """End when nobody is at the other end of the socket any more. A compiler at work does not hold this thread up."""
    hung_up = select.poll()
    hung_up.register(_JOBS, 0)
    hung_up.poll()
    os._exit(0)


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
