"""Loading an object with llvmlite, if it cannot become an image: because of its contents, or because images are not
supported on the machine. It takes longer and needs LLVM in the process, but it is the same code.
"""

from __future__ import annotations

from functools import cache
from itertools import count

import llvmlite.binding as llvm

from samovar._native import Image, symbol_address, symbol_names
from samovar.backends.images.elf import UNDEFINED, ObjectError, read_object

_numbers = count()


@cache
def _session() -> llvm.LLJIT:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.create_lljit_compiler(suppress_errors=True)


def load_object(data: bytes) -> Image:
    """The code of an object file, ready to launch; it lives as long as the image."""
    library = llvm.JITLibraryBuilder().add_object_img(data).export_symbol("samovar_entry")
    foreign = []
    for name in _outside(data):
        address = symbol_address(name)
        if address is None:
            foreign.append(name)
        else:
            library.import_symbol(name, address)
    try:
        loaded = library.add_current_process().link(_session(), f"kernel {next(_numbers)}")
    except RuntimeError as error:
        hint = f" (it uses {', '.join(foreign)}, which kernels cannot use)" if foreign else ""
        raise ObjectError(f"LLVM cannot load the object{hint}: {error}") from None
    return Image.from_address(loaded["samovar_entry"], loaded)


def _outside(data: bytes) -> tuple[str, ...]:
    """The symbols that an object may need: its undefined ones, or all known ones if it is not ELF."""
    try:
        return tuple(symbol.name for symbol in read_object(data).symbols if symbol.section == UNDEFINED and symbol.name)
    except ObjectError:
        return symbol_names()
