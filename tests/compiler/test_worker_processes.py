"""Compile workers as processes: what they share with the program that they work for, and with whom they end."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from failing_texts import long

#: Compiles one text and tells where.
COMPILE = """
import os, sys
from samovar.backends.llvm.target import host_target
from samovar.compiler import process, workers
from samovar.compiler.fallback import Job, made

def text(number):
    return f"define i32 @samovar_entry(ptr %context, ptr %block) {{\\n  ret i32 {number}\\n}}\\n"

def compile(number=1):
    return made(Job("kernel", text(number), host_target())).code

def worker():
    return workers.state.workers.all[0].process

"""


def start(program: str, *options: str, **settings: object) -> subprocess.Popen[str]:
    command = [sys.executable, *options, "-c", COMPILE + textwrap.dedent(program)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **settings)  # type: ignore[call-overload,no-any-return]


def run(program: str, *options: str, **settings: object) -> str:
    """What a program prints, which has to end well."""
    with start(program, *options, **settings) as process:
        printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return printed.strip()


def is_running(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(process: int) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and is_running(process):
        time.sleep(0.02)
    return not is_running(process)


def test_llvm_is_not_loaded_in_the_program() -> None:
    program = """
        compile()
        print("llvmlite" in sys.modules, "libllvmlite" in open("/proc/self/maps").read())
        print("libllvmlite" in open(f"/proc/{worker()}/maps").read())
    """
    assert run(program) == "False False\nTrue"


def test_a_worker_has_no_descriptor_of_the_program() -> None:
    program = """
        kept = os.open(os.devnull, os.O_RDWR)
        os.set_inheritable(kept, True)
        compile()
        print(*sorted(os.listdir(f"/proc/{worker()}/fd")))
        print({os.readlink(f"/proc/{worker()}/fd/{number}").split(":")[0] for number in (1, 2)})
    """
    assert run(program) == "0 1 2\n{'/memfd'}"


def test_a_worker_is_in_nobodys_way() -> None:
    program = """
        compile()
        print(os.getsid(worker()) == worker(), os.readlink(f"/proc/{worker()}/cwd"))
        try:
            print(os.wait())
        except ChildProcessError:
            print("no children")
    """
    assert run(program) == "True /\nno children"


def test_a_worker_that_was_not_needed_leaves_no_child_behind() -> None:
    program = """
        import time
        process.begin()
        while process._early[0]._first is not None:
            process.reap()
            time.sleep(0.01)
        try:
            print(os.wait())
        except ChildProcessError:
            print("no children")
    """
    assert run(program) == "no children"


def test_a_worker_has_no_terminal() -> None:
    master, slave = pty.openpty()
    program = """
        compile()
        with open(f"/proc/{worker()}/stat") as file:
            print(file.read().rsplit(")", 1)[1].split()[4], os.isatty(0))
    """
    try:
        with subprocess.Popen(
            [sys.executable, "-c", COMPILE + textwrap.dedent(program)],
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=slave,
            text=True,
            start_new_session=True,
        ) as process:
            printed, _ = process.communicate(timeout=120)
    finally:
        os.close(master)
        os.close(slave)
    assert printed.split() == ["0", "True"]


@pytest.mark.parametrize("kill", [False, True])
def test_workers_end_with_their_program(kill: bool) -> None:
    program = """
        compile()
        print(worker(), flush=True)
        sys.stdin.read()
    """
    process = start(program)
    assert process.stdout is not None
    assert process.stdin is not None
    worker = int(process.stdout.readline())
    assert is_running(worker)
    if kill:
        process.kill()
    process.stdin.close()
    process.wait()
    process.stdout.close()
    assert ends(worker)


def test_a_worker_that_is_busy_ends_with_its_program(tmp_path: Path) -> None:
    (tmp_path / "long.ll").write_text(long(1500))
    program = f"""
        compile()
        print(worker(), flush=True)
        made(Job("kernel", open({str(tmp_path / "long.ll")!r}).read(), host_target()))
    """
    process = start(program)
    assert process.stdout is not None
    assert process.stdin is not None
    worker = int(process.stdout.readline())
    time.sleep(0.1)
    process.kill()
    process.stdin.close()
    process.wait()
    process.stdout.close()
    assert ends(worker)


def test_an_interrupt_from_the_keyboard_ends_the_compile_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "long.ll").write_text(long(8000))  # nobody waits for it, and the interrupt may be late
    program = f"""
        compile()
        first = worker()
        print(first, flush=True)
        try:
            made(Job("kernel", open({str(tmp_path / "long.ll")!r}).read(), host_target()))
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(len(workers.state.workers.all), flush=True)
        sys.stdin.readline()
        try:
            compile(2)
            before, first = first, worker()
            print(first != before, flush=True)
            sys.stdin.readline()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        compile(3)
        print(worker() == first, flush=True)
    """
    process = start(program, start_new_session=True)
    assert process.stdout is not None
    assert process.stdin is not None
    first = int(process.stdout.readline())
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.stdout.readline() == "0\n"
    assert ends(first)
    process.stdin.write("go on\n")
    process.stdin.flush()
    assert process.stdout.readline() == "True\n"
    os.killpg(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.stdout.readline() == "True\n"
    process.stdin.close()
    assert process.wait() == 0
    process.stdout.close()


def test_a_worker_ignores_an_interrupt() -> None:
    program = """
        import signal
        compile()
        first = worker()
        os.kill(first, signal.SIGINT)
        compile(2)
        print(worker() == first)
    """
    assert run(program) == "True"


def test_a_dead_worker_is_no_broken_pipe_for_programs_that_end_of_one() -> None:
    program = """
        import signal
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        compile()
        os.kill(worker(), signal.SIGKILL)
        print(len(compile(2)) > 0)
    """
    assert run(program) == "True"


def test_a_forked_child_has_workers_of_its_own() -> None:
    program = """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        expected, first = compile(), worker()
        child = os.fork()
        if child == 0:
            opened = [os.path.realpath(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")]
            sockets = [name for name in opened if "socket" in name]
            own = compile() == expected and worker() != first and not sockets
            os._exit(0 if own else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), compile() == expected, worker() == first)
    """
    assert run(program) == "0 True True"


def test_a_child_that_was_forked_before_the_worker_was_used_does_not_keep_it() -> None:
    program = """
        import warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        process.begin()
        child = os.fork()
        if child == 0:
            os._exit(0 if not process._early and compile() else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(compile()) > 0)
    """
    assert run(program) == "0 True"


def test_children_that_are_forked_in_the_middle_of_a_compile_can_compile() -> None:
    program = """
        import threading, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        stopped = threading.Event()

        def compile_on():
            while not stopped.is_set():
                compile()

        threads = [threading.Thread(target=compile_on) for _ in range(2)]
        for thread in threads:
            thread.start()
        failed = 0
        for _ in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if compile() else 1)
            failed |= os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        stopped.set()
        for thread in threads:
            thread.join()
        print(failed)
    """
    assert run(program) == "0"


def test_the_first_worker_may_be_started_by_any_thread() -> None:
    program = """
        import signal, threading
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGALRM})
        thread = threading.Thread(target=compile)
        thread.start()
        thread.join()
        with open(f"/proc/{worker()}/status") as file:
            print(next(line for line in file if line.startswith("SigBlk")).split()[1])
    """
    assert int(run(program), 16) == 0


@pytest.mark.parametrize("options", [(), ("-I",), ("-E",), ("-s",), ("-S",), ("-B",), ("-O",), ("-X", "dev")])
def test_a_worker_starts_whatever_the_interpreter_was_told(options: tuple[str, ...]) -> None:
    path = [path for path in sys.path if path]
    command = [sys.executable, *options, "-c", f"import sys\nsys.path[:] = {path!r}\n{COMPILE}print(len(compile()) > 0)"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.stderr) == ("True", "")


def test_a_worker_starts_in_a_directory_that_is_gone(tmp_path: Path) -> None:
    program = """
        os.mkdir("there")
        os.chdir("there")
        os.rmdir("../there")
        print(len(compile()) > 0)
    """
    assert run(program, cwd=tmp_path) == "True"


def test_a_worker_needs_nothing_of_the_path_once_the_package_is_loaded(tmp_path: Path) -> None:
    program = """
        compile()
        workers.stop()
        del sys.path[:]
        os.chdir("/")
        print(len(compile(2)) > 0)
    """
    assert run(program, cwd=tmp_path) == "True"


def test_a_worker_loads_nothing_of_the_users(tmp_path: Path) -> None:
    for name in ("json", "marshal", "enum", "sitecustomize", "usercustomize", "llvmlite", "resource", "gc"):
        (tmp_path / f"{name}.py").write_text("import os\nos.write(2, b'loaded')\nraise SystemExit(7)\n")
    program = f"""
        sys.path.insert(0, "")
        os.chdir({str(tmp_path)!r})
        os.environ["PYTHONPATH"] = {str(tmp_path)!r}
        os.environ["PYTHONSTARTUP"] = {str(tmp_path / "json.py")!r}
        os.environ["PYTHONWARNINGS"] = "error"
        print(len(compile()) > 0)
    """
    assert run(program) == "True"


def test_a_virtual_environment_needs_no_more_than_the_package(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True, timeout=120)
    path = [path for path in sys.path if path]
    python = tmp_path / "venv" / "bin" / "python"
    program = f"import sys\nsys.path[:] = {path!r}\n{COMPILE}print(len(compile()) > 0, sys.prefix)"
    done = subprocess.run([str(python), "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["True", str(tmp_path / "venv")]


def test_a_worker_starts_where_the_standard_streams_are_closed() -> None:
    program = """
        answer = os.dup(1)
        os.closerange(0, 3)
        well = len(compile()) > 0 and workers.state.workers.all[0].fileno() > 2
        os.write(answer, str(well).encode())
    """
    assert run(program) == "True"


def test_two_programs_have_a_worker_each() -> None:
    program = """
        compile()
        print(worker(), flush=True)
        sys.stdin.read()
        print(compile() == compile())
    """
    programs = [start(program), start(program)]
    workers = []
    for each in programs:
        assert each.stdout is not None
        workers.append(int(each.stdout.readline()))
    assert len(set(workers)) == 2
    assert [each.communicate(timeout=120)[0] for each in programs] == ["True\n", "True\n"]


def test_llvmlite_is_imported_the_long_way_where_the_short_one_does_not_lead_there() -> None:
    program = """
        from samovar.backends.llvm import llvmlite_import
        llvmlite_import._Place.__str__ = lambda self: "/nowhere"
        llvmlite_import.import_llvmlite()
        print("llvmlite" in sys.modules)
        import importlib.resources
        import llvmlite.binding
        print(importlib.resources.files("llvmlite").is_dir(), llvmlite.binding.llvm_version_info[0] > 0)
    """
    assert run(program) == "False\nTrue True"
