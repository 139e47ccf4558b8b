"""`samovar doctor`: checks the installation. The exit code is 1 if something does not work."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from time import perf_counter
from typing import Any

import samovar
from samovar import _native
from samovar.backends import backend
from samovar.cache import directory_of, open_library, untrusted_folder, untrusted_parent
from samovar.cli.output import Output
from samovar.cli.quantities import counted, shown_seconds, shown_size
from samovar.language import Options, complaints, option_variable
from samovar.runtime import Kernel, current_options
from samovar.version import build_cache_version_id

#: Other libraries that are looked for, without importing them.
_LIBRARIES = ("llvmlite", "rich", "numpy", "torch")
_NEEDED = ("llvmlite", "rich")


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the command to the parser."""
    doctor = commands.add_parser("doctor", parents=[shared], help="check the installation")
    doctor.set_defaults(run=_doctor)


class _Report:
    """Findings by subject, and problems."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.lines: list[tuple[str, str]] = []
        self.problems: list[str] = []

    def add(self, subject: str, data: Any, text: str) -> None:
        self.data[subject] = data
        self.lines.append((subject, text))


def _doctor(given: argparse.Namespace, output: Output) -> int:
    report = _Report()
    options = current_options()
    _versions(report)
    _processor(report)
    _threads(report, options)
    _cache(report, options, given.directory)
    _environment(report)
    _failures(report)
    _self_test(report)
    if output.json:
        output.data({**report.data, "problems": report.problems})
    else:
        width = max(len(subject) for subject, _ in report.lines)
        for subject, text in report.lines:
            output.say(f"{subject:<{width}}  {text}")
        output.say("")
        output.say("\n".join(f"problem: {each}" for each in report.problems) or "everything works")
    return 1 if report.problems else 0


def _versions(report: _Report) -> None:
    directory = os.path.dirname(os.path.abspath(samovar.__file__))
    report.add(
        "samovar",
        {"version": samovar.__version__, "build": build_cache_version_id(), "directory": directory},
        f"{samovar.__version__} in {directory}",
    )
    python = platform.python_version()
    report.add(
        "python",
        {"version": python, "implementation": platform.python_implementation(), "executable": sys.executable},
        f"{platform.python_implementation()} {python}, {sys.executable}",
    )
    system = os.uname()
    libc = " ".join(platform.libc_ver())
    report.add(
        "system",
        {"name": system.sysname, "release": system.release, "machine": system.machine, "libc": libc},
        f"{system.sysname} {system.release}, {system.machine}, {libc}",
    )
    from importlib.metadata import PackageNotFoundError, version

    for name in _LIBRARIES:
        found: str | None
        try:
            found = version(name)
        except PackageNotFoundError:
            found = None
        report.add(name, found, found or "not installed")
        if found is None and name in _NEEDED:
            report.problems.append(f"{name} is not installed: pip install {name}")


def _processor(report: _Report) -> None:
    features = sorted(name for name, there in _native.cpu_features().items() if there)
    bits = _vector_bits(features)
    model = _model()
    report.add(
        "processor",
        {"model": model, "design": _native.cpu_name(), "vector_bits": bits, "features": features},
        f"{model or system_machine()}, target {_native.cpu_name()}, {bits}-bit vectors",
    )


def system_machine() -> str:
    """Return the architecture, for a processor without a name."""
    return os.uname().machine


def _vector_bits(features: list[str]) -> int:
    """Return the width of the longest vectors that code may use."""
    preferred: int = getattr(backend().target(), "vector_bits", lambda: 0)()
    if preferred:
        return preferred
    return 512 if "avx512f" in features else 256 if "avx2" in features or "avx" in features else 128


def _model() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return ""


def _threads(report: _Report, options: Options) -> None:
    threads = _native.threads()
    allowed, present = len(os.sched_getaffinity(0)), os.cpu_count() or 1
    variable = option_variable("num_threads")
    if options.num_threads:
        why = f"set by {variable}={os.environ[variable]}" if variable in os.environ else "set by num_threads"
    elif threads < allowed:
        why = f"limited by the control group quota; {allowed} processors are available"
    elif allowed < present:
        why = f"the process is restricted to {allowed} of {present} processors"
    else:
        why = "one per processor"
    report.add(
        "threads",
        {"threads": threads, "why": why, "allowed_processors": allowed, "processors": present},
        f"{threads}: {why}",
    )


def _cache(report: _Report, options: Options, named: str | None) -> None:
    if named:
        options = Options(offline_cache_file_path=named, offline_cache_max_size=options.offline_cache_max_size)
    directory = directory_of(options)
    data: dict[str, Any] = {"directory": directory, "on": options.offline_cache, "limit": options.offline_cache_max_size}
    if not options.offline_cache:
        report.add("cache", data, "disabled")
        return
    if directory is None:
        report.add("cache", data, "no directory")
        report.problems.append("there is no directory for the cache: set SAMOVAR_OFFLINE_CACHE_FILE_PATH")
        return
    reason = _why_unusable(directory)
    data["writable"] = reason is None
    said: list[str] = []
    library = open_library(options, said.append) if os.path.isdir(directory) else None
    entries = [] if library is None else list(library.store.entries())
    data["entries"], data["size"] = len(entries), sum(entry.size for entry in entries)
    text = f"{directory}, {counted(len(entries), 'entry')}, {shown_size(data['size'])}"
    report.add("cache", data, f"{text} of {shown_size(data['limit'])}, {'writable' if reason is None else 'not usable'}")
    if reason is not None:
        report.problems.append(f"{directory} cannot be used as a cache: {reason}")


def _why_unusable(directory: str) -> str | None:
    """Return why a directory cannot be used as a cache, or None. A missing one is judged by its nearest existing parent."""
    place = directory
    while not os.path.lexists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    if not os.path.isdir(place):
        return f"{place} is not a directory"
    if place == directory:
        untrusted = untrusted_folder((place,))
        if untrusted is not None:
            return f"{untrusted[1]}; make the directory private (chmod 700)"
    untrusted = untrusted_parent(directory)
    if untrusted is not None:
        return f"{untrusted[0]}: {untrusted[1]}"
    try:
        with tempfile.TemporaryFile(dir=place):
            return None
    except OSError as error:
        return error.strerror or str(error)


def _environment(report: _Report) -> None:
    found = {name: value for name, value in os.environ.items() if name.startswith("SAMOVAR_")}
    report.add("environment", found, ", ".join(f"{name}={value}" for name, value in found.items()) or "no variables")
    report.problems += complaints(found)


def _failures(report: _Report) -> None:
    """List reports of internal compiler errors. They are bugs of Samovar or LLVM, not problems of the installation."""
    from samovar.compiler import reports_here

    found = reports_here()
    names = ", ".join(f"{name} ({path})" for name, path in found)
    data = [{"kernel": name, "report": path} for name, path in found]
    text = f"internal errors in {counted(len(found), 'kernel')}, please report: {names}" if found else "none"
    report.add("reports", data, text)


def _self_test(report: _Report) -> None:
    """Compile a kernel without any cache, launch it, and verify the result."""
    start = perf_counter()
    problem = _failure(_try_kernel)
    seconds = perf_counter() - start
    data = {"passed": not problem, "seconds": seconds}
    report.add("self-test", data, f"compiled and ran a kernel in {shown_seconds(seconds)}" if not problem else "failed")
    if problem:
        report.problems.append(f"compiling and running a kernel failed: {problem}")


def _failure(attempt: Callable[[], str]) -> str:
    try:
        return attempt()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _try_kernel() -> str:
    from samovar.cli.self_test import KERNEL, SIZE, expected, given

    assert isinstance(KERNEL, Kernel)
    samovar.init(offline_cache=False)
    values = given()
    total = KERNEL(values)
    found = [values[number] for number in range(SIZE)]
    return "" if (found, total) == expected() else f"wrong result: {found[:4]}… and {total}"
