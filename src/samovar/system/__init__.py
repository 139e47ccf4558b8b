"""The system that a process runs on: files that the user names, and forks."""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.system.forking import finish_imports, forget_imports_of_others, is_importing, waits_for_import_here
    from samovar.system.output_file import write_file, write_pieces
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "forking": "finish_imports forget_imports_of_others is_importing waits_for_import_here",
            "output_file": "write_file write_pieces",
        },
    )
