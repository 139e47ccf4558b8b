"""`samovar cache export` and `samovar cache import`."""

from __future__ import annotations

import argparse
from typing import Any

from samovar.cache import Bundle, BundleError, export_bundle, import_bundle, incompatibility
from samovar.cli.output import Output
from samovar.cli.place import library
from samovar.cli.quantities import counted, shown_size
from samovar.runtime import ProgressBar, loaded


def add_commands(commands: Any, shared: argparse.ArgumentParser) -> None:
    """Add the commands to the parser."""
    exported = commands.add_parser(
        "export", parents=[shared], help="export kernels to a file, to warm another machine or a container image"
    )
    exported.add_argument("file")
    exported.add_argument("names", nargs="*", metavar="name", help="only kernels with this name or pattern")
    exported.set_defaults(run=_export)
    imported = commands.add_parser("import", parents=[shared], help="import kernels from an exported file")
    imported.add_argument("file")
    imported.add_argument("--yes", action="store_true", help="trust the native code in the file without asking")
    imported.set_defaults(run=_import)


def _export(given: argparse.Namespace, output: Output) -> int:
    with ProgressBar("exporting kernels") as bar:
        exported = export_bundle(library(given), given.file, loaded, given.names, bar.advance)
    if output.json:
        output.data(
            {
                "file": given.file,
                "artifacts": exported.artifacts,
                "kernels": exported.kernels,
                "size": exported.size,
            }
        )
    output.say(
        f"{counted(exported.artifacts, 'artifact')} of {counted(len(exported.kernels), 'kernel')} exported to"
        f" {given.file}, {shown_size(exported.size)}"
    )
    return 0


def _import(given: argparse.Namespace, output: Output) -> int:
    place = library(given)
    with Bundle(given.file) as bundle:
        reason = incompatibility(bundle)
        if reason is not None:
            raise BundleError(reason)
        output.agree(
            f"{given.file} contains native code of {counted(len(bundle.names), 'kernel')}, which will run in your programs."
            " Do you trust its source?",
            yes=given.yes,
        )
        imported = import_bundle(place, bundle, loaded)
    if output.json:
        output.data({"directory": place.store.directory, "new": imported.new, "known": imported.known})
    output.say(
        f"{counted(imported.new, 'artifact')} imported into {place.store.directory}, {imported.known} already present"
    )
    return 0
