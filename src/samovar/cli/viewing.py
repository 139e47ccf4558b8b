"""`samovar view`: a page about the kernels of a program, or those of a saved report."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

import samovar
from samovar.cache import comparisons, kernels
from samovar.cli.failure import USAGE, Failure
from samovar.cli.output import Output
from samovar.cli.programs import add_program, require_program, run_program, wait_for_threads
from samovar.runtime import Kernel, Profiler, cache_watchers, current_options, kernel_report, library_for
from samovar.system import write_file
from samovar.ui import LocalServer, Page

#: The version of reports.
FORMAT = 1
#: Longer timelines are cut: a page with more is slow.
_MOST_EVENTS = 50_000


def add_commands(commands: Any) -> None:
    """Add the command to the parser."""
    view = commands.add_parser(
        "view",
        help="show kernels, their stages, their time and why they were compiled, in a browser",
        usage="samovar view [options] script.py … | report.json",
    )
    view.add_argument("--output", metavar="REPORT", help="write a report to a file, and show nothing")
    view.add_argument("--no-browser", action="store_true", help="only print the address")
    add_program(view)
    view.set_defaults(run=_view, json=False)


def _view(given: argparse.Namespace, output: Output) -> int:
    require_program(given)
    code = 0
    if given.program.endswith(".json") and not given.module:
        report = read_report(given.program)
    else:
        report, code = _collected(given)
    if given.output is not None:
        write_file(given.output, json.dumps(report).encode())
        return code
    server = serve(report)
    print(f"samovar: {len(report['kernels'])} kernels at {server.address} (Ctrl-C ends)", file=sys.stderr, flush=True)
    if not given.no_browser and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        import webbrowser

        webbrowser.open(server.address)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        return code
    finally:
        server.close()


def _collected(given: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Run a program, and collect what there is to show about its kernels, and its exit code."""
    seen: dict[Kernel, None] = {}
    watch = lambda kernel, event, seconds: seen.setdefault(kernel)  # noqa: E731
    cache_watchers.append(watch)
    with Profiler() as profiler:
        code = run_program(given)
        wait_for_threads()
    if watch in cache_watchers:
        cache_watchers.remove(watch)
    profile = json.loads(profiler.to_json())
    order = {(each["name"], each["line"]): at for at, each in enumerate(profile["kernels"])}
    found = []
    for kernel in seen:
        report = kernel_report(kernel)
        report["definition"] = kernel.__wrapped__.__code__.co_firstlineno
        found.append(report)
    found.sort(key=lambda each: order.get((each["name"], each["definition"]), len(order)))
    trace = json.loads(profiler.to_trace())
    trace["traceEvents"] = trace["traceEvents"][:_MOST_EVENTS]
    report = {
        "format": FORMAT,
        "samovar": samovar.__version__,
        "program": os.path.basename(given.program),
        "profile": profile,
        "trace": trace,
        "kernels": found,
        "cache": _cache([each["file"] for each in found]),
    }
    return report, code


def _cache(files: list[str]) -> dict[str, Any]:
    """The cached kernels that are defined in these files."""
    library = library_for(current_options())
    if library is None:
        return {}
    items = [item for item in kernels(library) if item.record.file in files and item.usable]
    entries = [
        {
            "name": each.item.record.name,
            "key": each.item.key,
            "size": each.item.size,
            "seconds": each.item.record.seconds,
            "reason": "; ".join([each.item.record.reason, *each.differences]),
        }
        for each in comparisons(library, items)
    ]
    return {"directory": library.store.directory, "entries": entries}


def read_report(path: str) -> dict[str, Any]:
    """Read a report, which may come from anybody: it is data, and only its outermost form is relied on."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (ValueError, RecursionError) as error:
        raise Failure(f"{path} is not a report: {error}", USAGE) from None
    if not isinstance(found, dict) or not isinstance(found.get("kernels"), list):
        raise Failure(f"{path} is not a report\n  help: samovar view --output report.json program.py", USAGE)
    if found.get("format") != FORMAT:
        raise Failure(f"{path} was written by another version of Samovar\n  help: write it again, or update Samovar", USAGE)
    return found


def serve(report: dict[str, Any]) -> LocalServer:
    """A server of the page. Details of a kernel are loaded when it is chosen."""
    inside = [each if isinstance(each, dict) else {} for each in report["kernels"]]
    index = {name: report.get(name) for name in ("samovar", "program", "profile", "cache")}
    index["kernels"] = [{name: each.get(name) for name in ("name", "file", "line", "definition")} for each in inside]

    def page(path: str) -> Page | None:
        if not path:
            with open(os.path.join(os.path.dirname(__file__), "view.html"), encoding="utf-8") as file:
                return Page(file.read())
        name, _, rest = path.removesuffix(".json").partition("/")
        if name == "kernel" and rest.isdecimal() and int(rest) < len(inside):
            return _data(inside[int(rest)])
        return _data({"index": index, "trace": report.get("trace") or {}}[path[:-5]]) if path in _PARTS else None

    return LocalServer(page)


_PARTS = ("index.json", "trace.json")


def _data(data: Any) -> Page:
    return Page(json.dumps(data), "application/json")
