"""Backends: from the IR to code. There is one, for LLVM."""

from __future__ import annotations

from samovar._door import door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.backends.llvm.elf import ObjectError
    from samovar.backends.llvm.forms import FORMS, FULL
    from samovar.backends.llvm.generate import generate
    from samovar.backends.llvm.kernel import Rendered, render
    from samovar.backends.llvm.linker import link
    from samovar.backends.llvm.object_loader import load_object
    from samovar.backends.llvm.renaming import canonical
    from samovar.backends.llvm.target import Target, host_target
    from samovar.backends.llvm.vectors import for_target
else:
    __getattr__, __dir__ = door(
        __name__,
        {
            "llvm.elf": "ObjectError",
            "llvm.forms": "FORMS FULL",
            "llvm.generate": "generate",
            "llvm.kernel": "Rendered render",
            "llvm.linker": "link",
            "llvm.object_loader": "load_object",
            "llvm.renaming": "canonical",
            "llvm.target": "Target host_target",
            "llvm.vectors": "for_target",
        },
    )
