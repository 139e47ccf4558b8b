"""A compile worker as seen by the process that started it: starting it, sending jobs, and handling its death.

The first worker is started before the compiler itself is imported (`begin`), so this module imports next to nothing.

A worker is a plain process of the same interpreter. It is not a child: the started process forks at once and ends, so a
program that waits for all its children does not wait for workers. It has its own session, which no key of the terminal
reaches, and no descriptors except its socket and a memory file for the compiler's output.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import os
import sys

from samovar.backends import backend
from samovar.cache import installed_library
from samovar.compiler.channel import GREETING, exactly, package_directory, packed, received, state_of_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The startup time limit of a worker in seconds.
START_SECONDS = 60.0
#: How much of a worker's output is examined.
MOST_WORDS = 1 << 16
#: A message of so many bytes fits in the socket buffer, even if the worker is not reading.
FITS_IN_SOCKET = 1 << 16

# Detach from the process that started it, with its descriptors and paths, before anything is read from a file. The package
# and the libraries of the backend are each searched in their own directory only.
_START = """
import sys, posix
if posix.fork():
    posix._exit(0)
posix.setsid()
for each in posix.listdir("/proc/self/fd"):
    try:
        if int(each) > 2:
            posix.close(int(each))
    except OSError:
        pass
_, backend, package, *libraries = sys.argv
sys.path[:] = [each for each in sys.path if each] + [package]
import samovar
sys.path[-1:] = libraries
from samovar.compiler.worker import serve
serve(backend)
"""


class CannotStart(Exception):
    """No worker can be started; the message is the reason. `again`: a retry may succeed, since no cause is known."""

    def __init__(self, reason: str, again: bool = False) -> None:
        super().__init__(reason)
        self.again = again


class Died(Exception):
    """A worker has died. `words` is its output during the last job, "" if it was killed from outside; `late` is set if it
    was killed here because a job took too long."""

    def __init__(self, words: str, late: bool = False) -> None:
        super().__init__(words)
        self.words = words
        self.late = late


class Replaced(Exception):
    """The worker does not match the cache keys: files have changed since this process has read them."""


class Worker:
    """One worker process. Answers come in the order of the jobs: `owed` are outstanding, `answered` have come."""

    def __init__(self) -> None:
        self.process: int | None = None
        self.owed = 0
        self.answered = 0
        self._first: int | None = None
        self._socket, theirs, self._words = _channels()
        try:
            self._first = _spawn(theirs.fileno(), self._words)
        except BaseException:
            self.close()
            raise
        finally:
            theirs.close()

    def fileno(self) -> int:
        """The descriptor from which answers are read."""
        return self._socket.fileno()

    def greet(self) -> None:
        """Wait until it is ready, and check that it is the right one; `process` is then its process ID."""
        self._socket.settimeout(START_SECONDS)
        try:
            if exactly(self._socket.recv, len(GREETING)) != GREETING:
                raise CannotStart(f"{sys.executable} is not a Python interpreter")
            process, files, versions = received(self._socket.recv)
        except TimeoutError:
            raise CannotStart(f"it was not ready after {START_SECONDS:.0f} seconds") from None
        except (EOFError, OSError):
            words = self.words().splitlines()
            raise CannotStart(words[-1] if words else "it ended at once", again=not words) from None
        found = _libraries()
        if files != _first_state() or (found is not None and versions != tuple(version for _, version in found)):
            raise Replaced
        self.process = process
        self.reap()

    def send(self, request: tuple[Any, ...], seconds: float) -> None:
        """Send a job that may take so many seconds; see `samovar.compiler.worker`."""
        self._socket.settimeout(seconds)
        self.owed += 1
        try:
            self._socket.sendall(packed((request, int(seconds) + 1)), _socket.MSG_NOSIGNAL)
        except TimeoutError:
            raise Died(self.words(), late=True) from None
        except OSError:
            # The missing answer, or the reason why it was never ready, tells what it died of.
            pass

    def receive(self, seconds: float) -> tuple[bool, Any]:
        """The answer to the oldest job: whether it succeeded, and the code or the error."""
        if self.process is None:
            self.greet()
        self._socket.settimeout(max(seconds, 0.001))
        try:
            answer: tuple[bool, Any] = received(self._socket.recv)
        except TimeoutError:
            raise Died(self.words(), late=True) from None
        except (EOFError, OSError):
            raise Died(self.words()) from None
        self.owed -= 1
        self.answered += 1
        return answer

    def words(self) -> str:
        """The output of the worker since it began its last job."""
        return os.pread(self._words, MOST_WORDS, 0).decode(errors="replace").strip()

    def reap(self) -> None:
        """Reap the process that has started the worker, if it has ended."""
        if self._first is not None and _reaped(self._first):
            self._first = None

    def close(self) -> None:
        """Release the worker: it ends when it finds its socket closed, and is killed if it is busy."""
        if self.owed and self.process is not None and self._is_there():
            # As long as its end of the socket is open, the process ID is that of the worker.
            _killed(self.process)
        if self._first is not None and not _reaped(self._first) and _killed(self._first):
            _reaped(self._first, 0)
        self.abandon()

    def abandon(self) -> None:
        """Close this process's ends: for a forked child, as the worker belongs to the parent."""
        self._first = None
        self._socket.close()
        words, self._words = self._words, -1
        if words >= 0:
            os.close(words)

    def _is_there(self) -> bool:
        self._socket.settimeout(0)
        try:
            while self._socket.recv(FITS_IN_SOCKET):
                pass
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False


_state: list[tuple[tuple[int, int], ...]] = []


def _first_state() -> tuple[tuple[int, int], ...]:
    """The state of the files when the first worker was started."""
    if not _state:
        _state.append(state_of_files(backend()))
    return _state[0]


def _channels() -> tuple[_socket.socket, _socket.socket, int]:
    """Both ends of a socket, and a file for output; none of them 0, 1 or 2, which a program may have closed and may reopen
    as standard streams."""
    low: list[int] = []
    try:
        while not low or low[-1] <= 2:
            low.append(os.open(os.devnull, os.O_RDWR))
        return *_socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM), _memory()
    except OSError as error:
        raise CannotStart(str(error.strerror)) from None
    finally:
        for descriptor in low:
            os.close(descriptor)


def _memory() -> int:
    """A memory file with a descriptor, or the null device if that is not available."""
    try:
        return os.memfd_create("samovar-worker")
    except (AttributeError, OSError):
        return os.open(os.devnull, os.O_RDWR)


def _spawn(socket: int, words: int) -> int:
    """Start the interpreter; return the ID of the process to reap."""
    _first_state()
    program = sys.executable
    if not program or getattr(sys, "frozen", False) or not os.path.basename(program).startswith("python"):
        raise CannotStart(f"sys.executable is {program!r}, which is not a Python interpreter")
    actions = [(os.POSIX_SPAWN_DUP2, socket, 0), (os.POSIX_SPAWN_DUP2, words, 1), (os.POSIX_SPAWN_DUP2, words, 2)]
    try:
        return os.posix_spawn(program, [program, *_arguments()], _environment(), file_actions=actions, setsigmask=())
    except Exception as error:  # an OSError, or what an audit hook raises
        raise CannotStart(f"{program}: {getattr(error, 'strerror', None) or error}") from None


def _libraries() -> list[tuple[str, bytes]] | None:
    """The directories of the backend's libraries, and their versions; None if one is not in a directory."""
    found = [installed_library(name) for name in backend().salt()]
    there = [each for each in found if each is not None]
    return there if len(there) == len(found) else None


def _arguments() -> list[str]:
    found = _libraries()
    # An interpreter with an explicit library path needs it again; otherwise the environment is ignored.
    options = ["-s", "-S"] if "PYTHONHOME" in _environment() else ["-I", "-S"]
    if sys.dont_write_bytecode:
        options.append("-B")
    if sys.pycache_prefix is not None:
        options += ["-X", f"pycache_prefix={sys.pycache_prefix}"]
    places = sys.path if found is None else [place for place, _ in found]
    package = os.path.dirname(package_directory())
    return [*options, "-c", _START, backend().name, package, *map(os.path.abspath, places)]


def _environment() -> dict[str, str]:
    kept = () if sys.flags.ignore_environment else ("PYTHONHOME",)
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON") or name in kept}


def _reaped(process: int, options: int = os.WNOHANG) -> bool:
    """Whether a child has ended; it is then reaped."""
    try:
        return os.waitpid(process, options)[0] != 0
    except OSError:  # another waiter for all children has reaped it
        return True


def _killed(process: int) -> bool:
    """Kill a process unconditionally."""
    try:
        os.kill(process, _signal.SIGKILL)
    except OSError:
        return False
    return True


#: The worker started in advance.
_early: list[Worker] = []
_has_begun = False


def begin() -> None:
    """Start the first worker of this process, so that it becomes ready while the compiler is imported. If that fails, the
    first use reports it."""
    global _has_begun
    if not _has_begun:
        _has_begun = True
        try:
            _early.append(Worker())
        except CannotStart:
            return


def started() -> Worker:
    """The worker started by `begin`, or a new one."""
    global _has_begun
    _has_begun = True
    try:
        return _early.pop()
    except IndexError:
        return Worker()


def stop() -> None:
    """End a worker that was started in advance and not used."""
    global _has_begun
    _has_begun = False
    while _early:
        _early.pop().close()


def reap() -> None:
    """Reap after a compile that needed no worker."""
    for worker in _early:
        worker.reap()


def _in_child() -> None:
    # The workers belong to the parent. Their sockets must not stay open here, or they would not notice the parent's end.
    global _has_begun
    _has_begun = False
    while _early:
        _early.pop().abandon()


os.register_at_fork(after_in_child=_in_child)
